#ifndef AMP_AUTOCAST_TRAINING_LOSS_H
#define AMP_AUTOCAST_TRAINING_LOSS_H

#include "core/graph/graph.h"
#include "core/status.h"

struct amp_assignment; /* autocast/assign.h */

/* Private to autocast/: AMP_UNSUPPORTED where MODEL, through which gradients are taken, has among
   the nodes that ASSIGNMENT decided on a loss whose gradients the lower dtype cannot hold and that
   no rule names. PyTorch raises an error for it in autocast's region (torch.amp, "Prefer
   binary_cross_entropy_with_logits over binary_cross_entropy"). */
enum amp_status amp_training_loss_check(const struct amp_model *model,
                                        const struct amp_assignment *assignment,
                                        struct amp_error *err);

#endif
