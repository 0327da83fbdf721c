#ifndef AMP_CHECK_SUMMARY_H
#define AMP_CHECK_SUMMARY_H

#include "core/tensor.h"

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
