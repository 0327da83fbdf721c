/*
 * Searches for where the error of a converted model comes from: takes what single sources and
 * groups of them add (noise/probe.c), splits the groups that carry more than their share as long as
 * the budget lasts, and holds the sum against what both models give when they run.
 */
#include "check/noise.h"

#include "check/noise/probe.h"
#include "check/selection.h"
#include "core/arena.h"
#include "ops/kernel/tensor_cast.h"

#include <math.h>
#include <stdlib.h>

/* Sources that are rounded together. */
struct group {
    size_t first, last;
    struct amp_noise_error *errors; /* per output */
    double *sketch;                 /* of the errors, scaled so that their squares are POWER */
    double power;
    uint64_t lost;
    bool is_measured;
};

struct sample {
    struct amp_tensor *inputs, *outputs;
};

struct search {
    const struct amp_model *reference, *model;
    const struct amp_noise_options *options;
    struct amp_noise *result;
    struct amp_noise_probe *probe;
    struct amp_noise_sources *sources;
    struct sample *samples;
    size_t n_samples, n_inputs, n_outputs;
    double *energy;                /* per output, over the samples */
    struct amp_noise_error *joint; /* per output: with all sources rounded */
    struct group *groups;
    size_t n_groups;
    double budget;
    struct amp_error *err;
};

double amp_noise_budget(size_t n_nodes)
{
    return fmin(600, fmax(100, 100 + 500 * ((double)n_nodes - 300) / 2700));
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Whether errors of OUTPUT count: those of integers have no energy. */
static bool is_counted(const struct amp_tensor *output)
{
    return !amp_tensor_is_list(output) &&
           (output->dtype == AMP_FLOAT || output->dtype == AMP_DOUBLE);
}

/* Has input I of SAMPLE in the dtype of the model that is probed. */
static enum amp_status widen_input(const struct search *search, size_t i, struct sample *sample)
{
    struct amp_tensor *input = &sample->inputs[i], wide;
    enum amp_dtype dtype =
        amp_value_at(search->model, search->model->graphs[0].inputs.items[i])->dtype;
    if (input->data == NULL || amp_tensor_is_list(input) || input->dtype == dtype)
        return AMP_OK;
    AMP_TRY(amp_tensor_cast_copy(input, dtype, &wide, search->err));
    amp_tensor_release(input);
    *input = wide;
    return AMP_OK;
}

/* Loads sample I for the model that is probed, which has the reference's inputs. */
static enum amp_status load(const struct search *search, size_t i, struct sample *sample)
{
    const struct amp_source *source = &search->options->source;
    sample->inputs = amp_xcalloc(search->n_inputs, sizeof *sample->inputs);
    sample->outputs = amp_xcalloc(search->n_outputs, sizeof *sample->outputs);
    AMP_TRY(source->load(source->context, i, sample->inputs, search->err));
    for (size_t k = 0; k < search->n_inputs; k++)
        AMP_TRY(widen_input(search, k, sample));
    return AMP_OK;
}

/* Adds the errors of OUTPUTS, which it releases, per output to ERRORS. */
static void add_errors(const struct search *search, const struct sample *sample,
                       struct amp_tensor *outputs, struct amp_noise_error *errors)
{
    for (size_t o = 0; o < search->n_outputs; o++)
        if (is_counted(&sample->outputs[o]))
            amp_noise_error_add(&errors[o], &sample->outputs[o], &outputs[o]);
    amp_tensors_release(outputs, search->n_outputs);
}

static enum amp_status survey(struct search *search, size_t i, bool *changes)
{
    struct sample *sample = &search->samples[i];
    search->n_samples = i + 1;
    AMP_TRY(load(search, i, sample));
    struct amp_noise_outputs outputs = {
        .exact = sample->outputs,
        .rounded = amp_xcalloc(search->n_outputs, sizeof *outputs.rounded)};
    enum amp_status status =
        amp_noise_probe_survey(search->probe, sample->inputs, &outputs, changes, search->err);
    for (size_t o = 0; o < search->n_outputs; o++) {
        uint64_t unused = 0;
        if (is_counted(&sample->outputs[o]) && status == AMP_OK)
            search->energy[o] += amp_noise_energy(&sample->outputs[o], &unused);
    }
    if (status == AMP_OK)
        add_errors(search, sample, outputs.rounded, search->joint);
    amp_tensors_release(outputs.rounded, search->n_outputs);
    free(outputs.rounded);
    return status;
}

static double cost_of_all(const struct search *search)
{
    double cost = 0;
    for (size_t s = 0; s < search->sources->count; s++)
        cost += amp_noise_probe_cost(search->probe, s);
    return cost;
}

/* The most samples that are probed unless more are asked for, and the share of the budget that
   probing each source by itself may then take. */
enum { N_PROBED_MAX = 4, BUDGET_PERCENT = 80 };

static size_t choose_probed(const struct search *search)
{
    size_t count = search->options->source.count, wanted = search->options->n_probed;
    double each = cost_of_all(search) + 5;
    double fit = floor(search->budget * BUDGET_PERCENT / 100 / each);
    if (wanted == 0)
        wanted = fit < 1 ? 1 : fit < N_PROBED_MAX ? (size_t)fit : N_PROBED_MAX;
    return wanted < count ? wanted : count;
}

static enum amp_status survey_all(struct search *search)
{
    size_t count = search->options->source.count;
    bool *changes = amp_arena_array(search->result->arena, search->sources->count, 1);
    search->samples = amp_arena_array(search->result->arena, count, sizeof *search->samples);
    AMP_TRY(survey(search, 0, changes));
    size_t n = choose_probed(search);
    for (size_t i = 1; i < n; i++)
        AMP_TRY(survey(search, i, changes));
    amp_noise_sources_keep(search->sources, changes);
    search->result->n_probed = search->n_samples;
    return AMP_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static double power_of(const struct search *search, const struct amp_noise_error *errors,
                       uint64_t *lost)
{
    double power = 0;
    size_t n = 0;
    for (size_t o = 0; o < search->n_outputs; o++) {
        *lost += errors[o].lost;
        if (search->energy[o] > 0) {
            power += errors[o].squares / search->energy[o];
            n++;
        }
    }
    return n > 0 ? power / (double)n : 0;
}

/* Adds the errors of OUTPUTS in sample I to the sketch of GROUP, so that each output counts as in
   power_of. */
static void sketch_errors(const struct search *search, size_t i, const struct amp_tensor *outputs,
                          struct group *group)
{
    const struct sample *sample = &search->samples[i];
    for (size_t o = 0; o < search->n_outputs; o++)
        if (search->energy[o] > 0)
            amp_noise_sketch_add(group->sketch, &sample->outputs[o], &outputs[o],
                                 1 / sqrt(search->energy[o]), i * search->n_outputs + o);
}

static enum amp_status probe_groups(struct search *search, size_t i)
{
    const struct sample *sample = &search->samples[i];
    struct amp_tensor *outputs = amp_xcalloc(search->n_outputs, sizeof *outputs);
    enum amp_status status = amp_noise_probe_begin(search->probe, sample->inputs, search->err);
    for (size_t g = 0; g < search->n_groups && status == AMP_OK; g++) {
        struct group *group = &search->groups[g];
        if (group->is_measured)
            continue;
        status =
            amp_noise_probe_run(search->probe, group->first, group->last, outputs, search->err);
        if (status == AMP_OK)
            sketch_errors(search, i, outputs, group);
        add_errors(search, sample, outputs, group->errors);
    }
    amp_noise_probe_end(search->probe);
    free(outputs);
    return status;
}

/* Measures the groups that are not. */
static enum amp_status probe_all(struct search *search)
{
    for (size_t i = 0; i < search->n_samples; i++)
        AMP_TRY(probe_groups(search, i));
    for (size_t g = 0; g < search->n_groups; g++) {
        struct group *group = &search->groups[g];
        if (!group->is_measured)
            group->power = power_of(search, group->errors, &group->lost);
        group->is_measured = true;
    }
    return AMP_OK;
}

static struct group make_group(const struct search *search, size_t first, size_t last)
{
    struct amp_arena *arena = search->result->arena;
    struct group group = {.first = first, .last = last};
    group.errors = amp_arena_array(arena, search->n_outputs, sizeof *group.errors);
    group.sketch = amp_arena_array(arena, AMP_NOISE_SKETCH, sizeof *group.sketch);
    return group;
}

static double left(const struct search *search)
{
    return search->budget - amp_noise_probe_spent(search->probe);
}

/* The share of the budget that the first groups may take where there are more sources than it
   allows; those that are split take the rest. */
enum { FIRST_PERCENT = 40 };

static void make_first_groups(struct search *search)
{
    size_t count = search->sources->count;
    double runs = left(search) / (double)search->n_samples - 4, all = cost_of_all(search);
    double target = runs * FIRST_PERCENT / 100;
    double size = all <= runs ? 1 : ceil(all / fmax(target, 1));
    size_t step = size < (double)count ? (size_t)size : count;
    for (size_t s = 0; s < count; s += step)
        search->groups[search->n_groups++] =
            make_group(search, s, s + step < count ? s + step - 1 : count - 1);
}

static double total_power(const struct search *search)
{
    double power = 0;
    for (size_t g = 0; g < search->n_groups; g++)
        power += search->groups[g].power;
    return power;
}

/* What splitting GROUP in halves costs. */
static double split_cost(const struct search *search, const struct group *group)
{
    size_t middle = (group->first + group->last + 1) / 2;
    double halves = amp_noise_probe_cost(search->probe, group->first) +
                    amp_noise_probe_cost(search->probe, middle);
    return halves * (double)search->n_samples;
}

static int compare_power(const void *a, const void *b)
{
    const struct group *left_group = *(struct group *const *)a;
    const struct group *right_group = *(struct group *const *)b;
    bool differ = (left_group->lost > 0) != (right_group->lost > 0);
    if (differ)
        return left_group->lost > 0 ? -1 : 1;
    if (left_group->power != right_group->power)
        return left_group->power > right_group->power ? -1 : 1;
    return left_group->first < right_group->first ? -1 : 1;
}

/* Marks as not measured the groups to split: those that carry most, as far as half of what is left
   of the budget allows. Returns how many. */
static size_t choose_groups(struct search *search)
{
    struct group **order = amp_xmalloc(search->n_groups, sizeof *order);
    double share = total_power(search) / (4 * (double)search->n_groups);
    double walks = 2.0 * (double)search->n_samples, all = left(search) - 2 * walks;
    double allowed = all > 8 * walks ? all / 2 : all, cost = 0;
    size_t n = 0;
    for (size_t g = 0; g < search->n_groups; g++)
        order[g] = &search->groups[g];
    qsort(order, search->n_groups, sizeof *order, compare_power);
    for (size_t g = 0; g < search->n_groups; g++) {
        struct group *group = order[g];
        bool is_heavy = group->lost > 0 || group->power > share;
        if (group->first == group->last || !is_heavy)
            continue;
        cost += split_cost(search, group);
        if (cost > allowed)
            break;
        group->is_measured = false;
        n++;
    }
    free(order);
    return n;
}

static void split_groups(struct search *search)
{
    struct group *groups =
        amp_arena_array(search->result->arena, search->sources->count, sizeof *groups);
    size_t n = 0;
    for (size_t g = 0; g < search->n_groups; g++) {
        const struct group *group = &search->groups[g];
        size_t middle = (group->first + group->last + 1) / 2;
        if (group->is_measured) {
            groups[n++] = *group;
            continue;
        }
        groups[n++] = make_group(search, group->first, middle - 1);
        groups[n++] = make_group(search, middle, group->last);
    }
    search->groups = groups;
    search->n_groups = n;
}

/* ---- measured -------------------------------------------------------------------------------- */

static void take_measured(const struct search *search, const struct amp_validation *validation)
{
    struct amp_noise *result = search->result;
    for (size_t i = 0; i < validation->n_outputs; i++) {
        const struct amp_metrics *metrics = &validation->outputs[i].metrics;
        result->n_lost += metrics->stray;
        result->n_nonfinite += metrics->nan[0] + metrics->inf[0];
        if (search->energy[i] > 0)
            result->measured += pow(10, -amp_metrics_quality(metrics) / 10);
        result->n_counted += search->energy[i] > 0;
    }
    if (result->n_counted > 0)
        result->measured /= (double)result->n_counted;
    result->n_outputs = validation->n_outputs;
    result->n_samples = validation->samples;
}

static enum amp_status measure(const struct search *search, const struct amp_model *converted)
{
    struct amp_error verdict = {.status = AMP_OK};
    struct amp_validation validation;
    struct amp_validate_options options = {.source = search->options->source};
    for (size_t i = 0; i < AMP_METRICS_MAX; i++)
        options.bounds.items[i] = NAN;
    enum amp_status status =
        amp_validate(search->reference, converted, &options, &validation, &verdict);
    if (status != AMP_OK && status != AMP_MISMATCH)
        return amp_error_copy(search->err, &verdict);
    take_measured(search, &validation);
    amp_validation_free(&validation);
    return AMP_OK;
}

/* ---- chance ---------------------------------------------------------------------------------- */

/* The share of pairs of sources in which errors agree, for errors of N independent elements 1 / N:
   the mean of (a b)^2 over (a a) (b b), weighted by the latter. Sketches add 1 / AMP_NOISE_SKETCH.
   NaN where there are no pairs. */
static double agreement(const struct search *search)
{
    double products = 0, squares = 0;
    for (size_t g = 0; g < search->n_groups; g++)
        for (size_t h = 0; h < g; h++) {
            const struct group *a = &search->groups[g], *b = &search->groups[h];
            double product = amp_noise_sketch_product(a->sketch, b->sketch);
            products += product * product;
            squares += amp_noise_sketch_product(a->sketch, a->sketch) *
                       amp_noise_sketch_product(b->sketch, b->sketch);
        }
    return squares > 0 ? fmax(0, products / squares - 1.0 / AMP_NOISE_SKETCH) : (double)NAN;
}

/* The standard deviation in dB of the square of an error that is the sum of many: that of
   chi-square with as many degrees of freedom as there are independent elements. */
static double chance(const struct search *search)
{
    double samples = (double)search->result->n_samples / (double)search->n_samples;
    return 10 / log(10) * sqrt(2 * agreement(search) / samples);
}

/* ---- result ---------------------------------------------------------------------------------- */

static void take_groups(struct search *search)
{
    uint64_t unused = 0;
    struct amp_noise *result = search->result;
    result->joint = power_of(search, search->joint, &unused);
    result->sources = search->sources->items;
    result->n_sources = search->sources->count;
    result->n_groups = search->n_groups;
    result->predicted = total_power(search);
    result->plain_runs = amp_noise_probe_spent(search->probe);
    result->chance = chance(search);
    for (size_t g = 0; g < search->n_groups; g++) {
        const struct group *group = &search->groups[g];
        for (size_t s = group->first; s <= group->last; s++) {
            result->sources[s].group = g;
            result->sources[s].power = group->power / (double)(group->last - group->first + 1);
            result->sources[s].n_lost = group->lost;
        }
    }
}

static enum amp_status find(struct search *search, const struct amp_model *converted)
{
    struct amp_arena *arena = search->result->arena;
    AMP_TRY(
        amp_noise_probe_create(search->reference, converted, arena, &search->probe, search->err));
    search->model = amp_noise_probe_model(search->probe);
    search->sources = amp_noise_probe_sources(search->probe);
    search->n_inputs = search->model->graphs[0].inputs.count;
    search->n_outputs = search->model->graphs[0].outputs.count;
    search->energy = amp_arena_array(arena, search->n_outputs, sizeof *search->energy);
    search->joint = amp_arena_array(arena, search->n_outputs, sizeof *search->joint);
    if (search->options->source.count == 0)
        return AMP_OK;
    AMP_TRY(survey_all(search));
    AMP_TRY(measure(search, converted));
    if (search->sources->count == 0)
        return AMP_OK;
    search->groups = amp_arena_array(arena, search->sources->count, sizeof *search->groups);
    make_first_groups(search);
    AMP_TRY(probe_all(search));
    while (choose_groups(search) > 0) {
        split_groups(search);
        AMP_TRY(probe_all(search));
    }
    take_groups(search);
    return AMP_OK;
}

/* Has what selections are made from stand in the place of outputs behind them, in both models. */
static const struct amp_model *expose(struct search *search, const struct amp_model *converted)
{
    struct amp_selections selections = amp_selections_find(search->reference);
    struct amp_arena *arena = search->result->arena;
    const struct amp_model *models[] = {
        amp_selections_expose(&selections, search->reference, arena),
        amp_selections_expose(&selections, converted, arena)};
    if (models[1] != converted) { /* then the reference has them too */
        for (size_t o = 0; o < selections.n_outputs; o++)
            search->result->n_selected += amp_output_is_selected(&selections, o);
        search->reference = models[0];
        converted = models[1];
    }
    amp_selections_free(&selections);
    return converted;
}

static void release_samples(struct search *search)
{
    for (size_t i = 0; i < search->n_samples; i++) {
        struct sample *sample = &search->samples[i];
        amp_tensors_release(sample->inputs, search->n_inputs);
        amp_tensors_release(sample->outputs, search->n_outputs);
        free(sample->inputs);
        free(sample->outputs);
    }
}

enum amp_status amp_noise_find(const struct amp_model *reference, const struct amp_model *converted,
                               const struct amp_noise_options *options, struct amp_noise *result,
                               struct amp_error *err)
{
    *result = (struct amp_noise){.arena = amp_arena_create(), .chance = (double)NAN};
    struct search search = {.reference = reference,
                            .options = options,
                            .result = result,
                            .budget = options->budget,
                            .err = err};
    if (search.budget == 0)
        search.budget = amp_noise_budget(converted->graphs[0].nodes.count);
    enum amp_status status = find(&search, expose(&search, converted));
    release_samples(&search);
    amp_noise_probe_destroy(search.probe);
    if (status != AMP_OK)
        amp_noise_free(result);
    return status;
}

double amp_noise_difference(const struct amp_noise *noise)
{
    bool is_defined = noise->predicted > 0 && noise->measured > 0 && noise->n_lost == 0;
    return is_defined ? 10 * log10(noise->predicted / noise->measured) : (double)NAN;
}

void amp_noise_free(struct amp_noise *noise)
{
    amp_arena_destroy(noise->arena);
    *noise = (struct amp_noise){.n_sources = 0};
}
