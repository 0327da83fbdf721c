/*
 * RNN, GRU and LSTM: shapes, attributes and the checks of all inputs. Many sequences at once, in
 * float32 and bfloat16, are oneDNN's (rnn_dnnl.c), where it takes the node; so is bfloat16 where
 * rnn_bf16.c has no kernel. The rest is computed by rnn_kernel.inc, to which each direction is
 * described by itself: with few sequences that is faster, and for float16, which gets there widened
 * to float32, oneDNN has a reference only.
 */
#include "ops/rnn/rnn.h"

#include "core/array.h"
#include "core/memory.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct cell {
    const char *op_type;
    int64_t gates;
    int n_activations;
    struct amp_rnn_activation defaults[3];
} cells[] = {
    [AMP_RNN_PLAIN] = {"RNN", 1, 1, {{AMP_RNN_TANH, 0, 0}}},
    [AMP_RNN_GRU] = {"GRU", 3, 2, {{AMP_RNN_SIGMOID, 0, 0}, {AMP_RNN_TANH, 0, 0}}},
    [AMP_RNN_LSTM] = {"LSTM",
                      4,
                      3,
                      {{AMP_RNN_SIGMOID, 0, 0}, {AMP_RNN_TANH, 0, 0}, {AMP_RNN_TANH, 0, 0}}},
};

static enum amp_rnn_cell cell_of(const struct amp_node *node)
{
    int cell = AMP_RNN_PLAIN;
    while (strcmp(cells[cell].op_type, node->op_type) != 0)
        cell++;
    return (enum amp_rnn_cell)cell;
}

/* ---- attributes ---- */

static const struct function {
    const char *name;
    int n_parameters; /* 0: none, 1: alpha, 2: alpha and beta */
    double alpha, beta;
} functions[] = {
#define X(id, name, parameters, alpha, beta) [AMP_RNN_##id] = {name, parameters, alpha, beta},
    AMP_RNN_ACTIVATION_LIST(X)
#undef X
};

enum { N_FUNCTIONS = AMP_COUNT(functions) };

static enum amp_status read_direction(const struct amp_ctx *ctx, struct amp_rnn_layer *layer)
{
    enum { FORWARD, REVERSE, BOTH };
    static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL};
    int direction = FORWARD;
    AMP_TRY(amp_ctx_choice(ctx, "direction", directions, &direction));
    layer->directions = direction == BOTH ? 2 : 1;
    layer->is_reverse[0] = direction == REVERSE;
    layer->is_reverse[1] = true;
    layer->is_batch_first = amp_node_int(ctx->node, "layout", 0) != 0;
    return AMP_OK;
}

static int find_function(const struct amp_str *name)
{
    for (int i = 0; i < N_FUNCTIONS; i++)
        if (strlen(functions[i].name) == name->size &&
            strncasecmp(functions[i].name, name->data, name->size) == 0)
            return i;
    return -1;
}

/* The next value of list NAME, where *NEXT counts; FALLBACK past its end. */
static double next_value(const struct amp_node *node, const char *name, size_t *next,
                         double fallback)
{
    const struct amp_attr *attr = amp_node_attr(node, name);
    if (attr == NULL || attr->type != AMP_ATTR_FLOATS || *next >= attr->count)
        return fallback;
    return (double)attr->floats[(*next)++];
}

static enum amp_status read_activations(const struct amp_ctx *ctx, const struct cell *cell,
                                        struct amp_rnn_layer *layer)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, "activations");
    size_t next_alpha = 0, next_beta = 0;
    int count = layer->directions * cell->n_activations;
    for (int d = 0; d < layer->directions; d++)
        memcpy(layer->activations[d], cell->defaults, sizeof cell->defaults);
    if (attr == NULL || attr->type != AMP_ATTR_STRINGS || attr->count == 0)
        return AMP_OK;
    if (attr->count != (size_t)count)
        return AMP_CTX_FAIL(ctx, "%zu activations; %d are needed", attr->count, count);
    for (int i = 0; i < count; i++) {
        const struct amp_str *name = &attr->strings[i];
        int found = find_function(name);
        if (found < 0)
            return AMP_CTX_FAIL(ctx, "unknown activation '%.*s'", (int)name->size, name->data);
        const struct function *function = &functions[found];
        struct amp_rnn_activation *activation =
            &layer->activations[i / cell->n_activations][i % cell->n_activations];
        *activation = (struct amp_rnn_activation){.function = (enum amp_rnn_function)found,
                                                  .alpha = function->alpha,
                                                  .beta = function->beta};
        if (function->n_parameters > 0)
            activation->alpha =
                next_value(ctx->node, "activation_alpha", &next_alpha, function->alpha);
        if (function->n_parameters > 1)
            activation->beta = next_value(ctx->node, "activation_beta", &next_beta, function->beta);
    }
    return AMP_OK;
}

/* ---- shapes ---- */

static int64_t dim_of(const struct amp_ctx *ctx, uint32_t i, int axis)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    return shape->rank == 3 ? shape->dims[axis] : AMP_DIM_UNKNOWN;
}

/* Steps, batch, input and hidden size, as far as they are known. */
static enum amp_status read_sizes(const struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                  struct amp_rnn *rnn)
{
    for (uint32_t i = AMP_RNN_X; i <= AMP_RNN_R; i++)
        if (ctx->in[i]->shape.rank != 3 && ctx->in[i]->shape.rank >= 0)
            return AMP_CTX_FAIL(ctx, "input %u has rank %d; 3 is needed", i,
                                ctx->in[i]->shape.rank);
    rnn->steps = dim_of(ctx, AMP_RNN_X, layer->is_batch_first ? 1 : 0);
    rnn->batch = dim_of(ctx, AMP_RNN_X, layer->is_batch_first ? 0 : 1);
    rnn->input = dim_of(ctx, AMP_RNN_X, 2);
    rnn->hidden = amp_node_int(ctx->node, "hidden_size", dim_of(ctx, AMP_RNN_R, 2));
    if (amp_node_attr(ctx->node, "hidden_size") != NULL && rnn->hidden < 0)
        return AMP_CTX_FAIL(ctx, "hidden_size is %lld", (long long)rnn->hidden);
    return AMP_OK;
}

static enum amp_status rnn_shape(struct amp_ctx *ctx)
{
    struct amp_rnn_layer layer;
    struct amp_rnn rnn = {.cell = cell_of(ctx->node)};
    AMP_TRY(read_direction(ctx, &layer));
    AMP_TRY(read_sizes(ctx, &layer, &rnn));
    int64_t d = layer.directions, t = rnn.steps, b = rnn.batch, h = rnn.hidden;
    for (uint32_t i = 0; i < ctx->n_out; i++) {
        struct amp_shape *out = &ctx->out[i]->shape;
        if (i == AMP_RNN_Y)
            *out = layer.is_batch_first ? (struct amp_shape){4, {b, t, d, h}}
                                        : (struct amp_shape){4, {t, d, b, h}};
        else
            *out = layer.is_batch_first ? (struct amp_shape){3, {b, d, h}}
                                        : (struct amp_shape){3, {d, b, h}};
    }
    return AMP_OK;
}

/* ---- running ---- */

/* Input I, when it is there, must have these dims. */
static enum amp_status check_dims(const struct amp_ctx *ctx, uint32_t i, struct amp_shape want)
{
    char have_text[200], want_text[200];
    if (!amp_has_in(ctx, i) || amp_shape_equal(&ctx->in[i]->shape, &want))
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "input %u has shape %s; %s is needed", i,
                        amp_shape_text(&ctx->in[i]->shape, have_text, sizeof have_text),
                        amp_shape_text(&want, want_text, sizeof want_text));
}

static enum amp_status check_inputs(const struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                    const struct amp_rnn *rnn)
{
    int64_t d = layer->directions, b = rnn->batch, h = rnn->hidden, width;
    size_t size;
    if (__builtin_mul_overflow(h, 2 * rnn->gates, &width))
        return AMP_CTX_FAIL(ctx, "hidden_size is %lld", (long long)h);
    AMP_TRY(amp_shape_size(&(struct amp_shape){2, {b, width}}, AMP_DOUBLE, &size, ctx->err));
    struct amp_shape state =
        layer->is_batch_first ? (struct amp_shape){3, {b, d, h}} : (struct amp_shape){3, {d, b, h}};
    AMP_TRY(check_dims(ctx, AMP_RNN_W, (struct amp_shape){3, {d, width / 2, rnn->input}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_R, (struct amp_shape){3, {d, width / 2, h}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_BIAS, (struct amp_shape){2, {d, width}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_LENGTHS, (struct amp_shape){1, {b}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_H, state));
    AMP_TRY(check_dims(ctx, AMP_RNN_C, state));
    AMP_TRY(check_dims(ctx, AMP_RNN_PEEPHOLES, (struct amp_shape){2, {d, 3 * h}}));
    for (int64_t i = 0; i < b && rnn->lengths != NULL; i++)
        if (rnn->lengths[i] < 0 || rnn->lengths[i] > rnn->steps)
            return AMP_CTX_FAIL(ctx, "sequence %lld has length %d; there are %lld steps",
                                (long long)i, (int)rnn->lengths[i], (long long)rnn->steps);
    return AMP_OK;
}

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

static void set_strides(const struct amp_rnn_layer *layer, struct amp_rnn *rnn)
{
    int64_t d = layer->directions, i = rnn->input, h = rnn->hidden;
    bool is_batch_first = layer->is_batch_first;
    rnn->x_step = is_batch_first ? i : rnn->batch * i;
    rnn->x_batch = is_batch_first ? rnn->steps * i : i;
    rnn->y_step = is_batch_first ? d * h : d * rnn->batch * h;
    rnn->y_batch = is_batch_first ? rnn->steps * d * h : h;
    rnn->state_batch = is_batch_first ? d * h : h;
    if (rnn->batch == 1)
        rnn->x_batch = i;
}

enum amp_status amp_rnn_read(const struct amp_ctx *ctx, struct amp_rnn_layer *layer)
{
    struct amp_rnn *rnn = &layer->common;
    enum amp_rnn_cell cell = cell_of(ctx->node);
    *layer = (struct amp_rnn_layer){.common = {.cell = cell, .gates = cells[cell].gates}};
    AMP_TRY(read_direction(ctx, layer));
    AMP_TRY(read_activations(ctx, &cells[cell], layer));
    AMP_TRY(read_sizes(ctx, layer, rnn));
    rnn->linear_before_reset = amp_node_int(ctx->node, "linear_before_reset", 0) != 0;
    rnn->input_forget = amp_node_int(ctx->node, "input_forget", 0) != 0;
    float clip = amp_node_float(ctx->node, "clip", 0);
    rnn->clip = clip > 0 ? (double)clip : (double)INFINITY;
    rnn->lengths = in_at(ctx, AMP_RNN_LENGTHS, 0);
    AMP_TRY(check_inputs(ctx, layer, rnn));
    set_strides(layer, rnn);
    return AMP_OK;
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
    struct amp_buffer *input[2];  /* W, where the kernel packs that */
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
    if (kernel->pack_input == NULL)
        return AMP_OK;
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

/* Whether all is there that run_plain reads. */
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

static enum amp_status run_plain(struct amp_ctx *ctx, const struct amp_rnn_layer *layer)
{
    static const struct amp_rnn_kernel *const kernels[AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = &amp_rnn_f32, [AMP_DOUBLE] = &amp_rnn_f64, [AMP_BFLOAT16] = &amp_rnn_bf16};
    const struct amp_rnn_kernel *kernel;
    AMP_PICK(ctx, kernel, kernels, ctx->in[AMP_RNN_X]->dtype);
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
            kernel->run(&rnn[d], &errors[d]);
    }
    /* In a region of one thread the kernel's own would have to make new threads. */
    for (int d = 0; d < layer->directions && !is_parallel; d++)
        kernel->run(&rnn[d], &errors[d]);
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
    bool is_half = dtype == AMP_BFLOAT16, is_first = prefers_dnnl(&layer, dtype);
    if (is_half && amp_rnn_bf16_suits(&layer.common))
        return run_plain(ctx, &layer);
    state_of(ctx)->is_by_dnnl = true;
    if (is_half && !is_first)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN is slower than float32 here");
    if (is_half)
        return amp_rnn_dnnl_run(ctx, &layer, &state_of(ctx)->dnnl);
    if (dtype != AMP_FLOAT || !is_first)
        return run_plain(ctx, &layer);
    ctx->err = &refusal;
    enum amp_status status = amp_rnn_dnnl_run(ctx, &layer, &state_of(ctx)->dnnl);
    ctx->err = err;
    if (status == AMP_UNSUPPORTED)
        return run_plain(ctx, &layer);
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

const struct amp_op amp_op_gru = {.name = "GRU",
                                  .newest = 22,
                                  .effect = AMP_COMPUTES,
                                  .native = NATIVE,
                                  .shape = rnn_shape,
                                  .run = rnn_run,
                                  .destroy = destroy_state,
                                  .reads = reads};

const struct amp_op amp_op_lstm = {.name = "LSTM",
                                   .newest = 22,
                                   .effect = AMP_COMPUTES,
                                   .native = NATIVE,
                                   .shape = rnn_shape,
                                   .run = rnn_run,
                                   .destroy = destroy_state,
                                   .reads = reads};

const struct amp_op amp_op_rnn = {.name = "RNN",
                                  .newest = 22,
                                  .effect = AMP_COMPUTES,
                                  .native = NATIVE,
                                  .shape = rnn_shape,
                                  .run = rnn_run,
                                  .destroy = destroy_state,
                                  .reads = reads};
