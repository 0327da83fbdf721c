/*
 * What the elements of a value are like: takes tensors, adds up magnitudes, energy and what is not
 * finite. Sums do not depend on the number of threads. It keeps no elements.
 */
#include "core/range.h"

#include "core/arena.h"
#include "core/convert.h"
#include "core/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 1024,      /* elements that are converted at a time */
    CHUNK = 64 * BLOCK /* elements that one thread adds up */
};

static const double flushes = 0x1p-25;

double amp_range_largest(const struct amp_range *range)
{
    return fmax(fabs(range->minimum), fabs(range->maximum));
}

static uint64_t n_finite(const struct amp_range *range)
{
    return range->count - range->nan - range->infinite;
}

void amp_range_merge(struct amp_range *range, const struct amp_range *other)
{
    if (n_finite(other) > 0) {
        bool is_first = n_finite(range) == 0;
        range->minimum = is_first ? other->minimum : fmin(range->minimum, other->minimum);
        range->maximum = is_first ? other->maximum : fmax(range->maximum, other->maximum);
    }
    if (other->smallest > 0 && (range->smallest == 0 || other->smallest < range->smallest))
        range->smallest = other->smallest;
    range->count += other->count;
    range->nan += other->nan;
    range->infinite += other->infinite;
    range->zeros += other->zeros;
    range->energy += other->energy;
    range->flushed += other->flushed;
}

static struct amp_range range_of(const double *items, size_t count)
{
    uint64_t nan = 0, infinite = 0, zeros = 0;
    double minimum = INFINITY, maximum = -INFINITY, smallest = INFINITY, energy = 0, flushed = 0;
#pragma omp simd reduction(+ : nan, infinite, zeros, energy, flushed) \
    reduction(min : minimum, smallest) reduction(max : maximum)
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(items[i]);
        bool is_finite = magnitude < INFINITY, is_zero = magnitude == 0;
        double square = is_finite ? magnitude * magnitude : 0;
        nan += isnan(items[i]);
        infinite += magnitude == INFINITY;
        zeros += is_zero;
        energy += square;
        flushed += magnitude <= flushes ? square : 0;
        double low = is_finite ? items[i] : INFINITY, high = is_finite ? items[i] : -INFINITY;
        double nonzero = is_finite && !is_zero ? magnitude : INFINITY;
        minimum = low < minimum ? low : minimum;
        maximum = high > maximum ? high : maximum;
        smallest = nonzero < smallest ? nonzero : smallest;
    }
    return (struct amp_range){
        count,  nan,    infinite, zeros, minimum, maximum, smallest < INFINITY ? smallest : 0,
        energy, flushed};
}

/* The range of elements FIRST to FIRST + COUNT - 1 of TENSOR. */
static struct amp_range range_of_part(const struct amp_tensor *tensor, size_t first, size_t count)
{
    double items[BLOCK];
    float singles[BLOCK];
    struct amp_range range = {.count = 0};
    size_t width = amp_dtype_bits(tensor->dtype) / 8;
    for (size_t i = first; i < first + count; i += BLOCK) {
        size_t n = first + count - i < BLOCK ? first + count - i : BLOCK;
        if (tensor->dtype == AMP_DOUBLE) {
            memcpy(items, (const double *)tensor->data + i, n * sizeof *items);
        } else {
            amp_dtype_convert(tensor->dtype, (const unsigned char *)tensor->data + i * width,
                              AMP_FLOAT, singles, n);
            for (size_t k = 0; k < n; k++)
                items[k] = (double)singles[k];
        }
        struct amp_range part = range_of(items, n);
        amp_range_merge(&range, &part);
    }
    return range;
}

static void add_elements(struct amp_range *range, const struct amp_tensor *tensor)
{
    size_t count = amp_tensor_count(tensor), n_chunks = (count + CHUNK - 1) / CHUNK;
    struct amp_range *parts = amp_xcalloc(n_chunks, sizeof *parts);
#pragma omp parallel for if (n_chunks > 1)
    for (size_t i = 0; i < n_chunks; i++) {
        size_t first = i * CHUNK;
        parts[i] = range_of_part(tensor, first, count - first < CHUNK ? count - first : CHUNK);
    }
    for (size_t i = 0; i < n_chunks; i++)
        amp_range_merge(range, &parts[i]);
    free(parts);
}

void amp_range_add(struct amp_range *range, const struct amp_tensor *tensor)
{
    if (amp_tensor_is_list(tensor)) {
        for (size_t i = 0; i < amp_tensor_count(tensor); i++)
            amp_range_add(range, &amp_list_items(tensor)[i]);
        return;
    }
    if (amp_dtype_is_autocast(tensor->dtype) || tensor->dtype == AMP_DOUBLE)
        add_elements(range, tensor);
}
