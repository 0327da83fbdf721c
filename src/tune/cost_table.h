#ifndef AMP_TUNE_COST_TABLE_H
#define AMP_TUNE_COST_TABLE_H

#include "core/arena.h"
#include "core/dtype.h"
#include "core/status.h"
#include "core/strmap.h"

/*
 * What computing takes on some machine: rates, and times of single nodes and casts of some model.
 * Files of them are JSON, as ampconv(1) has it under "Costs".
 */

/* The dtypes that tables have rates of: float32, bfloat16, float16. */
enum { AMP_COST_DTYPES = 3 };

struct amp_cost_rates {
    double flops; /* operations per second of products */
    double bytes; /* per second, of what nodes take and give */
    double node;  /* seconds that a node takes beside that */
};

struct amp_cost_operator {
    const char *name; /* "Conv", "com.microsoft::FusedConv" */
    struct amp_cost_rates rates[AMP_COST_DTYPES];
};

/* A node, by the name of its first output. */
struct amp_cost_entry {
    const char *name;
    double low, wide; /* seconds */
};

/* The cast of a value, by its name. */
struct amp_cost_cast {
    const char *name;
    double seconds;
};

struct amp_cost_table {
    const char *machine;
    enum amp_dtype dtype; /* the lower one that NODES are about; AMP_UNDEFINED: it is not said */
    struct amp_cost_rates rates[AMP_COST_DTYPES];
    double casts;                        /* bytes per second that casts read and write */
    struct amp_cost_operator *operators; /* that have rates of their own */
    struct amp_cost_entry *nodes;
    struct amp_cost_cast *values;
    size_t n_operators, n_nodes, n_values;
    struct amp_strmap operator_ids;
};

/* The table that comes with the program: of a processor that has kernels for both lower dtypes. */
struct amp_cost_table amp_cost_table_shipped(void);

/*
 * Reads the file at PATH into TABLE, which is in ARENA. What it does not say is as in the shipped
 * table. AMP_IO when it cannot be read, AMP_MODEL with the place, what was found and what is
 * accepted when it is no such file.
 */
enum amp_status amp_cost_table_read(const char *path, struct amp_arena *arena,
                                    struct amp_cost_table *table, struct amp_error *err);

/* Writes TABLE to PATH ("-": stdout), whole or not at all. Entries whose name is no UTF-8 cannot be
   written and are left out. */
enum amp_status amp_cost_table_write(const struct amp_cost_table *table, const char *path,
                                     struct amp_error *err);

/* What a node does. */
struct amp_cost_query {
    const char *domain, *op; /* its operator */
    enum amp_dtype dtype;    /* in which; one that has rates */
    double flops, bytes;
};

/* The seconds that it takes by the rates of TABLE: NODE, and for a product as long as its
   operations or its bytes take, whichever is longer; else as long as its bytes take. */
double amp_cost_table_seconds(const struct amp_cost_table *table,
                              const struct amp_cost_query *query);

#endif
