#ifndef AMP_CLI_CONVERT_JOB_H
#define AMP_CLI_CONVERT_JOB_H

#include "cli/options/options.h"
#include "cli/options/target.h"
#include "cli/report/conversion.h"
#include "cli/report/explanation.h"
#include "check/task/eval.h"
#include "onnx/file/read.h"
#include "tune/tuning.h"

struct amp_placement; /* onnx/file/placement.h */
struct amp_ranges;    /* autocast/ranges/ranges.h */
struct amp_rules;     /* autocast/rules/rule.h */
struct amp_training;  /* onnx/training/training.h */

/* The stages after which the graph can be printed. */
enum amp_convert_stage {
    AMP_STAGE_READ,
    AMP_STAGE_INFER,
    AMP_STAGE_OPSET,
    AMP_STAGE_ASSIGN,
    AMP_STAGE_INSERT,
    AMP_STAGE_FOLD,
    AMP_STAGES
};

/* Private to cli/convert: one model that is converted, and what is known of it so far. */
struct amp_convert_job {
    const struct amp_options *options;
    struct amp_model_file file;
    struct amp_model *model;
    struct amp_rules *rules;
    struct amp_ranges *ranges; /* NULL: nothing was seen, or asked for */
    struct amp_target target;
    struct amp_ids interface; /* see struct amp_assign_options */
    struct amp_training *training;
    struct amp_conversion conversion;
    bool explains;     /* notes what was decided on each node */
    bool is_explained; /* and prints it */
    bool explains_noise;
    bool may_run;         /* the model, before it is converted, as no other job does */
    const char **outputs; /* as in struct amp_tune_model; NULL: nobody asks */
    bool notes_outputs;
    struct amp_tuning tuning;
    struct amp_explanation explanation;
    struct amp_placement *placement;
    struct amp_eval_check eval;  /* what the user's command says */
    enum amp_convert_stage last; /* to dump after; AMP_STAGES: none */
    struct amp_error *err;
};

#endif
