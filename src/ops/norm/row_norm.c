/*
 * Normalizes rows by their own statistics in plain C. The two operators that need nothing else are
 * here: MeanVarianceNormalization and LpNormalization, which gather the dims they work on into
 * rows.
 */
#include "ops/bound.h"
#include "ops/norm/row_norm.h"

#include "core/array.h"
#include "core/convert.h"
#include "core/memory.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <omp.h>
#include <string.h>

float amp_epsilon(const struct amp_ctx *ctx)
{
    return amp_node_float(ctx->node, "epsilon", 1e-5f);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Sums may be taken in any order. */
#define SUM_SIMD _Pragma("omp simd reduction(+ : sum)")

/* The sum of N elements, of the squares of their distances to MEAN, of their magnitudes. */
#define SUMS(DTYPE, T, ...)                                                                 \
    AMP_CLONES(double, sum_##DTYPE, (const T *x, int64_t n), (x, n))                        \
    {                                                                                       \
        double sum = 0;                                                                     \
        SUM_SIMD                                                                            \
        for (int64_t i = 0; i < n; i++)                                                     \
            sum += (double)x[i];                                                            \
        return sum;                                                                         \
    }                                                                                       \
    AMP_CLONES(double, squares_##DTYPE, (const T *x, int64_t n, double mean), (x, n, mean)) \
    {                                                                                       \
        double sum = 0;                                                                     \
        SUM_SIMD                                                                            \
        for (int64_t i = 0; i < n; i++)                                                     \
            sum += ((double)x[i] - mean) * ((double)x[i] - mean);                           \
        return sum;                                                                         \
    }                                                                                       \
    AMP_CLONES(double, magnitudes_##DTYPE, (const T *x, int64_t n), (x, n))                 \
    {                                                                                       \
        double sum = 0;                                                                     \
        SUM_SIMD                                                                            \
        for (int64_t i = 0; i < n; i++)                                                     \
            sum += fabs((double)x[i]);                                                      \
        return sum;                                                                         \
    }
AMP_FLOAT_TYPES(SUMS)

/* y = (x - mean) * factor * scale + shift, where those are. */
#define APPLY(DTYPE, T, ...)                                                                \
    AMP_CLONES(void, apply_##DTYPE,                                                         \
               (const struct amp_rows *rows, const T *x, T *y, double mean, double factor), \
               (rows, x, y, mean, factor))                                                  \
    {                                                                                       \
        const T *scale = rows->scale, *shift = rows->shift;                                 \
        if (scale == NULL)                                                                  \
            AMP_SIMD for (int64_t i = 0; i < rows->n; i++) y[i] =                           \
                (T)(((double)x[i] - mean) * factor);                                        \
        else if (shift == NULL)                                                             \
            AMP_SIMD for (int64_t i = 0; i < rows->n; i++) y[i] =                           \
                (T)(((double)x[i] - mean) * factor) * scale[i];                             \
        else                                                                                \
            AMP_SIMD for (int64_t i = 0; i < rows->n; i++) y[i] =                           \
                (T)(((double)x[i] - mean) * factor) * scale[i] + shift[i];                  \
    }
AMP_FLOAT_TYPES(APPLY)

/* Normalizes row ROW, which is at FROM (may be TO), to TO. */
typedef void row_kernel(const struct amp_rows *rows, int64_t row, const void *from, void *to);

static void keep(const struct amp_tensor *tensor, int64_t row, double value)
{
    if (tensor != NULL)
        amp_tensor_set_double(tensor, (size_t)row, value);
}

#define KERNEL(name, DTYPE) \
    static void name##_##DTYPE(const struct amp_rows *rows, int64_t row, const void *x, void *y)
/* The kernels of enum amp_rows_kind, in its order. */
#define KERNELS(DTYPE, T, ...)                                                 \
    KERNEL(standardize, DTYPE)                                                 \
    {                                                                          \
        double mean = sum_##DTYPE(x, rows->n) / (double)rows->n;               \
        double variance = squares_##DTYPE(x, rows->n, mean) / (double)rows->n; \
        double inverse = 1 / sqrt(variance + rows->epsilon);                   \
        keep(rows->mean, row, mean);                                           \
        keep(rows->inverse, row, inverse);                                     \
        apply_##DTYPE(rows, x, y, mean, inverse);                              \
    }                                                                          \
    KERNEL(rms, DTYPE)                                                         \
    {                                                                          \
        double square = squares_##DTYPE(x, rows->n, 0) / (double)rows->n;      \
        double inverse = 1 / sqrt(square + rows->epsilon);                     \
        keep(rows->inverse, row, inverse);                                     \
        apply_##DTYPE(rows, x, y, 0, inverse);                                 \
    }                                                                          \
    KERNEL(mean_variance, DTYPE)                                               \
    {                                                                          \
        (void)row;                                                             \
        double mean = sum_##DTYPE(x, rows->n) / (double)rows->n;               \
        double variance = squares_##DTYPE(x, rows->n, mean) / (double)rows->n; \
        apply_##DTYPE(rows, x, y, mean, 1 / (sqrt(variance) + rows->epsilon)); \
    }                                                                          \
    KERNEL(mean, DTYPE)                                                        \
    {                                                                          \
        (void)row;                                                             \
        double mean = sum_##DTYPE(x, rows->n) / (double)rows->n;               \
        apply_##DTYPE(rows, x, y, mean, 1);                                    \
    }                                                                          \
    KERNEL(l1, DTYPE)                                                          \
    {                                                                          \
        (void)row;                                                             \
        double norm = magnitudes_##DTYPE(x, rows->n);                          \
        apply_##DTYPE(rows, x, y, 0, norm == 0 ? 0 : 1 / norm);                \
    }                                                                          \
    KERNEL(l2, DTYPE)                                                          \
    {                                                                          \
        (void)row;                                                             \
        double norm = sqrt(squares_##DTYPE(x, rows->n, 0));                    \
        apply_##DTYPE(rows, x, y, 0, norm == 0 ? 0 : 1 / norm);                \
    }
AMP_FLOAT_TYPES(KERNELS)

/* Rows of DTYPE, of which KERNEL is the one. */
static void run_rows(row_kernel *kernel, const struct amp_rows *rows, enum amp_dtype dtype)
{
    size_t size = (size_t)rows->n * (amp_dtype_bits(dtype) / 8);
#pragma omp parallel for if (rows->count * rows->n >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows->count; i++)
        kernel(rows, i, (const char *)rows->x + (size_t)i * size,
               (char *)rows->y + (size_t)i * size);
}

/* Runs a KERNEL of float32 over rows of DTYPE, float16 or bfloat16: each thread widens a row at a
   time into its part of FLOATS. */
static void run_narrow_rows(row_kernel *kernel, const struct amp_rows *rows, enum amp_dtype dtype,
                            float *floats)
{
    size_t n = (size_t)rows->n;
#pragma omp parallel if (rows->count * rows->n >= AMP_PARALLEL_MIN)
    {
        float *row = floats + (size_t)omp_get_thread_num() * n;
#pragma omp for
        for (int64_t i = 0; i < rows->count; i++) {
            amp_dtype_convert(dtype, (const uint16_t *)rows->x + (size_t)i * n, AMP_FLOAT, row, n);
            kernel(rows, i, row, row);
            amp_dtype_convert(AMP_FLOAT, row, dtype, (uint16_t *)rows->y + (size_t)i * n, n);
        }
    }
}

enum amp_status amp_rows_run(struct amp_ctx *ctx, enum amp_rows_kind kind,
                             const struct amp_rows *rows)
{
    static row_kernel *const table[AMP_ROWS_KINDS][AMP_DTYPE_COUNT] = {
        [AMP_ROWS_STANDARDIZE] = {AMP_FLOAT_TYPES(AMP_ROW, standardize)},
        [AMP_ROWS_RMS] = {AMP_FLOAT_TYPES(AMP_ROW, rms)},
        [AMP_ROWS_MEAN_VARIANCE] = {AMP_FLOAT_TYPES(AMP_ROW, mean_variance)},
        [AMP_ROWS_MEAN] = {AMP_FLOAT_TYPES(AMP_ROW, mean)},
        [AMP_ROWS_L1] = {AMP_FLOAT_TYPES(AMP_ROW, l1)},
        [AMP_ROWS_L2] = {AMP_FLOAT_TYPES(AMP_ROW, l2)}};
    row_kernel *kernel;
    enum amp_dtype dtype = ctx->in[0]->dtype;
    AMP_PICK(ctx, kernel, table[kind], amp_compute_dtype(dtype));
    if (amp_compute_dtype(dtype) == dtype) {
        run_rows(kernel, rows, dtype);
        return AMP_OK;
    }
    size_t count = (size_t)omp_get_max_threads() * (size_t)rows->n;
    struct amp_buffer *floats = amp_scratch(ctx, "widened rows", count, sizeof(float));
    if (floats == NULL)
        return ctx->err->status;
    run_narrow_rows(kernel, rows, dtype, floats->data);
    amp_buffer_unref(floats);
    return AMP_OK;
}

/* ---- scale and shift ----------------------------------------------------------------------- */

/* Operands: Y, scales and, when PARAM is not NULL, shifts. */
#define SCALE_SHIFT(DTYPE, T, ...)                                                             \
    AMP_CLONES(void, scale_shift_##DTYPE,                                                      \
               (int64_t n, void *const *at, const int64_t *step, const void *param),           \
               (n, at, step, param))                                                           \
    {                                                                                          \
        T *y = at[0];                                                                          \
        const T *scale = at[1], *shift = param == NULL ? scale : at[2];                        \
        int64_t scale_step = step[1], shift_step = param == NULL ? 0 : step[2];                \
        for (int64_t i = 0; i < n; i++)                                                        \
            y[i] = y[i] * scale[i * scale_step] + (param == NULL ? 0 : shift[i * shift_step]); \
    }
AMP_FLOAT_TYPES(SCALE_SHIFT)

enum amp_status amp_scale_shift(struct amp_ctx *ctx, const struct amp_shape *view,
                                const struct amp_shape *parameters)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, scale_shift)};
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, ctx->out[0]->dtype);
    struct amp_loop loop;
    struct amp_tensor y = *ctx->out[0];
    y.shape = *view;
    amp_loop_init(&loop, view->rank, view->dims);
    amp_loop_tensor(&loop, &y);
    for (uint32_t i = 1; i <= 2 && amp_has_in(ctx, i); i++) {
        struct amp_tensor parameter = *ctx->in[i];
        if (parameters != NULL)
            parameter.shape = *parameters;
        amp_loop_tensor(&loop, &parameter);
    }
    amp_loop_run(&loop, body, amp_has_in(ctx, 2) ? ctx : NULL);
    return AMP_OK;
}

enum amp_status amp_prim_bind_scale_shift(struct amp_ctx *ctx, struct amp_prim *prim, int64_t n)
{
    static const int args[] = {0, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    for (uint32_t i = 1; i <= 2 && amp_has_in(ctx, i); i++) {
        dnnl_memory_desc_t desc;
        AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[i]->dtype, 1, &n), &desc));
        AMP_TRY(amp_prim_bind_in(ctx, prim, args[i], i, desc));
    }
    return AMP_OK;
}

enum amp_status amp_parameter_fail(struct amp_ctx *ctx, uint32_t input, const char *why)
{
    char text[200], text_x[200];
    return AMP_CTX_FAIL(ctx, "input %u of shape %s %s X, shape %s", input,
                        amp_shape_text(&ctx->in[input]->shape, text, sizeof text), why,
                        amp_shape_text(&ctx->in[0]->shape, text_x, sizeof text_x));
}

/* ---- MeanVarianceNormalization and LpNormalization ----------------------------------------- */

/* A loop over X (or Y) with dims in ORDER, operand 0 or 1 being the rows made of it. */
static void copy_rows(const struct amp_tensor *tensor, const int *order, void *rows, bool is_back)
{
    int rank = tensor->shape.rank;
    int64_t own[AMP_RANK_MAX], strides[AMP_RANK_MAX];
    struct amp_shape shape = {.rank = rank};
    amp_strides(&tensor->shape, own);
    for (int i = 0; i < rank; i++) {
        strides[i] = own[order[i]];
        shape.dims[i] = tensor->shape.dims[order[i]];
    }
    amp_strides(&shape, own);
    size_t size = amp_dtype_bits(tensor->dtype) / 8;
    struct amp_loop loop;
    amp_loop_init(&loop, rank, shape.dims);
    amp_loop_view(&loop, is_back ? tensor->data : rows, size, is_back ? strides : own);
    amp_loop_view(&loop, is_back ? rows : tensor->data, size, is_back ? own : strides);
    amp_loop_run(&loop, amp_loop_copy(tensor->dtype), NULL);
}

/* Normalizes the dims of X that IS_REDUCED marks together. */
static enum amp_status normalize_dims(struct amp_ctx *ctx, const bool *is_reduced,
                                      enum amp_rows_kind kind, double epsilon)
{
    const struct amp_tensor *x = ctx->in[0];
    int order[AMP_RANK_MAX] = {0}, kept = 0, reduced = x->shape.rank;
    struct amp_rows rows = {.count = 1, .n = 1, .epsilon = epsilon};
    for (int i = 0; i < x->shape.rank; i++) {
        order[is_reduced[i] ? --reduced : kept++] = i;
        *(is_reduced[i] ? &rows.n : &rows.count) *= x->shape.dims[i];
    }
    struct amp_buffer *buffer = amp_buffer_create(amp_tensor_size(x));
    if (buffer == NULL)
        return amp_memory_fail(ctx->err, "the input in rows", amp_tensor_size(x));
    rows.x = rows.y = buffer->data;
    copy_rows(x, order, buffer->data, false);
    enum amp_status status = amp_rows_run(ctx, kind, &rows);
    copy_rows(ctx->out[0], order, buffer->data, true);
    amp_buffer_unref(buffer);
    return status;
}

/* Before version 9 the axes are those of images; attribute across_channels, 0 by default, adds that
   of the channels. */
static enum amp_status marked_axes(struct amp_ctx *ctx, bool *is_reduced)
{
    static const int64_t channel_wise[] = {0, 2, 3, 1};
    size_t count;
    const int64_t *axes = amp_node_ints(ctx->node, "axes", &count);
    if (axes == NULL) {
        axes = channel_wise;
        count = 3 + (amp_node_int(ctx->node, "across_channels", 0) != 0);
    }
    memset(is_reduced, 0, AMP_RANK_MAX * sizeof *is_reduced);
    for (size_t i = 0; i < count; i++) {
        int axis;
        AMP_TRY(amp_ctx_axis(ctx, axes[i], ctx->in[0]->shape.rank, &axis));
        is_reduced[axis] = true;
    }
    return AMP_OK;
}

static enum amp_status shape_mean_variance(struct amp_ctx *ctx)
{
    bool unused[AMP_RANK_MAX];
    AMP_TRY(amp_shape_same(ctx));
    return ctx->in[0]->shape.rank < 0 ? AMP_OK : marked_axes(ctx, unused);
}

/* The epsilon is that of the function that defines the operator. Version 1 need not divide by the
   deviation. */
static enum amp_status run_mean_variance(struct amp_ctx *ctx)
{
    bool is_reduced[AMP_RANK_MAX];
    AMP_TRY(marked_axes(ctx, is_reduced));
    bool divides = amp_node_int(ctx->node, "normalize_variance", 1) != 0;
    return normalize_dims(ctx, is_reduced, divides ? AMP_ROWS_MEAN_VARIANCE : AMP_ROWS_MEAN, 1e-9);
}

const struct amp_op amp_op_mean_variance_normalization = {
    .name = "MeanVarianceNormalization",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .inner = amp_inner_deviation,
    .native = AMP_NATIVE_C,
    .shape = shape_mean_variance,
    .run = run_mean_variance,
};

static enum amp_status shape_lp(struct amp_ctx *ctx)
{
    int unused;
    int64_t p = amp_node_int(ctx->node, "p", 2);
    AMP_TRY(amp_shape_same(ctx));
    if (p != 1 && p != 2)
        return AMP_CTX_FAIL(ctx, "p %lld; allowed: 1, 2", (long long)p);
    if (ctx->in[0]->shape.rank < 0)
        return AMP_OK;
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", -1), ctx->in[0]->shape.rank, &unused);
}

static enum amp_status run_lp(struct amp_ctx *ctx)
{
    bool is_reduced[AMP_RANK_MAX] = {false};
    int axis;
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", -1), ctx->in[0]->shape.rank, &axis));
    is_reduced[axis] = true;
    bool is_l1 = amp_node_int(ctx->node, "p", 2) == 1;
    return normalize_dims(ctx, is_reduced, is_l1 ? AMP_ROWS_L1 : AMP_ROWS_L2, 0);
}

/* The sum of squares, or of magnitudes: at least that of the largest element. */
static double inner_lp(const struct amp_inner_call *call)
{
    bool is_l1 = amp_node_int(call->node, "p", 2) == 1;
    return is_l1 ? amp_range_largest(call->in[0]) : amp_inner_magnitude(call);
}

const struct amp_op amp_op_lp_normalization = {
    .name = "LpNormalization",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_sign,
    .inner = inner_lp,
    .native = AMP_NATIVE_C,
    .shape = shape_lp,
    .run = run_lp,
};
