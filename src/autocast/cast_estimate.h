#ifndef AMP_AUTOCAST_CAST_ESTIMATE_H
#define AMP_AUTOCAST_CAST_ESTIMATE_H

#include "autocast/assign.h"

/* Whether carrying ASSIGNMENT out gives any value of MODEL another dtype. */
bool amp_assignment_changes(const struct amp_model *model, const struct amp_assignment *assignment);

/* How many Cast nodes it takes to carry ASSIGNMENT out, before any are folded: one for each dtype
   that a value which is no constant is wanted in. */
size_t amp_assignment_casts(const struct amp_model *model, const struct amp_assignment *assignment);

/* The same if constants followed, whatever the rules of OPTIONS say; as amp_assign fails. */
enum amp_status amp_assignment_casts_following(const struct amp_model *model,
                                               const struct amp_assign_options *options,
                                               size_t *count, struct amp_error *err);

#endif
