#ifndef AMP_ONNX_TRAINING_TRAINING_H
#define AMP_ONNX_TRAINING_TRAINING_H

#include "core/status.h"
#include "onnx/file/read.h"

/*
 * What a model says of its training (onnx.proto, TrainingInfoProto) while the model is converted.
 * A training step runs the main graph and the algorithm as one graph: the algorithm names values of
 * the main graph, and bindings assign its outputs, and those of the initialization, to
 * initializers. These keep name and dtype: what an initializer is lowered to is then cast in the
 * graph, as training changes it. The graphs of training_info follow to the opset of the model.
 *
 * The calls come in the order in which they stand here. NULL for TRAINING, which a model without
 * training_info has, is fine.
 */
struct amp_training;

/*
 * Before types are inferred: sets *TRAINING, and has the initializers of the model of FILE that
 * bindings assign to count as no constants. AMP_MODEL when a binding names what is not there.
 */
enum amp_status amp_training_open(struct amp_model_file *file, struct amp_training **training,
                                  struct amp_error *err);

/* Once types are inferred: reads the graphs, and makes outputs of the main graph of all values that
   they name. AMP_MODEL and AMP_UNSUPPORTED as for a model that is these graphs. */
enum amp_status amp_training_hold(struct amp_training *training, struct amp_error *err);

/* The highest opset, TARGET at most, that the graphs can be raised to; where it is below TARGET
 *OBSTACLE says why. */
int amp_training_opset(struct amp_training *training, int target, const char **obstacle);

/*
 * After all that changes the main graph: raises the graphs to its opset and takes back what
 * amp_training_open and amp_training_hold did to it. AMP_UNSUPPORTED when a value that they name is
 * another one than before.
 */
enum amp_status amp_training_release(struct amp_training *training, struct amp_error *err);

#endif
