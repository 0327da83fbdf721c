#ifndef AMP_AUTOCAST_FOLDED_H
#define AMP_AUTOCAST_FOLDED_H

#include "core/graph/graph.h"

struct amp_rules; /* autocast/rules/rule.h */

/*
 * Constants that were computed: what an optimizer folds keeps the name that torch.export gave the
 * operator's result, "linear_1" of aten.linear, while parameters and buffers have their own. Where
 * RULES lower the operator, PyTorch's result is of the lower dtype, and so is the constant when
 * dtypes are promoted.
 *
 * Returns per value of MODEL whether it is such a constant: to be freed.
 */
bool *amp_folded_find(const struct amp_model *model, const struct amp_rules *rules);

#endif
