/*
 * Rounding to floats of a byte or less and back, all formats by one algorithm over a table of their
 * widths, without branches, so that arrays become vector code. FLOAT8E8M0 has neither sign nor
 * significand and goes its own way.
 */
#include "core/number/minifloat.h"

#include "core/simd.h"

#include <math.h>

/* A type; its codes are without their sign. */
struct format {
    int bits;        /* of exponent and significand together */
    int significand; /* bits stored */
    int bias;
    uint8_t max;           /* the greatest finite */
    uint8_t infinity, nan; /* 0: there is none */
    bool is_unsigned_zero; /* FNUZ: there is no -0, its code is the only NaN */
};

static const struct format formats[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT8E4M3FN] = {7, 3, 7, 0x7E, 0, 0x7F, false},
    [AMP_FLOAT8E4M3FNUZ] = {7, 3, 8, 0x7F, 0, 0x80, true},
    [AMP_FLOAT8E5M2] = {7, 2, 15, 0x7B, 0x7C, 0x7F, false},
    [AMP_FLOAT8E5M2FNUZ] = {7, 2, 16, 0x7F, 0, 0x80, true},
    [AMP_FLOAT4E2M1] = {3, 1, 1, 0x7, 0, 0, false},
    [AMP_FLOAT8E8M0] = {8, 0, 127, 0xFE, 0, 0xFF, false},
};

/* The format of float32. */
enum { SIGNIFICAND = 23, BIAS = 127 };
static const uint32_t infinity_bits = 0x7F800000u, quiet_nan_bits = 0x7FC00000u;

bool amp_dtype_is_minifloat(enum amp_dtype dtype)
{
    return formats[dtype].bits != 0;
}

/* ---- to float32 ---- */

/* Decodes FLOAT8E8M0, powers of two alone. The least is subnormal in float32. */
static void decode_powers(const uint8_t *codes, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = codes[i] == 0 ? 0x00400000u : (uint32_t)codes[i] << SIGNIFICAND;
        values[i] = amp_bits_to_f32(bits == infinity_bits ? quiet_nan_bits : bits);
    }
}

AMP_CLONES(void, decode,
           (const struct format *format, const uint8_t *codes, float *values, size_t count),
           (format, codes, values, count))
{
    const uint32_t mask = (1u << format->bits) - 1, top = 1u << format->bits;
    const uint32_t normal = 1u << format->significand;
    const int shift = SIGNIFICAND - format->significand, to_sign = 31 - format->bits;
    const uint32_t rebias = (uint32_t)(BIAS - format->bias) << SIGNIFICAND;
    const float unit =
        amp_bits_to_f32((uint32_t)(BIAS + 1 - format->bias - format->significand) << SIGNIFICAND);
    const uint32_t max = format->max;
    const uint32_t infinity = format->infinity == 0 ? UINT32_MAX : format->infinity;
    const uint32_t nan = format->is_unsigned_zero ? top : UINT32_MAX;
    AMP_SIMD for (size_t i = 0; i < count; i++)
    {
        uint32_t code = codes[i], magnitude = code & mask;
        uint32_t subnormal = amp_f32_to_bits((float)(int32_t)magnitude * unit);
        uint32_t bits = magnitude < normal ? subnormal : (magnitude << shift) + rebias;
        uint32_t beyond = magnitude == infinity ? infinity_bits : quiet_nan_bits;
        bits = magnitude > max || code == nan ? beyond : bits;
        values[i] = amp_bits_to_f32(bits | (code & top) << to_sign);
    }
}

void amp_minifloat_decode(enum amp_dtype dtype, const uint8_t *codes, float *values, size_t count)
{
    if (dtype == AMP_FLOAT8E8M0)
        decode_powers(codes, values, count);
    else
        decode(&formats[dtype], codes, values, count);
}

float amp_minifloat_to_f32(enum amp_dtype dtype, uint8_t code)
{
    float value;
    amp_minifloat_decode(dtype, &code, &value, 1);
    return value;
}

/* ---- from float32 ---- */

/* The code of VALUE in FLOAT8E8M0. */
static uint8_t to_power(float value, struct amp_minifloat_rounding rounding)
{
    const struct format *format = &formats[AMP_FLOAT8E8M0];
    int exponent = -2 * format->bias; /* below all others */
    if (isnan(value))
        return format->nan;
    if (isinf(value))
        exponent = 2 * format->bias;
    else if (value != 0) {
        float fraction = frexpf(fabsf(value), &exponent) * 2 - 1;
        exponent--;
        exponent += rounding.mode == AMP_ROUND_UP        ? fraction > 0
                    : rounding.mode == AMP_ROUND_NEAREST ? fraction >= 0.5f
                                                         : 0;
    }
    if (exponent > format->bias)
        return rounding.saturate ? format->max : format->nan;
    if (exponent < -format->bias)
        return rounding.saturate ? 0 : format->nan;
    return (uint8_t)(exponent + format->bias);
}

/* A subnormal result is what float32 rounds to in a sum with a number whose last place is worth as
   much as the result's. */
AMP_CLONES(void, encode,
           (const struct format *format, const float *values, uint8_t *codes, size_t count,
            bool saturate),
           (format, values, codes, count, saturate))
{
    const int shift = SIGNIFICAND - format->significand, to_sign = 31 - format->bits;
    const uint32_t top = 1u << format->bits, max = format->max;
    const uint32_t least = (uint32_t)(BIAS + 1 - format->bias) << SIGNIFICAND;
    const uint32_t rebias = (uint32_t)(BIAS - format->bias) << SIGNIFICAND;
    const uint32_t half = (1u << (shift - 1)) - 1;
    const uint32_t aligned_bits = least + ((uint32_t)shift << SIGNIFICAND);
    const float aligned = amp_bits_to_f32(aligned_bits);
    const uint32_t nan = format->nan == 0 ? max : format->nan;
    const uint32_t infinity = format->infinity == 0 ? nan : format->infinity;
    const uint32_t beyond = saturate ? max : infinity;
    const uint32_t zero_sign = format->is_unsigned_zero ? 0 : top;
    AMP_SIMD for (size_t i = 0; i < count; i++)
    {
        uint32_t bits = amp_f32_to_bits(values[i]), magnitude = bits & 0x7FFFFFFFu;
        float sum = amp_bits_to_f32(magnitude) + aligned;
        uint32_t normal = (magnitude - rebias + half + (magnitude >> shift & 1u)) >> shift;
        uint32_t code = magnitude < least ? amp_f32_to_bits(sum) - aligned_bits : normal;
        code = code > max ? beyond : code;
        code = magnitude > infinity_bits ? nan : code;
        codes[i] = (uint8_t)(code | (bits >> to_sign & (code == 0 ? zero_sign : top)));
    }
}

void amp_minifloat_encode(enum amp_dtype dtype, const float *values, uint8_t *codes, size_t count,
                          struct amp_minifloat_rounding rounding)
{
    if (dtype != AMP_FLOAT8E8M0) {
        encode(&formats[dtype], values, codes, count, rounding.saturate);
        return;
    }
    for (size_t i = 0; i < count; i++)
        codes[i] = to_power(values[i], rounding);
}

uint8_t amp_f64_to_minifloat(enum amp_dtype dtype, double value, bool saturate,
                             enum amp_rounding mode)
{
    float odd = amp_f64_to_f32_odd(value);
    uint8_t code;
    amp_minifloat_encode(dtype, &odd, &code, 1, (struct amp_minifloat_rounding){saturate, mode});
    return code;
}
