#ifndef AMP_CORE_CONVERT_H
#define AMP_CORE_CONVERT_H

#include "core/dtype.h"

/* Conversion of arrays between float32, float16 and bfloat16: rounded to nearest, ties to even;
   what is beyond the range becomes an infinity (IEEE 754-2019, 4.3.1 and 7.4). */

/* Converts COUNT elements. FROM and TO may be unaligned and must not overlap. */
void amp_dtype_convert(enum amp_dtype from_dtype, const void *from, enum amp_dtype to_dtype,
                       void *to, size_t count);

/* Rounds COUNT floats, where they are, to values of DTYPE: float16 or bfloat16. */
void amp_dtype_round(enum amp_dtype dtype, float *values, size_t count);

/* What a conversion could not keep to within rounding: numbers of elements. */
struct amp_losses {
    size_t saturated; /* finite, rounded to an infinity: made the largest finite value instead */
    size_t zeroed;    /* not zero, rounded to zero */
    size_t subnormal; /* normal in the dtype they came from, subnormal in the other */
};

/* Converts COUNT elements of a constant: a finite element becomes the largest finite value of
   TO_DTYPE at most, an infinity stays one. Returns what was lost. FROM and TO may be unaligned and
   must not overlap. */
struct amp_losses amp_dtype_saturate(enum amp_dtype from_dtype, const void *from,
                                     enum amp_dtype to_dtype, void *to, size_t count);

#endif
