#ifndef AMP_CLI_CONVERT_TRIAL_H
#define AMP_CLI_CONVERT_TRIAL_H

#include "check/layers.h"
#include "check/noise.h"
#include "cli/convert/job.h"
#include "cli/report/inputs.h"
#include "train/step_check.h"

/* Private to cli/convert: the model as it was read and the converted one, as they run, and what
   came of it. */
struct amp_convert_trial {
    struct amp_model_file reference; /* the model as it was read */
    struct amp_convert_job twin;     /* the converted one */
    struct amp_input_notes notes;
    struct amp_validation validation;
    struct amp_layers layers;    /* where a page is to show them */
    struct amp_noise noise;      /* where asked for, and where a page is to show it */
    struct amp_step_check step;  /* of a model with training_info */
    struct amp_error step_error; /* why it could not be run */
    bool has_models, is_measured, has_layers, has_noise, has_step;
};

/* Runs both models of JOB, has the user's command judge them, and reports what came of it: what of
   that the user wants. AMP_MISMATCH, of which VERDICT has the text, when the converted model is not
   good enough; what else keeps them from being tried is in VERDICT too. */
enum amp_status amp_convert_trial_run(struct amp_convert_job *job, struct amp_convert_trial *trial,
                                      struct amp_error *verdict);

/* Finds where the error of the converted model comes from. A page does without it where it cannot
   be found; what was asked for alone fails, as amp_noise_search does. */
enum amp_status amp_convert_trial_find_noise(struct amp_convert_job *job,
                                             struct amp_convert_trial *trial);

void amp_convert_trial_free(struct amp_convert_trial *trial);

#endif
