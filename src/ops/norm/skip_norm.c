/*
 * Normalizations of a sum, as ONNX Runtime fuses them (com.microsoft SkipLayerNormalization,
 * SkipSimplifiedLayerNormalization, EmbedLayerNormalization): a skip connection and a bias, or the
 * embeddings of words, positions and segments, are added and normalized along the last dim.
 * LayerNormalization and RMSNormalization do the latter.
 */
#include "ops/kernel/kernel.h"
#include "ops/norm/row_norm.h"

#include <inttypes.h>

#define MICROSOFT "com.microsoft"

extern const struct amp_op amp_op_add, amp_op_layer_normalization, amp_op_rms_normalization;

/* Input I, where it is there, must be a vector as long as the last dim of X, which has one. */
static enum amp_status check_vector(struct amp_ctx *ctx, uint32_t i)
{
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *x = &ctx->in[0]->shape, *vector = &ctx->in[i]->shape;
    int64_t dim = vector->rank == 1 ? vector->dims[0] : 0, last = x->dims[x->rank - 1];
    bool fits = vector->rank == 1 && (dim < 0 || last < 0 || dim == last);
    return fits ? AMP_OK
                : amp_parameter_fail(ctx, i, "is not one value for each of the last dim of");
}

/* What normalizes a sum along its last dim, into output 0. */
struct normalization {
    const struct amp_op *op;
    const struct amp_tensor *gamma, *beta; /* inputs; BETA NULL: none */
    uint32_t n_out;                        /* the node's first outputs that are OP's */
};

static enum amp_status normalize(struct amp_ctx *ctx, const struct amp_tensor *sum,
                                 const struct normalization *by)
{
    struct amp_tensor unwanted = {.dtype = AMP_UNDEFINED};
    float epsilon = amp_node_float(ctx->node, "epsilon", 1e-12f);
    struct amp_attr attr = {
        .name = "epsilon", .type = AMP_ATTR_FLOAT, .count = 1, .floats = &epsilon};
    struct amp_call call = {.op = by->op,
                            .version = by->op->newest,
                            .attrs = &attr,
                            .n_attrs = 1,
                            .in = {sum, by->gamma, by->beta},
                            .n_in = by->beta != NULL ? 3 : 2,
                            .out = {ctx->out[0], &unwanted, &unwanted},
                            .n_out = 3,
                            .state = ctx->state};
    for (uint32_t i = 1; i < by->n_out && i < ctx->n_out; i++)
        call.out[i] = ctx->out[i];
    return amp_call_run(ctx, &call);
}

static enum amp_status add(struct amp_ctx *ctx, const struct amp_tensor *a,
                           const struct amp_tensor *b, struct amp_tensor *sum)
{
    void *none = NULL;
    struct amp_call call = {.op = &amp_op_add,
                            .version = 14,
                            .in = {a, b},
                            .n_in = 2,
                            .out = {sum},
                            .n_out = 1,
                            .state = &none};
    return amp_call_run(ctx, &call);
}

/* ---- skip connections ---------------------------------------------------------------------- */

enum { X, SKIP, GAMMA };
enum { MEAN = 1, SUM = 3 };

/* BIAS: the last input, which is a vector as those between GAMMA and it are. */
static enum amp_status shape_skip(struct amp_ctx *ctx, uint32_t bias)
{
    const struct amp_shape *x = &ctx->in[X]->shape, *skip = &ctx->in[SKIP]->shape;
    struct amp_shape sum;
    char text[200], text_x[200];
    AMP_TRY(amp_shape_same(ctx));
    if (x->rank < 0)
        return AMP_OK;
    if (x->rank == 0)
        return AMP_CTX_FAIL(ctx, "a scalar has no dim to normalize");
    AMP_TRY(amp_broadcast(x, skip, &sum, ctx->err));
    if (amp_shape_is_known(x) && amp_shape_is_known(skip) && !amp_shape_equal(x, &sum))
        return AMP_CTX_FAIL(ctx, "skip of shape %s does not broadcast to %s",
                            amp_shape_text(skip, text, sizeof text),
                            amp_shape_text(x, text_x, sizeof text_x));
    for (uint32_t i = GAMMA; i <= bias; i++)
        AMP_TRY(check_vector(ctx, i));
    for (uint32_t i = MEAN; i < SUM && i < ctx->n_out; i++)
        ctx->out[i]->shape.dims[x->rank - 1] = 1;
    return AMP_OK;
}

static enum amp_status run_skip(struct amp_ctx *ctx, uint32_t bias, const struct amp_op *op)
{
    struct amp_tensor own = {.dtype = ctx->in[X]->dtype, .shape = ctx->in[X]->shape};
    struct amp_tensor *sum = amp_has_out(ctx, SUM) ? ctx->out[SUM] : &own;
    const struct amp_tensor *beta =
        bias == GAMMA + 2 && amp_has_in(ctx, GAMMA + 1) ? ctx->in[GAMMA + 1] : NULL;
    if (sum == &own)
        AMP_TRY(amp_tensor_alloc(&own, ctx->err));
    enum amp_status status = add(ctx, ctx->in[X], ctx->in[SKIP], sum);
    if (status == AMP_OK && amp_has_in(ctx, bias))
        status = add(ctx, sum, ctx->in[bias], sum);
    if (status == AMP_OK)
        status = normalize(
            ctx, sum,
            &(struct normalization){.op = op, .gamma = ctx->in[GAMMA], .beta = beta, .n_out = SUM});
    amp_tensor_release(&own);
    return status;
}

enum { BIAS = GAMMA + 2, SIMPLIFIED_BIAS = GAMMA + 1 };

static enum amp_status shape_skip_layer(struct amp_ctx *ctx)
{
    return shape_skip(ctx, BIAS);
}

static enum amp_status run_skip_layer(struct amp_ctx *ctx)
{
    return run_skip(ctx, BIAS, &amp_op_layer_normalization);
}

const struct amp_op amp_op_skip_layer_normalization = {
    .name = "SkipLayerNormalization",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .shape = shape_skip_layer,
    .run = run_skip_layer,
    .destroy = amp_prim_destroy,
};

static enum amp_status shape_skip_simplified(struct amp_ctx *ctx)
{
    return shape_skip(ctx, SIMPLIFIED_BIAS);
}

static enum amp_status run_skip_simplified(struct amp_ctx *ctx)
{
    if (amp_has_out(ctx, MEAN))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "no mean is computed by this normalization");
    return run_skip(ctx, SIMPLIFIED_BIAS, &amp_op_rms_normalization);
}

const struct amp_op amp_op_skip_simplified_layer_normalization = {
    .name = "SkipSimplifiedLayerNormalization",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .shape = shape_skip_simplified,
    .run = run_skip_simplified,
    .destroy = amp_prim_destroy,
};

/* ---- embeddings ---------------------------------------------------------------------------- */

enum {
    WORDS,
    SEGMENTS,
    WORD_TABLE,
    POSITION_TABLE,
    SEGMENT_TABLE,
    E_GAMMA,
    E_BETA,
    MASK,
    POSITIONS
};
enum { MASK_COUNT = 1, EMBEDDING_SUM = 2 };

/* Input I, where it is there, must be [batch, length]; MAY_REPEAT: or [1, length]. */
static enum amp_status check_ids(struct amp_ctx *ctx, uint32_t i, bool may_repeat)
{
    const struct amp_shape *words = &ctx->in[WORDS]->shape;
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *ids = &ctx->in[i]->shape;
    bool fits = ids->rank == 2;
    for (int d = 0; fits && d < 2; d++)
        fits = ids->dims[d] < 0 || words->dims[d] < 0 || ids->dims[d] == words->dims[d] ||
               (d == 0 && may_repeat && ids->dims[0] == 1);
    return fits ? AMP_OK : amp_parameter_fail(ctx, i, "does not fit");
}

/* Sets or checks *SIZE, that of an embedding, by input I: a table, or a vector. */
static enum amp_status agree_size(struct amp_ctx *ctx, uint32_t i, int rank, int64_t *size)
{
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    int64_t last = shape->rank == rank ? shape->dims[rank - 1] : 0;
    if (shape->rank != rank || (last >= 0 && *size >= 0 && last != *size))
        return AMP_CTX_FAIL(ctx, "input %u needs rank %d and a last dim of %" PRId64, i, rank,
                            *size);
    *size = last >= 0 ? last : *size;
    return AMP_OK;
}

static enum amp_status shape_embed(struct amp_ctx *ctx)
{
    const struct amp_shape *words = &ctx->in[WORDS]->shape;
    int64_t size = AMP_DIM_UNKNOWN;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    for (uint32_t i = WORD_TABLE; i <= SEGMENT_TABLE; i++)
        AMP_TRY(agree_size(ctx, i, 2, &size));
    AMP_TRY(agree_size(ctx, E_GAMMA, 1, &size));
    AMP_TRY(agree_size(ctx, E_BETA, 1, &size));
    if (words->rank < 0)
        return AMP_OK;
    if (words->rank != 2)
        return AMP_CTX_FAIL(ctx, "word ids of rank %d; 2 is needed", words->rank);
    AMP_TRY(check_ids(ctx, SEGMENTS, false));
    AMP_TRY(check_ids(ctx, MASK, false));
    AMP_TRY(check_ids(ctx, POSITIONS, true));
    struct amp_shape embedding = {3, {words->dims[0], words->dims[1], size}};
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape = i == MASK_COUNT ? (struct amp_shape){1, {words->dims[0]}} : embedding;
    return AMP_OK;
}

/* The rows of the tables that make up the sum for one word; no segment where there is no table. */
struct embedding {
    int64_t ids[SEGMENT_TABLE - WORD_TABLE + 1];
};

static struct embedding embedding_of(const struct amp_ctx *ctx, int64_t i)
{
    int64_t length = ctx->in[WORDS]->shape.dims[1], position = i % length, segment = 0;
    if (amp_has_in(ctx, POSITIONS)) {
        bool is_repeated = ctx->in[POSITIONS]->shape.dims[0] == 1;
        position = amp_tensor_int(ctx->in[POSITIONS], (size_t)(is_repeated ? i % length : i));
    }
    if (amp_has_in(ctx, SEGMENTS))
        segment = amp_tensor_int(ctx->in[SEGMENTS], (size_t)i);
    return (struct embedding){{amp_tensor_int(ctx->in[WORDS], (size_t)i), position, segment}};
}

static enum amp_status check_embedding(struct amp_ctx *ctx, const struct embedding *embedding)
{
    for (uint32_t i = WORD_TABLE; i <= SEGMENT_TABLE; i++) {
        int64_t id = embedding->ids[i - WORD_TABLE];
        if (amp_has_in(ctx, i) && (id < 0 || id >= ctx->in[i]->shape.dims[0]))
            return AMP_CTX_FAIL(ctx, "id %" PRId64 " for input %u; it has %" PRId64 " rows", id, i,
                                ctx->in[i]->shape.dims[0]);
    }
    return AMP_OK;
}

/* ROW = the sum of SIZE elements each. */
static void add_rows(const struct amp_ctx *ctx, const struct embedding *embedding, int64_t size,
                     float *row)
{
    for (uint32_t i = WORD_TABLE; i <= SEGMENT_TABLE && amp_has_in(ctx, i); i++) {
        const float *from = (const float *)ctx->in[i]->data + embedding->ids[i - WORD_TABLE] * size;
        bool is_first = i == WORD_TABLE;
        AMP_SIMD for (int64_t k = 0; k < size; k++) row[k] = is_first ? from[k] : row[k] + from[k];
    }
}

static enum amp_status embed_words(struct amp_ctx *ctx, const struct amp_tensor *sum)
{
    int64_t size = sum->shape.dims[2], words = amp_shape_product(&sum->shape, 0, 2);
    for (int64_t i = 0; i < words; i++) {
        struct embedding embedding = embedding_of(ctx, i);
        AMP_TRY(check_embedding(ctx, &embedding));
    }
#pragma omp parallel for if (words * size >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < words; i++) {
        struct embedding embedding = embedding_of(ctx, i);
        add_rows(ctx, &embedding, size, (float *)sum->data + i * size);
    }
    return AMP_OK;
}

/* For each of the batch the number of words that the mask leaves; 0 without a mask. */
static void count_mask(const struct amp_ctx *ctx)
{
    const int64_t *dims = ctx->in[WORDS]->shape.dims;
    int32_t *counts = ctx->out[MASK_COUNT]->data;
    for (int64_t i = 0; i < dims[0]; i++) {
        counts[i] = 0;
        for (int64_t k = 0; k < dims[1] && amp_has_in(ctx, MASK); k++)
            counts[i] += amp_tensor_int(ctx->in[MASK], (size_t)(i * dims[1] + k)) == 1;
    }
}

static enum amp_status run_embed(struct amp_ctx *ctx)
{
    struct amp_tensor own = {.dtype = AMP_FLOAT, .shape = ctx->out[0]->shape};
    struct amp_tensor *sum = amp_has_out(ctx, EMBEDDING_SUM) ? ctx->out[EMBEDDING_SUM] : &own;
    if (sum == &own)
        AMP_TRY(amp_tensor_alloc(&own, ctx->err));
    enum amp_status status = embed_words(ctx, sum);
    if (status == AMP_OK)
        status = normalize(ctx, sum,
                           &(struct normalization){.op = &amp_op_layer_normalization,
                                                   .gamma = ctx->in[E_GAMMA],
                                                   .beta = ctx->in[E_BETA],
                                                   .n_out = 1});
    if (status == AMP_OK && amp_has_out(ctx, MASK_COUNT))
        count_mask(ctx);
    amp_tensor_release(&own);
    return status;
}

const struct amp_op amp_op_embed_layer_normalization = {
    .name = "EmbedLayerNormalization",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .shape = shape_embed,
    .run = run_embed,
    .destroy = amp_prim_destroy,
};
