#ifndef AMP_CLI_REPORT_RUN_H
#define AMP_CLI_REPORT_RUN_H

#include "check/deviations.h"
#include "check/elements.h"
#include "check/task/labels.h"
#include "check/metrics.h"
#include "cli/report/inputs.h"

/* One output, over all samples. */
struct amp_run_output {
    const char *name;
    enum amp_dtype dtype; /* AMP_UNDEFINED: elements of several types */
    enum amp_form form;   /* of the last sample, as its shape: of a list its length */
    struct amp_shape shape;
    struct amp_summary summary;
    size_t compared;                   /* samples that had an expected value for it */
    struct amp_metrics metrics;        /* of those; the expected value is the reference */
    struct amp_deviations *deviations; /* of those; NULL: not asked for */
};

/* What a run did: filled by the command, sample by sample. */
struct amp_run_result {
    const char *model_path;
    size_t samples;
    size_t n_outputs;
    struct amp_run_output *outputs;
    size_t compared;      /* expected tensors, all outputs and samples */
    const char *mismatch; /* the first difference beyond the tolerance; "": none */
    size_t n_tasks;       /* labelled outputs */
    struct amp_task *tasks;
    size_t widened;  /* nodes without a kernel for their dtype here */
    size_t squeezed; /* nodes, amp_session_squeezed */
    size_t integers; /* nodes, amp_session_integers */
    double seconds;  /* of the runs alone */
};

/* Prints the report; five outputs at most when VERBOSITY is 0. */
void amp_report_run(FILE *file, const struct amp_run_result *result, int verbosity);

/*
 * {"model", "inputs": [...], "samples", "outputs": [{"name", "type", "dtype", "shape", "elements",
 * "min", "max", "mean", "nan", "infinite", "metrics"}, ...], "expected": {"compared", "within",
 * "reason"}, "accuracy", "tasks", "widened_nodes", "squeezed_nodes", "integer_nodes", "seconds"}: a
 * new reference. "metrics" and "expected" where there were expected values, "accuracy" with labels
 * of classes, "tasks" with labels.
 */
json_t *amp_json_run(const struct amp_run_result *result, const struct amp_input_notes *inputs);

#endif
