#ifndef AMP_CHECK_COMPARE_H
#define AMP_CHECK_COMPARE_H

#include "core/tensor.h"

/* How near an element has to be: |got - want| <= atol + rtol * |want|, as for NumPy's
   assert_allclose; a NaN equals a NaN, an infinity an infinity of its sign. */
struct amp_tolerance {
    double rtol, atol;
};

/* What a result computed in DTYPE is held to: rtol 1e-3 and atol 1e-7 (onnx.backend.test.runner),
   more for types whose own rounding is coarser. */
struct amp_tolerance amp_tolerance_of(enum amp_dtype dtype);

/* AMP_MISMATCH unless dtypes, shapes and all elements agree (elements of non-float types exactly);
   the text names the first difference in type, or the worst element, its index and how many are
   off. Lists agree when they have as many elements and these agree. */
enum amp_status amp_tensor_compare(const struct amp_tensor *got, const struct amp_tensor *want,
                                   struct amp_tolerance tolerance, struct amp_error *err);

#endif
