/*
 * Converts tensors between any two element types but the complex ones. Numbers go through
 * element_cast.h, in blocks that threads share; numbers and text through number_text.h. Text that
 * is no number fails with AMP_MODEL.
 */
#include "ops/kernel/tensor_cast.h"

#include "core/convert.h"
#include "core/simd.h"
#include "ops/kernel/number_text.h"

#include <stdio.h>
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
        amp_elements_cast(
            (struct amp_number_source){from->dtype,
                                       (const char *)from->data + first * from_bits / 8},
            (struct amp_number_target){to->dtype, (char *)to->data + first * to_bits / 8},
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
        amp_elements_cast(
            (struct amp_number_source){from->dtype, (const char *)from->data +
                                                        first * amp_dtype_bits(from->dtype) / 8},
            (struct amp_number_target){numbers.dtype, numbers.ints}, n, &defaults);
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
        amp_elements_cast((struct amp_number_source){numbers.dtype, numbers.ints},
                          (struct amp_number_target){
                              to->dtype, (char *)to->data + first * amp_dtype_bits(to->dtype) / 8},
                          n, options);
    }
    return AMP_OK;
}

/* ---- tensors */

static bool is_castable(enum amp_dtype dtype)
{
    return amp_dtype_is_castable(dtype) || dtype == AMP_STRING;
}

enum amp_status amp_tensor_cast(const struct amp_tensor *from, struct amp_tensor *to,
                                const struct amp_cast_options *options, struct amp_error *err)
{
    if (!is_castable(from->dtype) || !is_castable(to->dtype))
        return amp_fail(err, AMP_UNSUPPORTED, "no conversion from %s to %s",
                        amp_dtype_name(from->dtype), amp_dtype_name(to->dtype));
    if (options == NULL)
        options = &defaults;
    if (from->dtype == to->dtype) {
        if (to->data != from->data)
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

/* Makes *TO a list of the elements of FROM, cast. */
static enum amp_status cast_list(const struct amp_tensor *from, enum amp_dtype dtype,
                                 struct amp_tensor *to, struct amp_error *err)
{
    size_t count = amp_tensor_count(from);
    AMP_TRY(amp_list_alloc(to, from->form, count, err));
    for (size_t i = 0; i < count; i++)
        if (amp_tensor_cast_copy(&amp_list_items(from)[i], dtype, &amp_list_items(to)[i], err) !=
            AMP_OK) {
            amp_tensor_release(to);
            return err->status;
        }
    return AMP_OK;
}

enum amp_status amp_tensor_cast_copy(const struct amp_tensor *from, enum amp_dtype dtype,
                                     struct amp_tensor *to, struct amp_error *err)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    if (from->dtype == dtype) {
        amp_tensor_share(to, from);
        return AMP_OK;
    }
    if (amp_tensor_is_list(from))
        return cast_list(from, dtype, to, err);
    AMP_TRY(amp_tensor_alloc(to, err));
    enum amp_status status = amp_tensor_cast(from, to, NULL, err);
    if (status != AMP_OK)
        amp_tensor_release(to);
    return status;
}
