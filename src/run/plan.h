#ifndef AMP_RUN_PLAN_H
#define AMP_RUN_PLAN_H

#include "ops/op.h"

/* Private to run/: which nodes of a model run, in which order, and what can go after each. */

struct amp_step {
    uint32_t node;
    const struct amp_op *op;
    void *state;             /* of op: amp_ctx.state */
    bool is_widened;         /* the kernel said that it has no lower dtype here */
    bool was_widened;        /* and this run, or an earlier one, computed in float32 */
    struct amp_tensor *wide; /* per input: constants in float32; NULL before the first such run */
    struct amp_ids drops;    /* values that nobody needs after this step */
};

/* The steps of one graph. */
struct amp_plan {
    struct amp_step *steps;
    size_t n_steps;
};

/* Makes *PLANS, one per graph of MODEL, in ARENA. Nodes whose output is constant get no step.
   AMP_UNSUPPORTED with operator and node when there is no kernel for one; the plans then hold what
   was made so far. */
enum amp_status amp_plans_create(const struct amp_model *model, struct amp_arena *arena,
                                 struct amp_plan **plans, struct amp_error *err);

/* The first node of MODEL that there is no kernel for; AMP_NONE: there is one for each. */
uint32_t amp_plan_lacking(const struct amp_model *model);

#endif
