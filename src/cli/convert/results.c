/*
 * What a conversion leaves: the model's file, the reports as JSON and as a page, and explanations
 * of decisions and of noise. Takes a job that is converted and tried; reports/ has what they look
 * like.
 */
#include "cli/convert/results.h"

#include "cli/convert/trial.h"
#include "cli/progress.h"
#include "cli/report/head.h"
#include "cli/report/html/convert_page.h"
#include "cli/report/inputs.h"
#include "cli/report/json.h"
#include "cli/report/losses.h"
#include "cli/report/noise.h"
#include "cli/report/tuning.h"
#include "cli/report/training.h"
#include "cli/report/validation.h"
#include "onnx/file/write.h"

#include <string.h>

/* The file that explanations go to: stdout unless the model does. */
static FILE *explanation_file(const struct amp_convert_job *job)
{
    bool is_taken = job->conversion.output_path != NULL &&
                    strcmp(job->conversion.output_path, "-") == 0 && !job->options->is_listed;
    return is_taken ? stderr : stdout;
}

void amp_convert_explain(struct amp_convert_job *job)
{
    const struct amp_options *options = job->options;
    struct amp_conversion *conversion = &job->conversion;
    bool is_asked = options->is_listed || (options->explain != NULL && !job->explains_noise);
    FILE *file = is_asked ? explanation_file(job) : stderr;
    job->explanation.model_path = conversion->model_path;
    job->explanation.rule_names = conversion->rule_names;
    job->explanation.n_rule_names = conversion->n_rule_names;
    amp_progress_end();
    if (options->explain != NULL && strcmp(options->explain, "json") == 0)
        amp_explanation_print_json(file, &job->explanation);
    else
        amp_explanation_print(file, &job->explanation);
}

void amp_convert_explain_noise(const struct amp_convert_job *job,
                               const struct amp_convert_trial *trial)
{
    if (trial->has_noise && job->explains_noise)
        amp_report_noise(explanation_file(job), &trial->noise);
}

/* Writes the report as JSON where the user asked for it. IS_WRITTEN: so is the model. */
static enum amp_status write_json(const struct amp_convert_job *job,
                                  const struct amp_convert_trial *trial, bool is_written,
                                  enum amp_status verdict)
{
    if (job->options->json == NULL)
        return AMP_OK;
    json_t *root = amp_json_conversion(&job->conversion, is_written);
    amp_json_set(root, "model_hash", amp_json_hash(&job->file.bytes));
    amp_json_set(root, "seed", json_integer(job->options->seed));
    amp_json_set(root, "inputs", amp_json_inputs(&trial->notes));
    amp_json_set(root, "weights", amp_json_losses(job->model));
    amp_json_set(root, "validation",
                 trial->is_measured ? amp_json_validation(&trial->validation) : json_null());
    if (trial->has_step)
        amp_json_set(root, "step", amp_json_step(&trial->step, &trial->step_error));
    if (trial->has_noise)
        amp_json_set(root, "noise", amp_json_noise(&trial->noise));
    if (job->options->is_tuned)
        amp_json_set(root, "tuning", amp_json_tuning(&job->tuning));
    return amp_report_write(root, job->options, verdict, job->err);
}

/* Writes the report as HTML where the user asked for it. */
static enum amp_status write_page(const struct amp_convert_job *job,
                                  const struct amp_convert_trial *trial, bool is_written)
{
    const struct amp_conversion *conversion = &job->conversion;
    struct amp_convert_page page = {
        .compared = {.models = {{"reference", conversion->model_path, trial->reference.model,
                                 conversion->bytes_before},
                                {"converted", conversion->output_path, trial->twin.model,
                                 conversion->bytes_after}}},
        .conversion = conversion,
        .explanation = job->explanation.nodes != NULL ? &job->explanation : NULL,
        .tuning = job->options->is_tuned ? &job->tuning : NULL,
        .is_written = is_written};
    if (trial->is_measured) {
        page.compared.inputs = &trial->notes;
        page.compared.validation = &trial->validation;
        page.compared.layers = trial->has_layers ? &trial->layers : NULL;
    }
    page.compared.noise = trial->has_noise ? &trial->noise : NULL;
    if (job->options->report == NULL)
        return AMP_OK;
    return amp_html_convert_page(&page, job->options->report, job->err);
}

enum amp_status amp_convert_write(const struct amp_convert_job *job,
                                  const struct amp_convert_trial *trial,
                                  const struct amp_error *verdict)
{
    bool is_mismatch = verdict->status == AMP_MISMATCH;
    bool is_written = !is_mismatch || job->options->is_accepted;
    if (is_written)
        AMP_TRY(amp_model_write(job->model, job->placement, job->err));
    if (!job->options->is_quiet)
        amp_report_losses(stderr, job->model, job->options->verbosity);
    AMP_TRY(write_page(job, trial, is_written));
    AMP_TRY(write_json(job, trial, is_written, verdict->status));
    return is_mismatch ? amp_fail(job->err, AMP_MISMATCH, "%s", verdict->text) : AMP_OK;
}
