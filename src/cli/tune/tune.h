#ifndef AMP_CLI_TUNE_TUNE_H
#define AMP_CLI_TUNE_TUNE_H

#include "onnx/file/read.h"
#include "tune/choice.h"
#include "tune/tuning.h"

/* The model as it is when rules have been carried out. */
struct amp_tune_model {
    struct amp_model_file file;
    struct amp_assignment assignment;
    const char *const *outputs;      /* as in amp_choice_model */
    struct amp_placement *placement; /* where it is to be judged by a command; else NULL */
};

/* What is to be tuned. */
struct amp_tune_request {
    const struct amp_options *options;
    const struct amp_model_file *file;
    enum amp_dtype lower, coarsest; /* coarsest: as in amp_validation_request */
    enum amp_dtype second;          /* as in amp_assign_options; finer than LOWER */
    const struct amp_rules *rules;  /* as the user gave them */
    struct amp_eval_check *eval; /* gets what the user's command says of the model as it was, and of
                                    the answer, unless that verdict is AMP_EVAL_NONE */
    const char *const *rule_names; /* the sets among them */
    size_t n_rule_names;
    /* Reads the model once more and converts it by RULES; the caller closes MODEL's file, also on
       failure. */
    enum amp_status (*convert)(void *context, struct amp_rules *rules, struct amp_tune_model *model,
                               struct amp_error *err);
    void *context;
};

/*
 * Searches for the units to keep in float32 so that the criterion of OPTIONS holds at the least
 * loss, and appends the rules for that to RULES, a copy of the request's; where nothing met the
 * criterion, those for what came nearest. Writes the rule file that the user asked for, of an
 * answer. AMP_USAGE for options that are wrong; otherwise what conversions, runs and commands say.
 */
enum amp_status amp_tune(const struct amp_tune_request *request, struct amp_rules *rules,
                         struct amp_tuning *tuning, struct amp_error *err);
/* AMP_USAGE for what is wrong with the options of a search, so that it can be said before any work.
 */
enum amp_status amp_tune_check_options(const struct amp_options *options, struct amp_error *err);

#endif
