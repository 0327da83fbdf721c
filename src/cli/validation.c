/*
 * The validation of a conversion: takes the command line and both models, opens the samples and
 * labels, and has check/validate.c run and measure them, check/task/eval.c the command of --eval
 * judge them. Prints nothing.
 */
#include "cli/validation.h"

#include "check/task/candidate.h"
#include "cli/inputs.h"
#include "cli/options/tolerance.h"
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

enum amp_status amp_validation_check_options(const struct amp_options *options,
                                             enum amp_dtype coarsest, struct amp_error *err)
{
    struct amp_metric_bounds unused;
    struct amp_task_bounds unused_too;
    AMP_TRY(amp_inputs_check(options, err));
    return amp_tolerance_parse(options, coarsest, &unused, &unused_too, err);
}

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    const struct amp_inputs *inputs = context;
    amp_progress_step(inputs, sample, inputs->count);
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

/* Adds to the failure in ERR what can be done. */
static void add_way_out(struct amp_error *err, const char *way)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; %s", way);
}

enum amp_dtype amp_validation_coarsest(enum amp_dtype dtype, const struct amp_model *model)
{
    for (size_t v = 0; v < model->n_values; v++) {
        enum amp_dtype other = model->values[v].dtype;
        if (other == AMP_BFLOAT16 || (other == AMP_FLOAT16 && dtype == AMP_FLOAT))
            dtype = other;
    }
    return dtype;
}

static enum amp_status validate(const struct amp_validation_request *request,
                                struct amp_inputs *inputs, struct amp_validation *result,
                                struct amp_error *err)
{
    struct amp_task_bounds bounds;
    struct amp_label_files labels;
    struct amp_validate_options setup = {
        .source = {.count = inputs->count, .load = load_sample, .context = inputs}};
    AMP_TRY(amp_tolerance_parse(request->options, request->coarsest, &setup.bounds, &bounds, err));
    AMP_TRY(amp_label_files_load(inputs, &labels, err));
    setup.labels = labels.items;
    setup.n_labels = labels.count;
    setup.task_bounds = amp_task_bounds_of(&bounds, "labels");
    setup.keeps_deviations = request->options->report != NULL;
    setup.is_reference_known = request->is_reference_known;
    setup.runner = request->layers != NULL ? amp_layers_runner(request->layers) : request->runner;
    enum amp_status status =
        amp_validate(request->reference, request->converted, &setup, result, err);
    if (status == AMP_UNSUPPORTED && request->options->command == AMP_CMD_CONVERT)
        add_way_out(err, "--no-validate converts all the same");
    amp_label_files_close(&labels);
    return status;
}

enum amp_status amp_validation_run(const struct amp_validation_request *request,
                                   struct amp_input_notes *notes, struct amp_validation *result,
                                   struct amp_error *err)
{
    struct amp_inputs inputs;
    *notes = (struct amp_input_notes){.model = NULL};
    *result = (struct amp_validation){.samples = 0};
    AMP_TRY(amp_inputs_open(request->options, request->reference, &inputs, err));
    if (request->layers != NULL)
        amp_layers_begin(request->reference, request->converted, request->layers);
    enum amp_status status = validate(request, &inputs, result, err);
    bool is_measured = status == AMP_OK || status == AMP_MISMATCH;
    if (is_measured) {
        *notes = inputs.notes;
        inputs.notes = (struct amp_input_notes){.model = NULL};
    }
    if (request->layers != NULL && is_measured)
        amp_layers_end(request->layers);
    else if (request->layers != NULL)
        amp_layers_free(request->layers);
    amp_inputs_close(&inputs);
    return status;
}

enum amp_status amp_validation_suggest(const struct amp_input_notes *notes, enum amp_status status,
                                       struct amp_error *err)
{
    if (status == AMP_MISMATCH && notes->are_random)
        add_way_out(err, "on random inputs: --data runs real ones");
    return status;
}

/* ---- --eval ---------------------------------------------------------------------------------- */

enum amp_status amp_validation_eval_reference(const struct amp_options *options,
                                              const struct amp_model_file *file,
                                              struct amp_eval_check *check, struct amp_error *err)
{
    struct amp_metric_bounds unused;
    struct amp_task_bounds bounds;
    const char *path;
    const struct amp_eval eval = {.command = options->eval,
                                  .timeout = (double)options->eval_timeout,
                                  .is_lower_better = options->is_eval_lower};
    *check = (struct amp_eval_check){.is_outside = false};
    if (options->eval == NULL)
        return AMP_OK;
    AMP_TRY(amp_tolerance_parse(options, AMP_UNDEFINED, &unused, &bounds, err));
    bounds = amp_task_bounds_of(&bounds, "eval");
    if (options->eval_reference != NULL)
        return amp_eval_reference_known(&eval, &bounds, options->eval_reference, check, err);
    AMP_TRY(amp_candidate_of_input(file, &path, err));
    enum amp_status status = amp_eval_reference(&eval, &bounds, path, check, err);
    amp_candidate_remove();
    return status;
}

/* Adds CHECK, which FOUND came of, to RESULT. */
static enum amp_status take_eval(const struct amp_eval_check *check, const struct amp_error *found,
                                 struct amp_validation *result, struct amp_error *err)
{
    result->eval = check;
    result->is_within = result->is_within && !check->is_outside;
    /* What stops all goes before a verdict. */
    if (found->status != AMP_OK && (found->status != AMP_MISMATCH || err->status == AMP_OK))
        *err = *found;
    return err->status;
}

enum amp_status amp_validation_eval_converted(const struct amp_model *model,
                                              const struct amp_placement *placement,
                                              struct amp_eval_check *check,
                                              struct amp_validation *result, struct amp_error *err)
{
    struct amp_error found = {.status = AMP_OK};
    const char *path;
    if (check->eval.command == NULL)
        return err->status;
    if (amp_candidate_write(model, placement, &path, &found) == AMP_OK)
        AMP_IGNORE(amp_eval_candidate(check, path, &found));
    amp_candidate_remove();
    return take_eval(check, &found, result, err);
}

enum amp_status amp_validation_eval_known(struct amp_eval_check *check,
                                          struct amp_validation *result, struct amp_error *err)
{
    struct amp_error found = {.status = AMP_OK};
    if (check->is_outside)
        amp_error_record(&found, AMP_MISMATCH, "%s", check->reason);
    return take_eval(check, &found, result, err);
}
