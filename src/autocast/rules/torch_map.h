#ifndef AMP_AUTOCAST_RULES_TORCH_MAP_H
#define AMP_AUTOCAST_RULES_TORCH_MAP_H

#include "autocast/rules/rule.h"

/*
 * The table of PyTorch's operators (rules/pytorch.map): what each is in an exported model. Rule
 * files, op lists and overrides name PyTorch's operators through it.
 */

/* What ONNX has for a name. */
enum amp_torch_kind {
    AMP_TORCH_MAPPED,      /* an operator */
    AMP_TORCH_COMPOSITE,   /* nothing but a group of nodes */
    AMP_TORCH_CONDITIONAL, /* operators, each only with certain attributes or ranks */
    AMP_TORCH_NONE,        /* nothing */
    AMP_TORCH_KIND_COUNT
};

struct amp_torch_name {
    const char *name;
    struct amp_rule_ops forms; /* what it may be; of AMP_TORCH_NONE: one that gives the reason */
};

/* A name by which the exporter for torch.export notes a name of the table: an operator of ATen's,
   or a module of torch.nn. */
struct amp_torch_note {
    const char *text;                           /* "_softmax", "torch.nn.modules.rnn.GRUCell" */
    const char *name;                           /* "softmax", "GRUCell" */
    const struct amp_rule_condition *condition; /* of nodes of one of FORMS; NULL: none */
    const struct amp_rule_ops *forms;
};

struct amp_torch_notes {
    struct amp_torch_note *items;
    size_t count, capacity;
};

/* What PyTorch ran where a composite stands. */
enum amp_torch_runs {
    AMP_TORCH_RUNS_WHOLE, /* one operator, which autocast decides on */
    AMP_TORCH_RUNS_PARTS, /* its parts, each decided on for itself, unless a rule names the whole */
    AMP_TORCH_RUNS_BY_FORM /* one operator, but for forms that hold what no exporter writes for it
                            */
};

struct amp_torch_texts {
    const char **items;
    size_t count, capacity;
};

struct amp_torch_composite {
    const char *name; /* of pattern/composites.h */
    enum amp_torch_runs runs;
    struct amp_torch_texts parts_with; /* operators that tell a form written by hand */
    struct amp_torch_texts aten;       /* the operators of ATen's that the exporter for torch.export
                                          takes it apart into; none: it does not */
    const char *reason;
};

/* What the exporter for torch.export writes for a function that it takes apart. */
struct amp_torch_apart {
    struct amp_torch_texts names; /* of the table, for what it was */
    struct amp_torch_texts into;  /* operators of ATen's, "sum.dim_IntList?"; autocast/apart.c */
};

struct amp_torch_aparts {
    struct amp_torch_apart *items;
    size_t count, capacity;
};

struct amp_torch_map;

/* Reads the table into rules->torch unless it is there. AMP_IO, or AMP_RULES when it is wrong. */
enum amp_status amp_torch_map_get(struct amp_rules *rules, struct amp_error *err);

/* NULL: no such name. Those of in-place and out= variants of a name in the table have no form. */
const struct amp_torch_name *amp_torch_map_find(const struct amp_torch_map *map, const char *name);

/* The name that WORD was probably meant to be; NULL when none is near. */
const char *amp_torch_map_nearest(const struct amp_torch_map *map, const char *word);

/* All names, in the table's order; NULL past the end. */
const struct amp_torch_name *amp_torch_map_at(const struct amp_torch_map *map, size_t index);

/* The operators of ATen's, and the modules of torch.nn, that rows give beside their names. */
const struct amp_torch_notes *amp_torch_map_aten(const struct amp_torch_map *map);
const struct amp_torch_notes *amp_torch_map_modules(const struct amp_torch_map *map);

/* The functions that the exporter for torch.export takes apart into several operators of ATen's. */
const struct amp_torch_texts *amp_torch_map_calls(const struct amp_torch_map *map);

/* What they become, in the table's order, and the operators of ATen's that make constants, which
   may stand between. */
const struct amp_torch_aparts *amp_torch_map_apart(const struct amp_torch_map *map);
const struct amp_torch_texts *amp_torch_map_constants(const struct amp_torch_map *map);

/* NULL: the table does not have the composite. */
const struct amp_torch_composite *amp_torch_map_composite(const struct amp_torch_map *map,
                                                          const char *name);

/* "mapped", "composite", "conditional", "none". */
const char *amp_torch_kind_name(enum amp_torch_kind kind);

enum amp_torch_kind amp_torch_kind(const struct amp_torch_name *name);

#endif
