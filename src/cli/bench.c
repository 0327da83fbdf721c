/*
 * `ampconv bench`: converts every model in memory to the dtypes to be timed, loads the inputs, has
 * check/bench.c time them in turns, and reports model by model. Writes no model.
 */
#include "cli/bench.h"

#include "cli/convert/convert.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/report/bench.h"
#include "cli/report/html/bench_page.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/profile.h"
#include "core/file/output.h"
#include "onnx/file/read.h"

#include <stdlib.h>
#include <string.h>

static const enum amp_dtype known[AMP_BENCH_SIDES] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};

struct dtypes {
    enum amp_dtype items[AMP_BENCH_SIDES];
    size_t count;
};

/* A model in one dtype, with the tensors that it runs on. */
struct form {
    struct amp_model_file file;
    struct amp_tensor *tensors;
};

struct job {
    const struct amp_options *options;
    struct dtypes dtypes;
    struct form forms[AMP_BENCH_SIDES];
    struct amp_bench_side sides[AMP_BENCH_SIDES];
    struct amp_bench bench;
    FILE *file;            /* of the table */
    json_t *models;        /* NULL: no JSON */
    struct amp_html *page; /* NULL: no report in HTML */
    struct amp_error *err;
};

/* ---- options --------------------------------------------------------------------------------- */

static enum amp_status add_dtype(struct dtypes *dtypes, const char *name, struct amp_error *err)
{
    enum amp_dtype dtype = amp_dtype_parse(name);
    bool is_known = false;
    for (size_t i = 0; i < AMP_BENCH_SIDES; i++)
        is_known |= known[i] == dtype;
    if (!is_known)
        return amp_fail(err, AMP_USAGE, "--dtype: '%s' is none of fp32, bf16 and fp16", name);
    for (size_t i = 0; i < dtypes->count; i++)
        if (dtypes->items[i] == dtype)
            return amp_fail(err, AMP_USAGE, "--dtype: '%s' is there twice", name);
    dtypes->items[dtypes->count++] = dtype;
    return AMP_OK;
}

/* Reads the dtypes of --dtype from TEXT, "bf16,fp16"; NULL: all. */
static enum amp_status parse_dtypes(const char *text, struct dtypes *dtypes, struct amp_error *err)
{
    *dtypes = (struct dtypes){.count = 0};
    if (text == NULL) {
        memcpy(dtypes->items, known, sizeof known);
        dtypes->count = AMP_BENCH_SIDES;
        return AMP_OK;
    }
    char *copy = amp_xstrdup(text), *rest = copy;
    enum amp_status status = AMP_OK;
    for (char *name; status == AMP_OK && (name = strsep(&rest, ",")) != NULL;)
        status = add_dtype(dtypes, name, err);
    free(copy);
    return status;
}

/* ---- one model ------------------------------------------------------------------------------- */

/* The options with which a model is converted to DTYPE: OPTIONS, without rules for float32, which
   lowers nothing. */
static struct amp_options options_for(const struct amp_options *options, enum amp_dtype dtype)
{
    struct amp_options own = *options;
    own.dtype = amp_dtype_short_name(dtype);
    if (dtype == AMP_FLOAT)
        own.rules = own.node_rules = own.op_rules = own.lower_ops = own.fp32_ops =
            (struct amp_texts){.count = 0};
    return own;
}

static enum amp_status load_inputs(struct job *job, struct form *form)
{
    struct amp_inputs inputs;
    const struct amp_model *model = form->file.model;
    AMP_TRY(amp_inputs_open(job->options, model, &inputs, job->err));
    form->tensors = amp_xcalloc(model->graphs[0].inputs.count, sizeof *form->tensors);
    enum amp_status status = amp_inputs_load(&inputs, 0, form->tensors, NULL, job->err);
    amp_inputs_close(&inputs);
    return status;
}

/* Prepares side I of the model at PATH: its file is read once and parsed anew for each side. */
static enum amp_status prepare(struct job *job, const char *path, size_t i)
{
    struct form *form = &job->forms[i];
    struct amp_options options = options_for(job->options, job->dtypes.items[i]);
    AMP_TRY(i == 0 ? amp_model_read(path, &form->file, job->err)
                   : amp_model_read_again(&job->forms[0].file, &form->file, job->err));
    AMP_TRY(amp_convert_in_memory(&options, &form->file, job->err));
    AMP_TRY(load_inputs(job, form));
    job->sides[i] = (struct amp_bench_side){
        .dtype = job->dtypes.items[i], .model = form->file.model, .inputs = form->tensors};
    return AMP_OK;
}

static enum amp_status time_model(struct job *job, const char *path)
{
    size_t n_runs = (size_t)job->options->runs;
    for (size_t i = 0; i < job->dtypes.count; i++)
        AMP_TRY(prepare(job, path, i));
    job->bench = (struct amp_bench){.sides = job->sides,
                                    .n_sides = job->dtypes.count,
                                    .n_runs = n_runs,
                                    .note = amp_progress_step,
                                    .context = job,
                                    .is_profiled = job->options->is_profiled || job->page != NULL,
                                    .strictness = job->options->is_strict ? AMP_LITERAL : AMP_FREE};
    return amp_bench_run(&job->bench, job->err);
}

static void add_json(struct job *job, const char *path)
{
    json_t *model = amp_json_bench(path, &job->bench);
    amp_json_set(model, "model_hash", amp_json_hash(&job->forms[0].file.bytes));
    json_array_append_new(job->models, model);
}

static void report(struct job *job, const char *path)
{
    const struct amp_options *options = job->options;
    bool shows_table = !options->is_quiet || job->models == NULL;
    if (shows_table && path == options->operands.items[0])
        amp_report_bench_head(job->file, job->bench.n_runs);
    if (shows_table)
        amp_report_bench(job->file, path, &job->bench);
    for (size_t i = 0; i < job->bench.n_sides && shows_table && options->is_profiled; i++)
        amp_report_profile(job->file, &job->sides[i], job->bench.n_runs, options->verbosity);
    if (job->models != NULL)
        add_json(job, path);
    if (job->page != NULL)
        amp_html_bench_add(job->page, path, &job->bench);
}

/* Releases the forms of the model, the first one last, since the others share the bytes of its
   file. */
static void tear_down(struct job *job)
{
    amp_bench_free(&job->bench);
    for (size_t i = job->dtypes.count; i-- > 0;) {
        struct form *form = &job->forms[i];
        if (form->tensors != NULL)
            amp_tensors_release(form->tensors, form->file.model->graphs[0].inputs.count);
        free(form->tensors);
        amp_model_close(&form->file);
        *form = (struct form){.tensors = NULL};
    }
    job->bench = (struct amp_bench){.n_sides = 0};
}

static enum amp_status bench_model(struct job *job, const char *path)
{
    amp_progress_begin(path);
    enum amp_status status = time_model(job, path);
    if (status == AMP_OK)
        report(job, path);
    amp_progress_end();
    tear_down(job);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

enum amp_status amp_command_bench(const struct amp_options *options, struct amp_error *err)
{
    const char *json = options->json;
    bool is_on_stdout = json != NULL && strcmp(json, "-") == 0;
    struct job job = {.options = options,
                      .file = is_on_stdout ? stderr : stdout,
                      .models = json != NULL ? json_array() : NULL,
                      .err = err};
    enum amp_status status = parse_dtypes(options->dtype, &job.dtypes, err);
    if (status == AMP_OK && options->report != NULL)
        job.page = amp_html_bench_begin((size_t)options->runs);
    for (size_t i = 0; i < options->operands.count && status == AMP_OK; i++)
        status = bench_model(&job, options->operands.items[i]);
    if (status == AMP_OK && job.page != NULL)
        status = amp_html_write(job.page, options->report, err);
    amp_html_destroy(job.page);
    if (status != AMP_OK || json == NULL) {
        json_decref(job.models);
        return status;
    }
    json_t *root = amp_json_bench_all((size_t)options->runs, job.models);
    amp_json_set(root, "seed", json_integer(options->seed));
    return amp_report_write(root, options, AMP_OK, err);
}
