#ifndef AMP_RUN_EXEC_KERNEL_CALL_H
#define AMP_RUN_EXEC_KERNEL_CALL_H

#include "run/exec/state.h"

/* Private to run/exec: one call of the kernel of a step. */
struct amp_kernel_call {
    struct amp_session *session;
    const struct amp_step *step;
    struct amp_step_state *state;
    const struct amp_node *node; /* the step's */
    size_t n_posts, n_casts;     /* of the step's, that the kernel does: all or none of either */
    bool is_wide;                /* float32 in place of lower dtypes; rounded afterwards */
    bool has_view;               /* its inputs were seen as a blocked view */
    bool has_rest;               /* whose blocks are not full */
    const struct amp_layout *view_layout; /* output 0 as what the view makes of it */
    struct amp_shape view_shape;
    struct amp_error *err;
};

/* Sets the inputs and operands that CALL reads, as they lie. */
void amp_kernel_call_gather(const struct amp_kernel_call *call);

/* Whether CALL has to give the kernel float32 in place of a lower dtype: where IS_FORCED, it has if
   there is any. */
bool amp_kernel_call_is_wide(const struct amp_kernel_call *call, bool is_forced);

/* Whether the kernel of CALL, which is wide, takes constant input I in its lower dtype. */
bool amp_kernel_call_keeps_lower(const struct amp_kernel_call *call, size_t i);

/* Makes all that CALL reads row-major and sets *ANY to whether something was not. */
enum amp_status amp_kernel_call_reorder(const struct amp_kernel_call *call, bool *any);

/* Runs the kernel on what has been gathered. AMP_UNSUPPORTED: it has nothing for such inputs and
   post-ops. AMP_AGAIN: it wants constants of which it had a form. In slices it may run later, with
   the call of the last step. */
enum amp_status amp_kernel_call_run(struct amp_kernel_call *call);

/* Gives output 0, which CALL's kernel wrote as a blocked view, its layout and shape. */
void amp_kernel_call_see_blocks(const struct amp_kernel_call *call);

/* Moves the outputs to their values, rounded where the kernel computed in float32. AMP_MODEL for a
   dtype that the model does not declare. */
enum amp_status amp_kernel_call_store(const struct amp_kernel_call *call);

/* Whether what the kernel of CALL computes in float32 in place of a lower dtype stays so. */
bool amp_kernel_call_stays_wide(const struct amp_kernel_call *call);

/* Rounds output I of such a CALL, which OUT has, to the dtype that it is in place of, if the step
   has to. */
void amp_kernel_call_round(const struct amp_kernel_call *call, uint32_t i, struct amp_tensor *out);

/* Releases what CALL left in the frame; it may then be gathered once more. */
void amp_kernel_call_release(const struct amp_kernel_call *call);

/* What the kernel of CALL, which has been gathered, is called with. */
struct amp_ctx amp_kernel_call_ctx(const struct amp_kernel_call *call);

/* The value that is output I after all post-ops of CALL; AMP_NONE: there is none. */
uint32_t amp_kernel_call_output(const struct amp_kernel_call *call, uint32_t i);

/* Makes *TO, which gets memory of its own, what *FROM is in DTYPE. */
enum amp_status amp_kernel_call_convert(const struct amp_tensor *from, struct amp_tensor *to,
                                        enum amp_dtype dtype, struct amp_error *err);

/* What STEP reads as VALUE if the kernel does N_CASTS of its casts: the value, or what is cast. */
struct amp_tensor *amp_kernel_call_input(const struct amp_session *session,
                                         const struct amp_step *step, size_t n_casts,
                                         uint32_t value);

#endif
