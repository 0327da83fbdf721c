/*
 * Pooling (ONNX MaxPool, AveragePool, LpPool and their Global forms): X [N, C, D...] gives
 * [N, C, steps...], every plane by itself. oneDNN does maxima and averages of up to three spatial
 * dims; indices, norms, other shapes and dtypes run in C, tap by tap over whole planes.
 */
#include "ops/dnnl.h"
#include "ops/kernel.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

struct pool {
    struct amp_window window;
    double p;               /* of a norm */
    const double *divisors; /* of an average, one per step */
};

/* One plane: IMAGE to STEPS; INDEX, where not NULL, gets the place of each maximum. */
typedef void plane_fn(const struct pool *pool, const void *image, void *steps, int64_t *index);

static enum amp_status pool_read(const struct amp_ctx *ctx, struct pool *pool)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    *pool = (struct pool){.p = 0};
    AMP_TRY(amp_window_read(ctx, x->rank - 2, NULL, &pool->window));
    return amp_window_slide(ctx, x->dims + 2, &pool->window);
}

/* The window that covers the image once. */
static enum amp_status global_read(const struct amp_ctx *ctx, struct pool *pool)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    *pool = (struct pool){.window.n = x->rank - 2};
    for (int d = 0; d < pool->window.n; d++) {
        if (x->dims[2 + d] == 0)
            return AMP_CTX_FAIL(ctx, "spatial dim %d is 0; there is nothing to pool", d);
        pool->window.image[d] = pool->window.kernel[d] = x->dims[2 + d];
        pool->window.steps[d] = pool->window.stride[d] = pool->window.dilation[d] = 1;
    }
    return AMP_OK;
}

static enum amp_status pool_shape(struct amp_ctx *ctx)
{
    struct amp_shape out = {.rank = -1};
    struct pool pool;
    int n;
    AMP_TRY(amp_window_rank(ctx, 0, 1, &n));
    if (n >= 0) {
        AMP_TRY(pool_read(ctx, &pool));
        out = ctx->in[0]->shape;
        memcpy(out.dims + 2, pool.window.steps, (size_t)n * sizeof *out.dims);
    }
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape = out;
    return AMP_OK;
}

static enum amp_status global_shape(struct amp_ctx *ctx)
{
    int n;
    AMP_TRY(amp_window_rank(ctx, 0, 0, &n));
    ctx->out[0]->shape = ctx->in[0]->shape;
    for (int d = 0; d < n; d++)
        ctx->out[0]->shape.dims[2 + d] = 1;
    return AMP_OK;
}

/* As PyTorch has it: the first of equal values wins, a NaN wins over all. Where the window covers
   padding alone, the lowest value and index -1 stay. */
#define MAX_PLANE(DTYPE, T, LOWEST)                                                               \
    static void max_tap_##DTYPE(const struct amp_runs *runs, const T *image, T *steps)            \
    {                                                                                             \
        for (int64_t i = 0; i < runs->count; i++) {                                               \
            T value = image[runs->image + i * runs->stride], *to = &steps[runs->step + i];        \
            *to = value > *to || value != value ? value : *to;                                    \
        }                                                                                         \
    }                                                                                             \
    static void max_index_tap_##DTYPE(const struct amp_runs *runs, const T *image, T *steps,      \
                                      int64_t *index)                                             \
    {                                                                                             \
        for (int64_t i = 0; i < runs->count; i++) {                                               \
            int64_t at = runs->image + i * runs->stride, to = runs->step + i;                     \
            T value = image[at];                                                                  \
            if (index[to] >= 0 && !(value > steps[to] || value != value))                         \
                continue;                                                                         \
            steps[to] = value;                                                                    \
            index[to] = at;                                                                       \
        }                                                                                         \
    }                                                                                             \
    static void max_##DTYPE(const struct pool *pool, const void *image, void *steps,              \
                            int64_t *index)                                                       \
    {                                                                                             \
        const struct amp_window *window = &pool->window;                                          \
        int64_t count = amp_window_product(window->n, window->steps), tap[AMP_SPATIAL_MAX] = {0}; \
        for (int64_t i = 0; i < count; i++)                                                       \
            ((T *)steps)[i] = LOWEST;                                                             \
        for (int64_t i = 0; i < count && index != NULL; i++)                                      \
            index[i] = -1;                                                                        \
        do {                                                                                      \
            struct amp_runs runs;                                                                 \
            amp_runs_start(&runs, window, tap);                                                   \
            while (amp_runs_next(&runs))                                                          \
                if (index != NULL)                                                                \
                    max_index_tap_##DTYPE(&runs, image, steps, index);                            \
                else                                                                              \
                    max_tap_##DTYPE(&runs, image, steps);                                         \
        } while (amp_index_next(window->n, window->kernel, tap));                                 \
    }
MAX_PLANE(FLOAT, float, -INFINITY)
MAX_PLANE(DOUBLE, double, -INFINITY)
MAX_PLANE(INT8, int8_t, INT8_MIN)
MAX_PLANE(UINT8, uint8_t, 0)

static plane_fn *const max_planes[AMP_DTYPE_COUNT] = {[AMP_FLOAT] = max_FLOAT,
                                                      [AMP_DOUBLE] = max_DOUBLE,
                                                      [AMP_INT8] = max_INT8,
                                                      [AMP_UINT8] = max_UINT8};

/* Sums TERM, of each value, over the window; RESULT of each sum becomes the step's. */
#define SUM_PLANE(DTYPE, T, NAME, TERM, RESULT)                                                   \
    static void NAME##_##DTYPE(const struct pool *pool, const void *image, void *steps,           \
                               int64_t *index)                                                    \
    {                                                                                             \
        const struct amp_window *window = &pool->window;                                          \
        int64_t count = amp_window_product(window->n, window->steps), tap[AMP_SPATIAL_MAX] = {0}; \
        T *sums = steps;                                                                          \
        (void)index;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                       \
            sums[i] = 0;                                                                          \
        do {                                                                                      \
            struct amp_runs runs;                                                                 \
            amp_runs_start(&runs, window, tap);                                                   \
            while (amp_runs_next(&runs))                                                          \
                for (int64_t i = 0; i < runs.count; i++) {                                        \
                    T value = ((const T *)image)[runs.image + i * runs.stride];                   \
                    sums[runs.step + i] += (T)(TERM);                                             \
                }                                                                                 \
        } while (amp_index_next(window->n, window->kernel, tap));                                 \
        for (int64_t i = 0; i < count; i++)                                                       \
            sums[i] = (T)(RESULT);                                                                \
    }

/* |value|^p, with the usual norms spared the power. */
static double power(double value, double p)
{
    if (p == 2)
        return value * value;
    return p == 1 ? fabs(value) : pow(fabs(value), p);
}

static double root(double sum, double p)
{
    return p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, 1 / p);
}

AMP_FLOAT_TYPES(SUM_PLANE, average, value, sums[i] / pool->divisors[i])
AMP_FLOAT_TYPES(SUM_PLANE, norm, power(value, pool->p), root(sums[i], pool->p))

static plane_fn *const average_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, average)};
static plane_fn *const norm_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, norm)};

/* A whole plane to one value, summed in double. */
#define GLOBAL_PLANE(DTYPE, T, NAME, TERM, RESULT)                                      \
    static void NAME##_##DTYPE(const struct pool *pool, const void *image, void *steps, \
                               int64_t *index)                                          \
    {                                                                                   \
        int64_t count = amp_window_product(pool->window.n, pool->window.image);         \
        double sum = 0;                                                                 \
        (void)index;                                                                    \
        for (int64_t i = 0; i < count; i++) {                                           \
            double value = (double)((const T *)image)[i];                               \
            sum += TERM;                                                                \
        }                                                                               \
        *(T *)steps = (T)(RESULT);                                                      \
    }
AMP_FLOAT_TYPES(GLOBAL_PLANE, global_average, value, sum / (double)count)
AMP_FLOAT_TYPES(GLOBAL_PLANE, global_norm, power(value, pool->p), root(sum, pool->p))

#define GLOBAL_MAX(DTYPE, T)                                                                \
    static void global_max_##DTYPE(const struct pool *pool, const void *image, void *steps, \
                                   int64_t *index)                                          \
    {                                                                                       \
        int64_t count = amp_window_product(pool->window.n, pool->window.image);             \
        T best = (T)-INFINITY;                                                              \
        (void)index;                                                                        \
        for (int64_t i = 0; i < count; i++) {                                               \
            T value = ((const T *)image)[i];                                                \
            best = value > best || value != value ? value : best;                           \
        }                                                                                   \
        *(T *)steps = best;                                                                 \
    }
AMP_FLOAT_TYPES(GLOBAL_MAX)

static plane_fn *const global_average_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, global_average)};
static plane_fn *const global_norm_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, global_norm)};
static plane_fn *const global_max_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, global_max)};

/* Row-major places in the image to column-major ones (MaxPool's storage_order 1). */
static void transpose_index(const struct amp_window *window, int64_t *index, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t at[AMP_SPATIAL_MAX], stride = 1, place = 0;
        if (index[i] < 0)
            continue;
        amp_index_at(window->n, window->image, index[i], at);
        for (int d = 0; d < window->n; d++) {
            place += at[d] * stride;
            stride *= window->image[d];
        }
        index[i] = place;
    }
}

/* Makes the places within plane PLANE such in the whole tensor. */
static void finish_index(const struct amp_ctx *ctx, const struct amp_window *window, int64_t plane,
                         int64_t *index)
{
    int64_t steps = amp_window_product(window->n, window->steps);
    int64_t base = plane * amp_window_product(window->n, window->image);
    if (amp_node_int(ctx->node, "storage_order", 0) != 0)
        transpose_index(window, index, steps);
    for (int64_t i = 0; i < steps; i++)
        if (index[i] >= 0)
            index[i] += base;
}

static enum amp_status run_planes(struct amp_ctx *ctx, const struct pool *pool,
                                  plane_fn *const *kernels)
{
    plane_fn *kernel;
    AMP_PICK(ctx, kernel, kernels, ctx->in[0]->dtype);
    const struct amp_window *window = &pool->window;
    int64_t size = amp_dtype_bits(ctx->in[0]->dtype) / 8;
    int64_t image = amp_window_product(window->n, window->image);
    int64_t steps = amp_window_product(window->n, window->steps);
    int64_t *indices = amp_has_out(ctx, 1) ? ctx->out[1]->data : NULL;
#pragma omp parallel for
    for (int64_t i = 0; i < amp_shape_product(&ctx->in[0]->shape, 0, 2); i++) {
        int64_t *index = indices ? indices + i * steps : NULL;
        kernel(pool, (const char *)ctx->in[0]->data + i * image * size,
               (char *)ctx->out[0]->data + i * steps * size, index);
        if (index != NULL)
            finish_index(ctx, window, i, index);
    }
    return AMP_OK;
}

/* The oneDNN primitive; ALG is one of its pooling algorithms. */
static enum amp_status make_prim(struct amp_ctx *ctx, struct amp_prim *prim,
                                 const struct amp_window *window, dnnl_alg_kind_t alg)
{
    dnnl_memory_desc_t src, dst;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    int64_t dilation[AMP_SPATIAL_MAX], behind[AMP_SPATIAL_MAX];
    if (window->n < 1 || window->n > 3)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no pooling of this shape");
    for (int d = 0; d < window->n; d++) {
        dilation[d] = window->dilation[d] - 1;
        behind[d] = amp_window_reach(window, d);
    }
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &src));
    AMP_TRY(amp_prim_desc_tag(prim, ctx->err, ctx->out[0]->dtype, ctx->out[0]->shape.rank,
                              ctx->out[0]->shape.dims, dnnl_format_tag_any, &dst));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_pooling_forward_primitive_desc_create(
                               &pd, ctx->host->dnnl->engine, dnnl_forward_inference, alg, src, dst,
                               window->stride, window->kernel, dilation, window->pad_begin, behind,
                               attr),
                           "pooling"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, src));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST, 0);
}

static bool is_empty(const struct amp_ctx *ctx)
{
    return amp_shape_count(&ctx->out[0]->shape) == 0;
}

static enum amp_status max_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_max);
}

static enum amp_status max_plain(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    return run_planes(ctx, &pool, max_planes);
}

static enum amp_status max_run(struct amp_ctx *ctx)
{
    if (is_empty(ctx))
        return amp_ctx_alloc(ctx, 0);
    return amp_prim_run_or(ctx, amp_has_out(ctx, 1) ? NULL : max_make, max_plain);
}

/* Taps of step S in dim D before element END of the image, from element BEGIN on. */
static int64_t count_taps(const struct amp_window *window, int d, int64_t s, int64_t begin,
                          int64_t end)
{
    int64_t dilation = window->dilation[d];
    int64_t first = s * window->stride[d] - window->pad_begin[d];
    int64_t from = first < begin ? (begin - first + dilation - 1) / dilation : 0;
    int64_t to = first < end ? (end - first + dilation - 1) / dilation : 0;
    if (to > window->kernel[d])
        to = window->kernel[d];
    return to > from ? to - from : 0;
}

static bool counts_pads(const struct amp_ctx *ctx)
{
    return amp_node_int(ctx->node, "count_include_pad", 0) != 0;
}

/* How many taps an average counts at each step: those inside the image, or inside its padding as
   the model gives it. Nothing to count gives 0 / 1. */
static void fill_divisors(const struct amp_window *window, bool with_pads, double *divisors)
{
    int64_t step[AMP_SPATIAL_MAX] = {0};
    do {
        double taps = 1;
        for (int d = 0; d < window->n; d++) {
            int64_t begin = with_pads ? -window->pad_begin[d] : 0;
            int64_t end = window->image[d] + (with_pads ? window->pad_end[d] : 0);
            taps *= (double)count_taps(window, d, step[d], begin, end);
        }
        *divisors++ = taps > 0 ? taps : 1;
    } while (amp_index_next(window->n, window->steps, step));
}

static enum amp_status average_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct pool pool;
    bool with_pads = counts_pads(ctx);
    AMP_TRY(pool_read(ctx, &pool));
    for (int d = 0; d < pool.window.n && with_pads; d++)
        if (amp_window_reach(&pool.window, d) > pool.window.pad_end[d])
            return amp_fail(ctx->err, AMP_UNSUPPORTED,
                            "oneDNN counts what ceil_mode adds as padding");
    return make_prim(ctx, prim, &pool.window,
                     with_pads ? dnnl_pooling_avg_include_padding
                               : dnnl_pooling_avg_exclude_padding);
}

static enum amp_status average_plain(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    struct amp_tensor divisors = {
        .dtype = AMP_DOUBLE,
        .shape = {.rank = 1, .dims = {amp_window_product(pool.window.n, pool.window.steps)}}};
    AMP_TRY(amp_tensor_alloc(&divisors, ctx->err));
    fill_divisors(&pool.window, counts_pads(ctx), divisors.data);
    pool.divisors = divisors.data;
    enum amp_status status = run_planes(ctx, &pool, average_planes);
    amp_tensor_release(&divisors);
    return status;
}

static enum amp_status average_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, average_make, average_plain);
}

/* Attribute p: an integer since version 2, a float before. */
static enum amp_status read_p(const struct amp_ctx *ctx, double *p)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, "p");
    *p = 2;
    if (attr != NULL && attr->type == AMP_ATTR_INT)
        *p = (double)attr->ints[0];
    else if (attr != NULL && attr->type == AMP_ATTR_FLOAT)
        *p = (double)attr->floats[0];
    if (!(*p > 0))
        return AMP_CTX_FAIL(ctx, "attribute 'p' is %g; it must be positive", *p);
    return AMP_OK;
}

static enum amp_status norm_run(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    AMP_TRY(read_p(ctx, &pool.p));
    return is_empty(ctx) ? AMP_OK : run_planes(ctx, &pool, norm_planes);
}

static enum amp_status global_max_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_max);
}

static enum amp_status global_max_plain(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return run_planes(ctx, &pool, global_max_planes);
}

static enum amp_status global_max_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, global_max_make, global_max_plain);
}

static enum amp_status global_average_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_avg_exclude_padding);
}

static enum amp_status global_average_plain(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return run_planes(ctx, &pool, global_average_planes);
}

static enum amp_status global_average_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, global_average_make, global_average_plain);
}

static enum amp_status global_norm_run(struct amp_ctx *ctx)
{
    struct pool pool;
    AMP_TRY(global_read(ctx, &pool));
    AMP_TRY(read_p(ctx, &pool.p));
    return is_empty(ctx) ? AMP_OK : run_planes(ctx, &pool, global_norm_planes);
}

const struct amp_op amp_op_average_pool = {
    .name = "AveragePool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .shape = pool_shape,
    .run = average_run,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_global_average_pool = {
    .name = "GlobalAveragePool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .shape = global_shape,
    .run = global_average_run,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_global_lp_pool = {
    .name = "GlobalLpPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = global_shape,
    .run = global_norm_run,
};

const struct amp_op amp_op_global_max_pool = {
    .name = "GlobalMaxPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .shape = global_shape,
    .run = global_max_run,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_lp_pool = {
    .name = "LpPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = pool_shape,
    .run = norm_run,
};

const struct amp_op amp_op_max_pool = {
    .name = "MaxPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .shape = pool_shape,
    .run = max_run,
    .destroy = amp_prim_destroy,
};
