/*
 * Tries a conversion: opens the model as it was read and the converted one, has them run on the
 * same samples and the user's command judge them, and finds the noise where that is asked for. It
 * writes no model and no file of a report.
 */
#include "cli/convert/trial.h"

#include "check/task/candidate.h"
#include "cli/convert/stages.h"
#include "cli/inputs.h"
#include "cli/noise.h"
#include "cli/progress.h"
#include "cli/report/training.h"
#include "cli/report/validation.h"
#include "cli/validation.h"
#include "onnx/schema/infer.h"

/* Gives in TWIN the converted model to run: the one to write, unless that has calls of functions.
   Then the model is read again and converted by the rules of JOB, with all calls inlined. */
static enum amp_status make_runnable(struct amp_convert_job *job, struct amp_convert_job *twin,
                                     struct amp_error *err)
{
    *twin = (struct amp_convert_job){.model = job->model};
    if (!job->file.has_functions)
        return AMP_OK;
    bool is_done;
    twin->options = job->options;
    twin->target = job->target;
    twin->rules = job->rules;
    twin->ranges = job->ranges;
    twin->last = AMP_STAGES;
    twin->conversion.lower = job->conversion.lower;
    twin->err = err;
    AMP_TRY(amp_model_read_again(&job->file, &twin->file, err));
    twin->model = twin->file.model;
    return amp_convert_graph(twin, &is_done);
}

/* The least precise of the dtypes that the two models compute in. */
static enum amp_dtype coarsest_dtype(const struct amp_convert_job *job,
                                     const struct amp_model *reference)
{
    return job->target.keeps_types ? job->target.lower
                                   : amp_validation_coarsest(amp_convert_coarsest(job), reference);
}

void amp_convert_trial_free(struct amp_convert_trial *trial)
{
    amp_step_check_free(&trial->step);
    amp_noise_free(&trial->noise);
    amp_layers_free(&trial->layers);
    amp_validation_free(&trial->validation);
    amp_input_notes_destroy(&trial->notes);
    if (!trial->has_models)
        return;
    amp_model_close(&trial->reference);
    amp_model_close(&trial->twin.file);
}

static enum amp_status open_models(struct amp_convert_job *job, struct amp_convert_trial *trial,
                                   struct amp_error *err)
{
    AMP_TRY(amp_model_read_again(&job->file, &trial->reference, err));
    trial->has_models = true;
    AMP_TRY(make_runnable(job, &trial->twin, err));
    return amp_infer(trial->reference.model, err);
}

/* Runs the model as it was read and the converted one. AMP_MISMATCH when they are too far apart. */
static enum amp_status validate(struct amp_convert_job *job, struct amp_convert_trial *trial,
                                struct amp_error *err)
{
    struct amp_validation_request request = {.options = job->options,
                                             .reference = trial->reference.model,
                                             .converted = trial->twin.model,
                                             .coarsest =
                                                 coarsest_dtype(job, trial->reference.model),
                                             .layers = trial->has_layers ? &trial->layers : NULL};
    enum amp_status status = amp_validation_run(&request, &trial->notes, &trial->validation, err);
    if (status == AMP_MODEL && trial->has_layers) {
        /* They may have no value in common but outputs. */
        trial->has_layers = false;
        request.layers = NULL;
        *err = (struct amp_error){.status = AMP_OK};
        status = amp_validation_run(&request, &trial->notes, &trial->validation, err);
    }
    amp_progress_end();
    return amp_validation_suggest(&trial->notes, status, err);
}

/* Runs a step of training of the reference and of the converted model, which was read from the file
   that will be written. */
static enum amp_status run_step(const struct amp_convert_job *job, struct amp_convert_trial *trial,
                                const struct amp_model_file *converted, struct amp_error *err)
{
    const struct amp_model *model = trial->reference.model;
    const struct amp_model_file *files[] = {&trial->reference, converted};
    size_t n_inputs = model->graphs[0].inputs.count;
    struct amp_inputs inputs;
    AMP_TRY(amp_inputs_open(job->options, model, &inputs, err));
    struct amp_tensor *tensors = amp_xcalloc(n_inputs, sizeof *tensors);
    enum amp_status status = amp_inputs_load(&inputs, 0, tensors, NULL, err);
    if (status == AMP_OK) {
        const struct amp_step_sample sample = {
            .model = model, .tensors = tensors, .seed = (uint64_t)job->options->seed};
        status = amp_step_check_run(files, &sample, &trial->step, err);
    }
    amp_tensors_release(tensors, n_inputs);
    free(tensors);
    amp_inputs_close(&inputs);
    return status;
}

/* Checks a step of a model that says how it is trained. What keeps it from running is reported; it
   does not keep the model from being written, unless it is the system. */
static void check_step(struct amp_convert_job *job, struct amp_convert_trial *trial,
                       struct amp_error *verdict)
{
    struct amp_model_file converted = {.arena = NULL};
    struct amp_error *err = &trial->step_error;
    const char *path;
    trial->has_step = true;
    if (amp_candidate_write(job->model, job->placement, &path, err) == AMP_OK &&
        amp_model_read(path, &converted, err) == AMP_OK) {
        converted.model->path = "the converted model";
        AMP_IGNORE(run_step(job, trial, &converted, err));
    }
    amp_model_close(&converted);
    amp_candidate_remove();
    if (err->status == AMP_IO)
        *verdict = *err;
    if (!trial->step.is_outside)
        return;
    trial->validation.is_within = false;
    trial->validation.step_reason =
        "a step of training gives a loss or an update that is not finite";
    if (verdict->status == AMP_OK)
        amp_error_record(verdict, AMP_MISMATCH, "%s", trial->validation.step_reason);
}

enum amp_status amp_convert_trial_find_noise(struct amp_convert_job *job,
                                             struct amp_convert_trial *trial)
{
    struct amp_error err = {.status = AMP_OK};
    amp_progress_begin("finding the noise");
    enum amp_status status = amp_noise_search(job->options, 0, trial->reference.model,
                                              trial->twin.model, &trial->noise, &err);
    amp_progress_end();
    trial->has_noise = status == AMP_OK;
    /* A page does without what cannot be found, but not because the system refused something. */
    bool is_done_without = !job->explains_noise && status != AMP_IO;
    return trial->has_noise || is_done_without ? AMP_OK : amp_error_copy(job->err, &err);
}

static void report_measured(const struct amp_convert_job *job,
                            const struct amp_convert_trial *trial)
{
    if (job->options->is_quiet)
        return;
    amp_report_inputs(stderr, &trial->notes, job->options->verbosity);
    if (trial->has_step)
        amp_report_step(stderr, &trial->step, &trial->step_error);
    amp_report_validation(stderr, &trial->validation, job->options->verbosity);
}

/* Has the user's command judge the converted model, unless a search has done that. */
static void judge(struct amp_convert_job *job, struct amp_convert_trial *trial,
                  struct amp_error *verdict)
{
    if (job->options->is_tuned && job->eval.outcomes[1].verdict != AMP_EVAL_NONE)
        AMP_IGNORE(amp_validation_eval_known(&job->eval, &trial->validation, verdict));
    else
        AMP_IGNORE(amp_validation_eval_converted(job->model, job->placement, &job->eval,
                                                 &trial->validation, verdict));
}

enum amp_status amp_convert_trial_run(struct amp_convert_job *job, struct amp_convert_trial *trial,
                                      struct amp_error *verdict)
{
    bool validates = !job->options->no_validate, has_page = job->options->report != NULL;
    trial->validation = amp_validation_none();
    if (!job->options->is_tuned)
        AMP_TRY(amp_validation_eval_reference(job->options, &job->file, &job->eval, verdict));
    if (validates)
        amp_progress_begin("validating");
    if (validates || has_page || job->explains_noise)
        AMP_TRY(open_models(job, trial, verdict));
    trial->has_layers = validates && has_page;
    if (validates)
        AMP_IGNORE(validate(job, trial, verdict));
    if (validates && trial->reference.is_trained &&
        (verdict->status == AMP_OK || verdict->status == AMP_MISMATCH))
        check_step(job, trial, verdict);
    if (verdict->status == AMP_OK || verdict->status == AMP_MISMATCH)
        judge(job, trial, verdict);
    trial->is_measured = (verdict->status == AMP_OK || verdict->status == AMP_MISMATCH) &&
                         (validates || job->options->eval != NULL);
    if (trial->is_measured)
        report_measured(job, trial);
    return verdict->status;
}
