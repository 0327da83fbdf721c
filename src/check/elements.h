#ifndef AMP_CHECK_ELEMENTS_H
#define AMP_CHECK_ELEMENTS_H

#include "core/tensor.h"

/* The elements of TENSOR as real numbers, *COUNT of them: a complex tensor becomes a real one of
   twice the elements, any other stays as it is. The data remain TENSOR's; the shape is not
   changed. */
struct amp_tensor amp_elements_real(const struct amp_tensor *tensor, size_t *count);

/* Whether elements I of two string tensors are equal. */
bool amp_elements_equal_strings(const struct amp_tensor *a, const struct amp_tensor *b, size_t i);

/* What the elements of one tensor, or of one output over all samples, are like. All zero to start
   with; the numbers are those of the elements, of complex ones the two parts. */
struct amp_summary {
    uint64_t count;  /* elements; a complex one is two */
    uint64_t finite; /* of those, finite; what minimum, maximum and sum are over */
    uint64_t nan, infinite;
    double minimum, maximum, sum;
};

/* Adds the elements of TENSOR; of strings, only their number. */
void amp_summary_add(struct amp_summary *summary, const struct amp_tensor *tensor);

#endif
