/*
 * Activation functions. Each operator is an expression of the element x and of up to two float
 * attributes, a and b. An operator takes a tensor of any shape and gives one of the same shape and
 * dtype; PRelu and SwiGLU have a second input. A NaN stays a NaN.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/vector_math.h"

/* A float attribute and its default. */
struct parameter {
    const char *name; /* NULL: none */
    float fallback;
};

static enum amp_status run_activation(struct amp_ctx *ctx, amp_loop_body *const *table,
                                      const struct parameter *parameters)
{
    double values[2] = {0};
    for (int i = 0; i < 2; i++)
        if (parameters[i].name != NULL)
            values[i] = amp_node_float(ctx->node, parameters[i].name, parameters[i].fallback);
    return amp_map_run(ctx, table, values);
}

/* Operator NAME, whose bodies lower_<DTYPE> are there for TYPES. */
#define ACTIVATION(NAME, lower, version, TYPES, A, a_fallback, B, b_fallback, ...)       \
    static enum amp_status run_##lower(struct amp_ctx *ctx)                              \
    {                                                                                    \
        static amp_loop_body *const table[AMP_DTYPE_COUNT] = {TYPES(AMP_ROW, lower)};    \
        static const struct parameter parameters[] = {{A, a_fallback}, {B, b_fallback}}; \
        return run_activation(ctx, table, parameters);                                   \
    }                                                                                    \
    AMP_ELEMENTWISE(NAME, lower, version, amp_shape_same, __VA_ARGS__)

/* The common ones: float types, EARLY and EXPR as AMP_MAP_AB has them. */
#define FLOATS(NAME, lower, version, A, a_fallback, B, b_fallback, early, expr, ...) \
    AMP_FLOAT_TYPES(AMP_MAP_AB, lower, early, expr)                                  \
    ACTIVATION(NAME, lower, version, AMP_FLOAT_TYPES, A, a_fallback, B, b_fallback, __VA_ARGS__)

/* Those that oneDNN can do as a post-op: ALG, with the attributes as alpha and beta. */
#define FLOATS_POST(NAME, lower, version, ALG, A, a_fallback, B, b_fallback, early, expr, ...) \
    FLOATS(NAME, lower, version, A, a_fallback, B, b_fallback, early, expr,                    \
           POST(ALG, A, a_fallback, B, b_fallback), __VA_ARGS__)
#define POST(ALG, A, a_fallback, B, b_fallback)                                          \
    .post_op = &(const struct amp_post_op)                                               \
    {                                                                                    \
        .alg = dnnl_eltwise_##ALG, .alpha_attr = A, .alpha = a_fallback, .beta_attr = B, \
        .beta = b_fallback                                                               \
    }

#define POSITIVE(value) ((value) < 0 ? 0 : (value))
#define UNIT(value) ((value) < 0 ? 0 : (value) > 1 ? 1 : (value))
/* log(1 + exp(x)) without overflow. */
#define SOFTPLUS (POSITIVE(x) + log1p(exp(-fabs(x))))

/* Those that lie between a least value and the greater of x and 0. */
static bool bound_above(const struct amp_bound_call *call, double least, struct amp_interval *out)
{
    *out = (struct amp_interval){least, fmax(call->in[0].high, 0)};
    return true;
}

/* Relu, and what is near it below 0. */
static bool bound_relu(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = amp_interval_max(call->in[0], amp_interval_of(0));
    return true;
}

static bool bound_elu(const struct amp_bound_call *call, struct amp_interval *out)
{
    double alpha = (double)amp_node_float(call->node, "alpha", 1);
    return alpha > 0 && bound_above(call, -alpha, out);
}

/* The least values of x sigmoid(x), x tanh(softplus(x)) and of x (x / 6 + 1 / 2), rounded down. */
static bool bound_swish(const struct amp_bound_call *call, struct amp_interval *out)
{
    return (double)amp_node_float(call->node, "alpha", 1) == 1 && bound_above(call, -0.2785, out);
}

static bool bound_mish(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_above(call, -0.3089, out);
}

static bool bound_hard_swish(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_above(call, -0.3751, out);
}

/* A slope below 0 that is no more than 1 either way. */
static bool bound_leaky(const struct amp_bound_call *call, struct amp_interval *out)
{
    double slope = (double)amp_node_float(call->node, "alpha", 0.01f);
    *out = amp_interval_union(call->in[0], amp_interval_mul(call->in[0], amp_interval_of(slope)));
    return true;
}

/* Not below 0, nor more than 1 above Relu. */
static bool bound_softplus(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = (struct amp_interval){0, fmax(call->in[0].high, 0) + 1};
    return true;
}

FLOATS(Celu, celu, 28, "alpha", 1, NULL, 0, expm1(x / a), x > 0 ? x : a * e,
       .gradient = AMP_GRADIENT({.term = "Where(Greater(x, 0), g, Mul(g, Exp(Div(x, $alpha))))"}),
       .bound = bound_elu)
FLOATS_POST(Elu, elu, 22, elu, "alpha", 1, NULL, 0, expm1(x), x < 0 ? a * e : x,
            .gradient = AMP_GRADIENT({.term = "Where(Less(x, 0), Mul(g, Add(y, $alpha)), g)"}),
            .bound = bound_elu)
FLOATS_POST(
    HardSigmoid, hard_sigmoid, 22, hardsigmoid, "alpha", 0.2f, "beta", 0.5f, a *x + b, UNIT(e),
    .gradient = AMP_GRADIENT({.term = "Where(And(Greater(y, 0), Less(y, 1)), Mul(g, $alpha), 0)"}),
    .bound = amp_bound_unit)
FLOATS_POST(
    HardSwish, hard_swish, 22, hardswish, NULL, 1 / 6.f, NULL, 0.5f, x / 6 + 0.5f, x *UNIT(e),
    .gradient = AMP_GRADIENT(
        {.term =
             "Mul(g, Where(Less(Abs(x), 3), Add(Div(x, 3), 0.5), Where(Greater(x, 0), 1, 0)))"}),
    .fusion = &(const struct amp_fusion){.inputs = {"x"}}, .bound = bound_hard_swish)
FLOATS_POST(LeakyRelu, leaky_relu, 16, relu, "alpha", 0.01f, NULL, 0, 0, x < 0 ? a * x : x,
            .gradient = AMP_GRADIENT({.term = "Where(Less(x, 0), Mul(g, $alpha), g)"}),
            .bound = bound_leaky)
FLOATS_POST(
    Mish, mish, 22, mish, NULL, 0, NULL, 0, SOFTPLUS, x *tanh(e),
    .gradient = AMP_GRADIENT(
        {.term =
             "t = Tanh(Softplus(x)); Mul(g, Add(t, Mul(Mul(x, Sigmoid(x)), Sub(1, Mul(t, t)))))"}),
    .fusion = &(const struct amp_fusion){.inputs = {"x"}}, .bound = bound_mish)
FLOATS_POST(Sigmoid, sigmoid, 13, logistic, NULL, 0, NULL, 0, exp(-x), 1 / (1 + e),
            .role = AMP_ROLE_SIGMOID,
            .gradient = AMP_GRADIENT({.term = "Mul(g, Mul(y, Sub(1, y)))"}),
            .bound = amp_bound_unit)
FLOATS(Softplus, softplus, 22, NULL, 0, NULL, 0, SOFTPLUS, e,
       .gradient = AMP_GRADIENT({.term = "Mul(g, Sigmoid(x))"}), .bound = bound_softplus)
FLOATS(Softsign, softsign, 22, NULL, 0, NULL, 0, 1 + fabs(x), x / e,
       .gradient = AMP_GRADIENT({.term = "e = Add(1, Abs(x)); Div(g, Mul(e, e))"}),
       .bound = amp_bound_sign)
FLOATS_POST(
    Swish, swish, 24, swish, "alpha", 1, NULL, 0, exp(-a *x), x / (1 + e),
    .gradient = AMP_GRADIENT(
        {.term = "s = Sigmoid(Mul(x, $alpha)); Mul(g, Add(s, Mul(Mul(y, Sub(1, s)), $alpha)))"}),
    .fusion = &(const struct amp_fusion){.inputs = {"x"}, .attr = "alpha", .scalar = "a"},
    .bound = bound_swish)
FLOATS(ThresholdedRelu, thresholded_relu, 22, "alpha", 1, NULL, 0, 0, x > a ? x : 0,
       .gradient = AMP_GRADIENT({.term = "Where(Greater(x, $alpha), g, 0)"}),
       .bound = amp_bound_padded)

#define RELU_TYPES(X, ...) AMP_FLOAT_TYPES(X, __VA_ARGS__) AMP_SIGNED_TYPES(X, __VA_ARGS__)
RELU_TYPES(AMP_MAP, relu, POSITIVE(x))
ACTIVATION(Relu, relu, 14, RELU_TYPES, NULL, 0, NULL, 0,
           .gradient = AMP_GRADIENT({.term = "Where(Greater(x, 0), g, 0)"}),
           POST(relu, NULL, 0, NULL, 0), .bound = bound_relu, .picks = true)

/* Integers take part as float64: the attributes need not be whole. */
#define SHRUNK(x) ((x) < -a ? (x) + b : (x) > a ? (x)-b : 0)
#define MAP_SHRINK_INTEGER(DTYPE, T, name) \
    AMP_MAP_FULL(DTYPE, T, name, T, AMP_AB(double), 0, amp_f64_to_i64(SHRUNK((double)x)))
AMP_FLOAT_TYPES(AMP_MAP_AB, shrink, 0, SHRUNK(x))
AMP_INTEGER_TYPES(MAP_SHRINK_INTEGER, shrink)
ACTIVATION(Shrink, shrink, 9, AMP_REAL_TYPES, "lambd", 0.5f, "bias", 0,
           .gradient = AMP_GRADIENT({.term = "Where(Greater(Abs(x), $lambd), g, 0)"}))

/* Version 1 had shorter defaults. */
AMP_FLOAT_TYPES(AMP_MAP_AB, selu, expm1(x), x > 0 ? b * x : b * a * e)
static enum amp_status run_selu(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, selu)};
    static const struct parameter first[] = {{"alpha", 1.6732f}, {"gamma", 1.0507f}},
                                  later[] = {{"alpha", 1.67326319217681884765625f},
                                             {"gamma", 1.05070102214813232421875f}};
    return run_activation(ctx, table, ctx->node->since_version < 6 ? first : later);
}
AMP_ELEMENTWISE(
    Selu, selu, 22, amp_shape_same,
    .gradient = AMP_GRADIENT(
        {.term = "Where(Greater(x, 0), Mul(g, $gamma), Mul(g, Add(y, Mul($gamma, $alpha))))"}))

/* The slope's shape as it lines up with X: one value per channel before version 7. */
static void align_slope(const struct amp_ctx *ctx, struct amp_shape *shape)
{
    int rank = ctx->in[0]->shape.rank;
    *shape = ctx->in[1]->shape;
    if (!amp_broadcasts_by_attributes(ctx->node) || shape->rank != 1 || shape->dims[0] == 1)
        return;
    for (shape->rank = rank < 0 ? -1 : 1; shape->rank < rank - 1; shape->rank++)
        shape->dims[shape->rank] = 1;
}

static enum amp_status shape_prelu(struct amp_ctx *ctx)
{
    struct amp_shape slope;
    align_slope(ctx, &slope);
    return amp_zip_shape_into(ctx, &slope);
}

AMP_FLOAT_TYPES(AMP_ZIP, prelu, x < 0 ? x * y : x)
AMP_SIGNED_TYPES(AMP_ZIP, prelu, x < 0 ? (uint64_t)x * (uint64_t)y : (uint64_t)x)
AMP_UNSIGNED_TYPES(AMP_ZIP, prelu, ((void)y, x))
static enum amp_status run_prelu(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, prelu)};
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    struct amp_tensor slope = *ctx->in[1];
    align_slope(ctx, &slope.shape);
    amp_zip_loop(ctx, body, &slope);
    return AMP_OK;
}
AMP_ELEMENTWISE(
    PRelu, prelu, 16, shape_prelu,
    .gradient = AMP_GRADIENT({.term = "Where(Less(x, 0), Mul(g, b), g)"},
                             {.input = 1, .term = "SumTo(Where(Less(a, 0), Mul(g, a), 0))"}),
    .changes = AMP_CHANGES({7,
                            "the slope is broadcast as NumPy does, no longer along the channels"}))

/* swish(x) y, of the same shape: nothing is broadcast. */
static enum amp_status shape_swi_glu(struct amp_ctx *ctx)
{
    const struct amp_shape *gate = &ctx->in[0]->shape, *value = &ctx->in[1]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    char text[200], text_gate[200];
    *out = gate->rank < 0 ? *value : *gate;
    if (gate->rank < 0 || value->rank < 0)
        return AMP_OK;
    bool fits = gate->rank == value->rank;
    for (int d = 0; fits && d < gate->rank; d++)
        fits = amp_dim_merge(gate->dims[d], value->dims[d], &out->dims[d]);
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "B has shape %s; that of A, %s, is needed",
                        amp_shape_text(value, text, sizeof text),
                        amp_shape_text(gate, text_gate, sizeof text_gate));
}

#define SWI_GLU(DTYPE, T, ...)                                                   \
    static void swi_glu_##DTYPE(int64_t n, void *const *at, const int64_t *step, \
                                const void *param)                               \
    {                                                                            \
        const T *gates = at[1], *values = at[2], alpha = *(const float *)param;  \
        T *to = at[0];                                                           \
        for (int64_t i = 0; i < n; i++) {                                        \
            const T x = gates[i * step[1]];                                      \
            to[i] = x / (1 + (T)exp(-alpha * x)) * values[i * step[2]];          \
        }                                                                        \
    }
AMP_FLOAT_TYPES(SWI_GLU)
static enum amp_status run_swi_glu(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, swi_glu)};
    const float alpha = amp_node_float(ctx->node, "alpha", 1);
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[0]);
    amp_loop_tensor(&loop, ctx->in[1]);
    amp_loop_compute(&loop, body, &alpha);
    return AMP_OK;
}
AMP_ELEMENTWISE(SwiGLU, swi_glu, 28, shape_swi_glu)
