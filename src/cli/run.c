/*
 * `ampconv run`: runs one model on given or random inputs, sample by sample; writes the outputs,
 * compares them with expected ones and with labels. Drops the outputs of a sample before the next
 * one runs.
 */
#include "cli/run.h"

#include "check/class_scores.h"
#include "check/compare.h"
#include "cli/inputs.h"
#include "cli/list_ops.h"
#include "cli/progress.h"
#include "cli/report/html/run_page.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/run.h"
#include "cli/report/text.h"
#include "cli/test_suite.h"
#include "cli/options/tolerance.h"
#include "core/clock.h"
#include "onnx/sample/output_stems.h"
#include "onnx/sample/sample.h"
#include "onnx/sample/tensor_file.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "run/exec/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct run {
    const struct amp_options *options;
    const struct amp_bytes *bytes; /* of the model */
    const struct amp_model *model;
    const struct amp_ids *output_ids;
    struct amp_inputs inputs;
    struct amp_session *session;
    struct amp_samples expected; /* of --expect */
    struct amp_label_files labels;
    struct amp_expected_tolerance tolerance;
    struct amp_tensor *tensors, *outputs, *wanted; /* of the sample at hand */
    struct amp_run_result result;
    struct amp_error mismatch; /* the first */
    struct amp_error *err;
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static enum amp_status open_expected(struct run *run)
{
    if (run->options->expect == NULL)
        return AMP_OK;
    AMP_TRY(amp_samples_open_expected(run->options->expect, &run->expected, run->err));
    if (run->expected.count >= run->inputs.count)
        return AMP_OK;
    return amp_fail(run->err, AMP_MODEL, "%s: expected outputs for %zu of %zu samples",
                    run->options->expect, run->expected.count, run->inputs.count);
}

/* Makes room for the tensors of a sample and for the result. */
static void allocate(struct run *run)
{
    size_t n_inputs = run->model->graphs[0].inputs.count, n_outputs = run->output_ids->count;
    run->tensors = amp_xcalloc(n_inputs, sizeof *run->tensors);
    run->outputs = amp_xcalloc(n_outputs, sizeof *run->outputs);
    run->wanted = amp_xcalloc(n_outputs, sizeof *run->wanted);
    run->result.model_path = run->model->path;
    run->result.mismatch = run->mismatch.text;
    run->result.n_outputs = n_outputs;
    run->result.outputs = amp_xcalloc(n_outputs, sizeof *run->result.outputs);
    for (size_t i = 0; i < n_outputs; i++) {
        struct amp_run_output *output = &run->result.outputs[i];
        output->name = amp_value_at(run->model, run->output_ids->items[i])->name;
        if (run->options->report != NULL)
            output->deviations = amp_xcalloc(1, sizeof *output->deviations);
    }
}

static enum amp_status begin_tasks(struct run *run)
{
    AMP_TRY(amp_label_files_load(&run->inputs, &run->labels, run->err));
    struct amp_run_result *result = &run->result;
    result->tasks = amp_xcalloc(run->labels.count, sizeof *result->tasks);
    for (; result->n_tasks < run->labels.count; result->n_tasks++)
        AMP_TRY(amp_task_begin(&result->tasks[result->n_tasks], &run->labels.items[result->n_tasks],
                               run->err));
    return AMP_OK;
}

static enum amp_status set_up(struct run *run)
{
    allocate(run);
    AMP_TRY(amp_inputs_open(run->options, run->model, &run->inputs, run->err));
    AMP_TRY(begin_tasks(run));
    AMP_TRY(open_expected(run));
    enum amp_strictness strictness = run->options->is_strict ? AMP_LITERAL : AMP_FREE;
    return amp_session_open(run->model, strictness, &run->session, run->err);
}

static void release_sample(struct run *run)
{
    amp_tensors_release(run->tensors, run->model->graphs[0].inputs.count);
    amp_tensors_release(run->outputs, run->output_ids->count);
    amp_tensors_release(run->wanted, run->output_ids->count);
}

static void tear_down(struct run *run)
{
    amp_session_destroy(run->session);
    amp_samples_close(&run->expected);
    amp_inputs_close(&run->inputs);
    amp_label_files_close(&run->labels);
    free(run->result.tasks);
    free(run->tensors);
    free(run->outputs);
    free(run->wanted);
    for (size_t i = 0; i < run->result.n_outputs; i++)
        free(run->result.outputs[i].deviations);
    free(run->result.outputs);
}

/* ---- one sample ------------------------------------------------------------------------------ */

static void note_mismatch(struct run *run, size_t sample, size_t i, const struct amp_error *found)
{
    const char *name = run->result.outputs[i].name;
    if (run->inputs.count > 1)
        amp_error_record(&run->mismatch, AMP_MISMATCH, "sample %zu: output '%s': %s", sample, name,
                         found->text);
    else
        amp_error_record(&run->mismatch, AMP_MISMATCH, "output '%s': %s", name, found->text);
}

/* Whether output I is known to be of class scores, or not to be: by labels, or since a bound wants
   it to be. */
static bool are_scores(const struct run *run, size_t i)
{
    for (size_t k = 0; k < run->result.n_tasks; k++)
        if (run->result.tasks[k].output == i)
            return amp_labels_are_classes(run->result.tasks[k].labels);
    return amp_metric_bounds_want_scores(&run->tolerance.bounds) ||
           amp_class_scores_are(run->model, run->output_ids->items[i], &run->wanted[i]);
}

static void compare_output(struct run *run, size_t sample, size_t i)
{
    const struct amp_tensor *got = &run->outputs[i], *want = &run->wanted[i];
    struct amp_run_output *output = &run->result.outputs[i];
    struct amp_error found = {.status = AMP_OK};
    if (want->data == NULL)
        return;
    if (output->compared++ == 0)
        output->metrics.are_scores = are_scores(run, i);
    run->result.compared++;
    if (output->deviations != NULL)
        amp_deviations_add(output->deviations, want, got);
    enum amp_status status = amp_metrics_add(&output->metrics, want, got, &found);
    if (run->tolerance.by_element) {
        found = (struct amp_error){.status = AMP_OK};
        status = amp_tensor_compare(
            got, want, amp_expected_tolerance_of(&run->tolerance, want->dtype), &found);
    }
    if (status != AMP_OK)
        note_mismatch(run, sample, i, &found);
}

static enum amp_status make_folder(const char *path, struct amp_error *err)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return amp_fail(err, AMP_IO, "%s: cannot create the folder: %s", path, strerror(errno));
    return AMP_OK;
}

static enum amp_status write_output(struct run *run, const char *folder, size_t i, const char *stem)
{
    char path[PATH_MAX];
    const char *format = run->options->format ? run->options->format : "npy";
    if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", folder, stem, format) >= sizeof path)
        return amp_fail(run->err, AMP_IO, "%s: the path is too long", folder);
    enum amp_status status =
        amp_tensor_save(path, run->result.outputs[i].name, &run->outputs[i], run->err);
    if (status == AMP_UNSUPPORTED)
        amp_error_prefix(run->err, "output '%s'", run->result.outputs[i].name);
    return status;
}

/* Writes the outputs of a sample to --output-dir, or to its subfolder sample_N where there are
   several samples. */
static enum amp_status write_outputs(struct run *run, size_t sample)
{
    char folder[PATH_MAX];
    const char *parent = run->options->output_dir;
    if (parent == NULL)
        return AMP_OK;
    AMP_TRY(make_folder(parent, run->err));
    int length = run->inputs.count > 1
                     ? snprintf(folder, sizeof folder, "%s/sample_%zu", parent, sample)
                     : snprintf(folder, sizeof folder, "%s", parent);
    if ((size_t)length >= sizeof folder)
        return amp_fail(run->err, AMP_IO, "%s: the path is too long", parent);
    AMP_TRY(make_folder(folder, run->err));
    struct amp_arena *arena = amp_arena_create();
    const char *const *stems = amp_output_stems(run->model, arena);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < run->output_ids->count && status == AMP_OK; i++)
        status = write_output(run, folder, i, stems[i]);
    amp_arena_destroy(arena);
    return status;
}

static const char *output_name(const void *context, size_t i)
{
    const struct run *run = context;
    return run->result.outputs[i].name;
}

/* Finds the outputs that labels are for, in the first sample. */
static enum amp_status choose_labelled(struct run *run)
{
    const struct amp_task_outputs outputs = {run->outputs, run->output_ids->count, output_name,
                                             run};
    for (size_t i = 0; i < run->result.n_tasks; i++)
        if (amp_task_choose(&run->result.tasks[i], &outputs, run->err) != AMP_OK) {
            amp_error_prefix(run->err, "%s", run->model->path);
            return run->err->status;
        }
    return AMP_OK;
}

static enum amp_status add_labelled(struct run *run)
{
    for (size_t i = 0; i < run->result.n_tasks; i++) {
        struct amp_task *task = &run->result.tasks[i];
        AMP_TRY(amp_task_add(task, 0, &run->outputs[task->output], run->err));
    }
    return AMP_OK;
}

static enum amp_status run_sample(struct run *run, size_t sample)
{
    AMP_TRY(amp_inputs_load(&run->inputs, sample, run->tensors, run->wanted, run->err));
    if (run->expected.count > 0) {
        amp_tensors_release(run->wanted, run->output_ids->count);
        const struct amp_sample to = {.model = run->model, .outputs = run->wanted};
        AMP_TRY(amp_sample_load_expected(&run->expected, sample, &to, run->err));
    }
    double start = amp_clock_seconds();
    AMP_TRY(amp_session_run(run->session, run->tensors, run->outputs, run->err));
    run->result.seconds += amp_clock_seconds() - start;
    if (sample == 0)
        AMP_TRY(choose_labelled(run));
    for (size_t i = 0; i < run->output_ids->count; i++) {
        struct amp_run_output *output = &run->result.outputs[i];
        output->dtype = run->outputs[i].dtype;
        output->form = run->outputs[i].form;
        output->shape = run->outputs[i].shape;
        amp_summary_add(&output->summary, &run->outputs[i]);
        compare_output(run, sample, i);
    }
    run->result.samples++;
    AMP_TRY(write_outputs(run, sample));
    return add_labelled(run);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void check_metrics(struct run *run)
{
    for (size_t i = 0; i < run->result.n_outputs && run->tolerance.by_metric; i++) {
        struct amp_error found = {.status = AMP_OK};
        const struct amp_run_output *output = &run->result.outputs[i];
        if (output->compared > 0 &&
            amp_metric_bounds_check(&run->tolerance.bounds, &output->metrics, &found) != AMP_OK)
            amp_error_record(&run->mismatch, AMP_MISMATCH, "output '%s': %s", output->name,
                             found.text);
    }
}

/* Writes the report as HTML where the user asked for it. */
static enum amp_status write_page(struct run *run)
{
    struct amp_run_page page = {
        .result = &run->result,
        .inputs = &run->inputs.notes,
        .model = {.role = "model", .path = run->model->path, .model = run->model}};
    if (run->options->report == NULL)
        return AMP_OK;
    return amp_html_run_page(&page, run->options->report, run->err);
}

static enum amp_status write_json(const struct run *run)
{
    json_t *root = amp_json_run(&run->result, &run->inputs.notes);
    amp_json_set(root, "model_hash", amp_json_hash(run->bytes));
    amp_json_set(root, "seed", json_integer(run->options->seed));
    return amp_report_write(root, run->options, run->mismatch.status, run->err);
}

static enum amp_status report(struct run *run)
{
    if (!run->options->is_quiet) {
        amp_report_inputs(stderr, &run->inputs.notes, run->options->verbosity);
        amp_report_run(stderr, &run->result, run->options->verbosity);
    }
    AMP_TRY(write_page(run));
    if (run->options->json != NULL)
        AMP_TRY(write_json(run));
    if (run->mismatch.status == AMP_OK)
        return AMP_OK;
    return amp_fail(run->err, AMP_MISMATCH, "not as expected: %s", run->mismatch.text);
}

static enum amp_status run_all(struct run *run)
{
    enum amp_status status = set_up(run);
    amp_progress_begin("running");
    for (size_t i = 0; i < run->inputs.count && status == AMP_OK; i++) {
        amp_progress_step(run, i, run->inputs.count);
        status = run_sample(run, i);
        release_sample(run);
    }
    amp_progress_end();
    AMP_TRY(status);
    for (size_t i = 0; i < run->result.n_tasks; i++)
        AMP_TRY(amp_task_check(&run->result.tasks[i], 0, run->err));
    run->result.widened = amp_session_widened(run->session);
    run->result.squeezed = amp_session_squeezed(run->session);
    run->result.integers = amp_session_integers(run->session);
    check_metrics(run);
    return report(run);
}

static enum amp_status run_model(const struct amp_options *options,
                                 const struct amp_expected_tolerance *tolerance,
                                 const struct amp_model_file *file, struct amp_error *err)
{
    const struct amp_model *model = file->model;
    struct run run = {.options = options,
                      .bytes = &file->bytes,
                      .model = model,
                      .output_ids = &model->graphs[0].outputs,
                      .tolerance = *tolerance,
                      .err = err};
    enum amp_status status = run_all(&run);
    tear_down(&run);
    return status;
}

enum amp_status amp_command_run(const struct amp_options *options, struct amp_error *err)
{
    struct amp_model_file file;
    struct amp_expected_tolerance tolerance;
    if (options->lists_ops)
        return amp_command_list_ops(options, err);
    if (options->test_suite != NULL)
        return amp_command_test_suite(options, err);
    const char *format = options->format;
    if (format != NULL && strcmp(format, "npy") != 0 && strcmp(format, "pb") != 0)
        return amp_fail(err, AMP_USAGE, "--format %s: npy or pb is possible", format);
    AMP_TRY(amp_expected_tolerance_parse(options, &tolerance, err));
    AMP_TRY(amp_model_read(options->operands.items[0], &file, err));
    enum amp_status status = amp_infer(file.model, err);
    if (status == AMP_OK && !options->is_quiet)
        amp_report_newer_types(stderr, file.model);
    if (status == AMP_OK)
        status = run_model(options, &tolerance, &file, err);
    amp_model_close(&file);
    return status;
}
