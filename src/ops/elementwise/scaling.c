/*
 * The operators that scale, shift and bend by numbers in attributes: experiments of ONNX's first
 * opsets, dropped in opset 10, of which models from Core ML, Caffe2 and Keras are made. Each takes
 * a tensor and gives one of the same shape and dtype. Source: the experimental operators of ONNX
 * 1.3, and what ONNX Runtime's kernels make of them.
 */
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

/* ---- the same for all elements ----------------------------------------------------------------
 */

/* Reads the attributes named A and, unless NULL, B to VALUES: 1 and 0 where they are absent. */
static void read_pair(const struct amp_ctx *ctx, const char *a, const char *b, double *values)
{
    values[0] = (double)amp_node_float(ctx->node, a, 1);
    values[1] = b == NULL ? 0 : (double)amp_node_float(ctx->node, b, 0);
}

/* Operator NAME: EXPR of x, a, b and e, which is EARLY; A and B name the attributes. */
#define SCALING(NAME, lower, shape, A, B, early, expr, ...)                                     \
    AMP_FLOAT_TYPES(AMP_MAP_AB, lower, early, expr)                                             \
    static enum amp_status run_##lower(struct amp_ctx *ctx)                                     \
    {                                                                                           \
        static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, lower)}; \
        double values[2];                                                                       \
        read_pair(ctx, A, B, values);                                                           \
        return amp_map_run(ctx, table, values);                                                 \
    }                                                                                           \
    AMP_ELEMENTWISE(NAME, lower, 1, shape, __VA_ARGS__)

#define LINEAR(A, B)                                                            \
    .post_op = &(const struct amp_post_op)                                      \
    {                                                                           \
        .alg = dnnl_eltwise_linear, .alpha_attr = A, .alpha = 1, .beta_attr = B \
    }

/* Attributes alpha and beta, which have no defaults. */
static enum amp_status shape_bent(struct amp_ctx *ctx)
{
    static const char *const needed[] = {"alpha", "beta"};
    for (int i = 0; i < 2; i++)
        if (amp_node_attr(ctx->node, needed[i]) == NULL)
            return AMP_CTX_FAIL(ctx, "attribute '%s' is missing", needed[i]);
    return amp_shape_same(ctx);
}

SCALING(Affine, affine, amp_shape_same, "alpha", "beta", 0, a *x + b, LINEAR("alpha", "beta"))
SCALING(Scale, scale, amp_shape_same, "scale", NULL, 0, a *x, LINEAR("scale", NULL))
SCALING(ParametricSoftplus, parametric_softplus, shape_bent, "alpha", "beta", b *x,
        a *((e < 0 ? 0 : e) + log1p(exp(-fabs(e)))))
SCALING(ScaledTanh, scaled_tanh, shape_bent, "alpha", "beta", tanh(b *x), a *e)

/* ---- by channel -------------------------------------------------------------------------------
 */

/* The biases of an image [N, C, H, W], one per channel; NULL: none. */
static const float *biases_of(const struct amp_ctx *ctx, size_t *count)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, "bias");
    *count = attr != NULL ? attr->count : 0;
    return *count > 0 ? attr->floats : NULL;
}

static enum amp_status shape_image_scaler(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    size_t count;
    AMP_TRY(amp_shape_same(ctx));
    if (in->rank >= 0 && in->rank != 4)
        return AMP_CTX_FAIL(ctx, "input 0 has %d dims; 4 are needed", in->rank);
    if (biases_of(ctx, &count) != NULL && in->rank == 4 && in->dims[1] >= 0 &&
        in->dims[1] != (int64_t)count)
        return AMP_CTX_FAIL(ctx, "bias has %zu values; the input has %lld channels", count,
                            (long long)in->dims[1]);
    return AMP_OK;
}

/* Runs BODY over plane PLANE of SIZE elements, by VALUES. */
static void run_plane(struct amp_ctx *ctx, amp_loop_body *body, int64_t plane, int64_t size,
                      const double *values)
{
    struct amp_tensor to = *ctx->out[0], from = *ctx->in[0];
    size_t offset = (size_t)(plane * size) * (amp_dtype_bits(from.dtype) / 8);
    struct amp_loop loop;
    from.shape = to.shape = (struct amp_shape){1, {size}};
    from.data = (char *)from.data + offset;
    to.data = (char *)to.data + offset;
    amp_loop_init(&loop, 1, to.shape.dims);
    amp_loop_tensor(&loop, &to);
    amp_loop_tensor(&loop, &from);
    amp_loop_compute(&loop, body, values);
}

/* y = scale x + bias of the channel. */
static enum amp_status run_image_scaler(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, affine)};
    const int64_t *dims = ctx->in[0]->shape.dims;
    size_t count;
    const float *biases = biases_of(ctx, &count);
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    double values[2] = {(double)amp_node_float(ctx->node, "scale", 1), 0};
    for (int64_t i = 0; i < dims[0] * dims[1]; i++) {
        values[1] = biases != NULL ? (double)biases[i % dims[1]] : 0;
        run_plane(ctx, body, i, dims[2] * dims[3], values);
    }
    return AMP_OK;
}

const struct amp_op amp_op_image_scaler = {
    .name = "ImageScaler",
    .newest = 1,
    .meanings = AMP_MEANINGS({AMP_MEANS_PIXELS, 0, NULL}),
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = shape_image_scaler,
    .run = run_image_scaler,
};
