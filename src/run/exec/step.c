/*
 * Runs one step of a plan in the first of the ways (way.h) that its kernel takes, and remembers it
 * in the step's state, so that the next run begins there. Casts and post-ops that the kernel
 * refuses run as calls of their own; the step of attention runs with those that compute its scores,
 * in slices where that is of use. Takes a step and the values that it reads, and loads the
 * constants among them. How one call is made is kernel_call.c's matter.
 */
#include "run/exec/step.h"

#include "ops/dnnl/profile.h"
#include "ops/matmul/matmul.h"
#include "run/exec/constants.h"
#include "run/exec/kernel_call.h"
#include "run/exec/kept_call.h"
#include "run/exec/slices.h"
#include "run/exec/values.h"
#include "run/exec/way.h"

/* ---- constants ------------------------------------------------------------------------------- */

static enum amp_status compute(struct amp_session *session, const struct amp_step *step,
                               struct amp_error *err);

/* The results of STEP are kept from now on. */
static void keep_outputs(struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            session->constants[node->outputs[i]].is_kept = true;
}

/* Runs the step of VALUE once more, and before it those whose results it reads: a chain that may be
   longer than a stack of calls is deep. */
static enum amp_status compute_again(struct amp_session *session, uint32_t value,
                                     struct amp_error *err)
{
    struct amp_constant *constants = session->constants;
    constants[value].wanted_by = AMP_NONE;
    while (value != AMP_NONE) {
        const struct amp_step *source = constants[value].source;
        uint32_t missing = amp_constant_missing(session, source);
        if (missing != AMP_NONE) {
            constants[missing].wanted_by = value;
            value = missing;
            continue;
        }
        keep_outputs(session, source);
        AMP_TRY(compute(session, source, err));
        value = constants[value].wanted_by;
    }
    return AMP_OK;
}

enum amp_status amp_step_load(struct amp_session *session, uint32_t value, struct amp_error *err)
{
    if (session->values[value].data != NULL)
        return AMP_OK;
    amp_constant_keep(session, value);
    if (session->constants[value].source != NULL)
        return compute_again(session, value, err);
    return amp_constant_place(session, value, amp_value_at(session->model, value)->constant, err);
}

static enum amp_status load_constants(const struct amp_kernel_call *call)
{
    size_t count = call->node->n_inputs + call->n_posts;
    for (size_t i = 0; i < count; i++) {
        bool is_wide = call->is_wide && !amp_kernel_call_keeps_lower(call, i);
        uint32_t value = amp_constant_wanted(call->session, call->state, i, is_wide);
        if (value != AMP_NONE)
            AMP_TRY(amp_step_load(call->session, value, call->err));
    }
    return AMP_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

static enum amp_status run_ways(struct amp_session *session, const struct amp_step *step,
                                struct amp_error *err);

/* Runs the casts of STEP that no other step has run. */
static enum amp_status run_casts(struct amp_session *session, const struct amp_step *step,
                                 struct amp_error *err)
{
    for (size_t i = 0; i < step->n_casts; i++) {
        uint32_t value = amp_node_at(session->model, step->casts[i]->node)->outputs[0];
        if (session->values[value].data == NULL)
            AMP_TRY(run_ways(session, step->casts[i], err));
    }
    return AMP_OK;
}

static enum amp_status load_and_run(struct amp_kernel_call *call)
{
    *call->err = (struct amp_error){.status = AMP_OK};
    AMP_TRY(load_constants(call));
    return amp_kernel_call_run(call);
}

/* Prepares CALL to run in WAY. Where that cannot be, why the way before was refused stays said. */
static enum amp_status prepare(struct amp_kernel_call *call, const struct amp_way *way)
{
    if (call->err->status == AMP_OK)
        return way->prepare(call);
    struct amp_error refusal = *call->err;
    *call->err = (struct amp_error){.status = AMP_OK};
    enum amp_status status = way->prepare(call);
    if (status == AMP_UNSUPPORTED)
        *call->err = refusal;
    return status;
}

/* Runs CALL in WAY, all but to store what it gives. Where the kernel wants constants of which it
   had a form, it gets them. */
static enum amp_status try_way(struct amp_kernel_call *call, const struct amp_way *way)
{
    call->n_posts = way->has_posts ? call->step->n_posts : 0;
    call->n_casts = way->reads_casts ? call->step->n_casts : 0;
    AMP_TRY(prepare(call, way));
    enum amp_status status = load_and_run(call);
    if (status == AMP_AGAIN) {
        amp_constants_forget_forms(call->session, call->state);
        amp_kernel_call_gather(call);
        status = load_and_run(call);
    }
    return status;
}

/* Tells the profile that CALL, which was made with CTX, has been made. */
static void note(const struct amp_kernel_call *call, const struct amp_ctx *ctx,
                 const struct amp_way *way, enum amp_mode mode, struct amp_profile_mark mark)
{
    char text[AMP_PROFILE_WAY_SIZE];
    amp_way_describe(call, way, mode, text, sizeof text);
    amp_profile_end(call->session->host.profile, mark, ctx, text);
}

/* The nodes of a body stand behind their owner, which stands behind the path. */
static void name_node(const struct amp_kernel_call *call)
{
    char text[512];
    const struct amp_model *model = call->session->model;
    bool is_inner = call->node->graph != 0;
    amp_error_prefix(call->err, "%s%s%s", is_inner ? "" : model->path, is_inner ? "" : ": ",
                     amp_node_text(model, call->step->node, text, sizeof text));
}

/* STATE's kernel cannot do what it did before way W: it is set up anew. That it cannot read casts
   holds in both modes. */
static void go_on(const struct amp_session *session, struct amp_step_state *state,
                  enum amp_mode mode, size_t w)
{
    uint8_t *other = &state->way[1 - mode];
    state->way[mode] = (uint8_t)w;
    while (amp_ways[*other].reads_casts && !amp_ways[w].reads_casts)
        ++*other;
    amp_state_drop_kernel(state);
    amp_kept_call_drop(state->kept);
    amp_constants_forget_forms(session, state);
}

/* Turns from way BEFORE of CALL, which has failed (AMP_N_WAYS: there was none), to way W. */
static enum amp_status begin_way(const struct amp_kernel_call *call, enum amp_mode mode,
                                 size_t before, size_t w)
{
    bool is_first = before == AMP_N_WAYS;
    if (!is_first && (amp_ways[w].has_posts != amp_ways[before].has_posts ||
                      amp_ways[w].reads_casts != amp_ways[before].reads_casts))
        go_on(call->session, call->state, mode, w);
    bool runs_casts = !amp_ways[w].reads_casts && (is_first || amp_ways[before].reads_casts);
    return runs_casts ? run_casts(call->session, call->step, call->err) : AMP_OK;
}

static enum amp_status run_posts(struct amp_session *session, const struct amp_step *step,
                                 struct amp_error *err)
{
    for (size_t i = 0; i < step->n_posts; i++)
        AMP_TRY(run_ways(session, &step->post_steps[i], err));
    return AMP_OK;
}

/* CALL has been made in way W: notes it, and keeps it where it was made whole. The first call tries
   ways that others need not try: what it did on the way there is not to be repeated. */
static void end_call(const struct amp_kernel_call *call, enum amp_mode mode, size_t w,
                     struct amp_profile_mark mark)
{
    if (call->session->host.profile != NULL) {
        const struct amp_ctx ctx = amp_kernel_call_ctx(call);
        note(call, &ctx, &amp_ways[w], mode, mark);
    }
    amp_constants_note_call(call->session, call->state, call->n_posts);
    if (mode == AMP_WHOLE && call->state->was_called)
        amp_kept_call_keep(call, w);
    call->state->was_called = true;
}

/* Makes the call of STATE's step that is kept once more, if it fits. AMP_AGAIN: it does not. */
static enum amp_status repeat_call(struct amp_session *session, struct amp_step_state *state,
                                   struct amp_error *err)
{
    size_t w;
    const struct amp_step *step = state->step;
    const struct amp_kernel_call *call = amp_kept_call_of(state->kept, &w);
    if (call == NULL)
        return AMP_AGAIN;
    if (call->n_casts < step->n_casts)
        AMP_TRY(run_casts(session, step, err));
    if (!amp_kept_call_fits(state->kept))
        return AMP_AGAIN;
    struct amp_profile_mark mark = amp_profile_begin(session->host.profile);
    enum amp_status status = amp_kept_call_run(state->kept, err);
    if (status == AMP_AGAIN) {
        *err = (struct amp_error){.status = AMP_OK};
        return AMP_AGAIN;
    }
    if (status != AMP_OK)
        name_node(call);
    else if (session->host.profile != NULL)
        note(call, amp_kept_call_ctx(state->kept), &amp_ways[w], AMP_WHOLE, mark);
    return status == AMP_OK && call->n_posts < step->n_posts ? run_posts(session, step, err)
                                                             : status;
}

/* Runs STEP in the first way that its kernel takes, and the post-ops that this leaves. */
static enum amp_status find_way(struct amp_session *session, const struct amp_step *step,
                                enum amp_mode mode, struct amp_error *err)
{
    struct amp_step_state *state = amp_state_of(session, step);
    const struct amp_node *node = amp_node_at(session->model, step->node);
    struct amp_kernel_call call = {session, step, state, node, .err = err};
    struct amp_profile_mark mark = amp_profile_begin(session->host.profile);
    amp_kept_call_drop(state->kept);
    enum amp_status status = AMP_UNSUPPORTED;
    size_t before = AMP_N_WAYS, w = amp_way_find(step, mode, state->way[mode]);
    while (w < AMP_N_WAYS) {
        AMP_TRY(begin_way(&call, mode, before, w));
        status = try_way(&call, &amp_ways[w]);
        if (status != AMP_UNSUPPORTED)
            break;
        amp_kernel_call_release(&call);
        before = w;
        w = amp_way_find(step, mode, w + 1);
    }
    /* Not in another way once it has run: it may have been computed in its inputs' place. */
    if (status == AMP_OK)
        status = amp_kernel_call_store(&call);
    if (status == AMP_OK)
        end_call(&call, mode, w, mark);
    else
        name_node(&call);
    amp_kernel_call_release(&call);
    if (status == AMP_UNSUPPORTED && mode == AMP_IN_SLICES)
        amp_slices_refuse(state->slices, node);
    return status == AMP_OK && call.n_posts < step->n_posts ? run_posts(session, step, err)
                                                            : status;
}

/* Runs STEP as in the run before, where its inputs are in the same forms, or else in the first way
   that its kernel takes; and the post-ops that this leaves. */
static enum amp_status run_ways(struct amp_session *session, const struct amp_step *step,
                                struct amp_error *err)
{
    struct amp_step_state *state = amp_state_of(session, step);
    bool is_queued = state->slices != NULL && amp_slices_are_queueing(state->slices);
    enum amp_status status = is_queued ? AMP_AGAIN : repeat_call(session, state, err);
    return status == AMP_AGAIN ? find_way(session, step, is_queued ? AMP_IN_SLICES : AMP_WHOLE, err)
                               : status;
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Runs STEP after those that compute its scores. What one of these gives is released when the next
   has run. */
static enum amp_status run_in_turn(struct amp_session *session, const struct amp_step *step,
                                   struct amp_error *err)
{
    for (size_t i = 0; i < step->n_scores; i++) {
        AMP_TRY(run_ways(session, &step->scores[i], err));
        if (i > 0)
            amp_tensor_release(
                &session->values[amp_step_output(session->model, &step->scores[i - 1])]);
    }
    return run_ways(session, step, err);
}

/* Which of N steps is that of NODE, or of a part of it; NULL: none of them. */
static const struct amp_step *find_step(const struct amp_session *session,
                                        const struct amp_node *node, const struct amp_step *steps,
                                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (amp_node_at(session->model, steps[i].node) == node)
            return &steps[i];
        const struct amp_step *found =
            find_step(session, node, steps[i].post_steps, steps[i].n_posts);
        if (found == NULL)
            found = find_step(session, node, steps[i].scores, steps[i].n_scores);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Lets the steps of attention, of which STEP is the last, run in slices once more, the refused one
   in its next way or else in float32; false: it has been tried so. */
static bool try_slices_again(const struct amp_session *session, const struct amp_step *step,
                             struct amp_slices *slices)
{
    const struct amp_step *refused = find_step(session, amp_slices_refused_by(slices), step, 1);
    if (refused == NULL)
        return false;
    struct amp_step_state *state = amp_state_of(session, refused);
    size_t w = amp_way_find(refused, AMP_IN_SLICES, state->way[AMP_IN_SLICES]);
    size_t next = amp_way_find(refused, AMP_IN_SLICES, w + 1);
    if (next < AMP_N_WAYS)
        go_on(session, state, AMP_IN_SLICES, next);
    else if (state->is_widened)
        return false;
    else
        state->is_widened = true;
    amp_slices_allow(slices);
    return true;
}

/* Whether the steps of attention begin to run in slices: the scores, which the first product gives,
   have their shape from what that multiplies. */
static bool begin_slices(const struct amp_session *session, const struct amp_step *step,
                         struct amp_slices *slices)
{
    const struct amp_step *first = step->scores;
    const struct amp_node *node = amp_node_at(session->model, first->node);
    struct amp_error err = {.status = AMP_OK};
    struct amp_shape scores;
    const struct amp_shape *a =
        &amp_kernel_call_input(session, first, first->n_casts, node->inputs[0])->shape;
    const struct amp_shape *b =
        &amp_kernel_call_input(session, first, first->n_casts, node->inputs[1])->shape;
    enum amp_dtype dtype = amp_value_at(session->model, node->outputs[0])->dtype;
    if (amp_matmul_shape(a, b, &scores, &err) != AMP_OK)
        scores.rank = -1;
    return amp_slices_begin(slices, &scores, dtype);
}

/* Computes what STEP gives: in slices, where there are any and the kernels can, else as a whole. */
static enum amp_status compute(struct amp_session *session, const struct amp_step *step,
                               struct amp_error *err)
{
    struct amp_slices *slices = amp_state_of(session, step)->slices;
    while (step->n_scores > 0 && begin_slices(session, step, slices)) {
        enum amp_status status = run_in_turn(session, step, err);
        if (amp_slices_refused_by(slices) == NULL)
            return status;
        *err = (struct amp_error){.status = AMP_OK};
        if (!try_slices_again(session, step, slices))
            break;
    }
    return run_in_turn(session, step, err);
}

/* ---- the step -------------------------------------------------------------------------------- */

enum amp_status amp_step_compute(struct amp_session *session, const struct amp_step *step,
                                 struct amp_error *err)
{
    struct amp_step_state *state = amp_state_of(session, step);
    if (state->is_done)
        return AMP_OK;
    AMP_TRY(compute(session, step, err));
    return step->is_constant && !state->is_repeated ? amp_constants_fold(session, state, err)
                                                    : AMP_OK;
}

void amp_step_release(struct amp_session *session, const struct amp_step *step)
{
    for (size_t i = 0; i < step->last_uses.count; i++)
        if (!amp_constant_is(session, step->last_uses.items[i]))
            amp_tensor_release(&session->values[step->last_uses.items[i]]);
}
