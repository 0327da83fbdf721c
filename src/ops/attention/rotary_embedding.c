/*
 * RotaryEmbedding of ONNX (RotaryEmbedding-23) and of ONNX Runtime's com.microsoft, which has other
 * inputs for it; and the rotation itself for operators that contain it.
 */
#include "ops/attention/rotary_embedding.h"

#include "ops/kernel/kernel.h"

#include <string.h>

/* ---- turning ------------------------------------------------------------------------------- */

/* Turns HALF pairs: elements A and B of pair I are STRIDE * I and STRIDE * I + APART. */
#define TURN(name, stride, apart)                                                                  \
    AMP_CLONES(void, name,                                                                         \
               (int64_t half, const float *x, float *y, const float *cosines, const float *sines), \
               (half, x, y, cosines, sines))                                                       \
    {                                                                                              \
        AMP_SIMD for (int64_t i = 0; i < half; i++)                                                \
        {                                                                                          \
            float a = x[(stride)*i], b = x[(stride)*i + (apart)];                                  \
            y[(stride)*i] = cosines[i] * a - sines[i] * b;                                         \
            y[(stride)*i + (apart)] = sines[i] * a + cosines[i] * b;                               \
        }                                                                                          \
    }
TURN(turn_halves, 1, half)
TURN(turn_interleaved, 2, 1)

/* Turns one head; element I pairs with the next one, or with that half of TURNED further on. */
static void turn(const struct amp_rotary *rotary, const float *x, float *y, const float *cosines,
                 const float *sines)
{
    (rotary->is_interleaved ? turn_interleaved : turn_halves)(rotary->turned / 2, x, y, cosines,
                                                              sines);
    if (x != y)
        memcpy(y + rotary->turned, x + rotary->turned,
               (size_t)(rotary->size - rotary->turned) * sizeof *y);
}

/* The heads at position I of all the batch's, by row ROW of the caches. */
static void turn_heads(const struct amp_rotary *rotary, int64_t i, int64_t row, const float *x,
                       float *y)
{
    int64_t first = row * (rotary->turned / 2), length = rotary->length;
    for (int64_t head = 0; head < rotary->heads; head++) {
        int64_t at = rotary->is_flat ? i * rotary->heads + head
                                     : (i / length * rotary->heads + head) * length + i % length;
        turn(rotary, x + at * rotary->size, y + at * rotary->size,
             (const float *)rotary->cosines->data + first,
             (const float *)rotary->sines->data + first);
    }
}

static int64_t rows_of(const struct amp_tensor *cache)
{
    return amp_shape_product(&cache->shape, 0, cache->shape.rank - 1);
}

static enum amp_status check_rows(struct amp_ctx *ctx, const struct amp_rotary *rotary,
                                  int64_t (*row_of)(const struct amp_ctx *ctx, int64_t i))
{
    int64_t cosines = rows_of(rotary->cosines), sines = rows_of(rotary->sines);
    int64_t rows = sines < cosines ? sines : cosines;
    for (int64_t i = 0; i < rotary->batch * rotary->length; i++) {
        int64_t row = row_of(ctx, i);
        if (row < 0 || row >= rows)
            return AMP_CTX_FAIL(ctx, "position %lld; the caches hold 0 to %lld", (long long)row,
                                (long long)rows - 1);
    }
    return AMP_OK;
}

enum amp_status amp_rotary_run(struct amp_ctx *ctx, const struct amp_rotary *rotary,
                               int64_t (*row_of)(const struct amp_ctx *ctx, int64_t i),
                               const float *x, float *y)
{
    int64_t positions = rotary->batch * rotary->length;
    bool is_large = positions * rotary->heads * rotary->size >= AMP_PARALLEL_MIN;
    AMP_TRY(check_rows(ctx, rotary, row_of));
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < positions; i++)
        turn_heads(rotary, i, row_of(ctx, i), x, y);
    return AMP_OK;
}

/* ---- ONNX ---------------------------------------------------------------------------------- */

enum { X, COSINES, SINES, POSITIONS };

static enum amp_status read_sizes(struct amp_ctx *ctx, struct amp_rotary *sizes)
{
    const struct amp_shape *x = &ctx->in[X]->shape;
    *sizes = (struct amp_rotary){.is_flat = false};
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
    *sizes = (struct amp_rotary){.batch = x->dims[0],
                                 .heads = heads,
                                 .length = x->dims[is_flat ? 1 : 2],
                                 .size = size,
                                 .turned = turned == 0 ? size : turned,
                                 .is_flat = is_flat};
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
static enum amp_status check_cache(struct amp_ctx *ctx, uint32_t input,
                                   const struct amp_rotary *sizes)
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

static enum amp_status check_positions(struct amp_ctx *ctx, const struct amp_rotary *sizes)
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
    struct amp_rotary sizes;
    AMP_TRY(amp_shape_same(ctx));
    if (ctx->in[X]->shape.rank < 0)
        return AMP_OK;
    AMP_TRY(read_sizes(ctx, &sizes));
    AMP_TRY(check_cache(ctx, COSINES, &sizes));
    AMP_TRY(check_cache(ctx, SINES, &sizes));
    return check_positions(ctx, &sizes);
}

static int64_t row_of(const struct amp_ctx *ctx, int64_t i)
{
    return amp_has_in(ctx, POSITIONS) ? amp_tensor_int(ctx->in[POSITIONS], (size_t)i) : i;
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct amp_rotary rotary;
    AMP_TRY(read_sizes(ctx, &rotary));
    rotary.is_interleaved = amp_node_int(ctx->node, "interleaved", 0) != 0;
    rotary.cosines = ctx->in[COSINES];
    rotary.sines = ctx->in[SINES];
    return amp_rotary_run(ctx, &rotary, row_of, ctx->in[X]->data, ctx->out[0]->data);
}

const struct amp_op amp_op_rotary_embedding = {
    .name = "RotaryEmbedding",
    .newest = 23,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = shape,
    .run = run,
};

/* ---- com.microsoft ------------------------------------------------------------------------- */

enum { MS_POSITIONS = 1, MS_COSINES, MS_SINES };

static enum amp_status ms_check_options(struct amp_ctx *ctx)
{
    if (amp_node_int(ctx->node, "is_packed_batching", 0) != 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "is_packed_batching has no kernel");
    if (amp_node_float(ctx->node, "scale", 1) != 1)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "scale has no kernel");
    return AMP_OK;
}

/* Reads X's dims, all known. Without rotary_embedding_dim the caches tell the size of a head. */
static enum amp_status ms_read(struct amp_ctx *ctx, struct amp_rotary *rotary)
{
    const struct amp_shape *x = &ctx->in[X]->shape, *cosines = &ctx->in[MS_COSINES]->shape;
    const struct amp_shape *sines = &ctx->in[MS_SINES]->shape;
    if ((x->rank != 3 && x->rank != 4) || cosines->rank != 2 || sines->rank != 2)
        return AMP_CTX_FAIL(ctx, "X of rank %d, caches of rank %d and %d; 3 or 4, 2 and 2 needed",
                            x->rank, cosines->rank, sines->rank);
    bool is_flat = x->rank == 3;
    int64_t turned = amp_node_int(ctx->node, "rotary_embedding_dim", 0);
    int64_t heads = amp_node_int(ctx->node, "num_heads", 0), last = x->dims[x->rank - 1];
    int64_t half = cosines->dims[1], size = last;
    if (turned == 0 && is_flat)
        size = 2 * half;
    else if (is_flat)
        size = heads > 0 && last % heads == 0 ? last / heads : 0;
    turned = turned == 0 ? size : turned;
    if (size <= 0 || last % size != 0 || turned != 2 * half || turned > size ||
        sines->dims[1] != half)
        return AMP_CTX_FAIL(ctx,
                            "caches of %lld and %lld columns, num_heads %lld and "
                            "rotary_embedding_dim %lld do not fit X's last dim of %lld",
                            (long long)half, (long long)sines->dims[1], (long long)heads,
                            (long long)turned, (long long)last);
    *rotary = (struct amp_rotary){.batch = x->dims[0],
                                  .heads = is_flat ? last / size : x->dims[1],
                                  .length = x->dims[is_flat ? 1 : 2],
                                  .size = size,
                                  .turned = turned,
                                  .is_flat = is_flat};
    int64_t positions = amp_shape_count(&ctx->in[MS_POSITIONS]->shape);
    if (positions != 1 && positions != rotary->batch * rotary->length)
        return AMP_CTX_FAIL(ctx, "%lld positions; 1 or one for each of X's %lld by %lld is needed",
                            (long long)positions, (long long)rotary->batch,
                            (long long)rotary->length);
    return AMP_OK;
}

static enum amp_status ms_shape(struct amp_ctx *ctx)
{
    AMP_TRY(ms_check_options(ctx));
    return amp_shape_same(ctx);
}

/* One position is that of the first of each sequence. */
static int64_t ms_row_of(const struct amp_ctx *ctx, int64_t i)
{
    const struct amp_tensor *positions = ctx->in[MS_POSITIONS];
    const struct amp_shape *x = &ctx->in[X]->shape;
    if (amp_tensor_count(positions) != 1)
        return amp_tensor_int(positions, (size_t)i);
    int64_t first = amp_tensor_int(positions, 0), step = i % x->dims[x->rank == 3 ? 1 : 2];
    return first > INT64_MAX - step ? first : first + step;
}

static enum amp_status ms_run(struct amp_ctx *ctx)
{
    struct amp_rotary rotary;
    AMP_TRY(ms_read(ctx, &rotary));
    rotary.is_interleaved = amp_node_int(ctx->node, "interleaved", 0) != 0;
    rotary.cosines = ctx->in[MS_COSINES];
    rotary.sines = ctx->in[MS_SINES];
    return amp_rotary_run(ctx, &rotary, ms_row_of, ctx->in[X]->data, ctx->out[0]->data);
}

const struct amp_op amp_op_ms_rotary_embedding = {
    .name = "RotaryEmbedding",
    .domain = "com.microsoft",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = ms_shape,
    .run = ms_run,
};
