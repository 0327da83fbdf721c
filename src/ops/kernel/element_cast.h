#ifndef AMP_OPS_KERNEL_ELEMENT_CAST_H
#define AMP_OPS_KERNEL_ELEMENT_CAST_H

#include "ops/elementwise/cast.h"

/* Whether DTYPE is one of numbers, bool with them, that are converted into each other: all but
   strings and complex ones. */
bool amp_is_number(enum amp_dtype dtype);

/* Converts COUNT numbers in the thread that calls, as amp_cast_tensor does. FROM and TO are aligned
   for their dtypes; those of less than a byte begin with one. OPTIONS are not read, and may be
   NULL, for float32, float64 and integers of a byte or more. */
void amp_numbers_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                         void *to, size_t count, const struct amp_cast_options *options);

#endif
