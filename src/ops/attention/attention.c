/*
 * Attention: softmax(scale Q K' + bias) V with heads side by side or as a dim of their own, keys
 * and values from a cache, shared by groups of query heads, and masks (ONNX Attention-23 to -25).
 * It computes in float32 or float64, never below: attribute softmax_precision asks for no more.
 */
#include "ops/attention/scaled_dot_product.h"

#include "ops/flops.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/float64_call.h"

#include <math.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, LENGTHS }; /* inputs */
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };        /* outputs */

/* A dim below 0 is not known. */
struct sizes {
    int64_t batch, heads, kv_heads; /* heads: a multiple of kv_heads */
    int64_t queries, keys, past;    /* sequence lengths; keys without those of the past */
    int64_t size, v_size;           /* of a head */
    bool is_flat;                   /* inputs are [batch, length, heads * size] */
};

static int64_t total_of(const struct sizes *sizes)
{
    return sizes->keys < 0 || sizes->past < 0 ? AMP_DIM_UNKNOWN : sizes->keys + sizes->past;
}

/* ---- shapes -------------------------------------------------------------------------------- */

/* Sets or checks *SIZE by DIM; either may be unknown. */
static enum amp_status agree(struct amp_ctx *ctx, const char *what, uint32_t input, int64_t dim,
                             int64_t *size)
{
    if (*size >= 0 && dim >= 0 && *size != dim)
        return AMP_CTX_FAIL(ctx, "input %u has a %s of %lld, %lld is needed", input, what,
                            (long long)dim, (long long)*size);
    if (*size < 0)
        *size = dim;
    return AMP_OK;
}

/* Where the dims of an input go, which may be known already. */
struct dims {
    int64_t *batch, *heads, *length, *size;
};

/* Reads input I, [batch, heads, length, size] or [batch, length, heads * size], into DIMS. */
static enum amp_status read_input(struct amp_ctx *ctx, uint32_t i, struct dims dims)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    bool is_flat = shape->rank == 3;
    AMP_TRY(agree(ctx, "batch", i, shape->dims[0], dims.batch));
    AMP_TRY(agree(ctx, "length", i, shape->dims[is_flat ? 1 : 2], dims.length));
    if (!is_flat) {
        AMP_TRY(agree(ctx, "number of heads", i, shape->dims[1], dims.heads));
        return agree(ctx, "head size", i, shape->dims[3], dims.size);
    }
    const char *attribute = i == Q ? "q_num_heads" : "kv_num_heads";
    int64_t count = amp_node_int(ctx->node, attribute, 0), dim = shape->dims[2];
    if (count <= 0 || (dim >= 0 && dim % count != 0))
        return AMP_CTX_FAIL(ctx, "%s %lld; input %u needs a divisor of its last dimension, %lld",
                            attribute, (long long)count, i, (long long)dim);
    *dims.heads = count;
    return agree(ctx, "head size", i, dim < 0 ? AMP_DIM_UNKNOWN : dim / count, dims.size);
}

static enum amp_status read_past(struct amp_ctx *ctx, uint32_t i, struct sizes *sizes,
                                 int64_t *size)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    if (shape->rank >= 0 && shape->rank != 4)
        return AMP_CTX_FAIL(ctx, "input %u has rank %d; 4 is needed", i, shape->rank);
    if (shape->rank < 0)
        return AMP_OK;
    AMP_TRY(agree(ctx, "batch", i, shape->dims[0], &sizes->batch));
    AMP_TRY(agree(ctx, "number of heads", i, shape->dims[1], &sizes->kv_heads));
    AMP_TRY(agree(ctx, "length", i, shape->dims[2], &sizes->past));
    return agree(ctx, "head size", i, shape->dims[3], size);
}

/* Reads and checks all but the mask; the ranks of Q, K and V must be known. */
static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *sizes)
{
    bool has_past = amp_has_in(ctx, PAST_KEY);
    *sizes = (struct sizes){-1, -1, -1, -1, -1, has_past ? -1 : 0, -1, -1, false};
    int rank = ctx->in[Q]->shape.rank;
    for (uint32_t i = Q; i <= V; i++)
        if (ctx->in[i]->shape.rank != rank || (rank != 3 && rank != 4))
            return AMP_CTX_FAIL(ctx, "input %u has rank %d, input 0 %d; both need 3 or both 4", i,
                                ctx->in[i]->shape.rank, rank);
    sizes->is_flat = rank == 3;
    AMP_TRY(read_input(ctx, Q,
                       (struct dims){&sizes->batch, &sizes->heads, &sizes->queries, &sizes->size}));
    AMP_TRY(read_input(ctx, K,
                       (struct dims){&sizes->batch, &sizes->kv_heads, &sizes->keys, &sizes->size}));
    AMP_TRY(read_input(
        ctx, V, (struct dims){&sizes->batch, &sizes->kv_heads, &sizes->keys, &sizes->v_size}));
    if (has_past != amp_has_in(ctx, PAST_VALUE))
        return AMP_CTX_FAIL(ctx, "past_key and past_value go together");
    if (has_past) {
        AMP_TRY(read_past(ctx, PAST_KEY, sizes, &sizes->size));
        AMP_TRY(read_past(ctx, PAST_VALUE, sizes, &sizes->v_size));
    }
    bool is_known = sizes->heads >= 0 && sizes->kv_heads >= 0;
    if (is_known && (sizes->kv_heads == 0 || sizes->heads % sizes->kv_heads != 0))
        return AMP_CTX_FAIL(ctx, "%lld heads of queries; %lld of keys do not divide them",
                            (long long)sizes->heads, (long long)sizes->kv_heads);
    return AMP_OK;
}

/* Whether a mask that is too short stands for -infinity (or false) at its end. */
static bool is_padded(const struct amp_ctx *ctx, const struct amp_shape *mask, int64_t total)
{
    return ctx->node->since_version >= 24 && mask->rank > 0 && mask->dims[mask->rank - 1] < total;
}

static enum amp_status check_mask(struct amp_ctx *ctx, const struct sizes *sizes)
{
    if (!amp_has_in(ctx, MASK) || ctx->in[MASK]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *mask = &ctx->in[MASK]->shape;
    int64_t all[] = {sizes->batch, sizes->heads, sizes->queries, total_of(sizes)};
    bool fits = mask->rank <= 4;
    for (int i = 0; fits && i < mask->rank; i++) {
        int64_t dim = mask->dims[i], needed = all[4 - mask->rank + i];
        bool may_differ = i == mask->rank - 1 && is_padded(ctx, mask, needed);
        fits = dim == 1 || dim < 0 || needed < 0 || dim == needed || may_differ;
    }
    struct amp_shape scores = {4, {all[0], all[1], all[2], all[3]}};
    char text[200], text_scores[200];
    if (!fits)
        return AMP_CTX_FAIL(ctx, "a mask of shape %s does not broadcast to the scores, shape %s",
                            amp_shape_text(mask, text, sizeof text),
                            amp_shape_text(&scores, text_scores, sizeof text_scores));
    return AMP_OK;
}

static enum amp_status check_lengths(struct amp_ctx *ctx, struct sizes *sizes)
{
    if (!amp_has_in(ctx, LENGTHS) || ctx->in[LENGTHS]->shape.rank < 0)
        return AMP_OK;
    if (amp_has_in(ctx, PAST_KEY) || ctx->in[LENGTHS]->shape.rank != 1)
        return AMP_CTX_FAIL(ctx, "nonpad_kv_seqlen is a vector, and not used together with a past");
    return agree(ctx, "length", LENGTHS, ctx->in[LENGTHS]->shape.dims[0], &sizes->batch);
}

static struct amp_shape shape_of(int64_t batch, int64_t heads, int64_t length, int64_t size)
{
    return (struct amp_shape){4, {batch, heads, length, size}};
}

static struct amp_shape y_shape(const struct sizes *sizes)
{
    if (!sizes->is_flat)
        return shape_of(sizes->batch, sizes->heads, sizes->queries, sizes->v_size);
    int64_t width = sizes->v_size < 0 ? AMP_DIM_UNKNOWN : sizes->heads * sizes->v_size;
    return (struct amp_shape){3, {sizes->batch, sizes->queries, width}};
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes sizes;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    for (uint32_t i = Q; i <= V; i++)
        if (ctx->in[i]->shape.rank < 0)
            return AMP_OK;
    AMP_TRY(read_sizes(ctx, &sizes));
    AMP_TRY(check_lengths(ctx, &sizes));
    AMP_TRY(check_mask(ctx, &sizes));
    int64_t total = total_of(&sizes);
    const struct amp_shape shapes[] = {y_shape(&sizes),
                                       shape_of(sizes.batch, sizes.kv_heads, total, sizes.size),
                                       shape_of(sizes.batch, sizes.kv_heads, total, sizes.v_size),
                                       shape_of(sizes.batch, sizes.heads, sizes.queries, total)};
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape = shapes[i];
    return AMP_OK;
}

/* ---- operands ------------------------------------------------------------------------------ */

struct run {
    struct amp_ctx *ctx;
    struct sizes sizes;
    struct amp_tensor q, k, v; /* [batch, heads, length, size] */
    struct amp_tensor bias;    /* the mask as numbers to add; no data: there is none */
};

/* Copies FROM, of SHAPE, into TO from position START of its lengths on. */
static void copy_heads(const struct amp_tensor *to, int64_t start, const struct amp_tensor *from,
                       bool is_flat, const struct amp_shape *shape)
{
    struct amp_heads target = amp_heads_of(to, &to->shape, false);
    struct amp_heads source = amp_heads_of(from, shape, is_flat);
    target.first = start * target.strides[2];
    amp_heads_copy(&target, &source, shape);
}

/* Where queries, keys or values come from: an input, an input with what came before and an output
   for both; 0: none of the kind. */
struct origin {
    uint32_t input, past, present;
};

/* Sets TENSOR of DIMS to the input of FROM after its past (if there), as [batch, heads, length,
   size]; made in the output present where that is wanted. */
static enum amp_status gather(struct run *run, struct origin from, const struct amp_shape *dims,
                              struct amp_tensor *tensor)
{
    const uint32_t input = from.input, past = from.past, present = from.present;
    struct amp_ctx *ctx = run->ctx;
    struct amp_shape of_input = *dims;
    int64_t start = past ? run->sizes.past : 0;
    of_input.dims[2] -= start;
    *tensor = (struct amp_tensor){.dtype = ctx->in[input]->dtype, .shape = *dims};
    if (present && amp_has_out(ctx, present)) {
        tensor->data = ctx->out[present]->data;
    } else if (!run->sizes.is_flat && (!past || !amp_has_in(ctx, past))) {
        tensor->data = ctx->in[input]->data;
        return AMP_OK;
    } else {
        AMP_TRY(amp_tensor_alloc(tensor, ctx->err));
    }
    copy_heads(tensor, start, ctx->in[input], run->sizes.is_flat, &of_input);
    if (past && amp_has_in(ctx, past))
        copy_heads(tensor, 0, ctx->in[past], false, &ctx->in[past]->shape);
    return AMP_OK;
}

static enum amp_status gather_all(struct run *run)
{
    const struct sizes *s = &run->sizes;
    int64_t total = total_of(s);
    struct amp_shape q = shape_of(s->batch, s->heads, s->queries, s->size);
    struct amp_shape k = shape_of(s->batch, s->kv_heads, total, s->size);
    struct amp_shape v = shape_of(s->batch, s->kv_heads, total, s->v_size);
    AMP_TRY(gather(run, (struct origin){.input = Q}, &q, &run->q));
    AMP_TRY(gather(run, (struct origin){K, PAST_KEY, PRESENT_KEY}, &k, &run->k));
    return gather(run, (struct origin){V, PAST_VALUE, PRESENT_VALUE}, &v, &run->v);
}

/* ---- bias ---------------------------------------------------------------------------------- */

/* The mask as float64, whatever it holds. */
static enum amp_status convert_mask(struct run *run)
{
    if (!amp_has_in(run->ctx, MASK))
        return AMP_OK;
    const struct amp_tensor *mask = run->ctx->in[MASK];
    run->bias = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = mask->shape};
    AMP_TRY(amp_tensor_alloc(&run->bias, run->ctx->err));
    double *values = run->bias.data;
    size_t count = amp_tensor_count(mask);
    for (size_t i = 0; i < count; i++) {
        values[i] = amp_tensor_double(mask, i);
        if (mask->dtype == AMP_BOOL)
            values[i] = values[i] != 0 ? 0 : -INFINITY;
    }
    return AMP_OK;
}

/* The keys that a query may see: from position FIRST to LAST. */
struct range {
    int64_t first, last;
};

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* A window of -1 is as wide as everything; being causal is a window that ends at the query. */
static struct range visible_to(const struct run *run, int64_t batch, int64_t query)
{
    const struct amp_node *node = run->ctx->node;
    int64_t total = total_of(&run->sizes), wide = total + run->sizes.queries;
    int64_t end = total, position = query + run->sizes.past;
    if (amp_has_in(run->ctx, LENGTHS)) {
        int64_t length = amp_tensor_int(run->ctx->in[LENGTHS], (size_t)batch);
        end = at_most(length < 0 ? 0 : length, total);
        position = query + end - run->sizes.queries;
    }
    int64_t left = amp_node_int(node, "left_window_size", -1);
    int64_t right = amp_node_int(node, "right_window_size", -1);
    left = left < 0 ? wide : at_most(left, wide);
    right = right < 0 ? wide : at_most(right, wide);
    if (amp_node_int(node, "is_causal", 0) != 0)
        right = 0;
    return (struct range){position > left ? position - left : 0,
                          at_most(end - 1, position + right)};
}

/* A row of the mask: its value for key I is at[i * step], -infinity from N on. */
struct mask_row {
    const double *at; /* NULL: no mask */
    int64_t step, n;
};

static struct mask_row mask_row(const struct run *run, const int64_t *index)
{
    const struct amp_shape *mask = &run->bias.shape;
    int64_t strides[AMP_RANK_MAX], total = total_of(&run->sizes);
    struct mask_row row = {.at = run->bias.data, .step = 1, .n = total};
    if (row.at == NULL)
        return row;
    amp_strides(mask, strides);
    for (int i = 0; i < mask->rank - 1; i++)
        row.at += mask->dims[i] == 1 ? 0 : index[4 - mask->rank + i] * strides[i];
    int64_t last = mask->rank > 0 ? mask->dims[mask->rank - 1] : 1;
    if (is_padded(run->ctx, mask, total))
        row.n = last;
    else if (last == 1)
        row.step = 0;
    return row;
}

/* What is added to the score of key I. */
static double bias_of(const struct mask_row *mask, const struct range *range, int64_t i)
{
    if (i < range->first || i > range->last || i >= mask->n)
        return -INFINITY;
    return mask->at == NULL ? 0 : mask->at[i * mask->step];
}

/* Adds the bias to N scores; returns whether all of it is -infinity. */
#define ADD_BIAS(DTYPE, T, ...)                                                           \
    static bool add_bias_##DTYPE(void *data, int64_t n, const struct mask_row *mask,      \
                                 const struct range *range)                               \
    {                                                                                     \
        T *scores = data;                                                                 \
        bool is_masked = true;                                                            \
        for (int64_t i = 0; i < n; i++) {                                                 \
            double bias = bias_of(mask, range, i);                                        \
            is_masked &= bias == -INFINITY;                                               \
            scores[i] = bias == -INFINITY ? -(T)INFINITY : (T)((double)scores[i] + bias); \
        }                                                                                 \
        return is_masked;                                                                 \
    }
AMP_FLOAT_TYPES(ADD_BIAS)

static bool add_bias(const struct amp_attention *attention, const int64_t *index, void *row)
{
    const struct run *run = attention->owner;
    struct mask_row mask = mask_row(run, index);
    struct range range = visible_to(run, index[0], index[2]);
    bool is_f32 = attention->q->dtype == AMP_FLOAT;
    return (is_f32 ? add_bias_FLOAT : add_bias_DOUBLE)(row, attention->keys, &mask, &range);
}

/* ---- run ----------------------------------------------------------------------------------- */

static enum amp_status attend(struct run *run)
{
    struct amp_ctx *ctx = run->ctx;
    const struct sizes *s = &run->sizes;
    float scale = (float)(1 / sqrt((double)s->size));
    struct amp_attention attention = {.ctx = ctx,
                                      .batch = s->batch,
                                      .heads = s->heads,
                                      .kv_heads = s->kv_heads,
                                      .queries = s->queries,
                                      .keys = total_of(s),
                                      .size = s->size,
                                      .v_size = s->v_size,
                                      .scale = (double)amp_node_float(ctx->node, "scale", scale),
                                      .cap = (double)amp_node_float(ctx->node, "softcap", 0),
                                      .q = &run->q,
                                      .k = &run->k,
                                      .v = &run->v,
                                      .bias = add_bias,
                                      .owner = run,
                                      .shown = amp_has_out(ctx, SCORES) ? ctx->out[SCORES] : NULL,
                                      .shown_stage =
                                          (int)amp_node_int(ctx->node, "qk_matmul_output_mode", 0)};
    return amp_attention_run(&attention, ctx->out[Y], s->is_flat);
}

static enum amp_status run_steps(struct run *run)
{
    AMP_TRY(gather_all(run));
    AMP_TRY(convert_mask(run));
    return attend(run);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct run this = {.ctx = ctx};
    enum amp_dtype dtype = ctx->in[Q]->dtype, v_dtype = ctx->in[V]->dtype;
    if (v_dtype != dtype)
        return amp_run_in_f64(ctx, run);
    if (dtype != AMP_FLOAT && dtype != AMP_DOUBLE)
        return amp_no_kernel(ctx, dtype);
    AMP_TRY(read_sizes(ctx, &this.sizes));
    enum amp_status status = run_steps(&this);
    struct amp_tensor *owned[] = {&this.q, &this.k, &this.v, &this.bias};
    for (size_t i = 0; i < sizeof owned / sizeof(struct amp_tensor *); i++)
        amp_tensor_release(owned[i]);
    return status;
}

const struct amp_op amp_op_attention = {
    .name = "Attention",
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_C,
    .flops = {amp_flops_attention, 4},
    .twins = {"T1", "T2"},
    /* queries and keys; values */ .shape = shape,
    .run = run,
    .destroy = amp_attention_destroy,
};
