/* Conversions between element types: every value of the small types, ties, ends of range, and the
   compiler's own half precision as a second opinion. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/dtype.h"
#include "core/number/minifloat.h"
#include "core/simd.h"
#include "ops/kernel/number_text.h"
#include "ops/kernel/tensor_cast.h"

/* A step through the 2^32 patterns of float32 that meets every exponent and both kinds of bits. */
enum { STRIDE = 4099 };

static void every_half_survives_float32(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        uint16_t half = (uint16_t)bits;
        float f16 = amp_f16_to_f32(half), bf16 = amp_bf16_to_f32(half);
        assert_int_equal(amp_f32_to_f16(f16), isnan(f16) ? half | 0x0200 : half);
        assert_int_equal(amp_f32_to_bf16(bf16), isnan(bf16) ? half | 0x0040 : half);
        assert_int_equal(amp_f64_to_f16((double)f16), amp_f32_to_f16(f16));
        assert_int_equal(amp_f64_to_bf16((double)bf16), amp_f32_to_bf16(bf16));
    }
}

static void ties_go_to_even(void **state)
{
    (void)state;
    assert_int_equal(amp_f32_to_bf16(0x1.01p0f), 0x3F80);     /* tie, down to even */
    assert_int_equal(amp_f32_to_bf16(0x1.03p0f), 0x3F82);     /* tie, up to even */
    assert_int_equal(amp_f32_to_bf16(0x1.010002p0f), 0x3F81); /* above the tie */
    assert_int_equal(amp_f32_to_bf16(0x1.FFp127f), 0x7F80);   /* overflows */
    assert_int_equal(amp_f32_to_bf16(0x1.FEFFFEp127f), 0x7F7F);
    assert_int_equal(amp_f32_to_f16(0x1.002p0f), 0x3C00);
    assert_int_equal(amp_f32_to_f16(0x1.006p0f), 0x3C02);
    assert_int_equal(amp_f32_to_f16(65519.996f), 0x7BFF);
    assert_int_equal(amp_f32_to_f16(65520.0f), 0x7C00);
    assert_int_equal(amp_f32_to_f16(0x1p-25f), 0x0000); /* half the least, to even: 0 */
    assert_int_equal(amp_f32_to_f16(0x1.000002p-25f), 0x0001);
    assert_int_equal(amp_f32_to_f16(-0x1.8p-24f), 0x8002);
}

/* What is converted in pieces ends where it ends. */
static void pieces_end_with_the_whole(void **state)
{
    enum { MOST = 3 * AMP_PARALLEL_MIN + 8 };
    static float from[MOST];
    static uint16_t to[MOST];
    static const size_t counts[] = {1,
                                    AMP_PARALLEL_MIN - 1,
                                    AMP_PARALLEL_MIN,
                                    AMP_PARALLEL_MIN + 1,
                                    2 * AMP_PARALLEL_MIN,
                                    2 * AMP_PARALLEL_MIN + 5};
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        from[i] = (float)(i % 1000);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        memset(to, 0x5a, sizeof to);
        amp_dtype_convert(AMP_FLOAT, from, AMP_FLOAT16, to, counts[k]);
        for (size_t i = 0; i < MOST; i++)
            if (to[i] != (i < counts[k] ? amp_f32_to_f16(from[i]) : 0x5a5a))
                fail_msg("%zu of %zu is %x", i, counts[k], to[i]);
    }
}

static void doubles_round_once(void **state)
{
    (void)state;
    /* Just above a tie of the narrow type, by less than float32 can tell. */
    assert_int_equal(amp_f64_to_bf16(0x1.01p0 + 0x1p-40), 0x3F81);
    assert_int_equal(amp_f64_to_bf16(0x1.03p0 - 0x1p-40), 0x3F81);
    assert_int_equal(amp_f64_to_f16(0x1.002p0 + 0x1p-40), 0x3C01);
    assert_int_equal(amp_f64_to_f16(65520.0 - 1e-9), 0x7BFF);
    assert_int_equal(amp_f64_to_f16(1e300), 0x7C00);
    assert_int_equal(amp_f64_to_f16(-1e-300), 0x8000);
}

#ifdef __FLT16_MANT_DIG__
static uint16_t compiled_half(_Float16 value)
{
    uint16_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void halves_agree_with_the_compiler(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
        float value = amp_bits_to_f32((uint32_t)bits);
        if (isnan(value))
            continue;
        double near = (double)value * (1 + 0x1p-45); /* no float32 */
        assert_int_equal(amp_f32_to_f16(value), compiled_half((_Float16)value));
        assert_int_equal(amp_f64_to_f16(near), compiled_half((_Float16)near));
    }
}
#endif

static void arrays_convert_as_values_do(void **state)
{
    enum { N = 1003 };
    static unsigned char floats[4 * N + 1], halves[2 * N + 1], brains[2 * N + 1], back[4 * N + 1];
    (void)state;
    for (uint64_t first = 0; first <= UINT32_MAX; first += (uint64_t)N * STRIDE) {
        for (size_t i = 0; i < N; i++) {
            uint32_t bits = (uint32_t)(first + i * STRIDE);
            memcpy(floats + 1 + 4 * i, &bits, sizeof bits);
        }
        amp_dtype_convert(AMP_FLOAT, floats + 1, AMP_FLOAT16, halves + 1, N);
        amp_dtype_convert(AMP_FLOAT, floats + 1, AMP_BFLOAT16, brains + 1, N);
        amp_dtype_convert(AMP_FLOAT16, halves + 1, AMP_FLOAT, back + 1, N);
        for (size_t i = 0; i < N; i++) {
            float value = amp_bits_to_f32((uint32_t)(first + i * STRIDE)), again;
            uint16_t half, brain;
            memcpy(&half, halves + 1 + 2 * i, sizeof half);
            memcpy(&brain, brains + 1 + 2 * i, sizeof brain);
            memcpy(&again, back + 1 + 4 * i, sizeof again);
            assert_int_equal(half, amp_f32_to_f16(value));
            assert_int_equal(brain, amp_f32_to_bf16(value));
            assert_int_equal(amp_f32_to_bits(again), amp_f32_to_bits(amp_f16_to_f32(half)));
        }
    }
}

/* More values than a block, and than one thread takes. */
static void floats_round_where_they_are(void **state)
{
    enum { N = 70001 };
    static const enum amp_dtype dtypes[] = {AMP_FLOAT16, AMP_BFLOAT16};
    static uint32_t bits[N];
    static float values[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        bits[i] = (uint32_t)(i * UINT32_C(2654435761));
    for (size_t d = 0; d < 2; d++) {
        memcpy(values, bits, sizeof values);
        amp_dtype_round(dtypes[d], values, N);
        for (size_t i = 0; i < N; i++) {
            float value = amp_bits_to_f32(bits[i]);
            float rounded = d == 0 ? amp_f16_to_f32(amp_f32_to_f16(value))
                                   : amp_bf16_to_f32(amp_f32_to_bf16(value));
            assert_int_equal(amp_f32_to_bits(values[i]), amp_f32_to_bits(rounded));
        }
    }
}

static void halves_convert_into_each_other(void **state)
{
    static uint16_t from[UINT16_MAX + 1], to[UINT16_MAX + 1];
    (void)state;
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        from[i] = (uint16_t)i;
    amp_dtype_convert(AMP_BFLOAT16, from, AMP_FLOAT16, to, UINT16_MAX + 1);
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        assert_int_equal(to[i], amp_f32_to_f16(amp_bf16_to_f32(from[i])));
    amp_dtype_convert(AMP_FLOAT16, from, AMP_BFLOAT16, to, UINT16_MAX + 1);
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        assert_int_equal(to[i], amp_f32_to_bf16(amp_f16_to_f32(from[i])));
}

/* What saturating makes of VALUE, rounded to BITS, and what is lost by it, by the definitions. */
static uint16_t saturated(float value, enum amp_dtype from, enum amp_dtype to, uint16_t bits,
                          struct amp_losses *losses)
{
    bool is_f16 = to == AMP_FLOAT16;
    float rounded = is_f16 ? amp_f16_to_f32(bits) : amp_bf16_to_f32(bits);
    float least_normal = is_f16 ? 0x1p-14f : 0x1p-126f;
    bool was_normal = from == AMP_FLOAT16 ? fabsf(value) >= 0x1p-14f : isnormal(value);
    losses->zeroed += value != 0 && rounded == 0;
    losses->subnormal += was_normal && rounded != 0 && fabsf(rounded) < least_normal;
    if (!isinf(rounded) || isinf(value))
        return bits;
    losses->saturated++;
    return (uint16_t)((bits & 0x8000) | (is_f16 ? 0x7BFF : 0x7F7F));
}

static void assert_same_losses(const struct amp_losses *got, const struct amp_losses *want)
{
    assert_int_equal(got->saturated, want->saturated);
    assert_int_equal(got->zeroed, want->zeroed);
    assert_int_equal(got->subnormal, want->subnormal);
}

/* Enough elements for several threads, with every pattern's neighbours among them. */
static void constants_saturate(void **state)
{
    enum { N = UINT32_MAX / 16411 };
    static float from[N];
    static uint16_t to[N];
    const enum amp_dtype dtypes[] = {AMP_FLOAT16, AMP_BFLOAT16};
    const uint32_t edges[] = {0,          1,          0x8000,     0x8001,     0x33000000,
                              0x33000001, 0x387FDFFF, 0x387FE000, 0x387FEFFF, 0x387FF000,
                              0x38800000, 0x477FEFFF, 0x477FF000, 0x7F7F7FFF, 0x7F7F8000,
                              0x7F7FFFFF, 0x7F800000, 0x7F800001};
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        from[i] = amp_bits_to_f32(i * 16411);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        from[7 * i] = amp_bits_to_f32(edges[i]);
        from[7 * i + 3] = amp_bits_to_f32(edges[i] | 0x80000000u);
    }
    for (int d = 0; d < 2; d++) {
        struct amp_losses want = {.saturated = 0};
        struct amp_losses got = amp_dtype_saturate(AMP_FLOAT, from, dtypes[d], to, N);
        for (uint32_t i = 0; i < N; i++) {
            uint16_t bits =
                dtypes[d] == AMP_FLOAT16 ? amp_f32_to_f16(from[i]) : amp_f32_to_bf16(from[i]);
            assert_int_equal(to[i], saturated(from[i], AMP_FLOAT, dtypes[d], bits, &want));
        }
        assert_same_losses(&got, &want);
        assert_true(want.saturated > 0 && want.zeroed > 0);
    }
}

static void halves_saturate_in_each_other(void **state)
{
    static uint16_t from[UINT16_MAX + 1], to[UINT16_MAX + 1];
    const struct amp_losses none = {.saturated = 0};
    struct amp_losses want = none;
    (void)state;
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        from[i] = (uint16_t)i;
    struct amp_losses got = amp_dtype_saturate(AMP_BFLOAT16, from, AMP_FLOAT16, to, UINT16_MAX + 1);
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        float value = amp_bf16_to_f32(from[i]);
        assert_int_equal(to[i],
                         saturated(value, AMP_BFLOAT16, AMP_FLOAT16, amp_f32_to_f16(value), &want));
    }
    assert_same_losses(&got, &want);
    got = amp_dtype_saturate(AMP_FLOAT16, from, AMP_BFLOAT16, to, UINT16_MAX + 1);
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        assert_int_equal(to[i], amp_f32_to_bf16(amp_f16_to_f32(from[i])));
    assert_same_losses(&got, &none);
}

static const enum amp_dtype small_floats[] = {AMP_FLOAT8E4M3FN, AMP_FLOAT8E4M3FNUZ,
                                              AMP_FLOAT8E5M2,   AMP_FLOAT8E5M2FNUZ,
                                              AMP_FLOAT4E2M1,   AMP_FLOAT8E8M0};
enum { SMALL_FLOATS = sizeof small_floats / sizeof small_floats[0] };

static unsigned codes_of(enum amp_dtype dtype)
{
    return 1u << amp_dtype_bits(dtype);
}

static void every_small_float_survives(void **state)
{
    (void)state;
    for (size_t k = 0; k < SMALL_FLOATS; k++)
        for (unsigned code = 0; code < codes_of(small_floats[k]); code++) {
            float value = amp_minifloat_to_f32(small_floats[k], (uint8_t)code);
            uint8_t again =
                amp_f64_to_minifloat(small_floats[k], (double)value, false, AMP_ROUND_NEAREST);
            if (isnan(value))
                assert_true(isnan(amp_minifloat_to_f32(small_floats[k], again)));
            else
                assert_int_equal(again, code);
        }
}

static void small_floats_have_their_values(void **state)
{
    (void)state;
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E4M3FN, 0x7E) == 448);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E4M3FN, 0x01) == 0x1p-9f);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E4M3FNUZ, 0x7F) == 240);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E4M3FNUZ, 0x01) == 0x1p-10f);
    assert_true(isnan(amp_minifloat_to_f32(AMP_FLOAT8E4M3FNUZ, 0x80)));
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E5M2, 0xFB) == -57344);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E5M2, 0xFC) == -INFINITY);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E5M2, 0x01) == 0x1p-16f);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E5M2FNUZ, 0x7F) == 57344);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E5M2FNUZ, 0x01) == 0x1p-17f);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT4E2M1, 0xF) == -6);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT4E2M1, 0x1) == 0.5f);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E8M0, 0x00) == 0x1p-127f);
    assert_true(amp_minifloat_to_f32(AMP_FLOAT8E8M0, 0xFE) == 0x1p127f);
}

/* The code whose value is nearest to VALUE, found by trying all; of two, the even one. */
static unsigned nearest_code(enum amp_dtype dtype, double value)
{
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned code = 0; code < codes_of(dtype); code++) {
        double candidate = (double)amp_minifloat_to_f32(dtype, (uint8_t)code);
        double distance = fabs(candidate - value);
        bool is_nearer = distance < least || (distance == least && code % 2 == 0 && best % 2 == 1);
        if (isfinite(candidate) && signbit(candidate) == signbit(value) && is_nearer) {
            best = code;
            least = distance;
        }
    }
    return best;
}

static void assert_nearest(enum amp_dtype dtype, double value)
{
    uint8_t code = amp_f64_to_minifloat(dtype, value, true, AMP_ROUND_UP);
    /* A value that rounds to 0 may lose its sign. */
    if (amp_minifloat_to_f32(dtype, code) != 0)
        assert_int_equal(code, nearest_code(dtype, value));
}

static void small_floats_round_to_the_nearest(void **state)
{
    (void)state;
    for (size_t k = 0; k < SMALL_FLOATS; k++) {
        if (small_floats[k] == AMP_FLOAT8E8M0)
            continue;
        for (int i = 0; i < 36 * 64; i++) {
            double value = exp2(i / 64.0 - 19);
            /* Of few bits: a tie between neighbours every now and then. */
            double tie = ldexp(rint(ldexp(value, 12)), -12);
            assert_nearest(small_floats[k], value);
            assert_nearest(small_floats[k], -value);
            assert_nearest(small_floats[k], tie);
            assert_nearest(small_floats[k], -tie);
        }
    }
}

/* Puts the middle between CODE and the next code, what is next to it on either side, and their
   negatives, into VALUES. */
static void around_tie(enum amp_dtype dtype, unsigned code, float *values)
{
    float below = amp_minifloat_to_f32(dtype, (uint8_t)code);
    float above = amp_minifloat_to_f32(dtype, (uint8_t)(code + 1));
    values[0] = below + (above - below) / 2;
    values[1] = nextafterf(values[0], 0);
    values[2] = nextafterf(values[0], INFINITY);
    for (int i = 0; i < 3; i++)
        values[3 + i] = -values[i];
}

static void arrays_of_small_floats_round_at_every_tie(void **state)
{
    (void)state;
    float values[128 * 6], back[256];
    uint8_t codes[256], rounded[128 * 6];
    for (unsigned code = 0; code < 256; code++)
        codes[code] = (uint8_t)code;
    for (size_t k = 0; k < SMALL_FLOATS - 1; k++) {
        enum amp_dtype dtype = small_floats[k];
        amp_minifloat_decode(dtype, codes, back, codes_of(dtype));
        unsigned n = 0;
        for (; isfinite(back[n + 1]) && n + 1 < codes_of(dtype) / 2; n++)
            around_tie(dtype, n, values + n * (size_t)6);
        amp_minifloat_encode(dtype, values, rounded, n * (size_t)6,
                             (struct amp_minifloat_rounding){true, AMP_ROUND_UP});
        for (unsigned i = 0; i < n * 6; i++)
            if (back[rounded[i]] != 0)
                assert_int_equal(rounded[i], nearest_code(dtype, (double)values[i]));
        for (unsigned code = 0; code < codes_of(dtype); code++)
            if (!isnan(back[code]))
                assert_true(back[code] == amp_minifloat_to_f32(dtype, (uint8_t)code));
    }
}

static void small_floats_end_as_onnx_says(void **state)
{
    /* dtype, then the codes of: inf saturated, inf, -inf, NaN, -0 */
    static const struct {
        enum amp_dtype dtype;
        unsigned saturated, infinity, negative, nan, zero;
    } rows[] = {{AMP_FLOAT8E4M3FN, 0x7E, 0x7F, 0xFF, 0x7F, 0x80},
                {AMP_FLOAT8E4M3FNUZ, 0x7F, 0x80, 0x80, 0x80, 0x00},
                {AMP_FLOAT8E5M2, 0x7B, 0x7C, 0xFC, 0x7F, 0x80},
                {AMP_FLOAT8E5M2FNUZ, 0x7F, 0x80, 0x80, 0x80, 0x00}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum amp_dtype dtype = rows[i].dtype;
        assert_int_equal(amp_f64_to_minifloat(dtype, INFINITY, true, AMP_ROUND_UP),
                         rows[i].saturated);
        assert_int_equal(amp_f64_to_minifloat(dtype, 1e6, true, AMP_ROUND_UP), rows[i].saturated);
        assert_int_equal(amp_f64_to_minifloat(dtype, 1e6, false, AMP_ROUND_UP), rows[i].infinity);
        assert_int_equal(amp_f64_to_minifloat(dtype, -INFINITY, false, AMP_ROUND_UP),
                         rows[i].negative);
        assert_int_equal(amp_f64_to_minifloat(dtype, NAN, true, AMP_ROUND_UP), rows[i].nan);
        assert_int_equal(amp_f64_to_minifloat(dtype, -0.0, true, AMP_ROUND_UP), rows[i].zero);
    }
}

static void powers_of_two_round_as_told(void **state)
{
    (void)state;
    static const struct {
        double value;
        unsigned up, down, nearest;
    } rows[] = {{1, 127, 127, 127},    {1.25, 128, 127, 127}, {1.5, 128, 127, 128},
                {1.75, 128, 127, 128}, {0, 0, 0, 0},          {0x1.8p127, 254, 254, 254}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = rows[i].value;
        assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, value, true, AMP_ROUND_UP),
                         rows[i].up);
        assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, value, true, AMP_ROUND_DOWN),
                         rows[i].down);
        assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, value, true, AMP_ROUND_NEAREST),
                         rows[i].nearest);
    }
    assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, 0, false, AMP_ROUND_NEAREST), 0xFF);
    assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, INFINITY, true, AMP_ROUND_UP), 0xFE);
    assert_int_equal(amp_f64_to_minifloat(AMP_FLOAT8E8M0, NAN, true, AMP_ROUND_UP), 0xFF);
}

/* COUNT elements of FROM_DTYPE cast to TO_DTYPE; the result is released by the caller. */
static struct amp_tensor cast(enum amp_dtype from_dtype, void *from, int64_t count,
                              enum amp_dtype to_dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor = {
        .dtype = from_dtype, .shape = {.rank = 1, .dims = {count}}, .data = from};
    struct amp_tensor result;
    assert_int_equal(amp_tensor_cast_copy(&tensor, to_dtype, &result, &err), AMP_OK);
    return result;
}

static void floats_truncate_to_integers(void **state)
{
    (void)state;
    double from[] = {1.9, -1.9, 1e30, -1e30, NAN, INFINITY, 127.5, -128.9, 255.9, -0.5};
    static const int8_t int8[] = {1, -1, 127, -128, 0, 127, 127, -128, 127, 0};
    static const uint8_t uint8[] = {1, 0, 255, 0, 0, 255, 127, 0, 255, 0};
    static const int64_t int64[] = {1, -1, INT64_MAX, INT64_MIN, 0, INT64_MAX, 127, -128, 255, 0};
    static const uint64_t uint64[] = {1, 0, UINT64_MAX, 0, 0, UINT64_MAX, 127, 0, 255, 0};
    struct amp_tensor result = cast(AMP_DOUBLE, from, 10, AMP_INT8);
    assert_memory_equal(result.data, int8, sizeof int8);
    amp_tensor_release(&result);
    result = cast(AMP_DOUBLE, from, 10, AMP_UINT8);
    assert_memory_equal(result.data, uint8, sizeof uint8);
    amp_tensor_release(&result);
    result = cast(AMP_DOUBLE, from, 10, AMP_INT64);
    assert_memory_equal(result.data, int64, sizeof int64);
    amp_tensor_release(&result);
    result = cast(AMP_DOUBLE, from, 10, AMP_UINT64);
    assert_memory_equal(result.data, uint64, sizeof uint64);
    amp_tensor_release(&result);
}

static void integers_round_once(void **state)
{
    (void)state;
    /* A tie of bfloat16 and what is one above and below it, beyond the 53 bits of float64. */
    const int64_t tie = (INT64_C(1) << 62) + (INT64_C(1) << 54);
    int64_t from[] = {tie, tie + 1, tie - 1, -tie - 1, (INT64_C(1) << 24) + 1, 70000};
    static const uint16_t bf16[] = {0x5E80, 0x5E81, 0x5E80, 0xDE81, 0x4B80, 0x4789};
    struct amp_tensor result = cast(AMP_INT64, from, 6, AMP_BFLOAT16);
    assert_memory_equal(result.data, bf16, sizeof bf16);
    amp_tensor_release(&result);
    result = cast(AMP_INT64, from, 6, AMP_FLOAT16);
    assert_int_equal(((uint16_t *)result.data)[5], 0x7C00);
    amp_tensor_release(&result);
    for (int k = 0; k < 63; k++) {
        uint64_t value = (UINT64_C(1) << 63) + (UINT64_C(1) << 39) + (UINT64_C(1) << k) - 1;
        result = cast(AMP_UINT64, &value, 1, AMP_FLOAT);
        assert_true(*(float *)result.data == (float)value);
        amp_tensor_release(&result);
        result = cast(AMP_UINT64, &value, 1, AMP_DOUBLE);
        assert_true(*(double *)result.data == (double)value);
        amp_tensor_release(&result);
    }
}

static void integers_keep_their_low_bits(void **state)
{
    (void)state;
    int16_t from[] = {200, -200, 256, -1};
    static const int8_t int8[] = {-56, 56, 0, -1};
    static const uint8_t booleans[] = {1, 1, 1, 1};
    struct amp_tensor result = cast(AMP_INT16, from, 4, AMP_INT8);
    assert_memory_equal(result.data, int8, sizeof int8);
    amp_tensor_release(&result);
    result = cast(AMP_INT16, from, 4, AMP_BOOL);
    assert_memory_equal(result.data, booleans, sizeof booleans);
    amp_tensor_release(&result);
}

static void nibbles_are_packed_low_first(void **state)
{
    (void)state;
    float from[] = {-9, -8, 7.9f, 8, -1};
    static const uint8_t packed[] = {0x88, 0x77, 0x0F};
    static const float back[] = {-8, -8, 7, 7, -1};
    struct amp_tensor result = cast(AMP_FLOAT, from, 5, AMP_INT4);
    assert_memory_equal(result.data, packed, sizeof packed);
    struct amp_tensor again = cast(AMP_INT4, result.data, 5, AMP_FLOAT);
    assert_memory_equal(again.data, back, sizeof back);
    amp_tensor_release(&result);
    amp_tensor_release(&again);
}

static void numbers_print_as_they_read(void **state)
{
    (void)state;
    float from[] = {0.1f, 1, -16777216, 1e-5f, 3.4028235e38f, 0, INFINITY, NAN, 0.039187793f};
    static const char *const texts[] = {"0.1", "1.0", "-16777216.0", "1e-05",      "3.4028235e+38",
                                        "0.0", "INF", "NaN",         "0.039187793"};
    struct amp_tensor result = cast(AMP_FLOAT, from, 9, AMP_STRING);
    const struct amp_str *strings = result.data;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(strings[i].size, strlen(texts[i]));
        assert_memory_equal(strings[i].data, texts[i], strings[i].size);
    }
    struct amp_tensor again = cast(AMP_STRING, result.data, 7, AMP_FLOAT);
    assert_memory_equal(again.data, from, 7 * sizeof *from);
    amp_tensor_release(&again);
    amp_tensor_release(&result);
}

static void strings_read_as_integers(void **state)
{
    (void)state;
    struct amp_str from[] = {{"-5", 2}, {"18446744073709551615", 20}, {"1e3", 3}};
    static const int64_t int64[] = {-5, -1, 1000};
    struct amp_tensor result = cast(AMP_STRING, from, 3, AMP_INT64);
    assert_memory_equal(result.data, int64, sizeof int64);
    amp_tensor_release(&result);
}

static struct amp_str text_of(const char *text)
{
    return (struct amp_str){text, strlen(text)};
}

/* The shortest decimals that are read back as the number, written as Python does. */
static void floats_have_the_shortest_text(void **state)
{
    static const struct {
        double value;
        enum amp_dtype dtype;
        const char *text;
    } cases[] = {
        {1e16, AMP_DOUBLE, "1e+16"},
        {9999999999999998, AMP_DOUBLE, "9999999999999998.0"},
        {-1e16, AMP_DOUBLE, "-1e+16"},
        {1e-4, AMP_DOUBLE, "0.0001"},
        {-9.9e-5, AMP_DOUBLE, "-9.9e-05"},
        {123456, AMP_DOUBLE, "123456.0"},
        {-0.0, AMP_DOUBLE, "-0.0"},
        {0.1, AMP_DOUBLE, "0.1"},
        {0.1 + 0.2, AMP_DOUBLE, "0.30000000000000004"},
        {1.0 / 3, AMP_DOUBLE, "0.3333333333333333"},
        {2.0 / 3, AMP_DOUBLE, "0.6666666666666666"},
        {5e-324, AMP_DOUBLE, "5e-324"},
        {1.7976931348623157e308, AMP_DOUBLE, "1.7976931348623157e+308"},
        {-INFINITY, AMP_DOUBLE, "-INF"},
        {0.1f, AMP_FLOAT, "0.1"},
        {16777217.0 - 1, AMP_FLOAT, "16777216.0"},
        {0.0999755859375, AMP_FLOAT16, "0.1"},
        {65504, AMP_FLOAT16, "65500.0"},
        {0.10009765625, AMP_BFLOAT16, "0.1"},
        {3, AMP_BFLOAT16, "3.0"},
        {448, AMP_FLOAT8E4M3FN, "450.0"},
        {0.0625, AMP_FLOAT8E4M3FN, "0.062"},
        {6, AMP_FLOAT4E2M1, "6.0"},
    };
    char text[AMP_NUMBER_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(amp_float_write(cases[i].value, cases[i].dtype, text),
                         strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void floats_are_read_of_text(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {" 1.5\t", 1.5},         {"\n\v\f\r+2 ", 2},  {"-.5", -0.5},         {"5.", 5},
        {"1E+3", 1000},          {"1e-2", 0.01},      {"inf", INFINITY},     {"-INF", -INFINITY},
        {"+Infinity", INFINITY}, {"1e400", INFINITY}, {"-1e400", -INFINITY}, {"0", 0},
        {"1e-400", 0},
    };
    static const char *const others[] = {
        "",    " ",   "+",     "-",  "1e", "1e+", "0x10", "nan(1)", "infin",     "in",
        "1 2", "--1", "1.2.3", "1f", "e5", "+ 1", "1,5",  "++inf",  "infinityx", "na"};
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 2; k++) {
            assert_true(
                amp_float_read(text_of(cases[i].text), k == 0 ? AMP_FLOAT : AMP_DOUBLE, &value));
            assert_true(value == (k == 0 ? (double)(float)cases[i].value : cases[i].value));
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (amp_float_read(text_of(others[i]), AMP_DOUBLE, &value))
            fail_msg("'%s' is read as %g", others[i], value);
    assert_true(amp_float_read(text_of(" -NaN "), AMP_DOUBLE, &value) && isnan(value));
    assert_false(amp_float_read((struct amp_str){"1\0", 2}, AMP_DOUBLE, &value));
    assert_false(amp_float_read((struct amp_str){NULL, 0}, AMP_DOUBLE, &value));
    /* One that float32 rounds once: just above the middle of two. */
    assert_true(amp_float_read(text_of("1.00000005960464477540"), AMP_FLOAT, &value));
    assert_true(value == (double)(1 + 0x1p-23f));
    for (size_t size = 120; size < 140; size++) {
        char text[160];
        memset(text, '0', sizeof text);
        text[1] = '.';
        text[size - 1] = '5';
        assert_true(amp_float_read((struct amp_str){text, size}, AMP_DOUBLE, &value));
        snprintf(text, sizeof text, "5e-%zu", size - 2);
        assert_true(value == strtod(text, NULL));
    }
}

static void integers_are_read_of_text(void **state)
{
    static const struct {
        const char *text;
        int64_t as_signed, as_unsigned; /* bits */
    } cases[] = {
        {"0", 0, 0},
        {" -5 ", -5, -5},
        {"+7", 7, 7},
        {"9223372036854775807", INT64_MAX, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MIN},
        {"18446744073709551615", -1, -1},
        {"18446744073709551616", INT64_MAX, -1},
        {"-9223372036854775809", INT64_MIN, INT64_MIN},
        {"1e3", 1000, 1000},
        {"1.9", 1, 1},
        {"-1.9", -1, -1},
        {"1e19", INT64_MAX, (int64_t)UINT64_C(10000000000000000000)},
        {"1e30", INT64_MAX, -1},
        {"-1e30", INT64_MIN, INT64_MIN},
        {"nan", 0, 0},
        {"inf", INT64_MAX, -1},
        {"-inf", INT64_MIN, INT64_MIN},
    };
    int64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(amp_int_read(text_of(cases[i].text), true, &value));
        if (value != cases[i].as_signed)
            fail_msg("'%s' is read as %lld", cases[i].text, (long long)value);
        assert_true(amp_int_read(text_of(cases[i].text), false, &value));
        if (value != cases[i].as_unsigned)
            fail_msg("'%s' is read as %llu", cases[i].text, (unsigned long long)value);
    }
    assert_true(amp_int_read(text_of("9.3e18"), false, &value));
    assert_true((uint64_t)value == UINT64_C(9300000000000000000));
    assert_false(amp_int_read(text_of(""), true, &value));
    assert_false(amp_int_read(text_of("x"), true, &value));
    assert_false(amp_int_read(text_of("1x"), true, &value));
}

static void other_strings_are_refused(void **state)
{
    (void)state;
    struct amp_error err = {.status = AMP_OK};
    struct amp_str text = {"Hello", 5};
    struct amp_tensor tensor = {.dtype = AMP_STRING, .shape = {.rank = 0}, .data = &text};
    struct amp_tensor result;
    assert_int_equal(amp_tensor_cast_copy(&tensor, AMP_FLOAT, &result, &err), AMP_MODEL);
    assert_string_equal(err.text, "element 0 is 'Hello': not a number");
}

static void what_is_no_number_is_not_converted(void **state)
{
    double parts[2] = {1, 2};
    struct amp_tensor result;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct amp_error err = {.status = AMP_OK};
        enum amp_dtype from = i == 0 ? AMP_COMPLEX64 : AMP_FLOAT;
        struct amp_tensor tensor = {.dtype = from, .shape = {.rank = 0}, .data = parts};
        assert_int_equal(
            amp_tensor_cast_copy(&tensor, i == 0 ? AMP_FLOAT : AMP_COMPLEX64, &result, &err),
            AMP_UNSUPPORTED);
        assert_string_equal(err.text, i == 0 ? "no conversion from complex64 to float32"
                                             : "no conversion from float32 to complex64");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_float32),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(pieces_end_with_the_whole),
        cmocka_unit_test(doubles_round_once),
#ifdef __FLT16_MANT_DIG__
        cmocka_unit_test(halves_agree_with_the_compiler),
#endif
        cmocka_unit_test(arrays_convert_as_values_do),
        cmocka_unit_test(floats_round_where_they_are),
        cmocka_unit_test(halves_convert_into_each_other),
        cmocka_unit_test(constants_saturate),
        cmocka_unit_test(halves_saturate_in_each_other),
        cmocka_unit_test(every_small_float_survives),
        cmocka_unit_test(small_floats_have_their_values),
        cmocka_unit_test(small_floats_round_to_the_nearest),
        cmocka_unit_test(arrays_of_small_floats_round_at_every_tie),
        cmocka_unit_test(small_floats_end_as_onnx_says),
        cmocka_unit_test(powers_of_two_round_as_told),
        cmocka_unit_test(floats_truncate_to_integers),
        cmocka_unit_test(integers_round_once),
        cmocka_unit_test(integers_keep_their_low_bits),
        cmocka_unit_test(nibbles_are_packed_low_first),
        cmocka_unit_test(numbers_print_as_they_read),
        cmocka_unit_test(strings_read_as_integers),
        cmocka_unit_test(floats_have_the_shortest_text),
        cmocka_unit_test(floats_are_read_of_text),
        cmocka_unit_test(integers_are_read_of_text),
        cmocka_unit_test(other_strings_are_refused),
        cmocka_unit_test(what_is_no_number_is_not_converted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
