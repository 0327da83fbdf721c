/*
 * The elements of a tensor as comparing and measuring see them: complex numbers as two real ones,
 * strings by their bytes. Takes tensors, changes and copies nothing.
 */
#include "check/elements.h"

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
