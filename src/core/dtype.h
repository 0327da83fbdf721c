#ifndef AMP_CORE_DTYPE_H
#define AMP_CORE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The element types of ONNX tensors: number as in TensorProto.DataType, ONNX's name, bits per
 * element, class. Everything about a dtype derives from this list.
 */
#define AMP_DTYPE_LIST(X)                             \
    X(FLOAT, 1, "float32", 32, FLOAT)                 \
    X(UINT8, 2, "uint8", 8, UINT)                     \
    X(INT8, 3, "int8", 8, INT)                        \
    X(UINT16, 4, "uint16", 16, UINT)                  \
    X(INT16, 5, "int16", 16, INT)                     \
    X(INT32, 6, "int32", 32, INT)                     \
    X(INT64, 7, "int64", 64, INT)                     \
    X(STRING, 8, "string", 128, STRING)               \
    X(BOOL, 9, "bool", 8, BOOL)                       \
    X(FLOAT16, 10, "float16", 16, FLOAT)              \
    X(DOUBLE, 11, "float64", 64, FLOAT)               \
    X(UINT32, 12, "uint32", 32, UINT)                 \
    X(UINT64, 13, "uint64", 64, UINT)                 \
    X(COMPLEX64, 14, "complex64", 64, COMPLEX)        \
    X(COMPLEX128, 15, "complex128", 128, COMPLEX)     \
    X(BFLOAT16, 16, "bfloat16", 16, FLOAT)            \
    X(FLOAT8E4M3FN, 17, "float8e4m3fn", 8, FLOAT)     \
    X(FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 8, FLOAT) \
    X(FLOAT8E5M2, 19, "float8e5m2", 8, FLOAT)         \
    X(FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 8, FLOAT) \
    X(UINT4, 21, "uint4", 4, UINT)                    \
    X(INT4, 22, "int4", 4, INT)                       \
    X(FLOAT4E2M1, 23, "float4e2m1", 4, FLOAT)         \
    X(FLOAT8E8M0, 24, "float8e8m0", 8, FLOAT)         \
    X(UINT2, 25, "uint2", 2, UINT)                    \
    X(INT2, 26, "int2", 2, INT)

enum amp_dtype {
    AMP_UNDEFINED = 0, /* not known */
#define X(id, number, name, bits, class) AMP_##id = number,
    AMP_DTYPE_LIST(X)
#undef X
        AMP_DTYPE_COUNT
};

enum amp_dtype_class {
    AMP_CLASS_NONE,
    AMP_CLASS_FLOAT,
    AMP_CLASS_INT,
    AMP_CLASS_UINT,
    AMP_CLASS_BOOL,
    AMP_CLASS_STRING,
    AMP_CLASS_COMPLEX
};

/* A set of dtypes: bit (1 << dtype). */
#define AMP_DTYPE_BIT(dtype) (UINT32_C(1) << (dtype))

/* The element of a string tensor; the bytes are borrowed, not terminated. */
struct amp_str {
    const char *data;
    size_t size;
};

const char *amp_dtype_name(enum amp_dtype dtype); /* "float32"; "undefined" for others */
unsigned amp_dtype_bits(enum amp_dtype dtype);    /* 0 for AMP_UNDEFINED */
enum amp_dtype_class amp_dtype_class(enum amp_dtype dtype);
bool amp_dtype_is_valid(int64_t number); /* a number of the list */

/* float32, float16 or bfloat16: the types that autocast moves between. */
bool amp_dtype_is_autocast(enum amp_dtype dtype);

/* Whether DTYPE is a lower precision of autocast: float16 or bfloat16. */
bool amp_dtype_is_lower(enum amp_dtype dtype);

/* The dtype that A and B, which autocast moves between, promote to, as torch.promote_types has it:
   two equal ones stay, float16 with bfloat16 gives float32. */
enum amp_dtype amp_dtype_promote(enum amp_dtype a, enum amp_dtype b);

/* True when every value of FROM, NaN payloads apart, is exactly a value of TO. */
bool amp_dtype_is_exact(enum amp_dtype from, enum amp_dtype to);

/* Finds a dtype by ONNX's name or a common short one: float32 fp32 float16 fp16 bfloat16 bf16 ...
   AMP_UNDEFINED when there is none. */
enum amp_dtype amp_dtype_parse(const char *name);

/* "fp32", "bf16", "fp16"; of other dtypes the name. */
const char *amp_dtype_short_name(enum amp_dtype dtype);

/* The size in bytes of COUNT elements, packed as ONNX packs types below a byte; false when it
   overflows. */
bool amp_dtype_size(enum amp_dtype dtype, uint64_t count, size_t *size);

/* Whether COUNT elements of float32, float16 or bfloat16, which may be unaligned, are finite. */
bool amp_dtype_is_finite(enum amp_dtype dtype, const void *data, size_t count);

/* The largest finite value of float32, float16 or bfloat16. */
double amp_dtype_max(enum amp_dtype dtype);

/*
 * Rounding is to nearest, ties to even; a NaN stays a quiet NaN with its sign; values beyond the
 * range become infinities (IEEE 754-2019, 4.3.1 and 7.4).
 */
uint16_t amp_f32_to_bf16(float value);
uint16_t amp_f32_to_f16(float value);
uint16_t amp_f64_to_bf16(double value);
uint16_t amp_f64_to_f16(double value);

static inline float amp_bits_to_f32(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } pun = {.bits = bits};
    return pun.value;
}

static inline uint32_t amp_f32_to_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } pun = {.value = value};
    return pun.bits;
}

/* Rounds to float so that a second rounding to a narrower type gives what one rounding would: to
   odd, as Boldo and Melquiond, "When double rounding is odd" (2005). Without branches, for vector
   code; an even NaN stays one. */
static inline float amp_f64_to_f32_odd(double value)
{
    float nearest = (float)value;
    uint32_t bits = amp_f32_to_bits(nearest);
    double back = (double)nearest;
    uint32_t step = __builtin_fabs(back) > __builtin_fabs(value) ? UINT32_MAX : 1u;
    return amp_bits_to_f32(bits + (back == value || (bits & 1u) != 0 ? 0 : step));
}

static inline float amp_bf16_to_f32(uint16_t bits)
{
    return amp_bits_to_f32((uint32_t)bits << 16);
}

float amp_f16_to_f32(uint16_t half);

#endif
