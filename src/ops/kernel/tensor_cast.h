#ifndef AMP_OPS_KERNEL_TENSOR_CAST_H
#define AMP_OPS_KERNEL_TENSOR_CAST_H

#include "core/tensor.h"
#include "ops/kernel/element_cast.h"

/* Sets the elements of TO, which has dtype, the shape of FROM and memory of its own; OPTIONS may be
   NULL: those of Cast's defaults. AMP_MODEL for a string that is not a number. */
enum amp_status amp_tensor_cast(const struct amp_tensor *from, struct amp_tensor *to,
                                const struct amp_cast_options *options, struct amp_error *err);

/* Makes *TO a tensor of DTYPE with the values of FROM, which may be a list: its elements are cast;
   it may share FROM's data. The caller releases it, unless this fails. */
enum amp_status amp_tensor_cast_copy(const struct amp_tensor *from, enum amp_dtype dtype,
                                     struct amp_tensor *to, struct amp_error *err);

#endif
