/*
 * The stages of a conversion that work on the graph, in their order: types, ranges, the opset, a
 * decision on every node, casts, and those that fold. Takes a model and rules, gives the model
 * converted; prints the graph after the stage that --dump-after names. What a stage does is in the
 * stage's own file. It reads and writes no file.
 */
#include "cli/convert/stages.h"

#include "autocast/cast_estimate.h"
#include "autocast/cast_fold.h"
#include "autocast/cast_insert.h"
#include "autocast/forms/einsum.h"
#include "autocast/provenance.h"
#include "autocast/rules/rules.h"
#include "autocast/settle.h"
#include "autocast/training/lower.h"
#include "autocast/wholes.h"
#include "cli/convert/job.h"
#include "cli/convert/training.h"
#include "cli/progress.h"
#include "cli/ranges.h"
#include "cli/report/ranges.h"
#include "cli/report/text.h"
#include "core/graph/dump.h"
#include "core/print.h"
#include "core/words.h"
#include "onnx/opset/opset.h"
#include "onnx/schema/check.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"
#include "onnx/training/training.h"

#include <string.h>

static const char *const stage_names[AMP_STAGES + 1] = {"read",   "infer", "opset", "assign",
                                                        "insert", "fold",  NULL};

const char *amp_convert_stage_at(size_t i)
{
    return stage_names[i];
}

enum amp_status amp_convert_stage_parse(struct amp_convert_job *job)
{
    const char *name = job->options->dump_after;
    job->last = AMP_STAGE_READ;
    while (job->last < AMP_STAGES && name != NULL && strcmp(stage_names[job->last], name) != 0)
        job->last++;
    if (name == NULL)
        job->last = AMP_STAGES;
    else if (job->last == AMP_STAGES) {
        const char *nearest = amp_word_nearest_at(name, amp_convert_stage_at);
        return amp_fail(job->err, AMP_USAGE,
                        "--dump-after %s: read, infer, opset, assign, insert or fold%s%s%s", name,
                        nearest ? "; did you mean '" : "", nearest ? nearest : "",
                        nearest ? "'?" : "");
    }
    return AMP_OK;
}

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
static bool dump(const struct amp_convert_job *job, enum amp_convert_stage stage)
{
    if (stage != job->last || stage == AMP_STAGES)
        return false;
    amp_model_dump(stdout, job->model, stage == AMP_STAGE_ASSIGN ? note_decision : NULL,
                   &job->conversion.assignment);
    return true;
}

static struct amp_assign_options assign_options(const struct amp_convert_job *job, int cap)
{
    return (struct amp_assign_options){.rules = job->rules,
                                       .lower = job->target.lower,
                                       .second = job->target.second,
                                       .ranges = job->ranges,
                                       .runtimes = &job->target.runtimes,
                                       .cap = cap,
                                       .interface = job->interface,
                                       .training = amp_training_role_of_main(job->training)};
}

/* Raises the opset as far as lowered operators need, or to the one that the user named. */
static enum amp_status raise_opset(struct amp_convert_job *job)
{
    struct amp_conversion *conversion = &job->conversion;
    bool is_exact = job->target.mode == AMP_OPSET_EXACT;
    int highest = is_exact ? job->target.opset : amp_schema_released_opset();
    int cap = amp_training_opset(job->training, highest, &conversion->opset_obstacle);
    conversion->opset_before = amp_model_opset(job->model, "");
    if (is_exact && cap < highest)
        return amp_fail(job->err, AMP_UNSUPPORTED, "%s: %s", job->model->path,
                        conversion->opset_obstacle);
    const struct amp_assign_options options = assign_options(job, cap);
    if (job->target.mode == AMP_OPSET_AUTO) {
        AMP_TRY(amp_settle(job->model, options, &conversion->assignment,
                           &conversion->opset_obstacle, job->err));
        AMP_TRY(amp_convert_settle_training(job, &options));
    }
    if (is_exact && amp_opset_raise(job->model, job->target.opset, NULL, job->err) != AMP_OK) {
        amp_error_prefix(job->err, "%s", job->model->path);
        return job->err->status;
    }
    conversion->opset_after = amp_model_opset(job->model, "");
    return amp_infer(job->model, job->err);
}

/* Notes how many casts there are because constants promote, where a report will say so: nodes are
   decided on once more for that. */
static enum amp_status count_casts_of_constants(struct amp_convert_job *job,
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
static void note_outputs(struct amp_convert_job *job)
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
static enum amp_status lower_graph(struct amp_convert_job *job, bool *is_done)
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
    if (dump(job, AMP_STAGE_ASSIGN))
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
    if (dump(job, AMP_STAGE_INSERT))
        return AMP_OK;
    if (!is_kept)
        conversion->casts_folded = amp_cast_fold(job->model, job->target.shares_casts,
                                                 (uint32_t)conversion->assignment.n_nodes);
    if (job->explains)
        amp_explanation_end(&job->explanation, job->model, &conversion->casts);
    amp_provenance_end(job->model, &before, job->rules, conversion->assignment.lowers,
                       job->options->no_metadata);
    amp_model_rename_nodes(job->model);
    AMP_TRY(amp_convert_finish_training(job, &options));
    *is_done = dump(job, AMP_STAGE_FOLD);
    return AMP_OK;
}

/* The dtypes that nodes may be lowered to, as a mask. */
static uint32_t lower_dtypes(const struct amp_convert_job *job)
{
    return (amp_rules_named_dtypes(job->rules) | AMP_DTYPE_BIT(job->target.lower) |
            AMP_DTYPE_BIT(job->target.second)) &
           AMP_RULES_DTYPES;
}

enum amp_dtype amp_convert_coarsest(const struct amp_convert_job *job)
{
    bool has_bfloat16 = (lower_dtypes(job) & AMP_DTYPE_BIT(AMP_BFLOAT16)) != 0;
    return has_bfloat16 ? AMP_BFLOAT16 : job->target.lower;
}

/* Whether the rules ask what values of DTYPE come to: float16's do unless they say otherwise,
   others where they set a limit to activations that the dtype does not have. */
static bool asks_for_ranges_of(const struct amp_convert_job *job, enum amp_dtype dtype)
{
    const struct amp_rule_limits *limits = amp_rules_limits(job->rules, dtype);
    return limits != NULL && limits->guards != AMP_GUARDS_OFF &&
           (dtype == AMP_FLOAT16 || limits->activation_max < amp_dtype_max(dtype));
}

static bool asks_for_ranges(const struct amp_convert_job *job)
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
static enum amp_status see_ranges(struct amp_convert_job *job)
{
    const struct amp_options *options = job->options;
    struct amp_error problem = {.status = AMP_OK};
    bool has_samples = options->data.count > 0 || options->inputs.count > 0;
    bool validates = job->last == AMP_STAGES && !options->no_validate;
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

enum amp_status amp_convert_find_ranges(struct amp_convert_job *job)
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

enum amp_status amp_convert_graph(struct amp_convert_job *job, bool *is_done)
{
    struct amp_conversion *conversion = &job->conversion;
    *is_done = true;
    if (dump(job, AMP_STAGE_READ))
        return AMP_OK;
    AMP_TRY(amp_training_open(&job->file, &job->training, job->err));
    AMP_TRY(amp_infer(job->model, job->err));
    if (job->may_run && !job->options->is_quiet)
        amp_report_newer_types(stderr, job->model);
    if (dump(job, AMP_STAGE_INFER))
        return AMP_OK;
    AMP_TRY(amp_convert_find_ranges(job));
    AMP_TRY(
        amp_target_interface(job->options, &job->target, job->model, &job->interface, job->err));
    AMP_TRY(amp_training_hold(job->training, job->err));
    AMP_TRY(amp_convert_scale_gradients(job));
    conversion->n_interface = job->interface.count;
    conversion->casts_before = amp_cast_count(job->model);
    AMP_TRY(raise_opset(job));
    if (dump(job, AMP_STAGE_OPSET))
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
