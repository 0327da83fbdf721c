/*
 * `ampconv MODEL`: reads a model, decides on every node, inserts casts, validates and writes, in
 * the order of the stages. What a stage does is in the stage's own file; this one has the order,
 * the stops on the way that the user asked for (--dump-after, --list), and the reports.
 */
#include "cli/convert.h"

#include "autocast/cast_estimate.h"
#include "autocast/cast_fold.h"
#include "autocast/cast_insert.h"
#include "autocast/forms/einsum.h"
#include "autocast/provenance.h"
#include "autocast/settle.h"
#include "autocast/wholes.h"
#include "cli/destination.h"
#include "cli/noise.h"
#include "cli/progress.h"
#include "cli/ranges.h"
#include "cli/tune/tune.h"
#include "cli/report/conversion.h"
#include "cli/report/explanation.h"
#include "cli/report/head.h"
#include "cli/report/html/convert_page.h"
#include "cli/report/inputs.h"
#include "cli/report/json.h"
#include "cli/report/losses.h"
#include "cli/report/noise.h"
#include "cli/report/ranges.h"
#include "cli/report/text.h"
#include "cli/report/tuning.h"
#include "cli/report/validation.h"
#include "cli/options/rule_options.h"
#include "cli/options/target.h"
#include "cli/validation.h"
#include "core/graph/dump.h"
#include "core/print.h"
#include "core/words.h"
#include "onnx/schema/check.h"
#include "onnx/file/external.h"
#include "onnx/schema/infer.h"
#include "onnx/opset/opset.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"
#include "onnx/training/training.h"
#include "onnx/file/write.h"

#include <string.h>

/* The stages after which the graph can be printed. */
enum stage {
    STAGE_READ,
    STAGE_INFER,
    STAGE_OPSET,
    STAGE_ASSIGN,
    STAGE_INSERT,
    STAGE_FOLD,
    N_STAGES
};

static const char *const stage_names[N_STAGES + 1] = {"read",   "infer", "opset", "assign",
                                                      "insert", "fold",  NULL};

struct job {
    const struct amp_options *options;
    struct amp_model_file file;
    struct amp_model *model;
    struct amp_rules *rules;
    struct amp_ranges *ranges; /* NULL: nothing was seen, or asked for */
    struct amp_target target;
    struct amp_ids interface; /* see struct amp_assign_options */
    struct amp_training *training;
    struct amp_conversion conversion;
    bool explains;     /* notes what was decided on each node */
    bool is_explained; /* and prints it */
    bool explains_noise;
    bool may_run;         /* the model, before it is converted, as no other job does */
    const char **outputs; /* as in struct amp_tune_model; NULL: nobody asks */
    bool notes_outputs;
    struct amp_tuning tuning;
    struct amp_explanation explanation;
    struct amp_placement *placement;
    struct amp_eval_check eval; /* what the user's command says */
    enum stage last;            /* STAGE to dump after; N_STAGES: none */
    struct amp_error *err;
};

const char *amp_convert_stage_at(size_t i)
{
    return stage_names[i];
}

static enum amp_status parse_stage(struct job *job)
{
    const char *name = job->options->dump_after;
    job->last = STAGE_READ;
    while (job->last < N_STAGES && name != NULL && strcmp(stage_names[job->last], name) != 0)
        job->last++;
    if (name == NULL)
        job->last = N_STAGES;
    else if (job->last == N_STAGES) {
        const char *nearest = amp_word_nearest_at(name, amp_convert_stage_at);
        return amp_fail(job->err, AMP_USAGE,
                        "--dump-after %s: read, infer, opset, assign, insert or fold%s%s%s", name,
                        nearest ? "; did you mean '" : "", nearest ? nearest : "",
                        nearest ? "'?" : "");
    }
    return AMP_OK;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Loads the one rule that raises a model of 16 bits: every node runs in float32. */
static enum amp_status load_rule_to_raise(struct job *job)
{
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    job->rules = amp_rules_create(job->file.arena);
    return amp_rules_add_node(job->rules, "*", AMP_FP32, source, job->err);
}

static enum amp_status load_rules(struct job *job)
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

/* ---- stages ---------------------------------------------------------------------------------- */

static void note_decision(FILE *file, const void *context, uint32_t node)
{
    const struct amp_assignment *assignment = context;
    if (node >= assignment->n_nodes)
        return;
    const struct amp_decision *decision = &assignment->nodes[node];
    amp_print(file, " ; %s %s",
              decision->dtype == AMP_UNDEFINED ? "-" : amp_dtype_name(decision->dtype),
              amp_reason_name(decision->reason));
    if (decision->whole != NULL)
        amp_print(file, " of %s", decision->whole->name);
}

/* Prints the graph and returns true when the user asked for it after STAGE. */
static bool dump(const struct job *job, enum stage stage)
{
    if (stage != job->last || stage == N_STAGES)
        return false;
    amp_model_dump(stdout, job->model, stage == STAGE_ASSIGN ? note_decision : NULL,
                   &job->conversion.assignment);
    return true;
}

static struct amp_assign_options assign_options(const struct job *job, int cap)
{
    return (struct amp_assign_options){.rules = job->rules,
                                       .lower = job->target.lower,
                                       .second = job->target.second,
                                       .ranges = job->ranges,
                                       .runtimes = &job->target.runtimes,
                                       .cap = cap,
                                       .interface = job->interface};
}

/* Raises the opset as far as lowered operators need, or to the one that the user named. */
static enum amp_status raise_opset(struct job *job)
{
    struct amp_conversion *conversion = &job->conversion;
    bool is_exact = job->target.mode == AMP_OPSET_EXACT;
    int highest = is_exact ? job->target.opset : amp_schema_released_opset();
    int cap = amp_training_opset(job->training, highest, &conversion->opset_obstacle);
    conversion->opset_before = amp_model_opset(job->model, "");
    if (is_exact && cap < highest)
        return amp_fail(job->err, AMP_UNSUPPORTED, "%s: %s", job->model->path,
                        conversion->opset_obstacle);
    if (job->target.mode == AMP_OPSET_AUTO)
        AMP_TRY(amp_settle(job->model, assign_options(job, cap), &conversion->assignment,
                           &conversion->opset_obstacle, job->err));
    if (is_exact && amp_opset_raise(job->model, job->target.opset, NULL, job->err) != AMP_OK) {
        amp_error_prefix(job->err, "%s", job->model->path);
        return job->err->status;
    }
    conversion->opset_after = amp_model_opset(job->model, "");
    return amp_infer(job->model, job->err);
}

/* Notes how many casts there are because constants promote, where a report will say so: nodes are
   decided on once more for that. */
static enum amp_status count_casts_of_constants(struct job *job,
                                                const struct amp_assign_options *options)
{
    struct amp_conversion *conversion = &job->conversion;
    bool is_silent = job->options->is_quiet && job->options->json == NULL;
    size_t following, count;
    if (is_silent || !conversion->assignment.has_promoting_constants)
        return AMP_OK;
    count = amp_assignment_casts(job->model, &conversion->assignment);
    AMP_TRY(amp_assignment_casts_following(job->model, options, &following, job->err));
    conversion->casts_of_constants = count > following ? count - following : 0;
    return AMP_OK;
}

/* Notes what the nodes give by the names that rules know. */
static void note_outputs(struct job *job)
{
    const struct amp_model *model = job->model;
    job->outputs = amp_arena_array(model->arena, model->n_nodes, sizeof *job->outputs);
    for (uint32_t n = 0; n < model->n_nodes; n++) {
        const struct amp_node *node = amp_node_at(model, n);
        for (uint32_t i = node->n_outputs; i > 0; i--)
            if (node->outputs[i - 1] != AMP_NONE)
                job->outputs[n] = amp_value_at(model, node->outputs[i - 1])->name;
    }
}

/* Runs the stages that lower nodes, up to the one after which the user wants to see the graph;
 *IS_DONE when that was printed. */
static enum amp_status lower_graph(struct job *job, bool *is_done)
{
    struct amp_conversion *conversion = &job->conversion;
    struct amp_assign_options options = assign_options(job, (int)conversion->opset_after);
    struct amp_provenance before = amp_provenance_begin(job->model);
    AMP_TRY(amp_assign(job->model, &options, &job->conversion.assignment, job->err));
    if (conversion->assignment.opset > conversion->opset_after)
        return amp_fail(
            job->err, AMP_UNSUPPORTED,
            "%s: --io lower needs opset %d, where casts to %s begin; the model has %lld",
            job->model->path, conversion->assignment.opset, amp_dtype_name(conversion->lower),
            (long long)conversion->opset_after);
    if (dump(job, STAGE_ASSIGN))
        return AMP_OK;
    AMP_TRY(count_casts_of_constants(job, &options));
    amp_conversion_note_refusals(conversion, job->model);
    if (job->notes_outputs)
        note_outputs(job);
    if (job->explains)
        amp_explanation_begin(&job->explanation, job->model, &conversion->assignment);
    bool is_kept = job->target.runtimes.count > 0 &&
                   !amp_assignment_changes(job->model, &conversion->assignment);
    AMP_TRY(amp_cast_insert(job->model, &conversion->assignment, job->target.shares_casts,
                            &conversion->casts, job->err));
    AMP_TRY(amp_einsums_take_apart(job->model, job->err));
    if (dump(job, STAGE_INSERT))
        return AMP_OK;
    if (!is_kept)
        conversion->casts_folded = amp_cast_fold(job->model, job->target.shares_casts,
                                                 (uint32_t)conversion->assignment.n_nodes);
    if (job->explains)
        amp_explanation_end(&job->explanation, job->model, &conversion->casts);
    amp_provenance_end(job->model, &before, job->rules, conversion->assignment.lowers,
                       job->options->no_metadata);
    amp_model_rename_nodes(job->model);
    AMP_TRY(amp_training_release(job->training, job->err));
    *is_done = dump(job, STAGE_FOLD);
    return AMP_OK;
}

/* The dtypes that nodes may be lowered to, as a mask. */
static uint32_t lower_dtypes(const struct job *job)
{
    return (amp_rules_named_dtypes(job->rules) | AMP_DTYPE_BIT(job->target.lower) |
            AMP_DTYPE_BIT(job->target.second)) &
           AMP_RULES_DTYPES;
}

/* The least precise of the dtypes that nodes may be lowered to. */
static enum amp_dtype coarsest_lower(const struct job *job)
{
    bool has_bfloat16 = (lower_dtypes(job) & AMP_DTYPE_BIT(AMP_BFLOAT16)) != 0;
    return has_bfloat16 ? AMP_BFLOAT16 : job->target.lower;
}

/* Whether the rules ask what values of DTYPE come to: float16's do unless they say otherwise,
   others where they set a limit to activations that the dtype does not have. */
static bool asks_for_ranges_of(const struct job *job, enum amp_dtype dtype)
{
    const struct amp_rule_limits *limits = amp_rules_limits(job->rules, dtype);
    return limits != NULL && limits->guards != AMP_GUARDS_OFF &&
           (dtype == AMP_FLOAT16 || limits->activation_max < amp_dtype_max(dtype));
}

static bool asks_for_ranges(const struct job *job)
{
    uint32_t dtypes = lower_dtypes(job);
    for (enum amp_dtype dtype = AMP_UNDEFINED; dtype < AMP_DTYPE_COUNT; dtype++)
        if ((dtypes & AMP_DTYPE_BIT(dtype)) != 0 && asks_for_ranges_of(job, dtype))
            return true;
    return false;
}

/* Looks at the model's values in runs, where there are samples for that or it will be run anyway to
   be validated. A model that cannot be run goes by what is proved; what else keeps it from running
   then, validation will say; what the system refused is an error at once. */
static enum amp_status see_ranges(struct job *job)
{
    const struct amp_options *options = job->options;
    struct amp_error problem = {.status = AMP_OK};
    bool has_samples = options->data.count > 0 || options->inputs.count > 0;
    bool validates = job->last == N_STAGES && !options->no_validate;
    if (!asks_for_ranges(job) || !job->may_run || options->is_listed || !(validates || has_samples))
        return AMP_OK;
    struct amp_ranges *ranges = amp_ranges_create(job->file.arena);
    amp_progress_begin("calibrating");
    enum amp_status status = amp_ranges_see_file(options, &job->file, ranges, &problem);
    amp_progress_begin("converting");
    if (status == AMP_OK)
        job->ranges = ranges;
    else
        job->conversion.ranges_obstacle = amp_arena_strdup(job->file.arena, problem.text);
    bool goes_on = validates ? status != AMP_IO : status == AMP_UNSUPPORTED;
    return status == AMP_OK || goes_on ? AMP_OK : amp_error_copy(job->err, &problem);
}

/* Finds the ranges to go by, unless the job has some. */
static enum amp_status find_ranges(struct job *job)
{
    if (job->ranges != NULL || !amp_dtype_is_lower(job->target.lower) ||
        job->conversion.keeps_types)
        return AMP_OK;
    if (job->options->ranges == NULL)
        return see_ranges(job);
    AMP_TRY(amp_ranges_load(job->options, job->model, &job->ranges, job->err));
    if (!job->options->is_quiet)
        amp_report_unknown_ranges(stderr, job->ranges, job->model);
    return AMP_OK;
}

/* Runs all stages on the graph, up to the one after which the user wants to see it; *IS_DONE when
   that was printed. */
static enum amp_status convert_graph(struct job *job, bool *is_done)
{
    struct amp_conversion *conversion = &job->conversion;
    *is_done = true;
    if (dump(job, STAGE_READ))
        return AMP_OK;
    AMP_TRY(amp_training_open(&job->file, &job->training, job->err));
    AMP_TRY(amp_infer(job->model, job->err));
    if (job->may_run && !job->options->is_quiet)
        amp_report_newer_types(stderr, job->model);
    if (dump(job, STAGE_INFER))
        return AMP_OK;
    AMP_TRY(find_ranges(job));
    AMP_TRY(
        amp_target_interface(job->options, &job->target, job->model, &job->interface, job->err));
    AMP_TRY(amp_training_hold(job->training, job->err));
    conversion->n_interface = job->interface.count;
    conversion->casts_before = amp_cast_count(job->model);
    AMP_TRY(raise_opset(job));
    if (dump(job, STAGE_OPSET))
        return AMP_OK;
    if (!conversion->keeps_types) {
        AMP_TRY(lower_graph(job, is_done));
    } else {
        amp_model_rename_nodes(job->model);
        AMP_TRY(amp_training_release(job->training, job->err));
        *is_done = dump(job, job->last);
    }
    conversion->casts_after = amp_cast_count(job->model);
    if (*is_done || amp_check_model(job->model, job->err) == AMP_OK)
        return AMP_OK;
    amp_error_prefix(job->err, "%s: the converted graph is wrong", job->model->path);
    return job->err->status;
}

/* Makes the message of MODEL, as it will be written, and finds the places of its tensor data. */
static enum amp_status prepare(const struct job *job, struct amp_model *model,
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
static enum amp_status prepare_output(struct job *job)
{
    AMP_TRY(prepare(job, job->model, &job->placement, job->err));
    const char *data_path = job->placement->data_path;
    job->conversion.bytes_after = amp_placement_size(job->placement);
    job->conversion.data_path = data_path;
    return amp_destination_check(job->options, job->file.external, job->conversion.output_path,
                                 data_path, job->err);
}

/* Gives in TWIN the converted model to run: the one to write, unless that has calls of functions.
   Then the model is read again and converted by the rules of JOB, with all calls inlined. */
static enum amp_status make_runnable(struct job *job, struct job *twin, struct amp_error *err)
{
    *twin = (struct job){.model = job->model};
    if (!job->file.has_functions)
        return AMP_OK;
    bool is_done;
    twin->options = job->options;
    twin->target = job->target;
    twin->rules = job->rules;
    twin->ranges = job->ranges;
    twin->last = N_STAGES;
    twin->conversion.lower = job->conversion.lower;
    twin->err = err;
    AMP_TRY(amp_model_read_again(&job->file, &twin->file, err));
    twin->model = twin->file.model;
    return convert_graph(twin, &is_done);
}

/* ---- tuning ---------------------------------------------------------------------------------- */

/* Converts the model once more, by RULES: a candidate of the search. */
static enum amp_status convert_by(void *context, struct amp_rules *rules,
                                  struct amp_tune_model *model, struct amp_error *err)
{
    struct job *job = context;
    struct job twin = {.options = job->options,
                       .target = job->target,
                       .rules = rules,
                       .ranges = job->ranges,
                       .last = N_STAGES,
                       .notes_outputs = true,
                       .err = err};
    bool is_done;
    AMP_TRY(amp_model_read_again(&job->file, &model->file, err));
    twin.file = model->file;
    twin.model = model->file.model;
    twin.conversion.lower = job->conversion.lower;
    AMP_TRY(convert_graph(&twin, &is_done));
    model->assignment = twin.conversion.assignment;
    model->outputs = twin.outputs;
    return job->options->eval == NULL ? AMP_OK : prepare(job, twin.model, &model->placement, err);
}

/* Has the search add the rules that it takes to be within the tolerance. */
static enum amp_status tune(struct job *job)
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
    AMP_TRY(find_ranges(job));
    request.coarsest = amp_validation_coarsest(coarsest_lower(job), job->model);
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
    struct job job = {
        .options = options, .file = *file, .model = file->model, .last = N_STAGES, .err = err};
    AMP_TRY(amp_target_parse(options, &job.target, err));
    AMP_TRY(amp_target_check(&job.target, job.model, err));
    job.conversion.lower = job.target.lower;
    enum amp_status status = load_rules(&job);
    if (status == AMP_OK)
        status = convert_graph(&job, &is_done);
    amp_rules_destroy(job.rules);
    return status;
}

/* The least precise of the dtypes that the two models compute in. */
static enum amp_dtype coarsest_dtype(const struct job *job, const struct amp_model *reference)
{
    return job->target.keeps_types ? job->target.lower
                                   : amp_validation_coarsest(coarsest_lower(job), reference);
}

/* The models as they run, and what came of it. */
struct trial {
    struct amp_model_file reference; /* the model as it was read */
    struct job twin;                 /* the converted one */
    struct amp_input_notes notes;
    struct amp_validation validation;
    struct amp_layers layers; /* where a page is to show them */
    struct amp_noise noise;   /* where asked for, and where a page is to show it */
    bool has_models, is_measured, has_layers, has_noise;
};

static void trial_free(struct trial *trial)
{
    amp_noise_free(&trial->noise);
    amp_layers_free(&trial->layers);
    amp_validation_free(&trial->validation);
    amp_input_notes_destroy(&trial->notes);
    if (!trial->has_models)
        return;
    amp_model_close(&trial->reference);
    amp_model_close(&trial->twin.file);
}

static enum amp_status open_models(struct job *job, struct trial *trial, struct amp_error *err)
{
    AMP_TRY(amp_model_read_again(&job->file, &trial->reference, err));
    trial->has_models = true;
    AMP_TRY(make_runnable(job, &trial->twin, err));
    return amp_infer(trial->reference.model, err);
}

/* Runs the model as it was read and the converted one. AMP_MISMATCH when they are too far apart. */
static enum amp_status validate(struct job *job, struct trial *trial, struct amp_error *err)
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

/* The file that explanations go to: stdout unless the model does. */
static FILE *explanation_file(const struct job *job)
{
    bool is_taken = job->conversion.output_path != NULL &&
                    strcmp(job->conversion.output_path, "-") == 0 && !job->options->is_listed;
    return is_taken ? stderr : stdout;
}

/* Finds where the error of the converted model comes from, and prints it where that was asked for;
   a page does without it where it cannot be found. */
static enum amp_status find_noise(struct job *job, struct trial *trial)
{
    struct amp_error unused = {.status = AMP_OK};
    amp_progress_begin("finding the noise");
    enum amp_status status =
        amp_noise_search(job->options, trial->reference.model, trial->twin.model, &trial->noise,
                         job->explains_noise ? job->err : &unused);
    amp_progress_end();
    trial->has_noise = status == AMP_OK;
    if (trial->has_noise && job->explains_noise)
        amp_report_noise(explanation_file(job), &trial->noise);
    return job->explains_noise ? status : AMP_OK;
}

/* Writes the report as JSON where the user asked for it. IS_WRITTEN: so is the model. */
static enum amp_status write_json(const struct job *job, const struct trial *trial, bool is_written,
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
    if (trial->has_noise)
        amp_json_set(root, "noise", amp_json_noise(&trial->noise));
    if (job->options->is_tuned)
        amp_json_set(root, "tuning", amp_json_tuning(&job->tuning));
    return amp_report_write(root, job->options, verdict, job->err);
}

/* Writes the report as HTML where the user asked for it. */
static enum amp_status write_page(const struct job *job, const struct trial *trial, bool is_written)
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

/* Writes the model unless validation forbids it, and the reports in both cases. */
static enum amp_status write_all(struct job *job, const struct trial *trial,
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

static void report_measured(const struct job *job, const struct trial *trial)
{
    if (job->options->is_quiet)
        return;
    amp_report_inputs(stderr, &trial->notes, job->options->verbosity);
    amp_report_validation(stderr, &trial->validation, job->options->verbosity);
}

/* Has the user's command judge the converted model, unless a search has done that. */
static void judge(struct job *job, struct trial *trial, struct amp_error *verdict)
{
    if (job->options->is_tuned && job->eval.outcomes[1].verdict != AMP_EVAL_NONE)
        amp_validation_eval_known(&job->eval, &trial->validation, verdict);
    else
        amp_validation_eval_converted(job->model, job->placement, &job->eval, &trial->validation,
                                      verdict);
}

/* Runs both models, has the user's command judge them, and reports what came of it: what of that
   the user wants. AMP_MISMATCH when the converted model is not good enough. */
static enum amp_status try_models(struct job *job, struct trial *trial, struct amp_error *verdict)
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
        validate(job, trial, verdict);
    if (verdict->status == AMP_OK || verdict->status == AMP_MISMATCH)
        judge(job, trial, verdict);
    trial->is_measured = (verdict->status == AMP_OK || verdict->status == AMP_MISMATCH) &&
                         (validates || job->options->eval != NULL);
    if (trial->is_measured)
        report_measured(job, trial);
    return verdict->status;
}

static enum amp_status validate_and_write(struct job *job)
{
    struct amp_error verdict = {.status = AMP_OK};
    struct trial trial = {.has_models = false};
    enum amp_status status = try_models(job, &trial, &verdict);
    amp_progress_end();
    bool has_ended = status == AMP_OK || status == AMP_MISMATCH;
    if (!has_ended)
        amp_fail(job->err, status, "%s", verdict.text);
    else if (job->explains_noise || trial.has_layers)
        status = find_noise(job, &trial);
    if (has_ended && job->err->status == AMP_OK)
        status = write_all(job, &trial, &verdict);
    trial_free(&trial);
    return status;
}

/* Prints the explanation to stdout, or to stderr when the model goes to stdout or only -vv asks for
   it. */
static void explain(struct job *job)
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

static enum amp_status convert(struct job *job)
{
    struct amp_conversion *conversion = &job->conversion;
    bool is_done;
    conversion->model_path = job->model->path;
    conversion->bytes_before = job->file.bytes.size + amp_external_size(job->file.external);
    conversion->was_unsorted = job->file.was_unsorted;
    AMP_TRY(amp_target_check(&job->target, job->model, job->err));
    if (job->last == N_STAGES && !job->options->is_listed)
        AMP_TRY(amp_destination_choose(job->options, &job->target, job->file.arena,
                                       &conversion->output_path, job->err));
    if ((!job->options->no_validate || job->explains_noise) && !job->options->is_listed)
        AMP_TRY(amp_validation_check_options(job->options, conversion->lower, job->err));
    AMP_TRY(load_rules(job));
    if (job->options->is_tuned)
        AMP_TRY(tune(job));
    AMP_TRY(convert_graph(job, &is_done));
    if (is_done)
        return AMP_OK;
    if (job->is_explained)
        explain(job);
    if (job->options->is_listed)
        return AMP_OK;
    AMP_TRY(prepare_output(job));
    conversion->ranges = job->ranges;
    amp_conversion_count(conversion, job->model);
    if (!job->options->is_quiet)
        amp_report_conversion(stderr, conversion, job->options->verbosity);
    return validate_and_write(job);
}

enum amp_status amp_command_convert(const struct amp_options *options, struct amp_error *err)
{
    bool explains_noise = options->explain != NULL && strcmp(options->explain, "noise") == 0;
    bool is_explained = (options->explain != NULL && !explains_noise) || options->is_listed ||
                        (options->verbosity > 1 && !options->is_quiet);
    struct job job = {.options = options,
                      .err = err,
                      .explains = is_explained || options->report != NULL,
                      .is_explained = is_explained,
                      .explains_noise = explains_noise,
                      .may_run = true};
    AMP_TRY(amp_target_parse(options, &job.target, err));
    job.conversion.lower = job.target.lower;
    job.conversion.second = job.target.second;
    job.conversion.keeps_types = job.target.keeps_types;
    AMP_TRY(parse_stage(&job));
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
