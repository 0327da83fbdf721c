#ifndef AMP_TRAIN_STEP_CHECK_H
#define AMP_TRAIN_STEP_CHECK_H

#include "core/status.h"
#include "train/history.h"

#include <stdbool.h>
#include <stdint.h>

struct amp_model;
struct amp_model_file;
struct amp_tensor;

/* One step of training of two models from the same initializers on the same sample. Index 0:
   reference, 1: converted. */
struct amp_step_check {
    struct amp_train_history history[2]; /* of one step */
    size_t n_variables;                  /* float initializers that the reference's step assigns */
    /* Of what the step adds to all of their elements, as one vector: the cosine between both, and
       how long the converted model's is where the reference's is 1; NaN where either is 0. */
    double cosine, length;
    bool is_skipped; /* the converted model's gradients are not finite, and its scaler knows */
    bool is_outside; /* they, or its loss, are not finite without that, while the reference's are */
};

struct amp_step_sample {
    const struct amp_model *model;    /* whose graph inputs TENSORS are of */
    const struct amp_tensor *tensors; /* data NULL: none */
    uint64_t seed;                    /* of what they do not supply */
};

/*
 * Runs a step of the algorithm of each of FILES, which must outlive CHECK, on SAMPLE; inputs of the
 * algorithm's own are random. The converted model begins with the reference's initializers. Fails
 * as amp_trainer_open, amp_random_input_plan and running do. CHECK is to be freed in any case.
 */
enum amp_status amp_step_check_run(const struct amp_model_file *const files[2],
                                   const struct amp_step_sample *sample,
                                   struct amp_step_check *check, struct amp_error *err);
void amp_step_check_free(struct amp_step_check *check);

#endif
