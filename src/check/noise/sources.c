/*
 * Lists the places where a converted model rounds: constants in a lower dtype, what nodes that
 * compute give in it, casts to it. What the model before the conversion had in that dtype is none.
 * It looks at the graph alone.
 */
#include "check/noise/sources.h"

#include "check/noise/twin.h"
#include "core/tensor.h"
#include "ops/op.h"

#include <stdlib.h>

struct listing {
    const struct amp_model *reference, *converted;
    const struct amp_noise_steps *steps;
    struct amp_strmap before; /* names of values of the main graph to their ids in the reference */
    struct amp_arena *arena;
    struct source *items;
    size_t count, capacity;
};

struct source {
    struct amp_noise_source source;
    struct amp_noise_place place;
    size_t index;
};

/* Whether VALUE is in the lower dtype on account of the conversion. */
static bool is_lowered(const struct listing *listing, uint32_t value)
{
    uint32_t before;
    if (value >= listing->converted->n_values)
        return false;
    const struct amp_value *now = amp_value_at(listing->converted, value);
    if (now->kind != AMP_KIND_TENSOR || (now->dtype != AMP_BFLOAT16 && now->dtype != AMP_FLOAT16))
        return false;
    return !amp_strmap_get(&listing->before, now->name, &before) ||
           !amp_dtype_is_exact(amp_value_at(listing->reference, before)->dtype, now->dtype);
}

static void add(struct listing *listing, enum amp_noise_kind kind, uint32_t value, uint32_t node,
                struct amp_noise_place place)
{
    char text[512] = "";
    const struct amp_model *model = listing->steps->model, *converted = listing->converted;
    struct source *added = amp_arena_push(listing->arena, &listing->items, &listing->count,
                                          &listing->capacity, sizeof *added);
    uint32_t named = kind == AMP_NOISE_CAST ? amp_node_at(model, node)->inputs[0] : value;
    if (node != AMP_NONE)
        amp_node_text(model, node, text, sizeof text);
    added->index = listing->count;
    added->place = place;
    added->source = (struct amp_noise_source){
        .kind = kind,
        .value_id = value,
        .node_id = node < converted->n_nodes ? node : AMP_NONE,
        .name = amp_value_at(model, named)->name,
        .node = amp_arena_strdup(listing->arena, text),
        .op_type = node == AMP_NONE ? "" : amp_node_at(model, node)->op_type,
        .dtype = amp_value_at(converted, value)->dtype};
}

static void add_constants(struct listing *listing)
{
    const struct amp_noise_steps *steps = listing->steps;
    for (uint32_t v = 0; v < listing->converted->n_values; v++) {
        const struct amp_value *value = amp_value_at(listing->converted, v);
        const struct amp_tensor *data = value->constant;
        if (data == NULL || data->source == NULL || steps->from[v] == SIZE_MAX ||
            amp_dtype_is_exact(data->source->dtype, data->dtype))
            continue;
        add(listing, AMP_NOISE_WEIGHT, v, steps->items[steps->from[v]].node,
            (struct amp_noise_place){.from = steps->from[v], .is_constant = true});
    }
}

static void add_inputs(struct listing *listing)
{
    const struct amp_ids *inputs = &listing->steps->model->graphs[0].inputs;
    for (size_t i = 0; i < inputs->count; i++)
        if (is_lowered(listing, inputs->items[i]) &&
            amp_value_at(listing->steps->model, inputs->items[i])->constant == NULL)
            add(listing, AMP_NOISE_VALUE, inputs->items[i], AMP_NONE,
                (struct amp_noise_place){.is_input = true});
}

/* The first output of NODE that is a tensor; AMP_NONE: none is. */
static uint32_t first_tensor(const struct amp_model *model, const struct amp_node *node)
{
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE &&
            amp_value_at(model, node->outputs[k])->kind == AMP_KIND_TENSOR)
            return node->outputs[k];
    return AMP_NONE;
}

static void add_value(struct listing *listing, size_t step, uint32_t value)
{
    const struct amp_noise_steps *steps = listing->steps;
    bool is_constant = steps->items[step].is_constant;
    size_t from = is_constant ? steps->from[value] : step;
    if (!is_lowered(listing, value) || from == SIZE_MAX)
        return;
    uint32_t producer = amp_value_at(listing->converted, value)->producer;
    if (!amp_twin_rounds(listing->converted, producer, value))
        return;
    bool is_cast = amp_node_has_role(amp_node_at(listing->converted, producer), AMP_ROLE_CAST);
    add(listing, is_cast ? AMP_NOISE_CAST : AMP_NOISE_VALUE, value, steps->items[step].node,
        (struct amp_noise_place){.from = from, .is_constant = is_constant});
}

static void add_step(struct listing *listing, size_t step, const bool *has_bodies)
{
    const struct amp_model *model = listing->steps->model;
    uint32_t id = listing->steps->items[step].node;
    const struct amp_node *node = amp_node_at(model, id);
    if (has_bodies[id]) {
        uint32_t value = first_tensor(model, node);
        if (value != AMP_NONE)
            add(listing, AMP_NOISE_BODIES, value, id, (struct amp_noise_place){.from = step});
        return;
    }
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE)
            add_value(listing, step, node->outputs[k]);
}

/* Notes which constants are made of no other source: those of the model, and of constant steps what
   no source comes into. */
static void note_open(const struct amp_noise_steps *steps, struct amp_noise_sources *sources,
                      struct amp_arena *arena)
{
    bool *is_touched = amp_arena_array(arena, steps->model->n_values, sizeof *is_touched);
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i].kind == AMP_NOISE_WEIGHT)
            is_touched[sources->items[i].value_id] = sources->places[i].is_open = true;
    for (size_t i = 0; i < steps->count; i++) {
        const struct amp_noise_step *step = &steps->items[i];
        const struct amp_node *node = amp_node_at(steps->model, step->node);
        bool reads_any = false;
        for (size_t k = 0; k < step->reads.count; k++)
            reads_any = reads_any || is_touched[step->reads.items[k]];
        for (uint32_t k = 0; k < node->n_outputs && step->is_constant; k++) {
            uint32_t value = node->outputs[k];
            uint32_t source = value == AMP_NONE ? AMP_NONE : sources->of_value[value];
            if (source != AMP_NONE)
                sources->places[source].is_open = !reads_any;
            if (value != AMP_NONE)
                is_touched[value] = reads_any || source != AMP_NONE;
        }
    }
}

static int compare(const void *a, const void *b)
{
    const struct source *left = a, *right = b;
    if (left->place.is_input != right->place.is_input)
        return left->place.is_input ? -1 : 1;
    if (left->place.from != right->place.from)
        return left->place.from < right->place.from ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static void note_values(struct amp_noise_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        sources->of_value[sources->items[i].value_id] = (uint32_t)i;
}

static struct amp_noise_sources finish(struct listing *listing)
{
    size_t n_values = listing->steps->model->n_values, n = listing->count;
    struct amp_noise_sources sources = {
        .items = amp_arena_array(listing->arena, n, sizeof *sources.items),
        .places = amp_arena_array(listing->arena, n, sizeof *sources.places),
        .count = n,
        .of_value = amp_arena_array(listing->arena, n_values, sizeof *sources.of_value)};
    if (n > 0)
        qsort(listing->items, n, sizeof *listing->items, compare);
    for (size_t v = 0; v < n_values; v++)
        sources.of_value[v] = AMP_NONE;
    for (size_t i = 0; i < n; i++) {
        sources.items[i] = listing->items[i].source;
        sources.places[i] = listing->items[i].place;
    }
    note_values(&sources);
    note_open(listing->steps, &sources, listing->arena);
    return sources;
}

struct amp_noise_sources amp_noise_sources_find(const struct amp_model *reference,
                                                const struct amp_model *converted,
                                                const struct amp_noise_steps *steps,
                                                const bool *has_bodies, struct amp_arena *arena)
{
    struct listing listing = {
        .reference = reference, .converted = converted, .steps = steps, .arena = arena};
    for (uint32_t v = 0; v < reference->n_values; v++)
        if (amp_value_at(reference, v)->graph == 0)
            amp_strmap_put(&listing.before, arena, amp_value_at(reference, v)->name, v);
    add_inputs(&listing);
    add_constants(&listing);
    for (size_t i = 0; i < steps->count; i++)
        add_step(&listing, i, has_bodies);
    return finish(&listing);
}

void amp_noise_sources_keep(struct amp_noise_sources *sources, const bool *keeps)
{
    size_t n = 0;
    for (size_t i = 0; i < sources->count; i++) {
        sources->of_value[sources->items[i].value_id] = AMP_NONE;
        if (!keeps[i])
            continue;
        sources->items[n] = sources->items[i];
        sources->places[n++] = sources->places[i];
    }
    sources->count = n;
    note_values(sources);
}
