/*
 * MatMulInteger and QLinearMatMul: operands of 8 bits are taken less their zero points to int32,
 * multiplied there, and for QLinearMatMul scaled and rounded back to 8 bits.
 */
#include "ops/kernel.h"
#include "ops/matmul.h"

#include <math.h>

/* A quantized matrix: where its inputs are. */
struct quantized {
    uint32_t data, scale, zero_point;
    bool is_left; /* parameters are per row, else per column */
};

/* The shape [batch.., rows, columns] of a matrix that may be 1-D. */
static struct amp_shape matrix_shape(const struct amp_shape *shape, bool is_left)
{
    struct amp_shape result = *shape;
    if (shape->rank == 1) {
        result.rank = 2;
        result.dims[0] = is_left ? 1 : shape->dims[0];
        result.dims[1] = is_left ? shape->dims[0] : 1;
    }
    return result;
}

/* Parameter INPUT of a matrix of shape MATRIX: a vector of a value per row becomes a column. */
static struct amp_tensor parameter(const struct amp_ctx *ctx, uint32_t input, bool is_left)
{
    struct amp_tensor result = *ctx->in[input];
    if (is_left && result.shape.rank == 1) {
        result.shape.rank = 2;
        result.shape.dims[1] = 1;
    }
    return result;
}

static enum amp_status check_parameter(struct amp_ctx *ctx, uint32_t input, bool is_left,
                                       const struct amp_shape *matrix)
{
    if (!amp_has_in(ctx, input) || matrix->rank < 0 || ctx->in[input]->shape.rank < 0)
        return AMP_OK;
    struct amp_shape shape = parameter(ctx, input, is_left).shape, both;
    bool fits = shape.rank <= matrix->rank && amp_broadcast(&shape, matrix, &both, NULL) == AMP_OK;
    for (int i = 0; fits && i < matrix->rank; i++)
        fits = both.dims[i] == matrix->dims[i] || both.dims[i] < 0 || matrix->dims[i] < 0;
    char text[200], text_matrix[200];
    if (!fits)
        return AMP_CTX_FAIL(ctx, "input %u of shape %s does not broadcast to a matrix of shape %s",
                            input, amp_shape_text(&ctx->in[input]->shape, text, sizeof text),
                            amp_shape_text(matrix, text_matrix, sizeof text_matrix));
    return AMP_OK;
}

static enum amp_status check_quantized(struct amp_ctx *ctx, const struct quantized *q)
{
    struct amp_shape matrix = matrix_shape(&ctx->in[q->data]->shape, q->is_left);
    AMP_TRY(check_parameter(ctx, q->zero_point, q->is_left, &matrix));
    return q->scale == q->data ? AMP_OK : check_parameter(ctx, q->scale, q->is_left, &matrix);
}

/* int32 = value - zero point; operands: result, values, zero points. */
#define SHIFT(DTYPE, T, ...)                                                   \
    static void shift_##DTYPE(int64_t n, void *const *at, const int64_t *step, \
                              const void *has_zero_point)                      \
    {                                                                          \
        for (int64_t i = 0; i < n; i++)                                        \
            ((int32_t *)at[0])[i * step[0]] =                                  \
                ((const T *)at[1])[i * step[1]] -                              \
                (has_zero_point ? ((const T *)at[2])[i * step[2]] : 0);        \
    }
#define BYTE_TYPES(X) X(INT8, int8_t, ) X(UINT8, uint8_t, )
BYTE_TYPES(SHIFT)
#define SHIFT_ROW(DTYPE, T, ...) [AMP_##DTYPE] = shift_##DTYPE,
static amp_loop_body *const shifts[AMP_DTYPE_COUNT] = {BYTE_TYPES(SHIFT_ROW)};

/* Gives RESULT memory with matrix Q less its zero points. */
static enum amp_status shift(struct amp_ctx *ctx, const struct quantized *q,
                             struct amp_tensor *result)
{
    const struct amp_tensor *data = ctx->in[q->data];
    amp_loop_body *body;
    AMP_PICK(ctx, body, shifts, data->dtype);
    *result = (struct amp_tensor){.dtype = AMP_INT32, .shape = data->shape};
    AMP_TRY(amp_tensor_alloc(result, ctx->err));
    struct amp_shape matrix = matrix_shape(&data->shape, q->is_left);
    struct amp_tensor to = *result, from = *data;
    to.shape = from.shape = matrix;
    struct amp_loop loop;
    amp_loop_init(&loop, matrix.rank, matrix.dims);
    amp_loop_tensor(&loop, &to);
    amp_loop_tensor(&loop, &from);
    bool has_zero_point = amp_has_in(ctx, q->zero_point);
    if (has_zero_point) {
        struct amp_tensor zero_point = parameter(ctx, q->zero_point, q->is_left);
        amp_loop_tensor(&loop, &zero_point);
    }
    amp_loop_run(&loop, body, has_zero_point ? ctx : NULL);
    return AMP_OK;
}

/* Multiplies matrices A and B into Y, an int32 tensor with memory. */
static enum amp_status multiply(struct amp_ctx *ctx, const struct quantized *a,
                                const struct quantized *b, struct amp_tensor *y)
{
    struct amp_tensor left = {0}, right = {0};
    enum amp_status status = shift(ctx, a, &left);
    if (status == AMP_OK)
        status = shift(ctx, b, &right);
    if (status == AMP_OK) {
        struct amp_ctx product = *ctx;
        product.in = (const struct amp_tensor *[]){&left, &right};
        product.n_in = 2;
        product.out = &y;
        struct amp_matmul matmul = amp_matmul_of(&left.shape, &right.shape);
        status = amp_matmul_run(&product, &matmul);
    }
    amp_tensor_release(&left);
    amp_tensor_release(&right);
    return status;
}

/* ---- MatMulInteger ------------------------------------------------------------------------- */

static const struct quantized integer_a = {0, 0, 2, true}, integer_b = {1, 1, 3, false};

static enum amp_status shape_matmul_integer(struct amp_ctx *ctx)
{
    AMP_TRY(check_quantized(ctx, &integer_a));
    AMP_TRY(check_quantized(ctx, &integer_b));
    return amp_matmul_shape(&ctx->in[0]->shape, &ctx->in[1]->shape, &ctx->out[0]->shape, ctx->err);
}

static enum amp_status run_matmul_integer(struct amp_ctx *ctx)
{
    return multiply(ctx, &integer_a, &integer_b, ctx->out[0]);
}

const struct amp_op amp_op_matmul_integer = {
    .name = "MatMulInteger",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = shape_matmul_integer,
    .run = run_matmul_integer,
};

/* ---- QLinearMatMul ------------------------------------------------------------------------- */

static const struct quantized linear_a = {0, 1, 2, true}, linear_b = {3, 4, 5, false};
enum { Y_SCALE = 6, Y_ZERO_POINT = 7 };

/* The product's shape with rows and columns also where an operand is 1-D. */
static enum amp_status full_shape(struct amp_ctx *ctx, struct amp_shape *full)
{
    struct amp_shape a = matrix_shape(&ctx->in[linear_a.data]->shape, true);
    struct amp_shape b = matrix_shape(&ctx->in[linear_b.data]->shape, false);
    return amp_matmul_shape(&a, &b, full, ctx->err);
}

static enum amp_status shape_qlinear_matmul(struct amp_ctx *ctx)
{
    struct amp_shape full;
    AMP_TRY(check_quantized(ctx, &linear_a));
    AMP_TRY(check_quantized(ctx, &linear_b));
    AMP_TRY(amp_matmul_shape(&ctx->in[linear_a.data]->shape, &ctx->in[linear_b.data]->shape,
                             &ctx->out[0]->shape, ctx->err));
    AMP_TRY(full_shape(ctx, &full));
    AMP_TRY(check_parameter(ctx, Y_SCALE, true, &full));
    return check_parameter(ctx, Y_ZERO_POINT, true, &full);
}

/* Operands: scaled products, products, scales of A, scales of B. */
static void scale(int64_t n, void *const *at, const int64_t *step, const void *param)
{
    (void)param;
    for (int64_t i = 0; i < n; i++) {
        double factor = (double)((const float *)at[2])[i * step[2]] *
                        (double)((const float *)at[3])[i * step[3]];
        ((double *)at[0])[i * step[0]] = ((const int32_t *)at[1])[i * step[1]] * factor;
    }
}

/* Operands: results, scaled products, their scales, their zero points. A NaN becomes the zero
   point. */
#define ROUND(DTYPE, T, low, high)                                                                \
    static void round_##DTYPE(int64_t n, void *const *at, const int64_t *step, const void *param) \
    {                                                                                             \
        (void)param;                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                         \
            double value = ((const double *)at[1])[i * step[1]] /                                 \
                           (double)((const float *)at[2])[i * step[2]];                           \
            T zero_point = ((const T *)at[3])[i * step[3]];                                       \
            value = (isnan(value) ? 0 : rint(value)) + zero_point;                                \
            ((T *)at[0])[i * step[0]] = (T)(value < low ? low : value > high ? high : value);     \
        }                                                                                         \
    }
ROUND(INT8, int8_t, INT8_MIN, INT8_MAX)
ROUND(UINT8, uint8_t, 0, UINT8_MAX)
static amp_loop_body *const rounds[AMP_DTYPE_COUNT] = {
    [AMP_INT8] = round_INT8, [AMP_UINT8] = round_UINT8};

/* A loop over SHAPE with operands RESULT and VALUES, which have that many elements, and two
   parameters that broadcast to it. */
static void run_scaling(const struct amp_shape *shape, const struct amp_tensor *operands[4],
                        amp_loop_body *body)
{
    struct amp_loop loop;
    amp_loop_init(&loop, shape->rank, shape->dims);
    for (int i = 0; i < 4; i++) {
        struct amp_tensor operand = *operands[i];
        if (i < 2)
            operand.shape = *shape;
        amp_loop_tensor(&loop, &operand);
    }
    amp_loop_run(&loop, body, NULL);
}

/* Y = PRODUCT * scale of A * scale of B / scale of Y + zero point of Y; SCALED holds doubles. */
static enum amp_status requantize(struct amp_ctx *ctx, const struct amp_tensor *product,
                                  const struct amp_tensor *scaled)
{
    amp_loop_body *body;
    struct amp_shape full;
    AMP_PICK(ctx, body, rounds, ctx->out[0]->dtype);
    AMP_TRY(full_shape(ctx, &full));
    struct amp_tensor a_scale = parameter(ctx, linear_a.scale, true);
    struct amp_tensor y_scale = parameter(ctx, Y_SCALE, true);
    struct amp_tensor zero_point = parameter(ctx, Y_ZERO_POINT, true);
    run_scaling(&full,
                (const struct amp_tensor *[]){scaled, product, &a_scale, ctx->in[linear_b.scale]},
                scale);
    run_scaling(&full, (const struct amp_tensor *[]){ctx->out[0], scaled, &y_scale, &zero_point},
                body);
    return AMP_OK;
}

static enum amp_status run_qlinear_matmul(struct amp_ctx *ctx)
{
    struct amp_tensor product = {.dtype = AMP_INT32, .shape = ctx->out[0]->shape};
    struct amp_tensor scaled = {.dtype = AMP_DOUBLE, .shape = ctx->out[0]->shape};
    enum amp_status status = amp_tensor_alloc(&product, ctx->err);
    if (status == AMP_OK)
        status = amp_tensor_alloc(&scaled, ctx->err);
    if (status == AMP_OK)
        status = multiply(ctx, &linear_a, &linear_b, &product);
    if (status == AMP_OK)
        status = requantize(ctx, &product, &scaled);
    amp_tensor_release(&product);
    amp_tensor_release(&scaled);
    return status;
}

const struct amp_op amp_op_qlinear_matmul = {
    .name = "QLinearMatMul",
    .newest = 21,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_F32,
    .lacks = AMP_FLOAT8_TYPES,
    .shape = shape_qlinear_matmul,
    .run = run_qlinear_matmul,
};
