/*
 * FlexAttention-1 of ai.onnx.preview: Y = P V, P = softmax(scale Q K'), where the model itself may
 * change the scores before the softmax and the probabilities after it, in attributes score_mod and
 * prob_mod: graphs of one input and one output of the same shape, [batch, heads, queries, keys].
 * Heads of keys and values are shared by groups of query heads.
 */
#include "ops/attention/scaled_dot_product.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/kernel/kernel.h"
#include "ops/control/subgraph.h"

#include <math.h>

enum { Q, K, V };

/* A dim below 0 is not known. */
struct sizes {
    int64_t batch, heads, kv_heads, queries, keys, size, v_size;
};

/* Input I has the dims NEEDED; what is not known of those is taken from it. */
static enum amp_status agree(struct amp_ctx *ctx, uint32_t i, int64_t *const needed[4])
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    char text[200], text_needed[200];
    bool fits = shape->rank < 0 || shape->rank == AMP_HEADS_RANK;
    for (int d = 0; fits && d < shape->rank; d++) {
        fits = shape->dims[d] < 0 || *needed[d] < 0 || shape->dims[d] == *needed[d];
        if (*needed[d] < 0)
            *needed[d] = shape->dims[d];
    }
    if (fits)
        return AMP_OK;
    struct amp_shape wanted = {4, {*needed[0], *needed[1], *needed[2], *needed[3]}};
    return AMP_CTX_FAIL(ctx, "input %u has shape %s; %s is needed", i,
                        amp_shape_text(shape, text, sizeof text),
                        amp_shape_text(&wanted, text_needed, sizeof text_needed));
}

static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *s)
{
    *s = (struct sizes){-1, -1, -1, -1, -1, -1, -1};
    AMP_TRY(agree(ctx, Q, (int64_t *[]){&s->batch, &s->heads, &s->queries, &s->size}));
    AMP_TRY(agree(ctx, K, (int64_t *[]){&s->batch, &s->kv_heads, &s->keys, &s->size}));
    AMP_TRY(agree(ctx, V, (int64_t *[]){&s->batch, &s->kv_heads, &s->keys, &s->v_size}));
    bool is_known = s->heads >= 0 && s->kv_heads >= 0;
    if (is_known && (s->kv_heads == 0 || s->heads % s->kv_heads != 0))
        return AMP_CTX_FAIL(ctx, "%lld heads of queries; %lld of keys do not divide them",
                            (long long)s->heads, (long long)s->kv_heads);
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes s;
    AMP_TRY(read_sizes(ctx, &s));
    ctx->out[0]->shape = (struct amp_shape){4, {s.batch, s.heads, s.queries, s.v_size}};
    return AMP_OK;
}

/* The dtype in which the model's graphs take and give the scores. */
static enum amp_status softmax_dtype(const struct amp_ctx *ctx, enum amp_dtype *dtype)
{
    int64_t fallback = ctx->in[Q]->dtype == AMP_DOUBLE ? AMP_DOUBLE : AMP_FLOAT;
    int64_t number = amp_node_int(ctx->node, "softmax_precision", fallback);
    *dtype = amp_dtype_is_valid(number) ? (enum amp_dtype)number : AMP_UNDEFINED;
    if (*dtype == AMP_DOUBLE || amp_dtype_is_autocast(*dtype))
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "softmax_precision is %lld; a float type is needed",
                        (long long)number);
}

/* Puts what graph ID makes of the scores in their place. */
static enum amp_status run_graph(const struct amp_ctx *ctx, uint32_t id, enum amp_dtype dtype,
                                 struct amp_tensor *scores)
{
    struct amp_tensor given, made = {.dtype = AMP_UNDEFINED};
    AMP_TRY(amp_tensor_cast_copy(scores, dtype, &given, ctx->err));
    struct amp_tensor *inputs[] = {&given};
    enum amp_status status =
        amp_ctx_run_body(ctx, &(struct amp_body_call){id, inputs, 1, &made, 1});
    if (status == AMP_OK && (made.dtype != dtype || !amp_shape_equal(&made.shape, &scores->shape)))
        status = AMP_CTX_FAIL(ctx, "the graph that changes the scores gives another shape or type");
    if (status == AMP_OK)
        status = amp_tensor_cast(&made, scores, NULL, ctx->err);
    amp_tensor_release(&given);
    amp_tensor_release(&made);
    return status;
}

static enum amp_status modify(const struct amp_attention *attention, int stage,
                              struct amp_tensor *scores)
{
    const struct amp_ctx *ctx = attention->ctx;
    const char *name = stage == AMP_SCORES_BIASED ? "score_mod" : "prob_mod";
    enum amp_dtype dtype;
    if (amp_node_attr(ctx->node, name) == NULL)
        return AMP_OK;
    AMP_TRY(softmax_dtype(ctx, &dtype));
    uint32_t id = amp_subgraph_id(ctx, name);
    const struct amp_graph *graph = &ctx->model->graphs[id];
    if (graph->inputs.count != 1 || graph->outputs.count != 1)
        return AMP_CTX_FAIL(ctx, "%s has %zu inputs and %zu outputs; one of each is needed", name,
                            graph->inputs.count, graph->outputs.count);
    return run_graph(ctx, id, dtype, scores);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct sizes s;
    enum amp_dtype dtype = ctx->in[Q]->dtype;
    if (dtype != AMP_FLOAT && dtype != AMP_DOUBLE)
        return amp_no_kernel(ctx, dtype);
    AMP_TRY(read_sizes(ctx, &s));
    float scale = (float)(1 / sqrt((double)s.size));
    struct amp_attention attention = {.ctx = ctx,
                                      .batch = s.batch,
                                      .heads = s.heads,
                                      .kv_heads = s.kv_heads,
                                      .queries = s.queries,
                                      .keys = s.keys,
                                      .size = s.size,
                                      .v_size = s.v_size,
                                      .scale = (double)amp_node_float(ctx->node, "scale", scale),
                                      .q = ctx->in[Q],
                                      .k = ctx->in[K],
                                      .v = ctx->in[V],
                                      .modify = modify};
    return amp_attention_run(&attention, ctx->out[0], false);
}

const struct amp_op amp_op_flex_attention = {.name = "FlexAttention",
                                             .domain = "ai.onnx.preview",
                                             .newest = 1,
                                             .effect = AMP_COMPUTES,
                                             .native = AMP_BY_DNNL | AMP_NATIVE_C,
                                             .shape = shape,
                                             .run = run,
                                             .destroy = amp_attention_destroy};
