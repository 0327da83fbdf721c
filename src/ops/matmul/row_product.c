/*
 * Multiplies few rows by a matrix in bfloat16 or float16, as a decoder does that makes one token
 * after the other: there is nothing to do but to read the weights, of which these are half as many
 * bytes as float32's. Written by hand for x86-64 with AVX2, which keeps up with memory; gcc has no
 * vectors of float16 there. Threads take columns in pieces, whoever comes first.
 */
#include "ops/matmul/row_product.h"

#include "core/cpu.h"
#include "core/simd.h"

#if AMP_HAS_V3
#    include <immintrin.h>
#    include <omp.h>
#    include <string.h>

enum {
    LANES = 8,
    LINE = 32,         /* elements of a line of the cache */
    AT_ONCE = 8,       /* rows of B that are read side by side */
    SIDE_BY_SIDE = 4,  /* the same where rows of B are columns of the product */
    MOST_SUMS = 4096,  /* they stay in the cache */
    LEAST_PIECE = 256, /* columns that a thread takes at a time */
    THREADED = 1 << 18 /* elements of B from which on several threads are worth it */
};

#    define INLINE AMP_V3_TARGET static inline __attribute__((always_inline))
#    define UNROLL _Pragma("GCC unroll 8")

INLINE __m256 widen_bf16(const uint16_t *from)
{
    __m128i halves;
    memcpy(&halves, from, sizeof halves);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

INLINE __m256 widen_f16(const uint16_t *from)
{
    __m128i halves;
    memcpy(&halves, from, sizeof halves);
    return _mm256_cvtph_ps(halves);
}

typedef __m256 widen(const uint16_t *from);
typedef float widen_one(uint16_t half);

/* How a dtype is read: a constant, so that it costs no call. */
struct reading {
    widen *all;
    widen_one *one;
};

/* The sum of the lanes. */
INLINE float sum_of(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* From row K of B on, columns FIRST to END-1. */
struct place {
    int64_t k, first, end;
};

/* Adds the products of COUNT rows of B to the sums of LANES columns from J on. COUNT and M, the
   rows of P, are constants. */
INLINE void add_vector(const struct amp_row_product *p, int64_t m, struct reading reading,
                       int count, int64_t k, int64_t j)
{
    const uint16_t *b = p->b + k * p->n + j;
    __m256 sums[AMP_ROWS_MAX];
    for (int64_t i = 0; i < m; i++)
        sums[i] = _mm256_loadu_ps(p->y + i * p->n + j);
    UNROLL for (int r = 0; r < count; r++)
    {
        __m256 weights = reading.all(b + r * p->n);
        for (int64_t i = 0; i < m; i++)
            sums[i] = _mm256_fmadd_ps(_mm256_set1_ps(p->a[i * p->a_row + k + r]), weights, sums[i]);
    }
    for (int64_t i = 0; i < m; i++)
        _mm256_storeu_ps(p->y + i * p->n + j, sums[i]);
}

/* Begins to fetch a line of each of the next AT_ONCE rows of B, of which the processor sees too
   little at a time to do so. */
INLINE void fetch_next(const struct amp_row_product *p, int64_t k, int64_t j)
{
    const uint16_t *b = p->b + (k + AT_ONCE) * p->n + j;
    UNROLL for (int r = 0; r < AT_ONCE; r++)
    {
        _mm_prefetch((const char *)(b + r * p->n), _MM_HINT_T0);
    }
}

/* Adds the products of COUNT rows of B to the sums of columns. */
INLINE void add_rows(const struct amp_row_product *p, int64_t m, struct reading reading, int count,
                     struct place at)
{
    int64_t j = at.first;
    for (; j + LINE <= at.end; j += LINE) {
        if (at.k + 2 * AT_ONCE <= p->k)
            fetch_next(p, at.k, j);
        for (int64_t part = 0; part < LINE; part += LANES)
            add_vector(p, m, reading, count, at.k, j + part);
    }
    for (; j + LANES <= at.end; j += LANES)
        add_vector(p, m, reading, count, at.k, j);
    for (; j < at.end; j++)
        for (int64_t i = 0; i < m; i++)
            for (int r = 0; r < count; r++)
                p->y[i * p->n + j] +=
                    p->a[i * p->a_row + at.k + r] * reading.one(p->b[(at.k + r) * p->n + j]);
}

/* Columns FIRST to END-1 of Y where B is [k, n]. */
INLINE void multiply_down(const struct amp_row_product *p, int64_t m, struct reading reading,
                          int64_t first, int64_t end)
{
    int64_t k = 0;
    for (int64_t i = 0; i < m; i++)
        memset(p->y + i * p->n + first, 0, (size_t)(end - first) * sizeof *p->y);
    for (; k + AT_ONCE <= p->k; k += AT_ONCE)
        add_rows(p, m, reading, AT_ONCE, (struct place){k, first, end});
    for (; k < p->k; k++)
        add_rows(p, m, reading, 1, (struct place){k, first, end});
}

/* COUNT columns of Y from J on where B is [n, k]: side by side, so that no sum waits for the one
   before it. COUNT is a constant. */
INLINE void add_along(const struct amp_row_product *p, int64_t m, struct reading reading, int count,
                      int64_t j)
{
    const uint16_t *b = p->b + j * p->k;
    __m256 sums[AMP_ROWS_MAX][SIDE_BY_SIDE] = {0};
    int64_t k = 0;
    for (; k + LANES <= p->k; k += LANES) {
        UNROLL for (int c = 0; c < count; c++)
        {
            __m256 weights = reading.all(b + c * p->k + k);
            for (int64_t i = 0; i < m; i++)
                sums[i][c] =
                    _mm256_fmadd_ps(_mm256_loadu_ps(p->a + i * p->a_row + k), weights, sums[i][c]);
        }
    }
    for (int64_t i = 0; i < m; i++)
        UNROLL for (int c = 0; c < count; c++)
        {
            float sum = sum_of(sums[i][c]);
            for (int64_t rest = k; rest < p->k; rest++)
                sum += p->a[i * p->a_row + rest] * reading.one(b[c * p->k + rest]);
            p->y[i * p->n + j + c] = sum;
        }
}

/* Columns FIRST to END-1 of Y where B is [n, k]. */
INLINE void multiply_along(const struct amp_row_product *p, int64_t m, struct reading reading,
                           int64_t first, int64_t end)
{
    int64_t j = first;
    for (; j + SIDE_BY_SIDE <= end; j += SIDE_BY_SIDE)
        add_along(p, m, reading, SIDE_BY_SIDE, j);
    for (; j < end; j++)
        add_along(p, m, reading, 1, j);
}

typedef void multiply(const struct amp_row_product *p, int64_t first, int64_t end);

#    define MULTIPLY(name, way, m, all, one)                                           \
        AMP_V3_TARGET static void name(const struct amp_row_product *p, int64_t first, \
                                       int64_t end)                                    \
        {                                                                              \
            way(p, m, (struct reading){all, one}, first, end);                         \
        }
#    define MULTIPLY_ROWS(way, dtype, all, one)                  \
        MULTIPLY(way##_##dtype##_1, multiply_##way, 1, all, one) \
        MULTIPLY(way##_##dtype##_2, multiply_##way, 2, all, one)
MULTIPLY_ROWS(down, bf16, widen_bf16, amp_bf16_to_f32)
MULTIPLY_ROWS(down, f16, widen_f16, amp_f16_to_f32)
MULTIPLY_ROWS(along, bf16, widen_bf16, amp_bf16_to_f32)
MULTIPLY_ROWS(along, f16, widen_f16, amp_f16_to_f32)

#    define LIST(way, dtype)                     \
        {                                        \
            way##_##dtype##_1, way##_##dtype##_2 \
        }
static multiply *const ways[2][2][AMP_ROWS_MAX] = {{LIST(down, bf16), LIST(down, f16)},
                                                   {LIST(along, bf16), LIST(along, f16)}};

bool amp_row_product_is_there(void)
{
    return amp_cpu_has(AMP_CPU_V3);
}

/* Columns of a piece: all that keep their sums in the cache, for several threads a few each. The
   sums do not depend on it. */
static int64_t piece_of(const struct amp_row_product *p, int threads)
{
    int64_t most = MOST_SUMS / p->m, least = most < LEAST_PIECE ? most : LEAST_PIECE;
    int64_t piece = threads == 1 ? p->n : (p->n / (2 * threads) + LINE - 1) / LINE * LINE;
    return piece < least ? least : piece > most ? most : piece;
}

void amp_row_product_run(const struct amp_row_product *p)
{
    multiply *run = ways[p->is_b_transposed][p->b_dtype == AMP_FLOAT16][p->m - 1];
    bool is_large = p->n >= THREADED / p->k;
    int64_t piece = piece_of(p, is_large ? omp_get_max_threads() : 1);
#    pragma omp parallel for schedule(dynamic) if (is_large)
    for (int64_t first = 0; first < p->n; first += piece)
        run(p, first, first + piece < p->n ? first + piece : p->n);
}

#else

bool amp_row_product_is_there(void)
{
    return false;
}

void amp_row_product_run(const struct amp_row_product *p)
{
    (void)p;
}

#endif
