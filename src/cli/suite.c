/*
 * `ampconv run --test-suite DIR`: runs each folder of DIR that holds a model.onnx as ONNX's backend
 * runner does, compares with the expected outputs and counts.
 */
#include "cli/bounds.h"
#include "cli/commands.h"
#include "cli/report_json.h"
#include "onnx/infer.h"
#include "onnx/read.h"
#include "onnx/testdata.h"
#include "run/session.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum result { PASSED, FAILED, SKIPPED, N_RESULTS };

static const char *const result_names[N_RESULTS] = {"passed", "failed", "skipped"};

struct suite {
    const struct amp_options *options;
    FILE *talk; /* stdout, unless the JSON report goes there */
    struct amp_bounds bounds;
    size_t counts[N_RESULTS];
    json_t *cases; /* NULL: nobody asked */
};

/* ---- one case -------------------------------------------------------------------------------- */

static enum amp_status compare_output(const struct amp_bounds *bounds, const struct amp_tensor *got,
                                      const struct amp_tensor *want, struct amp_error *err)
{
    struct amp_metrics metrics = {.count = 0};
    if (bounds->by_element)
        AMP_TRY(amp_tensor_compare(got, want, amp_bounds_of(bounds, want->dtype), err));
    if (!bounds->by_metric)
        return AMP_OK;
    AMP_TRY(amp_metrics_add(&metrics, want, got, err));
    return amp_tolerances_check(&bounds->metrics, &metrics, err);
}

static enum amp_status compare_outputs(const struct amp_bounds *bounds,
                                       const struct amp_model *model, const struct amp_tensor *got,
                                       const struct amp_tensor *want, struct amp_error *err)
{
    const struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        if (want[i].data == NULL || compare_output(bounds, &got[i], &want[i], err) == AMP_OK)
            continue;
        amp_error_prefix(err, "output '%s'", amp_value_at(model, outputs->items[i])->name);
        return err->status;
    }
    return AMP_OK;
}

struct test_case {
    const struct amp_bounds *bounds;
    const struct amp_model *model;
    struct amp_samples samples;
    struct amp_session *session;
};

static enum amp_status run_sample(struct test_case *test, size_t i, struct amp_error *err)
{
    const struct amp_graph *graph = &test->model->graphs[0];
    size_t n_in = graph->inputs.count, n_out = graph->outputs.count;
    struct amp_tensor *tensors = amp_xcalloc(n_in + 2 * n_out, sizeof *tensors);
    struct amp_tensor *got = tensors + n_in, *want = got + n_out;
    enum amp_status status = amp_sample_load(&test->samples, i, test->model, tensors, want, err);
    if (status == AMP_OK)
        status = amp_session_run(test->session, tensors, got, err);
    if (status == AMP_OK)
        status = compare_outputs(test->bounds, test->model, got, want, err);
    amp_tensors_release(tensors, n_in + 2 * n_out);
    free(tensors);
    return status;
}

static enum amp_status run_samples(struct test_case *test, const char *folder,
                                   struct amp_error *err)
{
    enum amp_status status = amp_samples_open(folder, &test->samples, err);
    if (status == AMP_OK)
        status = amp_session_create(test->model, &test->session, err);
    for (size_t i = 0; i < test->samples.count && status == AMP_OK; i++)
        status = run_sample(test, i, err);
    amp_session_destroy(test->session);
    amp_samples_close(&test->samples);
    return status;
}

static enum amp_status run_case(const struct amp_bounds *bounds, const char *folder,
                                const char *model_path, struct amp_error *err)
{
    struct amp_model_file file;
    AMP_TRY(amp_model_read(model_path, &file, err));
    struct test_case test = {.bounds = bounds, .model = file.model};
    enum amp_status status = amp_infer(file.model, err);
    if (status == AMP_OK)
        status = run_samples(&test, folder, err);
    amp_model_close(&file);
    return status;
}

/* ---- the suite ------------------------------------------------------------------------------- */

static void note_result(struct suite *suite, const char *name, enum result result,
                        const char *reason)
{
    bool is_said = suite->options->verbosity > 0 || (result != PASSED && !suite->options->is_quiet);
    suite->counts[result]++;
    if (is_said)
        fprintf(suite->talk, "%s %s%s%s\n", result_names[result], name, reason[0] ? ": " : "",
                reason);
    if (suite->cases == NULL)
        return;
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(name));
    amp_json_set(object, "result", json_string(result_names[result]));
    if (reason[0] != '\0')
        amp_json_set(object, "reason", amp_json_text(reason));
    json_array_append_new(suite->cases, object);
}

/* Folders without a model are no cases. */
static void try_case(struct suite *suite, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct amp_error err = {.status = AMP_OK};
    if (suite->options->filter != NULL && fnmatch(suite->options->filter, name, 0) != 0)
        return;
    snprintf(folder, sizeof folder, "%s/%s", suite->options->test_suite, name);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (access(path, F_OK) != 0)
        return;
    enum amp_status status = run_case(&suite->bounds, folder, path, &err);
    note_result(suite, name,
                status == AMP_OK            ? PASSED
                : status == AMP_UNSUPPORTED ? SKIPPED
                                            : FAILED,
                err.text);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum amp_status run_all(struct suite *suite, struct amp_error *err)
{
    struct dirent **entries;
    const char *folder = suite->options->test_suite;
    int n = scandir(folder, &entries, is_visible, versionsort);
    if (n < 0)
        return amp_fail(err, AMP_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        try_case(suite, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return AMP_OK;
}

static enum amp_status write_json(struct suite *suite, struct amp_error *err)
{
    json_t *root = json_object();
    for (int result = 0; result < N_RESULTS; result++)
        amp_json_set(root, result_names[result], amp_json_count(suite->counts[result]));
    json_object_set(root, "cases", suite->cases);
    return amp_json_write(root, suite->options->json, err);
}

static enum amp_status report(struct suite *suite, struct amp_error *err)
{
    size_t *counts = suite->counts, total = counts[PASSED] + counts[FAILED] + counts[SKIPPED];
    if (total == 0)
        return amp_fail(err, AMP_USAGE, "%s: no test case: no such folder with a model.onnx",
                        suite->options->test_suite);
    if (suite->cases != NULL)
        AMP_TRY(write_json(suite, err));
    fprintf(suite->talk, "%zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
            counts[SKIPPED]);
    fflush(suite->talk);
    if (counts[FAILED] > 0)
        return amp_fail(err, AMP_MISMATCH, "%zu of %zu cases failed", counts[FAILED], total);
    if (counts[PASSED] == 0)
        return amp_fail(err, AMP_UNSUPPORTED, "all %zu cases were skipped", total);
    return AMP_OK;
}

enum amp_status amp_command_suite(const struct amp_options *options, struct amp_error *err)
{
    struct suite suite = {.options = options, .talk = stdout};
    AMP_TRY(amp_bounds_parse(options, &suite.bounds, err));
    if (options->json != NULL && strcmp(options->json, "-") == 0)
        suite.talk = stderr;
    suite.cases = options->json != NULL ? json_array() : NULL;
    enum amp_status status = run_all(&suite, err);
    if (status == AMP_OK)
        status = report(&suite, err);
    json_decref(suite.cases);
    return status;
}
