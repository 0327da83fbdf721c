#ifndef AMP_CHECK_LOCKSTEP_H
#define AMP_CHECK_LOCKSTEP_H

#include "check/pairs.h"
#include "check/validate.h"

/* A value that two models have in common, at the point where the converted model has it. */
struct amp_sight {
    uint32_t value;                     /* of the converted model */
    const struct amp_tensor *reference; /* what the reference holds, run from the inputs */
    const struct amp_tensor *converted; /* what the converted model does */
    const struct amp_tensor *local;     /* and where its node gets the reference's values; NULL: it
                                           cannot run on those */
    const char *why_not;                /* LOCAL NULL: the reason, "" for a node that draws random
                                           numbers */
};

/* Who looks at what the models have in common, in the order in which the converted one runs. */
struct amp_onlooker {
    enum amp_status (*see)(void *context, const struct amp_sight *sight, struct amp_error *err);
    void *context;
};

/* Two models that run side by side. PAIRS must outlive it. */
struct amp_lockstep *amp_lockstep_create(const struct amp_pairs *pairs,
                                         struct amp_onlooker onlooker);
void amp_lockstep_destroy(struct amp_lockstep *lockstep); /* NULL is fine */

/*
 * Runs PAIR, always of the same two sessions, whose plans are strict: the converted model node by
 * node, the reference as far ahead as a node needs. Each node of the converted model that computes
 * what has a pair, or what leads to that, runs a second time: on the reference's values in the
 * dtypes that it reads, where there are any, else on what such runs gave before. Fails as
 * amp_session_run does, and as the onlooker.
 */
enum amp_status amp_lockstep_run(struct amp_lockstep *lockstep, const struct amp_pair_run *pair,
                                 struct amp_error *err);

#endif
