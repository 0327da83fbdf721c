#ifndef AMP_CHECK_ACCURACY_H
#define AMP_CHECK_ACCURACY_H

#include "core/tensor.h"

/* How many of the labelled rows of an output have their greatest score at the label. Zero but for
   the labels to start with. */
struct amp_accuracy {
    const struct amp_tensor *labels; /* integers, any shape; borrowed */
    uint64_t rows, right;            /* rows seen so far, and those with the label first */
};

/* Adds the rows of an output to ACCURACY, whose labels go row by row. AMP_MODEL when TENSOR does
   not look like class scores, or there are more rows than labels. */
enum amp_status amp_accuracy_add(struct amp_accuracy *accuracy, const struct amp_tensor *tensor,
                                 struct amp_error *err);

/* AMP_MODEL unless every label had its row. */
enum amp_status amp_accuracy_check(const struct amp_accuracy *accuracy, struct amp_error *err);

#endif
