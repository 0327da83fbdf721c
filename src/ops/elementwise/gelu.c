/*
 * Gelu, x Phi(x) with the normal distribution Phi, and its approximations by tanh and by a sigmoid,
 * each also of x plus a bias (ONNX Gelu-20; com.microsoft BiasGelu, FastGelu, Gelu and QuickGelu of
 * ONNX Runtime). A NaN stays a NaN.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

#include <string.h>

#define MICROSOFT "com.microsoft"

/* With the root of 1/2 x Phi(x) is x/2 erfc(-x root), the approximation x/2 (1 + tanh(u)) is
   x / (1 + exp(-2 u)), TANH_FACTOR being twice the root of 2/pi (Hendrycks and Gimpel, "Gaussian
   error linear units", 2016). In these forms nothing cancels where x is far below 0. */
#define ROOT 0.70710678118654752440
#define TANH_FACTOR 1.59576912160573071176
#define TANH_CUBE 0.044715
#define EXACT(T, x) ((x) / 2 * erfc(-(T)ROOT * (x)))
#define BY_TANH(T, x) ((x) / (1 + exp(-(T)TANH_FACTOR * ((x) + (T)TANH_CUBE * (x) * (x) * (x)))))

#define BODIES(DTYPE, T, ...)                        \
    AMP_MAP(DTYPE, T, exact, EXACT(T, x))            \
    AMP_MAP(DTYPE, T, by_tanh, BY_TANH(T, x))        \
    AMP_ZIP(DTYPE, T, biased_exact, EXACT(T, x + y)) \
    AMP_ZIP(DTYPE, T, biased_by_tanh, BY_TANH(T, x + y))
AMP_FLOAT_TYPES(BODIES)
AMP_FLOAT_TYPES(AMP_MAP_AB, by_sigmoid, exp(-a *x), x / (1 + e))

static amp_loop_body *const exact[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, exact)};
static amp_loop_body *const by_tanh[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, by_tanh)};
static amp_loop_body *const by_sigmoid[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, by_sigmoid)};
static amp_loop_body *const biased_exact[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, biased_exact)};
static amp_loop_body *const biased_by_tanh[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, biased_by_tanh)};

static enum amp_status run_gelu(struct amp_ctx *ctx)
{
    static const char *const kinds[] = {"none", "tanh", NULL};
    int kind = 0;
    AMP_TRY(amp_ctx_choice(ctx, "approximate", kinds, &kind));
    return amp_map_run(ctx, kind == 0 ? exact : by_tanh, NULL);
}
static bool read_post(const struct amp_model *model, const struct amp_node *node,
                      struct amp_post *post)
{
    (void)model;
    bool is_tanh = strcmp(amp_node_string(node, "approximate", "none"), "tanh") == 0;
    post->alg = is_tanh ? dnnl_eltwise_gelu_tanh : dnnl_eltwise_gelu_erf;
    return true;
}

/* Its least value is -0.17, by tanh as well. */
static bool bound_gelu(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = (struct amp_interval){-0.1701, fmax(call->in[0].high, 0)};
    return true;
}

/* Phi(x) + x phi(x), the derivative. */
#define EXACT_SLOPE                                            \
    "cdf = Mul(0.5, Add(1, Erf(Mul(x, 0.7071067811865476))));" \
    "Mul(g, Add(cdf, Mul(Mul(x, 0.3989422804014327), Exp(Mul(-0.5, Mul(x, x))))))"
AMP_ELEMENTWISE(
    Gelu, gelu, 20, amp_shape_same, .bound = bound_gelu,
    .gradient = AMP_GRADIENT(
        {.when = "approximate=none", .term = EXACT_SLOPE},
        {.term = "t = Tanh(Mul(0.7978845608028654, Add(x, Mul(0.044715, Mul(x, Mul(x, x))))));"
                 "slope = Mul(0.7978845608028654, Add(1, Mul(0.134145, Mul(x, x))));"
                 "Mul(Mul(g, 0.5), Add(Add(1, t), Mul(Mul(x, slope), Sub(1, Mul(t, t)))))"}),
    .fusion = &(const struct amp_fusion){.inputs = {"x"},
                                         .part = "Tanh",
                                         .form_attr = "approximate",
                                         .form = {"tanh", 4}},
    .post_op = &(const struct amp_post_op){.read = read_post})

static enum amp_status run_gelu_exact(struct amp_ctx *ctx)
{
    return amp_map_run(ctx, exact, NULL);
}
AMP_ELEMENTWISE_OF(MICROSOFT, Gelu, gelu_exact, 1, amp_shape_same, .bound = bound_gelu,
                   .gradient = AMP_GRADIENT({.term = EXACT_SLOPE}))

static enum amp_status run_quick_gelu(struct amp_ctx *ctx)
{
    const double ab[] = {(double)amp_node_float(ctx->node, "alpha", 1.702f), 0};
    return amp_map_run(ctx, by_sigmoid, ab);
}
AMP_ELEMENTWISE_OF(
    MICROSOFT, QuickGelu, quick_gelu, 1, amp_shape_same,
    .gradient = AMP_GRADIENT(
        {.term = "s = Sigmoid(Mul(x, $alpha)); Mul(g, Add(s, Mul(Mul(y, Sub(1, s)), $alpha)))"}))

/* The bias broadcasts to X. */
static enum amp_status shape_biased(struct amp_ctx *ctx)
{
    return amp_has_in(ctx, 1) ? amp_zip_shape_into(ctx, &ctx->in[1]->shape) : amp_shape_same(ctx);
}

static enum amp_status run_biased(struct amp_ctx *ctx, amp_loop_body *const *table)
{
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->in[0]->dtype));
    amp_zip_loop(ctx, body, ctx->in[1]);
    return AMP_OK;
}

static enum amp_status run_bias_gelu(struct amp_ctx *ctx)
{
    return run_biased(ctx, biased_exact);
}
AMP_ELEMENTWISE_OF(MICROSOFT, BiasGelu, bias_gelu, 1, shape_biased)

static enum amp_status run_fast_gelu(struct amp_ctx *ctx)
{
    return amp_has_in(ctx, 1) ? run_biased(ctx, biased_by_tanh) : amp_map_run(ctx, by_tanh, NULL);
}
AMP_ELEMENTWISE_OF(MICROSOFT, FastGelu, fast_gelu, 1, shape_biased)
