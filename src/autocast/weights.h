#ifndef AMP_AUTOCAST_WEIGHTS_H
#define AMP_AUTOCAST_WEIGHTS_H

#include "core/graph/graph.h"

/* The range of constants, and constants in other float dtypes. */

/* The largest absolute value among the finite elements of a float32, float16 or bfloat16 tensor; 0
   when there is none. A tensor without data must be its source's without loss. */
double amp_weight_max(const struct amp_tensor *tensor);

/* Magnitudes up to this one become 0 in float16: half of its least (IEEE 754-2019, 3.6). */
#define AMP_WEIGHT_FLUSHES 0x1p-25

/* The share of the energy of such a tensor, the sum of the squares of its finite elements, that is
   in elements which become 0 in float16: 0 to 1; 0 where there is no energy. */
double amp_weight_flushed(const struct amp_tensor *tensor);

/* The most that amp_weight_flushed can be of COUNT elements of which the largest magnitude is MAX,
   above 0. */
double amp_weight_flushed_most(size_t count, double max);

/* TENSOR in DTYPE, both of float32, float16 and bfloat16: rounded to nearest even, what is finite
   to the largest finite value at most; NaN and infinities stay what they are. It counts its losses.
   The result lives in MODEL's arena. A large one has no data yet but TENSOR, whose data must be
   there, as its source. */
struct amp_tensor *amp_weight_convert(struct amp_model *model, const struct amp_tensor *tensor,
                                      enum amp_dtype dtype);

/* Whether a finite VALUE becomes an infinity when it is rounded to DTYPE. */
bool amp_weight_overflows(double value, enum amp_dtype dtype);

#endif
