/*
 * MatMulInteger and QLinearMatMul: operands of 8 bits are multiplied less their zero points in
 * int32, and for QLinearMatMul scaled and rounded back to 8 bits.
 */
#include "core/array.h"
#include "ops/flops.h"
#include "ops/matmul/byte_product.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/quantized_product.h"

#include <math.h>
#include <stdlib.h>

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

/* Products of matrices with a zero point for each element, which ONNX does not mention. */
static enum amp_status multiply_shifted(struct amp_ctx *ctx, const struct quantized *a,
                                        const struct quantized *b, struct amp_tensor *y)
{
    struct amp_tensor left = {0}, right = {0};
    void *state = NULL;
    enum amp_status status = shift(ctx, a, &left);
    if (status == AMP_OK)
        status = shift(ctx, b, &right);
    if (status == AMP_OK) {
        struct amp_ctx product = *ctx;
        product.in = (const struct amp_tensor *[]){&left, &right};
        product.n_in = 2;
        product.out = &y;
        product.state = &state;
        struct amp_matmul matmul = amp_matmul_of(&left.shape, &right.shape);
        status = amp_matmul_run(&product, &matmul);
    }
    amp_prim_destroy(state);
    amp_tensor_release(&left);
    amp_tensor_release(&right);
    return status;
}

/* Whether the zero points of matrix Q are those of whole rows or columns. */
static bool is_uniform(const struct amp_ctx *ctx, const struct quantized *q)
{
    if (!amp_has_in(ctx, q->zero_point))
        return true;
    struct amp_shape shape = parameter(ctx, q->zero_point, q->is_left).shape;
    int along_k = shape.rank - (q->is_left ? 1 : 2);
    return along_k < 0 || shape.dims[along_k] == 1;
}

/* The product's shape with rows and columns also where an operand is 1-D. */
static enum amp_status full_shape(struct amp_ctx *ctx, const struct quantized *left,
                                  const struct quantized *right, struct amp_shape *full)
{
    struct amp_shape a = matrix_shape(&ctx->in[left->data]->shape, true);
    struct amp_shape b = matrix_shape(&ctx->in[right->data]->shape, false);
    return amp_matmul_shape(&a, &b, full, ctx->err);
}

static const struct amp_tensor *zero_point_of(const struct amp_ctx *ctx, const struct quantized *q,
                                              struct amp_tensor *memory)
{
    if (!amp_has_in(ctx, q->zero_point))
        return NULL;
    *memory = parameter(ctx, q->zero_point, q->is_left);
    return memory;
}

/* Multiplies matrices A and B into Y, an int32 tensor with memory. */
static enum amp_status multiply(struct amp_ctx *ctx, const struct quantized *a,
                                const struct quantized *b, struct amp_tensor *y)
{
    struct amp_tensor left = *ctx->in[a->data], right = *ctx->in[b->data], result = *y;
    struct amp_tensor left_zero, right_zero;
    if (!is_uniform(ctx, a) || !is_uniform(ctx, b))
        return multiply_shifted(ctx, a, b, y);
    left.shape = matrix_shape(&left.shape, true);
    right.shape = matrix_shape(&right.shape, false);
    AMP_TRY(full_shape(ctx, a, b, &result.shape));
    const struct amp_byte_product product = {.a = &left,
                                             .a_zero = zero_point_of(ctx, a, &left_zero),
                                             .b = &right,
                                             .b_zero = zero_point_of(ctx, b, &right_zero),
                                             .is_b_constant = ctx->is_constant[b->data],
                                             .y = &result};
    return amp_byte_product_run(ctx, &product);
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
    .native = AMP_BY_DNNL | AMP_NATIVE_C,
    .flops = {amp_flops_matmul, 0},
    .shape = shape_matmul_integer,
    .run = run_matmul_integer,
    .destroy = amp_byte_product_destroy,
};

/* ---- QLinearMatMul ------------------------------------------------------------------------- */

static const struct quantized linear_a = {0, 1, 2, true}, linear_b = {3, 4, 5, false};
enum { Y_SCALE = 6, Y_ZERO_POINT = 7 };

static enum amp_status shape_qlinear_matmul(struct amp_ctx *ctx)
{
    struct amp_shape full;
    AMP_TRY(check_quantized(ctx, &linear_a));
    AMP_TRY(check_quantized(ctx, &linear_b));
    AMP_TRY(amp_matmul_shape(&ctx->in[linear_a.data]->shape, &ctx->in[linear_b.data]->shape,
                             &ctx->out[0]->shape, ctx->err));
    AMP_TRY(full_shape(ctx, &linear_a, &linear_b, &full));
    AMP_TRY(check_parameter(ctx, Y_SCALE, true, &full));
    return check_parameter(ctx, Y_ZERO_POINT, true, &full);
}

/* What Y is quantized by. */
struct target {
    float zero, low, high;
};

/* PRODUCT * FACTOR + zero, rounded, low at least and high at most. A NaN becomes the zero
   point. */
static inline int32_t round_one(int32_t product, float factor, struct target y)
{
    float value = rintf((float)product * factor);
    value = (value != value ? 0 : value) + y.zero;
    value = value < y.low ? y.low : value;
    return (int32_t)(value > y.high ? y.high : value);
}

/* A row with one scale of A and one of Y, SCALE; those of B are SHARED or one for each result. */
#define ROUND_ROW(DTYPE, T)                                                        \
    AMP_CLONES(void, round_row_##DTYPE,                                            \
               (int64_t n, T * y, const int32_t *product, float a, const float *b, \
                bool is_b_shared, float scale, float zero),                        \
               (n, y, product, a, b, is_b_shared, scale, zero))                    \
    {                                                                              \
        const struct target target = {zero, AMP_LOWEST(T), AMP_HIGHEST(T)};        \
        const float factor = a * *b / scale;                                       \
        if (is_b_shared) {                                                         \
            AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] =                        \
                (T)round_one(product[i], factor, target);                          \
            return;                                                                \
        }                                                                          \
        AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] =                            \
            (T)round_one(product[i], a * b[i] / scale, target);                    \
    }

/* Operands: results, products, scales of A, of B and of Y, zero points. */
#define ROUND(DTYPE, T)                                                                           \
    ROUND_ROW(DTYPE, T)                                                                           \
    static void round_##DTYPE(int64_t n, void *const *at, const int64_t *step, const void *param) \
    {                                                                                             \
        T *y = at[0];                                                                             \
        const int32_t *product = at[1];                                                           \
        const float *a = at[2], *b = at[3], *scale = at[4];                                       \
        const T *zero_point = at[5];                                                              \
        bool is_row = step[0] == 1 && step[1] == 1 && step[2] == 0 && step[3] <= 1 &&             \
                      step[4] == 0 && step[5] == 0;                                               \
        int64_t rows = is_row ? 1 : n;                                                            \
        (void)param;                                                                              \
        for (int64_t i = 0; i < rows; i++)                                                        \
            round_row_##DTYPE(is_row ? n : 1, y + i * step[0], product + i * step[1],             \
                              a[i * step[2]], b + i * step[3], step[3] == 0, scale[i * step[4]],  \
                              (float)zero_point[i * step[5]]);                                    \
    }
ROUND(INT8, int8_t)
ROUND(UINT8, uint8_t)
static amp_loop_body *const rounds[AMP_DTYPE_COUNT] = {
    [AMP_INT8] = round_INT8, [AMP_UINT8] = round_UINT8};

/* Y = PRODUCT * scale of A * scale of B / scale of Y + zero point of Y. */
static enum amp_status requantize(struct amp_ctx *ctx, const struct amp_tensor *product)
{
    amp_loop_body *body;
    struct amp_shape full;
    AMP_PICK(ctx, body, rounds, ctx->out[0]->dtype);
    AMP_TRY(full_shape(ctx, &linear_a, &linear_b, &full));
    struct amp_tensor y = *ctx->out[0], sums = *product;
    y.shape = sums.shape = full;
    struct amp_tensor a_scale = parameter(ctx, linear_a.scale, true);
    struct amp_tensor y_scale = parameter(ctx, Y_SCALE, true);
    struct amp_tensor zero_point = parameter(ctx, Y_ZERO_POINT, true);
    const struct amp_tensor *operands[] = {&y,       &sums,      &a_scale, ctx->in[linear_b.scale],
                                           &y_scale, &zero_point};
    struct amp_loop loop;
    amp_loop_init(&loop, full.rank, full.dims);
    for (size_t i = 0; i < AMP_COUNT(operands); i++)
        amp_loop_tensor(&loop, operands[i]);
    amp_loop_run(&loop, body, NULL);
    return AMP_OK;
}

static enum amp_status multiply_and_round(struct amp_ctx *ctx)
{
    struct amp_tensor product = {.dtype = AMP_INT32, .shape = ctx->out[0]->shape};
    enum amp_status status = amp_tensor_alloc(&product, ctx->err);
    if (status == AMP_OK)
        status = multiply(ctx, &linear_a, &linear_b, &product);
    if (status == AMP_OK)
        status = requantize(ctx, &product);
    amp_tensor_release(&product);
    return status;
}

/* Both ways' states. */
struct linear_state {
    void *whole, *product;
};

static void destroy_linear(void *state)
{
    struct linear_state *own = state;
    if (own == NULL)
        return;
    amp_quantized_product_destroy(own->whole);
    amp_byte_product_destroy(own->product);
    free(own);
}

static struct amp_ctx with_state(const struct amp_ctx *ctx, void **state)
{
    struct amp_ctx inner = *ctx;
    inner.state = state;
    return inner;
}

static enum amp_status run_qlinear_matmul(struct amp_ctx *ctx)
{
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct linear_state));
    struct linear_state *state = *ctx->state;
    struct amp_ctx whole = with_state(ctx, &state->whole), apart = with_state(ctx, &state->product);
    enum amp_status status = amp_quantized_product_run(&whole);
    return status == AMP_UNSUPPORTED ? multiply_and_round(&apart) : status;
}

static bool can_repeat(const struct amp_ctx *ctx)
{
    struct linear_state *state = *ctx->state;
    struct amp_ctx whole = with_state(ctx, &state->whole);
    return amp_quantized_product_can_repeat(&whole);
}

static enum amp_status repeat(struct amp_ctx *ctx)
{
    struct linear_state *state = *ctx->state;
    struct amp_ctx whole = with_state(ctx, &state->whole);
    return amp_quantized_product_repeat(&whole);
}

static bool reads(const void *state, size_t index)
{
    const struct linear_state *own = state;
    return amp_quantized_product_reads(own->whole, index);
}

const struct amp_op amp_op_qlinear_matmul = {
    .name = "QLinearMatMul",
    .newest = 21,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_F32,
    .lacks = AMP_FLOAT8_TYPES,
    .flops = {amp_flops_matmul, 0},
    .shape = shape_qlinear_matmul,
    .run = run_qlinear_matmul,
    .repeat = &(const struct amp_repeat){.can = can_repeat, .run = repeat},
    .destroy = destroy_linear,
    .reads = reads,
};
