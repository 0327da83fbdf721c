/*
 * `ampconv run --test-suite DIR`: runs each folder of DIR that holds a model.onnx as ONNX's backend
 * runner does, compares with the expected outputs and counts.
 */
#include "check/compare.h"
#include "cli/commands.h"
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

/* The tolerance of onnx.backend.test.runner. */
static const struct amp_tolerance suite_tolerance = {.rtol = 1e-3, .atol = 1e-7};
/* Half-precision results carry the rounding of their own type. */
static const struct amp_tolerance half_tolerance = {.rtol = 1e-2, .atol = 1e-3};

struct counts {
    size_t passed, failed, skipped;
};

static void release_all(struct amp_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        amp_tensor_release(&tensors[i]);
}

static enum amp_status compare_outputs(const struct amp_model *model, const struct amp_tensor *got,
                                       const struct amp_tensor *want, struct amp_error *err)
{
    const struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        if (want[i].data == NULL)
            continue;
        bool is_half = want[i].dtype == AMP_FLOAT16 || want[i].dtype == AMP_BFLOAT16;
        if (amp_tensor_compare(&got[i], &want[i], is_half ? half_tolerance : suite_tolerance,
                               err)) {
            amp_error_prefix(err, "output '%s'", amp_value_at(model, outputs->items[i])->name);
            return err->status;
        }
    }
    return AMP_OK;
}

static enum amp_status run_sample(struct amp_session *session, const struct amp_model *model,
                                  const struct amp_samples *samples, size_t i,
                                  struct amp_error *err)
{
    size_t n_in = model->graphs[0].inputs.count, n_out = model->graphs[0].outputs.count;
    struct amp_tensor *tensors = calloc(n_in + 2 * n_out + 1, sizeof *tensors);
    if (tensors == NULL)
        return amp_fail(err, AMP_IO, "out of memory");
    struct amp_tensor *got = tensors + n_in, *want = got + n_out;
    enum amp_status status = amp_sample_load(samples, i, model, tensors, want, err);
    if (status == AMP_OK)
        status = amp_session_run(session, tensors, got, err);
    if (status == AMP_OK)
        status = compare_outputs(model, got, want, err);
    release_all(tensors, n_in + 2 * n_out);
    free(tensors);
    return status;
}

static enum amp_status run_samples(const struct amp_model *model, const char *folder,
                                   struct amp_error *err)
{
    struct amp_samples samples;
    struct amp_session *session = NULL;
    enum amp_status status = amp_samples_open(folder, &samples, err);
    if (status == AMP_OK)
        status = amp_session_create(model, &session, err);
    for (size_t i = 0; i < samples.count && status == AMP_OK; i++)
        status = run_sample(session, model, &samples, i, err);
    amp_session_destroy(session);
    amp_samples_close(&samples);
    return status;
}

static enum amp_status run_case(const char *folder, struct amp_error *err)
{
    char path[PATH_MAX + 16];
    struct amp_model_file file;
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    AMP_TRY(amp_model_read(path, &file, err));
    enum amp_status status = amp_infer(file.model, err);
    if (status == AMP_OK)
        status = run_samples(file.model, folder, err);
    amp_model_close(&file);
    return status;
}

/* One line per case that does not pass: "failed NAME: reason". */
static void count_case(const char *suite, const char *name, const struct amp_options *options,
                       struct counts *counts)
{
    char folder[PATH_MAX];
    struct amp_error err = {.status = AMP_OK};
    snprintf(folder, sizeof folder, "%s/%s", suite, name);
    enum amp_status status = run_case(folder, &err);
    const char *result = "passed";
    if (status == AMP_OK)
        counts->passed++;
    else if (status == AMP_UNSUPPORTED)
        counts->skipped++, result = "skipped";
    else
        counts->failed++, result = "failed";
    if (options->verbosity > 0 || (status != AMP_OK && !options->is_quiet))
        printf("%s %s%s%s\n", result, name, status ? ": " : "", err.text);
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

enum amp_status amp_command_suite(const struct amp_options *options, struct amp_error *err)
{
    struct dirent **entries;
    struct counts counts = {0, 0, 0};
    const char *suite = options->test_suite;
    int n = scandir(suite, &entries, is_case, versionsort);
    if (n < 0)
        return amp_fail(err, AMP_IO, "%s: cannot read the folder: %s", suite, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (options->filter == NULL || fnmatch(options->filter, entries[i]->d_name, 0) == 0)
            count_case(suite, entries[i]->d_name, options, &counts);
        free(entries[i]);
    }
    free(entries);
    printf("%zu passed, %zu failed, %zu skipped\n", counts.passed, counts.failed, counts.skipped);
    if (counts.failed + counts.skipped > 0)
        return amp_fail(err, AMP_MISMATCH, "%zu of %zu cases did not pass",
                        counts.failed + counts.skipped,
                        counts.passed + counts.failed + counts.skipped);
    return AMP_OK;
}
