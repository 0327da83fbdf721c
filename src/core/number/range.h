#ifndef AMP_CORE_NUMBER_RANGE_H
#define AMP_CORE_NUMBER_RANGE_H

#include <stdint.h>

struct amp_tensor; /* core/tensor.h */

/* What the elements of a value of a float type have been like, over any number of tensors. All zero
   to start with; everything but the counts is about finite elements. */
struct amp_range {
    uint64_t count, nan, infinite;
    uint64_t zeros;
    double minimum, maximum;
    double smallest; /* magnitude that is not 0; 0: there is none */
    double energy;   /* the sum of squares */
    double flushed;  /* of that, what magnitudes add that float16 rounds to 0: up to 2^-25, half its
                        least (IEEE 754-2019, 3.6). bfloat16 has the exponents of float32 */
};

/* The largest magnitude seen; 0 when no element was finite. */
double amp_range_largest(const struct amp_range *range);

/* Adds the elements of TENSOR, row-major; nothing where it is of no float type. Elements of lists
   are added. */
void amp_range_add(struct amp_range *range, const struct amp_tensor *tensor);

/* Adds what OTHER has seen. */
void amp_range_merge(struct amp_range *range, const struct amp_range *other);

#endif
