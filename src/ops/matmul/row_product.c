/*
 * Multiplies few rows by a matrix, as a decoder does that makes one token after the other: there is
 * nothing to do but to read the weights, of which bfloat16 and float16 are half as many bytes as
 * float32. Written by hand for x86-64 with AVX2, which keeps up with memory (gcc has no vectors of
 * float16 there), and for float32 in the cache with AVX-512. Threads take columns in pieces,
 * whoever comes first.
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

INLINE __m128i halves_at(const void *b, int64_t i)
{
    __m128i halves;
    memcpy(&halves, (const uint16_t *)b + i, sizeof halves);
    return halves;
}

INLINE __m256 read_bf16(const void *b, int64_t i)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves_at(b, i)), 16));
}

INLINE __m256 read_f16(const void *b, int64_t i)
{
    return _mm256_cvtph_ps(halves_at(b, i));
}

INLINE __m256 read_f32(const void *b, int64_t i)
{
    return _mm256_loadu_ps((const float *)b + i);
}

INLINE float read_one_bf16(const void *b, int64_t i)
{
    return amp_bf16_to_f32(((const uint16_t *)b)[i]);
}

INLINE float read_one_f16(const void *b, int64_t i)
{
    return amp_f16_to_f32(((const uint16_t *)b)[i]);
}

INLINE float read_one_f32(const void *b, int64_t i)
{
    return ((const float *)b)[i];
}

/* How a dtype is read, LANES elements from one on or that alone: a constant, so that it costs no
   call. */
struct reading {
    __m256 (*all)(const void *b, int64_t i);
    float (*one)(const void *b, int64_t i);
    bool is_fetched; /* before it is read */
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
    __m256 sums[AMP_ROWS_MAX];
    for (int64_t i = 0; i < m; i++)
        sums[i] = _mm256_loadu_ps(p->y + i * p->n + j);
    UNROLL for (int r = 0; r < count; r++)
    {
        __m256 weights = reading.all(p->b, (k + r) * p->n + j);
        for (int64_t i = 0; i < m; i++)
            sums[i] = _mm256_fmadd_ps(_mm256_set1_ps(p->a[i * p->a_row + k + r]), weights, sums[i]);
    }
    for (int64_t i = 0; i < m; i++)
        _mm256_storeu_ps(p->y + i * p->n + j, sums[i]);
}

/* Begins to fetch a line of each of the next AT_ONCE rows of B, in 16 bits, of which the processor
   sees too little at a time to do so. */
INLINE void fetch_next(const struct amp_row_product *p, int64_t k, int64_t j)
{
    const uint16_t *b = (const uint16_t *)p->b + (k + AT_ONCE) * p->n + j;
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
        if (reading.is_fetched && at.k + 2 * AT_ONCE <= p->k)
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
                    p->a[i * p->a_row + at.k + r] * reading.one(p->b, (at.k + r) * p->n + j);
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
    __m256 sums[AMP_ROWS_MAX][SIDE_BY_SIDE] = {0};
    int64_t k = 0;
    for (; k + LANES <= p->k; k += LANES) {
        UNROLL for (int c = 0; c < count; c++)
        {
            __m256 weights = reading.all(p->b, (j + c) * p->k + k);
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
                sum += p->a[i * p->a_row + rest] * reading.one(p->b, (j + c) * p->k + rest);
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

/* ---- float32 with AVX-512 -------------------------------------------------------------------- */

#    define INLINE_512 \
        __attribute__((target("avx512f"))) static inline __attribute__((always_inline))
enum { LANES_512 = 16 };

/* Which of the lanes from AT on are before END. */
INLINE_512 __mmask16 lanes_before(int64_t at, int64_t end)
{
    return end - at < LANES_512 ? (__mmask16)((1u << (end - at)) - 1) : (__mmask16)~0;
}

/* What add_rows does, with COUNT rows of B from row K on. */
INLINE_512 void add_rows_512(const struct amp_row_product *p, int64_t m, int count, struct place at)
{
    const float *b = (const float *)p->b + at.k * p->n;
    for (int64_t j = at.first; j < at.end; j += LANES_512) {
        __mmask16 lanes = lanes_before(j, at.end);
        __m512 sums[AMP_ROWS_MAX];
        for (int64_t i = 0; i < m; i++)
            sums[i] = _mm512_maskz_loadu_ps(lanes, p->y + i * p->n + j);
        UNROLL for (int r = 0; r < count; r++)
        {
            __m512 weights = _mm512_maskz_loadu_ps(lanes, b + r * p->n + j);
            for (int64_t i = 0; i < m; i++)
                sums[i] = _mm512_fmadd_ps(_mm512_set1_ps(p->a[i * p->a_row + at.k + r]), weights,
                                          sums[i]);
        }
        for (int64_t i = 0; i < m; i++)
            _mm512_mask_storeu_ps(p->y + i * p->n + j, lanes, sums[i]);
    }
}

INLINE_512 void multiply_down_512(const struct amp_row_product *p, int64_t m, int64_t first,
                                  int64_t end)
{
    int64_t k = 0;
    for (int64_t i = 0; i < m; i++)
        memset(p->y + i * p->n + first, 0, (size_t)(end - first) * sizeof *p->y);
    for (; k + AT_ONCE <= p->k; k += AT_ONCE)
        add_rows_512(p, m, AT_ONCE, (struct place){k, first, end});
    for (; k < p->k; k++)
        add_rows_512(p, m, 1, (struct place){k, first, end});
}

/* Adds the products of LANES_512 elements from row K of B on, those of LANES, to the SUMS of COUNT
   columns from J on. */
INLINE_512 void add_part_512(const struct amp_row_product *p, int64_t m, int count, int64_t j,
                             int64_t k, __mmask16 lanes, __m512 (*sums)[SIDE_BY_SIDE])
{
    const float *b = (const float *)p->b + j * p->k + k;
    UNROLL for (int c = 0; c < count; c++)
    {
        __m512 weights = _mm512_maskz_loadu_ps(lanes, b + c * p->k);
        for (int64_t i = 0; i < m; i++)
            sums[i][c] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, p->a + i * p->a_row + k),
                                         weights, sums[i][c]);
    }
}

INLINE_512 void add_along_512(const struct amp_row_product *p, int64_t m, int count, int64_t j)
{
    __m512 sums[AMP_ROWS_MAX][SIDE_BY_SIDE] = {0};
    int64_t k = 0;
    for (; k + LANES_512 <= p->k; k += LANES_512)
        add_part_512(p, m, count, j, k, (__mmask16)~0, sums);
    if (k < p->k)
        add_part_512(p, m, count, j, k, lanes_before(k, p->k), sums);
    for (int64_t i = 0; i < m; i++)
        UNROLL for (int c = 0; c < count; c++)
        {
            p->y[i * p->n + j + c] = _mm512_reduce_add_ps(sums[i][c]);
        }
}

INLINE_512 void multiply_along_512(const struct amp_row_product *p, int64_t m, int64_t first,
                                   int64_t end)
{
    int64_t j = first;
    for (; j + SIDE_BY_SIDE <= end; j += SIDE_BY_SIDE)
        add_along_512(p, m, SIDE_BY_SIDE, j);
    for (; j < end; j++)
        add_along_512(p, m, 1, j);
}

/* ---- ways ------------------------------------------------------------------------------------ */

typedef void multiply(const struct amp_row_product *p, int64_t first, int64_t end);

/* Of one row, and of two. */
struct way {
    multiply *rows[AMP_ROWS_MAX];
};

#    define MULTIPLY(name, order, m, dtype, is_fetched)                                  \
        AMP_V3_TARGET static void name(const struct amp_row_product *p, int64_t first,   \
                                       int64_t end)                                      \
        {                                                                                \
            const struct reading reading = {read_##dtype, read_one_##dtype, is_fetched}; \
            multiply_##order(p, m, reading, first, end);                                 \
        }
#    define MULTIPLY_512(name, order, m)                                                     \
        __attribute__((target("avx512f"))) static void name(const struct amp_row_product *p, \
                                                            int64_t first, int64_t end)      \
        {                                                                                    \
            multiply_##order##_512(p, m, first, end);                                        \
        }
#    define WAY(order, dtype, is_fetched)                          \
        MULTIPLY(order##_##dtype##_1, order, 1, dtype, is_fetched) \
        MULTIPLY(order##_##dtype##_2, order, 2, dtype, is_fetched) \
        static const struct way order##_##dtype = {{order##_##dtype##_1, order##_##dtype##_2}};
#    define WAY_512(order)                    \
        MULTIPLY_512(order##_512_1, order, 1) \
        MULTIPLY_512(order##_512_2, order, 2) \
        static const struct way order##_512 = {{order##_512_1, order##_512_2}};
WAY(down, bf16, true)
WAY(down, f16, true)
WAY(down, f32, false)
WAY(along, bf16, true)
WAY(along, f16, true)
WAY(along, f32, false)
WAY_512(down)
WAY_512(along)

/* How P is multiplied where B is stored as [k, n], and as [n, k]. */
static const struct way *choose_way(const struct amp_row_product *p)
{
    if (p->b_dtype == AMP_FLOAT16)
        return p->is_b_transposed ? &along_f16 : &down_f16;
    if (p->b_dtype == AMP_BFLOAT16)
        return p->is_b_transposed ? &along_bf16 : &down_bf16;
    if (amp_cpu_has(AMP_CPU_AVX512))
        return p->is_b_transposed ? &along_512 : &down_512;
    return p->is_b_transposed ? &along_f32 : &down_f32;
}

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
    multiply *run = choose_way(p)->rows[p->m - 1];
    int threads = p->n >= THREADED / p->k ? omp_get_max_threads() : 1;
    int64_t piece = piece_of(p, threads);
#    pragma omp parallel for schedule(dynamic) if (threads > 1)
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
