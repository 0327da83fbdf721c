/*
 * Runs a reference and a converted model on the samples of one source, one sample at a time,
 * measures the differences of their outputs, and judges them by bounds. Takes models whose types
 * are inferred; holds the tensors of one sample at most. Prints nothing.
 */
#include "check/validate.h"

#include "check/class_scores.h"
#include "core/clock.h"
#include "ops/kernel/tensor_cast.h"
#include "run/exec/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE, CONVERTED, N_SIDES };

/* One of the two models, with the tensors of the sample at hand. */
struct side {
    const struct amp_model *model;
    const struct amp_ids *input_ids, *output_ids;
    struct amp_session *session;
    struct amp_tensor *inputs, *outputs; /* behind the outputs: what the selections are */
    double seconds;
};

/* A selected output as CONVERTED gives it where it gets the reference's selections. */
struct given {
    struct amp_metrics metrics;
    struct amp_error err; /* why it cannot be compared */
};

struct validation {
    const struct amp_validate_options *options;
    struct side sides[N_SIDES];
    uint32_t *input_of;  /* per input of CONVERTED: the reference's of that name, or AMP_NONE */
    uint32_t *output_of; /* per output of the reference: the one of CONVERTED */
    struct given *given; /* per output of the reference */
    struct amp_tensor *given_outputs; /* as OUTPUTS of CONVERTED, in this sample */
    bool *is_otherwise;               /* per selection, in this sample */
    struct amp_validation *result;
    struct amp_error *err;
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static const char *name_of(const struct side *side, const struct amp_ids *ids, size_t i)
{
    return amp_value_at(side->model, ids->items[i])->name;
}

/* A map from the names of the values IDS of SIDE to their positions. */
static struct amp_strmap index_names(const struct side *side, const struct amp_ids *ids,
                                     struct amp_arena *arena)
{
    struct amp_strmap map = {.count = 0};
    for (size_t i = ids->count; i-- > 0;)
        amp_strmap_put(&map, arena, name_of(side, ids, i), (uint32_t)i);
    return map;
}

static enum amp_status match_inputs(struct validation *v, struct amp_arena *arena)
{
    const struct side *reference = &v->sides[REFERENCE], *converted = &v->sides[CONVERTED];
    struct amp_strmap names = index_names(reference, reference->input_ids, arena);
    for (size_t i = 0; i < converted->input_ids->count; i++) {
        const struct amp_value *value =
            amp_value_at(converted->model, converted->input_ids->items[i]);
        if (amp_strmap_get(&names, value->name, &v->input_of[i]))
            continue;
        v->input_of[i] = AMP_NONE;
        if (value->initial == NULL)
            return amp_fail(v->err, AMP_MODEL, "%s: input '%s' is no input of %s",
                            converted->model->path, value->name, reference->model->path);
    }
    return AMP_OK;
}

static enum amp_status match_outputs(struct validation *v, struct amp_arena *arena)
{
    const struct side *reference = &v->sides[REFERENCE], *converted = &v->sides[CONVERTED];
    struct amp_strmap names = index_names(converted, converted->output_ids, arena);
    for (size_t i = 0; i < reference->output_ids->count; i++) {
        const char *name = name_of(reference, reference->output_ids, i);
        if (!amp_strmap_get(&names, name, &v->output_of[i]))
            return amp_fail(v->err, AMP_MODEL, "%s: output '%s' is no output of %s",
                            reference->model->path, name, converted->model->path);
        v->result->outputs[i].name = name;
    }
    return AMP_OK;
}

static struct side create_side(const struct amp_model *model, size_t n_selections)
{
    const struct amp_graph *graph = &model->graphs[0];
    size_t n_outputs = graph->outputs.count + n_selections;
    return (struct side){.model = model,
                         .input_ids = &graph->inputs,
                         .output_ids = &graph->outputs,
                         .inputs = amp_xcalloc(graph->inputs.count, sizeof(struct amp_tensor)),
                         .outputs = amp_xcalloc(n_outputs, sizeof(struct amp_tensor))};
}

/* The outputs of a run of a side, with its selections. */
static size_t count_tensors(const struct validation *v, int side)
{
    return v->sides[side].output_ids->count + v->result->selections.count;
}

static void create(struct validation *v, const struct amp_model *reference,
                   const struct amp_model *converted)
{
    struct amp_selections *selections = &v->result->selections;
    *selections = amp_selections_find(reference);
    amp_selections_pair(selections, converted);
    v->sides[REFERENCE] = create_side(reference, selections->count);
    v->sides[CONVERTED] = create_side(converted, selections->count);
    v->is_otherwise = amp_xcalloc(selections->count, sizeof *v->is_otherwise);
    v->given_outputs = amp_xcalloc(count_tensors(v, CONVERTED), sizeof *v->given_outputs);
    v->input_of = amp_xmalloc(v->sides[CONVERTED].input_ids->count, sizeof *v->input_of);
    v->output_of = amp_xmalloc(v->sides[REFERENCE].output_ids->count, sizeof *v->output_of);
    v->result->n_outputs = v->sides[REFERENCE].output_ids->count;
    v->result->outputs = amp_xcalloc(v->result->n_outputs, sizeof *v->result->outputs);
    v->given = amp_xcalloc(v->result->n_outputs, sizeof *v->given);
    for (size_t i = 0; i < v->result->n_outputs; i++)
        v->result->outputs[i].is_selected = amp_output_is_selected(selections, i);
    for (size_t i = 0; i < v->result->n_outputs && v->options->keeps_deviations; i++)
        v->result->outputs[i].deviations = amp_xcalloc(1, sizeof(struct amp_deviations));
    v->result->bounds = v->options->bounds;
    v->result->task_bounds = v->options->task_bounds;
    v->result->tasks = amp_xcalloc(v->options->n_labels, sizeof *v->result->tasks);
}

static void release_sample(struct validation *v)
{
    for (int i = 0; i < N_SIDES; i++) {
        amp_tensors_release(v->sides[i].inputs, v->sides[i].input_ids->count);
        amp_tensors_release(v->sides[i].outputs, count_tensors(v, i));
    }
    amp_tensors_release(v->given_outputs, count_tensors(v, CONVERTED));
}

static void destroy(struct validation *v)
{
    release_sample(v);
    for (int i = 0; i < N_SIDES; i++) {
        amp_session_destroy(v->sides[i].session);
        free(v->sides[i].inputs);
        free(v->sides[i].outputs);
    }
    for (size_t i = 0; i < v->result->n_tasks; i++)
        v->result->tasks[i].labels = NULL;
    free(v->input_of);
    free(v->output_of);
    free(v->given);
    free(v->given_outputs);
    free(v->is_otherwise);
}

static enum amp_status begin_tasks(struct validation *v)
{
    struct amp_validation *result = v->result;
    for (; result->n_tasks < v->options->n_labels; result->n_tasks++)
        AMP_TRY(amp_task_begin(&result->tasks[result->n_tasks],
                               &v->options->labels[result->n_tasks], v->err));
    return AMP_OK;
}

static enum amp_status set_up(struct validation *v)
{
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = match_inputs(v, arena);
    if (status == AMP_OK)
        status = match_outputs(v, arena);
    amp_arena_destroy(arena);
    AMP_TRY(status);
    AMP_TRY(begin_tasks(v));
    for (int i = 0; i < N_SIDES; i++) {
        const struct amp_selections *selections = &v->result->selections;
        const struct amp_model *model = v->sides[i].model;
        if (i == REFERENCE && v->options->is_reference_known)
            continue;
        if (selections->count > 0)
            model = amp_selections_watch(selections, model, i);
        /* Strict: what a runtime that rounds after each node gives. */
        AMP_TRY(amp_session_open(model, AMP_ROUNDED, &v->sides[i].session, v->err));
    }
    return AMP_OK;
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* Runs one model after the other. */
static enum amp_status run_in_turn(void *context, const struct amp_pair_run *pair,
                                   struct amp_error *err)
{
    (void)context;
    for (int i = 0; i < N_SIDES; i++) {
        double start = amp_clock_seconds();
        AMP_TRY(amp_session_run(pair->sessions[i], pair->inputs[i], pair->outputs[i], err));
        *pair->seconds[i] += amp_clock_seconds() - start;
    }
    return AMP_OK;
}

static enum amp_status run_pair(struct validation *v)
{
    const struct amp_pair_runner *runner = &v->options->runner;
    struct amp_pair_run pair;
    for (int i = 0; i < N_SIDES; i++) {
        pair.sessions[i] = v->sides[i].session;
        pair.inputs[i] = v->sides[i].inputs;
        pair.outputs[i] = v->sides[i].outputs;
        pair.seconds[i] = &v->result->seconds[i];
    }
    return runner->run != NULL ? runner->run(runner->context, &pair, v->err)
                               : run_in_turn(NULL, &pair, v->err);
}

/* Casts the reference's inputs to the dtypes that the converted model declares. */
static enum amp_status pass_inputs(struct validation *v)
{
    struct side *converted = &v->sides[CONVERTED];
    for (size_t i = 0; i < converted->input_ids->count; i++) {
        const struct amp_value *value =
            amp_value_at(converted->model, converted->input_ids->items[i]);
        if (v->input_of[i] == AMP_NONE || value->constant != NULL)
            continue;
        const struct amp_tensor *from = &v->sides[REFERENCE].inputs[v->input_of[i]];
        if (from->data == NULL)
            continue;
        AMP_TRY(amp_tensor_cast_copy(from, value->dtype, &converted->inputs[i], v->err));
    }
    return AMP_OK;
}

static void note_outside(struct amp_output_check *check, const struct amp_error *reason)
{
    check->is_outside = true;
    snprintf(check->reason, sizeof check->reason, "%.*s", (int)sizeof check->reason - 1,
             reason->text);
}

/* Finds out which selections are others in this sample; where some are, has CONVERTED run once more
   on the reference's. A run that fails on these cannot be compared, unless the system refused it
   something: that fails. */
static enum amp_status compare_selections(struct validation *v)
{
    struct amp_selections *selections = &v->result->selections;
    struct side *reference = &v->sides[REFERENCE], *converted = &v->sides[CONVERTED];
    const struct amp_tensor *selected[] = {reference->outputs + reference->output_ids->count,
                                           converted->outputs + converted->output_ids->count};
    struct amp_error err = {.status = AMP_OK};
    bool is_any = false;
    for (size_t i = 0; i < selections->count; i++) {
        v->is_otherwise[i] =
            !amp_selection_is_same(&selected[REFERENCE][i], &selected[CONVERTED][i]);
        is_any |= v->is_otherwise[i];
    }
    for (size_t i = 0; i < selections->count && !is_any; i++)
        amp_selection_add(selections, i, &selected[REFERENCE][i], &selected[CONVERTED][i]);
    enum amp_status status =
        is_any ? amp_selections_give(selections, converted->session, converted->inputs,
                                     selected[REFERENCE], v->given_outputs, &err)
               : AMP_OK;
    for (size_t i = 0; i < v->result->n_outputs && status != AMP_OK; i++)
        AMP_IGNORE(amp_error_copy(&v->given[i].err, &err));
    return status == AMP_IO ? amp_error_copy(v->err, &err) : AMP_OK;
}

/* Whether output I is behind a selection that is another in this sample. */
static bool is_selected_otherwise(const struct validation *v, size_t i)
{
    const struct amp_selections *selections = &v->result->selections;
    for (size_t k = 0; k < selections->count; k++)
        if (v->is_otherwise[k] && amp_selections_reach(selections, i, k))
            return true;
    return false;
}

/* Adds what selected output I is in this sample on the reference's selections; where these are its
   own, that is CONVERTED. Returns it. */
static const struct amp_tensor *measure_given(struct validation *v, size_t i,
                                              const struct amp_tensor *converted)
{
    struct given *given = &v->given[i];
    bool is_otherwise = is_selected_otherwise(v, i);
    v->result->outputs[i].is_selected_otherwise |= is_otherwise;
    if (is_otherwise)
        converted = &v->given_outputs[v->output_of[i]];
    if (given->err.status == AMP_OK)
        AMP_IGNORE(amp_metrics_add(&given->metrics, &v->sides[REFERENCE].outputs[i], converted,
                                   &given->err));
    return converted;
}

/* Adds the differences of output I in this sample. Outputs that cannot be compared are outside
   every tolerance; the validation goes on. */
static void measure(struct validation *v, size_t i)
{
    struct amp_output_check *check = &v->result->outputs[i];
    struct amp_error err = {.status = AMP_OK};
    const struct amp_tensor *reference = &v->sides[REFERENCE].outputs[i];
    const struct amp_tensor *converted = &v->sides[CONVERTED].outputs[v->output_of[i]];
    check->dtype[REFERENCE] = reference->dtype;
    check->dtype[CONVERTED] = converted->dtype;
    check->shape = reference->shape;
    const struct amp_tensor *given =
        check->is_selected ? measure_given(v, i, converted) : converted;
    if (check->deviations != NULL)
        amp_deviations_add(check->deviations, reference, given);
    if (check->is_outside || amp_metrics_add(&check->metrics, reference, converted, &err) == AMP_OK)
        return;
    note_outside(check, &err);
}

static const char *output_name(const void *context, size_t i)
{
    const struct validation *v = context;
    return v->result->outputs[i].name;
}

/* Adds what the labelled output of TASK says in this sample. Where the two models' outputs cannot
   be compared, it counts for the reference alone. */
static enum amp_status add_labelled(struct validation *v, struct amp_task *task)
{
    const struct amp_tensor *outputs = v->sides[REFERENCE].outputs;
    AMP_TRY(amp_task_add(task, REFERENCE, &outputs[task->output], v->err));
    if (v->result->outputs[task->output].is_outside)
        return AMP_OK;
    const struct amp_tensor *converted = &v->sides[CONVERTED].outputs[v->output_of[task->output]];
    return amp_task_add(task, CONVERTED, converted, v->err);
}

/* Whether output I is known to be of class scores, or not to be: by labels, or since a bound wants
   it to be. */
static bool are_scores(const struct validation *v, size_t i)
{
    const struct side *reference = &v->sides[REFERENCE];
    for (size_t k = 0; k < v->result->n_tasks; k++)
        if (v->result->tasks[k].output == i)
            return amp_labels_are_classes(v->result->tasks[k].labels);
    return amp_metric_bounds_want_scores(&v->options->bounds) ||
           amp_class_scores_are(reference->model, reference->output_ids->items[i],
                                &reference->outputs[i]);
}

/* Finds out what the outputs of the reference are, in the first sample. */
static enum amp_status look_at_outputs(struct validation *v)
{
    const struct amp_task_outputs outputs = {v->sides[REFERENCE].outputs, v->result->n_outputs,
                                             output_name, v};
    for (size_t i = 0; i < v->result->n_tasks; i++)
        if (amp_task_choose(&v->result->tasks[i], &outputs, v->err) != AMP_OK) {
            amp_error_prefix(v->err, "%s", v->sides[REFERENCE].model->path);
            return v->err->status;
        }
    for (size_t i = 0; i < v->result->n_outputs; i++)
        v->result->outputs[i].metrics.are_scores = v->given[i].metrics.are_scores =
            are_scores(v, i);
    return AMP_OK;
}

static enum amp_status run_sample(struct validation *v, size_t sample)
{
    const struct amp_source *source = &v->options->source;
    AMP_TRY(source->load(source->context, sample, v->sides[REFERENCE].inputs, v->err));
    AMP_TRY(pass_inputs(v));
    AMP_TRY(run_pair(v));
    if (v->result->samples == 0)
        AMP_TRY(look_at_outputs(v));
    AMP_TRY(compare_selections(v));
    for (size_t i = 0; i < v->result->n_outputs; i++)
        measure(v, i);
    v->result->samples++;
    for (size_t i = 0; i < v->result->n_tasks; i++)
        AMP_TRY(add_labelled(v, &v->result->tasks[i]));
    return AMP_OK;
}

/* AMP_MODEL when labels are left over, or when no labels give the value that a bound is on, which
   would not hold anything then. */
static enum amp_status check_tasks(const struct validation *v)
{
    const struct amp_validation *result = v->result;
    const struct amp_task_metric *metric;
    for (size_t i = 0; i < result->n_tasks; i++)
        AMP_TRY(amp_task_check(&result->tasks[i], REFERENCE, v->err));
    for (size_t i = 0; (metric = amp_task_metric_at(i)) != NULL; i++) {
        bool is_needed = result->task_bounds.items[i].is_set;
        for (size_t k = 0; k < result->n_tasks; k++)
            is_needed = is_needed && !metric->is_defined(&result->tasks[k].scores[REFERENCE]);
        if (is_needed)
            return amp_fail(v->err, AMP_MODEL, "--tolerance %s: there is no %s of these %s",
                            metric->bound, metric->name, metric->source);
    }
    return AMP_OK;
}

static enum amp_status run_samples(struct validation *v)
{
    for (size_t i = 0; i < v->options->source.count; i++) {
        enum amp_status status = run_sample(v, i);
        release_sample(v);
        AMP_TRY(status);
    }
    AMP_TRY(check_tasks(v));
    v->result->widened[CONVERTED] = amp_session_widened(v->sides[CONVERTED].session);
    if (v->options->is_reference_known)
        return AMP_OK;
    v->result->widened[REFERENCE] = amp_session_widened(v->sides[REFERENCE].session);
    v->result->squeezed = amp_session_squeezed(v->sides[REFERENCE].session);
    return AMP_OK;
}

/* ---- verdict --------------------------------------------------------------------------------- */

/* Holds what was measured of an output against BOUNDS. */
static void judge(const struct amp_metric_bounds *bounds, struct amp_output_check *check)
{
    struct amp_error err = {.status = AMP_OK};
    if (!check->is_outside && amp_metric_bounds_check(bounds, &check->metrics, &err) != AMP_OK)
        note_outside(check, &err);
}

/* Whether what was measured of an output, element by element, is within BOUNDS. */
static bool is_within(const struct amp_metric_bounds *bounds, const struct amp_output_check *check)
{
    struct amp_error unused = {.status = AMP_OK};
    return !check->is_outside &&
           amp_metric_bounds_check(bounds, &check->metrics, &unused) == AMP_OK;
}

/* Has outputs for which the models selected otherwise, so that elements are not to be compared,
   judged by the selections and by what CONVERTED makes of the reference's. */
static void judge_selected(struct validation *v)
{
    for (size_t i = 0; i < v->result->n_outputs; i++) {
        struct amp_output_check *check = &v->result->outputs[i];
        const struct given *given = &v->given[i];
        if (!check->is_selected_otherwise || is_within(&v->result->bounds, check))
            continue;
        const struct amp_selection *worst = amp_selection_worst(&v->result->selections, i);
        check->is_given = true;
        check->is_outside = false;
        check->metrics = given->metrics;
        check->metrics.selected = worst->larger;
        check->metrics.otherwise = worst->otherwise;
        if (given->err.status != AMP_OK)
            note_outside(check, &given->err);
    }
}

/* Holds what the labels of TASK say of both models against the bounds. */
static void judge_task(struct amp_validation *result, struct amp_task *task, struct amp_error *err)
{
    struct amp_error found = {.status = AMP_OK};
    if (amp_task_bounds_check(&result->task_bounds, task->scores, &found) == AMP_OK)
        return;
    task->is_outside = true;
    result->is_within = false;
    snprintf(task->reason, sizeof task->reason, "%.*s", (int)sizeof task->reason - 1, found.text);
    amp_error_record(err, AMP_MISMATCH, "outside tolerance: output '%s': %s", task->name,
                     task->reason);
}

static enum amp_status judge_all(struct amp_validation *result, struct amp_error *err)
{
    result->is_within = true;
    for (size_t i = 0; i < result->n_outputs; i++) {
        struct amp_output_check *check = &result->outputs[i];
        judge(&result->bounds, check);
        result->is_within = result->is_within && !check->is_outside;
        if (check->is_outside)
            amp_error_record(err, AMP_MISMATCH, "outside tolerance: output '%s': %s", check->name,
                             check->reason);
    }
    for (size_t i = 0; i < result->n_tasks; i++)
        judge_task(result, &result->tasks[i], err);
    return err->status;
}

enum amp_status amp_validate(const struct amp_model *reference, const struct amp_model *converted,
                             const struct amp_validate_options *options,
                             struct amp_validation *result, struct amp_error *err)
{
    *result = (struct amp_validation){.samples = 0};
    struct validation v = {.options = options, .result = result, .err = err};
    create(&v, reference, converted);
    enum amp_status status = set_up(&v);
    if (status == AMP_OK)
        status = run_samples(&v);
    if (status == AMP_OK)
        judge_selected(&v);
    destroy(&v);
    if (status != AMP_OK) {
        amp_validation_free(result);
        return status;
    }
    return judge_all(result, err);
}

static double quality(const struct amp_output_check *check)
{
    return check->is_outside ? -INFINITY : amp_metrics_quality(&check->metrics);
}

static double differing(const struct amp_metrics *metrics)
{
    return metrics->selected > 0 ? (double)metrics->otherwise / (double)metrics->selected : 0;
}

bool amp_output_is_worse(const struct amp_output_check *a, const struct amp_output_check *b)
{
    double x = quality(a), y = quality(b);
    return x != y ? x < y : differing(&a->metrics) > differing(&b->metrics);
}

const struct amp_output_check *amp_validation_worst(const struct amp_validation *validation)
{
    const struct amp_output_check *worst = &validation->outputs[0];
    for (size_t i = 1; i < validation->n_outputs; i++)
        if (amp_output_is_worse(&validation->outputs[i], worst))
            worst = &validation->outputs[i];
    return worst;
}

double amp_validation_error_power(const struct amp_validation *validation)
{
    double most = 0;
    for (size_t i = 0; i < validation->n_outputs; i++) {
        const struct amp_metrics *metrics = &validation->outputs[i].metrics;
        double power = metrics->stray > 0  ? (double)INFINITY
                       : metrics->is_float ? pow(10, -amp_metrics_quality(metrics) / 10)
                                           : 0;
        most = fmax(most, power);
    }
    return most;
}

struct amp_validation amp_validation_none(void)
{
    return (struct amp_validation){.bounds = amp_metric_bounds_default(AMP_UNDEFINED),
                                   .is_within = true};
}

void amp_validation_free(struct amp_validation *result)
{
    for (size_t i = 0; i < result->n_outputs; i++)
        free(result->outputs[i].deviations);
    free(result->outputs);
    free(result->tasks);
    amp_selections_free(&result->selections);
    *result = (struct amp_validation){.samples = 0};
}
