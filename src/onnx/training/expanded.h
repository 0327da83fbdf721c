#ifndef AMP_ONNX_TRAINING_EXPANDED_H
#define AMP_ONNX_TRAINING_EXPANDED_H

#include "onnx/training/step.h"

enum { AMP_TRAINING_EXPANDED_OPSET = 18 /* that derivatives are written in, at least */ };

/*
 * Makes the message behind MODEL, which came of the model of STEP and has no operator of training
 * any more, one that can be written by itself: inputs and outputs are those of the graph, where an
 * input that is a variable has its value as a default, only the opsets that nodes are of are
 * imported, and an entry of metadata_props, "update_binding.W", names for each variable W the
 * output that it becomes. What amp_training_step_store did counts.
 */
void amp_training_expanded_finish(struct amp_model *model, const struct amp_training_step *step);

#endif
