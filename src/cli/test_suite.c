/*
 * `ampconv run --test-suite DIR`: runs each folder of DIR that holds a model.onnx as ONNX's backend
 * test runner does (onnx/backend/test/runner), compares the outputs with the expected ones, and
 * counts the results and the reasons why cases did not pass.
 */
#include "cli/test_suite.h"

#include "cli/progress.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/options/tolerance.h"
#include "core/file/input.h"
#include "core/match/glob.h"
#include "core/print.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "onnx/sample/sample.h"
#include "run/exec/session.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum result { PASSED, FAILED, SKIPPED, N_RESULTS };

static const char *const result_names[N_RESULTS] = {"passed", "failed", "skipped"};

/* A reason why cases did not pass, in words that many cases have in common. */
struct reason {
    enum result result;
    char text[192];
    size_t count; /* of cases */
};

struct suite {
    const struct amp_options *options;
    FILE *talk; /* stdout, unless the JSON report goes there */
    struct amp_expected_tolerance tolerance;
    size_t counts[N_RESULTS];
    struct reason *reasons;
    size_t n_reasons;
    json_t *cases; /* NULL: nobody asked */
};

/* ---- one case -------------------------------------------------------------------------------- */

static enum amp_status compare_output(const struct amp_expected_tolerance *tolerance,
                                      const struct amp_tensor *got, const struct amp_tensor *want,
                                      struct amp_error *err)
{
    struct amp_metrics metrics = {.count = 0};
    if (tolerance->by_element)
        AMP_TRY(
            amp_tensor_compare(got, want, amp_expected_tolerance_of(tolerance, want->dtype), err));
    if (!tolerance->by_metric)
        return AMP_OK;
    AMP_TRY(amp_metrics_add(&metrics, want, got, err));
    return amp_metric_bounds_check(&tolerance->bounds, &metrics, err);
}

static enum amp_status compare_outputs(const struct amp_expected_tolerance *tolerance,
                                       const struct amp_model *model, const struct amp_tensor *got,
                                       const struct amp_tensor *want, struct amp_error *err)
{
    const struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        if (want[i].data == NULL || compare_output(tolerance, &got[i], &want[i], err) == AMP_OK)
            continue;
        amp_error_prefix(err, "output '%s'", amp_value_at(model, outputs->items[i])->name);
        return err->status;
    }
    return AMP_OK;
}

/* The stages of a case; the one that was reached says why a case did not pass. */
enum stage { READ, INFER, DATA, PLAN, RUN, COMPARE };

static const char *const stage_texts[] = {
    [READ] = "the model cannot be read",
    [INFER] = "the model is wrong",
    [DATA] = "test data are missing or cannot be read",
    [PLAN] = "no kernel for some type",
    [RUN] = "it does not run",
    [COMPARE] = "outputs are not as expected",
};

struct test_case {
    const struct amp_expected_tolerance *tolerance;
    const struct amp_model *model;
    struct amp_samples samples;
    struct amp_session *session;
    enum amp_strictness strictness;
    enum stage stage;  /* reached */
    char lacking[128]; /* the operator, and the types, that there is no kernel for; "": none */
};

/* AMP_MODEL when the sample at PATH has no tensor for an input that needs one. */
static enum amp_status check_inputs(const struct test_case *test, const char *path,
                                    const struct amp_tensor *inputs, struct amp_error *err)
{
    const struct amp_graph *graph = &test->model->graphs[0];
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const struct amp_value *value = amp_value_at(test->model, graph->inputs.items[i]);
        if (inputs[i].data == NULL && value->initial == NULL)
            return amp_fail(err, AMP_MODEL, "%s: no input '%s'", path, value->name);
    }
    return AMP_OK;
}

/* AMP_MODEL when the sample at PATH has no expected outputs: such samples belong to models that
   fail, and this one ran. */
static enum amp_status check_expected(const struct test_case *test, const char *path,
                                      const struct amp_tensor *want, struct amp_error *err)
{
    for (size_t i = 0; i < test->model->graphs[0].outputs.count; i++)
        if (want[i].data != NULL)
            return AMP_OK;
    return amp_fail(err, AMP_MODEL, "%s: no expected outputs", path);
}

static enum amp_status run_sample(struct test_case *test, size_t i, struct amp_error *err)
{
    const struct amp_graph *graph = &test->model->graphs[0];
    size_t n_in = graph->inputs.count, n_out = graph->outputs.count;
    struct amp_tensor *tensors = amp_xcalloc(n_in + 2 * n_out, sizeof *tensors);
    struct amp_tensor *got = tensors + n_in, *want = got + n_out;
    const char *path = test->samples.paths[i];
    const struct amp_sample sample = {test->model, tensors, want};
    test->stage = DATA;
    enum amp_status status = amp_sample_load(&test->samples, i, &sample, err);
    if (status == AMP_OK)
        status = check_inputs(test, path, tensors, err);
    if (status == AMP_OK) {
        test->stage = RUN;
        status = amp_session_run(test->session, tensors, got, err);
    }
    if (status == AMP_OK) {
        test->stage = DATA;
        status = check_expected(test, path, want, err);
    }
    if (status == AMP_OK) {
        test->stage = COMPARE;
        status = compare_outputs(test->tolerance, test->model, got, want, err);
    }
    amp_tensors_release(tensors, n_in + 2 * n_out);
    free(tensors);
    return status;
}

static enum amp_status run_samples(struct test_case *test, const char *folder,
                                   struct amp_error *err)
{
    test->stage = PLAN;
    enum amp_status status = amp_session_open(test->model, test->strictness, &test->session, err);
    if (status == AMP_OK) {
        test->stage = DATA;
        status = amp_samples_open(folder, &test->samples, err);
    }
    for (size_t i = 0; i < test->samples.count && status == AMP_OK; i++)
        status = run_sample(test, i, err);
    amp_session_destroy(test->session);
    amp_samples_close(&test->samples);
    return status;
}

static void note_lacking(struct test_case *test)
{
    uint32_t id = amp_plan_find_unsupported(test->model);
    test->stage = PLAN;
    if (id == AMP_NONE)
        return;
    const struct amp_node *node = amp_node_at(test->model, id);
    snprintf(test->lacking, sizeof test->lacking, "%s%s%s", node->domain,
             node->domain[0] ? "." : "", node->op_type);
}

static enum amp_status run_model(struct test_case *test, const char *folder,
                                 struct amp_model *model, struct amp_error *err)
{
    test->model = model;
    test->stage = INFER;
    AMP_TRY(amp_infer(model, err));
    enum amp_status status = run_samples(test, folder, err);
    if (status == AMP_UNSUPPORTED)
        note_lacking(test);
    return status;
}

static enum amp_status run_case(struct test_case *test, const char *folder, const char *model_path,
                                struct amp_error *err)
{
    struct amp_model_file file;
    /* Nobody named it, so that it may be no stream. */
    AMP_TRY(amp_file_check(model_path, err));
    AMP_TRY(amp_model_read(model_path, &file, err));
    enum amp_status status = run_model(test, folder, file.model, err);
    amp_model_close(&file);
    return status;
}

/* ---- the suite ------------------------------------------------------------------------------- */

static void count_reason(struct suite *suite, enum result result, const struct test_case *test)
{
    struct reason found = {.result = result, .count = 1};
    if (test->lacking[0] != '\0')
        snprintf(found.text, sizeof found.text, "no kernel for %s", test->lacking);
    else
        snprintf(found.text, sizeof found.text, "%s", stage_texts[test->stage]);
    for (size_t i = 0; i < suite->n_reasons; i++)
        if (suite->reasons[i].result == result && strcmp(suite->reasons[i].text, found.text) == 0) {
            suite->reasons[i].count++;
            return;
        }
    suite->reasons = amp_xrealloc(suite->reasons, suite->n_reasons + 1, sizeof *suite->reasons);
    suite->reasons[suite->n_reasons++] = found;
}

static json_t *json_case(const char *name, enum result result, const char *reason)
{
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(name));
    amp_json_set(object, "result", json_string(result_names[result]));
    amp_json_set(object, "reason", result == PASSED ? json_null() : amp_json_text(reason));
    return object;
}

static void note_result(struct suite *suite, const char *name, const struct test_case *test,
                        const struct amp_error *err)
{
    enum result result = err->status == AMP_OK            ? PASSED
                         : err->status == AMP_UNSUPPORTED ? SKIPPED
                                                          : FAILED;
    suite->counts[result]++;
    amp_progress_clear();
    if (result != PASSED)
        count_reason(suite, result, test);
    if (suite->options->verbosity > 0 || (result != PASSED && !suite->options->is_quiet))
        amp_print(suite->talk, "%s %s%s%s\n", result_names[result], name, err->text[0] ? ": " : "",
                  err->text);
    if (suite->cases != NULL)
        json_array_append_new(suite->cases, json_case(name, result, err->text));
}

/* Runs the case in the folder NAME; a folder without a model is none. */
static void try_case(struct suite *suite, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct amp_error err = {.status = AMP_OK};
    if (suite->options->filter != NULL && !amp_glob_matches(suite->options->filter, name))
        return;
    snprintf(folder, sizeof folder, "%s/%s", suite->options->test_suite, name);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (access(path, F_OK) != 0)
        return;
    struct test_case test = {.tolerance = &suite->tolerance,
                             .stage = READ,
                             .strictness = suite->options->is_strict ? AMP_LITERAL : AMP_FREE};
    AMP_IGNORE(run_case(&test, folder, path, &err));
    note_result(suite, name, &test, &err);
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
    amp_progress_begin("testing");
    for (int i = 0; i < n; i++) {
        amp_progress_step(suite, (size_t)i, (size_t)n);
        try_case(suite, entries[i]->d_name);
        free(entries[i]);
    }
    amp_progress_end();
    free(entries);
    return AMP_OK;
}

static enum amp_status write_json(const struct suite *suite, enum amp_status verdict,
                                  struct amp_error *err)
{
    json_t *root = amp_report_begin("suite");
    for (int result = 0; result < N_RESULTS; result++)
        amp_json_set(root, result_names[result], amp_json_count(suite->counts[result]));
    json_object_set(root, "cases", suite->cases);
    return amp_report_write(root, suite->options, verdict, err);
}

/* Orders reasons: failures before skipped cases, frequent reasons before rare ones. */
static int compare_reasons(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    if (x->result != y->result)
        return x->result < y->result ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void print_summary(struct suite *suite)
{
    const size_t *counts = suite->counts;
    amp_print(suite->talk, "%zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
              counts[SKIPPED]);
    if (suite->n_reasons > 0)
        qsort(suite->reasons, suite->n_reasons, sizeof *suite->reasons, compare_reasons);
    for (size_t i = 0; i < suite->n_reasons; i++)
        amp_print(suite->talk, "%6zu %s: %s\n", suite->reasons[i].count,
                  result_names[suite->reasons[i].result], suite->reasons[i].text);
    fflush(suite->talk);
}

static enum amp_status report(struct suite *suite, struct amp_error *err)
{
    size_t *counts = suite->counts, total = counts[PASSED] + counts[FAILED] + counts[SKIPPED];
    enum amp_status verdict = counts[FAILED] > 0    ? AMP_MISMATCH
                              : counts[PASSED] == 0 ? AMP_UNSUPPORTED
                                                    : AMP_OK;
    if (total == 0)
        return amp_fail(err, AMP_USAGE, "%s: no test case: no such folder with a model.onnx",
                        suite->options->test_suite);
    if (suite->cases != NULL)
        AMP_TRY(write_json(suite, verdict, err));
    print_summary(suite);
    if (counts[FAILED] > 0)
        return amp_fail(err, AMP_MISMATCH, "%zu of %zu cases failed", counts[FAILED], total);
    if (counts[PASSED] == 0)
        return amp_fail(err, AMP_UNSUPPORTED, "all %zu cases were skipped", total);
    return AMP_OK;
}

enum amp_status amp_command_test_suite(const struct amp_options *options, struct amp_error *err)
{
    struct suite suite = {.options = options, .talk = stdout};
    AMP_TRY(amp_expected_tolerance_parse(options, &suite.tolerance, err));
    if (options->json != NULL && strcmp(options->json, "-") == 0)
        suite.talk = stderr;
    suite.cases = options->json != NULL ? json_array() : NULL;
    enum amp_status status = run_all(&suite, err);
    if (status == AMP_OK)
        status = report(&suite, err);
    json_decref(suite.cases);
    free(suite.reasons);
    return status;
}
