/*
 * Products and convolutions with what ONNX Runtime fuses into them (com.microsoft FusedConv,
 * FusedGemm, FusedMatMul and its older name TransposeMatMul): transposed operands, a factor, a sum
 * with another tensor, an activation. Conv, Gemm, MatMul and the activations do the work.
 */
#include "core/array.h"
#include "ops/conv/conv.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/prim.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"

#include <stdio.h>
#include <string.h>

#define MICROSOFT "com.microsoft"

#define ACTIVATIONS(X)                            \
    X(Clip, clip, "min", "max")                   \
    X(Elu, elu, "alpha", NULL)                    \
    X(HardSigmoid, hard_sigmoid, "alpha", "beta") \
    X(LeakyRelu, leaky_relu, "alpha", NULL)       \
    X(Relu, relu, NULL, NULL)                     \
    X(Selu, selu, "alpha", "gamma")               \
    X(Sigmoid, sigmoid, NULL, NULL)               \
    X(Softplus, softplus, NULL, NULL)             \
    X(Softsign, softsign, NULL, NULL)             \
    X(Tanh, tanh, NULL, NULL)                     \
    X(ThresholdedRelu, thresholded_relu, "alpha", NULL)
#define DECLARE(NAME, lower, ...) extern const struct amp_op amp_op_##lower;
ACTIVATIONS(DECLARE)
extern const struct amp_op amp_op_add, amp_op_conv, amp_op_gemm;

enum {
    MAX_PARAMS = 2,
    VERSION = 10 /* of activations: all of their parameters are attributes */
};

struct activation {
    const char *name;
    const struct amp_op *op;
    const char *params[MAX_PARAMS + 1]; /* attributes of the operator, NULL behind the last */
};

#define ACTIVATION(NAME, lower, first, second) {#NAME, &amp_op_##lower, {first, second, NULL}},
static const struct activation activations[] = {ACTIVATIONS(ACTIVATION)};

/* The activation that the node asks for; NULL: none. */
static enum amp_status find_activation(const struct amp_ctx *ctx, const struct activation **found)
{
    const char *name = amp_node_string(ctx->node, "activation", "");
    *found = NULL;
    if (name[0] == '\0')
        return AMP_OK;
    for (size_t i = 0; i < AMP_COUNT(activations); i++)
        if (strcmp(activations[i].name, name) == 0)
            *found = &activations[i];
    return *found != NULL ? AMP_OK
                          : amp_fail(ctx->err, AMP_UNSUPPORTED, "no activation '%.40s'", name);
}

/* AMP_UNSUPPORTED, so that the node computes in float32, where its result would be rounded to a
   lower dtype twice: before ACTIVATION, or a sum, and after it. Relu and Clip choose among numbers
   that are rounded already. */
static enum amp_status check_rounding(const struct amp_ctx *ctx,
                                      const struct activation *activation, bool has_sum)
{
    enum amp_dtype dtype = ctx->out[0]->dtype;
    bool is_exact =
        activation == NULL || activation->op == &amp_op_relu || activation->op == &amp_op_clip;
    if (amp_compute_dtype(dtype) == dtype || (is_exact && !has_sum))
        return AMP_OK;
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "%s would be rounded twice", amp_dtype_name(dtype));
}

/* Applies ACTIVATION, with the first N of its parameters, to output 0 in place. */
static enum amp_status activate(struct amp_ctx *ctx, const struct activation *activation,
                                struct amp_attr *params, uint32_t n)
{
    void *none = NULL;
    struct amp_call call = {.op = activation->op,
                            .version = VERSION,
                            .attrs = params,
                            .n_attrs = n,
                            .in = {ctx->out[0]},
                            .n_in = 1,
                            .out = {ctx->out[0]},
                            .n_out = 1,
                            .state = &none};
    return amp_call_run(ctx, &call);
}

static struct amp_attr param(const char *name, const float *value)
{
    return (struct amp_attr){.name = name, .type = AMP_ATTR_FLOAT, .count = 1, .floats = value};
}

/* ---- FusedMatMul --------------------------------------------------------------------------- */

static bool is_set(const struct amp_ctx *ctx, const char *name, const struct amp_shape *shape)
{
    return shape->rank > 1 && amp_node_int(ctx->node, name, 0) != 0;
}

/* The dims of SHAPE in the order [1, .., rank - 2, 0, rank - 1]. */
static void move_batch(struct amp_shape *shape)
{
    int64_t first = shape->dims[0];
    memmove(shape->dims, shape->dims + 1, (size_t)(shape->rank - 2) * sizeof *shape->dims);
    shape->dims[shape->rank - 2] = first;
}

/* The shape of input I as an operand of MatMul. */
static struct amp_shape operand_shape(const struct amp_ctx *ctx, uint32_t i)
{
    struct amp_shape shape = ctx->in[i]->shape;
    if (is_set(ctx, i == 0 ? "transBatchA" : "transBatchB", &shape))
        move_batch(&shape);
    if (is_set(ctx, i == 0 ? "transA" : "transB", &shape)) {
        int64_t rows = shape.dims[shape.rank - 2];
        shape.dims[shape.rank - 2] = shape.dims[shape.rank - 1];
        shape.dims[shape.rank - 1] = rows;
    }
    return shape;
}

static enum amp_status shape_matmul(struct amp_ctx *ctx)
{
    struct amp_shape a = operand_shape(ctx, 0), b = operand_shape(ctx, 1);
    return amp_matmul_shape(&a, &b, &ctx->out[0]->shape, ctx->err);
}

/* Sets *COPY to input I with its batch dims before its rows, *OPERAND to it or to the input. */
static enum amp_status order_batch(struct amp_ctx *ctx, uint32_t i, struct amp_tensor *copy,
                                   const struct amp_tensor **operand)
{
    const struct amp_tensor *in = ctx->in[i];
    *operand = in;
    if (!is_set(ctx, i == 0 ? "transBatchA" : "transBatchB", &in->shape))
        return AMP_OK;
    *copy = (struct amp_tensor){.dtype = in->dtype, .shape = in->shape};
    struct amp_shape strides = {.rank = in->shape.rank};
    size_t size = amp_dtype_bits(in->dtype) / 8;
    int64_t own[AMP_RANK_MAX];
    struct amp_loop loop;
    amp_strides(&in->shape, strides.dims);
    move_batch(&copy->shape);
    move_batch(&strides);
    AMP_TRY(amp_tensor_alloc(copy, ctx->err));
    amp_strides(&copy->shape, own);
    amp_loop_init(&loop, copy->shape.rank, copy->shape.dims);
    amp_loop_view(&loop, copy->data, size, own);
    amp_loop_view(&loop, in->data, size, strides.dims);
    amp_loop_run(&loop, amp_loop_copy(in->dtype), NULL);
    *operand = copy;
    return AMP_OK;
}

static enum amp_status run_matmul(struct amp_ctx *ctx)
{
    struct amp_tensor copies[2] = {{.data = NULL}, {.data = NULL}};
    const struct amp_tensor *in[2];
    struct amp_shape a = operand_shape(ctx, 0), b = operand_shape(ctx, 1);
    struct amp_matmul product = amp_matmul_of(&a, &b);
    product.alpha = amp_node_float(ctx->node, "alpha", 1);
    product.is_a_transposed = is_set(ctx, "transA", &a);
    product.is_b_transposed = is_set(ctx, "transB", &b);
    enum amp_status status = order_batch(ctx, 0, &copies[0], &in[0]);
    if (status == AMP_OK)
        status = order_batch(ctx, 1, &copies[1], &in[1]);
    if (status == AMP_OK) {
        bool is_constant[] = {ctx->is_constant[0] && in[0] != &copies[0],
                              ctx->is_constant[1] && in[1] != &copies[1]};
        struct amp_ctx inner = *ctx;
        inner.in = in;
        inner.is_constant = is_constant;
        status = amp_matmul_run(&inner, &product);
    }
    amp_tensors_release(copies, AMP_COUNT(copies));
    return status;
}

#define FUSED_MATMUL(NAME, lower, ...)                                 \
    const struct amp_op amp_op_##lower = {.name = #NAME,               \
                                          .domain = MICROSOFT,         \
                                          .newest = 1,                 \
                                          .effect = AMP_COMPUTES,      \
                                          .native = AMP_NATIVE_DNNL,   \
                                          .shape = shape_matmul,       \
                                          .run = run_matmul,           \
                                          .destroy = amp_prim_destroy, \
                                          .reads = amp_prim_reads,     \
                                          __VA_ARGS__};
FUSED_MATMUL(FusedMatMul, fused_matmul, .flops = {amp_flops_matmul, 0})
FUSED_MATMUL(TransposeMatMul, transpose_matmul)

/* ---- FusedGemm ----------------------------------------------------------------------------- */

/* FUNCTION of Gemm, of the version that broadcasts C. */
static enum amp_status as_gemm(struct amp_ctx *ctx,
                               enum amp_status (*function)(struct amp_ctx *ctx))
{
    struct amp_node node = *ctx->node;
    struct amp_ctx inner = *ctx;
    node.since_version = amp_op_gemm.newest;
    inner.node = &node;
    return function(&inner);
}

static enum amp_status shape_gemm(struct amp_ctx *ctx)
{
    return as_gemm(ctx, amp_op_gemm.shape);
}

static enum amp_status run_gemm(struct amp_ctx *ctx)
{
    const struct activation *activation;
    struct amp_attr params[MAX_PARAMS];
    uint32_t n = 0;
    AMP_TRY(find_activation(ctx, &activation));
    AMP_TRY(check_rounding(ctx, activation, false));
    AMP_TRY(as_gemm(ctx, amp_op_gemm.run));
    if (activation == NULL)
        return AMP_OK;
    for (int i = 0; activation->params[i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "activation_%s", activation->params[i]);
        const struct amp_attr *attr = amp_node_attr(ctx->node, name);
        if (attr != NULL)
            params[n++] = param(activation->params[i], attr->floats);
    }
    return activate(ctx, activation, params, n);
}

const struct amp_op amp_op_fused_gemm = {
    .name = "FusedGemm",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .lacks = AMP_DTYPE_BIT(AMP_UINT32) | AMP_DTYPE_BIT(AMP_UINT64), /* activations have none */
    .flops = {amp_flops_matmul, 0},
    .shape = shape_gemm,
    .run = run_gemm,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};

/* ---- FusedConv ----------------------------------------------------------------------------- */

enum { ADDEND = 3 };

static enum amp_status add(struct amp_ctx *ctx)
{
    const struct amp_tensor *addend = ctx->in[ADDEND];
    struct amp_tensor *y = ctx->out[0];
    void *none = NULL;
    char text[200], text_y[200];
    if (!amp_shape_equal(&addend->shape, &y->shape))
        return AMP_CTX_FAIL(ctx, "shape %s cannot be added to %s",
                            amp_shape_text(&addend->shape, text, sizeof text),
                            amp_shape_text(&y->shape, text_y, sizeof text_y));
    struct amp_call call = {.op = &amp_op_add,
                            .version = 14,
                            .in = {y, addend},
                            .n_in = 2,
                            .out = {y},
                            .n_out = 1,
                            .state = &none};
    return amp_call_run(ctx, &call);
}

static enum amp_status shape_conv(struct amp_ctx *ctx)
{
    return amp_op_conv.shape(ctx);
}

static enum amp_status run_conv(struct amp_ctx *ctx)
{
    const struct activation *activation;
    struct amp_attr params[MAX_PARAMS];
    uint32_t n = 0;
    AMP_TRY(find_activation(ctx, &activation));
    AMP_TRY(check_rounding(ctx, activation, amp_has_in(ctx, ADDEND)));
    AMP_TRY(amp_op_conv.run(ctx));
    AMP_TRY(amp_layout_undo_output(ctx, 0));
    if (amp_has_in(ctx, ADDEND))
        AMP_TRY(add(ctx));
    if (activation == NULL)
        return AMP_OK;
    const struct amp_attr *attr = amp_node_attr(ctx->node, "activation_params");
    size_t given = attr != NULL ? attr->count : 0;
    for (; activation->params[n] != NULL && n < given; n++)
        params[n] = param(activation->params[n], &attr->floats[n]);
    return activate(ctx, activation, params, n);
}

const struct amp_op amp_op_fused_conv = {
    .name = "FusedConv",
    .domain = MICROSOFT,
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .flops = {amp_flops_convolution, 1},
    .shape = shape_conv,
    .run = run_conv,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};
