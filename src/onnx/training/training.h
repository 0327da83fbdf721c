#ifndef AMP_ONNX_TRAINING_TRAINING_H
#define AMP_ONNX_TRAINING_TRAINING_H

#include "core/status.h"
#include "onnx/file/read.h"

struct amp_grad_scaler; /* onnx/training/scaler.h */

/*
 * What a model says of its training (onnx.proto, TrainingInfoProto) while the model is converted.
 * A training step runs the main graph and the algorithm as one graph: the algorithm names values of
 * the main graph, and bindings assign its outputs, and those of the initialization, to
 * initializers. These keep name and dtype: what an initializer is lowered to is then cast in the
 * graph, as training changes it. The graphs of training_info follow to the opset of the model.
 *
 * The calls come in the order in which they stand here. NULL for TRAINING, which a model without
 * training_info and without gradients has, is fine.
 */
struct amp_training;

/*
 * Before types are inferred: sets *TRAINING, and has the initializers of the model of FILE that
 * bindings assign to, or that gradients are taken by, count as no constants. AMP_MODEL when a
 * binding names what is not there.
 */
enum amp_status amp_training_open(struct amp_model_file *file, struct amp_training **training,
                                  struct amp_error *err);

/* Once types are inferred: reads the graphs, and makes outputs of the main graph of all values that
   they name. AMP_MODEL and AMP_UNSUPPORTED as for a model that is these graphs. */
enum amp_status amp_training_hold(struct amp_training *training, struct amp_error *err);

/* The highest opset, TARGET at most, that the graphs can be raised to; where it is below TARGET
 *OBSTACLE says why. */
int amp_training_opset(struct amp_training *training, int target, const char **obstacle);

/* The algorithms, as models whose inputs are those of the algorithm and what it names of the main
   graph: there are as many; once amp_training_hold has read them. What changes one is written where
   amp_training_note_change was called. */
size_t amp_training_algorithm_count(const struct amp_training *training);
struct amp_model *amp_training_algorithm(struct amp_training *training, size_t index);
void amp_training_note_change(struct amp_training *training, size_t index);

/* Whether there are gradients, in the main graph or in training_info. */
bool amp_training_has_gradient(const struct amp_training *training);

/* The values of the main graph that gradients are taken of, by and at. */
struct amp_ids amp_training_points(const struct amp_training *training);

/* Adds gradient scaling to all algorithms that hold gradients and have none; *N_SCALED gets their
   number. AMP_UNSUPPORTED as amp_grad_scaler_add. */
enum amp_status amp_training_scale(struct amp_training *training,
                                   const struct amp_grad_scaler *scaler, size_t *n_scaled,
                                   struct amp_error *err);

/* Raises the graphs to the opset of the main one. */
enum amp_status amp_training_raise(struct amp_training *training, struct amp_error *err);

/*
 * After all that changes the main graph: raises the graphs to its opset and takes back what
 * amp_training_open and amp_training_hold did to it. AMP_UNSUPPORTED when a value that they name is
 * another one than before.
 */
enum amp_status amp_training_release(struct amp_training *training, struct amp_error *err);

#endif
