#ifndef AMP_AUTOCAST_TRAINING_LOWER_H
#define AMP_AUTOCAST_TRAINING_LOWER_H

#include "autocast/assign.h"

struct amp_training; /* onnx/training/training.h */

/* What training makes of the main graph. NULL: nothing. */
struct amp_training_role amp_training_role_of_main(const struct amp_training *training);

/* The highest opset that the losses of TRAINING need to have what OPTIONS want, the cap at most:
   that of the main graph at least. Fails as amp_settle does. */
enum amp_status amp_training_settle(struct amp_training *training,
                                    const struct amp_assign_options *options, int *opset,
                                    struct amp_error *err);

/* Decides on what losses are computed from in the algorithms of TRAINING, which have the opset of
   the main graph, and casts it as amp_cast_insert does for that; *N_LOWERED gets the number of
   nodes that have a lower dtype then. What gradients are taken of, by and at keeps its name and
   dtype. */
enum amp_status amp_training_lower(struct amp_training *training,
                                   const struct amp_assign_options *options, bool is_shared,
                                   size_t *n_lowered, struct amp_error *err);

#endif
