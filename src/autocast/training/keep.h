#ifndef AMP_AUTOCAST_TRAINING_KEEP_H
#define AMP_AUTOCAST_TRAINING_KEEP_H

#include "core/graph/graph.h"

/* Private to autocast/: what of a training graph is none of autocast's. */

/* What a model is to training_info. */
struct amp_training_role {
    bool is_trained;   /* gradients are taken through it, whether it holds nodes for that or not */
    bool is_algorithm; /* it is the algorithm or the initialization */
    struct amp_ids points; /* values that gradients are taken by or at elsewhere */
};

/*
 * The nodes of MODEL that keep their types in training: Gradient nodes, whatever comes after them
 * and nothing before a loss (optimizers, accumulation, what unscales), and what gives the inner
 * values that they differentiate by or at, which must be what graphs name. Of an algorithm or
 * initialization, all but what a loss is computed from. As PyTorch has autocast around the forward
 * pass and the loss alone (torch.amp, "Autocasting"). Returns a flag per node id, in MODEL's arena;
 * NULL: none, there is no gradient.
 */
const bool *amp_training_keep(const struct amp_model *model, const struct amp_training_role *role);

#endif
