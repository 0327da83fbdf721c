#ifndef AMP_AUTOCAST_QDQ_H
#define AMP_AUTOCAST_QDQ_H

#include "core/graph/graph.h"

struct amp_uses; /* core/graph/uses.h */

/* Whether NODE is an integer operator written in floats: all its float inputs come from
   DequantizeLinear, all its outputs go to QuantizeLinear. Runtimes compute such a node in integers
   when they find it so; casts in between would keep them from it. USES are the model's. */
bool amp_qdq_holds(const struct amp_model *model, const struct amp_uses *uses,
                   const struct amp_node *node);

#endif
