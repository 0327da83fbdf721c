#ifndef AMP_CLI_REPORT_TRAINING_H
#define AMP_CLI_REPORT_TRAINING_H

#include "cli/report/inputs.h"
#include "train/history.h"

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

/* A line of a log: {"step": 1, NAME: number, ...} of the last step. A new reference. */
json_t *amp_json_training_step(const struct amp_train_history *history);

#endif
