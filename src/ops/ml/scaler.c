/*
 * Scaler, Normalizer, Binarizer and Imputer (ai.onnx.ml 1): operators that keep the shape of their
 * features. Double inputs are computed in double.
 */
#include "ops/kernel/kernel.h"
#include "ops/ml/ml.h"

#include <math.h>

/* Element types that these operators take. */
#define FEATURE_TYPES(X, ...)         \
    AMP_FLOAT_TYPES(X, ##__VA_ARGS__) \
    X(INT32, int32_t, ##__VA_ARGS__) X(INT64, int64_t, ##__VA_ARGS__)

static int64_t count_of(const struct amp_ctx *ctx)
{
    return amp_shape_count(&ctx->in[0]->shape);
}

/* AMP_MODEL unless list NAME of COUNT values has one for all features or one for each of them,
   which are input 0's last dim. */
static enum amp_status check_features(struct amp_ctx *ctx, const char *name, int64_t count)
{
    const struct amp_shape *shape = &ctx->in[0]->shape;
    bool has_features = shape->rank == 1 || shape->rank == 2;
    int64_t features = has_features ? shape->dims[shape->rank - 1] : 1;
    if (count == 1 || count == features)
        return AMP_OK;
    char text[200];
    return AMP_CTX_FAIL(ctx, "attribute '%s' has %lld values for input 0 of shape %s; 1%s", name,
                        (long long)count, amp_shape_text(shape, text, sizeof text),
                        has_features ? " or one for each feature is needed" : " is needed");
}

/* ---- Scaler ---- */

/* Operands: the output, x, offset and scale. */
#define SCALER(DTYPE, T)                                                                           \
    AMP_CLONES(void, scale_##DTYPE,                                                                \
               (int64_t n, void *const *at, const int64_t *step, const void *param),               \
               (n, at, step, param))                                                               \
    {                                                                                              \
        const T *x = at[1];                                                                        \
        const float *offset = at[2], *scale = at[3];                                               \
        float *out = at[0];                                                                        \
        int64_t by_offset = step[2], by_scale = step[3];                                           \
        (void)param;                                                                               \
        AMP_SIMD for (int64_t i = 0; i < n; i++) out[i] =                                          \
            (float)(((double)x[i] - (double)offset[i * by_offset]) * (double)scale[i * by_scale]); \
    }
FEATURE_TYPES(SCALER)

/* Adds a list of COUNT floats for the features, the last dim of LOOP; 1 value holds for all. */
static void add_list(struct amp_loop *loop, const float *list, int64_t count)
{
    const int64_t strides[] = {0, count > 1};
    amp_loop_view(loop, (void *)(uintptr_t)list, sizeof *list, strides);
}

static enum amp_status scaler_run(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {FEATURE_TYPES(AMP_ROW, scale)};
    static const float zero = 0, one = 1;
    const struct amp_tensor *x = ctx->in[0];
    int64_t n_offset, n_scale, rows = x->shape.rank == 2 ? x->shape.dims[0] : 1;
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, x->dtype);
    const float *offset = amp_node_floats(ctx->node, "offset", &n_offset);
    const float *scale = amp_node_floats(ctx->node, "scale", &n_scale);
    if (n_offset == 0)
        offset = &zero, n_offset = 1;
    if (n_scale == 0)
        scale = &one, n_scale = 1;
    AMP_TRY(check_features(ctx, "offset", n_offset));
    AMP_TRY(check_features(ctx, "scale", n_scale));
    const int64_t dims[] = {rows, rows > 0 ? count_of(ctx) / rows : 0}, strides[] = {dims[1], 1};
    struct amp_loop loop;
    amp_loop_init(&loop, 2, dims);
    amp_loop_view(&loop, ctx->out[0]->data, sizeof(float), strides);
    amp_loop_view(&loop, x->data, amp_dtype_bits(x->dtype) / 8, strides);
    add_list(&loop, offset, n_offset);
    add_list(&loop, scale, n_scale);
    amp_loop_run(&loop, body, NULL);
    return AMP_OK;
}

const struct amp_op amp_op_scaler = {.name = "Scaler",
                                     .domain = AMP_ML_DOMAIN,
                                     .newest = 1,
                                     .effect = AMP_COMPUTES,
                                     .native = AMP_NATIVE_C,
                                     .shape = amp_shape_same,
                                     .run = scaler_run};

/* ---- Normalizer ---- */

enum norm { NORM_MAX, NORM_L1, NORM_L2 };

/* The N elements from index FIRST on, divided by their norm unless that is 0. */
typedef void normalize_fn(enum norm norm, const void *data, float *out, int64_t first, int64_t n);

#define NORMALIZE(DTYPE, T)                                                                    \
    static void normalize_##DTYPE(enum norm norm, const void *data, float *out, int64_t first, \
                                  int64_t n)                                                   \
    {                                                                                          \
        const T *x = (const T *)data + first;                                                  \
        double most = -(double)INFINITY, sum = 0;                                              \
        for (int64_t i = 0; i < n; i++) {                                                      \
            double value = (double)x[i];                                                       \
            most = value > most ? value : most;                                                \
            sum += norm == NORM_L1 ? fabs(value) : value * value;                              \
        }                                                                                      \
        double by = norm == NORM_MAX ? most : norm == NORM_L1 ? sum : sqrt(sum);               \
        for (int64_t i = 0; i < n; i++)                                                        \
            out[first + i] = (float)(by != 0 ? (double)x[i] / by : (double)x[i]);              \
    }
FEATURE_TYPES(NORMALIZE)

static enum amp_status normalizer_run(struct amp_ctx *ctx)
{
    static normalize_fn *const table[AMP_DTYPE_COUNT] = {FEATURE_TYPES(AMP_ROW, normalize)};
    static const char *const names[] = {"MAX", "L1", "L2", NULL};
    int norm = NORM_MAX;
    struct amp_rows rows;
    normalize_fn *run;
    AMP_PICK(ctx, run, table, ctx->in[0]->dtype);
    AMP_TRY(amp_ctx_choice(ctx, "norm", names, &norm));
    AMP_TRY(amp_rows_of(ctx, &rows));
    bool is_large = rows.count * rows.features >= AMP_PARALLEL_MIN;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < rows.count; i++)
        run((enum norm)norm, ctx->in[0]->data, ctx->out[0]->data, i * rows.features, rows.features);
    return AMP_OK;
}

const struct amp_op amp_op_normalizer = {.name = "Normalizer",
                                         .domain = AMP_ML_DOMAIN,
                                         .newest = 1,
                                         .effect = AMP_COMPUTES,
                                         .native = AMP_NATIVE_C,
                                         .shape = amp_shape_same,
                                         .run = normalizer_run};

/* ---- Binarizer ---- */

#define BINARIZE(DTYPE, T)                                                        \
    static void binarize_##DTYPE(int64_t n, void *const *at, const int64_t *step, \
                                 const void *param)                               \
    {                                                                             \
        const T *x = at[1];                                                       \
        T *out = at[0];                                                           \
        double threshold = (double)*(const float *)param;                         \
        for (int64_t i = 0; i < n; i++)                                           \
            out[i] = (double)x[i * step[1]] > threshold;                          \
    }
FEATURE_TYPES(BINARIZE)

static enum amp_status binarizer_run(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {FEATURE_TYPES(AMP_ROW, binarize)};
    float threshold = amp_node_float(ctx->node, "threshold", 0);
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, ctx->in[0]->dtype);
    amp_loop_inputs(ctx, 1, body, &threshold);
    return AMP_OK;
}

const struct amp_op amp_op_binarizer = {.name = "Binarizer",
                                        .domain = AMP_ML_DOMAIN,
                                        .newest = 1,
                                        .effect = AMP_COMPUTES,
                                        .native = AMP_NATIVE_C,
                                        .shape = amp_shape_same,
                                        .run = binarizer_run};

/* ---- Imputer ---- */

/* Elements equal to REPLACED (a NaN to any NaN) become the value of their feature. */
#define IMPUTE(DTYPE, T, R, U)                                                       \
    static void impute_##DTYPE(struct amp_ctx *ctx, R replaced, const void *values,  \
                               int64_t n_values)                                     \
    {                                                                                \
        const T *x = ctx->in[0]->data;                                               \
        const U *with = values;                                                      \
        T *out = ctx->out[0]->data;                                                  \
        int64_t count = count_of(ctx);                                               \
        for (int64_t i = 0; i < count; i++) {                                        \
            bool is_it = x[i] == replaced || (x[i] != x[i] && replaced != replaced); \
            out[i] = is_it ? (T)with[i % n_values] : x[i];                           \
        }                                                                            \
    }
IMPUTE(FLOAT, float, float, float)
IMPUTE(DOUBLE, double, double, float)
IMPUTE(INT32, int32_t, int64_t, int64_t)
IMPUTE(INT64, int64_t, int64_t, int64_t)

static enum amp_status impute_floats(struct amp_ctx *ctx)
{
    int64_t count;
    const float *values = amp_node_floats(ctx->node, "imputed_value_floats", &count);
    float replaced = amp_node_float(ctx->node, "replaced_value_float", 0);
    AMP_TRY(check_features(ctx, "imputed_value_floats", count));
    if (ctx->in[0]->dtype == AMP_FLOAT)
        impute_FLOAT(ctx, replaced, values, count);
    else
        impute_DOUBLE(ctx, (double)replaced, values, count);
    return AMP_OK;
}

static enum amp_status impute_ints(struct amp_ctx *ctx)
{
    size_t count;
    const int64_t *values = amp_node_ints(ctx->node, "imputed_value_int64s", &count);
    int64_t replaced = amp_node_int(ctx->node, "replaced_value_int64", 0);
    AMP_TRY(check_features(ctx, "imputed_value_int64s", (int64_t)count));
    if (ctx->in[0]->dtype == AMP_INT64)
        impute_INT64(ctx, replaced, values, (int64_t)count);
    else
        impute_INT32(ctx, replaced, values, (int64_t)count);
    return AMP_OK;
}

static enum amp_status imputer_run(struct amp_ctx *ctx)
{
    bool is_float = amp_dtype_class(ctx->in[0]->dtype) == AMP_CLASS_FLOAT;
    if (count_of(ctx) == 0)
        return AMP_OK;
    return is_float ? impute_floats(ctx) : impute_ints(ctx);
}

const struct amp_op amp_op_imputer = {.name = "Imputer",
                                      .domain = AMP_ML_DOMAIN,
                                      .newest = 1,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_C,
                                      .shape = amp_shape_same,
                                      .run = imputer_run};
