/*
 * Calls the kernel of one step: gathers its inputs, tries the ways in which it may take them, and
 * stores what comes out. In turn: as they lie, row-major, in float32.
 */
#include "run/exec/call.h"

#include "core/buffer.h"
#include "core/convert.h"
#include "core/memory.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/profile.h"
#include "run/exec/blocked_view.h"

#include <stdio.h>
#include <stdlib.h>

struct call {
    struct amp_session *session;
    struct amp_step *step;
    const struct amp_node *node;
    struct amp_frame *frame;
    size_t n_posts, n_casts; /* of the step's */
    const uint32_t *outputs; /* values: the node's, or those of the last node that it absorbed */
    struct amp_error *err;
};

static const struct amp_value *output_value(const struct call *call, uint32_t i)
{
    return amp_value_at(call->session->model, call->outputs[i]);
}

/* AMP_UNDEFINED: there is no output I. */
static enum amp_dtype output_dtype(const struct call *call, uint32_t i)
{
    bool is_there = i < call->node->n_outputs && call->outputs[i] != AMP_NONE;
    return is_there ? output_value(call, i)->dtype : AMP_UNDEFINED;
}

struct amp_tensor *amp_step_slot(struct amp_session *session, const struct amp_step *step,
                                 size_t n_casts, uint32_t value)
{
    for (size_t i = 0; i < n_casts; i++) {
        const struct amp_node *cast = amp_node_at(session->model, step->casts[i]->node);
        if (cast->outputs[0] == value)
            return &session->slots[cast->inputs[0]];
    }
    return &session->slots[value];
}

static struct amp_tensor *read_slot(const struct call *call, uint32_t value)
{
    return amp_step_slot(call->session, call->step, call->n_casts, value);
}

static void set_inputs(const struct call *call)
{
    struct amp_session *session = call->session;
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        uint32_t value = call->node->inputs[i];
        call->frame->in[i] = value == AMP_NONE ? NULL : read_slot(call, value);
        call->frame->is_constant[i] = value != AMP_NONE && amp_constant_is(session, value);
    }
    for (size_t i = 0; i < call->n_posts; i++) {
        uint32_t value = amp_step_operand(session->model, call->step, i);
        call->step->posts[i].operand = value == AMP_NONE ? NULL : read_slot(call, value);
        call->step->posts[i].is_constant = value != AMP_NONE && amp_constant_is(session, value);
    }
}

/* VALUE's slot, where it is not row-major; *ANY then becomes true. */
static enum amp_status make_slot_plain(const struct call *call, uint32_t value, bool *any)
{
    struct amp_tensor *slot = read_slot(call, value);
    *any |= slot->layout != NULL;
    return amp_slot_undo(call->session, slot, call->node, call->err);
}

/* Of the inputs all that are not row-major, or only those that OP cannot take. Sets *ANY to whether
   there was one. */
static enum amp_status make_inputs_plain(const struct call *call, const struct amp_op *op,
                                         bool *any)
{
    *any = false;
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        const struct amp_tensor *in = call->frame->in[i];
        bool is_taken = op != NULL && op->has_strides && in != NULL && in->layout != NULL &&
                        amp_layout_strides(in->layout) != NULL;
        if (in != NULL && !is_taken)
            AMP_TRY(make_slot_plain(call, call->node->inputs[i], any));
    }
    return AMP_OK;
}

/* Makes all that the kernel reads row-major. Sets *ANY to whether something was not. */
static enum amp_status make_all_plain(const struct call *call, bool *any)
{
    AMP_TRY(make_inputs_plain(call, NULL, any));
    for (size_t i = 0; i < call->n_posts; i++) {
        uint32_t value = amp_step_operand(call->session->model, call->step, i);
        if (value != AMP_NONE)
            AMP_TRY(make_slot_plain(call, value, any));
    }
    return AMP_OK;
}

/* Whether the kernel has to be given float32 in place of a lower dtype. */
static bool must_widen(const struct call *call)
{
    const struct amp_op *op = call->step->op;
    if (op->effect == AMP_PRESERVES_VALUES)
        return false;
    uint32_t dtypes = 0;
    for (uint32_t i = 0; i < call->node->n_inputs; i++)
        if (call->frame->in[i] != NULL && amp_dtype_is_lower(call->frame->in[i]->dtype))
            dtypes |= AMP_DTYPE_BIT(call->frame->in[i]->dtype);
    for (uint32_t i = 0; i < call->node->n_outputs; i++)
        if (amp_dtype_is_lower(output_dtype(call, i)))
            dtypes |= AMP_DTYPE_BIT(output_dtype(call, i));
    return dtypes != 0 &&
           (call->step->is_widened || call->step->prefers_f32 || (dtypes & ~op->native) != 0);
}

static enum amp_status convert(const struct amp_tensor *from, struct amp_tensor *to,
                               enum amp_dtype dtype, struct amp_error *err)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(to, err));
    amp_dtype_convert(from->dtype, from->data, dtype, to->data, amp_tensor_count(from));
    return AMP_OK;
}

static enum amp_status widen_inputs(const struct call *call)
{
    struct amp_step *step = call->step;
    bool any;
    if (!step->prefers_f32)
        AMP_TRY(make_inputs_plain(call, NULL, &any));
    step->was_widened = !step->prefers_f32;
    if (step->wide == NULL)
        step->wide = amp_xcalloc(call->node->n_inputs, sizeof *step->wide);
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        const struct amp_tensor **in = &call->frame->in[i];
        if (*in == NULL || !amp_dtype_is_lower((*in)->dtype))
            continue;
        struct amp_tensor *wide =
            call->frame->is_constant[i] ? &step->wide[i] : &call->frame->temporary[i];
        if ((*in)->layout != NULL)
            AMP_TRY(amp_slot_undo(call->session, read_slot(call, call->node->inputs[i]), call->node,
                                  call->err));
        if ((*in)->data == NULL && !call->frame->is_constant[i]) /* slices have it */
            *wide = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = (*in)->shape};
        else if (wide->data == NULL && !(call->frame->is_constant[i] && call->frame->has_form[i]))
            AMP_TRY(convert(*in, wide, AMP_FLOAT, call->err));
        *in = wide;
    }
    return AMP_OK;
}

static void set_outputs(const struct call *call, bool is_wide)
{
    for (uint32_t i = 0; i < call->node->n_outputs; i++) {
        struct amp_tensor *out = &call->frame->outs[i];
        enum amp_dtype dtype = output_dtype(call, i);
        amp_tensor_release(out);
        out->dtype = is_wide && amp_dtype_is_lower(dtype) ? AMP_FLOAT : dtype;
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

static bool is_dropped(const struct amp_step *step, uint32_t value)
{
    for (size_t i = 0; i < step->drops.count; i++)
        if (step->drops.items[i] == value)
            return true;
    return false;
}

/* The slot whose data input I has, if they are nothing else's, and nobody's afterwards; else NULL.
 */
static const struct amp_tensor *free_after(const struct call *call, uint32_t i)
{
    uint32_t value = call->node->inputs[i];
    const struct amp_tensor *in = call->frame->in[i];
    const struct amp_tensor *slot = in == NULL ? NULL : &call->session->slots[value];
    bool is_free = slot != NULL && in->data == slot->data && slot->buffer != NULL &&
                   slot->buffer->refs == 1 && !call->frame->is_constant[i] &&
                   is_dropped(call->step, value);
    return is_free ? slot : NULL;
}

/* Lets output 0 of an elementwise operator have the memory of such an input. */
static void reuse_input(const struct call *call)
{
    struct amp_tensor *out = &call->frame->outs[0];
    for (uint32_t i = 0; i < call->node->n_inputs && call->step->op->is_elementwise; i++) {
        const struct amp_tensor *in = call->frame->in[i], *slot = free_after(call, i);
        if (slot != NULL && in->dtype == out->dtype && amp_shape_equal(&in->shape, &out->shape)) {
            amp_tensor_share(out, slot);
            out->layout = NULL;
            return;
        }
    }
}

static enum amp_status call_kernel(const struct call *call, bool has_view)
{
    const struct amp_op *op = call->step->op;
    struct amp_ctx ctx = {.model = call->session->model,
                          .node = call->node,
                          .in = call->frame->in,
                          .n_in = call->node->n_inputs,
                          .out = call->frame->out,
                          .n_out = call->node->n_outputs,
                          .is_constant = call->frame->is_constant,
                          .state = &call->step->state,
                          .host = &call->session->host,
                          .err = call->err,
                          .posts = call->step->posts,
                          .n_posts = call->n_posts,
                          .reads_casts = call->n_casts > 0};
    if (call->n_posts == call->step->n_tail)
        ctx.layout_wish = call->step->layout_wish;
    if (op->shape != NULL)
        AMP_TRY(op->shape(&ctx));
    enum amp_status status;
    if (call->step->slices != NULL &&
        amp_slices_take(call->step->slices, &call->step->sliced, !has_view, &ctx, &status))
        return status;
    bool is_free = op->has_layouts || op->has_strides;
    if (is_free && amp_has_out(&ctx, 0) && amp_shape_is_known(&ctx.out[0]->shape))
        AMP_TRY(check_room(ctx.out[0], ctx.err));
    reuse_input(call);
    for (uint32_t i = is_free ? 1 : op->shares_input; i < ctx.n_out; i++)
        if (amp_has_out(&ctx, i) && ctx.out[i]->data == NULL &&
            amp_shape_is_known(&ctx.out[i]->shape))
            AMP_TRY(amp_ctx_alloc(&ctx, i));
    return op->run(&ctx);
}

/* Makes the inputs what they are in VIEW, those row-major that lie in another way. */
static enum amp_status view_inputs(const struct call *call, const struct amp_view *view)
{
    bool any = false;
    for (uint32_t i = 0; i < call->node->n_inputs; i++)
        if (call->frame->in[i] != NULL && !amp_view_takes(view, call->frame->in[i]))
            AMP_TRY(make_slot_plain(call, call->node->inputs[i], &any));
    amp_view_set(view, call->frame, call->node->n_inputs);
    return AMP_OK;
}

static enum amp_status call_once(const struct call *call)
{
    bool is_wide = must_widen(call), any;
    if (is_wide && call->n_posts > 0 && !call->step->prefers_f32)
        return amp_fail(call->err, AMP_UNSUPPORTED, "the kernel computes in float32");
    struct amp_view view;
    bool has_view = !is_wide && amp_view_find(call->node, call->step, output_dtype(call, 0), &view);
    AMP_TRY(amp_step_load(call->session, call->step, call->n_posts, is_wide, call->err));
    if (has_view)
        AMP_TRY(view_inputs(call, &view));
    else if (!call->step->op->has_layouts)
        AMP_TRY(make_inputs_plain(call, call->step->op, &any));
    if (is_wide)
        AMP_TRY(widen_inputs(call));
    set_outputs(call, is_wide);
    AMP_TRY(call_kernel(call, has_view));
    if (has_view) {
        call->frame->outs[0].layout = view.layout;
        call->frame->outs[0].shape = view.shape;
    }
    return AMP_OK;
}

static enum amp_status try_kernel(const struct call *call)
{
    enum amp_status status = call_once(call);
    if (status != AMP_AGAIN)
        return status;
    *call->err = (struct amp_error){.status = AMP_OK};
    amp_step_forget(call->session->model, call->step);
    set_inputs(call);
    return call_once(call);
}

static enum amp_status try_again(const struct call *call)
{
    *call->err = (struct amp_error){.status = AMP_OK};
    set_inputs(call);
    return try_kernel(call);
}

/* All ways; in float32 only when those with post-ops and casts have failed. */
static enum amp_status try_all(const struct call *call)
{
    enum amp_status status = try_kernel(call);
    if (status != AMP_UNSUPPORTED)
        return status;
    bool any;
    AMP_TRY(make_all_plain(call, &any));
    if (any)
        status = try_again(call);
    if (status == AMP_UNSUPPORTED && call->n_posts == 0 && call->n_casts == 0 &&
        !call->step->is_widened) {
        call->step->is_widened = true;
        if (must_widen(call))
            status = try_again(call);
    }
    return status;
}

/* Moves the outputs to their slots, rounded where the kernel computed wide. */
static enum amp_status store_outputs(const struct call *call)
{
    for (uint32_t i = 0; i < call->node->n_outputs; i++) {
        struct amp_tensor *out = &call->frame->outs[i];
        uint32_t value = call->outputs[i];
        if (value == AMP_NONE)
            continue;
        struct amp_tensor *slot = &call->session->slots[value];
        enum amp_dtype dtype = output_value(call, i)->dtype;
        amp_tensor_release(slot);
        bool is_wide =
            out->dtype == AMP_FLOAT && amp_dtype_is_lower(dtype) && !amp_tensor_is_list(out);
        bool keeps_wide = call->step->keeps_wide && call->n_posts == call->step->n_tail;
        if (!is_wide && !amp_tensor_is_list(out) && dtype != AMP_UNDEFINED && out->dtype != dtype)
            return amp_fail(call->err, AMP_MODEL, "output %u is %s; the model wants %s", i,
                            amp_dtype_name(out->dtype), amp_dtype_name(dtype));
        if (is_wide && keeps_wide) {
            amp_tensor_refer(slot, out);
            continue;
        }
        if (is_wide && out->data == NULL) /* slices have it */
            out->dtype = dtype;
        else if (is_wide) {
            AMP_TRY(amp_slot_undo(call->session, out, call->node, call->err));
            AMP_TRY(convert(out, slot, dtype, call->err));
            continue;
        }
        AMP_TRY(amp_slot_set(call->session, value, out, call->err));
    }
    return AMP_OK;
}

static void note(const struct call *call, struct amp_profile_mark mark)
{
    const struct amp_ctx ctx = {.model = call->session->model,
                                .node = call->node,
                                .in = call->frame->in,
                                .n_in = call->node->n_inputs,
                                .out = call->frame->out,
                                .n_out = call->node->n_outputs};
    amp_profile_end(call->session->host.profile, mark, &ctx);
}

/* The nodes of a body stand behind their owner, which stands behind the path. */
static void name_node(const struct call *call)
{
    char text[512];
    bool is_inner = call->node->graph != 0;
    amp_error_prefix(call->err, "%s%s%s", is_inner ? "" : call->session->model->path,
                     is_inner ? "" : ": ",
                     amp_node_text(call->session->model, call->step->node, text, sizeof text));
}

enum amp_status amp_step_call(struct amp_session *session, struct amp_step *step, size_t n_posts,
                              size_t n_casts, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    struct call call = {.session = session,
                        .step = step,
                        .node = node,
                        .frame = &step->frame,
                        .n_posts = n_posts,
                        .n_casts = n_casts,
                        .outputs = node->outputs,
                        .err = err};
    struct amp_profile_mark mark = amp_profile_begin(session->host.profile);
    if (n_posts > 0)
        call.outputs = amp_node_at(session->model, step->tail[n_posts - 1].node)->outputs;
    set_inputs(&call);
    enum amp_status status = try_all(&call);
    if (status == AMP_OK)
        status = store_outputs(&call);
    if (status == AMP_OK) {
        note(&call, mark);
        amp_step_note(session, step, n_posts);
    } else {
        name_node(&call);
    }
    amp_tensors_release(step->frame.temporary, node->n_inputs);
    amp_tensors_release(step->frame.outs, node->n_outputs);
    return status;
}
