#ifndef AMP_CHECK_NOISE_STEPS_H
#define AMP_CHECK_NOISE_STEPS_H

#include "core/graph/graph.h"

struct amp_session; /* run/exec/session.h */

/* What is known of a strict session's steps without a run. */
struct amp_noise_steps {
    const struct amp_model *model; /* amp_walk_model */
    size_t count;
    struct amp_noise_step *items;
    size_t *of_node; /* per node id: its step; SIZE_MAX: none */
    size_t *from;    /* per value: the first step that reads it and is no constant, or reads what
                        constant steps make of it; SIZE_MAX: none */
    size_t *birth;   /* per value: the step before which a run has it; SIZE_MAX: it is constant */
    size_t *death;   /* per value: the last step that reads it, SIZE_MAX for graph outputs; 0 and
                        a birth above it: none */
};

struct amp_noise_step {
    uint32_t node;
    bool is_constant;
    struct amp_ids reads; /* values of the main graph, also those that only its bodies read */
    struct amp_ids chain; /* the constant steps that what it reads is made by, in order */
};

/* The steps of SESSION, in ARENA. */
struct amp_noise_steps amp_noise_steps_create(const struct amp_session *session,
                                              struct amp_arena *arena);

#endif
