/*
 * Computes scaled dot product attention: takes queries, keys and values head by head and a bias for
 * the scores, and gives their weighted values. How they are stored in an operator's inputs, and
 * what masks and caches there are, the operator knows.
 */
#include "ops/attention/scaled_dot_product.h"

#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/strided_loop.h"
#include "ops/matmul/matmul.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct amp_op amp_op_softmax;

/* ---- heads ------------------------------------------------------------------------------------
 */

struct amp_heads amp_heads_of(const struct amp_tensor *tensor, const struct amp_shape *shape,
                              bool is_flat)
{
    struct amp_heads heads = {.tensor = tensor};
    amp_strides(shape, heads.strides);
    if (is_flat) {
        heads.strides[2] = shape->dims[1] * shape->dims[3];
        heads.strides[1] = shape->dims[3];
    }
    return heads;
}

static void add_heads(struct amp_loop *loop, const struct amp_heads *heads)
{
    size_t size = amp_dtype_bits(heads->tensor->dtype) / 8;
    amp_loop_view(loop, (char *)heads->tensor->data + (size_t)heads->first * size, size,
                  heads->strides);
}

void amp_heads_copy(const struct amp_heads *to, const struct amp_heads *from,
                    const struct amp_shape *shape)
{
    struct amp_loop loop;
    amp_loop_init(&loop, AMP_HEADS_RANK, shape->dims);
    add_heads(&loop, to);
    add_heads(&loop, from);
    amp_loop_run(&loop, amp_loop_copy(to->tensor->dtype), NULL);
}

/* ---- products ---------------------------------------------------------------------------------
 */

/* What a node keeps: the primitives of its three steps. */
struct state {
    void *scores, *softmax, *values;
};

struct run {
    const struct amp_attention *attention;
    struct state *state;
    struct amp_tensor scores; /* [batch, heads, queries, keys]; becomes the probabilities */
    struct amp_tensor y;      /* [batch, heads, queries, v_size] */
    int64_t rows;             /* of the scores */
    struct amp_buffer *masked;
    bool *is_masked; /* for each row, in MASKED: no key is allowed */
};

/* ---- scores -------------------------------------------------------------------------------- */

/* Caps N scores by tanh. */
static void cap_f32(void *data, int64_t n, double cap)
{
    float *scores = data;
    for (int64_t i = 0; i < n; i++)
        scores[i] = (float)cap * tanhf(scores[i] / (float)cap);
}

static void cap_f64(void *data, int64_t n, double cap)
{
    double *scores = data;
    for (int64_t i = 0; i < n; i++)
        scores[i] = cap * tanh(scores[i] / cap);
}

static void *row_of(const struct run *run, int64_t row)
{
    size_t size = amp_dtype_bits(run->scores.dtype) / 8;
    return (char *)run->scores.data + (size_t)(row * run->attention->keys) * size;
}

static void cap_scores(const struct run *run)
{
    double cap = run->attention->cap;
    int64_t keys = run->attention->keys, rows = run->rows;
    bool is_f32 = run->scores.dtype == AMP_FLOAT;
    if (!(cap > 0))
        return;
#pragma omp parallel for if (rows * keys >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        (is_f32 ? cap_f32 : cap_f64)(row_of(run, i), keys, cap);
}

static void bias_scores(const struct run *run)
{
    const struct amp_attention *attention = run->attention;
    if (attention->bias == NULL)
        return;
#pragma omp parallel for if (run->rows * attention->keys >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < run->rows; i++) {
        int64_t index[3];
        amp_index_at(3, run->scores.shape.dims, i, index);
        run->is_masked[i] = attention->bias(attention, index, row_of(run, i));
    }
}

/* A query that may see no key gets zeros where softmax gives NaN. */
static void clear_masked(const struct run *run)
{
    size_t size = (size_t)run->attention->keys * amp_dtype_bits(run->scores.dtype) / 8;
    for (int64_t i = 0; i < run->rows; i++)
        if (run->is_masked[i])
            memset(row_of(run, i), 0, size);
}

/* Copies the scores to their output if they are wanted as they are at STAGE. */
static void show(const struct run *run, int stage)
{
    if (run->attention->shown != NULL && run->attention->shown_stage == stage)
        memcpy(run->attention->shown->data, run->scores.data, amp_tensor_size(&run->scores));
}

static enum amp_status modify(struct run *run, int stage)
{
    const struct amp_attention *attention = run->attention;
    return attention->modify == NULL ? AMP_OK : attention->modify(attention, stage, &run->scores);
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* One of the two products: Y = PRODUCT A B for each head of keys, whose queries are rows of one
   matrix. */
struct head_product {
    const struct amp_tensor *a, *b;
    struct amp_tensor *y;
    struct amp_matmul product; /* without batch dims and m */
    void **state;
};

static enum amp_status multiply(const struct run *run, const struct head_product *p)
{
    static const bool is_constant[2] = {false, false};
    const struct amp_attention *attention = run->attention;
    struct amp_matmul product = p->product;
    struct amp_ctx ctx = *attention->ctx;
    ctx.in = (const struct amp_tensor *[]){p->a, p->b};
    ctx.n_in = 2;
    ctx.out = (struct amp_tensor *[]){p->y};
    ctx.n_out = 1;
    ctx.is_constant = is_constant;
    ctx.state = p->state;
    product.batch_rank = 1;
    product.a_batch[0] = product.b_batch[0] = attention->batch * attention->kv_heads;
    product.m = attention->heads / attention->kv_heads * attention->queries;
    return amp_matmul_run(&ctx, &product);
}

static enum amp_status make_scores(struct run *run)
{
    const struct amp_attention *attention = run->attention;
    const struct head_product product = {.a = attention->q,
                                         .b = attention->k,
                                         .y = &run->scores,
                                         .product = {.alpha = (float)attention->scale,
                                                     .is_b_transposed = true,
                                                     .n = attention->keys,
                                                     .k = attention->size},
                                         .state = &run->state->scores};
    AMP_TRY(multiply(run, &product));
    show(run, AMP_SCORES_MULTIPLIED);
    cap_scores(run);
    show(run, AMP_SCORES_CAPPED);
    bias_scores(run);
    show(run, AMP_SCORES_BIASED);
    return modify(run, AMP_SCORES_BIASED);
}

/* The factor by which the probabilities of N float32 scores shrink when one of 0 joins them. */
static double smooth_factor(const float *scores, int64_t n)
{
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, (double)scores[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)scores[i] - largest);
    return sum / (sum + exp(-largest));
}

static enum amp_status make_probabilities(struct run *run)
{
    const struct amp_attention *attention = run->attention;
    struct amp_buffer *buffer = NULL;
    float *factors = NULL;
    if (attention->is_smooth) {
        buffer = amp_scratch(attention->ctx, "a factor per row of scores", (size_t)run->rows,
                             sizeof *factors);
        if (buffer == NULL)
            return attention->ctx->err->status;
        factors = buffer->data;
        for (int64_t i = 0; i < run->rows; i++)
            factors[i] = (float)smooth_factor(row_of(run, i), attention->keys);
    }
    struct amp_call call = {.op = &amp_op_softmax,
                            .version = 13,
                            .in = {&run->scores},
                            .n_in = 1,
                            .out = {&run->scores},
                            .n_out = 1,
                            .state = &run->state->softmax};
    enum amp_status status = amp_call_run(attention->ctx, &call);
    for (int64_t i = 0; i < run->rows && factors != NULL; i++) {
        float *row = row_of(run, i);
        for (int64_t key = 0; key < attention->keys; key++)
            row[key] *= factors[i];
    }
    amp_buffer_unref(buffer);
    clear_masked(run);
    show(run, AMP_SCORES_PROBABILITIES);
    return status == AMP_OK ? modify(run, AMP_SCORES_PROBABILITIES) : status;
}

static enum amp_status make_y(struct run *run, struct amp_tensor *y, bool is_flat)
{
    const struct amp_attention *attention = run->attention;
    const struct head_product product = {
        .a = &run->scores,
        .b = attention->v,
        .y = &run->y,
        .product = {.alpha = 1, .n = attention->v_size, .k = attention->keys},
        .state = &run->state->values};
    AMP_TRY(multiply(run, &product));
    if (!is_flat)
        return AMP_OK;
    struct amp_heads to = amp_heads_of(y, &run->y.shape, true);
    struct amp_heads from = amp_heads_of(&run->y, &run->y.shape, false);
    amp_heads_copy(&to, &from, &run->y.shape);
    return AMP_OK;
}

static enum amp_status allocate(struct run *run, const struct amp_tensor *y, bool is_flat)
{
    const struct amp_attention *a = run->attention;
    run->scores.dtype = run->y.dtype = a->q->dtype;
    run->scores.shape =
        (struct amp_shape){AMP_HEADS_RANK, {a->batch, a->heads, a->queries, a->keys}};
    run->y.shape = (struct amp_shape){AMP_HEADS_RANK, {a->batch, a->heads, a->queries, a->v_size}};
    run->rows = amp_shape_product(&run->scores.shape, 0, 3);
    AMP_TRY(amp_tensor_alloc(&run->scores, a->ctx->err));
    run->masked =
        amp_scratch(a->ctx, "a flag per row of scores", (size_t)run->rows, sizeof *run->is_masked);
    if (run->masked == NULL)
        return a->ctx->err->status;
    run->is_masked = memset(run->masked->data, 0, (size_t)run->rows * sizeof *run->is_masked);
    if (is_flat)
        return amp_tensor_alloc(&run->y, a->ctx->err);
    run->y.data = y->data;
    return AMP_OK;
}

static enum amp_status run_steps(struct run *run, struct amp_tensor *y, bool is_flat)
{
    AMP_TRY(allocate(run, y, is_flat));
    AMP_TRY(make_scores(run));
    AMP_TRY(make_probabilities(run));
    return make_y(run, y, is_flat);
}

enum amp_status amp_attention_run(struct amp_attention *attention, struct amp_tensor *y,
                                  bool is_flat)
{
    struct run run = {.attention = attention};
    void **state = attention->ctx->state;
    if (*state == NULL)
        *state = amp_xcalloc(1, sizeof(struct state));
    run.state = *state;
    enum amp_status status = run_steps(&run, y, is_flat);
    amp_tensor_release(&run.scores);
    amp_tensor_release(&run.y);
    amp_buffer_unref(run.masked);
    return status;
}

void amp_attention_destroy(void *state)
{
    struct state *kept = state;
    if (kept == NULL)
        return;
    amp_prim_destroy(kept->scores);
    amp_prim_destroy(kept->softmax);
    amp_prim_destroy(kept->values);
    free(kept);
}
