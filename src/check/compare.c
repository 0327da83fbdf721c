/*
 * Compares a tensor with the one expected, element by element within a tolerance, as ONNX's backend
 * test runner does. Takes tensors of any type and lists of them; says how many elements are off and
 * which one is worst.
 */
#include "check/compare.h"

#include "check/elements.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* float16 and bfloat16 results carry the rounding of their own type, of up to 2^-9 of the value,
   in a few steps. */
static const struct amp_tolerance half_tolerance = {.rtol = 1e-2, .atol = 1e-3};
static const struct amp_tolerance usual_tolerance = {.rtol = 1e-3, .atol = 1e-7};

struct amp_tolerance amp_tolerance_of(enum amp_dtype dtype)
{
    return amp_dtype_is_lower(dtype) ? half_tolerance : usual_tolerance;
}

/* The distance of two numbers: 0 when they are equal or both NaN, infinite when one is NaN. */
static double distance(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    double d = fabs(got - want);
    return isnan(d) ? INFINITY : d;
}

/* Writes the position of element INDEX of a tensor of SHAPE into TEXT: "[1, 0, 2]". */
static char *place_text(const struct amp_shape *shape, size_t index, char *text, size_t size)
{
    struct amp_shape place = amp_shape_place(shape, index);
    return amp_shape_text(&place, text, size);
}

static enum amp_status compare_strings(const struct amp_tensor *got, const struct amp_tensor *want,
                                       struct amp_error *err)
{
    char text[256];
    for (size_t i = 0; i < amp_tensor_count(want); i++)
        if (!amp_elements_equal_strings(got, want, i))
            return amp_fail(err, AMP_MISMATCH, "element %s differs",
                            place_text(&want->shape, i, text, sizeof text));
    return AMP_OK;
}

/* The elements that are further off than the tolerance, among those compared so far. */
struct differences {
    size_t off, worst; /* worst: index of the first that is farthest off */
    double distance;   /* of that one */
};

static void note_difference(struct differences *seen, size_t i, double d)
{
    if (seen->off++ == 0 || d > seen->distance) {
        seen->distance = d;
        seen->worst = i;
    }
}

static void compare_floats(const struct amp_tensor *got, const struct amp_tensor *want,
                           size_t count, struct amp_tolerance tolerance, struct differences *seen)
{
    for (size_t i = 0; i < count; i++) {
        double b = amp_tensor_double(want, i), d = distance(amp_tensor_double(got, i), b);
        bool is_near = !isinf(b) && d <= tolerance.atol + tolerance.rtol * fabs(b);
        if (d != 0 && !is_near)
            note_difference(seen, i, d);
    }
}

static void compare_integers(const struct amp_tensor *got, const struct amp_tensor *want,
                             size_t count, struct differences *seen)
{
    for (size_t i = 0; i < count; i++)
        if (amp_tensor_int(got, i) != amp_tensor_int(want, i))
            note_difference(seen, i, fabs(amp_tensor_double(got, i) - amp_tensor_double(want, i)));
}

/* Writes element I into TEXT in its own type, since a double would lose digits of large integers. A
   NaN is written without its sign, which depends on the processor. */
static char *number_text(const struct amp_tensor *tensor, size_t i, char *text, size_t size)
{
    double value = amp_tensor_double(tensor, i);
    if (isnan(value))
        snprintf(text, size, "nan");
    else if (amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT)
        snprintf(text, size, "%.9g", value);
    else if (tensor->dtype == AMP_UINT64)
        snprintf(text, size, "%" PRIu64, (uint64_t)amp_tensor_int(tensor, i));
    else
        snprintf(text, size, "%" PRId64, amp_tensor_int(tensor, i));
    return text;
}

static enum amp_status compare_numbers(const struct amp_tensor *got_tensor,
                                       const struct amp_tensor *want_tensor,
                                       struct amp_tolerance tolerance, struct amp_error *err)
{
    char place[256], number[64], expected[64];
    size_t count;
    struct differences seen = {.off = 0};
    struct amp_tensor got = amp_elements_real(got_tensor, &count);
    struct amp_tensor want = amp_elements_real(want_tensor, &count);
    if (amp_dtype_class(want.dtype) == AMP_CLASS_FLOAT)
        compare_floats(&got, &want, count, tolerance, &seen);
    else
        compare_integers(&got, &want, count, &seen);
    if (seen.off == 0)
        return AMP_OK;
    size_t element = seen.worst / (count / amp_tensor_count(want_tensor));
    return amp_fail(err, AMP_MISMATCH,
                    "%zu of %zu elements differ; the worst is element %s: %s, expected %s",
                    seen.off, count, place_text(&want_tensor->shape, element, place, sizeof place),
                    number_text(&got, seen.worst, number, sizeof number),
                    number_text(&want, seen.worst, expected, sizeof expected));
}

static enum amp_status compare_lists(const struct amp_tensor *got, const struct amp_tensor *want,
                                     struct amp_tolerance tolerance, struct amp_error *err)
{
    if (got->form != want->form)
        return amp_fail(err, AMP_MISMATCH,
                        "a list of tensors, or a tensor, where the other is not");
    if (amp_tensor_count(got) != amp_tensor_count(want))
        return amp_fail(err, AMP_MISMATCH, "a list of %zu, expected %zu", amp_tensor_count(got),
                        amp_tensor_count(want));
    for (size_t i = 0; i < amp_tensor_count(want); i++)
        if (amp_tensor_compare(&amp_list_items(got)[i], &amp_list_items(want)[i], tolerance, err) !=
            AMP_OK) {
            amp_error_prefix(err, "element %zu of the list", i);
            return err->status;
        }
    return AMP_OK;
}

enum amp_status amp_tensor_compare(const struct amp_tensor *got, const struct amp_tensor *want,
                                   struct amp_tolerance tolerance, struct amp_error *err)
{
    char text_got[256], text_want[256];
    if (amp_tensor_is_list(got) || amp_tensor_is_list(want))
        return compare_lists(got, want, tolerance, err);
    if (got->dtype != want->dtype)
        return amp_fail(err, AMP_MISMATCH, "dtype %s, expected %s", amp_dtype_name(got->dtype),
                        amp_dtype_name(want->dtype));
    if (!amp_shape_equal(&got->shape, &want->shape))
        return amp_fail(err, AMP_MISMATCH, "shape %s, expected %s",
                        amp_shape_text(&got->shape, text_got, sizeof text_got),
                        amp_shape_text(&want->shape, text_want, sizeof text_want));
    if (want->dtype == AMP_STRING)
        return compare_strings(got, want, err);
    return compare_numbers(got, want, tolerance, err);
}
