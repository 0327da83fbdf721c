#ifndef AMP_PATTERN_CONSTANT_H
#define AMP_PATTERN_CONSTANT_H

#include "core/graph/graph.h"

/* Constants as patterns see them: weights with their data, and single numbers to four digits. */

/* The constant behind value ID of MODEL, also through up to three Cast, CastLike and Identity
   nodes; NULL when there is none or its data are not known. The model owns it. */
const struct amp_tensor *amp_pattern_constant(const struct amp_model *model, uint32_t id);

/* Whether CONSTANT holds floats or integers, as opposed to text, bools and complex numbers. */
bool amp_pattern_constant_is_numeric(const struct amp_tensor *constant);

/* Whether CONSTANT (NULL: no) is numeric and has one element, which goes to *NUMBER. */
bool amp_pattern_constant_number(const struct amp_tensor *constant, double *number);

/* Whether CONSTANT (NULL: no) is one number that is near EXPECTED. */
bool amp_pattern_constant_equals(const struct amp_tensor *constant, double expected);

/* Whether NUMBER, stored as DTYPE, equals EXPECTED to four digits, or to those that DTYPE has where
   it has fewer (float16, bfloat16). */
bool amp_pattern_is_near(double number, double expected, enum amp_dtype dtype);

/* Whether NUMBER, stored as DTYPE, is an epsilon: above 0 and at most 0.1. A float16 may also be 0,
   as small epsilons become when they are rounded to it. */
bool amp_pattern_is_eps(double number, enum amp_dtype dtype);

#endif
