#ifndef AMP_CLI_REPORT_CONVERSION_H
#define AMP_CLI_REPORT_CONVERSION_H

#include "autocast/assign.h"
#include "autocast/cast_insert.h"

#include "cli/report/runs_on.h"

#include <stdio.h>

#include <jansson.h>

/* A node that stays float32 although a rule wants it lower, or its inputs do where it follows them.
 */
struct amp_refusal {
    const char *node;  /* as amp_node_text has it, before casts were inserted */
    const char *value; /* the constant or value that is the reason; NULL: there is none */
    enum amp_reason reason;
    const char *lacked;                /* the operator that it lacks */
    const struct amp_runtime *runtime; /* that lacks it; NULL: none */
    double number; /* that the value comes to; 0: it is a constant out of range */
    enum amp_range_source seen;
};

/* What a conversion did: filled by the command, stage by stage. */
struct amp_conversion {
    const char *model_path, *output_path; /* "stdin" and "stdout" for - */
    const char *const *rule_names;
    size_t n_rule_names;
    enum amp_dtype lower, second; /* second: AMP_UNDEFINED: there is none */
    bool keeps_types;             /* only the opset was raised */
    int64_t opset_before, opset_after;
    const char *opset_obstacle; /* what kept the opset from being raised further; NULL: nothing */
    const struct amp_ranges *ranges; /* that guards went by; NULL: none */
    const char *ranges_obstacle;     /* what kept values from being seen; NULL: nothing */
    struct amp_assignment assignment;
    size_t n_reason[AMP_REASON_COUNT];   /* nodes of the model by reason */
    size_t n_precision[AMP_DTYPE_COUNT]; /* float nodes by the dtype they run in */
    size_t n_other;                      /* nodes that keep their types */
    struct amp_refusal *refusals;
    size_t n_refused, n_refused_for[AMP_REASON_COUNT];
    struct amp_runs_on runs_on;
    size_t n_interface;              /* graph inputs and outputs that got the lower dtype */
    struct amp_inserted_casts casts; /* of which some may be folded */
    size_t casts_before, casts_folded, casts_after;
    size_t casts_of_constants; /* of the inserted: those that `constants: follow` would save */
    size_t bytes_before, bytes_after; /* of the models' files, those of external data included */
    const char *data_path;            /* the output's external data; NULL: none */
    bool was_unsorted;
    size_t n_training_lowered; /* nodes of training_info that have a lower dtype */
    double loss_scale;         /* of the first step; 0: no scaler was added */
};

/* Notes the nodes that stay float32 against the rules, in MODEL's arena. Takes the model as it was
   when the assignment was made. */
void amp_conversion_note_refusals(struct amp_conversion *conversion, const struct amp_model *model);

/* Counts the nodes of the converted MODEL by precision and reason, and finds where it can run. */
void amp_conversion_count(struct amp_conversion *conversion, const struct amp_model *model);

/* "bfloat16", or "bfloat16 and float16" where there is a second dtype. */
const char *amp_conversion_dtypes(const struct amp_conversion *conversion);

/* Prints the report without that of the validation, at most seven lines when VERBOSITY is 0. */
void amp_report_conversion(FILE *file, const struct amp_conversion *conversion, int verbosity);

/* A report with {"model", "output", "written", "dtype", "rules", "opset", "ranges", "nodes",
   "reasons", "refused", "runs_on", "interface", "casts", "bytes", "sorted"}: a new reference.
   IS_WRITTEN: the model was not held back by the validation. */
json_t *amp_json_conversion(const struct amp_conversion *conversion, bool is_written);

#endif
