/*
 * Losses that cannot be trained in a lower dtype: takes a model and what was decided on it, refuses
 * what PyTorch refuses. A cast of the loss's input does not help, as it is reversed on the way
 * back.
 */
#include "autocast/training/loss.h"

#include "autocast/assign.h"
#include "autocast/wholes.h"

#include <string.h>

/* Its gradient is a quotient by x (1 - x), and so has no bound where x, a probability, nears 0
 * or 1. */
static const char refused[] = "binary_cross_entropy", better[] = "binary_cross_entropy_with_logits";

enum amp_status amp_training_loss_check(const struct amp_model *model,
                                        const struct amp_assignment *assignment,
                                        struct amp_error *err)
{
    for (size_t i = 0; i < assignment->wholes->count; i++) {
        const struct amp_whole *whole = &assignment->wholes->items[i];
        const struct amp_decision *decision = &assignment->nodes[whole->root];
        char text[512];
        if (strcmp(whole->name, refused) == 0 && decision->rule == NULL &&
            decision->reason != AMP_REASON_TRAINING)
            return amp_fail(err, AMP_UNSUPPORTED,
                            "%s: %s: %s has gradients that %s cannot hold, and no rule names it: "
                            "use %s, without the Sigmoid, or keep it by --op %s=fp32",
                            model->path, amp_node_text(model, whole->root, text, sizeof text),
                            refused, amp_dtype_name(assignment->lower), better, refused);
    }
    return AMP_OK;
}
