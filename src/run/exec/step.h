#ifndef AMP_RUN_EXEC_STEP_H
#define AMP_RUN_EXEC_STEP_H

#include "run/exec/constants.h"

/* Private to run/: the state of a session, and the running of one step of it. */
struct amp_session {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_host host;
    struct amp_plan *plans;         /* per graph */
    struct amp_tensor *slots;       /* per value: what it holds now */
    int64_t *symbols;               /* per symbolic dim: its size in this run */
    struct amp_constant *constants; /* per value */
    size_t folded_bytes;            /* in slots of constants that steps have computed */
};

/* Runs STEP: inputs come from their slots, outputs go to theirs, and what nobody needs after it is
   dropped. An error names the node. */
enum amp_status amp_step_run(struct amp_session *session, struct amp_step *step,
                             struct amp_error *err);

/* The same for a step that is done, as its results are wanted again; drops nothing. */
enum amp_status amp_step_compute(struct amp_session *session, struct amp_step *step,
                                 struct amp_error *err);

/* Frees what running left in STEP. */
void amp_step_destroy(const struct amp_model *model, struct amp_step *step);

/* Makes the slot of VALUE refer to TENSOR, which must be of its kind. */
enum amp_status amp_slot_set(struct amp_session *session, uint32_t value,
                             const struct amp_tensor *tensor, struct amp_error *err);

/* Makes TENSOR, which NODE gives or takes, row-major. */
enum amp_status amp_slot_undo(struct amp_session *session, struct amp_tensor *tensor,
                              const struct amp_node *node, struct amp_error *err);

/* Makes what the slot of VALUE holds row-major. */
enum amp_status amp_slot_make_plain(struct amp_session *session, uint32_t value,
                                    struct amp_error *err);

#endif
