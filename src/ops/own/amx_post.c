/*
 * Does to the results of tiles what comes after the product: bias, activation, operands, and the
 * cast to the type of Y. It is written in vectors of x86-64 by hand, for the tiles wait meanwhile:
 * Gelu in a loop that gcc vectorizes takes twice as long.
 */
#include "ops/own/amx_post.h"

#include "core/array.h"
#include "ops/kernel/vector_512.h"

#include <oneapi/dnnl/dnnl.h>

#if AMP_HAS_AMX

/* Columns that count of the vector of a row that begins with column LEFT. */
static inline __mmask16 mask_of(const struct results *results, int left)
{
    int count = results->columns - left;
    return (__mmask16)(count >= TILE ? 0xffff : count <= 0 ? 0 : (1 << count) - 1);
}

/* ---- of each element ------------------------------------------------------------------------- */

/* x / (1 + exp(-u)); 0 where u is so low that the exponential would be no number. */
AMP_AMX_TARGET static inline __m512 by_sigmoid(__m512 x, __m512 u)
{
    __m512 e = amp_512_exp(amp_512_clamp(_mm512_sub_ps(_mm512_setzero_ps(), u), -87, 87));
    __mmask16 is_low = _mm512_cmp_ps_mask(u, _mm512_set1_ps(-87), _CMP_LT_OQ);
    return _mm512_maskz_mul_ps((__mmask16)~is_low, x,
                               amp_512_reciprocal(_mm512_add_ps(_mm512_set1_ps(1), e)));
}

AMP_AMX_TARGET static inline __m512 logistic(__m512 x, __m512 alpha, __m512 beta)
{
    (void)alpha, (void)beta;
    return by_sigmoid(_mm512_set1_ps(1), x);
}

AMP_AMX_TARGET static inline __m512 swish(__m512 x, __m512 alpha, __m512 beta)
{
    (void)beta;
    return by_sigmoid(x, _mm512_mul_ps(alpha, x));
}

/* See ops/elementwise/gelu.c for the factors. */
AMP_AMX_TARGET static inline __m512 gelu_tanh(__m512 x, __m512 alpha, __m512 beta)
{
    (void)alpha, (void)beta;
    __m512 cube = _mm512_mul_ps(_mm512_mul_ps(x, x), _mm512_mul_ps(x, _mm512_set1_ps(0.044715f)));
    return by_sigmoid(x, _mm512_mul_ps(_mm512_add_ps(x, cube), _mm512_set1_ps(1.59576912f)));
}

/* x Phi(x) by erfc(z), z = |x| / sqrt(2): a polynomial in t = 1 / (1 + p z) by exp(-z^2) (Hastings;
   Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.26), to 1.5e-7; nothing cancels
   below 0. Beyond 9 erfc(z) is no normal number, and 0 to all ends. */
AMP_AMX_TARGET static inline __m512 gelu_erf(__m512 x, __m512 alpha, __m512 beta)
{
    static const float factors[] = {1.061405429f,  -1.453152027f, 1.421413741f,
                                    -0.284496736f, 0.254829592f,  0};
    (void)alpha, (void)beta;
    __m512 near = amp_512_clamp(x, -12.7f, 12.7f);
    __m512 z = _mm512_abs_ps(_mm512_mul_ps(near, _mm512_set1_ps(0.707106781f)));
    __m512 t =
        amp_512_reciprocal(_mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911f), _mm512_set1_ps(1)));
    __m512 e = amp_512_exp(_mm512_fnmadd_ps(z, z, _mm512_setzero_ps()));
    __m512 erfc = _mm512_mul_ps(amp_512_polynomial(t, factors, AMP_COUNT(factors)), e);
    __m512 below = _mm512_mul_ps(_mm512_mul_ps(near, _mm512_set1_ps(0.5f)), erfc);
    __mmask16 is_above = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_mask_sub_ps(below, is_above, x, below);
}

AMP_AMX_TARGET static inline __m512 relu(__m512 x, __m512 alpha, __m512 beta)
{
    (void)beta;
    __mmask16 is_below = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mask_mul_ps(x, is_below, x, alpha);
}

AMP_AMX_TARGET static inline __m512 linear(__m512 x, __m512 alpha, __m512 beta)
{
    return _mm512_fmadd_ps(x, alpha, beta);
}

#    define EACH(X)  \
        X(gelu_erf)  \
        X(gelu_tanh) \
        X(linear)    \
        X(logistic)  \
        X(relu)      \
        X(swish)

#    define RUN_EACH(name)                                                                 \
        AMP_AMX_TARGET static void run_##name(const struct tile_post *post,                \
                                              struct results *results)                     \
        {                                                                                  \
            __m512 alpha = _mm512_set1_ps(post->alpha), beta = _mm512_set1_ps(post->beta); \
            for (int i = 0; i < results->rows; i++)                                        \
                for (int j = 0; j < UNIT; j += TILE) {                                     \
                    float *at = &results->at[i][j];                                        \
                    _mm512_store_ps(at, name(_mm512_load_ps(at), alpha, beta));            \
                }                                                                          \
        }
EACH(RUN_EACH)

/* ---- with operands --------------------------------------------------------------------------- */

/* The elements for row I of RESULTS from column LEFT on; 0 where no column is. */
AMP_AMX_TARGET static inline __m512 read_vector(const struct tile_post *post,
                                                const struct results *results, int i, int left)
{
    const struct elements *from = &post->operand;
    int64_t at = (results->row + i) * from->row + results->column + left;
    __mmask16 mask = mask_of(results, left);
    if (!from->is_bf16)
        return post->is_scalar ? _mm512_set1_ps(*(const float *)from->data)
                               : _mm512_maskz_loadu_ps(mask, (const float *)from->data + at);
    const uint16_t *halves = from->data;
    return post->is_scalar ? _mm512_castsi512_ps(_mm512_set1_epi32((int)((unsigned)*halves << 16)))
                           : amp_512_load_bf16(halves + at, mask);
}

#    define WITH(X) \
        X(add)      \
        X(div)      \
        X(mul)      \
        X(sub)

#    define RUN_WITH(name)                                                             \
        AMP_AMX_TARGET static void run_##name(const struct tile_post *post,            \
                                              struct results *results)                 \
        {                                                                              \
            for (int left = 0; left < UNIT; left += TILE) {                            \
                __m512 with = read_vector(post, results, 0, left);                     \
                for (int i = 0; i < results->rows; i++) {                              \
                    float *at = &results->at[i][left];                                 \
                    if (post->operand.row != 0)                                        \
                        with = read_vector(post, results, i, left);                    \
                    _mm512_store_ps(at, _mm512_##name##_ps(_mm512_load_ps(at), with)); \
                }                                                                      \
            }                                                                          \
        }
WITH(RUN_WITH)

/* ---- tables ---------------------------------------------------------------------------------- */

#    define EACH_ROW(name) {dnnl_eltwise_##name, run_##name},
#    define WITH_ROW(name) {dnnl_binary_##name, run_##name},
static const struct row {
    dnnl_alg_kind_t alg;
    tile_post_run *run;
} eltwises[] = {EACH(EACH_ROW)}, binaries[] = {WITH(WITH_ROW)};

static tile_post_run *find(const struct row *rows, size_t n, int alg)
{
    for (size_t i = 0; i < n; i++)
        if ((int)rows[i].alg == alg)
            return rows[i].run;
    return NULL;
}

tile_post_run *amp_amx_find_eltwise(int alg)
{
    return find(eltwises, AMP_COUNT(eltwises), alg);
}

tile_post_run *amp_amx_find_binary(int alg)
{
    return find(binaries, AMP_COUNT(binaries), alg);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* RESULTS into Y, rounded to the nearest, ties to even, where it is bfloat16. */
AMP_AMX_TARGET static void store(const struct elements *y, const struct results *results)
{
    __mmask16 is_left = mask_of(results, 0), is_right = mask_of(results, TILE);
    int64_t at = results->row * y->row + results->column;
    for (int i = 0; i < results->rows; i++, at += y->row) {
        __m512 left = _mm512_load_ps(&results->at[i][0]);
        __m512 right = _mm512_load_ps(&results->at[i][TILE]);
        if (y->is_bf16) {
            __mmask32 is_in = (__mmask32)is_left | (__mmask32)is_right << TILE;
            _mm512_mask_storeu_epi16((uint16_t *)y->data + at, is_in,
                                     (__m512i)_mm512_cvtne2ps_pbh(right, left));
        } else {
            _mm512_mask_storeu_ps((float *)y->data + at, is_left, left);
            _mm512_mask_storeu_ps((float *)y->data + at + TILE, is_right, right);
        }
    }
}

AMP_AMX_TARGET void amp_amx_store(const struct tile_product *product, struct results *results)
{
    for (int i = 0; i < product->n_posts; i++)
        product->posts[i].run(&product->posts[i], results);
    store(&product->y, results);
}

#endif
