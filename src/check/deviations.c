/*
 * How errors are spread: adds the elements of an output to bins by the magnitude and sign of the
 * error, keeps some elements in equal distances and those of the largest errors. Takes memory that
 * does not grow with the elements.
 */
#include "check/deviations.h"

#include "check/elements.h"

#include <math.h>
#include <string.h>

/* Keeps every second point. */
static void thin_out(struct amp_deviations *d)
{
    for (size_t i = 0; 2 * i < d->n_points; i++)
        d->points[i] = d->points[2 * i];
    d->n_points = (d->n_points + 1) / 2;
    d->stride *= 2;
}

static void keep_point(struct amp_deviations *d, const struct amp_deviation_point *point)
{
    if (d->stride == 0)
        d->stride = 1;
    if (d->finite % d->stride != 0)
        return;
    if (d->n_points == AMP_DEVIATION_POINTS)
        thin_out(d);
    if (d->finite % d->stride == 0)
        d->points[d->n_points++] = *point;
}

static double size_of(const struct amp_deviation_point *point)
{
    return fabs(point->converted - point->reference);
}

static void keep_worst(struct amp_deviations *d, const struct amp_deviation_point *point)
{
    size_t at = d->n_worst;
    while (at > 0 && size_of(&d->worst[at - 1]) < size_of(point))
        at--;
    if (at == AMP_DEVIATION_WORST)
        return;
    size_t kept = d->n_worst < AMP_DEVIATION_WORST ? d->n_worst : AMP_DEVIATION_WORST - 1;
    memmove(&d->worst[at + 1], &d->worst[at], (kept - at) * sizeof d->worst[0]);
    d->worst[at] = *point;
    d->n_worst = kept + 1;
}

static void add_error(struct amp_deviations *d, double error)
{
    int exponent;
    if (error == 0) {
        d->equal++;
        return;
    }
    frexp(error, &exponent);
    int bin = exponent - 1 - AMP_DEVIATION_LEAST;
    bin = isinf(error) || bin >= AMP_DEVIATION_BINS ? AMP_DEVIATION_BINS - 1 : bin < 0 ? 0 : bin;
    d->bins[error > 0][bin]++;
}

static void add(struct amp_deviations *d, double reference, double converted)
{
    struct amp_deviation_point point = {
        .index = d->seen++, .reference = reference, .converted = converted};
    if (!isfinite(reference) || !isfinite(converted))
        return;
    add_error(d, converted - reference);
    keep_point(d, &point);
    if (reference != converted)
        keep_worst(d, &point);
    d->finite++;
}

static bool has_numbers(const struct amp_tensor *tensor)
{
    enum amp_dtype_class class = amp_dtype_class(tensor->dtype);
    return !amp_tensor_is_list(tensor) && (class == AMP_CLASS_FLOAT || class == AMP_CLASS_COMPLEX);
}

void amp_deviations_add(struct amp_deviations *deviations, const struct amp_tensor *reference,
                        const struct amp_tensor *converted)
{
    if (!has_numbers(reference) || !has_numbers(converted) ||
        !amp_shape_equal(&reference->shape, &converted->shape))
        return;
    size_t counts[2];
    struct amp_tensor a = amp_elements_real(reference, &counts[0]),
                      b = amp_elements_real(converted, &counts[1]);
    for (size_t i = 0; i < counts[0] && counts[0] == counts[1]; i++)
        add(deviations, amp_tensor_double(&a, i), amp_tensor_double(&b, i));
}
