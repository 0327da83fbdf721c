/*
 * Runs one step: its node with all that it takes along, casts of what it reads and post-ops, or,
 * where the kernel cannot, one after the other; and before it the steps that lead to it, in slices
 * where that helps.
 */
#include "run/exec/step.h"

#include "ops/matmul/matmul.h"

#include "run/exec/call.h"

#include <stdlib.h>

static void drop_state(struct amp_step *step)
{
    if (step->state != NULL && step->op->destroy != NULL)
        step->op->destroy(step->state);
    step->state = NULL;
}

/* Those casts that no other step has run. */
static enum amp_status run_casts(struct amp_session *session, struct amp_step *step,
                                 struct amp_error *err)
{
    for (size_t i = 0; i < step->n_casts; i++) {
        uint32_t value = amp_node_at(session->model, step->casts[i]->node)->outputs[0];
        if (session->slots[value].data == NULL)
            AMP_TRY(amp_step_call(session, step->casts[i], 0, 0, err));
    }
    return AMP_OK;
}

static bool is_sliced(const struct amp_step *step)
{
    return step->slices != NULL && amp_slices_are_taking(step->slices);
}

/* Whether post-ops of STEP run as steps of their own. */
static bool is_split_now(const struct amp_step *step)
{
    return is_sliced(step) ? step->is_split_in_slices : step->is_split;
}

/* Gives up what STEP takes along, casts before post-ops; false: there is nothing. */
static bool give_up(const struct amp_session *session, struct amp_step *step, bool in_slices)
{
    bool *is_split = in_slices ? &step->is_split_in_slices : &step->is_split;
    if (step->n_casts > 0 && !step->runs_casts)
        step->runs_casts = true;
    else if (step->n_tail > 0 && !*is_split && (!in_slices || step->can_split_slices))
        *is_split = true;
    else
        return false;
    drop_state(step);
    amp_step_forget(session->model, step);
    return true;
}

static enum amp_status run_nodes(struct amp_session *session, struct amp_step *step,
                                 struct amp_error *err)
{
    enum amp_status status;
    do {
        size_t n_posts = is_split_now(step) ? 0 : step->n_tail;
        size_t n_casts = step->runs_casts ? 0 : step->n_casts;
        *err = (struct amp_error){.status = AMP_OK};
        if (step->runs_casts)
            AMP_TRY(run_casts(session, step, err));
        status = amp_step_call(session, step, n_posts, n_casts, err);
    } while (status == AMP_UNSUPPORTED && give_up(session, step, is_sliced(step)));
    if (status == AMP_UNSUPPORTED && is_sliced(step))
        amp_slices_refuse(step->slices, amp_node_at(session->model, step->node));
    for (size_t i = 0; i < step->n_tail && is_split_now(step) && status == AMP_OK; i++)
        status = amp_step_call(session, &step->tail[i], 0, 0, err);
    return status;
}

/* STEP after its lead; what one gives goes when the next has run. */
static enum amp_status run_after_lead(struct amp_session *session, struct amp_step *step,
                                      struct amp_error *err)
{
    for (size_t i = 0; i < step->n_lead; i++) {
        AMP_TRY(run_nodes(session, &step->lead[i], err));
        if (i > 0)
            amp_tensor_release(
                &session->slots[amp_step_output(session->model, &step->lead[i - 1])]);
    }
    return run_nodes(session, step, err);
}

/* Which of N steps could not go in slices; NULL: none of them. */
static struct amp_step *find_refused(const struct amp_session *session,
                                     const struct amp_slices *slices, struct amp_step *steps,
                                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (amp_node_at(session->model, steps[i].node) == amp_slices_refused_by(slices))
            return &steps[i];
        struct amp_step *found = find_refused(session, slices, steps[i].tail, steps[i].n_tail);
        if (found == NULL)
            found = find_refused(session, slices, steps[i].lead, steps[i].n_lead);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Lets STEP and its lead go in slices once more, the one that could not without what it takes along
   or else in float32; false: it did so. */
static bool try_again(const struct amp_session *session, struct amp_step *step)
{
    struct amp_step *refused = find_refused(session, step->slices, step, 1);
    if (refused == NULL)
        return false;
    if (!give_up(session, refused, true)) {
        if (refused->is_widened)
            return false;
        refused->is_widened = true;
    }
    amp_slices_allow(step->slices);
    return true;
}

/* Whether the lead of STEP begins to go in slices: the scores, which its first product gives, have
   their shape from what that multiplies. */
static bool begin_slices(struct amp_session *session, const struct amp_step *step)
{
    const struct amp_step *first = step->lead;
    const struct amp_node *node = amp_node_at(session->model, first->node);
    struct amp_error err = {.status = AMP_OK};
    struct amp_shape scores;
    const struct amp_shape *a =
        &amp_step_slot(session, first, first->n_casts, node->inputs[0])->shape;
    const struct amp_shape *b =
        &amp_step_slot(session, first, first->n_casts, node->inputs[1])->shape;
    enum amp_dtype dtype = amp_value_at(session->model, node->outputs[0])->dtype;
    if (amp_matmul_shape(a, b, &scores, &err) != AMP_OK)
        scores.rank = -1;
    return amp_slices_begin(step->slices, &scores, dtype);
}

/* In slices, where that is of use and the kernels can. */
static enum amp_status run_all(struct amp_session *session, struct amp_step *step,
                               struct amp_error *err)
{
    while (step->n_lead > 0 && begin_slices(session, step)) {
        enum amp_status status = run_after_lead(session, step, err);
        if (amp_slices_refused_by(step->slices) == NULL)
            return status;
        *err = (struct amp_error){.status = AMP_OK};
        if (!try_again(session, step))
            break;
    }
    return run_after_lead(session, step, err);
}

enum amp_status amp_step_compute(struct amp_session *session, struct amp_step *step,
                                 struct amp_error *err)
{
    return run_all(session, step, err);
}

enum amp_status amp_step_run(struct amp_session *session, struct amp_step *step,
                             struct amp_error *err)
{
    if (step->is_done)
        return AMP_OK;
    enum amp_status status = run_all(session, step, err);
    if (status == AMP_OK && step->is_constant)
        status = amp_constants_fold(session, step, err);
    step->is_done = status == AMP_OK && step->is_constant;
    for (size_t i = 0; i < step->drops.count; i++)
        if (!amp_constant_is(session, step->drops.items[i]))
            amp_tensor_release(&session->slots[step->drops.items[i]]);
    return status;
}

void amp_step_destroy(const struct amp_model *model, struct amp_step *step)
{
    drop_state(step);
    if (step->wide != NULL)
        amp_tensors_release(step->wide, amp_node_at(model, step->node)->n_inputs);
    free(step->wide);
    step->wide = NULL;
    for (size_t i = 0; i < step->n_tail; i++)
        amp_step_destroy(model, &step->tail[i]);
    for (size_t i = 0; i < step->n_casts; i++)
        amp_step_destroy(model, step->casts[i]);
    for (size_t i = 0; i < step->n_lead; i++)
        amp_step_destroy(model, &step->lead[i]);
    if (step->n_lead > 0)
        amp_slices_destroy(step->slices);
}
