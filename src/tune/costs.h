#ifndef AMP_TUNE_COSTS_H
#define AMP_TUNE_COSTS_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * What float32 costs in place of a lower dtype, node by node, and what a cast costs: measured on
 * this machine, read from a table, or estimated from the bytes that are moved.
 */
enum amp_costs_unit { AMP_COSTS_TIME, AMP_COSTS_BYTES, AMP_COSTS_NODES };

struct amp_costs {
    enum amp_costs_unit unit;
    const char *origin; /* for reports: "measured here", "costs.json", "table of Xeon with AMX" */
    size_t n_nodes, n_values;
    double *low, *wide; /* per node id of the main graph: its cost in the lower dtype, in float32 */
    double *casts;      /* per value id: the cost of casting it, one way */
    double total_low;   /* of a whole run in the lower dtype wherever that may be; the sum of LOW */
    struct amp_arena *arena;
};

struct amp_costs_request {
    const struct amp_model *reference; /* as it was read; types inferred */
    const struct amp_model *low;       /* its conversion with all units low; node and value ids of
                                          the reference stay the same in it; it has more of both */
    enum amp_dtype dtype;              /* the lower one */
    uint32_t dtypes; /* all lower dtypes of the search, as a mask: times are measured where this
                        machine has kernels for each, and a table for one of them does for all */
    enum amp_costs_unit unit;
    const struct amp_tensor *inputs; /* of the reference, for measuring; one per graph input */
    const char *path;                /* a table to take in place of measuring; NULL: none */
    double seconds;                  /* that measuring may take, about */
};

/* AMP_USAGE or AMP_MODEL for a wrong table; otherwise what sessions say. */
enum amp_status amp_costs_find(const struct amp_costs_request *request, struct amp_costs *costs,
                               struct amp_error *err);
void amp_costs_free(struct amp_costs *costs); /* a zeroed one is fine */

/* Writes COSTS, which are of time and were found for REQUEST, to PATH ("-": stdout) as a table that
   a request can name, whole or not at all. */
enum amp_status amp_costs_write(const struct amp_costs *costs,
                                const struct amp_costs_request *request, const char *path,
                                struct amp_error *err);

/* "s", "bytes", "nodes". */
const char *amp_costs_unit_name(enum amp_costs_unit unit);

#endif
