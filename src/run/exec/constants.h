#ifndef AMP_RUN_EXEC_CONSTANTS_H
#define AMP_RUN_EXEC_CONSTANTS_H

#include "run/plan/plan.h"

/*
 * Private to run/: values that are the same in every run, which are the model's constants and what
 * steps compute of nothing else. Their slots are filled when a step first reads them, and let go
 * when all that read them have forms of their own.
 */
struct amp_session;

struct amp_constant {
    struct amp_step *source; /* which computed it; NULL: it is the model's, or no constant */
    uint32_t n_readers;      /* uses that have no form of their own, or have not run yet */
    uint32_t wanted_by;      /* while it is computed again: the value for which it is */
    bool was_let_go;
    bool is_kept; /* it was read again after that, as shapes changed: that may go on */
};

/* Prepares the slots of the model's constants and counts who reads what. */
void amp_constants_create(struct amp_session *session);

bool amp_constant_is(const struct amp_session *session, uint32_t value);

/* Puts DATA of the model into VALUE's slot: a copy unless they are there and aligned as kernels
   want them. */
enum amp_status amp_constant_place(struct amp_session *session, uint32_t value,
                                   const struct amp_tensor *data, struct amp_error *err);

/* Fills the slot of constant VALUE unless it is filled. */
enum amp_status amp_constant_load(struct amp_session *session, uint32_t value,
                                  struct amp_error *err);

/* Loads the constants that STEP, called with N_POSTS post-ops, reads: not those that its kernel or,
   where IS_WIDE, step->wide has a form of. */
enum amp_status amp_step_load(struct amp_session *session, const struct amp_step *step,
                              size_t n_posts, bool is_wide, struct amp_error *err);

/* The kernel of STEP is about to make its forms anew. */
void amp_step_forget(const struct amp_model *model, struct amp_step *step);

/* Lets constants go that the call of STEP, which went well, is the last to read. */
void amp_step_note(struct amp_session *session, struct amp_step *step, size_t n_posts);

/* Makes constants of what STEP, which computes nothing else, has put into its slots; where they
   take too much memory it stays a step like others. */
enum amp_status amp_constants_fold(struct amp_session *session, struct amp_step *step,
                                   struct amp_error *err);

#endif
