/*
 * RotaryEmbedding: pairs of elements of each head are turned by the angle of their position, given
 * by its cosine and sine (ONNX RotaryEmbedding-23).
 */
#include "ops/kernel.h"

#include <string.h>

enum { X, COSINES, SINES, POSITIONS };

/* X is [batch, heads, length, size], or [batch, length, heads * size]. A dim below 0 is not known.
 */
struct sizes {
    int64_t batch, heads, length, size;
    int64_t turned; /* elements of a head that are turned; even */
    bool is_flat;
};

static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *sizes)
{
    const struct amp_shape *x = &ctx->in[X]->shape;
    *sizes = (struct sizes){.is_flat = false};
    if (x->rank != 3 && x->rank != 4)
        return AMP_CTX_FAIL(ctx, "X has rank %d; 3 or 4 is needed", x->rank);
    bool is_flat = x->rank == 3;
    int64_t heads = is_flat ? amp_node_int(ctx->node, "num_heads", 0) : x->dims[1];
    int64_t last = x->dims[x->rank - 1];
    if (is_flat && (heads <= 0 || (last >= 0 && last % heads != 0)))
        return AMP_CTX_FAIL(ctx, "num_heads %lld; a divisor of X's last dimension, %lld, is needed",
                            (long long)heads, (long long)last);
    int64_t size = is_flat && last >= 0 ? last / heads : last;
    int64_t turned = amp_node_int(ctx->node, "rotary_embedding_dim", 0);
    *sizes = (struct sizes){
        x->dims[0], heads, x->dims[is_flat ? 1 : 2], size, turned == 0 ? size : turned, is_flat};
    bool is_wrong = sizes->turned % 2 != 0 || turned < 0 || sizes->turned > size;
    if (size >= 0 && is_wrong)
        return AMP_CTX_FAIL(ctx,
                            "%lld elements of heads of %lld are to be turned; an even number "
                            "that is not larger is needed",
                            (long long)sizes->turned, (long long)size);
    return AMP_OK;
}

static bool may_equal(int64_t a, int64_t b)
{
    return a < 0 || b < 0 || a == b;
}

/* The caches are [positions, turned / 2], or, without positions, [batch, length, turned / 2]. */
static enum amp_status check_cache(struct amp_ctx *ctx, uint32_t input, const struct sizes *sizes)
{
    const struct amp_shape *cache = &ctx->in[input]->shape;
    int rank = amp_has_in(ctx, POSITIONS) ? 2 : 3;
    if (cache->rank < 0)
        return AMP_OK;
    bool fits = cache->rank == rank &&
                (sizes->size < 0 || may_equal(cache->dims[rank - 1], sizes->turned / 2));
    if (fits && rank == 3)
        fits = may_equal(cache->dims[0], sizes->batch) && may_equal(cache->dims[1], sizes->length);
    char text[200], text_x[200];
    if (!fits)
        return AMP_CTX_FAIL(ctx, "input %u of shape %s does not fit X of shape %s", input,
                            amp_shape_text(cache, text, sizeof text),
                            amp_shape_text(&ctx->in[X]->shape, text_x, sizeof text_x));
    return AMP_OK;
}

static enum amp_status check_positions(struct amp_ctx *ctx, const struct sizes *sizes)
{
    if (!amp_has_in(ctx, POSITIONS) || ctx->in[POSITIONS]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *positions = &ctx->in[POSITIONS]->shape;
    char text[200];
    if (positions->rank != 2 || !may_equal(positions->dims[0], sizes->batch) ||
        !may_equal(positions->dims[1], sizes->length))
        return AMP_CTX_FAIL(ctx,
                            "positions of shape %s; one for each of X's %lld by %lld is needed",
                            amp_shape_text(positions, text, sizeof text), (long long)sizes->batch,
                            (long long)sizes->length);
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes sizes;
    AMP_TRY(amp_shape_same(ctx));
    if (ctx->in[X]->shape.rank < 0)
        return AMP_OK;
    AMP_TRY(read_sizes(ctx, &sizes));
    AMP_TRY(check_cache(ctx, COSINES, &sizes));
    AMP_TRY(check_cache(ctx, SINES, &sizes));
    return check_positions(ctx, &sizes);
}

/* The row of the caches for position I of the batch's positions. */
static enum amp_status find_row(struct amp_ctx *ctx, int64_t i, int64_t *row)
{
    *row = i;
    if (!amp_has_in(ctx, POSITIONS))
        return AMP_OK;
    int64_t count = ctx->in[COSINES]->shape.dims[0], sines = ctx->in[SINES]->shape.dims[0];
    count = sines < count ? sines : count;
    *row = amp_tensor_int(ctx->in[POSITIONS], (size_t)i);
    if (*row < 0 || *row >= count)
        return AMP_CTX_FAIL(ctx, "position %lld; the caches hold 0 to %lld", (long long)*row,
                            (long long)count - 1);
    return AMP_OK;
}

/* Turns one head; element I pairs with the next one, or with that half of TURNED further on. */
static void turn(const struct sizes *sizes, bool is_interleaved, const float *x, float *y,
                 const float *cosines, const float *sines)
{
    int64_t half = sizes->turned / 2;
    for (int64_t i = 0; i < half; i++) {
        int64_t a = is_interleaved ? 2 * i : i, b = is_interleaved ? 2 * i + 1 : i + half;
        float real = cosines[i] * x[a] - sines[i] * x[b];
        float imaginary = sines[i] * x[a] + cosines[i] * x[b];
        y[a] = real;
        y[b] = imaginary;
    }
    memcpy(y + sizes->turned, x + sizes->turned, (size_t)(sizes->size - sizes->turned) * sizeof *y);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct sizes s;
    AMP_TRY(read_sizes(ctx, &s));
    if (ctx->in[X]->dtype != AMP_FLOAT)
        return amp_no_kernel(ctx, ctx->in[X]->dtype);
    bool is_interleaved = amp_node_int(ctx->node, "interleaved", 0) != 0;
    for (int64_t i = 0; i < s.batch * s.length; i++) {
        int64_t row, batch = i / s.length, position = i % s.length;
        AMP_TRY(find_row(ctx, i, &row));
        const float *cosines = (const float *)ctx->in[COSINES]->data + row * (s.turned / 2);
        const float *sines = (const float *)ctx->in[SINES]->data + row * (s.turned / 2);
        for (int64_t head = 0; head < s.heads; head++) {
            int64_t first =
                s.is_flat ? i * s.heads + head : (batch * s.heads + head) * s.length + position;
            turn(&s, is_interleaved, (const float *)ctx->in[X]->data + first * s.size,
                 (float *)ctx->out[0]->data + first * s.size, cosines, sines);
        }
    }
    return AMP_OK;
}

const struct amp_op amp_op_rotary_embedding = {
    .name = "RotaryEmbedding",
    .newest = 23,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = shape,
    .run = run,
};
