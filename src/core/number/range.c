/*
 * What the elements of a value are like: takes tensors, adds up magnitudes, energy and what is not
 * finite. Sums do not depend on the number of threads. It keeps no elements.
 */
#include "core/number/range.h"

#include "core/arena.h"
#include "core/convert.h"
#include "core/simd.h"
#include "core/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 512,          /* elements that are converted at a time */
    CHUNK = 32 * BLOCK,   /* elements that one thread adds up */
    N_CHUNKS_PARALLEL = 4 /* fewer are not worth a team of threads */
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

/* Adds COUNT finite elements to RANGE; false: some are not finite, and none is added. */
AMP_CLONES(bool, add_finite, (struct amp_range * range, const double *items, size_t count),
           (range, items, count))
{
    double minimum = INFINITY, maximum = -INFINITY, smallest = INFINITY, energy = 0, flushed = 0;
    double zeros = 0, probe = 0;
#pragma omp simd reduction(+ : zeros, energy, flushed, probe) \
    reduction(min : minimum, smallest) reduction(max : maximum)
    for (size_t i = 0; i < count; i++) {
        double item = items[i], magnitude = fabs(item), square = item * item;
        double nonzero = magnitude > 0 ? magnitude : INFINITY;
        probe += item - item;
        zeros += magnitude > 0 ? 0 : 1;
        energy += square;
        flushed += magnitude <= flushes ? square : 0;
        minimum = item < minimum ? item : minimum;
        maximum = item > maximum ? item : maximum;
        smallest = nonzero < smallest ? nonzero : smallest;
    }
    if (probe != 0)
        return false;
    struct amp_range part = {.count = count,
                             .zeros = (uint64_t)zeros,
                             .minimum = minimum,
                             .maximum = maximum,
                             .smallest = smallest < INFINITY ? smallest : 0,
                             .energy = energy,
                             .flushed = flushed};
    amp_range_merge(range, &part);
    return true;
}

/* Adds COUNT elements, up to BLOCK, to RANGE, those that are not finite one by one. */
static void add_block(struct amp_range *range, const double *items, size_t count)
{
    double finite[BLOCK];
    size_t n = 0;
    if (add_finite(range, items, count))
        return;
    for (size_t i = 0; i < count; i++) {
        range->nan += isnan(items[i]);
        range->infinite += isinf(items[i]) != 0;
        if (isfinite(items[i]))
            finite[n++] = items[i];
    }
    range->count += count - n;
    if (n > 0)
        add_finite(range, finite, n);
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
            AMP_SIMD
            for (size_t k = 0; k < n; k++)
                items[k] = (double)singles[k];
        }
        add_block(&range, items, n);
    }
    return range;
}

static void add_elements(struct amp_range *range, const struct amp_tensor *tensor)
{
    size_t count = amp_tensor_count(tensor), n_chunks = (count + CHUNK - 1) / CHUNK;
    struct amp_range *parts = amp_xcalloc(n_chunks, sizeof *parts);
#pragma omp parallel for if (n_chunks >= N_CHUNKS_PARALLEL)
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
