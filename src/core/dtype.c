/*
 * Facts about element types, and the rounding of single values between the float types of autocast.
 * Takes bits and gives bits; knows nothing of tensors. Arrays are convert.c's matter.
 */
#include "core/dtype.h"

#include "core/array.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned char bits, class;
} facts[AMP_DTYPE_COUNT] = {[AMP_UNDEFINED] = {"undefined", 0, AMP_CLASS_NONE},
#define X(id, number, name, bits, class) [number] = {name, bits, AMP_CLASS_##class},
                            AMP_DTYPE_LIST(X)
#undef X
};

const char *amp_dtype_name(enum amp_dtype dtype)
{
    return amp_dtype_is_valid(dtype) ? facts[dtype].name : facts[AMP_UNDEFINED].name;
}

unsigned amp_dtype_bits(enum amp_dtype dtype)
{
    return facts[dtype].bits;
}

enum amp_dtype_class amp_dtype_class(enum amp_dtype dtype)
{
    return (enum amp_dtype_class)facts[dtype].class;
}

bool amp_dtype_is_valid(int64_t number)
{
    return number > AMP_UNDEFINED && number < AMP_DTYPE_COUNT;
}

bool amp_dtype_is_autocast(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT || amp_dtype_is_lower(dtype);
}

bool amp_dtype_is_lower(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16;
}

enum amp_dtype amp_dtype_promote(enum amp_dtype a, enum amp_dtype b)
{
    return a == b ? a : AMP_FLOAT;
}

/* Bits of the significand (with the hidden one) and the exponent range of float types; the digits
   of integer types. */
static int significand_bits(enum amp_dtype dtype)
{
    static const unsigned char bits[AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = 24, [AMP_DOUBLE] = 53, [AMP_FLOAT16] = 11, [AMP_BFLOAT16] = 8};
    switch (amp_dtype_class(dtype)) {
    case AMP_CLASS_BOOL:
        return 1;
    case AMP_CLASS_UINT:
        return (int)amp_dtype_bits(dtype);
    case AMP_CLASS_INT:
        return (int)amp_dtype_bits(dtype) - 1;
    case AMP_CLASS_FLOAT:
        return bits[dtype];
    case AMP_CLASS_NONE:
    case AMP_CLASS_STRING:
    case AMP_CLASS_COMPLEX:
        break;
    }
    return 0;
}

static bool is_exact_to_float(enum amp_dtype from, enum amp_dtype to)
{
    if (amp_dtype_class(from) == AMP_CLASS_FLOAT)
        return to == AMP_DOUBLE || (to == AMP_FLOAT && from != AMP_DOUBLE);
    return significand_bits(from) <= significand_bits(to);
}

bool amp_dtype_is_exact(enum amp_dtype from, enum amp_dtype to)
{
    if (from == to)
        return true;
    if (significand_bits(from) == 0)
        return false;
    enum amp_dtype_class from_class = amp_dtype_class(from), to_class = amp_dtype_class(to);
    if (to_class == AMP_CLASS_FLOAT)
        return is_exact_to_float(from, to);
    if (from_class == AMP_CLASS_FLOAT || to_class == AMP_CLASS_BOOL)
        return false;
    if (from_class == AMP_CLASS_INT && to_class == AMP_CLASS_UINT)
        return false;
    return significand_bits(from) <= significand_bits(to);
}

enum amp_dtype amp_dtype_parse(const char *name)
{
    static const struct {
        const char *name;
        enum amp_dtype dtype;
    } others[] = {{"fp32", AMP_FLOAT},    {"f32", AMP_FLOAT},   {"float", AMP_FLOAT},
                  {"fp16", AMP_FLOAT16},  {"f16", AMP_FLOAT16}, {"half", AMP_FLOAT16},
                  {"bf16", AMP_BFLOAT16}, {"fp64", AMP_DOUBLE}, {"double", AMP_DOUBLE}};
    for (int i = 1; i < AMP_DTYPE_COUNT; i++)
        if (strcmp(name, facts[i].name) == 0)
            return (enum amp_dtype)i;
    for (size_t i = 0; i < AMP_COUNT(others); i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].dtype;
    return AMP_UNDEFINED;
}

const char *amp_dtype_short_name(enum amp_dtype dtype)
{
    static const char *const names[AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = "fp32", [AMP_BFLOAT16] = "bf16", [AMP_FLOAT16] = "fp16"};
    return names[dtype] != NULL ? names[dtype] : amp_dtype_name(dtype);
}

bool amp_dtype_size(enum amp_dtype dtype, uint64_t count, size_t *size)
{
    uint64_t bits;
    if (__builtin_mul_overflow(count, (uint64_t)amp_dtype_bits(dtype), &bits) ||
        bits > UINT64_MAX - 7 || (bits + 7) / 8 > SIZE_MAX)
        return false;
    *size = (size_t)((bits + 7) / 8);
    return true;
}

double amp_dtype_max(enum amp_dtype dtype)
{
    if (dtype == AMP_FLOAT16)
        return 65504.0;
    return dtype == AMP_BFLOAT16 ? 0x1.FEp+127 : 0x1.FFFFFEp+127;
}

bool amp_dtype_is_finite(enum amp_dtype dtype, const void *data, size_t count)
{
    const uint16_t exponent = dtype == AMP_FLOAT16 ? 0x7C00u : 0x7F80u;
    const size_t size = amp_dtype_bits(dtype) / 8;
    const char *top = (const char *)data + size - sizeof exponent; /* has all of the exponent */
    bool is_finite = true;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, top + i * size, sizeof bits);
        is_finite &= (bits & exponent) != exponent;
    }
    return is_finite;
}

uint16_t amp_f32_to_bf16(float value)
{
    uint32_t bits = amp_f32_to_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x0040u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

/* Shifts VALUE right by SHIFT (1..31), rounding to nearest, ties to even. */
static uint32_t round_shift(uint32_t value, unsigned shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t odd = value >> shift & 1u;
    return (value + half - 1 + odd) >> shift;
}

uint16_t amp_f32_to_f16(float value)
{
    uint32_t bits = amp_f32_to_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u | (magnitude >> 13 & 0x1FFu));
    if (magnitude >= 0x47800000u)
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude >= 0x38800000u)
        return (uint16_t)(sign | round_shift(magnitude - 0x38000000u, 13));
    unsigned exponent = magnitude >> 23;
    if (exponent < 102)
        return (uint16_t)sign;
    return (uint16_t)(sign | round_shift((magnitude & 0x7FFFFFu) | 0x800000u, 126 - exponent));
}

uint16_t amp_f64_to_bf16(double value)
{
    return amp_f32_to_bf16(amp_f64_to_f32_odd(value));
}

uint16_t amp_f64_to_f16(double value)
{
    return amp_f32_to_f16(amp_f64_to_f32_odd(value));
}

float amp_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7FFFu;
    if (magnitude >= 0x7C00u)
        return amp_bits_to_f32(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13 |
                               (magnitude > 0x7C00u ? 0x400000u : 0));
    if (magnitude >= 0x0400u)
        return amp_bits_to_f32(sign | ((magnitude << 13) + 0x38000000u));
    float subnormal = (float)magnitude * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}
