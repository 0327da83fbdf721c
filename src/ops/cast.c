/*
 * Cast and CastLike (all versions up to ONNX 25), and BitCast-26. Numbers go in blocks through one
 * of two common forms, float64 for floats and 64 bits for integers, both of which hold every value
 * of their kind exactly; so there is one load and one store per type instead of a loop per pair.
 * Pairs of float32, float16 and bfloat16, of which a converted model is full, go the direct way.
 */
#include "ops/cast.h"

#include "ops/cast_text.h"
#include "ops/move.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A multiple of 8, so that blocks of packed elements begin at a byte. */
enum { BLOCK = 512 };

struct block {
    size_t n;
    enum amp_dtype_class class; /* AMP_CLASS_FLOAT: floats hold the values; else ints, of a signed
                                   or unsigned type */
    double floats[BLOCK];
    int64_t ints[BLOCK];
};

/* ---- loads */

typedef void load_fn(const void *from, struct block *block);

#define LOAD(DTYPE, T, VALUES, value)                               \
    static void load_##DTYPE(const void *from, struct block *block) \
    {                                                               \
        const T *elements = from;                                   \
        AMP_SIMD for (size_t i = 0; i < block->n; i++)              \
        {                                                           \
            const T x = elements[i];                                \
            block->VALUES[i] = value;                               \
        }                                                           \
    }
#define LOAD_MINIFLOAT(DTYPE, T) \
    LOAD(DTYPE, T, floats, (double)amp_minifloat_to_f32(AMP_##DTYPE, x))
#define MINIFLOAT_TYPES(X, ...)               \
    X(FLOAT8E4M3FN, uint8_t, ##__VA_ARGS__)   \
    X(FLOAT8E4M3FNUZ, uint8_t, ##__VA_ARGS__) \
    X(FLOAT8E5M2, uint8_t, ##__VA_ARGS__)     \
    X(FLOAT8E5M2FNUZ, uint8_t, ##__VA_ARGS__) \
    X(FLOAT4E2M1, uint8_t, ##__VA_ARGS__)     \
    X(FLOAT8E8M0, uint8_t, ##__VA_ARGS__)

AMP_FLOAT_TYPES(LOAD, floats, (double)x)
LOAD(FLOAT16, uint16_t, floats, (double)amp_f16_to_f32(x))
LOAD(BFLOAT16, uint16_t, floats, (double)amp_bf16_to_f32(x))
MINIFLOAT_TYPES(LOAD_MINIFLOAT)
AMP_INTEGER_TYPES(LOAD, ints, (int64_t)x)
AMP_BOOL_TYPE(LOAD, ints, x != 0)

static load_fn *const loads[AMP_DTYPE_COUNT] = {
    AMP_REAL_TYPES(AMP_ROW, load) AMP_BOOL_TYPE(AMP_ROW, load)
        MINIFLOAT_TYPES(AMP_ROW, load)[AMP_FLOAT16] = load_FLOAT16,
    [AMP_BFLOAT16] = load_BFLOAT16,
    /* unpacked */
    [AMP_INT4] = load_INT8, [AMP_INT2] = load_INT8, [AMP_UINT4] = load_UINT8,
    [AMP_UINT2] = load_UINT8};

/* ---- stores: of float types from floats, of others from floats and from ints */

typedef void store_fn(const struct block *block, void *to, const struct amp_cast_options *options);

#define STORE(KIND, DTYPE, T, VALUES, value)                           \
    static void KIND##_##DTYPE(const struct block *block, void *to,    \
                               const struct amp_cast_options *options) \
    {                                                                  \
        (void)options;                                                 \
        T *elements = to;                                              \
        AMP_SIMD for (size_t i = 0; i < block->n; i++)                 \
        {                                                              \
            const __typeof__(block->VALUES[0]) x = block->VALUES[i];   \
            elements[i] = (T)(value);                                  \
        }                                                              \
    }
#define STORE_FLOAT(DTYPE, T, value) STORE(store_floats, DTYPE, T, floats, value)
#define STORE_MINIFLOAT(DTYPE, T) \
    STORE_FLOAT(DTYPE, T,         \
                amp_f64_to_minifloat(AMP_##DTYPE, x, options->saturate, options->rounding))
/* Where the fraction is dropped: x > LOWEST - 1 and x < HIGHEST + 1; both bounds may round outwards
   to a power of two, which is right as well. */
#define TRUNCATE(T)                                    \
    (x >= (double)AMP_HIGHEST(T) + 1  ? AMP_HIGHEST(T) \
     : x <= (double)AMP_LOWEST(T) - 1 ? AMP_LOWEST(T)  \
     : x != x                         ? 0              \
                                      : (T)x)
#define STORE_INTEGER(DTYPE, T) \
    STORE(store_floats, DTYPE, T, floats, TRUNCATE(T)) STORE(store_ints, DTYPE, T, ints, x)

AMP_FLOAT_TYPES(STORE_FLOAT, x)
STORE_FLOAT(FLOAT16, uint16_t, amp_f64_to_f16(x))
STORE_FLOAT(BFLOAT16, uint16_t, amp_f64_to_bf16(x))
MINIFLOAT_TYPES(STORE_MINIFLOAT)
AMP_INTEGER_TYPES(STORE_INTEGER)
STORE(store_floats, BOOL, uint8_t, floats, x != 0)
STORE(store_ints, BOOL, uint8_t, ints, x != 0)

static store_fn *const float_stores[AMP_DTYPE_COUNT] = {
    AMP_REAL_TYPES(AMP_ROW, store_floats) AMP_BOOL_TYPE(AMP_ROW, store_floats)
        MINIFLOAT_TYPES(AMP_ROW, store_floats)[AMP_FLOAT16] = store_floats_FLOAT16,
    [AMP_BFLOAT16] = store_floats_BFLOAT16,
    [AMP_INT4] = store_floats_INT8,
    [AMP_INT2] = store_floats_INT8,
    [AMP_UINT4] = store_floats_UINT8,
    [AMP_UINT2] = store_floats_UINT8};

static store_fn *const int_stores[AMP_DTYPE_COUNT] = {
    AMP_INTEGER_TYPES(AMP_ROW, store_ints) AMP_BOOL_TYPE(AMP_ROW, store_ints)[AMP_INT4] =
        store_ints_INT8,
    [AMP_INT2] = store_ints_INT8, [AMP_UINT4] = store_ints_UINT8, [AMP_UINT2] = store_ints_UINT8};

/* ---- blocks */

/* The integers of a block as floats that round to DTYPE as the integers would: float64 has 53 bits,
   so where an integer has more, the ones too many are gathered into the last that stays (round to
   odd). To float64 itself the conversion is the rounding. */
static void ints_to_floats(struct block *block, enum amp_dtype dtype)
{
    const int64_t low = dtype == AMP_DOUBLE ? 0 : 0x7FF;
    for (size_t i = 0; i < block->n; i++) {
        int64_t value = block->ints[i];
        if ((value & low) != 0 && (value >= INT64_C(1) << 53 || value <= -(INT64_C(1) << 53) ||
                                   (value < 0 && block->class == AMP_CLASS_UINT)))
            value = (value & ~low) | (low + 1);
        block->floats[i] = block->class == AMP_CLASS_UINT ? (double)(uint64_t)value : (double)value;
    }
    block->class = AMP_CLASS_FLOAT;
}

/* Rounds floats to integers of less than a byte, ties to even; what is out of their range becomes
   the nearest in it or, if it WRAPS, its low bits. NaN stays, and so does what wraps and has no low
   bits: it becomes 0. */
static void round_floats(struct block *block, enum amp_dtype dtype, bool wraps)
{
    bool is_signed = amp_dtype_class(dtype) == AMP_CLASS_INT;
    double range = 1 << amp_dtype_bits(dtype);
    double high = is_signed ? range / 2 - 1 : range - 1, low = high - range + 1;
    for (size_t i = 0; i < block->n; i++) {
        double value = rint(block->floats[i]);
        if (wraps)
            value -= floor((value - low) / range) * range;
        block->floats[i] = value < low ? low : value > high ? high : value;
    }
}

static const void *element_at(const struct amp_tensor *tensor, size_t index)
{
    return (const char *)tensor->data + index * amp_dtype_bits(tensor->dtype) / 8;
}

static void load_block(const struct amp_tensor *from, size_t first, struct block *block)
{
    uint8_t bytes[BLOCK];
    const void *data = element_at(from, first);
    block->class = amp_dtype_class(from->dtype);
    if (amp_dtype_bits(from->dtype) < 8) {
        amp_bits_unpack(from->dtype, data, bytes, block->n);
        data = bytes;
    }
    load_fn *load = loads[from->dtype];
    assert(load != NULL); /* is_castable() */
    load(data, block);
}

static void store_block(struct block *block, struct amp_tensor *to, size_t first,
                        const struct amp_cast_options *options)
{
    uint8_t bytes[BLOCK];
    char *data = (char *)to->data + first * amp_dtype_bits(to->dtype) / 8;
    bool is_float = amp_dtype_class(to->dtype) == AMP_CLASS_FLOAT;
    bool is_packed = amp_dtype_bits(to->dtype) < 8;
    if (is_float && block->class != AMP_CLASS_FLOAT)
        ints_to_floats(block, to->dtype);
    else if (!is_float && is_packed && block->class == AMP_CLASS_FLOAT)
        round_floats(block, to->dtype, options->wraps);
    store_fn *store = (block->class == AMP_CLASS_FLOAT ? float_stores : int_stores)[to->dtype];
    assert(store != NULL);
    store(block, is_packed ? bytes : (void *)data, options);
    if (is_packed)
        amp_bits_pack(to->dtype, bytes, data, block->n);
}

static void cast_numbers(const struct amp_tensor *from, struct amp_tensor *to,
                         const struct amp_cast_options *options)
{
    const size_t count = amp_tensor_count(from);
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t first = 0; first < count; first += BLOCK) {
        struct block block = {.n = count - first < BLOCK ? count - first : BLOCK};
        load_block(from, first, &block);
        store_block(&block, to, first, options);
    }
}

/* ---- strings */

static int write_element(const struct block *block, enum amp_dtype dtype, size_t i, char *text)
{
    if (block->class == AMP_CLASS_FLOAT)
        return amp_float_write(block->floats[i], dtype, text);
    if (block->class == AMP_CLASS_UINT)
        return snprintf(text, AMP_NUMBER_TEXT, "%llu", (unsigned long long)block->ints[i]);
    return snprintf(text, AMP_NUMBER_TEXT, "%lld", (long long)block->ints[i]);
}

static enum amp_status cast_to_strings(const struct amp_tensor *from, struct amp_tensor *to,
                                       struct amp_error *err)
{
    size_t count = amp_tensor_count(from);
    char *text;
    AMP_TRY(amp_strings_alloc(to, count * AMP_NUMBER_TEXT, &text, err));
    struct amp_str *strings = to->data;
    for (size_t first = 0; first < count; first += BLOCK) {
        struct block block = {.n = count - first < BLOCK ? count - first : BLOCK};
        load_block(from, first, &block);
        for (size_t i = 0; i < block.n; i++, text += AMP_NUMBER_TEXT)
            strings[first + i] =
                (struct amp_str){text, (size_t)write_element(&block, from->dtype, i, text)};
    }
    return AMP_OK;
}

/* Reads STRINGS into BLOCK: integers for an integer type, for a bool or a float type floats. */
static enum amp_status read_block(const struct amp_str *strings, size_t first, enum amp_dtype dtype,
                                  struct block *block, struct amp_error *err)
{
    enum amp_dtype_class class = amp_dtype_class(dtype);
    bool is_int = class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
    block->class = is_int ? class : AMP_CLASS_FLOAT;
    for (size_t i = 0; i < block->n; i++) {
        struct amp_str text = strings[first + i];
        if (is_int ? !amp_int_read(text, class == AMP_CLASS_INT, &block->ints[i])
                   : !amp_float_read(text, dtype, &block->floats[i]))
            return amp_fail(err, AMP_MODEL, "element %zu is '%.*s': not a number", first + i,
                            text.size < 40 ? (int)text.size : 40, text.size > 0 ? text.data : "");
    }
    return AMP_OK;
}

static enum amp_status cast_from_strings(const struct amp_tensor *from, struct amp_tensor *to,
                                         const struct amp_cast_options *options,
                                         struct amp_error *err)
{
    size_t count = amp_tensor_count(from);
    for (size_t first = 0; first < count; first += BLOCK) {
        struct block block = {.n = count - first < BLOCK ? count - first : BLOCK};
        AMP_TRY(read_block(from->data, first, to->dtype, &block, err));
        store_block(&block, to, first, options);
    }
    return AMP_OK;
}

/* ---- the public functions and the operators */

static bool is_castable(enum amp_dtype dtype)
{
    return loads[dtype] != NULL || dtype == AMP_STRING;
}

enum amp_status amp_cast_tensor(const struct amp_tensor *from, struct amp_tensor *to,
                                const struct amp_cast_options *options, struct amp_error *err)
{
    static const struct amp_cast_options defaults = {.saturate = true, .rounding = AMP_ROUND_UP};
    if (!is_castable(from->dtype) || !is_castable(to->dtype))
        return amp_fail(err, AMP_UNSUPPORTED, "no conversion from %s to %s",
                        amp_dtype_name(from->dtype), amp_dtype_name(to->dtype));
    if (options == NULL)
        options = &defaults;
    if (from->dtype == to->dtype) {
        memcpy(to->data, from->data, amp_tensor_size(from));
        return to->dtype == AMP_STRING ? amp_strings_own(to, err) : AMP_OK;
    }
    if (to->dtype == AMP_STRING)
        return cast_to_strings(from, to, err);
    if (from->dtype == AMP_STRING)
        return cast_from_strings(from, to, options, err);
    if (amp_dtype_is_autocast(from->dtype) && amp_dtype_is_autocast(to->dtype))
        amp_dtype_convert(from->dtype, from->data, to->dtype, to->data, amp_tensor_count(from));
    else
        cast_numbers(from, to, options);
    return AMP_OK;
}

enum amp_status amp_cast_copy(const struct amp_tensor *from, enum amp_dtype dtype,
                              struct amp_tensor *to, struct amp_error *err)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    if (from->dtype == dtype) {
        amp_tensor_share(to, from);
        return AMP_OK;
    }
    AMP_TRY(amp_tensor_alloc(to, err));
    enum amp_status status = amp_cast_tensor(from, to, NULL, err);
    if (status != AMP_OK)
        amp_tensor_release(to);
    return status;
}

/* What to cast to, type inference took from attribute `to` or from input 1. For floats out of the
   range of int4 and the like the standard has no rule: its test data saturate up to version 23, and
   wrap since 24. */
static enum amp_status run_cast(struct amp_ctx *ctx)
{
    static const char *const modes[] = {
        [AMP_ROUND_UP] = "up", [AMP_ROUND_DOWN] = "down", [AMP_ROUND_NEAREST] = "nearest", NULL};
    int mode = AMP_ROUND_UP;
    AMP_TRY(amp_ctx_choice(ctx, "round_mode", modes, &mode));
    const struct amp_cast_options options = {.saturate =
                                                 amp_node_int(ctx->node, "saturate", 1) != 0,
                                             .wraps = ctx->node->since_version >= 24,
                                             .rounding = (enum amp_rounding)mode};
    return amp_cast_tensor(ctx->in[0], ctx->out[0], &options, ctx->err);
}

#define CAST(NAME, lower)                                           \
    const struct amp_op amp_op_##lower = {.name = NAME,             \
                                          .newest = 25,             \
                                          .effect = AMP_COMPUTES,   \
                                          .native = AMP_NATIVE_ALL, \
                                          .shape = amp_shape_same,  \
                                          .run = run_cast};
CAST("Cast", cast)
CAST("CastLike", cast_like)

/* The same bits as elements of another dtype, which must have as many. */
static enum amp_status shape_bit_cast(struct amp_ctx *ctx)
{
    enum amp_dtype from = ctx->in[0]->dtype, to = ctx->out[0]->dtype;
    bool is_known = from != AMP_UNDEFINED && to != AMP_UNDEFINED;
    if (is_known &&
        (amp_dtype_bits(from) != amp_dtype_bits(to) || from == AMP_STRING || to == AMP_STRING))
        return AMP_CTX_FAIL(ctx, "the bits of %s are not those of %s", amp_dtype_name(from),
                            amp_dtype_name(to));
    return amp_shape_same(ctx);
}

/* Opaque: it shows what a value looks like in its dtype. */
const struct amp_op amp_op_bit_cast = {.name = "BitCast",
                                       .newest = 26,
                                       .effect = AMP_OPAQUE,
                                       .native = AMP_NATIVE_ANY,
                                       .shares_input = true,
                                       .shape = shape_bit_cast,
                                       .run = amp_run_share};
