/*
 * What two models have in common, value by value: takes the pairs of their values, measures each
 * when both models have it, and says where the converted one first leaves the numbers and where its
 * error grows most. Keeps counts and sums, no values. How the models run is lockstep.c's matter.
 */
#include "check/layers.h"

#include "check/lockstep.h"
#include "check/pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Elements from which on a sum over them is shared out. */
enum { LONG_VALUE = 1 << 21 };

/* What is private to a comparison. */
struct amp_layers_work {
    const struct amp_model *models[2];
    struct amp_pairs pairs;
    struct amp_lockstep *lockstep;
    uint32_t *item_of; /* per value of the converted model: its item; AMP_NONE: none */
};

/* ---- the items ------------------------------------------------------------------------------- */

static struct amp_layer create_item(const struct amp_layers_work *work, uint32_t r, uint32_t c)
{
    const struct amp_value *values[2] = {amp_value_at(work->models[0], r),
                                         amp_value_at(work->models[1], c)};
    const struct amp_node *nodes[2] = {amp_node_at(work->models[0], values[0]->producer),
                                       amp_node_at(work->models[1], values[1]->producer)};
    return (struct amp_layer){.names = {values[0]->name, values[1]->name},
                              .node_names = {nodes[0]->name, nodes[1]->name},
                              .op_type = nodes[1]->op_type,
                              .values = {r, c},
                              .nodes = {values[0]->producer, values[1]->producer},
                              .pairing = work->pairs.kind[c],
                              .is_output = values[0]->is_output};
}

/* Makes the items, in the order of the reference's nodes. */
static void list_items(struct amp_layers *layers)
{
    struct amp_layers_work *work = layers->work;
    const struct amp_model *reference = work->models[0];
    const struct amp_ids *nodes = &reference->graphs[0].nodes;
    uint32_t *partner = amp_xmalloc(reference->n_values, sizeof *partner);
    size_t n_items = 0;
    for (uint32_t r = 0; r < reference->n_values; r++)
        partner[r] = AMP_NONE;
    for (uint32_t c = 0; c < work->pairs.count; c++) {
        n_items += work->pairs.of[c] != AMP_NONE;
        if (work->pairs.of[c] != AMP_NONE)
            partner[work->pairs.of[c]] = c;
    }
    layers->items = amp_xcalloc(n_items, sizeof *layers->items);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(reference, nodes->items[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            uint32_t r = node->outputs[k];
            if (r == AMP_NONE || partner[r] == AMP_NONE)
                continue;
            work->item_of[partner[r]] = (uint32_t)layers->count;
            layers->items[layers->count++] = create_item(work, r, partner[r]);
            layers->n_paired[work->pairs.kind[partner[r]]]++;
        }
    }
    free(partner);
}

/* ---- one sample ------------------------------------------------------------------------------ */

static void note(struct amp_layer *layer, const struct amp_error *reason)
{
    if (layer->reason[0] == '\0')
        snprintf(layer->reason, sizeof layer->reason, "%.*s", (int)sizeof layer->reason - 1,
                 reason->text);
}

/* Notes which element of SIGHT is the worst so far; N_BEFORE elements were seen before it. */
static void note_worst(struct amp_layer *layer, size_t sample, uint64_t n_before)
{
    const struct amp_worst_element *worst = &layer->accumulated.worst;
    if (worst->error == 0 || worst->index < n_before)
        return;
    layer->worst = (struct amp_layer_error){.error = worst->error,
                                            .index = worst->index - n_before,
                                            .sample = sample,
                                            .values = {worst->values[0], worst->values[1]}};
}

/* What SIGHT adds to a layer: four sums over its elements, side by side where they are too short to
   be shared out one by one. */
static void measure(struct amp_layer *layer, const struct amp_sight *sight, size_t sample)
{
    struct amp_error err = {.status = AMP_OK}, local_err = {.status = AMP_OK};
    uint64_t n_before = layer->accumulated.count;
    bool is_long = amp_tensor_count(sight->converted) >= LONG_VALUE;
#pragma omp parallel sections if (!is_long)
    {
#pragma omp section
        AMP_IGNORE(amp_metrics_add(&layer->accumulated, sight->reference, sight->converted, &err));
#pragma omp section
        if (sight->local != NULL)
            AMP_IGNORE(amp_metrics_add(&layer->local, sight->reference, sight->local, &local_err));
#pragma omp section
        amp_range_add(&layer->range[0], sight->reference);
#pragma omp section
        amp_range_add(&layer->range[1], sight->converted);
    }
    if (sight->local == NULL)
        amp_error_record(&local_err, AMP_MISMATCH, "%s", sight->why_not);
    if (local_err.status != AMP_OK)
        layer->has_local = false;
    if (err.status == AMP_OK) {
        layer->dtype[0] = sight->reference->dtype;
        layer->dtype[1] = sight->converted->dtype;
        layer->shape = sight->converted->shape;
        note_worst(layer, sample, n_before);
    }
    note(layer, err.status != AMP_OK ? &err : &local_err);
}

static enum amp_status see(void *context, const struct amp_sight *sight, struct amp_error *err)
{
    (void)err;
    struct amp_layers *layers = context;
    uint32_t item = layers->work->item_of[sight->value];
    struct amp_layer *layer = &layers->items[item];
    if (layers->n_samples == 0)
        layer->has_local = true;
    measure(layer, sight, layers->n_samples);
    return AMP_OK;
}

static enum amp_status run(void *context, const struct amp_pair_run *pair, struct amp_error *err)
{
    struct amp_layers *layers = context;
    if (layers->count == 0)
        return amp_fail(err, AMP_MODEL,
                        "%s and %s have no value in common that nodes of both compute",
                        layers->work->models[0]->path, layers->work->models[1]->path);
    AMP_TRY(amp_lockstep_run(layers->work->lockstep, pair, err));
    layers->n_samples++;
    return AMP_OK;
}

struct amp_pair_runner amp_layers_runner(struct amp_layers *layers)
{
    return (struct amp_pair_runner){.run = run, .context = layers};
}

/* ---- after the last sample ------------------------------------------------------------------- */

double amp_layers_relative_error(const struct amp_metrics *metrics)
{
    if (metrics->count == 0)
        return 0;
    if (!metrics->is_float)
        return (double)metrics->different / (double)metrics->count;
    return metrics->finite == 0 && metrics->different > 0
               ? INFINITY
               : pow(10, -amp_metrics_quality(metrics) / 20);
}

double amp_layers_decibels(double error)
{
    return 20 * log10(1 / error);
}

/* The search for errors in the order of the converted model's nodes. */
struct search {
    struct amp_layers *layers;
    double *errors;       /* per value that has no item: what its node read */
    uint32_t *first_body; /* per node of the main graph: the first of itself and the nodes in its
                             bodies */
    uint32_t *next_body;  /* per node: the next of these; AMP_NONE: there is none */
};

static void list_bodies(const struct search *search)
{
    const struct amp_model *model = search->layers->work->models[1];
    for (uint32_t id = 0; id < model->n_nodes; id++)
        search->first_body[id] = search->next_body[id] = AMP_NONE;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        uint32_t container =
            amp_node_at(model, id)->is_removed ? AMP_NONE : amp_graph_container(model, id, 0);
        if (container == AMP_NONE)
            continue;
        search->next_body[id] = search->first_body[container];
        search->first_body[container] = id;
    }
}

static double error_at(const struct search *search, uint32_t value)
{
    const struct amp_layers *layers = search->layers;
    uint32_t item = layers->work->item_of[value];
    return item != AMP_NONE ? layers->items[item].error : search->errors[value];
}

/* The largest error of what node ID reads. */
static double error_of_inputs(const struct search *search, uint32_t id)
{
    const struct amp_node *node = amp_node_at(search->layers->work->models[1], id);
    double error = 0;
    for (uint32_t k = 0; k < node->n_inputs; k++)
        if (node->inputs[k] != AMP_NONE)
            error = fmax(error, error_at(search, node->inputs[k]));
    return error;
}

/* Sets the errors of what node ID of the main graph gives. */
static void find_errors_of(const struct search *search, uint32_t id)
{
    struct amp_layers *layers = search->layers;
    const struct amp_node *node = amp_node_at(layers->work->models[1], id);
    double before = 0;
    for (uint32_t inner = search->first_body[id]; inner != AMP_NONE;
         inner = search->next_body[inner])
        before = fmax(before, error_of_inputs(search, inner));
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t c = node->outputs[k];
        if (c == AMP_NONE)
            continue;
        search->errors[c] = before;
        if (layers->work->item_of[c] == AMP_NONE)
            continue;
        struct amp_layer *layer = &layers->items[layers->work->item_of[c]];
        layer->error = amp_layers_relative_error(&layer->accumulated);
        layer->before = before;
    }
}

static void find_errors(struct amp_layers *layers)
{
    const struct amp_model *model = layers->work->models[1];
    struct search search = {.layers = layers,
                            .errors = amp_xcalloc(model->n_values, sizeof *search.errors),
                            .first_body = amp_xmalloc(model->n_nodes, sizeof *search.first_body),
                            .next_body = amp_xmalloc(model->n_nodes, sizeof *search.next_body)};
    list_bodies(&search);
    for (size_t i = 0; i < model->graphs[0].nodes.count; i++)
        find_errors_of(&search, model->graphs[0].nodes.items[i]);
    free(search.errors);
    free(search.first_body);
    free(search.next_body);
}

void amp_layers_end(struct amp_layers *layers)
{
    double largest = 0;
    find_errors(layers);
    for (size_t i = 0; i < layers->count; i++) {
        const struct amp_layer *layer = &layers->items[i];
        const struct amp_metrics *seen = &layer->accumulated;
        if (layers->first_nan == SIZE_MAX && seen->nan[1] > seen->nan[0])
            layers->first_nan = i;
        if (layers->first_overflow == SIZE_MAX && seen->inf[1] > seen->inf[0])
            layers->first_overflow = i;
        if (layer->error - layer->before > largest) { /* never where that before is infinite */
            largest = layer->error - layer->before;
            layers->largest_jump = i;
        }
    }
}

/* ---- orders ---------------------------------------------------------------------------------- */

struct rank {
    double badness;
    size_t index;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->badness != y->badness)
        return x->badness > y->badness ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* How bad METRICS are, only to compare them: what is not finite in one model alone comes first. */
static double badness(const struct amp_metrics *metrics)
{
    return metrics->stray > 0 ? INFINITY : amp_layers_relative_error(metrics);
}

size_t *amp_layers_sort(const struct amp_layers *layers, enum amp_layers_order order)
{
    struct rank *ranks = amp_xmalloc(layers->count, sizeof *ranks);
    size_t *indices = amp_xmalloc(layers->count, sizeof *indices);
    for (size_t i = 0; i < layers->count; i++) {
        const struct amp_layer *layer = &layers->items[i];
        ranks[i] = (struct rank){0, i};
        if (order == AMP_LAYERS_BY_ACCUMULATED)
            ranks[i].badness = badness(&layer->accumulated);
        else if (order == AMP_LAYERS_BY_LOCAL)
            ranks[i].badness = layer->has_local ? badness(&layer->local) : -1;
    }
    qsort(ranks, layers->count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < layers->count; i++)
        indices[i] = ranks[i].index;
    free(ranks);
    return indices;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void amp_layers_begin(const struct amp_model *reference, const struct amp_model *converted,
                      struct amp_layers *layers)
{
    struct amp_layers_work *work = amp_xcalloc(1, sizeof *work);
    *layers = (struct amp_layers){
        .first_nan = SIZE_MAX, .first_overflow = SIZE_MAX, .largest_jump = SIZE_MAX, .work = work};
    *work = (struct amp_layers_work){.models = {reference, converted},
                                     .pairs = amp_pairs_create(reference, converted),
                                     .item_of =
                                         amp_xmalloc(converted->n_values, sizeof *work->item_of)};
    for (uint32_t c = 0; c < converted->n_values; c++)
        work->item_of[c] = AMP_NONE;
    list_items(layers);
    for (int i = 0; i < 2; i++)
        layers->n_unpaired[i] = work->pairs.n_unpaired[i];
    work->lockstep =
        amp_lockstep_create(&work->pairs, (struct amp_onlooker){.see = see, .context = layers});
}

void amp_layers_free(struct amp_layers *layers)
{
    if (layers->work != NULL) {
        amp_lockstep_destroy(layers->work->lockstep);
        amp_pairs_destroy(&layers->work->pairs);
        free(layers->work->item_of);
        free(layers->work);
    }
    free(layers->items);
    *layers = (struct amp_layers){.count = 0};
}
