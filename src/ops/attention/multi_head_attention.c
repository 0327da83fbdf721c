/*
 * com.microsoft's MultiHeadAttention and Attention (ONNX Runtime, ContribOperators.md): reads which
 * input holds what. Attention first makes queries, keys and values of its input by a product with
 * weights; MultiHeadAttention gets them apart, or packed together. ops/attention/multi_head.c
 * computes.
 */
#include "core/array.h"
#include "ops/dnnl/prim.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"
#include "ops/attention/multi_head.h"

#include <stdlib.h>

#define MICROSOFT "com.microsoft"

static const struct amp_tensor *optional(const struct amp_ctx *ctx, uint32_t i)
{
    return amp_has_in(ctx, i) ? ctx->in[i] : NULL;
}

static enum amp_status read_heads(struct amp_ctx *ctx, int64_t *heads)
{
    *heads = amp_node_int(ctx->node, "num_heads", 0);
    if (*heads < 1 || *heads > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "num_heads %lld; 1 and above are possible", (long long)*heads);
    return AMP_OK;
}

/* Input I has a shape that does not fit; WANTED says what would. */
static enum amp_status fail_shape(struct amp_ctx *ctx, uint32_t i, const char *wanted)
{
    char text[200];
    return AMP_CTX_FAIL(ctx, "input %u of shape %s; %s", i,
                        amp_shape_text(&ctx->in[i]->shape, text, sizeof text), wanted);
}

/* Whether the shapes of inputs FROM to TO are known; an omitted one is. */
static bool are_known(const struct amp_ctx *ctx, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i <= to; i++)
        if (amp_has_in(ctx, i) && !amp_shape_is_known(&ctx->in[i]->shape))
            return false;
    return true;
}

/* ---- MultiHeadAttention -------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, ATTENTION_BIAS, PAST_KEY, PAST_VALUE };
enum { PRESENT_KEY = 1, PRESENT_VALUE };

/* Part PART of COUNT that lie behind one another in each head of input I, [batch, length, heads,
   COUNT, size]. */
static struct amp_heads packed(const struct amp_ctx *ctx, uint32_t i, int64_t count, int64_t part)
{
    const int64_t *dims = ctx->in[i]->shape.dims;
    int64_t head = count * dims[4];
    return (struct amp_heads){.tensor = ctx->in[i],
                              .first = part * dims[4],
                              .strides = {dims[1] * dims[2] * head, head, dims[2] * head, 1}};
}

/* Reads input I, [batch, length, heads * size] or [batch, heads, length, size], as VIEW, and its
   length and size. */
static enum amp_status read_plain(const struct amp_multi_head *multi, uint32_t i,
                                  struct amp_heads *view, int64_t *length, int64_t *size)
{
    struct amp_ctx *ctx = multi->ctx;
    int64_t batch = multi->batch, heads = multi->heads;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    bool is_flat = shape->rank == 3;
    if ((!is_flat && shape->rank != 4) || shape->dims[0] != batch ||
        (is_flat ? shape->dims[2] % heads != 0 : shape->dims[1] != heads))
        return fail_shape(ctx, i,
                          "[batch, length, heads * size] or [batch, heads, length, size] "
                          "is needed");
    *length = shape->dims[is_flat ? 1 : 2];
    *size = is_flat ? shape->dims[2] / heads : shape->dims[3];
    struct amp_shape seen = {4, {batch, heads, *length, *size}};
    *view = amp_heads_of(ctx->in[i], &seen, is_flat);
    return AMP_OK;
}

static enum amp_status read_packed(struct amp_ctx *ctx, uint32_t i, int64_t parts,
                                   struct amp_multi_head *multi)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    if (shape->rank != 5 || shape->dims[0] != multi->batch || shape->dims[2] != multi->heads ||
        shape->dims[3] != parts || (multi->size >= 0 && shape->dims[4] != multi->size))
        return fail_shape(ctx, i,
                          "without further inputs [batch, length, heads, parts, size] is "
                          "needed");
    multi->size = multi->v_size = shape->dims[4];
    multi->keys = shape->dims[1];
    multi->k = packed(ctx, i, parts, parts - 2);
    multi->v = packed(ctx, i, parts, parts - 1);
    return AMP_OK;
}

static enum amp_status read_keys(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    int64_t length, size;
    if (!amp_has_in(ctx, VALUE))
        return read_packed(ctx, KEY, 2, multi);
    AMP_TRY(read_plain(multi, KEY, &multi->k, &multi->keys, &size));
    if (size != multi->size)
        return fail_shape(ctx, KEY, "heads of the query's size are needed");
    AMP_TRY(read_plain(multi, VALUE, &multi->v, &length, &multi->v_size));
    return length == multi->keys ? AMP_OK : fail_shape(ctx, VALUE, "the key's length is needed");
}

static enum amp_status read_past(struct amp_ctx *ctx, uint32_t i, int64_t size,
                                 struct amp_multi_head *multi, struct amp_heads *view)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    if (shape->rank != 4 || shape->dims[0] != multi->batch || shape->dims[1] != multi->heads ||
        shape->dims[3] != size || (i == PAST_VALUE && shape->dims[2] != multi->past))
        return fail_shape(ctx, i, "[batch, heads, past length, size] is needed");
    multi->past = shape->dims[2];
    *view = amp_heads_of(ctx->in[i], shape, false);
    return AMP_OK;
}

static enum amp_status read_all_past(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    if (amp_has_in(ctx, PAST_KEY) != amp_has_in(ctx, PAST_VALUE))
        return AMP_CTX_FAIL(ctx, "past_key and past_value go together");
    if (!amp_has_in(ctx, PAST_KEY))
        return AMP_OK;
    AMP_TRY(read_past(ctx, PAST_KEY, multi->size, multi, &multi->past_k));
    return read_past(ctx, PAST_VALUE, multi->v_size, multi, &multi->past_v);
}

/* Reads and checks everything; the shapes are known. */
static enum amp_status read_multi(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    const struct amp_shape *query = &ctx->in[QUERY]->shape;
    *multi = (struct amp_multi_head){.ctx = ctx,
                                     .size = -1,
                                     .bias = optional(ctx, BIAS),
                                     .mask = optional(ctx, PADDING),
                                     .attention_bias = optional(ctx, ATTENTION_BIAS)};
    AMP_TRY(read_heads(ctx, &multi->heads));
    multi->batch = query->rank > 0 ? query->dims[0] : 0;
    if (!amp_has_in(ctx, KEY)) {
        AMP_TRY(read_packed(ctx, QUERY, 3, multi));
        multi->queries = multi->keys;
        multi->q = packed(ctx, QUERY, 3, 0);
    } else {
        AMP_TRY(read_plain(multi, QUERY, &multi->q, &multi->queries, &multi->size));
        AMP_TRY(read_keys(ctx, multi));
    }
    AMP_TRY(read_all_past(ctx, multi));
    return amp_multi_head_check(multi);
}

/* What can be said while dims are not known. */
static void guess_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *query = &ctx->in[QUERY]->shape;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    if (query->rank != 3 || !amp_has_in(ctx, VALUE) || ctx->in[VALUE]->shape.rank != 3)
        return;
    ctx->out[0]->shape = *query;
    ctx->out[0]->shape.dims[2] = ctx->in[VALUE]->shape.dims[2];
}

static enum amp_status shape_multi(struct amp_ctx *ctx)
{
    struct amp_multi_head multi;
    guess_shape(ctx);
    if (!are_known(ctx, QUERY, PAST_VALUE))
        return AMP_OK;
    AMP_TRY(read_multi(ctx, &multi));
    int64_t total = multi.past + multi.keys;
    const struct amp_shape shapes[] = {
        {3, {multi.batch, multi.queries, multi.heads * multi.v_size}},
        {4, {multi.batch, multi.heads, total, multi.size}},
        {4, {multi.batch, multi.heads, total, multi.v_size}}};
    for (uint32_t i = 0; i < ctx->n_out && i < AMP_COUNT(shapes); i++)
        ctx->out[i]->shape = shapes[i];
    return AMP_OK;
}

static enum amp_status run_multi(struct amp_ctx *ctx)
{
    struct amp_multi_head multi;
    AMP_TRY(read_multi(ctx, &multi));
    if (amp_has_out(ctx, PRESENT_KEY))
        multi.present_k.data = ctx->out[PRESENT_KEY]->data;
    if (amp_has_out(ctx, PRESENT_VALUE))
        multi.present_v.data = ctx->out[PRESENT_VALUE]->data;
    return amp_multi_head_run(&multi);
}

const struct amp_op amp_op_multi_head_attention = {
    .name = "MultiHeadAttention",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .flops = {amp_flops_attention, 6},
    .shape = shape_multi,
    .run = run_multi,
    .destroy = amp_attention_destroy,
};

/* ---- Attention ----------------------------------------------------------------------------- */

enum { INPUT, WEIGHTS, WEIGHTS_BIAS, MASK, PAST, SCORES_BIAS, PAST_LENGTH };
enum { PRESENT = 1 };

static enum amp_status check_options(struct amp_ctx *ctx)
{
    if (amp_node_int(ctx->node, "do_rotary", 0) != 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "do_rotary has no kernel");
    if (amp_node_int(ctx->node, "past_present_share_buffer", 0) != 0 ||
        amp_has_in(ctx, PAST_LENGTH))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "past_present_share_buffer has no kernel");
    return AMP_OK;
}

/* Sets the sizes of heads: those that qkv_hidden_sizes says, or a third of the weights' columns. */
static enum amp_status read_hidden(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    size_t count;
    const int64_t *given = amp_node_ints(ctx->node, "qkv_hidden_sizes", &count);
    int64_t columns = ctx->in[WEIGHTS]->shape.dims[1], hidden[3] = {columns / 3, 0, columns / 3};
    if (given != NULL && (count != 3 || given[0] != given[1] || given[0] < 0 || given[2] < 0 ||
                          given[0] > columns || given[2] > columns))
        return AMP_CTX_FAIL(ctx, "qkv_hidden_sizes must be three, the first two of them equal");
    if (given != NULL) {
        hidden[0] = given[0];
        hidden[2] = given[2];
    }
    if (2 * hidden[0] + hidden[2] != columns || hidden[0] % multi->heads != 0 ||
        hidden[2] % multi->heads != 0)
        return fail_shape(ctx, WEIGHTS,
                          "columns for queries, keys and values of all heads are "
                          "needed");
    multi->size = hidden[0] / multi->heads;
    multi->v_size = hidden[2] / multi->heads;
    return AMP_OK;
}

/* PAST and PRESENT are [2, batch, heads, length, size]: keys, then values. */
static enum amp_status read_caches(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    if ((amp_has_in(ctx, PAST) || amp_has_out(ctx, PRESENT)) && multi->size != multi->v_size)
        return AMP_CTX_FAIL(ctx, "a past or present needs keys and values of one size");
    if (!amp_has_in(ctx, PAST))
        return AMP_OK;
    const struct amp_shape *shape = &ctx->in[PAST]->shape;
    if (shape->rank != 5 || shape->dims[0] != 2 || shape->dims[1] != multi->batch ||
        shape->dims[2] != multi->heads || shape->dims[4] != multi->size)
        return fail_shape(ctx, PAST, "[2, batch, heads, past length, size] is needed");
    struct amp_shape half = {4, {multi->batch, multi->heads, shape->dims[3], multi->size}};
    multi->past = shape->dims[3];
    multi->past_k = multi->past_v = amp_heads_of(ctx->in[PAST], &half, false);
    multi->past_v.first = amp_shape_count(&half);
    return AMP_OK;
}

static enum amp_status read_attention(struct amp_ctx *ctx, struct amp_multi_head *multi)
{
    const struct amp_shape *input = &ctx->in[INPUT]->shape, *weights = &ctx->in[WEIGHTS]->shape;
    *multi = (struct amp_multi_head){
        .ctx = ctx, .mask = optional(ctx, MASK), .attention_bias = optional(ctx, SCORES_BIAS)};
    AMP_TRY(check_options(ctx));
    AMP_TRY(read_heads(ctx, &multi->heads));
    if (input->rank != 3 || weights->rank != 2 || weights->dims[0] != input->dims[2])
        return fail_shape(ctx, WEIGHTS,
                          "an input [batch, length, size] and weights [size, "
                          "columns] are needed");
    AMP_TRY(read_hidden(ctx, multi));
    multi->batch = input->dims[0];
    multi->queries = multi->keys = input->dims[1];
    AMP_TRY(read_caches(ctx, multi));
    struct amp_shape wanted = {1, {weights->dims[1]}};
    if (amp_has_in(ctx, WEIGHTS_BIAS) && !amp_shape_equal(&ctx->in[WEIGHTS_BIAS]->shape, &wanted))
        return fail_shape(ctx, WEIGHTS_BIAS, "one value for each column of the weights is needed");
    return amp_multi_head_check(multi);
}

static enum amp_status shape_attention(struct amp_ctx *ctx)
{
    const struct amp_shape *input = &ctx->in[INPUT]->shape;
    struct amp_multi_head multi;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    if (input->rank == 3 && ctx->in[WEIGHTS]->shape.rank == 2 &&
        amp_node_attr(ctx->node, "qkv_hidden_sizes") == NULL) {
        int64_t columns = ctx->in[WEIGHTS]->shape.dims[1];
        ctx->out[0]->shape = *input;
        ctx->out[0]->shape.dims[2] = columns < 0 ? AMP_DIM_UNKNOWN : columns / 3;
    }
    if (!are_known(ctx, INPUT, PAST_LENGTH))
        return AMP_OK;
    AMP_TRY(read_attention(ctx, &multi));
    ctx->out[0]->shape =
        (struct amp_shape){3, {multi.batch, multi.queries, multi.heads * multi.v_size}};
    if (ctx->n_out > PRESENT)
        ctx->out[PRESENT]->shape = (struct amp_shape){
            5, {2, multi.batch, multi.heads, multi.past + multi.keys, multi.size}};
    return AMP_OK;
}

/* What a node keeps. */
struct state {
    void *projection, *attention;
};

/* Sets MADE, [batch, length, columns], to the product of input and weights plus the bias. */
static enum amp_status project(struct amp_ctx *ctx, struct state *state, struct amp_tensor *made)
{
    const int64_t *input = ctx->in[INPUT]->shape.dims, *weights = ctx->in[WEIGHTS]->shape.dims;
    *made = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {3, {input[0], input[1], weights[1]}}};
    AMP_TRY(amp_tensor_alloc(made, ctx->err));
    struct amp_matmul product = {.m = input[0] * input[1],
                                 .k = input[2],
                                 .n = weights[1],
                                 .alpha = 1,
                                 .beta = amp_has_in(ctx, WEIGHTS_BIAS) ? 1 : 0,
                                 .c_dims = {1, weights[1]}};
    struct amp_ctx inner = *ctx;
    inner.n_in = WEIGHTS_BIAS + 1 < ctx->n_in ? WEIGHTS_BIAS + 1 : ctx->n_in;
    inner.out = &made;
    inner.n_out = 1;
    inner.state = &state->projection;
    return amp_matmul_run(&inner, &product);
}

/* Shows the parts of MADE as queries, keys and values. */
static void view_parts(struct amp_multi_head *multi, const struct amp_tensor *made)
{
    const int64_t *dims = made->shape.dims;
    int64_t hidden = multi->heads * multi->size;
    multi->q =
        (struct amp_heads){.tensor = made, .strides = {dims[1] * dims[2], multi->size, dims[2], 1}};
    multi->k = multi->v = multi->q;
    multi->k.first = hidden;
    multi->v.first = 2 * hidden;
    multi->v.strides[1] = multi->v_size;
}

static enum amp_status run_attention(struct amp_ctx *ctx)
{
    struct amp_multi_head multi;
    struct amp_tensor made = {.data = NULL};
    AMP_TRY(read_attention(ctx, &multi));
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    struct state *state = *ctx->state;
    struct amp_ctx inner = *ctx;
    inner.state = &state->attention;
    multi.ctx = &inner;
    enum amp_status status = project(ctx, state, &made);
    view_parts(&multi, &made);
    if (amp_has_out(ctx, PRESENT)) {
        multi.present_k.data = ctx->out[PRESENT]->data;
        multi.present_v.data =
            (float *)ctx->out[PRESENT]->data + amp_shape_product(&ctx->out[PRESENT]->shape, 1, 5);
    }
    if (status == AMP_OK)
        status = amp_multi_head_run(&multi);
    amp_tensor_release(&made);
    return status;
}

static void destroy_attention(void *kept)
{
    struct state *state = kept;
    if (state == NULL)
        return;
    amp_prim_destroy(state->projection);
    amp_attention_destroy(state->attention);
    free(state);
}

static bool reads(const void *kept, size_t index)
{
    return index != WEIGHTS || amp_prim_reads(((const struct state *)kept)->projection, WEIGHTS);
}

const struct amp_op amp_op_ms_attention = {
    .name = "Attention",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .flops = {amp_flops_projected_attention, 4},
    .twins = {"T1", "T2"},
    /* queries and keys; values */ .shape = shape_attention,
    .run = run_attention,
    .destroy = destroy_attention,
    .reads = reads,
};
