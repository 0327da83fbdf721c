/*
 * Converts runs of numbers between all element types. A block at a time is loaded into the
 * narrowest of a few wide forms that holds all values of its type, and stored from there: one load
 * per type and one store per form and type instead of a loop per pair. What is wide itself is read
 * and written where it lies.
 */
#include "ops/kernel/element_cast.h"

#include "core/convert.h"
#include "ops/kernel/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A multiple of 8, so that blocks of packed elements begin at a byte. */
enum { BLOCK = 512 };

/* X(FORM, DTYPE, T, ...): the wide forms and the types that they are. */
#define FLOAT_FORMS(X, ...)           \
    X(F32, FLOAT, float, __VA_ARGS__) \
    X(F64, DOUBLE, double, __VA_ARGS__)
#define INT_FORMS(X, ...)               \
    X(I32, INT32, int32_t, __VA_ARGS__) \
    X(I64, INT64, int64_t, __VA_ARGS__) \
    X(U64, UINT64, uint64_t, __VA_ARGS__)

#define FORM(NAME, ...) NAME,
enum form { FLOAT_FORMS(FORM) INT_FORMS(FORM) FORMS };

#define FORM_DTYPE(NAME, DTYPE, ...) [NAME] = AMP_##DTYPE,
static const enum amp_dtype form_dtypes[FORMS] = {FLOAT_FORMS(FORM_DTYPE) INT_FORMS(FORM_DTYPE)};

/* Room for a block in any form. */
union room {
    float floats[BLOCK];
    int64_t longs[BLOCK];
    double doubles[BLOCK];
    uint8_t bytes[BLOCK];
};

typedef void convert_fn(const void *from, void *to, size_t n);

#define CONVERT(name, FROM, TO, value)                                            \
    AMP_CLONES(void, name, (const void *from, void *to, size_t n), (from, to, n)) \
    {                                                                             \
        const FROM *values = from;                                                \
        TO *results = to;                                                         \
        AMP_SIMD for (size_t i = 0; i < n; i++)                                   \
        {                                                                         \
            const FROM x = values[i];                                             \
            results[i] = (TO)(value);                                             \
        }                                                                         \
    }

/* ---- loads ---- */

CONVERT(load_INT8, int8_t, int32_t, x)
CONVERT(load_UINT8, uint8_t, int32_t, x)
CONVERT(load_INT16, int16_t, int32_t, x)
CONVERT(load_UINT16, uint16_t, int32_t, x)
CONVERT(load_UINT32, uint32_t, int64_t, x)
CONVERT(load_BOOL, uint8_t, int32_t, x != 0)

static void load_FLOAT16(const void *from, void *to, size_t n)
{
    amp_dtype_convert(AMP_FLOAT16, from, AMP_FLOAT, to, n);
}

static void load_BFLOAT16(const void *from, void *to, size_t n)
{
    amp_dtype_convert(AMP_BFLOAT16, from, AMP_FLOAT, to, n);
}

#define LOAD_MINIFLOAT(DTYPE)                                      \
    static void load_##DTYPE(const void *from, void *to, size_t n) \
    {                                                              \
        amp_minifloat_decode(AMP_##DTYPE, from, to, n);            \
    }
LOAD_MINIFLOAT(FLOAT8E4M3FN)
LOAD_MINIFLOAT(FLOAT8E4M3FNUZ)
LOAD_MINIFLOAT(FLOAT8E5M2)
LOAD_MINIFLOAT(FLOAT8E5M2FNUZ)
LOAD_MINIFLOAT(FLOAT4E2M1)
LOAD_MINIFLOAT(FLOAT8E8M0)

/* Types of less than a byte are loaded from bytes. */
static const struct {
    bool is_number;
    enum form form;
    convert_fn *load; /* NULL: it is the form */
} sources[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = {true, F32, NULL},
    [AMP_DOUBLE] = {true, F64, NULL},
    [AMP_FLOAT16] = {true, F32, load_FLOAT16},
    [AMP_BFLOAT16] = {true, F32, load_BFLOAT16},
    [AMP_FLOAT8E4M3FN] = {true, F32, load_FLOAT8E4M3FN},
    [AMP_FLOAT8E4M3FNUZ] = {true, F32, load_FLOAT8E4M3FNUZ},
    [AMP_FLOAT8E5M2] = {true, F32, load_FLOAT8E5M2},
    [AMP_FLOAT8E5M2FNUZ] = {true, F32, load_FLOAT8E5M2FNUZ},
    [AMP_FLOAT4E2M1] = {true, F32, load_FLOAT4E2M1},
    [AMP_FLOAT8E8M0] = {true, F32, load_FLOAT8E8M0},
    [AMP_INT8] = {true, I32, load_INT8},
    [AMP_INT4] = {true, I32, load_INT8},
    [AMP_INT2] = {true, I32, load_INT8},
    [AMP_UINT8] = {true, I32, load_UINT8},
    [AMP_UINT4] = {true, I32, load_UINT8},
    [AMP_UINT2] = {true, I32, load_UINT8},
    [AMP_INT16] = {true, I32, load_INT16},
    [AMP_UINT16] = {true, I32, load_UINT16},
    [AMP_INT32] = {true, I32, NULL},
    [AMP_UINT32] = {true, I64, load_UINT32},
    [AMP_INT64] = {true, I64, NULL},
    [AMP_UINT64] = {true, U64, NULL},
    [AMP_BOOL] = {true, I32, load_BOOL},
};

/* ---- stores ---- */

/* Where the fraction is dropped: x > LOWEST - 1 and x < HIGHEST + 1; both bounds may round outwards
   to a power of two, which is right as well. */
#define TRUNCATE(X, T)                            \
    (x >= (X)AMP_HIGHEST(T) + 1  ? AMP_HIGHEST(T) \
     : x <= (X)AMP_LOWEST(T) - 1 ? AMP_LOWEST(T)  \
     : x != x                    ? 0              \
                                 : (T)x)

#define STORE(DTYPE, T, NAME, X) CONVERT(NAME##_to_##DTYPE, X, T, x)
#define STORE_TRUNCATED(DTYPE, T, NAME, X) CONVERT(NAME##_to_##DTYPE, X, T, TRUNCATE(X, T))
#define STORE_BOOL(DTYPE, T, NAME, X) CONVERT(NAME##_to_##DTYPE, X, T, x != 0)
#define STORES_OF_FLOATS(NAME, DTYPE, X, ...)   \
    AMP_FLOAT_TYPES(STORE, NAME, X)             \
    AMP_INTEGER_TYPES(STORE_TRUNCATED, NAME, X) \
    AMP_BOOL_TYPE(STORE_BOOL, NAME, X)
#define STORES_OF_INTS(NAME, DTYPE, X, ...) \
    AMP_REAL_TYPES(STORE, NAME, X)          \
    AMP_BOOL_TYPE(STORE_BOOL, NAME, X)
FLOAT_FORMS(STORES_OF_FLOATS)
INT_FORMS(STORES_OF_INTS)

#define STORE_ROW(NAME, ...) \
    [NAME] = {AMP_REAL_TYPES(AMP_ROW, NAME##_to) AMP_BOOL_TYPE(AMP_ROW, NAME##_to)},
static convert_fn *const stores[FORMS][AMP_DTYPE_COUNT] = {FLOAT_FORMS(STORE_ROW)
                                                               INT_FORMS(STORE_ROW)};

/* ---- to floats of less than 32 bits ---- */

/* float64 has 53 bits; where an integer has more, the ones too many are gathered into the last that
   stays (round to odd). */
static inline int64_t to_53_bits(int64_t x, bool is_large)
{
    return is_large && (x & 0x7FF) != 0 ? (x & ~INT64_C(0x7FF)) | 0x800 : x;
}

/* Floats that round to any narrower type as the numbers themselves would. */
CONVERT(F64_to_odd, double, float, amp_f64_to_f32_odd(x))
CONVERT(I32_to_odd, int32_t, float, amp_f64_to_f32_odd((double)x))
CONVERT(I64_to_odd, int64_t, float,
        amp_f64_to_f32_odd((double)to_53_bits(x, x > INT64_C(1) << 53 || x < -(INT64_C(1) << 53))))
CONVERT(U64_to_odd, uint64_t, float,
        amp_f64_to_f32_odd((double)(uint64_t)to_53_bits((int64_t)x, x > UINT64_C(1) << 53)))

static convert_fn *const to_odd[FORMS] = {
    [F64] = F64_to_odd, [I32] = I32_to_odd, [I64] = I64_to_odd, [U64] = U64_to_odd};

static void store_float(enum form form, const void *values, struct amp_number_target to, size_t n,
                        const struct amp_cast_options *options)
{
    union room odd;
    uint8_t codes[BLOCK];
    if (form != F32) {
        to_odd[form](values, odd.floats, n);
        values = odd.floats;
    }
    if (!amp_dtype_is_minifloat(to.dtype)) {
        amp_dtype_convert(AMP_FLOAT, values, to.dtype, to.data, n);
        return;
    }
    bool is_packed = amp_dtype_bits(to.dtype) < 8;
    amp_minifloat_encode(to.dtype, values, is_packed ? codes : to.data, n,
                         (struct amp_minifloat_rounding){options->saturate, options->rounding});
    if (is_packed)
        amp_bits_pack(to.dtype, codes, to.data, n);
}

/* ---- to integers of less than a byte ---- */

/* Rounds to integers, ties to even; what is out of their range becomes the nearest in it or, if it
   WRAPS, its low bits. NaN stays, and so does what wraps and has no low bits: it becomes 0. */
AMP_CLONES(void, round_doubles, (double *values, size_t n, double low, double range, bool wraps),
           (values, n, low, range, wraps))
{
    const double high = low + range - 1, per_range = 1 / range; /* a power of two */
    AMP_SIMD for (size_t i = 0; i < n; i++)
    {
        double value = rint(values[i]);
        double wrapped = value - floor((value - low) * per_range) * range;
        value = wraps ? wrapped : value;
        values[i] = value < low ? low : value > high ? high : value;
    }
}

static void store_packed(enum form form, const void *values, struct amp_number_target to, size_t n,
                         bool wraps)
{
    union room rounded;
    uint8_t bytes[BLOCK];
    double range = 1 << amp_dtype_bits(to.dtype);
    bool is_signed = amp_dtype_class(to.dtype) == AMP_CLASS_INT;
    if (form == F32 || form == F64) {
        stores[form][AMP_DOUBLE](values, rounded.doubles, n);
        round_doubles(rounded.doubles, n, is_signed ? -range / 2 : 0, range, wraps);
        values = rounded.doubles;
        form = F64;
    }
    stores[form][is_signed ? AMP_INT8 : AMP_UINT8](values, bytes, n);
    amp_bits_pack(to.dtype, bytes, to.data, n);
}

/* ---- blocks ---- */

/* Gives the values of N elements in the form of their dtype: where they lie, or in ROOM. */
static const void *load(struct amp_number_source from, void *room, size_t n)
{
    uint8_t bytes[BLOCK];
    if (sources[from.dtype].load == NULL)
        return from.data;
    if (amp_dtype_bits(from.dtype) < 8) {
        amp_bits_unpack(from.dtype, from.data, bytes, n);
        from.data = bytes;
    }
    sources[from.dtype].load(from.data, room, n);
    return room;
}

static void convert_block(struct amp_number_source from, struct amp_number_target to, size_t n,
                          const struct amp_cast_options *options)
{
    union room room;
    enum form form = sources[from.dtype].form;
    if (to.dtype == form_dtypes[form]) {
        load(from, to.data, n);
        return;
    }
    const void *values = load(from, &room, n);
    if (stores[form][to.dtype] != NULL)
        stores[form][to.dtype](values, to.data, n);
    else if (amp_dtype_class(to.dtype) == AMP_CLASS_FLOAT)
        store_float(form, values, to, n, options);
    else
        store_packed(form, values, to, n, options->wraps);
}

bool amp_dtype_is_castable(enum amp_dtype dtype)
{
    return sources[dtype].is_number;
}

void amp_elements_cast(struct amp_number_source from, struct amp_number_target to, size_t count,
                       const struct amp_cast_options *options)
{
    size_t from_bits = amp_dtype_bits(from.dtype), to_bits = amp_dtype_bits(to.dtype);
    assert(amp_dtype_is_castable(from.dtype) && amp_dtype_is_castable(to.dtype));
    if (from.dtype == to.dtype) {
        memcpy(to.data, from.data, (count * to_bits + 7) / 8);
        return;
    }
    for (size_t first = 0; first < count; first += BLOCK)
        convert_block(
            (struct amp_number_source){from.dtype, (const char *)from.data + first * from_bits / 8},
            (struct amp_number_target){to.dtype, (char *)to.data + first * to_bits / 8},
            count - first < BLOCK ? count - first : BLOCK, options);
}
