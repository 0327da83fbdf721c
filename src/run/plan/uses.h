#ifndef AMP_RUN_PLAN_USES_H
#define AMP_RUN_PLAN_USES_H

#include "core/graph/uses.h"
#include "run/plan/plan.h"

/* Private to run/: the passes that make of a step per node those that run. */
struct amp_planning {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_plan *plans; /* per graph */
    struct amp_uses uses;
    /* Per node: the step that runs it, itself or as a part of its own; NULL: none. A Cast that is
       part of several is the last one's. */
    struct amp_step **steps;
};

/* For PLANS of MODEL, with a step for each node that runs. */
struct amp_planning amp_planning_create(const struct amp_model *model, struct amp_arena *arena,
                                        struct amp_plan *plans);
void amp_planning_destroy(struct amp_planning *planning);

/* Drops the steps that have become parts of others: those whose op is NULL now. */
void amp_planning_compact(struct amp_planning *planning);

/* The step of NODE of which it is no mere part; NULL: there is none. */
struct amp_step *amp_planning_own(const struct amp_planning *planning, uint32_t node);

/* ---- the passes, in their order -------------------------------------------------------------- */

/* Makes nodes that oneDNN can do as post-ops part of the step whose result they are the only use of
   (ops/dnnl/post_op.h). */
void amp_plan_absorb(struct amp_planning *planning);

/* Makes each Cast that all who use its result can do while they read part of their steps
   (amp_step.casts; which can: ops/op.h, reads_casts). */
void amp_plan_read_casts(struct amp_planning *planning);

/* Where this CPU convolves and pools float16 more slowly than float32, makes such steps compute in
   float32; what goes from one to another of them stays float32. */
void amp_plan_widen(struct amp_planning *planning);

/* Notes how the steps' output 0 is taken (amp_step.layout_wish). */
void amp_plan_note_layout_wishes(struct amp_planning *planning);

/* Makes the steps of attention (MatMul, Softmax over the last axis, MatMul, with what is done to
   the scores in between) the lead of the last one, so that they can go in slices (amp_step.lead).
 */
void amp_plan_lead(struct amp_planning *planning);

/* Notes what nobody needs after each step (amp_step.drops). */
void amp_plan_note_drops(struct amp_planning *planning);

#endif
