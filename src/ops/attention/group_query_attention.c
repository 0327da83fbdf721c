/*
 * com.microsoft's GroupQueryAttention (ONNX Runtime, ContribOperators.md): causal attention whose
 * keys and values serve groups of heads and grow in a cache that has room for the longest sequence
 * of the batch. Each sequence has a length of its own: seqlens_k + 1 with the new ones. float32.
 */
#include "ops/attention/scaled_dot_product.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"
#include "ops/attention/rotary_embedding.h"

#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LAST_KEYS, TOTAL, COSINES, SINES };
enum { Y, PRESENT_KEY, PRESENT_VALUE };

struct sizes {
    int64_t batch, length; /* of the sequences that are new */
    int64_t heads, kv_heads, size;
    int64_t past, room; /* lengths that the caches have before and after */
    int64_t total;      /* the length of the longest sequence with the new ones */
};

static enum amp_status fail_shape(struct amp_ctx *ctx, uint32_t i, const char *wanted)
{
    char text[200];
    return AMP_CTX_FAIL(ctx, "input %u of shape %s; %s", i,
                        amp_shape_text(&ctx->in[i]->shape, text, sizeof text), wanted);
}

static enum amp_status read_heads(struct amp_ctx *ctx, struct sizes *sizes)
{
    sizes->heads = amp_node_int(ctx->node, "num_heads", 0);
    sizes->kv_heads = amp_node_int(ctx->node, "kv_num_heads", 0);
    if (sizes->kv_heads < 1 || sizes->heads < 1 || sizes->heads > INT32_MAX ||
        sizes->heads % sizes->kv_heads != 0)
        return AMP_CTX_FAIL(ctx, "num_heads %lld must be a multiple of kv_num_heads %lld",
                            (long long)sizes->heads, (long long)sizes->kv_heads);
    return AMP_OK;
}

/* Reads batch, length and size of a head from the query and what is not packed in it. */
static enum amp_status read_inputs(struct amp_ctx *ctx, struct sizes *sizes)
{
    const struct amp_shape *query = &ctx->in[QUERY]->shape;
    bool is_packed = !amp_has_in(ctx, KEY);
    int64_t heads = sizes->heads + (is_packed ? 2 * sizes->kv_heads : 0);
    if (is_packed == amp_has_in(ctx, VALUE))
        return AMP_CTX_FAIL(ctx, "key and value go together");
    if (query->rank != 3 || query->dims[2] % heads != 0)
        return fail_shape(ctx, QUERY, "[batch, length, heads * size] is needed");
    sizes->batch = query->dims[0];
    sizes->length = query->dims[1];
    sizes->size = query->dims[2] / heads;
    struct amp_shape wanted = {3, {sizes->batch, sizes->length, sizes->kv_heads * sizes->size}};
    for (uint32_t i = KEY; i <= VALUE && !is_packed; i++)
        if (!amp_shape_equal(&ctx->in[i]->shape, &wanted))
            return fail_shape(ctx, i, "the query's batch, length and size of heads are needed");
    return AMP_OK;
}

static enum amp_status read_past(struct amp_ctx *ctx, struct sizes *sizes)
{
    if (amp_has_in(ctx, PAST_KEY) != amp_has_in(ctx, PAST_VALUE))
        return AMP_CTX_FAIL(ctx, "past_key and past_value go together");
    sizes->past = 0;
    for (uint32_t i = PAST_KEY; i <= PAST_VALUE && amp_has_in(ctx, i); i++) {
        const struct amp_shape *past = &ctx->in[i]->shape;
        struct amp_shape wanted = {4, {sizes->batch, sizes->kv_heads, 0, sizes->size}};
        wanted.dims[2] = i == PAST_KEY && past->rank == 4 ? past->dims[2] : sizes->past;
        if (!amp_shape_equal(past, &wanted))
            return fail_shape(ctx, i, "[batch, kv heads, past length, size] is needed");
        sizes->past = wanted.dims[2];
    }
    return AMP_OK;
}

/* All but the lengths; the shapes are known. */
static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *sizes)
{
    AMP_TRY(read_heads(ctx, sizes));
    AMP_TRY(read_inputs(ctx, sizes));
    AMP_TRY(read_past(ctx, sizes));
    if (amp_shape_count(&ctx->in[LAST_KEYS]->shape) != sizes->batch)
        return fail_shape(ctx, LAST_KEYS, "one length for each of the batch is needed");
    if (amp_shape_count(&ctx->in[TOTAL]->shape) != 1)
        return fail_shape(ctx, TOTAL, "one value is needed");
    return AMP_OK;
}

static enum amp_status read_total(struct amp_ctx *ctx, struct sizes *sizes)
{
    sizes->total = amp_tensor_int(ctx->in[TOTAL], 0);
    sizes->room = sizes->total > sizes->past ? sizes->total : sizes->past;
    if (sizes->total < sizes->length)
        return AMP_CTX_FAIL(ctx, "total_sequence_length %lld; %lld are new",
                            (long long)sizes->total, (long long)sizes->length);
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes sizes;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    if (amp_has_in(ctx, KEY) && ctx->in[QUERY]->shape.rank == 3)
        ctx->out[Y]->shape = ctx->in[QUERY]->shape;
    for (uint32_t i = QUERY; i <= TOTAL; i++)
        if (amp_has_in(ctx, i) && !amp_shape_is_known(&ctx->in[i]->shape))
            return AMP_OK;
    AMP_TRY(read_sizes(ctx, &sizes));
    ctx->out[Y]->shape =
        (struct amp_shape){3, {sizes.batch, sizes.length, sizes.heads * sizes.size}};
    if (ctx->in[TOTAL]->data == NULL)
        return AMP_OK;
    AMP_TRY(read_total(ctx, &sizes));
    for (uint32_t i = PRESENT_KEY; i <= PRESENT_VALUE && i < ctx->n_out; i++)
        ctx->out[i]->shape =
            (struct amp_shape){4, {sizes.batch, sizes.kv_heads, sizes.room, sizes.size}};
    return AMP_OK;
}

/* ---- caches -------------------------------------------------------------------------------- */

struct run {
    struct amp_ctx *ctx;
    struct sizes sizes;
    struct amp_tensor q, k;                 /* [batch, heads, length, size] */
    struct amp_tensor present_k, present_v; /* [batch, kv heads, room, size] */
};

/* The length of sequence BATCH with the new ones. */
static int64_t length_of(const struct amp_ctx *ctx, int64_t batch)
{
    return amp_tensor_int(ctx->in[LAST_KEYS], (size_t)batch) + 1;
}

/* How much of sequence BATCH lies in the past: nothing where all of the longest is new, and shorter
   ones are padded at their end then. */
static int64_t past_of(const struct run *run, int64_t batch)
{
    const struct sizes *s = &run->sizes;
    return s->total == s->length ? 0 : length_of(run->ctx, batch) - s->length;
}

static enum amp_status check_lengths(const struct run *run)
{
    const struct sizes *s = &run->sizes;
    for (int64_t i = 0; i < s->batch; i++) {
        int64_t length = length_of(run->ctx, i), past = past_of(run, i);
        if (length < 1 || length > s->room || past < 0 || past > s->past)
            return AMP_CTX_FAIL(run->ctx,
                                "seqlens_k %lld; %lld new and at most %lld old ones, in a cache of "
                                "%lld, are there",
                                (long long)length - 1, (long long)s->length, (long long)s->past,
                                (long long)s->room);
    }
    return AMP_OK;
}

/* Input I, of HEADS heads, or the part of the packed query whose heads begin at FIRST. */
static struct amp_heads view_new(const struct run *run, uint32_t i, int64_t first, int64_t heads)
{
    const struct sizes *s = &run->sizes;
    bool is_packed = !amp_has_in(run->ctx, KEY);
    int64_t all = is_packed ? s->heads + 2 * s->kv_heads : heads, row = all * s->size;
    return (struct amp_heads){.tensor = run->ctx->in[is_packed ? QUERY : i],
                              .first = is_packed ? first * s->size : 0,
                              .strides = {s->length * row, s->size, row, 1}};
}

/* Makes TO of the new heads in VIEW: [batch, HEADS, length, size]. */
static enum amp_status gather(const struct run *run, const struct amp_heads *view, int64_t heads,
                              struct amp_tensor *to)
{
    const struct sizes *s = &run->sizes;
    *to = (struct amp_tensor){.dtype = AMP_FLOAT,
                              .shape = {4, {s->batch, heads, s->length, s->size}}};
    AMP_TRY(amp_tensor_alloc(to, run->ctx->err));
    struct amp_heads target = amp_heads_of(to, &to->shape, false);
    amp_heads_copy(&target, view, &to->shape);
    return AMP_OK;
}

/* Makes TO, in output PRESENT where that is wanted: of each sequence its part of input PAST, then
   the new ones in VIEW, then zeros. */
static enum amp_status fill_present(const struct run *run, uint32_t present, uint32_t past,
                                    const struct amp_heads *view, struct amp_tensor *to)
{
    const struct sizes *s = &run->sizes;
    *to = (struct amp_tensor){.dtype = AMP_FLOAT,
                              .shape = {4, {s->batch, s->kv_heads, s->room, s->size}}};
    if (amp_has_out(run->ctx, present))
        to->data = run->ctx->out[present]->data;
    else
        AMP_TRY(amp_tensor_alloc(to, run->ctx->err));
    memset(to->data, 0, amp_tensor_size(to));
    for (int64_t i = 0; i < s->batch; i++) {
        struct amp_shape shape = {4, {1, s->kv_heads, past_of(run, i), s->size}};
        struct amp_heads target = amp_heads_of(to, &to->shape, false), from = *view;
        target.first = i * target.strides[0];
        if (amp_has_in(run->ctx, past)) {
            struct amp_heads old =
                amp_heads_of(run->ctx->in[past], &run->ctx->in[past]->shape, false);
            old.first = i * old.strides[0];
            amp_heads_copy(&target, &old, &shape);
        }
        target.first += shape.dims[2] * target.strides[2];
        from.first += i * from.strides[0];
        shape.dims[2] = s->length;
        amp_heads_copy(&target, &from, &shape);
    }
    return AMP_OK;
}

/* ---- rotary embedding ---------------------------------------------------------------------- */

/* The position of new element I of all the batch's. The padding of a shorter sequence has the
   position 1, as in ONNX Runtime. */
static int64_t position_of(const struct amp_ctx *ctx, int64_t i)
{
    int64_t length = ctx->in[QUERY]->shape.dims[1], total = length_of(ctx, i / length);
    bool is_prompt = amp_tensor_int(ctx->in[TOTAL], 0) == length;
    if (!is_prompt)
        return total - length + i % length;
    return i % length < total ? i % length : 1;
}

static enum amp_status rotate(const struct run *run, struct amp_tensor *heads)
{
    struct amp_ctx *ctx = run->ctx;
    const struct sizes *s = &run->sizes;
    if (amp_node_int(ctx->node, "do_rotary", 0) == 0)
        return AMP_OK;
    for (uint32_t i = COSINES; i <= SINES; i++)
        if (!amp_has_in(ctx, i))
            return AMP_CTX_FAIL(ctx, "do_rotary needs input %u", i);
    const struct amp_shape *cosines = &ctx->in[COSINES]->shape, *sines = &ctx->in[SINES]->shape;
    if (cosines->rank != 2 || sines->rank != 2 || cosines->dims[1] != sines->dims[1] ||
        cosines->dims[1] > s->size / 2)
        return fail_shape(ctx, COSINES, "at most half of a head for each position is needed");
    struct amp_rotary rotary = {.batch = s->batch,
                                .heads = heads->shape.dims[1],
                                .length = s->length,
                                .size = s->size,
                                .turned = 2 * cosines->dims[1],
                                .is_interleaved =
                                    amp_node_int(ctx->node, "rotary_interleaved", 0) != 0,
                                .cosines = ctx->in[COSINES],
                                .sines = ctx->in[SINES]};
    return amp_rotary_run(ctx, &rotary, position_of, heads->data, heads->data);
}

/* ---- run ----------------------------------------------------------------------------------- */

/* A query sees itself and what was before it, with a window WINDOW of those. */
static bool hide(const struct amp_attention *attention, const int64_t *index, void *row)
{
    const struct run *run = attention->owner;
    int64_t window = amp_node_int(run->ctx->node, "local_window_size", -1);
    int64_t last = past_of(run, index[0]) + index[2], first = 0;
    if (window > 0 && last > window)
        first = last - window;
    for (int64_t i = 0; i < attention->keys; i++)
        if (i < first || i > last)
            ((float *)row)[i] = -INFINITY;
    return false;
}

static enum amp_status attend(const struct run *run)
{
    struct amp_ctx *ctx = run->ctx;
    const struct sizes *s = &run->sizes;
    double scale = (double)amp_node_float(ctx->node, "scale", 0);
    struct amp_attention attention = {.ctx = ctx,
                                      .batch = s->batch,
                                      .heads = s->heads,
                                      .kv_heads = s->kv_heads,
                                      .queries = s->length,
                                      .keys = s->room,
                                      .size = s->size,
                                      .v_size = s->size,
                                      .scale = scale == 0 ? 1 / sqrt((double)s->size) : scale,
                                      .cap = (double)amp_node_float(ctx->node, "softcap", 0),
                                      .is_smooth =
                                          amp_node_int(ctx->node, "smooth_softmax", 0) == 1,
                                      .q = &run->q,
                                      .k = &run->present_k,
                                      .v = &run->present_v,
                                      .bias = hide,
                                      .owner = run};
    return amp_attention_run(&attention, ctx->out[Y], true);
}

static enum amp_status run_steps(struct run *run)
{
    const struct sizes *s = &run->sizes;
    struct amp_heads q = view_new(run, QUERY, 0, s->heads);
    struct amp_heads k = view_new(run, KEY, s->heads, s->kv_heads);
    struct amp_heads v = view_new(run, VALUE, s->heads + s->kv_heads, s->kv_heads);
    AMP_TRY(gather(run, &q, s->heads, &run->q));
    AMP_TRY(gather(run, &k, s->kv_heads, &run->k));
    AMP_TRY(rotate(run, &run->q));
    AMP_TRY(rotate(run, &run->k));
    k = amp_heads_of(&run->k, &run->k.shape, false);
    AMP_TRY(fill_present(run, PRESENT_KEY, PAST_KEY, &k, &run->present_k));
    AMP_TRY(fill_present(run, PRESENT_VALUE, PAST_VALUE, &v, &run->present_v));
    return attend(run);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct run this = {.ctx = ctx};
    AMP_TRY(read_sizes(ctx, &this.sizes));
    AMP_TRY(read_total(ctx, &this.sizes));
    AMP_TRY(check_lengths(&this));
    enum amp_status status = run_steps(&this);
    struct amp_tensor *owned[] = {&this.q, &this.k, &this.present_k, &this.present_v};
    for (size_t i = 0; i < sizeof owned / sizeof(struct amp_tensor *); i++)
        amp_tensor_release(owned[i]);
    return status;
}

const struct amp_op amp_op_group_query_attention = {
    .name = "GroupQueryAttention",
    .domain = "com.microsoft",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .flops = {amp_flops_attention, 3},
    .shape = shape,
    .run = run,
    .destroy = amp_attention_destroy,
};
