#ifndef AMP_CHECK_VALIDATE_H
#define AMP_CHECK_VALIDATE_H

#include "check/deviations.h"
#include "check/task/eval.h"
#include "check/task/labels.h"
#include "check/metric_bounds.h"
#include "check/selection.h"
#include "check/task/task_bounds.h"
#include "core/graph/graph.h"

/* Where the inputs of runs come from. The samples are numbered from 0. */
struct amp_source {
    size_t count; /* samples */
    /* Sets INPUTS, one per graph input of the model that the source was made for (the reference),
       in order; the caller releases them, also on failure. Data NULL: the initializer is taken. */
    enum amp_status (*load)(void *context, size_t sample, struct amp_tensor *inputs,
                            struct amp_error *err);
    void *context;
};

/* One output, over all samples. Index 0: reference, 1: converted. */
struct amp_output_check {
    const char *name;        /* the reference's */
    enum amp_dtype dtype[2]; /* of the last sample, as the shape */
    struct amp_shape shape;
    struct amp_metrics metrics;
    struct amp_deviations *deviations; /* NULL: not asked for; of a selected output of what the
                                          converted model gives where it gets the reference's
                                          selections */
    bool is_selected;                  /* it is behind selections that both models have */
    bool is_selected_otherwise; /* and these are not the same in all samples, or in another order */
    bool is_given; /* METRICS are of what the converted model gives where it gets the reference's
                      selections, and of how the selections differ: its own results are outside,
                      element by element */
    bool is_outside;
    char reason[256]; /* "snr 12.1 dB; at least 20 needed"; "" when within tolerance */
};

struct amp_validation {
    size_t samples;
    size_t n_outputs;
    struct amp_output_check *outputs;
    size_t widened[2]; /* nodes without a kernel for their dtype here: computed in float32 */
    size_t squeezed;   /* nodes of the reference, amp_session_squeezed */
    double seconds[2]; /* all runs of each model, with what the first one sets up */
    struct amp_metric_bounds bounds;
    struct amp_task_bounds task_bounds;
    size_t n_tasks; /* labelled outputs */
    struct amp_task *tasks;
    const struct amp_eval_check *eval; /* the caller's: what a command said; NULL: nothing */
    const char *step_reason; /* the caller's: why a step of training is outside; NULL: it is not */
    struct amp_selections selections; /* that both models have, and how they differ */
    bool is_within;
};

struct amp_session; /* run/exec/session.h */

/* One sample that both models run on. Index 0: reference, 1: converted. */
struct amp_pair_run {
    struct amp_session *sessions[2];
    const struct amp_tensor *inputs[2];
    struct amp_tensor *outputs[2]; /* as of amp_session_run */
    double *seconds[2];            /* what the runs take is added there */
};

/* Who runs both models on a sample: for those who look at what lies between inputs and outputs. */
struct amp_pair_runner {
    enum amp_status (*run)(void *context, const struct amp_pair_run *pair, struct amp_error *err);
    void *context;
};

struct amp_validate_options {
    struct amp_source source;
    struct amp_metric_bounds bounds;
    const struct amp_labels *labels; /* N_LABELS of them */
    size_t n_labels;
    struct amp_task_bounds task_bounds;
    bool keeps_deviations;         /* how errors are spread is wanted too */
    struct amp_pair_runner runner; /* RUN NULL: each model runs by amp_session_run */
    bool is_reference_known; /* RUNNER has the reference's outputs: it gets no session for that */
};

/*
 * Runs both models, whose types are inferred, on the same samples and measures the outputs. Inputs
 * and outputs go by name; an input that has another dtype in CONVERTED is cast. An output that is
 * outside its tolerance element by element, and for which the models selected otherwise, is judged
 * by how far the selections differ and by what CONVERTED, in one more run, makes of the
 * reference's. The models must stay while RESULT is used. AMP_MISMATCH with the first output that
 * is outside its tolerance: RESULT is complete with this and with AMP_OK. AMP_MODEL when the models
 * do not have the same inputs and outputs, or the labels do not fit or give no value that a bound
 * is on; otherwise what loading and running say.
 */
enum amp_status amp_validate(const struct amp_model *reference, const struct amp_model *converted,
                             const struct amp_validate_options *options,
                             struct amp_validation *result, struct amp_error *err);

/* Whether A is worse than B: outside its tolerance, of less quality (amp_metrics_quality), or, of
   the same, with more that is selected otherwise. */
bool amp_output_is_worse(const struct amp_output_check *a, const struct amp_output_check *b);

/* The worst of the outputs, of which there is one at least; the first of equals. */
const struct amp_output_check *amp_validation_worst(const struct amp_validation *validation);

/* The largest error of an output relative to its energy, which snr is of; infinite where elements
   are lost. */
double amp_validation_error_power(const struct amp_validation *validation);

/* A result of models that were not run: within tolerance, without bounds. */
struct amp_validation amp_validation_none(void);

/* Frees what RESULT holds; a zeroed one is fine. */
void amp_validation_free(struct amp_validation *result);

#endif
