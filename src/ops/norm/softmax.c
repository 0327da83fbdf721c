/*
 * Softmax, LogSoftmax and Hardmax: along one axis, or before version 13 along all dims from the
 * axis on. oneDNN computes the first two, plain C those in float64 and Hardmax; a kernel of our own
 * rows of bfloat16, where there is one (ops/own/kernels.h).
 */
#include "ops/bound.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"
#include "ops/own/kernels.h"

#include <math.h>

/* A tensor seen as [outer, count, inner], normalized along count. */
struct view {
    int64_t outer, count, inner;
};

static enum amp_status find_view(struct amp_ctx *ctx, struct view *view)
{
    const struct amp_shape *shape = &ctx->in[0]->shape;
    bool is_flat = ctx->node->since_version < 13;
    int axis;
    AMP_TRY(
        amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", is_flat ? 1 : -1), shape->rank, &axis));
    int end = is_flat ? shape->rank : axis + 1;
    view->outer = amp_shape_product(shape, 0, axis);
    view->count = amp_shape_product(shape, axis, end);
    view->inner = amp_shape_product(shape, end, shape->rank);
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct view view;
    ctx->out[0]->shape = ctx->in[0]->shape;
    return ctx->in[0]->shape.rank < 0 ? AMP_OK : find_view(ctx, &view);
}

/* ---- plain C ------------------------------------------------------------------------------- */

/* Y from X, N elements that lie STEP apart in both. */
typedef void row_kernel(const void *x, void *y, int64_t n, int64_t step);

/* The sum of exp(x - largest x), in double. */
#define SUM_EXP(DTYPE, T, ...)                                                          \
    static double sum_exp_##DTYPE(const T *x, int64_t n, int64_t step, double *largest) \
    {                                                                                   \
        *largest = -INFINITY;                                                           \
        for (int64_t i = 0; i < n; i++)                                                 \
            *largest = fmax(*largest, (double)x[i * step]);                             \
        double sum = 0;                                                                 \
        for (int64_t i = 0; i < n; i++)                                                 \
            sum += exp((double)x[i * step] - *largest);                                 \
        return sum;                                                                     \
    }
AMP_FLOAT_TYPES(SUM_EXP)

#define SOFTMAX(DTYPE, T, ...)                                                     \
    static void softmax_##DTYPE(const void *x, void *y, int64_t n, int64_t step)   \
    {                                                                              \
        const T *from = x;                                                         \
        double largest, sum = sum_exp_##DTYPE(from, n, step, &largest);            \
        for (int64_t i = 0; i < n; i++)                                            \
            ((T *)y)[i * step] = (T)(exp((double)from[i * step] - largest) / sum); \
    }
AMP_FLOAT_TYPES(SOFTMAX)

#define LOG_SOFTMAX(DTYPE, T, ...)                                                   \
    static void log_softmax_##DTYPE(const void *x, void *y, int64_t n, int64_t step) \
    {                                                                                \
        const T *from = x;                                                           \
        double largest, sum = sum_exp_##DTYPE(from, n, step, &largest);              \
        for (int64_t i = 0; i < n; i++)                                              \
            ((T *)y)[i * step] = (T)((double)from[i * step] - largest - log(sum));   \
    }
AMP_FLOAT_TYPES(LOG_SOFTMAX)

/* 1 for the first of the largest (a NaN counts as larger than all numbers), 0 for the others. */
#define HARDMAX(DTYPE, T, ...)                                                   \
    static void hardmax_##DTYPE(const void *x, void *y, int64_t n, int64_t step) \
    {                                                                            \
        const T *from = x;                                                       \
        int64_t best = 0;                                                        \
        for (int64_t i = 0; i < n; i++) {                                        \
            T value = from[i * step], largest = from[best * step];               \
            if (value > largest || (isnan(value) && !isnan(largest)))            \
                best = i;                                                        \
            ((T *)y)[i * step] = 0;                                              \
        }                                                                        \
        ((T *)y)[best * step] = 1;                                               \
    }
AMP_FLOAT_TYPES(HARDMAX)

static enum amp_status run_rows(struct amp_ctx *ctx, row_kernel *const *table)
{
    struct view view;
    row_kernel *kernel;
    AMP_PICK(ctx, kernel, table, ctx->in[0]->dtype);
    AMP_TRY(find_view(ctx, &view));
    if (view.count == 0)
        return AMP_OK;
    size_t size = amp_dtype_bits(ctx->in[0]->dtype) / 8;
    int64_t rows = view.outer * view.inner;
#pragma omp parallel for if (rows * view.count >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        int64_t first = i / view.inner * view.count * view.inner + i % view.inner;
        kernel((const char *)ctx->in[0]->data + (size_t)first * size,
               (char *)ctx->out[0]->data + (size_t)first * size, view.count, view.inner);
    }
    return AMP_OK;
}

/* ---- oneDNN -------------------------------------------------------------------------------- */

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim, dnnl_alg_kind_t algorithm)
{
    struct view view;
    dnnl_memory_desc_t from, to;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(find_view(ctx, &view));
    int64_t dims[] = {view.outer, view.count, view.inner};
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[0]->dtype, 3, dims), &from));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->out[0]->dtype, 3, dims), &to));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_prim_set_posts(ctx, prim, NULL, 3, dims));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_softmax_forward_primitive_desc_create(&pd, ctx->host->dnnl->engine,
                                                                      dnnl_forward_inference,
                                                                      algorithm, from, to, 1, attr),
                           "softmax"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, from));
    return amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, to);
}

static enum amp_status run_or(struct amp_ctx *ctx, amp_prim_make *make_it,
                              enum amp_status (*plain)(struct amp_ctx *ctx))
{
    return amp_tensor_count(ctx->in[0]) == 0 ? AMP_OK : amp_prim_run_or(ctx, make_it, plain);
}

/* ---- the operators ------------------------------------------------------------------------- */

static enum amp_status make_softmax(struct amp_ctx *ctx, struct amp_prim *prim)
{
    return make(ctx, prim, dnnl_softmax_accurate);
}

static enum amp_status plain_softmax(struct amp_ctx *ctx)
{
    static row_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, softmax)};
    return run_rows(ctx, table);
}

/* Runs a kernel of our own where one is for these rows; false: none is. */
static bool run_own(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    struct view view;
    if (in->dtype != out->dtype || ctx->n_posts != 0 || find_view(ctx, &view) != AMP_OK ||
        view.inner != 1)
        return false;
    const struct amp_softmax_kernel *kernel = amp_own_softmax(in->dtype, view.count);
    if (kernel != NULL)
        kernel->run(in->data, out->data, view.outer, view.count);
    return kernel != NULL;
}

static enum amp_status run_softmax(struct amp_ctx *ctx)
{
    return run_own(ctx) ? AMP_OK : run_or(ctx, make_softmax, plain_softmax);
}

const struct amp_op amp_op_softmax = {
    .name = "Softmax",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_unit,
    .native = AMP_NATIVE_DNNL,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .role = AMP_ROLE_SOFTMAX,
    .gradient =
        AMP_GRADIENT({.when = "since=13", .term = "Mul(y, Sub(g, ReduceSum(Mul(g, y), [#axis])))"},
                     {.term = "Mul(y, Sub(g, ReduceSum(Mul(g, y), [a:#axis])))"}),
    .shape = shape,
    .run = run_softmax,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

/* A logarithm of what is at most 1 but for its rounding. */
static bool bound_log_softmax(const struct amp_bound_call *call, struct amp_interval *out)
{
    (void)call;
    *out = (struct amp_interval){-INFINITY, 1e-3};
    return true;
}

static enum amp_status make_log_softmax(struct amp_ctx *ctx, struct amp_prim *prim)
{
    return make(ctx, prim, dnnl_softmax_log);
}

static enum amp_status plain_log_softmax(struct amp_ctx *ctx)
{
    static row_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, log_softmax)};
    return run_rows(ctx, table);
}

static enum amp_status run_log_softmax(struct amp_ctx *ctx)
{
    return run_or(ctx, make_log_softmax, plain_log_softmax);
}

const struct amp_op amp_op_log_softmax = {
    .name = "LogSoftmax",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .bound = bound_log_softmax,
    .native = AMP_NATIVE_DNNL,
    .reads_casts = AMP_INPUT(0),
    .fuses = true,
    .role = AMP_ROLE_LOG_SOFTMAX,
    .gradient =
        AMP_GRADIENT({.when = "since=13", .term = "Sub(g, Mul(Exp(y), ReduceSum(g, [#axis])))"},
                     {.term = "Sub(g, Mul(Exp(y), ReduceSum(g, [a:#axis])))"}),
    .shape = shape,
    .run = run_log_softmax,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

static enum amp_status run_hardmax(struct amp_ctx *ctx)
{
    static row_kernel *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, hardmax)};
    return run_rows(ctx, table);
}

const struct amp_op amp_op_hardmax = {
    .name = "Hardmax",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_unit,
    .native = AMP_NATIVE_C,
    .gradient = AMP_GRADIENT({.term = "zeros"}),
    .shape = shape,
    .run = run_hardmax,
};
