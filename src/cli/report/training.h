#ifndef AMP_CLI_REPORT_TRAINING_H
#define AMP_CLI_REPORT_TRAINING_H

#include "cli/report/inputs.h"
#include "train/history.h"
#include "train/step_check.h"

/* What training did. */
struct amp_training_result {
    const char *model_path, *output; /* OUTPUT NULL: nothing was written */
    struct amp_train_history history;
    size_t n_variables; /* initializers that steps assign */
};

/* Prints a line about the steps; with VERBOSITY 2 also what they took. */
void amp_report_training(FILE *file, const struct amp_training_result *result, int verbosity);

/*
 * {"model", "output", "inputs": [...], "steps", "variables", "series": [{"name", "first", "last",
 * "values": [...]}, ...], "seconds", "peak_bytes"}: a new reference.
 */
json_t *amp_json_training(const struct amp_training_result *result,
                          const struct amp_input_notes *inputs);

/* Prints a line about a step of training before and after a conversion: what it came to, or that it
   could not be run, which FAILED says. */
void amp_report_step(FILE *file, const struct amp_step_check *check,
                     const struct amp_error *failed);

/* {"loss": {"reference", "converted"}, "variables", "cosine", "length", "skipped", "within"}, or
   {"obstacle"}, which FAILED says: a new reference. */
json_t *amp_json_step(const struct amp_step_check *check, const struct amp_error *failed);

/* A line of a log: {"step": 1, NAME: number, ...} of the last step. A new reference. */
json_t *amp_json_training_step(const struct amp_train_history *history);

#endif
