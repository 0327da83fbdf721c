/*
 * Computes exact products of matrices of bytes. oneDNN multiplies uint8 by int8, and its sums are
 * exact as long as it knows of no zero points. So both operands are brought to those types by a
 * shift of 128, which moves their zero points, and what zero points contribute is taken out
 * afterwards: sum (a - s)(b - t) = sum a b + s (-sum b) + (k s - sum a) t, two products of a column
 * with a row. Where the CPU adds bytes up in 16 bits, which do not hold their products, oneDNN
 * does, too: there pairs of 16 bits are multiplied here, by hand for x86-64 with AVX2.
 */
#include "ops/matmul/byte_product.h"

#include "core/cpu.h"
#include "core/simd.h"
#include "ops/dnnl/prim.h"
#include "ops/dnnl/requantize.h"
#include "ops/kernel/kernel.h"
#include "ops/matmul/matmul.h"

#include <stdlib.h>
#include <string.h>

#if AMP_HAS_V3
#    include <immintrin.h>
#endif

struct state {
    void *product;                   /* amp_matmul_run's */
    struct amp_tensor shifted, sums; /* of a constant B; no data: not made yet */
};

void amp_byte_product_destroy(void *state)
{
    struct state *own = state;
    if (own == NULL)
        return;
    amp_prim_destroy(own->product);
    amp_tensor_release(&own->shifted);
    amp_tensor_release(&own->sums);
    free(own);
}

/* An operand on its way: DATA is the input itself or SHIFTED. */
struct operand {
    const struct amp_tensor *data;
    struct amp_tensor shifted;
    struct amp_tensor zero; /* int32 */
    bool has_zero;          /* not all of them are 0 */
    struct amp_tensor sums; /* over k, int32, with the other sign */
};

static void release(struct operand *operand)
{
    amp_tensor_release(&operand->shifted);
    amp_tensor_release(&operand->zero);
    amp_tensor_release(&operand->sums);
}

/* ---- shifts ---- */

/* FROM as the other type of bytes: uint8 less 128, int8 and 128. */
static enum amp_status shift(const struct amp_ctx *ctx, const struct amp_tensor *from,
                             enum amp_dtype dtype, struct amp_tensor *to)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(to, ctx->err));
    amp_bytes_flip(from->data, to->data, amp_tensor_count(from));
    return AMP_OK;
}

/* Zero points, MOVED by that much, as int32. */
static enum amp_status load_zero(const struct amp_ctx *ctx, const struct amp_tensor *zero,
                                 int32_t moved, struct operand *operand)
{
    operand->zero = (struct amp_tensor){.dtype = AMP_INT32, .shape.rank = 0};
    if (zero != NULL)
        operand->zero.shape = zero->shape;
    AMP_TRY(amp_tensor_alloc(&operand->zero, ctx->err));
    int32_t *values = operand->zero.data;
    for (size_t i = 0; i < amp_tensor_count(&operand->zero); i++) {
        values[i] = (zero == NULL ? 0 : (int32_t)amp_tensor_int(zero, i)) + moved;
        operand->has_zero |= values[i] != 0;
    }
    return AMP_OK;
}

/* ---- sums, with the other sign ---- */

AMP_CLONES(int32_t, sum_row, (const uint8_t *row, int64_t k), (row, k))
{
    int32_t sum = 0;
    _Pragma("omp simd reduction(- : sum)") for (int64_t i = 0; i < k; i++) sum -= row[i];
    return sum;
}

AMP_CLONES(void, sum_columns,
           (const int8_t *from, int64_t k, int64_t stride, int64_t n, int32_t *sums),
           (from, k, stride, n, sums))
{
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t i = 0; i < k; i++, from += stride)
        AMP_SIMD for (int64_t j = 0; j < n; j++) sums[j] -= from[j];
}

static enum amp_status sum_a(const struct amp_ctx *ctx, struct operand *a)
{
    int last = a->data->shape.rank - 1;
    const int64_t k = a->data->shape.dims[last];
    a->sums = (struct amp_tensor){.dtype = AMP_INT32, .shape = a->data->shape};
    a->sums.shape.dims[last] = 1;
    AMP_TRY(amp_tensor_alloc(&a->sums, ctx->err));
    const int64_t rows = amp_shape_count(&a->sums.shape);
    const uint8_t *from = a->data->data;
    int32_t *sums = a->sums.data;
#pragma omp parallel for if (rows * k >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        sums[i] = sum_row(from + i * k, k);
    return AMP_OK;
}

enum { COLUMNS = 256 }; /* that a thread sums at a time */

static enum amp_status sum_b(const struct amp_ctx *ctx, const struct amp_tensor *b,
                             struct amp_tensor *result)
{
    int last = b->shape.rank - 1;
    const int64_t k = b->shape.dims[last - 1], n = b->shape.dims[last];
    *result = (struct amp_tensor){.dtype = AMP_INT32, .shape = b->shape};
    result->shape.dims[last - 1] = 1;
    AMP_TRY(amp_tensor_alloc(result, ctx->err));
    if (n == 0)
        return AMP_OK;
    const int64_t matrices = amp_shape_count(&result->shape) / n;
    const int64_t parts = (n + COLUMNS - 1) / COLUMNS;
    const int8_t *from = b->data;
    int32_t *sums = result->data;
#pragma omp parallel for if (matrices * k * n >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < matrices * parts; i++) {
        int64_t matrix = i / parts, first = i % parts * COLUMNS;
        sum_columns(from + matrix * k * n + first, k, n, n - first < COLUMNS ? n - first : COLUMNS,
                    sums + matrix * n + first);
    }
    return AMP_OK;
}

/* ---- operands ---- */

static enum amp_status load_a(const struct amp_ctx *ctx, const struct amp_byte_product *p,
                              struct operand *a)
{
    bool is_shifted = p->a->dtype != AMP_UINT8;
    AMP_TRY(load_zero(ctx, p->a_zero, is_shifted ? 128 : 0, a));
    a->data = is_shifted ? &a->shifted : p->a;
    return is_shifted ? shift(ctx, p->a, AMP_UINT8, &a->shifted) : AMP_OK;
}

/* What is made of a constant B is kept. */
static enum amp_status load_b(const struct amp_ctx *ctx, const struct amp_byte_product *p,
                              struct state *state, struct operand *b, bool wants_sums)
{
    bool is_shifted = p->b->dtype != AMP_INT8;
    AMP_TRY(load_zero(ctx, p->b_zero, is_shifted ? -128 : 0, b));
    if (is_shifted && state->shifted.data == NULL)
        AMP_TRY(shift(ctx, p->b, AMP_INT8, &state->shifted));
    if (wants_sums && state->sums.data == NULL)
        AMP_TRY(sum_b(ctx, is_shifted ? &state->shifted : p->b, &state->sums));
    b->data = is_shifted ? &state->shifted : p->b;
    return AMP_OK;
}

/* ---- pairs ---- */

#if AMP_HAS_V3

enum { TALL = 4, WIDE = 16 }; /* what is summed at a time */

/* COUNT of WIDE elements, or all of them. */
AMP_V3_TARGET static inline __m256i widen(const void *from, int64_t count, bool is_unsigned)
{
    int8_t some[WIDE] = {0};
    if (count < WIDE)
        from = memcpy(some, from, (size_t)count);
    __m128i bytes = _mm_loadu_si128(from);
    return is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/* The TALL rows from ROW on, or what there is of them, and as many columns from COLUMN on. A
   product of pairs adds two rows of B up, which are interleaved for that. */
AMP_V3_TARGET static void multiply_block(const struct amp_byte_pairs *p, int64_t row,
                                         int64_t column)
{
    const int64_t count = p->n - column;
    const bool is_unsigned = p->is_b_unsigned;
    const int16_t *a[TALL];
    __m256i sums[TALL][2];
    for (int r = 0; r < TALL; r++) {
        a[r] = p->a + (row + r < p->m ? row + r : p->m - 1) * p->a_step;
        sums[r][0] = sums[r][1] = _mm256_setzero_si256();
    }
    for (int64_t i = 0; i < p->k; i += 2) {
        const int8_t *from = (const int8_t *)p->b + i * p->n + column;
        __m256i first = widen(from, count, is_unsigned), second = _mm256_setzero_si256();
        if (i + 1 < p->k)
            second = widen(from + p->n, count, is_unsigned);
        __m256i low = _mm256_unpacklo_epi16(first, second);
        __m256i high = _mm256_unpackhi_epi16(first, second);
#    pragma GCC unroll 4
        for (int r = 0; r < TALL; r++) {
            int32_t two;
            memcpy(&two, a[r] + i, sizeof two);
            __m256i pair = _mm256_set1_epi32(two);
            sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(pair, low));
            sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(pair, high));
        }
    }
    for (int r = 0; r < TALL && row + r < p->m; r++) {
        __m256i in_order[2] = {_mm256_permute2x128_si256(sums[r][0], sums[r][1], 0x20),
                               _mm256_permute2x128_si256(sums[r][0], sums[r][1], 0x31)};
        memcpy(p->y + (row + r) * p->n + column, in_order,
               (size_t)(count < WIDE ? count : WIDE) * sizeof *p->y);
    }
}

void amp_byte_pairs_run(const struct amp_byte_pairs *p)
{
    enum { ROWS = 64 }; /* that a thread takes at a time */
    bool is_large = p->m * p->n * p->k >= AMP_PARALLEL_MIN;
#    pragma omp parallel for collapse(2) if (is_large)
    for (int64_t rows = 0; rows < p->m; rows += ROWS)
        for (int64_t column = 0; column < p->n; column += WIDE)
            for (int64_t row = rows; row < rows + ROWS && row < p->m; row += TALL)
                multiply_block(p, row, column);
}

#else

/* Suits nothing. */
void amp_byte_pairs_run(const struct amp_byte_pairs *p)
{
    (void)p;
}

#endif

bool amp_byte_pairs_suit(int64_t k)
{
    return AMP_HAS_V3 && amp_cpu_has(AMP_CPU_V3) && !amp_dnnl_adds_bytes(k) &&
           k <= INT32_MAX / (UINT8_MAX * -INT8_MIN);
}

/* How many matrices B has, all of those of A, too, or one for all; 0: neither. */
static int64_t count_matrices(const struct amp_shape *a, const struct amp_shape *b)
{
    int batch = b->rank - 2;
    bool are_same = a->rank == b->rank;
    for (int d = 0; d < batch && are_same; d++)
        are_same = a->dims[d] == b->dims[d];
    return batch == 0 ? 1 : are_same ? amp_shape_product(b, 0, batch) : 0;
}

static bool is_for_pairs(const struct amp_shape *a, const struct amp_shape *b)
{
    return amp_byte_pairs_suit(a->dims[a->rank - 1]) && count_matrices(a, b) > 0;
}

AMP_CLONES(void, widen_row, (const uint8_t *from, int64_t k, int16_t *to), (from, k, to))
{
    AMP_SIMD for (int64_t i = 0; i < k; i++) to[i] = from[i];
    if (k % 2 != 0)
        to[k] = 0;
}

static enum amp_status run_pairs(const struct amp_ctx *ctx, const struct amp_tensor *a,
                                 const struct amp_tensor *b, const struct amp_tensor *y)
{
    const int64_t *b_dims = b->shape.dims + b->shape.rank - 2;
    int64_t matrices = count_matrices(&a->shape, &b->shape);
    int64_t k = b_dims[0], n = b_dims[1], step = amp_byte_pairs_step(k);
    int64_t rows = amp_shape_count(&y->shape) / n, m = rows / matrices;
    struct amp_tensor wide = {.dtype = AMP_INT16, .shape = {2, {rows, step}}};
    AMP_TRY(amp_tensor_alloc(&wide, ctx->err));
#pragma omp parallel for if (rows * k >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++)
        widen_row((const uint8_t *)a->data + i * k, k, (int16_t *)wide.data + i * step);
    for (int64_t i = 0; i < matrices; i++)
        amp_byte_pairs_run(&(struct amp_byte_pairs){.m = m,
                                                    .n = n,
                                                    .k = k,
                                                    .a_step = step,
                                                    .a = (const int16_t *)wide.data + i * m * step,
                                                    .b = (const int8_t *)b->data + i * k * n,
                                                    .y = (int32_t *)y->data + i * m * n});
    amp_tensor_release(&wide);
    return AMP_OK;
}

/* ---- the product ---- */

/* y += left * right, modulo 2^32: for rows and columns, LEFT the same all along a row. */
AMP_CLONES(void, add_product, (int64_t n, void *const *at, const int64_t *step, const void *param),
           (n, at, step, param))
{
    (void)param;
    uint32_t *y = at[0];
    const uint32_t *left = at[1], *right = at[2];
    if (step[0] == 1 && step[1] == 0 && step[2] == 1) {
        const uint32_t factor = *left;
        AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] += factor * right[i];
    } else if (step[0] == 1 && step[1] == 0 && step[2] == 0) {
        const uint32_t term = *left * *right;
        AMP_SIMD for (int64_t i = 0; i < n; i++) y[i] += term;
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i * step[0]] += left[i * step[1]] * right[i * step[2]];
    }
}

static void add_products(const struct amp_tensor *y, const struct amp_tensor *left,
                         const struct amp_tensor *right)
{
    struct amp_loop loop;
    amp_loop_init(&loop, y->shape.rank, y->shape.dims);
    amp_loop_tensor(&loop, y);
    amp_loop_tensor(&loop, left);
    amp_loop_tensor(&loop, right);
    amp_loop_run(&loop, add_product, NULL);
}

static enum amp_status multiply(const struct amp_ctx *ctx, const struct amp_byte_product *p,
                                const struct operand *a, const struct operand *b, void **state)
{
    struct amp_tensor *y = p->y;
    struct amp_ctx product = *ctx;
    if (is_for_pairs(&a->data->shape, &b->data->shape))
        return run_pairs(ctx, a->data, b->data, y);
    product.in = (const struct amp_tensor *[]){a->data, b->data};
    product.is_constant = (const bool[]){false, p->is_b_constant};
    product.n_in = 2;
    product.out = &y;
    product.state = state;
    product.n_posts = 0;
    product.layout_wish = (struct amp_layout_wish){.any_layout = false};
    struct amp_matmul matmul = amp_matmul_of(&a->data->shape, &b->data->shape);
    return amp_matmul_run(&product, &matmul);
}

/* Takes out of y what zero points contributed. */
static enum amp_status correct(const struct amp_ctx *ctx, const struct amp_byte_product *p,
                               struct operand *a, const struct operand *b,
                               const struct amp_tensor *b_sums)
{
    int32_t k = (int32_t)p->a->shape.dims[p->a->shape.rank - 1];
    const struct amp_tensor factor = {.dtype = AMP_INT32, .data = &k};
    if (a->has_zero)
        add_products(p->y, &a->zero, b_sums);
    if (!b->has_zero)
        return AMP_OK;
    AMP_TRY(sum_a(ctx, a));
    if (a->has_zero)
        add_products(&a->sums, &a->zero, &factor);
    add_products(p->y, &a->sums, &b->zero);
    return AMP_OK;
}

static enum amp_status run(const struct amp_ctx *ctx, const struct amp_byte_product *p,
                           struct state *state, struct operand *a, struct operand *b)
{
    AMP_TRY(load_a(ctx, p, a));
    AMP_TRY(load_b(ctx, p, state, b, a->has_zero));
    AMP_TRY(multiply(ctx, p, a, b, &state->product));
    return correct(ctx, p, a, b, &state->sums);
}

enum amp_status amp_byte_product_run(const struct amp_ctx *ctx, const struct amp_byte_product *p)
{
    if (amp_shape_count(&p->y->shape) == 0)
        return AMP_OK;
    struct operand a = {.has_zero = false}, b = {.has_zero = false};
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    struct state *state = *ctx->state;
    enum amp_status status = run(ctx, p, state, &a, &b);
    release(&a);
    release(&b);
    if (!p->is_b_constant || status != AMP_OK) {
        amp_tensor_release(&state->shifted);
        amp_tensor_release(&state->sums);
    }
    return status;
}
