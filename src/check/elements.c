/*
 * The elements of a tensor as comparing and measuring see them: complex numbers as two real ones,
 * strings by their bytes; and what they are like: the least, the greatest and the mean of them, and
 * how many are NaN or infinite. Takes tensors, changes and copies nothing.
 */
#include "check/elements.h"

#include <math.h>
#include <string.h>

struct amp_tensor amp_elements_real(const struct amp_tensor *tensor, size_t *count)
{
    struct amp_tensor view = *tensor;
    *count = amp_tensor_count(tensor);
    if (amp_dtype_class(tensor->dtype) == AMP_CLASS_COMPLEX) {
        view.dtype = tensor->dtype == AMP_COMPLEX64 ? AMP_FLOAT : AMP_DOUBLE;
        *count *= 2;
    }
    return view;
}

bool amp_elements_equal_strings(const struct amp_tensor *a, const struct amp_tensor *b, size_t i)
{
    const struct amp_str *x = (const struct amp_str *)a->data + i;
    const struct amp_str *y = (const struct amp_str *)b->data + i;
    return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

static void add_finite(struct amp_summary *summary, double value)
{
    bool is_first = summary->finite++ == 0;
    summary->minimum = is_first ? value : fmin(summary->minimum, value);
    summary->maximum = is_first ? value : fmax(summary->maximum, value);
    summary->sum += value;
}

void amp_summary_add(struct amp_summary *summary, const struct amp_tensor *tensor)
{
    size_t count;
    for (size_t i = 0; amp_tensor_is_list(tensor) && i < amp_tensor_count(tensor); i++)
        amp_summary_add(summary, &amp_list_items(tensor)[i]);
    if (amp_tensor_is_list(tensor))
        return;
    struct amp_tensor numbers = amp_elements_real(tensor, &count);
    summary->count += count;
    for (size_t i = 0; i < count && tensor->dtype != AMP_STRING; i++) {
        double value = amp_tensor_double(&numbers, i);
        summary->nan += isnan(value);
        summary->infinite += isinf(value) != 0;
        if (isfinite(value))
            add_finite(summary, value);
    }
}
