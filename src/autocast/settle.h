#ifndef AMP_AUTOCAST_SETTLE_H
#define AMP_AUTOCAST_SETTLE_H

#include "autocast/assign.h"

/*
 * Decides on the nodes of MODEL as amp_assign does with OPTIONS, and raises the model to the lowest
 * opset that the lowered nodes need and the others can follow to. What keeps it back lowers the cap
 * until both agree; *OBSTACLE then says what that is, in the model's arena, and is left alone
 * otherwise. The decisions are about the nodes as they were before.
 */
enum amp_status amp_settle(struct amp_model *model, struct amp_assign_options options,
                           struct amp_assignment *assignment, const char **obstacle,
                           struct amp_error *err);

#endif
