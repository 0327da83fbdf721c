#ifndef AMP_CLI_REPORT_RUNS_ON_H
#define AMP_CLI_REPORT_RUNS_ON_H

#include "autocast/runtimes/runtime.h"

#include <stdio.h>

#include <jansson.h>

/* An operator that a runtime lacks in a dtype. */
struct amp_lacked_op {
    const char *op;
    enum amp_dtype dtype;
};

/* Such operators, each once, in the order in which they came; the first ones have names. */
struct amp_lacked_ops {
    struct amp_lacked_op items[256];
    size_t count; /* that are held */
};

/* Adds OP in DTYPE unless it is there. */
void amp_lacked_ops_add(struct amp_lacked_ops *ops, const char *op, enum amp_dtype dtype);

/* "bfloat16 Conv, Gemm, Relu, 2 more" */
void amp_lacked_ops_print(FILE *file, const struct amp_lacked_ops *ops);

/* What keeps a model from a runtime. */
struct amp_runtime_gap {
    struct amp_lacked_ops ops;
    int opset;       /* the model's, where that is newer than the runtime reads; 0: it is not */
    bool is_too_new; /* it was so before it was converted: nothing else is said of it */
};

/* Where a model can run, by the runtimes' tables. */
struct amp_runs_on {
    bool is_known;
    struct amp_runtime_gap gaps[AMP_RUNTIME_COUNT]; /* as amp_runtime_at has them */
};

/* Finds where the converted MODEL can run; OPSET_BEFORE is that which it came with. */
void amp_runs_on_find(struct amp_runs_on *runs_on, const struct amp_model *model,
                      int64_t opset_before);

/* "ampconv, OpenVINO 2025; not ONNX Runtime 1.21 CPU (no bfloat16 Conv)": to be freed. NULL where
   there is nothing to say: it can run everywhere. */
char *amp_runs_on_text(const struct amp_runs_on *runs_on);

/* Prints that as a line of the report, or nothing. */
void amp_report_runs_on(FILE *file, const struct amp_runs_on *runs_on);

/* {"ort-cpu": {"runs": false, "lacks": [{"op": "Conv", "dtype": "bfloat16"}], "opset": null}, ...};
   a new reference. NULL, as JSON has it, where it is not known. */
json_t *amp_json_runs_on(const struct amp_runs_on *runs_on);

#endif
