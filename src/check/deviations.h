#ifndef AMP_CHECK_DEVIATIONS_H
#define AMP_CHECK_DEVIATIONS_H

#include "core/tensor.h"

/*
 * How the errors of one output are spread, over any number of samples, for pictures of them: what a
 * few numbers (check/metrics.h) do not tell. An error is converted - reference, of elements that
 * are finite in both. All zero to start with.
 */
enum {
    AMP_DEVIATION_LEAST = -160, /* exponent of the first bin */
    AMP_DEVIATION_BINS = 300,
    AMP_DEVIATION_POINTS = 2000, /* the most that are kept */
    AMP_DEVIATION_WORST = 8
};

struct amp_deviation_point {
    uint64_t index; /* of the element, counted over all samples */
    double reference, converted;
};

struct amp_deviations {
    uint64_t finite, equal; /* elements finite in both; of those, without an error */
    /* Errors of a magnitude in [2^e, 2^(e + 1)) at e - AMP_DEVIATION_LEAST, what is beyond at the
       ends. Index 0: converted is less than the reference, 1: it is more. */
    uint64_t bins[2][AMP_DEVIATION_BINS];
    /* Every STRIDE-th of the finite elements. */
    struct amp_deviation_point points[AMP_DEVIATION_POINTS];
    size_t n_points;
    uint64_t stride;
    /* The largest errors, the largest first, of equals the first. */
    struct amp_deviation_point worst[AMP_DEVIATION_WORST];
    size_t n_worst;
    uint64_t seen; /* elements so far, finite or not */
};

/* Adds the elements of two tensors of one shape; nothing where they are of no float types, or of
   different shapes. Elements of lists are left out, complex ones count as two. */
void amp_deviations_add(struct amp_deviations *deviations, const struct amp_tensor *reference,
                        const struct amp_tensor *converted);

#endif
