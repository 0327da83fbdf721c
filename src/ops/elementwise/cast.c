/*
 * Cast and CastLike (all versions up to ONNX 25) and BitCast-26. Numbers go through
 * ops/kernel/element_cast.h, in blocks that threads share; numbers and text through
 * ops/kernel/number_text.h. Text that is no number fails with AMP_MODEL.
 */
#include "ops/elementwise/cast.h"

#include "core/convert.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/number_text.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/element_cast.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct amp_cast_options defaults = {.saturate = true, .rounding = AMP_ROUND_UP};

/* Numbers that a thread takes at a time: a multiple of 8, so that packed ones begin at a byte. */
enum { BLOCK = 4096 };

static void cast_numbers(const struct amp_tensor *from, struct amp_tensor *to,
                         const struct amp_cast_options *options)
{
    const size_t count = amp_tensor_count(from);
    const size_t from_bits = amp_dtype_bits(from->dtype), to_bits = amp_dtype_bits(to->dtype);
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t first = 0; first < count; first += BLOCK)
        amp_numbers_convert(from->dtype, (const char *)from->data + first * from_bits / 8,
                            to->dtype, (char *)to->data + first * to_bits / 8,
                            count - first < BLOCK ? count - first : BLOCK, options);
}

/* ---- strings */

/* Numbers on their way from or to text: floats as float64, bools and integers as 64 bits. */
enum { TEXT_BLOCK = 512 };

struct numbers {
    enum amp_dtype dtype;
    enum amp_dtype target; /* text is read for */
    union {
        double floats[TEXT_BLOCK];
        int64_t ints[TEXT_BLOCK];
    };
};

static int write_element(const struct numbers *numbers, enum amp_dtype dtype, size_t i, char *text)
{
    if (numbers->dtype == AMP_DOUBLE)
        return amp_float_write(numbers->floats[i], dtype, text);
    if (numbers->dtype == AMP_UINT64)
        return snprintf(text, AMP_NUMBER_TEXT, "%llu", (unsigned long long)numbers->ints[i]);
    return snprintf(text, AMP_NUMBER_TEXT, "%lld", (long long)numbers->ints[i]);
}

static enum amp_dtype widest_of(enum amp_dtype dtype)
{
    switch (amp_dtype_class(dtype)) {
    case AMP_CLASS_FLOAT:
        return AMP_DOUBLE;
    case AMP_CLASS_UINT:
        return AMP_UINT64;
    case AMP_CLASS_INT:
    case AMP_CLASS_BOOL:
    case AMP_CLASS_NONE:
    case AMP_CLASS_STRING:
    case AMP_CLASS_COMPLEX:
        break;
    }
    return AMP_INT64;
}

static enum amp_status cast_to_strings(const struct amp_tensor *from, struct amp_tensor *to,
                                       struct amp_error *err)
{
    size_t count = amp_tensor_count(from);
    char *text;
    AMP_TRY(amp_strings_alloc(to, count * AMP_NUMBER_TEXT, &text, err));
    struct amp_str *strings = to->data;
    struct numbers numbers = {.dtype = widest_of(from->dtype)};
    for (size_t first = 0; first < count; first += TEXT_BLOCK) {
        size_t n = count - first < TEXT_BLOCK ? count - first : TEXT_BLOCK;
        amp_numbers_convert(from->dtype,
                            (const char *)from->data + first * amp_dtype_bits(from->dtype) / 8,
                            numbers.dtype, numbers.ints, n, &defaults);
        for (size_t i = 0; i < n; i++, text += AMP_NUMBER_TEXT)
            strings[first + i] =
                (struct amp_str){text, (size_t)write_element(&numbers, from->dtype, i, text)};
    }
    return AMP_OK;
}

/* Reads N elements of FROM, strings, from index FIRST on: integers for an integer type, for a bool
   or a float type floats. */
static enum amp_status read_numbers(const struct amp_tensor *from, size_t first, size_t n,
                                    struct numbers *numbers, struct amp_error *err)
{
    const struct amp_str *strings = from->data;
    enum amp_dtype dtype = numbers->target;
    enum amp_dtype_class class = amp_dtype_class(dtype);
    bool is_int = class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
    numbers->dtype = is_int ? widest_of(dtype) : AMP_DOUBLE;
    for (size_t i = 0; i < n; i++) {
        struct amp_str text = strings[first + i];
        if (is_int ? !amp_int_read(text, class == AMP_CLASS_INT, &numbers->ints[i])
                   : !amp_float_read(text, dtype, &numbers->floats[i]))
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
    struct numbers numbers = {.target = to->dtype};
    for (size_t first = 0; first < count; first += TEXT_BLOCK) {
        size_t n = count - first < TEXT_BLOCK ? count - first : TEXT_BLOCK;
        AMP_TRY(read_numbers(from, first, n, &numbers, err));
        amp_numbers_convert(numbers.dtype, numbers.ints, to->dtype,
                            (char *)to->data + first * amp_dtype_bits(to->dtype) / 8, n, options);
    }
    return AMP_OK;
}

/* ---- the public functions and the operators */

static bool is_castable(enum amp_dtype dtype)
{
    return amp_is_number(dtype) || dtype == AMP_STRING;
}

enum amp_status amp_cast_tensor(const struct amp_tensor *from, struct amp_tensor *to,
                                const struct amp_cast_options *options, struct amp_error *err)
{
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

#define CAST(NAME, lower, ...)                                      \
    const struct amp_op amp_op_##lower = {.name = NAME,             \
                                          .newest = 25,             \
                                          .effect = AMP_COMPUTES,   \
                                          .native = AMP_NATIVE_ALL, \
                                          .shape = amp_shape_same,  \
                                          .run = run_cast,          \
                                          __VA_ARGS__};
CAST("Cast", cast,
     .dtype_attr = &(const struct amp_dtype_attr){.name = "to", .outputs = AMP_INPUT(0)},
     .role = AMP_ROLE_CAST, .gradient = AMP_GRADIENT({.term = "CastLike(g, x)"}),
     .post_op = &(const struct amp_post_op){.kind = AMP_POST_CAST})
CAST("CastLike", cast_like, .role = AMP_ROLE_CAST_LIKE,
     .gradient = AMP_GRADIENT({.term = "CastLike(g, x)"},
                              {.input = 1, .term = "Expand(0, Shape(x))"}))

/* BitCast: the shape stays, and so must the number of bits of an element. */
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
const struct amp_op amp_op_bit_cast = {
    .name = "BitCast",
    .newest = 26,
    .effect = AMP_OPAQUE,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "to", .outputs = AMP_INPUT(0)},
    .shape = shape_bit_cast,
    .run = amp_run_share};
