/*
 * `ampconv compare`: reads two models, or one that it converts in memory, runs both on the same
 * inputs and reports how far apart their outputs are and, with --layers, what lies between. Writes
 * no model.
 */
#include "cli/compare.h"

#include "cli/convert/convert.h"
#include "cli/progress.h"
#include "cli/report/html/compare_page.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/layers.h"
#include "cli/report/text.h"
#include "cli/report/validation.h"
#include "cli/validation.h"
#include "core/array.h"
#include "core/words.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"

#include <string.h>

struct job {
    const struct amp_options *options;
    struct amp_layers_view view;
    struct amp_model_file files[2]; /* the reference, the other */
    struct amp_layers layers;
    struct amp_validation validation;
    struct amp_input_notes notes;
    struct amp_error *err;
};

/* ---- the command line ------------------------------------------------------------------------ */

static const char *order_at(size_t i)
{
    static const char *const names[] = {[AMP_LAYERS_BY_GRAPH] = "graph",
                                        [AMP_LAYERS_BY_LOCAL] = "local",
                                        [AMP_LAYERS_BY_ACCUMULATED] = "accumulated"};
    return i < AMP_COUNT(names) ? names[i] : NULL;
}

static enum amp_status parse_view(struct job *job)
{
    const struct amp_options *options = job->options;
    const char *sort = options->sort, *unused = sort != NULL          ? "--sort"
                                                : options->lines >= 0 ? "--lines"
                                                                      : NULL;
    if (unused != NULL && !options->has_layers)
        return amp_fail(job->err, AMP_USAGE, "%s goes with --layers", unused);
    job->view = (struct amp_layers_view){.lines = options->lines, .is_verbose = options->verbosity};
    for (size_t i = 0; sort != NULL && order_at(i) != NULL; i++)
        if (strcmp(order_at(i), sort) == 0) {
            job->view.order = (enum amp_layers_order)i;
            return AMP_OK;
        }
    return sort == NULL ? AMP_OK
                        : amp_fail(job->err, AMP_USAGE,
                                   "--sort %s: graph, local or accumulated is needed", sort);
}

/* AMP_USAGE where it is not clear what the second model is. */
static enum amp_status check_operands(const struct amp_options *options, struct amp_error *err)
{
    const struct amp_texts *operands = &options->operands;
    const char *how = options->dtype != NULL      ? "--dtype"
                      : options->opset != NULL    ? "--opset"
                      : options->cast_cache       ? "--cast-cache"
                      : options->io.count         ? "--io"
                      : options->rules.count      ? "--rules"
                      : options->node_rules.count ? "--node"
                      : options->op_rules.count   ? "--op"
                      : options->lower_ops.count  ? "--lower-ops"
                      : options->fp32_ops.count   ? "--fp32-ops"
                      : options->is_strict_rules  ? "--strict-rules"
                      : options->ranges != NULL   ? "--ranges"
                                                  : NULL;
    if (operands->count == 1 && options->dtype == NULL)
        return amp_fail(err, AMP_USAGE,
                        "compare REF MODEL: two models are needed, or one and --dtype, what it is "
                        "to be converted to");
    if (operands->count == 2 && how != NULL)
        return amp_fail(err, AMP_USAGE, "%s converts REF: '%s' does not go with it", how,
                        operands->items[1]);
    if (operands->count == 2 && strcmp(operands->items[0], "-") == 0 &&
        strcmp(operands->items[1], "-") == 0)
        return amp_fail(err, AMP_USAGE, "stdin cannot be both models");
    return AMP_OK;
}

/* ---- the models ------------------------------------------------------------------------------ */

static enum amp_status open_models(struct job *job)
{
    const struct amp_options *options = job->options;
    struct amp_model_file *reference = &job->files[0], *other = &job->files[1];
    AMP_TRY(amp_model_read(options->operands.items[0], reference, job->err));
    AMP_TRY(amp_infer(reference->model, job->err));
    if (!options->is_quiet)
        amp_report_newer_types(stderr, reference->model);
    if (options->operands.count == 1) {
        AMP_TRY(amp_model_read_again(reference, other, job->err));
        other->path = reference->path;
        return amp_convert_in_memory(options, other, job->err);
    }
    AMP_TRY(amp_model_read(options->operands.items[1], other, job->err));
    return amp_infer(other->model, job->err);
}

static enum amp_status compare(struct job *job, struct amp_error *err)
{
    const struct amp_model *reference = job->files[0].model, *other = job->files[1].model;
    enum amp_dtype coarsest = amp_validation_coarsest(AMP_FLOAT, reference);
    struct amp_validation_request request = {
        .options = job->options,
        .reference = reference,
        .converted = other,
        .coarsest = amp_validation_coarsest(coarsest, other),
        .layers = job->options->has_layers || job->options->report != NULL ? &job->layers : NULL};
    amp_progress_begin("comparing");
    enum amp_status status = amp_validation_run(&request, &job->notes, &job->validation, err);
    amp_progress_end();
    return amp_validation_suggest(&job->notes, status, err);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_report(const struct job *job, FILE *file)
{
    const struct amp_options *options = job->options;
    const char *dtype = options->operands.count == 1 ? options->dtype : NULL;
    amp_report_compared(file, job->files[0].path, job->files[1].path, dtype);
    amp_report_inputs(file, &job->notes, options->verbosity);
    if (options->has_layers)
        amp_report_layers(file, &job->layers, &job->view);
    amp_report_validation(file, &job->validation, options->verbosity);
}

static enum amp_status write_json(const struct job *job, enum amp_status verdict)
{
    const struct amp_options *options = job->options;
    json_t *root = amp_report_begin("comparison");
    amp_json_set(root, "reference", amp_json_text(job->files[0].path));
    amp_json_set(root, "reference_hash", amp_json_hash(&job->files[0].bytes));
    amp_json_set(root, "model", amp_json_text(job->files[1].path));
    amp_json_set(root, "model_hash", amp_json_hash(&job->files[1].bytes));
    amp_json_set(root, "dtype", amp_json_text_or_null(options->dtype));
    amp_json_set(root, "seed", json_integer(options->seed));
    amp_json_set(root, "inputs", amp_json_inputs(&job->notes));
    amp_json_set(root, "validation", amp_json_validation(&job->validation));
    if (options->has_layers)
        amp_json_set(root, "layers", amp_json_layers(&job->layers, job->view.order));
    return amp_report_write(root, options, verdict, job->err);
}

/* Writes the report as HTML where the user asked for it. */
static enum amp_status write_page(const struct job *job)
{
    const struct amp_options *options = job->options;
    struct amp_compare_page page = {.compared = {.models = {{.role = "reference",
                                                             .path = job->files[0].path,
                                                             .model = job->files[0].model,
                                                             .bytes = job->files[0].bytes.size},
                                                            {.role = "compared",
                                                             .path = job->files[1].path,
                                                             .model = job->files[1].model}},
                                                 .inputs = &job->notes,
                                                 .validation = &job->validation,
                                                 .layers = &job->layers},
                                    .dtype = options->operands.count == 1 ? options->dtype : NULL};
    if (options->report == NULL)
        return AMP_OK;
    if (page.dtype == NULL)
        page.compared.models[1].bytes = job->files[1].bytes.size;
    return amp_html_compare_page(&page, options->report, job->err);
}

static enum amp_status report(const struct job *job, enum amp_status verdict)
{
    const struct amp_options *options = job->options;
    bool is_on_stdout = options->json != NULL && strcmp(options->json, "-") == 0;
    if (!options->is_quiet)
        print_report(job, is_on_stdout ? stderr : stdout);
    AMP_TRY(write_page(job));
    return options->json != NULL ? write_json(job, verdict) : AMP_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum amp_status run(struct job *job)
{
    AMP_TRY(check_operands(job->options, job->err));
    AMP_TRY(parse_view(job));
    AMP_TRY(amp_validation_check_options(job->options, AMP_FLOAT, job->err));
    AMP_TRY(open_models(job));
    struct amp_error verdict = {.status = AMP_OK};
    enum amp_status status = compare(job, &verdict);
    if (status == AMP_OK || status == AMP_MISMATCH)
        AMP_TRY(report(job, status));
    return status == AMP_OK ? AMP_OK : amp_fail(job->err, status, "%s", verdict.text);
}

enum amp_status amp_command_compare(const struct amp_options *options, struct amp_error *err)
{
    struct job job = {.options = options, .err = err};
    enum amp_status status = run(&job);
    amp_layers_free(&job.layers);
    amp_validation_free(&job.validation);
    amp_input_notes_destroy(&job.notes);
    for (int i = 2; i-- > 0;)
        amp_model_close(&job.files[i]);
    return status;
}
