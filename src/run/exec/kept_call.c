/*
 * Keeps the call of a step that has succeeded, and makes it again: takes what the run before
 * decided, gives the outputs to their values. It checks that inputs come in the same forms, and
 * decides nothing itself: step.c prepares a call anew where this one does not fit.
 */
#include "run/exec/kept_call.h"

#include "core/array.h"
#include "core/buffer.h"
#include "ops/dnnl/post_op.h"
#include "run/exec/values.h"

#include <stdlib.h>
#include <string.h>

/* An input or, behind the inputs, the operand of a post-op. */
struct kept_input {
    struct amp_tensor *from;                       /* what is read; NULL: it is omitted */
    enum amp_dtype dtype;                          /* its form, as it came */
    const struct amp_layout *layout, *wide_layout; /* the latter in float32 */
    struct amp_shape shape, wide_shape;
    const struct amp_tensor *lender; /* whose data is borrowed */
    bool is_constant, needs_data;
    bool is_reordered, is_borrowed, is_widened; /* what is done to it for the kernel */
    bool may_be_taken; /* output 0 may have its memory if that is nothing else's */
};

struct kept_output {
    struct amp_shape shape; /* rank -1: run sets it */
    enum amp_dtype dtype;   /* AMP_UNDEFINED: nobody wants it */
    bool is_given_memory;   /* before run, of SIZE bytes */
    size_t size;
    const struct amp_buffer *former; /* the memory that it had last */
};

struct amp_kept_call {
    bool is_valid;
    bool has_forms;      /* noted for the call at hand */
    bool changes_inputs; /* for the kernel */
    bool calls_shape;    /* shapes of outputs depend on the data of inputs */
    bool is_direct;      /* the kernel writes to the values themselves */
    bool is_repeated;    /* by the operator's repeat */
    size_t way;
    struct amp_kernel_call call;
    struct amp_ctx ctx;
    struct amp_tensor **out;
    struct kept_output *outputs;
    size_t n_inputs;
    struct kept_input inputs[];
};

/* ---- forms ----------------------------------------------------------------------------------- */

static struct amp_kept_call *create(const struct amp_kernel_call *call)
{
    struct amp_arena *arena = call->session->arena;
    uint32_t n_out = call->node->n_outputs;
    size_t n = call->node->n_inputs + call->step->n_posts;
    struct amp_kept_call *kept = amp_arena_alloc(arena, sizeof *kept + n * sizeof *kept->inputs);
    *kept =
        (struct amp_kept_call){.out = amp_arena_array(arena, n_out, sizeof(struct amp_tensor *)),
                               .outputs = amp_arena_array(arena, n_out, sizeof *kept->outputs)};
    return kept;
}

static const struct amp_tensor *argument(const struct amp_kernel_call *call, size_t i)
{
    const struct amp_step_state *state = call->state;
    uint32_t n_in = call->node->n_inputs;
    return i < n_in ? state->frame.in[i] : state->posts[i - n_in].operand;
}

void amp_kept_call_note_forms(const struct amp_kernel_call *call)
{
    struct amp_step_state *state = call->state;
    if (call->step->is_constant)
        return;
    if (state->kept == NULL)
        state->kept = create(call);
    struct amp_kept_call *kept = state->kept;
    if (kept->has_forms)
        return;
    kept->has_forms = true;
    kept->n_inputs = call->node->n_inputs + call->n_posts;
    for (size_t i = 0; i < kept->n_inputs; i++) {
        const struct amp_tensor *from = argument(call, i);
        kept->inputs[i] = (struct kept_input){.from = NULL};
        if (from == NULL)
            continue;
        kept->inputs[i].dtype = from->dtype;
        kept->inputs[i].layout = from->layout;
        kept->inputs[i].shape = from->shape;
    }
}

static bool has_form(const struct kept_input *input)
{
    const struct amp_tensor *from = input->from;
    return from->dtype == input->dtype && from->layout == input->layout &&
           amp_shape_equal(&from->shape, &input->shape) && !amp_tensor_is_list(from);
}

/* Whether a constant that the kernel reads has been let go. */
static bool lacks_data(const struct amp_kept_call *kept, size_t i)
{
    const struct kept_input *input = &kept->inputs[i];
    const struct amp_tensor *given = input->is_borrowed ? input->lender : argument(&kept->call, i);
    return input->needs_data && given->data == NULL;
}

bool amp_kept_call_fits(const struct amp_kept_call *kept)
{
    for (size_t i = 0; i < kept->n_inputs; i++) {
        const struct kept_input *input = &kept->inputs[i];
        if (input->from == NULL)
            continue;
        if (input->is_constant ? lacks_data(kept, i) : !has_form(input))
            return false;
    }
    return true;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* What CALL reads as argument I, before anything was done to it; NULL: it is omitted. */
static struct amp_tensor *source(const struct amp_kernel_call *call, size_t i)
{
    const struct amp_node *node = call->node;
    uint32_t value = i < node->n_inputs
                         ? node->inputs[i]
                         : amp_step_operand(call->session->model, call->step, i - node->n_inputs);
    return value == AMP_NONE
               ? NULL
               : amp_kernel_call_input(call->session, call->step, call->n_casts, value);
}

static bool is_constant(const struct amp_kernel_call *call, size_t i)
{
    const struct amp_step_state *state = call->state;
    uint32_t n_in = call->node->n_inputs;
    return i < n_in ? state->frame.is_constant[i] : state->posts[i - n_in].is_constant;
}

/* Whether no later step reads what CALL reads as input I; what a Cast before it reads may be needed
   by others. */
static bool is_last_use(const struct amp_kernel_call *call, size_t i)
{
    uint32_t value = call->node->inputs[i];
    return source(call, i) == &call->session->values[value] &&
           amp_step_is_last_use(call->step, value);
}

static void keep_input(struct amp_kept_call *kept, size_t i)
{
    const struct amp_kernel_call *call = &kept->call;
    struct kept_input *input = &kept->inputs[i];
    const struct amp_tensor *given = argument(call, i), *out = &call->state->frame.outs[0];
    input->from = source(call, i);
    if (input->from == NULL)
        return;
    bool is_own = given == &call->state->frame.temporary[i];
    input->is_constant = is_constant(call, i);
    input->needs_data = given->data != NULL;
    input->is_reordered = input->layout != NULL && input->from->layout == NULL;
    bool is_wide_constant =
        input->is_constant && call->is_wide && amp_dtype_is_lower(input->from->dtype);
    input->is_widened =
        is_own && call->is_wide && !is_wide_constant && amp_dtype_is_lower(input->from->dtype);
    input->wide_layout = given->layout;
    input->wide_shape = given->shape;
    input->is_borrowed = is_own && !input->is_widened;
    input->lender = is_wide_constant ? &call->state->wide[i] : input->from;
    input->may_be_taken = amp_op_keeps_places(call->step->op) && !input->is_constant &&
                          input->from->dtype == out->dtype &&
                          amp_shape_equal(&given->shape, &kept->outputs[0].shape) &&
                          is_last_use(call, i);
    kept->changes_inputs |= input->is_reordered || is_own;
}

/* What the operator's shape function says of CTX's outputs, to OUT. */
static enum amp_status ask_shapes(const struct amp_kept_call *kept, struct amp_tensor *in,
                                  struct amp_tensor *out)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_ctx ctx = kept->ctx;
    const struct amp_tensor **ins = amp_xcalloc(ctx.n_in, sizeof(struct amp_tensor *));
    struct amp_tensor **outs = amp_xcalloc(ctx.n_out, sizeof(struct amp_tensor *));
    for (uint32_t i = 0; i < ctx.n_in; i++) {
        ins[i] = ctx.in[i] == NULL ? NULL : &in[i];
        if (ctx.in[i] != NULL)
            in[i] = *ctx.in[i];
        if (ctx.in[i] != NULL && !ctx.is_constant[i])
            in[i].data = NULL;
    }
    for (uint32_t i = 0; i < ctx.n_out; i++) {
        outs[i] = &out[i];
        out[i] = (struct amp_tensor){.dtype = kept->outputs[i].dtype, .shape.rank = -1};
    }
    ctx.in = ins;
    ctx.out = outs;
    ctx.err = &err;
    enum amp_status status = kept->call.step->op->shape(&ctx);
    free(ins);
    free(outs);
    return status;
}

/* Finds out which shapes of outputs follow from the shapes of inputs and from constants. */
static void keep_shapes(struct amp_kept_call *kept)
{
    const struct amp_frame *frame = &kept->call.state->frame;
    uint32_t n_in = kept->ctx.n_in, n_out = kept->ctx.n_out;
    kept->calls_shape = false;
    for (uint32_t i = 0; i < n_out; i++)
        kept->outputs[i].shape.rank = -1;
    if (kept->call.step->op->shape == NULL)
        return;
    struct amp_tensor *in = amp_xcalloc(n_in, sizeof *in), *out = amp_xcalloc(n_out, sizeof *out);
    kept->calls_shape = ask_shapes(kept, in, out) != AMP_OK;
    for (uint32_t i = 0; i < n_out; i++) {
        if (kept->outputs[i].dtype == AMP_UNDEFINED)
            continue;
        const struct amp_shape *found = &out[i].shape;
        kept->calls_shape |=
            !amp_shape_is_known(found) ||
            (!kept->call.has_view && !amp_shape_equal(found, &frame->outs[i].shape));
        kept->outputs[i].shape = *found;
    }
    free(in);
    free(out);
}

/* Notes what output I needs. */
static void keep_output(struct amp_kept_call *kept, uint32_t i)
{
    const struct amp_op *op = kept->call.step->op;
    struct kept_output *output = &kept->outputs[i];
    struct amp_error err = {.status = AMP_OK};
    uint32_t first = op->has_layouts || op->has_strides ? 1 : op->shares_input;
    output->is_given_memory = i >= first && output->dtype != AMP_UNDEFINED;
    if (!amp_shape_is_known(&output->shape) ||
        amp_shape_size(&output->shape, output->dtype, &output->size, &err) != AMP_OK)
        output->size = SIZE_MAX;
}

/* Whether the kernel may write its outputs to the values themselves, and which these are. */
static bool find_values(struct amp_kept_call *kept)
{
    const struct amp_kernel_call *call = &kept->call;
    struct amp_frame *frame = &call->state->frame;
    bool is_direct = (!call->is_wide || amp_kernel_call_stays_wide(call)) && !call->has_view;
    for (uint32_t i = 0; i < kept->ctx.n_out; i++) {
        uint32_t id = amp_kernel_call_output(call, i);
        const struct amp_value *value =
            id == AMP_NONE ? NULL : amp_value_at(call->session->model, id);
        kept->out[i] = value == NULL ? &frame->outs[i] : &call->session->values[id];
        is_direct &= value == NULL || value->kind == AMP_KIND_TENSOR;
    }
    for (uint32_t i = 0; i < kept->ctx.n_out && !is_direct; i++)
        kept->out[i] = &frame->outs[i];
    return is_direct;
}

static void keep(struct amp_kept_call *kept)
{
    struct amp_frame *frame = &kept->call.state->frame;
    const struct amp_op *op = kept->call.step->op;
    for (uint32_t i = 0; i < kept->ctx.n_out; i++)
        kept->outputs[i].dtype = frame->outs[i].dtype;
    keep_shapes(kept);
    for (uint32_t i = 0; i < kept->ctx.n_out; i++)
        keep_output(kept, i);
    kept->changes_inputs = false;
    for (size_t i = 0; i < kept->n_inputs; i++)
        keep_input(kept, i);
    kept->is_repeated = op->repeat != NULL && op->repeat->can(&kept->ctx);
    kept->is_direct = find_values(kept);
    kept->ctx.out = kept->out;
    kept->is_valid = true;
}

void amp_kept_call_keep(const struct amp_kernel_call *call, size_t way)
{
    struct amp_kept_call *kept = call->state->kept;
    if (kept == NULL || call->node->n_outputs == 0)
        return;
    kept->call = *call;
    kept->ctx = amp_kernel_call_ctx(call);
    kept->way = way;
    keep(kept);
}

void amp_kept_call_drop(struct amp_kept_call *kept)
{
    if (kept != NULL)
        kept->is_valid = kept->has_forms = false;
}

const struct amp_kernel_call *amp_kept_call_of(const struct amp_kept_call *kept, size_t *way)
{
    if (kept == NULL || !kept->is_valid)
        return NULL;
    *way = kept->way;
    return &kept->call;
}

const struct amp_ctx *amp_kept_call_ctx(const struct amp_kept_call *kept)
{
    return &kept->ctx;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Does to the inputs what the kernel needs. */
static enum amp_status change_inputs(struct amp_kept_call *kept)
{
    const struct amp_kernel_call *call = &kept->call;
    for (size_t i = 0; i < kept->n_inputs; i++) {
        const struct kept_input *input = &kept->inputs[i];
        if (input->is_reordered)
            AMP_TRY(amp_values_reorder_for(call->session, input->from, call->node, call->err));
        if (input->is_borrowed)
            call->state->frame.temporary[i].data = input->lender->data;
        if (!input->is_widened)
            continue;
        struct amp_tensor *wide = &call->state->frame.temporary[i];
        AMP_TRY(amp_kernel_call_convert(input->from, wide, AMP_FLOAT, call->err));
        wide->shape = input->wide_shape;
        wide->layout = input->wide_layout;
    }
    return AMP_OK;
}

/* Lets output 0 have the memory of an input that nothing else needs. */
static void take_input(struct amp_kept_call *kept)
{
    for (size_t i = 0; i < kept->n_inputs; i++) {
        const struct kept_input *input = &kept->inputs[i];
        if (!input->may_be_taken || input->from->buffer == NULL || input->from->buffer->refs != 1)
            continue;
        amp_tensor_share(kept->out[0], input->from);
        kept->out[0]->layout = NULL;
        return;
    }
}

static enum amp_status give_memory(struct amp_kept_call *kept, uint32_t i)
{
    struct kept_output *output = &kept->outputs[i];
    struct amp_tensor *out = kept->out[i];
    if (kept->calls_shape || output->size == SIZE_MAX)
        return amp_shape_is_known(&out->shape) ? amp_ctx_alloc(&kept->ctx, i) : AMP_OK;
    out->buffer = amp_buffer_create_again(output->former, output->size);
    if (out->buffer == NULL) /* says why */
        return amp_ctx_alloc(&kept->ctx, i);
    output->former = out->buffer;
    out->data = out->buffer->data;
    return AMP_OK;
}

static enum amp_status set_outputs(struct amp_kept_call *kept)
{
    uint32_t n_out = kept->ctx.n_out;
    for (uint32_t i = 0; i < n_out; i++) {
        amp_tensor_release(kept->out[i]);
        kept->out[i]->dtype = kept->outputs[i].dtype;
        kept->out[i]->shape = kept->outputs[i].shape;
        if (kept->calls_shape)
            kept->out[i]->shape.rank = -1;
    }
    if (kept->calls_shape)
        AMP_TRY(kept->call.step->op->shape(&kept->ctx));
    if (amp_op_keeps_places(kept->call.step->op))
        take_input(kept);
    for (uint32_t i = 0; i < n_out; i++)
        if (kept->outputs[i].is_given_memory && kept->out[i]->data == NULL)
            AMP_TRY(give_memory(kept, i));
    return AMP_OK;
}

static enum amp_status run_kernel(struct amp_kept_call *kept)
{
    const struct amp_op *op = kept->call.step->op;
    amp_session_take_threads(kept->call.session, kept->call.state->is_small);
    enum amp_status status = kept->is_repeated ? op->repeat->run(&kept->ctx) : AMP_AGAIN;
    return status == AMP_AGAIN ? op->run(&kept->ctx) : status;
}

/* AMP_MODEL for a dtype that the model does not declare, where the values do not have it yet. */
static enum amp_status store_outputs(struct amp_kept_call *kept)
{
    const struct amp_kernel_call *call = &kept->call;
    if (call->has_view)
        amp_kernel_call_see_blocks(call);
    if (!kept->is_direct)
        return amp_kernel_call_store(call);
    for (uint32_t i = 0; i < kept->ctx.n_out && call->is_wide; i++)
        amp_kernel_call_round(call, i, kept->out[i]);
    return AMP_OK;
}

enum amp_status amp_kept_call_run(struct amp_kept_call *kept, struct amp_error *err)
{
    kept->call.err = kept->ctx.err = err;
    enum amp_status status = kept->changes_inputs ? change_inputs(kept) : AMP_OK;
    if (status == AMP_OK)
        status = set_outputs(kept);
    if (status == AMP_OK)
        status = run_kernel(kept);
    if (status == AMP_UNSUPPORTED)
        status = AMP_AGAIN;
    if (status == AMP_OK)
        status = store_outputs(kept);
    for (uint32_t i = 0; i < kept->ctx.n_out && status != AMP_OK; i++)
        amp_tensor_release(kept->out[i]);
    if (kept->changes_inputs || !kept->is_direct)
        amp_kernel_call_release(&kept->call);
    return status;
}
