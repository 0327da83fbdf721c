/*
 * Runs recurrent layers by oneDNN's primitives, both directions of a layer in one. oneDNN wants the
 * gates of an LSTM in another order (i f c o) than ONNX has them (i o f c), one bias in place of
 * two, and gives both directions of a step side by side: what differs is put in order here, before
 * and after; weights that are constant once.
 */
#include "ops/rnn/rnn_dnnl.h"

#include "core/array.h"
#include "core/cpu.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct amp_rnn_dnnl {
    void *prim;
    /* In oneDNN's order, where that is another. The data of constant weights are there only until
       the primitive has them in its own layout. */
    struct amp_tensor in[AMP_RNN_INPUTS];
    bool is_plain[AMP_RNN_INPUTS]; /* the primitive takes the data as they are */
    struct amp_tensor y;           /* [steps, batch, directions * hidden] */
};

/* The call as the primitive's make function gets it: its inputs and outputs are the node's or stand
   in for them. */
struct call {
    struct amp_ctx ctx;
    const struct amp_ctx *node;
    const struct amp_rnn_layer *layer;
    struct amp_rnn_dnnl *state;
    const_dnnl_primitive_desc_t pd; /* while it is made */
    const struct amp_tensor *in[AMP_RNN_INPUTS];
    struct amp_tensor *out[AMP_RNN_OUTPUTS];
    bool is_constant[AMP_RNN_INPUTS];
};

void amp_rnn_dnnl_destroy(struct amp_rnn_dnnl *state)
{
    if (state == NULL)
        return;
    amp_prim_destroy(state->prim);
    amp_tensors_release(state->in, AMP_RNN_INPUTS);
    amp_tensor_release(&state->y);
    free(state);
}

/* ---- what oneDNN can do ---- */

/* The activation of a plain cell; 0: oneDNN has none of the kind. */
static dnnl_alg_kind_t plain_kind(const struct amp_rnn_layer *layer)
{
    static const dnnl_alg_kind_t kinds[] = {[AMP_RNN_RELU] = dnnl_eltwise_relu,
                                            [AMP_RNN_SIGMOID] = dnnl_eltwise_logistic,
                                            [AMP_RNN_TANH] = dnnl_eltwise_tanh};
    size_t function = (size_t)layer->activations[0][0].function;
    return function < AMP_COUNT(kinds) ? kinds[function] : dnnl_alg_kind_undef;
}

static bool has_activations(const struct amp_rnn_layer *layer)
{
    static const enum amp_rnn_function gated[] = {AMP_RNN_SIGMOID, AMP_RNN_TANH, AMP_RNN_TANH};
    if (layer->common.cell == AMP_RNN_PLAIN)
        return plain_kind(layer) != dnnl_alg_kind_undef &&
               (layer->directions == 1 ||
                layer->activations[0][0].function == layer->activations[1][0].function);
    for (int d = 0; d < layer->directions; d++)
        for (int i = 0; i < (layer->common.cell == AMP_RNN_GRU ? 2 : 3); i++)
            if (layer->activations[d][i].function != gated[i])
                return false;
    return true;
}

static bool has_all_steps(const struct amp_rnn *rnn)
{
    for (int64_t b = 0; b < rnn->batch && rnn->lengths != NULL; b++)
        if (rnn->lengths[b] != rnn->steps)
            return false;
    return true;
}

static bool is_possible(const struct amp_rnn_layer *layer)
{
    const struct amp_rnn *rnn = &layer->common;
    bool is_empty = rnn->steps == 0 || rnn->batch == 0 || rnn->input == 0 || rnn->hidden == 0;
    return !is_empty && isinf(rnn->clip) && !rnn->input_forget && has_activations(layer) &&
           has_all_steps(rnn);
}

/* ---- inputs in oneDNN's order ---- */

/* Where gate or peephole I of oneDNN's LSTM is in ONNX: i f c o from i o f c, i f o from i o f. */
static const int64_t lstm_gates[] = {0, 2, 3, 1}, lstm_peepholes[] = {0, 2, 1};

static bool is_late(const struct amp_rnn *rnn)
{
    return rnn->cell == AMP_RNN_GRU && rnn->linear_before_reset;
}

/* Gates that oneDNN has biases for: the hidden gate has two where the reset comes between. */
static int64_t bias_gates(const struct amp_rnn *rnn)
{
    return rnn->gates + is_late(rnn);
}

static void copy_gates(const struct amp_tensor *from, const int64_t *order, int64_t gates,
                       const struct amp_rnn_layer *layer, struct amp_tensor *to)
{
    size_t size = amp_tensor_size(from) / (size_t)(gates * layer->directions);
    for (int64_t i = 0; i < gates * layer->directions; i++) {
        int64_t source = i / gates * gates + order[i % gates];
        memcpy((char *)to->data + (size_t)i * size,
               (const char *)from->data + (size_t)source * size, size);
    }
}

/* TO [directions, bias_gates, hidden] float32 = the biases of W and of R in FROM [directions, 2,
   gates, hidden], added. */
static void sum_biases(const struct amp_tensor *from, const struct amp_rnn_layer *layer,
                       struct amp_tensor *to)
{
    const struct amp_rnn *rnn = &layer->common;
    int64_t gates = rnn->gates, n = rnn->hidden;
    float *sum = to->data;
    for (int64_t d = 0; d < layer->directions; d++) {
        for (int64_t i = 0; i < bias_gates(rnn); i++) {
            /* W's and R's biases of the last gate before the late reset stay apart. */
            bool has_w = i < gates, has_r = !is_late(rnn) || i != gates - 1;
            int64_t gate = rnn->cell == AMP_RNN_LSTM ? lstm_gates[i] : has_w ? i : gates - 1;
            size_t w = (size_t)((2 * d * gates + gate) * n), r = w + (size_t)(gates * n);
            for (size_t k = 0; k < (size_t)n; k++)
                *sum++ = (float)((has_w ? amp_tensor_double(from, w + k) : 0) +
                                 (has_r ? amp_tensor_double(from, r + k) : 0));
        }
    }
}

/* Puts input I in order in TO, whose dtype and shape are set. */
static void put_in_order(const struct amp_tensor *from, uint32_t i,
                         const struct amp_rnn_layer *layer, struct amp_tensor *to)
{
    if (i == AMP_RNN_BIAS)
        sum_biases(from, layer, to);
    else if (i == AMP_RNN_PEEPHOLES)
        copy_gates(from, lstm_peepholes, 3, layer, to);
    else
        copy_gates(from, lstm_gates, 4, layer, to);
}

static bool is_reordered(const struct amp_rnn *rnn, uint32_t i)
{
    return i == AMP_RNN_BIAS || i == AMP_RNN_PEEPHOLES ||
           (rnn->cell == AMP_RNN_LSTM && (i == AMP_RNN_W || i == AMP_RNN_R));
}

/* Gives TENSOR memory for what it is to hold, unless it has it. */
static enum amp_status reserve(struct amp_tensor *tensor, enum amp_dtype dtype,
                               struct amp_shape shape, struct amp_error *err)
{
    if (tensor->data != NULL && tensor->dtype == dtype && amp_shape_equal(&tensor->shape, &shape))
        return AMP_OK;
    tensor->dtype = dtype;
    tensor->shape = shape;
    return amp_tensor_alloc(tensor, err);
}

/* An LSTM has both states or none: zeros for the one that is omitted. */
static enum amp_status add_state(struct call *call, uint32_t i, const struct amp_tensor *other)
{
    struct amp_tensor *zeros = &call->state->in[i];
    call->in[i] = zeros;
    AMP_TRY(reserve(zeros, other->dtype, other->shape, call->ctx.err));
    memset(zeros->data, 0, amp_tensor_size(zeros));
    return AMP_OK;
}

/* Fills input I in oneDNN's order. */
static enum amp_status fill_input(struct call *call, uint32_t i)
{
    struct amp_tensor *to = &call->state->in[i];
    if (call->node->in[i]->data == NULL)
        return AMP_AGAIN;
    AMP_TRY(reserve(to, to->dtype, to->shape, call->ctx.err));
    put_in_order(call->node->in[i], i, call->layer, to);
    return AMP_OK;
}

static enum amp_status set_input(struct call *call, uint32_t i)
{
    const struct amp_rnn *rnn = &call->layer->common;
    const struct amp_tensor *from = call->node->in[i];
    struct amp_tensor *to = &call->state->in[i];
    call->in[i] = from;
    call->is_constant[i] = call->node->is_constant[i];
    if (!is_reordered(rnn, i))
        return AMP_OK;
    enum amp_dtype dtype = i == AMP_RNN_BIAS ? AMP_FLOAT : from->dtype;
    call->in[i] = to;
    if (call->is_constant[i] && to->shape.rank > 0 && to->dtype == dtype)
        return AMP_OK;
    if (to->dtype != dtype)
        amp_tensor_release(to);
    to->dtype = dtype;
    to->shape = from->shape;
    if (i == AMP_RNN_BIAS)
        to->shape.dims[1] = bias_gates(rnn) * rnn->hidden;
    return call->is_constant[i] ? AMP_OK : fill_input(call, i);
}

static enum amp_status set_inputs(struct call *call)
{
    for (uint32_t i = 0; i < AMP_RNN_INPUTS; i++)
        if (amp_has_in(call->node, i) && i != AMP_RNN_LENGTHS)
            AMP_TRY(set_input(call, i));
    const struct amp_tensor *h = call->in[AMP_RNN_H], *c = call->in[AMP_RNN_C];
    if (h != NULL && c == NULL && call->layer->common.cell == AMP_RNN_LSTM)
        return add_state(call, AMP_RNN_C, h);
    return h == NULL && c != NULL ? add_state(call, AMP_RNN_H, c) : AMP_OK;
}

/* Drops what the primitive has taken over. */
static void release_weights(struct call *call)
{
    struct amp_rnn_dnnl *state = call->state;
    for (uint32_t i = 0; i < AMP_RNN_INPUTS; i++)
        if (call->in[i] == &state->in[i] && call->is_constant[i] && !state->is_plain[i])
            amp_tensor_discard(&state->in[i]);
}

/* ---- outputs ---- */

/* Whether Y is as oneDNN gives it: [steps, batch, directions * hidden]. */
static bool has_plain_y(const struct amp_rnn_layer *layer)
{
    return layer->directions == 1 || layer->common.batch == 1;
}

static enum amp_status set_outputs(struct call *call)
{
    static struct amp_tensor unwanted = {.dtype = AMP_UNDEFINED};
    const struct amp_rnn *rnn = &call->layer->common;
    struct amp_shape shape = {3, {rnn->steps, rnn->batch, call->layer->directions * rnn->hidden}};
    for (uint32_t i = 0; i < AMP_RNN_OUTPUTS; i++)
        call->out[i] = amp_has_out(call->node, i) ? call->node->out[i] : &unwanted;
    if (amp_has_out(call->node, AMP_RNN_Y) && has_plain_y(call->layer))
        return AMP_OK;
    call->out[AMP_RNN_Y] = &call->state->y;
    return reserve(&call->state->y, call->node->in[AMP_RNN_X]->dtype, shape, call->ctx.err);
}

/* Puts the directions of TO, the node's Y, apart. */
static void split_directions(const struct amp_rnn_layer *layer, const struct amp_tensor *from,
                             struct amp_tensor *to)
{
    const struct amp_rnn *rnn = &layer->common;
    int64_t n = rnn->hidden, direction = layer->is_batch_first ? n : rnn->batch * n;
    int64_t size = (int64_t)(amp_dtype_bits(to->dtype) / 8);
    const char *row = from->data;
#pragma omp parallel for if (rnn->steps * rnn->batch * n >= AMP_PARALLEL_MIN)
    for (int64_t t = 0; t < rnn->steps; t++)
        for (int64_t b = 0; b < rnn->batch; b++)
            for (int64_t d = 0; d < 2; d++)
                memcpy((char *)to->data +
                           (t * rnn->y_step + b * rnn->y_batch + d * direction) * size,
                       row + ((t * rnn->batch + b) * 2 + d) * n * size, (size_t)(n * size));
}

/* ---- the primitive ---- */

/* Of the primitive; NULL: it does without. */
struct descs {
    dnnl_memory_desc_t x, w, r, bias, peepholes, h, c, y, y_h, y_c;
};

static enum amp_status make_descs(const struct call *call, struct amp_prim *prim,
                                  struct descs *descs)
{
    const struct amp_rnn *rnn = &call->layer->common;
    struct amp_error *err = call->ctx.err;
    enum amp_dtype dtype = call->in[AMP_RNN_X]->dtype;
    int64_t dirs = call->layer->directions, g = rnn->gates, n = rnn->hidden, b = rnn->batch;
    const int64_t x[] = {rnn->steps, b, rnn->input}, w[] = {1, dirs, rnn->input, g, n};
    const int64_t r[] = {1, dirs, n, g, n}, bias[] = {1, dirs, bias_gates(rnn), n};
    const int64_t peepholes[] = {1, dirs, 3, n}, state[] = {1, dirs, b, n};
    const int64_t y[] = {rnn->steps, b, dirs * n};
    bool is_lstm = rnn->cell == AMP_RNN_LSTM, has_state = call->in[AMP_RNN_H] != NULL;
    bool gives_state = amp_has_out(&call->ctx, AMP_RNN_Y_H) || amp_has_out(&call->ctx, AMP_RNN_Y_C);
    AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(dtype, 3, x), &descs->x));
    AMP_TRY(amp_prim_desc(prim, err, amp_form_tagged(dtype, 5, w, dnnl_format_tag_any), &descs->w));
    AMP_TRY(amp_prim_desc(prim, err, amp_form_tagged(dtype, 5, r, dnnl_format_tag_any), &descs->r));
    AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(dtype, 3, y), &descs->y));
    if (call->in[AMP_RNN_BIAS] != NULL)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(AMP_FLOAT, 4, bias), &descs->bias));
    if (call->in[AMP_RNN_PEEPHOLES] != NULL)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(AMP_FLOAT, 4, peepholes),
                              &descs->peepholes));
    if (has_state)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(dtype, 4, state), &descs->h));
    if (has_state && is_lstm)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(AMP_FLOAT, 4, state), &descs->c));
    if (gives_state)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(dtype, 4, state), &descs->y_h));
    if (gives_state && is_lstm)
        AMP_TRY(amp_prim_desc(prim, err, amp_form_row_major(AMP_FLOAT, 4, state), &descs->y_c));
    return AMP_OK;
}

static dnnl_status_t create_pd(const struct call *call, const struct descs *d,
                               dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
    const struct amp_rnn_layer *layer = call->layer;
    dnnl_engine_t engine = call->ctx.host->dnnl->engine;
    dnnl_rnn_direction_t direction = layer->directions == 2 ? dnnl_bidirectional_concat
                                     : layer->is_reverse[0] ? dnnl_unidirectional_right2left
                                                            : dnnl_unidirectional_left2right;
    if (layer->common.cell == AMP_RNN_LSTM)
        return dnnl_lstm_forward_primitive_desc_create(
            pd, engine, dnnl_forward_inference, direction, d->x, d->h, d->c, d->w, d->r,
            d->peepholes, NULL, d->bias, d->y, d->y_h, d->y_c, dnnl_rnn_flags_undef, attr);
    if (layer->common.cell == AMP_RNN_PLAIN)
        return dnnl_vanilla_rnn_forward_primitive_desc_create(
            pd, engine, dnnl_forward_inference, plain_kind(layer), direction, d->x, d->h, d->w,
            d->r, d->bias, d->y, d->y_h, dnnl_rnn_flags_undef, 0, 0, attr);
    return (is_late(&layer->common) ? dnnl_lbr_gru_forward_primitive_desc_create
                                    : dnnl_gru_forward_primitive_desc_create)(
        pd, engine, dnnl_forward_inference, direction, d->x, d->h, d->w, d->r, d->bias, d->y,
        d->y_h, dnnl_rnn_flags_undef, attr);
}

/* How an input lies in its tensor: dims, and strides in elements; NULL: row-major. */
struct view {
    int rank;
    const int64_t *dims, *strides;
};

/* Binds input I, when it is there, as it lies in its tensor. */
static enum amp_status bind_in(struct call *call, struct amp_prim *prim, int arg, uint32_t i,
                               struct view view)
{
    const_dnnl_memory_desc_t own =
        dnnl_primitive_desc_query_md(call->pd, dnnl_query_exec_arg_md, arg);
    dnnl_memory_desc_t user;
    struct amp_tensor *in_order = &call->state->in[i];
    if (call->in[i] == NULL)
        return AMP_OK;
    if (call->in[i] == in_order && in_order->data == NULL)
        AMP_TRY(fill_input(call, i));
    AMP_TRY(amp_prim_desc(prim, call->ctx.err,
                          amp_form_strided(call->in[i]->dtype, view.rank, view.dims, view.strides),
                          &user));
    call->state->is_plain[i] = dnnl_memory_desc_equal(own, user) != 0;
    return amp_prim_bind_in(&call->ctx, prim, arg, i, user);
}

static enum amp_status bind_inputs(struct call *call, struct amp_prim *prim)
{
    const struct amp_rnn *rnn = &call->layer->common;
    int64_t dirs = call->layer->directions, g = rnn->gates, n = rnn->hidden, k = rnn->input;
    const int64_t x[] = {rnn->steps, rnn->batch, k}, x_strides[] = {rnn->x_step, rnn->x_batch, 1};
    const int64_t w[] = {1, dirs, k, g, n},
                  w_strides[] = {dirs * g * n * k, g * n * k, 1, n * k, k};
    const int64_t r[] = {1, dirs, n, g, n},
                  r_strides[] = {dirs * g * n * n, g * n * n, 1, n * n, n};
    const int64_t bias[] = {1, dirs, bias_gates(rnn), n}, peepholes[] = {1, dirs, 3, n};
    AMP_TRY(bind_in(call, prim, DNNL_ARG_SRC_LAYER, AMP_RNN_X, (struct view){3, x, x_strides}));
    AMP_TRY(bind_in(call, prim, DNNL_ARG_WEIGHTS_LAYER, AMP_RNN_W, (struct view){5, w, w_strides}));
    AMP_TRY(bind_in(call, prim, DNNL_ARG_WEIGHTS_ITER, AMP_RNN_R, (struct view){5, r, r_strides}));
    AMP_TRY(bind_in(call, prim, DNNL_ARG_BIAS, AMP_RNN_BIAS, (struct view){4, bias, NULL}));
    return bind_in(call, prim, DNNL_ARG_WEIGHTS_PEEPHOLE, AMP_RNN_PEEPHOLES,
                   (struct view){4, peepholes, NULL});
}

/* The layout of a state in the node's tensors. */
static enum amp_status desc_state(const struct call *call, struct amp_prim *prim,
                                  enum amp_dtype dtype, dnnl_memory_desc_t *user)
{
    const struct amp_rnn *rnn = &call->layer->common;
    int64_t dirs = call->layer->directions, n = rnn->hidden, b = rnn->batch;
    const int64_t dims[] = {1, dirs, b, n};
    const int64_t strides[] = {dirs * b * n, call->layer->is_batch_first ? n : b * n,
                               rnn->state_batch, 1};
    return amp_prim_desc(prim, call->ctx.err, amp_form_strided(dtype, 4, dims, strides), user);
}

static enum amp_status bind_state_in(struct call *call, struct amp_prim *prim, int arg, uint32_t i)
{
    dnnl_memory_desc_t user;
    if (call->in[i] == NULL)
        return AMP_OK;
    AMP_TRY(desc_state(call, prim, call->in[i]->dtype, &user));
    return amp_prim_bind_in(&call->ctx, prim, arg, i, user);
}

/* OWN: the primitive's layout, NULL when it does not give the state. */
static enum amp_status bind_state_out(struct call *call, struct amp_prim *prim, int arg, uint32_t i,
                                      const_dnnl_memory_desc_t own)
{
    dnnl_memory_desc_t user;
    void *unwanted;
    if (own == NULL)
        return AMP_OK;
    if (!amp_has_out(&call->ctx, i))
        return amp_prim_bind_data(&call->ctx, prim, arg, own, &unwanted);
    AMP_TRY(desc_state(call, prim, call->out[i]->dtype, &user));
    return amp_prim_bind_out(&call->ctx, prim, arg, i, user);
}

static enum amp_status bind_y(struct call *call, struct amp_prim *prim, dnnl_memory_desc_t own)
{
    const struct amp_rnn *rnn = &call->layer->common;
    int64_t width = call->layer->directions * rnn->hidden;
    const int64_t dims[] = {rnn->steps, rnn->batch, width};
    const int64_t strides[] = {rnn->y_step, rnn->y_batch, 1};
    dnnl_memory_desc_t user = own;
    if (call->layer->directions == 1)
        AMP_TRY(amp_prim_desc(prim, call->ctx.err,
                              amp_form_strided(call->out[AMP_RNN_Y]->dtype, 3, dims, strides),
                              &user));
    return amp_prim_bind_out(&call->ctx, prim, DNNL_ARG_DST_LAYER, AMP_RNN_Y, user);
}

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    struct call *call = what;
    struct descs descs = {NULL};
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    /* The pieces that oneDNN cuts the work into leave results out then. */
    if (!amp_cpu_tells_caches())
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN needs to know the sizes of caches");
    AMP_TRY(make_descs(call, prim, &descs));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(ctx->err, create_pd(call, &descs, attr, &pd), "recurrent layer"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    call->pd = pd;
    AMP_TRY(bind_inputs(call, prim));
    AMP_TRY(bind_state_in(call, prim, DNNL_ARG_SRC_ITER, AMP_RNN_H));
    AMP_TRY(bind_state_in(call, prim, DNNL_ARG_SRC_ITER_C, AMP_RNN_C));
    AMP_TRY(bind_y(call, prim, descs.y));
    AMP_TRY(bind_state_out(call, prim, DNNL_ARG_DST_ITER, AMP_RNN_Y_H, descs.y_h));
    return bind_state_out(call, prim, DNNL_ARG_DST_ITER_C, AMP_RNN_Y_C, descs.y_c);
}

bool amp_rnn_dnnl_reads(const struct amp_rnn_dnnl *state, size_t index)
{
    return state->in[index].shape.rank == 0 && amp_prim_reads(state->prim, index);
}

static enum amp_status refuse(struct amp_ctx *ctx)
{
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no such recurrent layer");
}

enum amp_status amp_rnn_dnnl_run(struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                 struct amp_rnn_dnnl **state)
{
    if (!is_possible(layer))
        return refuse(ctx);
    if (*state == NULL)
        *state = amp_xcalloc(1, sizeof **state);
    struct call call = {.ctx = *ctx, .node = ctx, .layer = layer, .state = *state};
    call.ctx.in = call.in;
    call.ctx.n_in = AMP_RNN_INPUTS;
    call.ctx.out = call.out;
    call.ctx.n_out = AMP_RNN_OUTPUTS;
    call.ctx.is_constant = call.is_constant;
    call.ctx.state = &(*state)->prim;
    AMP_TRY(set_inputs(&call));
    AMP_TRY(set_outputs(&call));
    AMP_TRY(amp_prim_run_call(&call.ctx, &(struct amp_prim_call){.make = make, .what = &call}));
    release_weights(&call);
    if (amp_has_out(ctx, AMP_RNN_Y) && !has_plain_y(layer))
        split_directions(layer, &(*state)->y, ctx->out[AMP_RNN_Y]);
    return AMP_OK;
}
