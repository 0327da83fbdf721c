#ifndef AMP_TRAIN_EXPAND_H
#define AMP_TRAIN_EXPAND_H

#include "train/trainer.h"

/*
 * Makes the step of TRAINER a model of plain operators, in *MODEL, which lives as long as FILE: its
 * inputs are those of the step and the variables, whose defaults are their values now; its outputs
 * those of the step (amp_training_step). Derivatives and optimizers are nodes of ai.onnx, for which
 * the opset is raised to 18 where it is below. TRAINER cannot run any more. AMP_UNSUPPORTED where
 * a node cannot follow to the opset, or has no derivative; AMP_MODEL as amp_training_step_store.
 */
enum amp_status amp_training_expand(struct amp_trainer *trainer, const struct amp_model_file *file,
                                    struct amp_model **model, struct amp_error *err);

#endif
