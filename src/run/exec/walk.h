#ifndef AMP_RUN_EXEC_WALK_H
#define AMP_RUN_EXEC_WALK_H

#include "run/exec/session.h"

/*
 * A run of the main graph step by step, for those who look at values between the steps or replace
 * them. The plan is to be strict (AMP_ROUNDED,
 * AMP_LITERAL), so that there is a step for each node that is no constant and every value exists.
 * Values are named by the ids of the plan's model (amp_walk_model), which has those of the model
 * that was planned and may have more.
 *
 *     amp_walk_begin, then per step amp_walk_compute and amp_walk_release, then amp_walk_end
 */

/* The model whose nodes and values a walk of SESSION speaks of. */
const struct amp_model *amp_walk_model(const struct amp_session *session);

/* The number of steps of the main graph, and the node of step STEP. */
size_t amp_walk_count(const struct amp_session *session);
uint32_t amp_walk_node(const struct amp_session *session, size_t step);

/* Whether step STEP computes the same in every run, and so may have been run before. */
bool amp_walk_is_constant(const struct amp_session *session, size_t step);

/* Gives SESSION the inputs of a run, as amp_session_run takes them, and fails as it does. */
enum amp_status amp_walk_begin(struct amp_session *session, const struct amp_tensor *inputs,
                               struct amp_error *err);

/* Computes the outputs of step STEP from what its inputs hold; its inputs stay. A constant step
   that has run keeps what it gave. */
enum amp_status amp_walk_compute(struct amp_session *session, size_t step, struct amp_error *err);

/* Releases the values that no step behind STEP reads. */
void amp_walk_release(struct amp_session *session, size_t step);

/* Makes TENSOR, which the caller releases, refer to what VALUE holds at this point, row-major, or
   to a copy in its declared dtype. Without data: it holds nothing, or is a constant that no step
   has asked for. As long as the caller keeps it, no step computes in its place. */
enum amp_status amp_walk_get(struct amp_session *session, uint32_t value, struct amp_tensor *tensor,
                             struct amp_error *err);

/* Makes VALUE, which is no constant, hold TENSOR. AMP_MODEL: TENSOR is not of the declared type. */
enum amp_status amp_walk_set(struct amp_session *session, uint32_t value,
                             const struct amp_tensor *tensor, struct amp_error *err);

/* Ends a run, at whatever step: drops all values that are no constants. OUTPUTS, unless NULL, get
   the graph's outputs first, as of amp_session_run. */
enum amp_status amp_walk_end(struct amp_session *session, struct amp_tensor *outputs,
                             struct amp_error *err);

#endif
