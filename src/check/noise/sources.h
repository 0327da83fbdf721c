#ifndef AMP_CHECK_NOISE_SOURCES_H
#define AMP_CHECK_NOISE_SOURCES_H

#include "check/noise/steps.h"

/* Where a conversion rounds. */
enum amp_noise_kind {
    AMP_NOISE_WEIGHT, /* a constant */
    AMP_NOISE_VALUE,  /* what a node gives in the lower dtype, or a graph input in it */
    AMP_NOISE_CAST,   /* what a Cast makes of a float32 value, for the nodes that read the Cast */
    AMP_NOISE_BODIES  /* all that is rounded in the bodies of a node of control flow, at once */
};

struct amp_noise_source {
    enum amp_noise_kind kind;
    uint32_t value_id, node_id; /* in the converted model; NODE_ID AMP_NONE: a graph input's */
    const char *name;           /* of the constant or value; of a Cast, of what it casts */
    const char *node;           /* the first node that reads the constant, or the one that gives the
                                   value, as messages have it: "node 'conv1' (Conv-11)"; "": none */
    const char *op_type;        /* of that node; "": none */
    enum amp_dtype dtype;
    size_t group;    /* sources of a group are next to each other and were rounded together */
    double power;    /* squared error that it adds; in a group of several, an equal share */
    uint64_t n_lost; /* elements of outputs, finite in the reference, that it makes NaN or infinite:
                        they are not in POWER. As of its group */
};

/* How a source is rounded in a walk. */
struct amp_noise_place {
    size_t from;      /* the first step that gives or reads what is rounded */
    bool is_input;    /* a graph input, which is there before step 0 */
    bool is_constant; /* the same in every run: its readers run with it rounded */
    bool is_open;     /* and made of no other source */
};

struct amp_noise_sources {
    struct amp_noise_source *items; /* by place */
    struct amp_noise_place *places; /* of each */
    size_t count;
    uint32_t *of_value; /* per value of the walk's model: its source; AMP_NONE: none */
};

/*
 * The places where CONVERTED rounds what REFERENCE does not, as far as the graph tells: a node
 * whose result happens to be exact is among them. STEPS are those of the float32 twin; HAS_BODIES
 * says of its nodes whether their bodies round. All is in ARENA.
 */
struct amp_noise_sources amp_noise_sources_find(const struct amp_model *reference,
                                                const struct amp_model *converted,
                                                const struct amp_noise_steps *steps,
                                                const bool *has_bodies, struct amp_arena *arena);

/* Takes those of SOURCES out that KEEPS, an entry for each, is false of. */
void amp_noise_sources_keep(struct amp_noise_sources *sources, const bool *keeps);

#endif
