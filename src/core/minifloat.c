/*
 * Rounding to floats of a byte or less and back, all formats by one algorithm over a table of their
 * widths. FLOAT8E8M0 has neither sign nor significand and goes its own way.
 */
#include "core/minifloat.h"

#include <math.h>

struct format {
    int bits;        /* of exponent and significand together */
    int significand; /* bits stored */
    int bias;
    float max;
    uint8_t nan, infinity; /* codes of the positive ones; 0: there is none */
    bool is_unsigned_zero; /* FNUZ: the code of -0 is the only NaN */
};

enum { SIGNLESS_NAN = 0x80 };

static const struct format formats[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT8E4M3FN] = {7, 3, 7, 448, 0x7F, 0, false},
    [AMP_FLOAT8E4M3FNUZ] = {7, 3, 8, 240, SIGNLESS_NAN, 0, true},
    [AMP_FLOAT8E5M2] = {7, 2, 15, 57344, 0x7F, 0x7C, false},
    [AMP_FLOAT8E5M2FNUZ] = {7, 2, 16, 57344, SIGNLESS_NAN, 0, true},
    [AMP_FLOAT4E2M1] = {3, 1, 1, 6, 0, 0, false},
    [AMP_FLOAT8E8M0] = {8, 0, 127, 0x1p127f, 0xFF, 0, false},
};

bool amp_dtype_is_minifloat(enum amp_dtype dtype)
{
    return formats[dtype].bits != 0;
}

static bool is_nan_code(const struct format *format, unsigned sign, unsigned magnitude)
{
    if (format->is_unsigned_zero)
        return sign != 0 && magnitude == 0;
    if (format->infinity != 0)
        return magnitude > format->infinity;
    return format->nan != 0 && magnitude == format->nan;
}

float amp_minifloat_to_f32(enum amp_dtype dtype, uint8_t code)
{
    const struct format *format = &formats[dtype];
    unsigned sign = (unsigned)code >> format->bits & 1u;
    unsigned magnitude = code & ((1u << format->bits) - 1);
    if (is_nan_code(format, sign, magnitude))
        return sign ? -NAN : NAN;
    if (dtype == AMP_FLOAT8E8M0)
        return ldexpf(1, (int)magnitude - format->bias);
    if (format->infinity != 0 && magnitude == format->infinity)
        return sign ? -INFINITY : INFINITY;
    int exponent = (int)(magnitude >> format->significand);
    unsigned digits = magnitude & ((1u << format->significand) - 1);
    if (exponent > 0)
        digits += 1u << format->significand;
    else
        exponent = 1;
    float value = ldexpf((float)digits, exponent - format->bias - format->significand);
    return sign ? -value : value;
}

/* The code of a positive number that rounds to nearest below or at the format's max; TOO_LARGE if
   it rounds to more. */
enum { TOO_LARGE = 0x100 };

static unsigned round_to_code(const struct format *format, double value)
{
    int least = 1 - format->bias;
    int exponent = value == 0 || ilogb(value) < least ? least : ilogb(value);
    int unit = exponent - format->significand; /* the last place is worth 2^unit */
    double digits = rint(ldexp(value, -unit));
    if (ldexp(digits, unit) > (double)format->max)
        return TOO_LARGE;
    return ((unsigned)(exponent - least) << format->significand) + (unsigned)digits;
}

static uint8_t to_e8m0(double value, bool saturate, enum amp_rounding rounding)
{
    const struct format *format = &formats[AMP_FLOAT8E8M0];
    int exponent = -2 * format->bias; /* below all others */
    if (isnan(value))
        return format->nan;
    if (isinf(value))
        exponent = 2 * format->bias;
    else if (value > 0) {
        double fraction = frexp(value, &exponent) * 2 - 1;
        exponent--;
        exponent += rounding == AMP_ROUND_UP        ? fraction > 0
                    : rounding == AMP_ROUND_NEAREST ? fraction >= 0.5
                                                    : 0;
    }
    if (exponent > format->bias)
        return saturate ? (uint8_t)(2 * format->bias) : format->nan;
    if (exponent < -format->bias)
        return saturate ? 0 : format->nan;
    return (uint8_t)(exponent + format->bias);
}

uint8_t amp_f64_to_minifloat(enum amp_dtype dtype, double value, bool saturate,
                             enum amp_rounding rounding)
{
    const struct format *format = &formats[dtype];
    unsigned sign = signbit(value) ? 1u << format->bits : 0;
    if (dtype == AMP_FLOAT8E8M0)
        return to_e8m0(fabs(value), saturate, rounding);
    if (isnan(value) && format->nan != 0)
        return (uint8_t)(format->is_unsigned_zero ? format->nan : sign | format->nan);
    unsigned code = isfinite(value) ? round_to_code(format, fabs(value)) : TOO_LARGE;
    if (code == TOO_LARGE && !saturate && format->nan != 0) {
        if (format->is_unsigned_zero)
            return format->nan;
        return (uint8_t)(sign | (format->infinity ? format->infinity : format->nan));
    }
    if (code == TOO_LARGE)
        code = round_to_code(format, (double)format->max);
    return (uint8_t)(code == 0 && format->is_unsigned_zero ? 0 : sign | code);
}
