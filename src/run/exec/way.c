/*
 * Lists the ways to run a step: with casts and post-ops, with post-ops alone, or with each of these
 * as a call of its own; on inputs as they lie, then row-major, then in float32. Each way says
 * whether it fits a step, and prepares a call; which one to take is step.c's matter. Says
 * afterwards why a way was taken.
 */
#include "run/exec/way.h"

#include "run/exec/kept_call.h"

#include <stdio.h>

static bool has_casts(const struct amp_step *step, enum amp_mode mode)
{
    (void)mode;
    return step->n_casts > 0;
}

static bool has_posts(const struct amp_step *step, enum amp_mode mode)
{
    (void)mode;
    return step->n_posts > 0;
}

/* Whether the post-ops, if there are any, can run as steps of their own. */
static bool can_split(const struct amp_step *step, enum amp_mode mode)
{
    return mode == AMP_WHOLE || step->n_posts == 0 || step->attention.can_split_posts;
}

static bool has_whole_casts(const struct amp_step *step, enum amp_mode mode)
{
    return mode == AMP_WHOLE && step->n_casts > 0;
}

static bool has_whole_posts(const struct amp_step *step, enum amp_mode mode)
{
    return mode == AMP_WHOLE && step->n_posts > 0;
}

static bool is_whole(const struct amp_step *step, enum amp_mode mode)
{
    (void)step;
    return mode == AMP_WHOLE;
}

/* No kernel that is not meant to compute in float32 has post-ops when it does. */
static enum amp_status set_dtype(struct amp_kernel_call *call)
{
    call->is_wide = amp_kernel_call_is_wide(call, call->state->is_widened);
    bool can_be = !call->is_wide || call->n_posts == 0 || call->step->prefers_f32;
    return can_be ? AMP_OK : AMP_UNSUPPORTED;
}

/* Sets what CALL reads, as it lies, and notes in which forms that comes. */
static void gather(const struct amp_kernel_call *call)
{
    amp_kernel_call_gather(call);
    amp_kept_call_note_forms(call);
}

static enum amp_status prepare_as_it_lies(struct amp_kernel_call *call)
{
    gather(call);
    return set_dtype(call);
}

static enum amp_status prepare_row_major(struct amp_kernel_call *call)
{
    bool any;
    gather(call);
    AMP_TRY(amp_kernel_call_reorder(call, &any));
    return any ? set_dtype(call) : AMP_UNSUPPORTED;
}

static enum amp_status prepare_float32(struct amp_kernel_call *call)
{
    bool was_wide = call->is_wide;
    gather(call);
    call->state->is_widened = true;
    AMP_TRY(set_dtype(call));
    return call->is_wide && !was_wide ? AMP_OK : AMP_UNSUPPORTED;
}

const struct amp_way amp_ways[AMP_N_WAYS] = {
    {"reads casts", true, true, has_casts, prepare_as_it_lies},
    {"reads casts, row-major", true, true, has_whole_casts, prepare_row_major},
    {"post-ops", false, true, has_posts, prepare_as_it_lies},
    {"post-ops, row-major", false, true, has_whole_posts, prepare_row_major},
    {"alone", false, false, can_split, prepare_as_it_lies},
    {"alone, row-major", false, false, is_whole, prepare_row_major},
    {"alone", false, false, is_whole, prepare_float32},
};

size_t amp_way_find(const struct amp_step *step, enum amp_mode mode, size_t first)
{
    while (first < AMP_N_WAYS && !amp_ways[first].fits(step, mode))
        first++;
    return first;
}

/* ---- why a way was taken --------------------------------------------------------------------- */

/* A text that grows. */
struct reasons {
    char *text;
    size_t size, used;
};

static void add_reason(struct reasons *reasons, const char *text, const char *what)
{
    size_t room = reasons->size - reasons->used;
    size_t n = (size_t)snprintf(reasons->text + reasons->used, room, "%s%s%s",
                                reasons->used > 0 ? "; " : "", text, what);
    reasons->used += n < room ? n : room - 1;
}

/* The name of the lower dtype that CALL computes wide. */
static const char *lower_dtype(const struct amp_kernel_call *call)
{
    const struct amp_model *model = call->session->model;
    uint32_t out = call->node->n_outputs > 0 ? call->node->outputs[0] : AMP_NONE;
    enum amp_dtype dtype = out == AMP_NONE ? AMP_UNDEFINED : amp_value_at(model, out)->dtype;
    for (uint32_t i = 0; i < call->node->n_inputs && !amp_dtype_is_lower(dtype); i++)
        if (call->node->inputs[i] != AMP_NONE)
            dtype = amp_value_at(model, call->node->inputs[i])->dtype;
    return amp_dtype_short_name(dtype);
}

void amp_way_describe(const struct amp_kernel_call *call, const struct amp_way *way,
                      enum amp_mode mode, char *text, size_t size)
{
    struct reasons reasons = {.text = text, .size = size};
    const struct amp_step *step = call->step;
    add_reason(&reasons, way->name, "");
    if (call->n_casts > 0 && call->n_posts > 0)
        add_reason(&reasons, "post-ops", "");
    if (step->n_casts > call->n_casts)
        add_reason(&reasons, "casts run: kernel reads no other dtype", "");
    if (step->n_posts > call->n_posts)
        add_reason(&reasons, "split: kernel has no post-op", call->is_wide ? " in float32" : "");
    if (call->has_view)
        add_reason(&reasons, "blocked view", "");
    if (mode == AMP_IN_SLICES)
        add_reason(&reasons, "in slices", "");
    if (call->is_wide && step->prefers_f32 && !step->lacks_dtype)
        add_reason(&reasons, "float32: faster than ", lower_dtype(call));
    else if (call->is_wide)
        add_reason(&reasons, "float32: no kernel for ", lower_dtype(call));
    if (call->is_wide && amp_kernel_call_keeps_lower(call, 1))
        add_reason(&reasons, "rows by weights in ", lower_dtype(call));
}
