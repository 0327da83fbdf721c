/*
 * Compares a tensor with the one expected, element by element within a tolerance.
 */
#include "check/compare.h"

#include <math.h>
#include <string.h>

static bool is_complex(const struct amp_tensor *tensor)
{
    return amp_dtype_class(tensor->dtype) == AMP_CLASS_COMPLEX;
}

static bool equal_strings(const struct amp_tensor *got, const struct amp_tensor *want, size_t i)
{
    const struct amp_str *a = (const struct amp_str *)got->data + i;
    const struct amp_str *b = (const struct amp_str *)want->data + i;
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* How far apart two numbers are; 0 when they count as equal whatever the tolerance. */
static double distance(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    double d = fabs(got - want);
    return isnan(d) ? INFINITY : d;
}

static enum amp_status compare_strings(const struct amp_tensor *got, const struct amp_tensor *want,
                                       struct amp_error *err)
{
    for (size_t i = 0; i < amp_tensor_count(want); i++)
        if (!equal_strings(got, want, i))
            return amp_fail(err, AMP_MISMATCH, "element %zu differs", i);
    return AMP_OK;
}

/* Complex tensors as real ones of twice the length. */
static struct amp_tensor real_view(const struct amp_tensor *tensor, size_t *count)
{
    struct amp_tensor view = *tensor;
    *count = amp_tensor_count(tensor);
    if (is_complex(tensor)) {
        view.dtype = tensor->dtype == AMP_COMPLEX64 ? AMP_FLOAT : AMP_DOUBLE;
        *count *= 2;
    }
    return view;
}

static bool is_outside(double got, double want, struct amp_tolerance tolerance, double *d)
{
    *d = distance(got, want);
    bool is_infinite = isinf(want) && *d > 0;
    return is_infinite || !(*d <= tolerance.atol + tolerance.rtol * fabs(want) || *d == 0);
}

static enum amp_status compare_numbers(const struct amp_tensor *got_tensor,
                                       const struct amp_tensor *want_tensor,
                                       struct amp_tolerance tolerance, struct amp_error *err)
{
    size_t count, off = 0, worst = 0;
    double worst_distance = -1;
    struct amp_tensor got = real_view(got_tensor, &count), want = real_view(want_tensor, &count);
    bool is_float = amp_dtype_class(want.dtype) == AMP_CLASS_FLOAT;
    for (size_t i = 0; i < count; i++) {
        double d;
        bool is_off = is_float ? is_outside(amp_tensor_double(&got, i), amp_tensor_double(&want, i),
                                            tolerance, &d)
                               : amp_tensor_int(&got, i) != amp_tensor_int(&want, i);
        if (!is_off)
            continue;
        off++;
        d = distance(amp_tensor_double(&got, i), amp_tensor_double(&want, i));
        if (d > worst_distance) {
            worst_distance = d;
            worst = i;
        }
    }
    if (off == 0)
        return AMP_OK;
    return amp_fail(err, AMP_MISMATCH,
                    "%zu of %zu elements differ; the worst is element %zu: %.9g, expected %.9g",
                    off, count, worst, amp_tensor_double(&got, worst),
                    amp_tensor_double(&want, worst));
}

enum amp_status amp_tensor_compare(const struct amp_tensor *got, const struct amp_tensor *want,
                                   struct amp_tolerance tolerance, struct amp_error *err)
{
    char text_got[200], text_want[200];
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
