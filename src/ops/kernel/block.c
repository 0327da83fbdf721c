/*
 * Loads, stores and combines blocks of elements in the wide form of their class. Data are aligned
 * for their dtype; indexes are the caller's to check.
 */
#include "ops/kernel/block.h"

#include "core/convert.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <string.h>

/* A load and a store per dtype: elements of type T through member M of the wide form. The loop over
   adjacent elements stands apart so that it becomes vector code. */
#define CODEC(name, T, M, GET, PUT)                                                 \
    AMP_CLONES(void, load_##name,                                                   \
               (const void *data, int64_t stride, int64_t n, union amp_wide *to),   \
               (data, stride, n, to))                                               \
    {                                                                               \
        const T *from = data;                                                       \
        if (stride != 1) {                                                          \
            for (int64_t i = 0; i < n; i++)                                         \
                to[i].M = GET(from[i * stride]);                                    \
            return;                                                                 \
        }                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i].M = GET(from[i]);            \
    }                                                                               \
    AMP_CLONES(void, store_##name,                                                  \
               (const union amp_wide *from, void *data, int64_t stride, int64_t n), \
               (from, data, stride, n))                                             \
    {                                                                               \
        T *to = data;                                                               \
        if (stride != 1) {                                                          \
            for (int64_t i = 0; i < n; i++)                                         \
                to[i * stride] = (T)PUT(from[i].M);                                 \
            return;                                                                 \
        }                                                                           \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] = (T)PUT(from[i].M);         \
    }

/* amp_f16_to_f32 without branches, for vector code: the exponent is moved to its place and
   corrected by a product, which makes subnormal numbers normal; infinities and NaN get all its
   bits. */
static inline float half_value(uint16_t half)
{
    float magnitude = amp_bits_to_f32((half & 0x7FFFu) << 13) * 0x1p112f;
    uint32_t top = (half & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0;
    return amp_bits_to_f32(amp_f32_to_bits(magnitude) | top | (half & 0x8000u) << 16);
}

#define AS_IS(value) (value)
#define IS_TRUE(value) ((value) != 0)

CODEC(f32, float, f, AS_IS, AS_IS)
CODEC(f64, double, f, AS_IS, AS_IS)
CODEC(f16, uint16_t, f, half_value, amp_f64_to_f16)
CODEC(bf16, uint16_t, f, amp_bf16_to_f32, amp_f64_to_bf16)
CODEC(i8, int8_t, i, +, AS_IS)
CODEC(i16, int16_t, i, AS_IS, AS_IS)
CODEC(i32, int32_t, i, AS_IS, AS_IS)
CODEC(i64, int64_t, i, AS_IS, AS_IS)
CODEC(u8, uint8_t, u, AS_IS, AS_IS)
CODEC(u16, uint16_t, u, AS_IS, AS_IS)
CODEC(u32, uint32_t, u, AS_IS, AS_IS)
CODEC(u64, uint64_t, u, AS_IS, AS_IS)
CODEC(bool, uint8_t, u, IS_TRUE, IS_TRUE)

static const struct {
    enum amp_wide_kind kind;
    void (*load)(const void *data, int64_t stride, int64_t n, union amp_wide *to);
    void (*store)(const union amp_wide *from, void *data, int64_t stride, int64_t n);
} codecs[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = {AMP_WIDE_FLOAT, load_f32, store_f32},
    [AMP_DOUBLE] = {AMP_WIDE_FLOAT, load_f64, store_f64},
    [AMP_FLOAT16] = {AMP_WIDE_FLOAT, load_f16, store_f16},
    [AMP_BFLOAT16] = {AMP_WIDE_FLOAT, load_bf16, store_bf16},
    [AMP_INT8] = {AMP_WIDE_INT, load_i8, store_i8},
    [AMP_INT16] = {AMP_WIDE_INT, load_i16, store_i16},
    [AMP_INT32] = {AMP_WIDE_INT, load_i32, store_i32},
    [AMP_INT64] = {AMP_WIDE_INT, load_i64, store_i64},
    [AMP_UINT8] = {AMP_WIDE_UINT, load_u8, store_u8},
    [AMP_UINT16] = {AMP_WIDE_UINT, load_u16, store_u16},
    [AMP_UINT32] = {AMP_WIDE_UINT, load_u32, store_u32},
    [AMP_UINT64] = {AMP_WIDE_UINT, load_u64, store_u64},
    [AMP_BOOL] = {AMP_WIDE_UINT, load_bool, store_bool},
};

enum amp_wide_kind amp_wide_kind_of(enum amp_dtype dtype)
{
    return codecs[dtype].kind;
}

enum amp_status amp_wide_check(struct amp_ctx *ctx, enum amp_dtype dtype)
{
    return amp_wide_kind_of(dtype) == AMP_WIDE_NONE ? amp_no_kernel(ctx, dtype) : AMP_OK;
}

static unsigned char *first_of(const struct amp_stretch *stretch)
{
    return (unsigned char *)stretch->data +
           (size_t)stretch->first * (amp_dtype_bits(stretch->dtype) / 8);
}

void amp_wide_load(struct amp_stretch from, union amp_wide *to)
{
    codecs[from.dtype].load(first_of(&from), from.stride, from.n, to);
}

void amp_wide_store(const union amp_wide *from, struct amp_stretch to)
{
    codecs[to.dtype].store(from, first_of(&to), to.stride, to.n);
}

/* ---- combinations ---- */

typedef void combine_fn(union amp_wide *acc, const union amp_wide *x, int64_t n);

#define COMBINE(name, M, EXPRESSION)                                                   \
    AMP_CLONES(void, name, (union amp_wide * acc, const union amp_wide *x, int64_t n), \
               (acc, x, n))                                                            \
    {                                                                                  \
        AMP_SIMD for (int64_t i = 0; i < n; i++)                                       \
        {                                                                              \
            acc[i].M = EXPRESSION(acc[i].M, x[i].M);                                   \
        }                                                                              \
    }

#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define LARGER(a, b) ((b) > (a) ? (b) : (a))
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))
#define LARGER_FLOAT(a, b) ((b) != (b) ? (b) : LARGER(a, b))
#define SMALLER_FLOAT(a, b) ((b) != (b) ? (b) : SMALLER(a, b))

COMBINE(sum_float, f, PLUS)
COMBINE(sum_int, u, PLUS)
COMBINE(prod_float, f, TIMES)
COMBINE(prod_int, u, TIMES)
COMBINE(max_float, f, LARGER_FLOAT)
COMBINE(max_int, i, LARGER)
COMBINE(max_uint, u, LARGER)
COMBINE(min_float, f, SMALLER_FLOAT)
COMBINE(min_int, i, SMALLER)
COMBINE(min_uint, u, SMALLER)

/* Sums and products of signed integers wrap: they are made of the unsigned bits. */
static combine_fn *const combine[AMP_COMBINATIONS][AMP_WIDE_UINT + 1] = {
    [AMP_SUM] = {NULL, sum_float, sum_int, sum_int},
    [AMP_PRODUCT] = {NULL, prod_float, prod_int, prod_int},
    [AMP_LARGEST] = {NULL, max_float, max_int, max_uint},
    [AMP_SMALLEST] = {NULL, min_float, min_int, min_uint},
};

void amp_wide_combine(enum amp_combination how, enum amp_wide_kind kind, union amp_wide *acc,
                      const union amp_wide *x, int64_t n)
{
    combine[how][kind](acc, x, n);
}

/* ---- rows ---- */

enum { ROW = 4 * AMP_WIDE_BLOCK }; /* elements of a row at a time: a page of floats */

/* Combine COUNT rows of N elements, ROW at most, STEP elements apart, with ACC: by fours, so that
   what they come to is loaded and stored once for all of them. */
typedef void rows_fn(const float *a, int64_t step, int64_t count, int64_t n, union amp_wide *acc);

/* A sum rounds as one of each in turn. */
AMP_CLONES(void, rows_sum,
           (const float *a, int64_t step, int64_t count, int64_t n, union amp_wide *acc),
           (a, step, count, n, acc))
{
    for (; count >= 4; count -= 4, a += 4 * step) {
        const float *b = a + step, *c = b + step, *d = c + step;
        AMP_SIMD for (int64_t i = 0; i < n; i++)
        {
            acc[i].f = acc[i].f + (double)a[i] + (double)b[i] + (double)c[i] + (double)d[i];
        }
    }
    for (; count > 0; count--, a += step)
        AMP_SIMD for (int64_t i = 0; i < n; i++) acc[i].f += (double)a[i];
}

static inline float larger(float a, float b)
{
    float found = b > a ? b : a;
    return b != b ? b : found;
}

static inline float smaller(float a, float b)
{
    float found = b < a ? b : a;
    return b != b ? b : found;
}

/* What is the largest of floats is it of doubles: each column is widened once. */
#define ROWS_EXTREME(name, MORE, combine_wide)                                                \
    AMP_CLONES(void, name,                                                                    \
               (const float *a, int64_t step, int64_t count, int64_t n, union amp_wide *acc), \
               (a, step, count, n, acc))                                                      \
    {                                                                                         \
        float found[ROW];                                                                     \
        union amp_wide wide[ROW];                                                             \
        memcpy(found, a, (size_t)n * sizeof *a);                                              \
        for (a += step, count--; count >= 4; count -= 4, a += 4 * step) {                     \
            const float *b = a + step, *c = b + step, *d = c + step;                          \
            AMP_SIMD for (int64_t i = 0; i < n; i++)                                          \
            {                                                                                 \
                found[i] = MORE(MORE(found[i], MORE(a[i], b[i])), MORE(c[i], d[i]));          \
            }                                                                                 \
        }                                                                                     \
        for (; count > 0; count--, a += step)                                                 \
            AMP_SIMD for (int64_t i = 0; i < n; i++) found[i] = MORE(found[i], a[i]);         \
        AMP_SIMD for (int64_t i = 0; i < n; i++) wide[i].f = found[i];                        \
        combine_wide(acc, wide, n);                                                           \
    }

ROWS_EXTREME(rows_largest, larger, max_float)
ROWS_EXTREME(rows_smallest, smaller, min_float)

static rows_fn *const rows_of[AMP_COMBINATIONS] = {
    [AMP_SUM] = rows_sum, [AMP_LARGEST] = rows_largest, [AMP_SMALLEST] = rows_smallest};

/* The same of rows of 16 bits each, which are widened first. */
static void combine_lower(enum amp_combination how, struct amp_stretch row, int64_t step,
                          int64_t count, union amp_wide *acc)
{
    enum { ROWS = 4 };
    float wide[ROWS * ROW];
    for (int64_t left = count, rows; left > 0; left -= rows) {
        rows = left < ROWS ? left : ROWS;
        for (int64_t i = 0; i < rows; i++, row.first += step)
            amp_dtype_convert(row.dtype, first_of(&row), AMP_FLOAT, wide + i * ROW, (size_t)row.n);
        rows_of[how](wide, ROW, rows, row.n, acc);
    }
}

/* Combines the elements of ROW with those of ACC by way of the wide form. */
static void combine_block(enum amp_combination how, struct amp_stretch row, union amp_wide *acc)
{
    union amp_wide x[AMP_WIDE_BLOCK];
    for (int64_t left = row.n; left > 0; left -= row.n) {
        row.n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
        amp_wide_load(row, x);
        amp_wide_combine(how, amp_wide_kind_of(row.dtype), acc, x, row.n);
        row.first += row.n * row.stride;
        acc += row.n;
    }
}

void amp_wide_combine_rows(enum amp_combination how, struct amp_stretch row, int64_t step,
                           int64_t count, union amp_wide *acc)
{
    bool is_lower = amp_dtype_is_lower(row.dtype);
    if (rows_of[how] == NULL || row.stride != 1 || (row.dtype != AMP_FLOAT && !is_lower)) {
        for (int64_t i = 0; i < count; i++, row.first += step)
            combine_block(how, row, acc);
        return;
    }
    for (int64_t left = count > 0 ? row.n : 0; left > 0; left -= row.n) {
        row.n = left < ROW ? left : ROW;
        if (is_lower)
            combine_lower(how, row, step, count, acc);
        else
            rows_of[how]((const float *)row.data + row.first, step, count, row.n, acc);
        row.first += row.n;
        acc += row.n;
    }
}

/* ---- the elements of rows ---- */

/* Elements of a row that are combined side by side, on any machine, and those that are left to be
   combined one by one. */
enum { LANES = 32, FEW = 4 };

/* Combine the elements of each of COUNT rows of N, STEP elements apart, with one of ACC. */
typedef void each_fn(const float *a, int64_t step, int64_t count, int64_t n, union amp_wide *acc);

#define ADD(a, b) ((a) + (b))
#define EACH(name, T, START, COMBINE)                                                         \
    AMP_CLONES(void, name,                                                                    \
               (const float *a, int64_t step, int64_t count, int64_t n, union amp_wide *acc), \
               (a, step, count, n, acc))                                                      \
    {                                                                                         \
        for (int64_t r = 0; r < count && n > 0; r++, a += step) {                             \
            int64_t i = 0;                                                                    \
            T lanes[LANES];                                                                   \
            for (int64_t k = 0; k < LANES; k++)                                               \
                lanes[k] = START;                                                             \
            for (; n - i >= LANES; i += LANES)                                                \
                AMP_SIMD for (int64_t k = 0; k < LANES; k++)                                  \
                {                                                                             \
                    lanes[k] = COMBINE(lanes[k], (T)a[i + k]);                                \
                }                                                                             \
            AMP_SIMD for (int64_t k = 0; k < n - i; k++)                                      \
            {                                                                                 \
                lanes[k] = COMBINE(lanes[k], (T)a[i + k]);                                    \
            }                                                                                 \
            for (int64_t half = LANES / 2; half >= FEW; half /= 2)                            \
                AMP_SIMD for (int64_t k = 0; k < half; k++)                                   \
                {                                                                             \
                    lanes[k] = COMBINE(lanes[k], lanes[k + half]);                            \
                }                                                                             \
            for (int64_t k = 0; k < FEW; k++)                                                 \
                acc[r].f = COMBINE(acc[r].f, (double)lanes[k]);                               \
        }                                                                                     \
    }

EACH(each_sum, double, 0, ADD)
EACH(each_largest, float, a[0], larger)
EACH(each_smallest, float, a[0], smaller)

static each_fn *const each_of[AMP_COMBINATIONS] = {
    [AMP_SUM] = each_sum, [AMP_LARGEST] = each_largest, [AMP_SMALLEST] = each_smallest};

bool amp_wide_can_combine_each(enum amp_combination how, struct amp_stretch row)
{
    return each_of[how] != NULL && row.stride == 1 &&
           (row.dtype == AMP_FLOAT || amp_dtype_is_lower(row.dtype));
}

void amp_wide_combine_each(enum amp_combination how, struct amp_stretch row, int64_t step,
                           int64_t count, union amp_wide *acc)
{
    if (row.dtype == AMP_FLOAT) {
        each_of[how]((const float *)row.data + row.first, step, count, row.n, acc);
        return;
    }
    float wide[ROW];
    int64_t n = row.n;
    for (int64_t r = 0; r < count; r++, row.first += step - n)
        for (int64_t left = n; left > 0; left -= row.n, row.first += row.n) {
            row.n = left < ROW ? left : ROW;
            amp_dtype_convert(row.dtype, first_of(&row), AMP_FLOAT, wide, (size_t)row.n);
            each_of[how](wide, 0, 1, row.n, acc + r);
        }
}

/* ---- integers of floats ---- */

void amp_wide_to_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        wide[i].f = (double)wide[i].i;
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        wide[i].f = (double)wide[i].u;
}

static int64_t to_int(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static uint64_t to_uint(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

void amp_wide_from_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        wide[i].i = to_int(wide[i].f);
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        wide[i].u = to_uint(wide[i].f);
}
