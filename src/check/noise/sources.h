#ifndef AMP_CHECK_NOISE_SOURCES_H
#define AMP_CHECK_NOISE_SOURCES_H

#include "check/noise.h"
#include "check/noise/steps.h"

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
