/*
 * Runs RNN, GRU and LSTM. Many sequences at once, in float32 and bfloat16, are oneDNN's
 * (rnn_dnnl.c), where it takes the node; so is bfloat16 where no kernel of our own fits. The rest
 * is computed by kernels of our own (ops/own/rnn_kernel.h), to which each direction is described by
 * itself: with few sequences these are faster, and for float16, which gets there widened to
 * float32, oneDNN has a reference only.
 */
#include "core/array.h"
#include "core/memory.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"
#include "ops/own/kernels.h"
#include "ops/rnn/rnn_dnnl.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Input I from element OFFSET on; NULL when it is omitted. */
static const void *in_at(const struct amp_ctx *ctx, uint32_t i, int64_t offset)
{
    if (!amp_has_in(ctx, i) || ctx->in[i]->data == NULL)
        return NULL;
    return (const char *)ctx->in[i]->data +
           offset * (int64_t)(amp_dtype_bits(ctx->in[i]->dtype) / 8);
}

static void *out_at(const struct amp_ctx *ctx, uint32_t i, int64_t offset)
{
    if (!amp_has_out(ctx, i))
        return NULL;
    return (char *)ctx->out[i]->data + offset * (int64_t)(amp_dtype_bits(ctx->out[i]->dtype) / 8);
}

/* Points RNN at the parts of the inputs and outputs that belong to direction D. */
static void set_direction(const struct amp_ctx *ctx, const struct amp_rnn_layer *layer, int d,
                          struct amp_rnn *rnn)
{
    int64_t h = rnn->hidden, width = rnn->gates * h;
    int64_t state = layer->is_batch_first ? d * h : d * rnn->batch * h;
    rnn->is_reverse = layer->is_reverse[d];
    memcpy(rnn->activations, layer->activations[d], sizeof rnn->activations);
    rnn->x = in_at(ctx, AMP_RNN_X, 0);
    rnn->w = in_at(ctx, AMP_RNN_W, d * width * rnn->input);
    rnn->r = in_at(ctx, AMP_RNN_R, d * width * h);
    rnn->bias = in_at(ctx, AMP_RNN_BIAS, 2 * width * d);
    rnn->h = in_at(ctx, AMP_RNN_H, state);
    rnn->c = in_at(ctx, AMP_RNN_C, state);
    rnn->peepholes = in_at(ctx, AMP_RNN_PEEPHOLES, 3 * h * d);
    rnn->y = out_at(ctx, AMP_RNN_Y, state);
    rnn->y_h = out_at(ctx, AMP_RNN_Y_H, state);
    rnn->y_c = out_at(ctx, AMP_RNN_Y_C, state);
}

/* What a node keeps between runs. */
struct state {
    struct amp_buffer *packed[2]; /* recurrent weights of each direction; NULL: not packed yet */
    struct amp_buffer *input[2];  /* W */
    const struct amp_rnn_kernel *packer; /* whose these are */
    struct amp_buffer *work[2];          /* the second for directions that run side by side */
    struct amp_rnn_dnnl *dnnl;
    bool is_by_dnnl; /* the last run was */
};

static struct state *state_of(const struct amp_ctx *ctx)
{
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    return *ctx->state;
}

/* From now on weights are packed by KERNEL. */
static void set_packer(struct state *state, const struct amp_rnn_kernel *kernel)
{
    for (int d = 0; d < 2 && state->packer != kernel; d++) {
        amp_buffer_unref(state->packed[d]);
        amp_buffer_unref(state->input[d]);
        state->packed[d] = state->input[d] = NULL;
    }
    state->packer = kernel;
}

static void destroy_state(void *data)
{
    struct state *state = data;
    if (state == NULL)
        return;
    set_packer(state, NULL);
    for (int d = 0; d < 2; d++)
        amp_buffer_unref(state->work[d]);
    amp_rnn_dnnl_destroy(state->dnnl);
    free(state);
}

/* Makes *BUFFER hold SIZE bytes at least; false when there is not enough memory. */
static bool reserve(struct amp_buffer **buffer, size_t size)
{
    if (*buffer != NULL && (*buffer)->size >= size)
        return true;
    amp_buffer_unref(*buffer);
    *buffer = amp_buffer_create(size);
    return *buffer != NULL;
}

/* W of direction D, packed: once when it is constant. */
static enum amp_status prepare_input(const struct amp_ctx *ctx, const struct amp_rnn_kernel *kernel,
                                     int d, struct amp_rnn *rnn)
{
    struct amp_buffer **input = &state_of(ctx)->input[d];
    bool is_ready = *input != NULL && ctx->is_constant[AMP_RNN_W];
    if (!reserve(input, kernel->input_size(rnn)))
        return amp_memory_fail(ctx->err, "a recurrent layer", kernel->input_size(rnn));
    if (!is_ready)
        kernel->pack_input(rnn, (*input)->data);
    rnn->w = (*input)->data;
    return AMP_OK;
}

/* Gives RNN its memory and the weights of direction D, packed: once when they are constant. */
static enum amp_status prepare(const struct amp_ctx *ctx, const struct amp_rnn_kernel *kernel,
                               int d, bool is_parallel, struct amp_rnn *rnn)
{
    struct state *state = state_of(ctx);
    struct amp_buffer **packed = &state->packed[d], **work = &state->work[is_parallel ? d : 0];
    bool is_ready = *packed != NULL && ctx->is_constant[AMP_RNN_R];
    size_t weights = kernel->packed_size(rnn), size = kernel->work_size(rnn);
    if (!reserve(packed, weights) || !reserve(work, size))
        return amp_memory_fail(ctx->err, "a recurrent layer", weights + size);
    if (!is_ready)
        kernel->pack(rnn, (*packed)->data);
    rnn->packed = (*packed)->data;
    rnn->work = (*work)->data;
    return prepare_input(ctx, kernel, d, rnn);
}

/* Whether input I, a constant, has been packed. */
static bool is_packed(const struct state *state, size_t i)
{
    return (i == AMP_RNN_R && state->packed[0] != NULL) ||
           (i == AMP_RNN_W && state->input[0] != NULL);
}

/* Whether all is there that run_own reads. */
static bool has_data(const struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i] != NULL && ctx->in[i]->data == NULL && ctx->is_constant[i] &&
            !is_packed(state_of(ctx), i))
            return false;
    return true;
}

/* Multiplications by recurrent weights in one step of one direction. */
static double work_of(const struct amp_rnn *rnn)
{
    return (double)rnn->batch * (double)rnn->gates * (double)rnn->hidden * (double)rnn->hidden;
}

/* Threads that share the units of one direction. */
static int threads_of(const struct amp_rnn_kernel *kernel, const struct amp_rnn *rnn)
{
    int64_t blocks = (rnn->hidden + kernel->block - 1) / kernel->block;
    int threads = omp_get_max_threads();
    if (blocks < 2 || work_of(rnn) < AMP_PARALLEL_MIN)
        return 1;
    return threads < blocks ? threads : (int)blocks;
}

/* Whether the directions had better run side by side, a thread each, than one after the other with
   all threads: they need not meet then, but each core's cache must hold a direction's weights. */
static bool is_side_by_side(const struct amp_rnn_kernel *kernel, const struct amp_rnn_layer *layer)
{
    enum { CACHE = 1 << 20 }; /* bytes of it that are there for weights on common CPUs */
    const struct amp_rnn *rnn = &layer->common;
    return layer->directions == 2 && omp_get_max_threads() > 1 && threads_of(kernel, rnn) <= 2 &&
           kernel->packed_size(rnn) <= CACHE &&
           (double)rnn->steps * work_of(rnn) >= AMP_PARALLEL_MIN;
}

/* Runs LAYER by KERNEL. */
static enum amp_status run_own(struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                               const struct amp_rnn_kernel *kernel)
{
    set_packer(state_of(ctx), kernel);
    if (!has_data(ctx))
        return AMP_AGAIN;
    state_of(ctx)->is_by_dnnl = false;
    bool is_parallel = is_side_by_side(kernel, layer);
    int threads = is_parallel ? 1 : threads_of(kernel, &layer->common);
    struct amp_rnn rnn[2] = {layer->common, layer->common};
    struct amp_error errors[2] = {{.status = AMP_OK}, {.status = AMP_OK}};
    for (int d = 0; d < layer->directions; d++) {
        set_direction(ctx, layer, d, &rnn[d]);
        rnn[d].threads = threads;
        AMP_TRY(prepare(ctx, kernel, d, is_parallel, &rnn[d]));
    }
    if (is_parallel) {
#pragma omp parallel for num_threads(2)
        for (int d = 0; d < 2; d++)
            AMP_IGNORE(kernel->run(&rnn[d], &errors[d]));
    }
    /* In a region of one thread the kernel's own would have to make new threads. */
    for (int d = 0; d < layer->directions && !is_parallel; d++)
        AMP_IGNORE(kernel->run(&rnn[d], &errors[d]));
    for (int d = 0; d < layer->directions; d++)
        if (errors[d].status != AMP_OK)
            return amp_fail(ctx->err, errors[d].status, "%s", errors[d].text);
    return AMP_OK;
}

/* Whether oneDNN is faster than the kernels in C, as measured with AMX: float32 with many sequences
   only, bfloat16 but for few sequences of a GRU that resets before the product. */
static bool prefers_dnnl(const struct amp_rnn_layer *layer, enum amp_dtype dtype)
{
    const struct amp_rnn *rnn = &layer->common;
    bool is_late = rnn->cell != AMP_RNN_GRU || rnn->linear_before_reset;
    return rnn->batch >= (dtype == AMP_FLOAT ? 12 : is_late ? 0 : 8);
}

static enum amp_status rnn_run(struct amp_ctx *ctx)
{
    enum amp_dtype dtype = ctx->in[AMP_RNN_X]->dtype;
    struct amp_error *err = ctx->err, refusal = {.status = AMP_OK};
    struct amp_rnn_layer layer;
    AMP_TRY(amp_rnn_read(ctx, &layer));
    const struct amp_rnn_kernel *kernel = amp_own_rnn(dtype, &layer.common);
    bool is_half = dtype == AMP_BFLOAT16, is_first = prefers_dnnl(&layer, dtype);
    if (is_half && kernel != NULL)
        return run_own(ctx, &layer, kernel);
    state_of(ctx)->is_by_dnnl = true;
    if (is_half && !is_first)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN is slower than float32 here");
    if (is_half)
        return amp_rnn_dnnl_run(ctx, &layer, &state_of(ctx)->dnnl);
    if (kernel == NULL)
        return amp_no_kernel(ctx, dtype);
    if (dtype != AMP_FLOAT || !is_first)
        return run_own(ctx, &layer, kernel);
    ctx->err = &refusal;
    enum amp_status status = amp_rnn_dnnl_run(ctx, &layer, &state_of(ctx)->dnnl);
    ctx->err = err;
    if (status == AMP_UNSUPPORTED)
        return run_own(ctx, &layer, kernel);
    return status == AMP_OK ? AMP_OK : amp_fail(err, status, "%s", refusal.text);
}

static bool reads(const void *data, size_t index)
{
    const struct state *state = data;
    if (index >= AMP_RNN_INPUTS)
        return true;
    return state->is_by_dnnl ? amp_rnn_dnnl_reads(state->dnnl, index) : !is_packed(state, index);
}

enum { NATIVE = AMP_BY_DNNL | AMP_NATIVE_C | AMP_DTYPE_BIT(AMP_BFLOAT16) };

/* ---- derivatives: the equations of ONNX, with the default activations ---- */

/* Gate number FROM of all that VALUE holds. */
#define GATE(value, from, to) \
    "Slice(" value ", [" from "*#hidden_size], [" to "*#hidden_size], [-1])"
#define PLAIN "!has:activations !has:clip input_forget=0 layout=0 !e "
#define SUMS "xs = Add(MatMul(xt, w), wb); hs = Add(MatMul(h, r), rb);"
#define LSTM_GATES "all = Add(Add(MatMul(xt, w), MatMul(h, r)), Add(wb, rb));"
#define GRU_GATES                                                                        \
    SUMS "update = Sigmoid(Add(" GATE("xs", "0", "1") ", " GATE(                         \
        "hs", "0", "1") "));"                                                            \
                        "reset = Sigmoid(Add(" GATE("xs", "1", "2") ", " GATE("hs", "1", \
                                                                              "2") "));"
#define GRU_STATE "Add(Mul(Sub(1, update), hidden), Mul(update, h))"

static const struct amp_recurrence lstm_steps[] = {
    {.when = PLAIN,
     .c = LSTM_GATES "Add(Mul(Sigmoid(" GATE("all", "2", "3") "), c), Mul(Sigmoid(" GATE(
         "all", "0", "1") "), Tanh(" GATE("all", "3", "4") ")))",
     .h = LSTM_GATES "Mul(Sigmoid(" GATE("all", "1", "2") "), Tanh(next))"},
    {.h = NULL}};

static const struct amp_recurrence gru_steps[] = {
    {.when = PLAIN "linear_before_reset=0",
     .h = GRU_GATES "hidden = Tanh(Add(" GATE("xs", "2", "3") ", Add(MatMul(Mul(reset, h), " GATE(
         "r", "2", "3") "), " GATE("rb", "2", "3") ")));" GRU_STATE},
    {.when = PLAIN,
     .h = GRU_GATES "hidden = Tanh(Add(" GATE("xs", "2", "3") ", Mul(reset, " GATE(
         "hs", "2", "3") ")));" GRU_STATE},
    {.h = NULL}};

static const struct amp_recurrence rnn_steps[] = {{.when = PLAIN, .h = SUMS "Tanh(Add(xs, hs))"},
                                                  {.h = NULL}};

const struct amp_op amp_op_gru = {
    .name = "GRU",
    .meanings = AMP_MEANINGS({AMP_MEANS_LENGTHS, 4, "layout"}),
    .newest = 22,
    .role = AMP_ROLE_RECURRENT,
    .effect = AMP_COMPUTES,
    .native = NATIVE,
    .rounds_within = true,
    .flops = {amp_flops_recurrent, 1},
    /* Version 3: only the default's spelling, "foward", was mended. */
    .changes = AMP_CHANGES({3, NULL}),
    .own = &(const enum amp_rnn_cell){AMP_RNN_GRU},
    .recurrence = gru_steps,
    .shape = amp_rnn_shape,
    .run = rnn_run,
    .destroy = destroy_state,
    .reads = reads};

const struct amp_op amp_op_lstm = {.name = "LSTM",
                                   .meanings = AMP_MEANINGS({AMP_MEANS_LENGTHS, 4, "layout"}),
                                   .newest = 22,
                                   .role = AMP_ROLE_RECURRENT,
                                   .effect = AMP_COMPUTES,
                                   .native = NATIVE,
                                   .rounds_within = true,
                                   .flops = {amp_flops_recurrent, 1},
                                   .own = &(const enum amp_rnn_cell){AMP_RNN_LSTM},
                                   .recurrence = lstm_steps,
                                   .shape = amp_rnn_shape,
                                   .run = rnn_run,
                                   .destroy = destroy_state,
                                   .reads = reads};

const struct amp_op amp_op_rnn = {.name = "RNN",
                                  .meanings = AMP_MEANINGS({AMP_MEANS_LENGTHS, 4, "layout"}),
                                  .newest = 22,
                                  .role = AMP_ROLE_RECURRENT,
                                  .effect = AMP_COMPUTES,
                                  .native = NATIVE,
                                  .rounds_within = true,
                                  .flops = {amp_flops_recurrent, 1},
                                  .own = &(const enum amp_rnn_cell){AMP_RNN_PLAIN},
                                  .recurrence = rnn_steps,
                                  .shape = amp_rnn_shape,
                                  .run = rnn_run,
                                  .destroy = destroy_state,
                                  .reads = reads};
