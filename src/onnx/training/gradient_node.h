#ifndef AMP_ONNX_TRAINING_GRADIENT_NODE_H
#define AMP_ONNX_TRAINING_GRADIENT_NODE_H

#include "core/graph/graph.h"

/* Nodes that stand for gradients (ONNX, ai.onnx.preview.training, Gradient-1): attributes name the
   values that they are of, by and at. */

/* Whether NODE is such a node. */
bool amp_node_is_gradient(const struct amp_node *node);

/* Adds to *IDS the values of the main graph of MODEL that node ID names in xs and zs. */
void amp_gradient_add_points(const struct amp_model *model, uint32_t id, struct amp_ids *ids);

/* The value of the main graph of MODEL that node ID gives the gradients of; AMP_NONE: there is no
   value of that name. */
uint32_t amp_gradient_target(const struct amp_model *model, uint32_t id);

/* Has node ID give the gradients of VALUE. */
void amp_gradient_set_target(struct amp_model *model, uint32_t id, uint32_t value);

#endif
