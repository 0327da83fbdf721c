/*
 * What the elements of an output are like: takes tensors, adds up the least, the greatest and the
 * mean element, and how many are NaN or infinite.
 */
#include "check/summary.h"

#include "check/elements.h"

#include <math.h>

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
