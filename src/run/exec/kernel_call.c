/*
 * Calls the kernel of one step, once: gathers its inputs, prepares them as the kernel can take
 * them, and stores what it computes. Takes a call that says what goes along (post-ops, casts,
 * float32). Constants have to be loaded. It does not try anything else when the kernel refuses:
 * step.c does.
 */
#include "run/exec/kernel_call.h"

#include "core/buffer.h"
#include "core/convert.h"
#include "core/memory.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/post_op.h"
#include "ops/flops.h"
#include "run/exec/blocked_view.h"
#include "run/exec/constants.h"
#include "run/exec/slices.h"
#include "run/exec/values.h"

#include <stdio.h>

uint32_t amp_kernel_call_output(const struct amp_kernel_call *call, uint32_t i)
{
    if (i >= call->node->n_outputs)
        return AMP_NONE;
    return call->n_posts > 0 ? amp_step_output(call->session->model, call->step)
                             : call->node->outputs[i];
}

/* AMP_UNDEFINED: there is no output I. */
static enum amp_dtype output_dtype(const struct amp_kernel_call *call, uint32_t i)
{
    uint32_t value = amp_kernel_call_output(call, i);
    return value == AMP_NONE ? AMP_UNDEFINED : amp_value_at(call->session->model, value)->dtype;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

struct amp_tensor *amp_kernel_call_input(const struct amp_session *session,
                                         const struct amp_step *step, size_t n_casts,
                                         uint32_t value)
{
    for (size_t i = 0; i < n_casts; i++) {
        const struct amp_node *cast = amp_node_at(session->model, step->casts[i]->node);
        if (cast->outputs[0] == value)
            return &session->values[cast->inputs[0]];
    }
    return &session->values[value];
}

/* What CALL reads as VALUE. */
static struct amp_tensor *read_value(const struct amp_kernel_call *call, uint32_t value)
{
    return amp_kernel_call_input(call->session, call->step, call->n_casts, value);
}

void amp_kernel_call_gather(const struct amp_kernel_call *call)
{
    const struct amp_session *session = call->session;
    struct amp_frame *frame = &call->state->frame;
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        uint32_t value = call->node->inputs[i];
        frame->in[i] = value == AMP_NONE ? NULL : read_value(call, value);
        frame->is_constant[i] = value != AMP_NONE && amp_constant_is(session, value);
    }
    for (size_t i = 0; i < call->n_posts; i++) {
        uint32_t value = amp_step_operand(session->model, call->step, i);
        struct amp_post *post = &call->state->posts[i];
        post->operand = value == AMP_NONE ? NULL : read_value(call, value);
        post->is_constant = value != AMP_NONE && amp_constant_is(session, value);
    }
}

/* Makes what CALL reads as VALUE row-major. */
static enum amp_status reorder(const struct amp_kernel_call *call, uint32_t value)
{
    return amp_values_reorder_for(call->session, read_value(call, value), call->node, call->err);
}

/* Makes the inputs row-major that lie in another way; where TAKES_STRIDES only those in blocks. */
static enum amp_status reorder_inputs(const struct amp_kernel_call *call, bool takes_strides)
{
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        const struct amp_tensor *in = call->state->frame.in[i];
        if (in != NULL && in->layout != NULL &&
            !(takes_strides && amp_layout_strides(in->layout) != NULL))
            AMP_TRY(reorder(call, call->node->inputs[i]));
    }
    return AMP_OK;
}

enum amp_status amp_kernel_call_reorder(const struct amp_kernel_call *call, bool *any)
{
    *any = false;
    for (uint32_t i = 0; i < call->node->n_inputs; i++)
        *any |= call->state->frame.in[i] != NULL && call->state->frame.in[i]->layout != NULL;
    AMP_TRY(reorder_inputs(call, false));
    for (size_t i = 0; i < call->n_posts; i++) {
        uint32_t value = amp_step_operand(call->session->model, call->step, i);
        if (value == AMP_NONE)
            continue;
        *any |= call->state->posts[i].operand->layout != NULL;
        AMP_TRY(reorder(call, value));
    }
    return AMP_OK;
}

bool amp_kernel_call_is_wide(const struct amp_kernel_call *call, bool is_forced)
{
    const struct amp_op *op = call->step->op;
    if (op->effect == AMP_PRESERVES_VALUES)
        return call->step->prefers_f32;
    uint32_t dtypes = 0;
    for (uint32_t i = 0; i < call->node->n_inputs; i++)
        if (call->state->frame.in[i] != NULL && amp_dtype_is_lower(call->state->frame.in[i]->dtype))
            dtypes |= AMP_DTYPE_BIT(call->state->frame.in[i]->dtype);
    for (uint32_t i = 0; i < call->node->n_outputs; i++)
        if (amp_dtype_is_lower(output_dtype(call, i)))
            dtypes |= AMP_DTYPE_BIT(output_dtype(call, i));
    return dtypes != 0 && (is_forced || call->step->prefers_f32 || (dtypes & ~op->native) != 0);
}

bool amp_kernel_call_keeps_lower(const struct amp_kernel_call *call, size_t i)
{
    const struct amp_op *op = call->step->op;
    const struct amp_frame *frame = &call->state->frame;
    if (op->reads_lower == NULL || i >= call->node->n_inputs || !frame->is_constant[i])
        return false;
    const struct amp_ctx ctx = amp_kernel_call_ctx(call);
    return op->reads_lower(&ctx, (uint32_t)i);
}

enum amp_status amp_kernel_call_convert(const struct amp_tensor *from, struct amp_tensor *to,
                                        enum amp_dtype dtype, struct amp_error *err)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(to, err));
    amp_dtype_convert(from->dtype, from->data, dtype, to->data, amp_tensor_count(from));
    return AMP_OK;
}

/* The layout in which what TENSOR holds lies in the same order in DTYPE; NULL: it lies row-major,
   or has to. */
static const struct amp_layout *layout_in(const struct amp_kernel_call *call,
                                          const struct amp_tensor *tensor, enum amp_dtype dtype)
{
    const struct amp_layout *layout;
    bool is_there = tensor->layout != NULL && amp_layout_is_full(tensor) &&
                    amp_layout_in_dtype(call->session->host.dnnl->layouts, tensor, dtype, &layout);
    return is_there ? layout : NULL;
}

/* Makes *IN, which CALL reads as VALUE, what *WIDE becomes: the same in float32, in the same order
   where that can be. IS_READY: *WIDE need not be made, or is. */
static enum amp_status widen(const struct amp_kernel_call *call, uint32_t value, bool is_ready,
                             const struct amp_tensor **in, struct amp_tensor *wide)
{
    const struct amp_tensor *from = *in;
    const struct amp_layout *layout = layout_in(call, from, AMP_FLOAT);
    if (layout == NULL)
        AMP_TRY(reorder(call, value));
    if (from->data == NULL && !is_ready) /* slices have it */
        *wide = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = from->shape};
    else if (!is_ready)
        AMP_TRY(amp_kernel_call_convert(from, wide, AMP_FLOAT, call->err));
    wide->layout = layout;
    *in = wide;
    return AMP_OK;
}

/* Makes input I float32; a constant once and for all. */
static enum amp_status widen_input(const struct amp_kernel_call *call, uint32_t i)
{
    struct amp_frame *frame = &call->state->frame;
    struct amp_tensor *wide = frame->is_constant[i] ? &call->state->wide[i] : &frame->temporary[i];
    bool is_ready = frame->has_form[i] || wide->data != NULL;
    return widen(call, call->node->inputs[i], is_ready, &frame->in[i], wide);
}

/* Makes the operand of post-op I float32; a constant once and for all. */
static enum amp_status widen_operand(const struct amp_kernel_call *call, size_t i)
{
    struct amp_post *post = &call->state->posts[i];
    size_t at = call->node->n_inputs + i;
    struct amp_tensor *wide =
        post->is_constant ? &call->state->wide[at] : &call->state->frame.temporary[at];
    bool is_ready = amp_constant_has_form(call->session, call->state, at) || wide->data != NULL;
    return widen(call, amp_step_operand(call->session->model, call->step, i), is_ready,
                 &post->operand, wide);
}

static bool is_lower(const struct amp_tensor *tensor)
{
    return tensor != NULL && amp_dtype_is_lower(tensor->dtype);
}

static enum amp_status widen_inputs(const struct amp_kernel_call *call)
{
    struct amp_step_state *state = call->state;
    const struct amp_step *step = call->step;
    state->was_widened = !step->prefers_f32 || step->lacks_dtype;
    if (state->wide == NULL)
        state->wide = amp_xcalloc(call->node->n_inputs + step->n_posts, sizeof *state->wide);
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        if (amp_kernel_call_keeps_lower(call, i))
            amp_tensor_discard(&state->wide[i]);
        else if (is_lower(state->frame.in[i]))
            AMP_TRY(widen_input(call, i));
    }
    for (size_t i = 0; i < call->n_posts && step->lacks_dtype; i++)
        if (is_lower(state->posts[i].operand))
            AMP_TRY(widen_operand(call, i));
    return AMP_OK;
}

/* Makes the inputs row-major that lie in another way than VIEW has them. */
static enum amp_status reorder_for_view(const struct amp_kernel_call *call,
                                        const struct amp_blocked_view *view)
{
    for (uint32_t i = 0; i < call->node->n_inputs; i++)
        if (call->state->frame.in[i] != NULL &&
            !amp_blocked_view_takes(view, call->state->frame.in[i]))
            AMP_TRY(reorder(call, call->node->inputs[i]));
    return AMP_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void set_outputs(const struct amp_kernel_call *call)
{
    for (uint32_t i = 0; i < call->node->n_outputs; i++) {
        struct amp_tensor *out = &call->state->frame.outs[i];
        enum amp_dtype dtype = output_dtype(call, i);
        amp_tensor_release(out);
        out->dtype = call->is_wide && amp_dtype_is_lower(dtype) ? AMP_FLOAT : dtype;
        out->shape.rank = -1;
    }
}

/* An output that gets its memory in run, when oneDNN has chosen its layout: what is too large is
   refused before that is asked about it. */
static enum amp_status check_room(const struct amp_tensor *out, struct amp_error *err)
{
    char what[300], shape[256];
    size_t size;
    AMP_TRY(amp_shape_size(&out->shape, out->dtype, &size, err));
    if (amp_buffer_has_room(size))
        return AMP_OK;
    snprintf(what, sizeof what, "%s %s", amp_dtype_name(out->dtype),
             amp_shape_text(&out->shape, shape, sizeof shape));
    return amp_memory_fail(err, what, size);
}

/* The value whose data input I has, if they are nothing else's, and no later step's; else NULL. */
static const struct amp_tensor *free_after(const struct amp_kernel_call *call, uint32_t i)
{
    uint32_t value = call->node->inputs[i];
    const struct amp_frame *frame = &call->state->frame;
    const struct amp_tensor *in = frame->in[i];
    const struct amp_tensor *from = in == NULL ? NULL : &call->session->values[value];
    bool is_free = from != NULL && in->data == from->data && from->buffer != NULL &&
                   from->buffer->refs == 1 && !frame->is_constant[i] &&
                   amp_step_is_last_use(call->step, value);
    return is_free ? from : NULL;
}

/* Lets output 0 of an elementwise operator have the memory of such an input. */
static void reuse_input(const struct amp_kernel_call *call)
{
    struct amp_tensor *out = &call->state->frame.outs[0];
    for (uint32_t i = 0; i < call->node->n_inputs && amp_op_keeps_places(call->step->op); i++) {
        const struct amp_tensor *in = call->state->frame.in[i], *from = free_after(call, i);
        if (from != NULL && in->dtype == out->dtype && amp_shape_equal(&in->shape, &out->shape)) {
            amp_tensor_share(out, from);
            out->layout = NULL;
            return;
        }
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Gives the outputs memory that the kernel does not choose itself. */
static enum amp_status create_outputs(const struct amp_kernel_call *call, struct amp_ctx *ctx)
{
    const struct amp_op *op = call->step->op;
    bool is_free = op->has_layouts || op->has_strides;
    if (is_free && !op->shares_input && amp_has_out(ctx, 0) &&
        amp_shape_is_known(&ctx->out[0]->shape))
        AMP_TRY(check_room(ctx->out[0], ctx->err));
    reuse_input(call);
    for (uint32_t i = is_free ? 1 : op->shares_input; i < ctx->n_out; i++)
        if (amp_has_out(ctx, i) && ctx->out[i]->data == NULL &&
            amp_shape_is_known(&ctx->out[i]->shape))
            AMP_TRY(amp_ctx_alloc(ctx, i));
    return AMP_OK;
}

struct amp_ctx amp_kernel_call_ctx(const struct amp_kernel_call *call)
{
    struct amp_step_state *state = call->state;
    struct amp_ctx ctx = {.model = call->session->model,
                          .node = call->node,
                          .in = state->frame.in,
                          .n_in = call->node->n_inputs,
                          .out = state->frame.out,
                          .n_out = call->node->n_outputs,
                          .is_constant = state->frame.is_constant,
                          .state = &state->kernel,
                          .host = &call->session->host,
                          .err = call->err,
                          .posts = state->posts,
                          .n_posts = call->n_posts,
                          .reads_casts = call->n_casts > 0};
    if (call->n_posts == call->step->n_posts)
        ctx.layout_wish = call->step->layout_wish;
    return ctx;
}

/* A step that takes one thread no longer than this is done by one: to begin and to end a region of
   several takes microseconds where they wait for it, tens where they have to be woken, and a time
   slice of the system's where another program has their core. Eigen's tensors, and with them
   others' executors, count a thread in from about as much on (TensorCostModel.h: 100 000 cycles).
 */
#define PARALLEL_MIN_SECONDS 30e-6

static bool is_queued(const struct amp_kernel_call *call)
{
    const struct amp_slices *slices = call->state->slices;
    return slices != NULL && amp_slices_are_queueing(slices);
}

static enum amp_status run_kernel(const struct amp_kernel_call *call)
{
    const struct amp_op *op = call->step->op;
    struct amp_step_state *state = call->state;
    struct amp_ctx ctx = amp_kernel_call_ctx(call);
    enum amp_status status;
    if (op->shape != NULL)
        AMP_TRY(op->shape(&ctx));
    state->is_small = !is_queued(call) && amp_work_seconds(&ctx) < PARALLEL_MIN_SECONDS;
    amp_session_take_threads(call->session, state->is_small);
    if (state->slices != NULL &&
        amp_slices_queue(state->slices, call->step, !call->has_view, &ctx, &status))
        return status;
    AMP_TRY(create_outputs(call, &ctx));
    return op->run(&ctx);
}

void amp_kernel_call_see_blocks(const struct amp_kernel_call *call)
{
    struct amp_tensor *out = &call->state->frame.outs[0];
    if (call->has_rest)
        amp_layout_clear_rest(call->view_layout, amp_dtype_bits(out->dtype) / 8, out->data);
    out->layout = call->view_layout;
    out->shape = call->view_shape;
}

enum amp_status amp_kernel_call_run(struct amp_kernel_call *call)
{
    const struct amp_op *op = call->step->op;
    struct amp_frame *frame = &call->state->frame;
    struct amp_blocked_view view;
    enum amp_dtype dtype = call->is_wide ? AMP_FLOAT : output_dtype(call, 0);
    bool converts = !call->is_wide && (call->n_casts > 0 || op->role == AMP_ROLE_CAST);
    call->has_view =
        amp_blocked_view_find(call->node, op, frame->in, dtype,
                              converts ? call->session->host.dnnl->layouts : NULL, &view);
    call->has_rest = call->has_view && view.has_rest;
    if (call->has_view)
        AMP_TRY(reorder_for_view(call, &view));
    else if (!op->has_layouts)
        AMP_TRY(reorder_inputs(call, op->has_strides));
    if (call->is_wide)
        AMP_TRY(widen_inputs(call));
    if (call->has_view) {
        call->view_layout = view.layouts[dtype];
        call->view_shape = view.shape;
        amp_blocked_view_set(&view, frame, call->node->n_inputs);
    }
    set_outputs(call);
    AMP_TRY(run_kernel(call));
    if (call->has_view)
        amp_kernel_call_see_blocks(call);
    return AMP_OK;
}

/* Makes *TO what *OUT, computed in float32, is in DTYPE, in the same order where that can be. */
static enum amp_status narrow(const struct amp_kernel_call *call, struct amp_tensor *out,
                              struct amp_tensor *to, enum amp_dtype dtype)
{
    const struct amp_layout *layout = layout_in(call, out, dtype);
    if (layout == NULL)
        AMP_TRY(amp_values_reorder_for(call->session, out, call->node, call->err));
    AMP_TRY(amp_kernel_call_convert(out, to, dtype, call->err));
    to->layout = layout;
    return AMP_OK;
}

/* The elements of OUT, with those that its layout has between them. A tensor may begin within its
   buffer. */
static size_t count_floats(const struct amp_tensor *out)
{
    size_t before = (size_t)((const char *)out->data - (const char *)out->buffer->data);
    return out->layout == NULL ? amp_tensor_count(out)
                               : (out->buffer->size - before) / sizeof(float);
}

bool amp_kernel_call_stays_wide(const struct amp_kernel_call *call)
{
    return call->is_wide && amp_step_stays_wide(call->step, call->n_posts);
}

void amp_kernel_call_round(const struct amp_kernel_call *call, uint32_t i, struct amp_tensor *out)
{
    enum amp_dtype dtype = output_dtype(call, i);
    bool rounds = call->step->rounds_f32 && call->n_posts == call->step->n_posts;
    if (rounds && amp_dtype_is_lower(dtype) && out->data != NULL)
        amp_dtype_round(dtype, out->data, count_floats(out));
}

/* Moves output I, of VALUE, there. */
static enum amp_status store_output(const struct amp_kernel_call *call, uint32_t i, uint32_t value)
{
    struct amp_tensor *out = &call->state->frame.outs[i], *to = &call->session->values[value];
    enum amp_dtype dtype = amp_value_at(call->session->model, value)->dtype;
    bool is_wide = out->dtype == AMP_FLOAT && amp_dtype_is_lower(dtype) && !amp_tensor_is_list(out);
    amp_tensor_release(to);
    if (!is_wide && !amp_tensor_is_list(out) && out->dtype != dtype)
        return amp_fail(call->err, AMP_MODEL, "output %u is %s; the model wants %s", i,
                        amp_dtype_name(out->dtype), amp_dtype_name(dtype));
    if (amp_kernel_call_stays_wide(call)) {
        amp_kernel_call_round(call, i, out);
        amp_tensor_refer(to, out);
        return AMP_OK;
    }
    if (is_wide && out->data != NULL)
        return narrow(call, out, to, dtype);
    if (is_wide) /* slices have it */
        out->dtype = dtype;
    return amp_values_set(call->session, value, out, call->err);
}

enum amp_status amp_kernel_call_store(const struct amp_kernel_call *call)
{
    for (uint32_t i = 0; i < call->node->n_outputs; i++) {
        uint32_t value = amp_kernel_call_output(call, i);
        if (value != AMP_NONE)
            AMP_TRY(store_output(call, i, value));
    }
    return AMP_OK;
}

void amp_kernel_call_release(const struct amp_kernel_call *call)
{
    amp_tensors_release(call->state->frame.temporary, call->node->n_inputs + call->step->n_posts);
    amp_tensors_release(call->state->frame.outs, call->node->n_outputs);
}
