#ifndef AMP_RUN_PLAN_STEP_H
#define AMP_RUN_PLAN_STEP_H

#include "ops/op.h"

struct amp_post; /* ops/dnnl/post_op.h */

/*
 * Private to run/: a step of a plan, which is a node with all that one call of its kernel may do
 * besides. Steps do not change after planning, and sessions in several threads may share them: what
 * a run changes is in the session (run/exec/state.h).
 */

/* The most post-ops of a step: no more than oneDNN takes. */
enum { AMP_POSTS_MAX = 8 };

/* The most steps of attention, without the casts and post-ops that run as steps of their own, and
   the most inputs of one of them. */
enum { AMP_ATTENTION_STEPS_MAX = 6, AMP_ATTENTION_INPUTS_MAX = 3 };

/* What a step is in attention, which can run in slices (run/plan/attention.h). */
struct amp_attention_part {
    bool is_part;         /* false: the step is not part of any */
    bool is_last;         /* the product whose result is the result of attention */
    bool can_split_posts; /* its post-ops can run in slices as steps of their own, or need not */
    uint32_t scores_in;   /* the input that is the result of the step before */
};

struct amp_step {
    uint32_t node;
    const struct amp_op *op;
    bool is_constant; /* all inputs are the same in every run: it needs to run only once */
    bool prefers_f32; /* a lower dtype is computed in float32, which is faster */
    bool lacks_dtype; /* because the CPU does not compute in that itself */
    bool stores_f32;  /* and its outputs stay float32, because all readers prefer that */
    bool rounds_f32;  /* rounded to the dtype: the step computes what that may not have */
    struct amp_layout_wish layout_wish; /* of output 0 after all post-ops */
    struct amp_ids last_uses;           /* values that no later step reads */
    /* Nodes that oneDNN may do as post-ops of this one; the steps run them where it cannot. */
    struct amp_step *post_steps;
    struct amp_post *posts; /* what each of the steps does as a post-op; without operands */
    size_t n_posts;
    /* Casts whose input this step may read in place of their result. Several steps share a Cast of
       which they read the same result. */
    struct amp_step **casts;
    size_t n_casts, casts_capacity;
    /* Of the last product of attention: the steps that compute the scores, each read by the next
       step alone. They run right before this one. */
    struct amp_step *scores;
    size_t n_scores;
    struct amp_attention_part attention;
};

/* The value that is output 0 of STEP after all post-ops; AMP_NONE: there is no such output. */
uint32_t amp_step_output(const struct amp_model *model, const struct amp_step *step);

/* Whether what STEP computes in float32 in place of a lower dtype stays so, if its kernel does
   N_POSTS of its post-ops: those that are left prefer that. */
bool amp_step_stays_wide(const struct amp_step *step, size_t n_posts);

/* Whether no step behind STEP reads VALUE. */
bool amp_step_is_last_use(const struct amp_step *step, uint32_t value);

/* The value that is the operand of post-op I of STEP; AMP_NONE: it has none. */
uint32_t amp_step_operand(const struct amp_model *model, const struct amp_step *step, size_t i);

#endif
