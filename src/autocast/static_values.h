#ifndef AMP_AUTOCAST_STATIC_VALUES_H
#define AMP_AUTOCAST_STATIC_VALUES_H

#include "autocast/guard.h"
#include "core/dtype.h"

#include <stdint.h>

struct amp_model; /* core/graph/graph.h */

/*
 * Static values, those that depend on constants alone, and which of them may hold what the lower
 * dtype cannot. Origins of such values are constants and what ConstantOfShape gives.
 */
struct amp_static_values;

/* Nothing but MODEL's constants is static yet. LIMIT is the largest magnitude that LOWER takes.
   MODEL must outlive it, with its constants as they are. */
struct amp_static_values *amp_static_values_create(const struct amp_model *model,
                                                   enum amp_dtype lower, double limit);
void amp_static_values_destroy(struct amp_static_values *values); /* NULL is fine */

/* Looks at NODE, after the nodes whose outputs it takes: what it makes of static values alone is
   static. */
void amp_static_values_add(struct amp_static_values *values, const struct amp_node *node);

/* Whether VALUE is static. */
bool amp_static_values_has(const struct amp_static_values *values, uint32_t value);

/* Whether VALUE's data are constants', moved or repeated, whatever its shape depends on. */
bool amp_static_values_has_data(const struct amp_static_values *values, uint32_t value);

/* Whether all inputs of NODE are static, and it gives the same in every run. */
bool amp_static_values_has_node(const struct amp_static_values *values,
                                const struct amp_node *node);

/* The largest magnitude of VALUE's own data, which a constant of a float type has; below 0: VALUE
   is none. */
double amp_static_values_max(const struct amp_static_values *values, uint32_t value);

/* The share of the energy of VALUE, or of the constant whose elements were moved to make it, that
   becomes 0 in float16 (amp_weight_flushed); 0 where it is certain to be MOST or less, which takes
   no look at the data as a rule, and where nobody knows the elements. */
double amp_static_values_flushed(const struct amp_static_values *values, uint32_t value,
                                 double most);

/* The value whose data, beyond the lower dtype's range, reach VALUE: itself, or what VALUE is made
   from. AMP_NONE: there is none. What is computed counts only where its origin is so large
   (AMP_GUARD_HUGE) that results are likely to be. */
uint32_t amp_static_values_origin(const struct amp_static_values *values, uint32_t value);

/* Whether the values beyond the range among VALUE, which has an origin, are guards where they are
   put to USE. False when they are computed, as nobody knows them then. */
bool amp_static_values_is_guard(struct amp_static_values *values, uint32_t value,
                                enum amp_guard_use use);

#endif
