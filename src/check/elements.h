#ifndef AMP_CHECK_ELEMENTS_H
#define AMP_CHECK_ELEMENTS_H

#include "core/tensor.h"

/* The elements of TENSOR as real numbers, *COUNT of them: a complex tensor becomes a real one of
   twice the elements, any other stays as it is. The data remain TENSOR's; the shape is not
   changed. */
struct amp_tensor amp_elements_real(const struct amp_tensor *tensor, size_t *count);

/* Whether elements I of two string tensors are equal. */
bool amp_elements_equal_strings(const struct amp_tensor *a, const struct amp_tensor *b, size_t i);

#endif
