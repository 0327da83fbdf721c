#ifndef AMP_AUTOCAST_CAST_INSERT_H
#define AMP_AUTOCAST_CAST_INSERT_H

#include "autocast/assign.h"

/*
 * Carries ASSIGNMENT out on MODEL: gives values their new dtypes, Cast nodes to inputs that need
 * another one (one per value and dtype, shared by all consumers of all graphs), offline conversions
 * to constants, and casts to graph outputs, which keep their names and, unless the assignment has
 * them in its interface, their dtypes. Sorts the nodes. Constants that nothing uses any more are
 * dropped. The number of Cast nodes added goes to *N_CASTS.
 */
enum amp_status amp_cast_insert(struct amp_model *model, const struct amp_assignment *assignment,
                                size_t *n_casts, struct amp_error *err);

#endif
