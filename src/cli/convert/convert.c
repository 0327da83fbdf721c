/*
 * `ampconv MODEL`: reads a model, loads the rules or has a search complete them, converts,
 * validates and writes, in the order of the stages. stages.c has those that work on the graph,
 * trial.c runs both models, results.c writes.
 */
#include "cli/convert/convert.h"

#include "cli/convert/job.h"
#include "cli/convert/results.h"
#include "cli/convert/stages.h"
#include "cli/convert/trial.h"
#include "cli/destination.h"
#include "cli/options/rule_options.h"
#include "cli/progress.h"
#include "cli/report/tuning.h"
#include "cli/tune/tune.h"
#include "cli/validation.h"
#include "core/buffer.h"
#include "core/shared_forms.h"
#include "onnx/file/external.h"
#include "onnx/file/placement.h"
#include "onnx/file/write.h"
#include "onnx/schema/infer.h"

#include <string.h>

/* ---- rules ----------------------------------------------------------------------------------- */

/* Loads the one rule that raises a model of 16 bits: every node runs in float32. */
static enum amp_status load_rule_to_raise(struct amp_convert_job *job)
{
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    job->rules = amp_rules_create(job->file.arena);
    return amp_rules_add_node(job->rules, "*", AMP_FP32, source, job->err);
}

static enum amp_status load_rules(struct amp_convert_job *job)
{
    struct amp_rule_choice choice = {.rules = NULL};
    if (job->target.lower == AMP_FLOAT)
        return load_rule_to_raise(job);
    enum amp_status status = amp_rule_options_load(job->options, job->conversion.lower,
                                                   job->file.arena, &choice, job->err);
    job->rules = choice.rules;
    job->conversion.rule_names = choice.names;
    job->conversion.n_rule_names = choice.n_names;
    AMP_TRY(status);
    return amp_rule_options_check(job->options, &job->file, job->rules, job->conversion.lower,
                                  job->err);
}

/* Makes the message of MODEL, as it will be written, and finds the places of its tensor data. */
static enum amp_status prepare(const struct amp_convert_job *job, struct amp_model *model,
                               struct amp_placement **placement, struct amp_error *err)
{
    const struct amp_options *options = job->options;
    struct amp_placement_options how = {.path = job->conversion.output_path,
                                        .data_name = options->external_data,
                                        .threshold = (uint64_t)options->external_threshold,
                                        .is_inline = options->is_inline};
    return amp_model_prepare(model, &how, placement, err);
}

/* Makes the message to write and refuses to replace files that are not to be. */
static enum amp_status prepare_output(struct amp_convert_job *job)
{
    AMP_TRY(prepare(job, job->model, &job->placement, job->err));
    const char *data_path = job->placement->data_path;
    job->conversion.bytes_after = amp_placement_size(job->placement);
    job->conversion.data_path = data_path;
    return amp_destination_check(job->options, job->file.external, job->conversion.output_path,
                                 data_path, job->err);
}

/* ---- tuning ---------------------------------------------------------------------------------- */

/* Converts the model once more, by RULES: a candidate of the search. */
static enum amp_status convert_by(void *context, struct amp_rules *rules,
                                  struct amp_tune_model *model, struct amp_error *err)
{
    struct amp_convert_job *job = context;
    struct amp_convert_job twin = {.options = job->options,
                                   .target = job->target,
                                   .rules = rules,
                                   .ranges = job->ranges,
                                   .last = AMP_STAGES,
                                   .notes_outputs = true,
                                   .err = err};
    bool is_done;
    AMP_TRY(amp_model_read_again(&job->file, &model->file, err));
    twin.file = model->file;
    twin.model = model->file.model;
    twin.conversion.lower = job->conversion.lower;
    AMP_TRY(amp_convert_graph(&twin, &is_done));
    model->assignment = twin.conversion.assignment;
    model->outputs = twin.outputs;
    return job->options->eval == NULL ? AMP_OK : prepare(job, twin.model, &model->placement, err);
}

/* Has the search add the rules that it takes to be within the tolerance. */
static enum amp_status tune(struct amp_convert_job *job)
{
    struct amp_tune_request request = {.options = job->options,
                                       .file = &job->file,
                                       .lower = job->target.lower,
                                       .second = job->target.second,
                                       .rules = job->rules,
                                       .eval = &job->eval,
                                       .rule_names = job->conversion.rule_names,
                                       .n_rule_names = job->conversion.n_rule_names,
                                       .convert = convert_by,
                                       .context = job};
    AMP_TRY(amp_infer(job->model, job->err));
    AMP_TRY(amp_convert_find_ranges(job));
    request.coarsest = amp_validation_coarsest(amp_convert_coarsest(job), job->model);
    struct amp_rules *tuned = amp_rules_copy(job->rules, job->file.arena);
    enum amp_status status = amp_tune(&request, tuned, &job->tuning, job->err);
    amp_rules_destroy(job->rules);
    job->rules = tuned;
    if (status == AMP_OK && !job->options->is_quiet)
        amp_report_tuning(stderr, &job->tuning, job->options->verbosity);
    return status;
}

enum amp_status amp_convert_in_memory(const struct amp_options *options,
                                      struct amp_model_file *file, struct amp_error *err)
{
    bool is_done;
    struct amp_convert_job job = {
        .options = options, .file = *file, .model = file->model, .last = AMP_STAGES, .err = err};
    AMP_TRY(amp_target_parse(options, &job.target, err));
    AMP_TRY(amp_target_check(&job.target, job.model, err));
    job.conversion.lower = job.target.lower;
    enum amp_status status = load_rules(&job);
    if (status == AMP_OK)
        status = amp_convert_graph(&job, &is_done);
    amp_rules_destroy(job.rules);
    return status;
}

static enum amp_status validate_and_write(struct amp_convert_job *job)
{
    struct amp_error verdict = {.status = AMP_OK};
    struct amp_convert_trial trial = {.has_models = false};
    enum amp_status status = amp_convert_trial_run(job, &trial, &verdict);
    amp_progress_end();
    bool has_ended = status == AMP_OK || status == AMP_MISMATCH;
    if (!has_ended)
        amp_error_record(job->err, status, "%s", verdict.text);
    else if (job->explains_noise || trial.has_layers) {
        status = amp_convert_trial_find_noise(job, &trial);
        amp_convert_explain_noise(job, &trial);
    }
    if (job->err->status == AMP_OK)
        status = amp_convert_write(job, &trial, &verdict);
    amp_convert_trial_free(&trial);
    return status;
}

static enum amp_status convert_once(struct amp_convert_job *job)
{
    struct amp_conversion *conversion = &job->conversion;
    bool is_done;
    conversion->model_path = job->model->path;
    conversion->bytes_before = job->file.bytes.size + amp_external_size(job->file.external);
    conversion->was_unsorted = job->file.was_unsorted;
    AMP_TRY(amp_target_check(&job->target, job->model, job->err));
    if (job->last == AMP_STAGES && !job->options->is_listed)
        AMP_TRY(amp_destination_choose(job->options, &job->target, job->file.arena,
                                       &conversion->output_path, job->err));
    if ((!job->options->no_validate || job->explains_noise) && !job->options->is_listed)
        AMP_TRY(amp_validation_check_options(job->options, conversion->lower, job->err));
    AMP_TRY(load_rules(job));
    if (job->options->is_tuned)
        AMP_TRY(tune(job));
    AMP_TRY(amp_convert_graph(job, &is_done));
    if (is_done)
        return AMP_OK;
    if (job->is_explained)
        amp_convert_explain(job);
    if (job->options->is_listed)
        return AMP_OK;
    AMP_TRY(prepare_output(job));
    conversion->ranges = job->ranges;
    amp_conversion_count(conversion, job->model);
    if (!job->options->is_quiet)
        amp_report_conversion(stderr, conversion, job->options->verbosity);
    return validate_and_write(job);
}

/* Converts the model of JOB, as often as a search wants. Each candidate then takes the memory that
   the one before it had, and what was made of weights; so does the answer. */
static enum amp_status convert(struct amp_convert_job *job)
{
    const struct amp_bytes *bytes = &job->file.bytes;
    if (!job->options->is_tuned)
        return convert_once(job);
    amp_buffers_keep();
    amp_shared_forms_begin(bytes->data, bytes->size);
    enum amp_status status = convert_once(job);
    amp_shared_forms_end();
    amp_buffers_let_go();
    return status;
}

enum amp_status amp_command_convert(const struct amp_options *options, struct amp_error *err)
{
    bool explains_noise = options->explain != NULL && strcmp(options->explain, "noise") == 0;
    bool is_explained = (options->explain != NULL && !explains_noise) || options->is_listed ||
                        (options->verbosity > 1 && !options->is_quiet);
    struct amp_convert_job job = {.options = options,
                                  .err = err,
                                  .explains = is_explained || options->report != NULL,
                                  .is_explained = is_explained,
                                  .explains_noise = explains_noise,
                                  .may_run = true};
    AMP_TRY(amp_target_parse(options, &job.target, err));
    job.conversion.lower = job.target.lower;
    job.conversion.second = job.target.second;
    job.conversion.keeps_types = job.target.keeps_types;
    AMP_TRY(amp_convert_stage_parse(&job));
    if (options->is_tuned)
        AMP_TRY(amp_tune_check_options(options, err));
    amp_progress_begin("reading");
    enum amp_status status = amp_model_read_to_convert(options->operands.items[0], &job.file, err);
    if (status == AMP_OK) {
        amp_progress_begin("converting");
        job.model = job.file.model;
        status = convert(&job);
    }
    amp_progress_end();
    amp_tuning_free(&job.tuning);
    amp_rules_destroy(job.rules);
    amp_model_close(&job.file);
    return status;
}
