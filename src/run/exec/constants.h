#ifndef AMP_RUN_EXEC_CONSTANTS_H
#define AMP_RUN_EXEC_CONSTANTS_H

#include "run/exec/state.h"

/*
 * Private to run/exec: values that are the same in every run, which are the model's constants and
 * what steps compute of nothing else. A value gets its tensor when a step first reads it, and gives
 * it up when all kernels that read it have forms of their own.
 */
struct amp_constant {
    const struct amp_step *source; /* which computed it; NULL: it is the model's, or no constant */
    uint32_t n_readers;            /* uses that have no form of their own, or have not run yet */
    uint32_t wanted_by;            /* while it is computed again: the value for which it is */
    bool needs_alignment;          /* some use does not take it as it lies in a file */
    bool was_let_go;
    bool is_kept; /* it was read again after that, as shapes changed: that may go on */
};

/* Sets dtypes and shapes of the model's constants and counts who reads what. */
void amp_constants_create(struct amp_session *session);

bool amp_constant_is(const struct amp_session *session, uint32_t value);

/* Makes VALUE hold DATA of the model: a copy unless they are in memory and aligned as those who
   read them want. AMP_IO when there is not enough memory or a file of data cannot be read. */
enum amp_status amp_constant_place(struct amp_session *session, uint32_t value,
                                   const struct amp_tensor *data, struct amp_error *err);

/* Makes VALUE, where it is a constant of the model that lies as in its file, hold an aligned copy.
 */
enum amp_status amp_constant_align(struct amp_session *session, uint32_t value,
                                   struct amp_error *err);

/* VALUE, which was let go, is read again: it is kept from then on. */
void amp_constant_keep(struct amp_session *session, uint32_t value);

/* The first input of STEP that a step has computed and that has been let go; AMP_NONE: none. */
uint32_t amp_constant_missing(const struct amp_session *session, const struct amp_step *step);

/* The constant whose data a call of STATE's kernel wants as input INDEX or, behind the inputs, as
   the operand of a post-op; AMP_NONE: it is no constant, or the kernel or, where IS_WIDE,
   state->wide has a form of it. */
uint32_t amp_constant_wanted(const struct amp_session *session, const struct amp_step_state *state,
                             size_t index, bool is_wide);

/* Whether the kernel of STATE has a form of its own of constant input INDEX or, behind the inputs,
   of the operand of a post-op. */
bool amp_constant_has_form(const struct amp_session *session, const struct amp_step_state *state,
                           size_t index);

/* The kernel of STATE is about to make its forms of constants anew. */
void amp_constants_forget_forms(const struct amp_session *session, struct amp_step_state *state);

/* Lets constants go that the call of STATE's kernel, which has succeeded, is the last to read. */
void amp_constants_note_call(struct amp_session *session, struct amp_step_state *state,
                             size_t n_posts);

/* Makes constants of the results of STATE's step, which reads nothing but constants. Where they
   take too much memory the step runs again in each run, as others do. */
enum amp_status amp_constants_fold(struct amp_session *session, struct amp_step_state *state,
                                   struct amp_error *err);

#endif
