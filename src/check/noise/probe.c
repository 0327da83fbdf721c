/*
 * Walks the float32 twin of a converted model: once with nothing rounded, behind it once with every
 * value rounded, which tells what rounding does to each in the company of the others, and from any
 * step on with the rounding of a few sources alone. One session does all three in turns, so that
 * weights are in memory once; what a walk is about to read is kept aside while another goes on.
 */
#include "check/noise/probe.h"

#include "check/noise/apart.h"
#include "check/noise/twin.h"
#include "ops/flops.h"
#include "run/exec/walk.h"

#include <stdlib.h>
#include <string.h>

/* A walk that stands before step AT: the values that steps from there on read. */
struct place {
    size_t at;
    uint32_t *ids;
    struct amp_tensor *tensors;
    size_t count;
};

struct amp_noise_probe {
    struct amp_arena *arena;
    const struct amp_model *converted;
    struct amp_session *session;
    struct amp_noise_steps steps;
    struct amp_noise_sources sources;
    struct amp_noise_apart open;   /* sources that are constants are set there */
    struct amp_noise_apart bodies; /* there too, and bodies round */
    struct amp_noise_apart lower;  /* the converted model, for nodes that round within */
    const bool *is_dirty; /* per value: a constant that is rounded, or is made of one that is */
    bool *none, *all, *marked; /* what IS_DIRTY may be; MARKED: those of the group */
    bool *is_open;             /* per value: a constant that sessions apart are given */
    struct amp_tensor *clean; /* per value: a source that a constant step gave; else without data */
    struct place exact, rounded, here;
    struct amp_tensor *changes; /* per output of the last step of ROUNDED, or per graph input */
    struct amp_tensor *outputs; /* of a step that ran apart */
    size_t n_slots;             /* of CHANGES and OUTPUTS */
    size_t first, last;         /* the sources that are rounded */
    bool *surveyed;      /* per source, in a survey: whether rounding changes it; else NULL */
    double *cost;        /* per step */
    double whole, spent; /* the cost of all steps, and of those that have run */
};

/* ---- set-up ---------------------------------------------------------------------------------- */

/* How many outputs a node, or the graph as inputs, has at most. */
static size_t count_slots(const struct amp_model *model)
{
    size_t most = model->graphs[0].inputs.count;
    for (uint32_t id = 0; id < model->n_nodes; id++)
        if (amp_node_at(model, id)->n_outputs > most)
            most = amp_node_at(model, id)->n_outputs;
    return most;
}

/* Opens MODEL for steps that run apart, the constants that are sources to be set by hand, or what
   is made of them there to be rounded. */
static enum amp_status open_apart(struct amp_noise_probe *probe, const struct amp_model *model,
                                  struct amp_noise_apart *apart, struct amp_error *err)
{
    const struct amp_noise_sources *sources = &probe->sources;
    uint32_t *values = amp_arena_array(probe->arena, sources->count, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->places[i].is_open) {
            values[n++] = sources->items[i].value_id;
            probe->is_open[sources->items[i].value_id] = true;
        }
    const struct amp_model *open = amp_twin_open(model, values, n, probe->arena);
    return amp_noise_apart_open(open, probe->arena, apart, err);
}

/* Opens the converted model where it has nodes that round within. */
static enum amp_status open_lower(struct amp_noise_probe *probe, struct amp_error *err)
{
    const struct amp_model *model = probe->steps.model;
    for (size_t i = 0; i < probe->steps.count; i++)
        if (amp_op_of(amp_node_at(model, probe->steps.items[i].node))->rounds_within)
            return amp_noise_apart_open(probe->converted, probe->arena, &probe->lower, err);
    return AMP_OK;
}

static enum amp_status set_up(struct amp_noise_probe *probe, const struct amp_model *reference,
                              struct amp_error *err)
{
    struct amp_twin_bodies bodies;
    struct amp_model *twin = amp_twin_create(probe->converted, probe->arena);
    AMP_TRY(amp_session_open(twin, AMP_ROUNDED, &probe->session, err));
    probe->steps = amp_noise_steps_create(probe->session, probe->arena);
    AMP_TRY(
        amp_twin_round_bodies(probe->steps.model, probe->converted, probe->arena, &bodies, err));
    probe->sources = amp_noise_sources_find(reference, probe->converted, &probe->steps,
                                            bodies.found, probe->arena);
    probe->is_open =
        amp_arena_array(probe->arena, probe->steps.model->n_values, sizeof *probe->is_open);
    if (bodies.model != NULL)
        AMP_TRY(open_apart(probe, bodies.model, &probe->bodies, err));
    AMP_TRY(open_lower(probe, err));
    return open_apart(probe, probe->steps.model, &probe->open, err);
}

static struct place create_place(const struct amp_noise_probe *probe)
{
    size_t n = probe->steps.model->n_values;
    struct place place = {.at = 0};
    place.ids = amp_arena_array(probe->arena, n, sizeof *place.ids);
    place.tensors = amp_arena_array(probe->arena, n, sizeof *place.tensors);
    return place;
}

static void make_room(struct amp_noise_probe *probe)
{
    const struct amp_model *model = probe->steps.model;
    probe->n_slots = count_slots(model);
    probe->none = amp_arena_array(probe->arena, model->n_values, sizeof *probe->none);
    probe->all = amp_arena_array(probe->arena, model->n_values, sizeof *probe->all);
    probe->marked = amp_arena_array(probe->arena, model->n_values, sizeof *probe->marked);
    probe->is_dirty = probe->none;
    probe->clean = amp_arena_array(probe->arena, model->n_values, sizeof *probe->clean);
    probe->changes = amp_arena_array(probe->arena, probe->n_slots, sizeof *probe->changes);
    probe->outputs = amp_arena_array(probe->arena, probe->n_slots, sizeof *probe->outputs);
    probe->cost = amp_arena_array(probe->arena, probe->steps.count, sizeof *probe->cost);
    probe->exact = create_place(probe);
    probe->rounded = create_place(probe);
    probe->here = create_place(probe);
}

enum amp_status amp_noise_probe_create(const struct amp_model *reference,
                                       const struct amp_model *converted, struct amp_arena *arena,
                                       struct amp_noise_probe **probe, struct amp_error *err)
{
    struct amp_noise_probe *made = amp_arena_array(arena, 1, sizeof *made);
    made->arena = arena;
    made->converted = converted;
    *probe = made;
    AMP_TRY(set_up(made, reference, err));
    make_room(made);
    return AMP_OK;
}

void amp_noise_probe_destroy(struct amp_noise_probe *probe)
{
    if (probe == NULL)
        return;
    if (probe->cost != NULL) {
        amp_noise_probe_end(probe);
        amp_tensors_release(probe->clean, probe->steps.model->n_values);
    }
    amp_noise_apart_close(&probe->open);
    amp_noise_apart_close(&probe->bodies);
    amp_noise_apart_close(&probe->lower);
    amp_session_destroy(probe->session);
    probe->session = NULL;
}

struct amp_noise_sources *amp_noise_probe_sources(struct amp_noise_probe *probe)
{
    return &probe->sources;
}

const struct amp_model *amp_noise_probe_model(const struct amp_noise_probe *probe)
{
    return probe->steps.model;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void drop(struct place *place)
{
    amp_tensors_release(place->tensors, place->count);
    place->count = 0;
}

/* Notes in PLACE what the session holds that steps from AT on read. */
static enum amp_status note_place(struct amp_noise_probe *probe, struct place *place, size_t at,
                                  struct amp_error *err)
{
    const struct amp_noise_steps *steps = &probe->steps;
    drop(place);
    place->at = at;
    for (uint32_t v = 0; v < steps->model->n_values; v++) {
        struct amp_tensor *tensor = &place->tensors[place->count];
        if (steps->birth[v] > at || steps->death[v] < at)
            continue;
        AMP_TRY(amp_walk_get(probe->session, v, tensor, err));
        place->ids[place->count] = v;
        place->count += tensor->data != NULL || amp_tensor_is_list(tensor);
    }
    return AMP_OK;
}

/* Puts the session where PLACE is, whatever it did. */
static enum amp_status go_to(struct amp_noise_probe *probe, struct place *place,
                             struct amp_error *err)
{
    AMP_TRY(amp_walk_end(probe->session, NULL, err));
    for (size_t i = 0; i < place->count; i++)
        AMP_TRY(amp_walk_set(probe->session, place->ids[i], &place->tensors[i], err));
    for (size_t i = 0; i < place->at; i++) /* those that are too large to be kept */
        if (probe->steps.items[i].is_constant)
            AMP_TRY(amp_walk_compute(probe->session, i, err));
    return AMP_OK;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* What constant VALUE is in a run in which it is rounded, or is not. */
static enum amp_status supply_constant(void *context, uint32_t value, struct amp_tensor *tensor,
                                       struct amp_error *err)
{
    const struct amp_noise_probe *probe = context;
    const struct amp_tensor *clean = &probe->clean[value]; /* of a step */
    if (!probe->is_open[value])
        return AMP_OK;
    if (clean->data != NULL && probe->is_dirty[value])
        return amp_noise_cast(clean, amp_value_at(probe->converted, value)->dtype, tensor, err);
    if (clean->data != NULL) {
        amp_tensor_refer(tensor, clean);
        return AMP_OK;
    }
    const struct amp_model *model = probe->is_dirty[value] ? probe->converted : probe->steps.model;
    return amp_noise_widen(amp_value_at(model, value)->constant, tensor, err);
}

static bool differ(const struct amp_tensor *a, const struct amp_tensor *b)
{
    return memcmp(a->data, b->data, amp_tensor_size(a)) != 0;
}

/* What constant VALUE, made of other sources, is in a run in which it is rounded. */
static enum amp_status round_made(void *context, uint32_t value, const struct amp_tensor *exact,
                                  struct amp_tensor *rounded, struct amp_error *err)
{
    const struct amp_noise_probe *probe = context;
    uint32_t source = probe->sources.of_value[value];
    bool is_in = probe->is_dirty == probe->all || (source >= probe->first && source <= probe->last);
    if (source == AMP_NONE || !is_in)
        return AMP_OK;
    AMP_TRY(amp_noise_cast(exact, probe->sources.items[source].dtype, rounded, err));
    if (probe->surveyed != NULL)
        probe->surveyed[source] |= differ(exact, rounded);
    return AMP_OK;
}

static bool reads_dirty(const struct amp_noise_probe *probe, size_t step)
{
    const struct amp_ids *reads = &probe->steps.items[step].reads;
    for (size_t i = 0; i < reads->count; i++)
        if (probe->is_dirty[reads->items[i]])
            return true;
    return false;
}

/* Marks in MARKED the constants among N sources from FIRST on, and what constant steps make of
   them; they are dirty from now on. */
static void mark_dirty(struct amp_noise_probe *probe, bool *marked, size_t first, size_t n)
{
    const struct amp_noise_steps *steps = &probe->steps;
    memset(marked, 0, steps->model->n_values * sizeof *marked);
    probe->is_dirty = marked;
    for (size_t s = first; s < first + n; s++)
        if (probe->sources.places[s].is_constant)
            marked[probe->sources.items[s].value_id] = true;
    for (size_t i = 0; i < steps->count; i++) {
        const struct amp_node *node = amp_node_at(steps->model, steps->items[i].node);
        if (!steps->items[i].is_constant || !reads_dirty(probe, i))
            continue;
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                marked[node->outputs[k]] = true;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const struct amp_node *node_of(const struct amp_noise_probe *probe, size_t step)
{
    return amp_node_at(probe->steps.model, probe->steps.items[step].node);
}

/* For the converted model, which has its constants. */
static enum amp_status supply_none(void *context, uint32_t value, struct amp_tensor *tensor,
                                   struct amp_error *err)
{
    (void)context, (void)value, (void)tensor, (void)err;
    return AMP_OK;
}

static enum amp_status keep_made(void *context, uint32_t value, const struct amp_tensor *exact,
                                 struct amp_tensor *rounded, struct amp_error *err)
{
    (void)context, (void)value, (void)exact, (void)rounded, (void)err;
    return AMP_OK;
}

static enum amp_status run_apart(struct amp_noise_probe *probe, const struct amp_noise_apart *apart,
                                 size_t step, struct amp_error *err)
{
    bool has_constants = apart == &probe->lower;
    const struct amp_noise_supply supply = {.walk = probe->session,
                                            .steps = &probe->steps,
                                            .constant =
                                                has_constants ? supply_none : supply_constant,
                                            .made = has_constants ? keep_made : round_made,
                                            .context = probe};
    amp_tensors_release(probe->outputs, probe->n_slots);
    probe->spent += probe->cost[step];
    return amp_noise_apart_run(apart, &supply, step, probe->outputs, err);
}

/* Runs STEP in the session, with the constants that are dirty rounded. */
static enum amp_status compute(struct amp_noise_probe *probe, size_t step, struct amp_error *err)
{
    const struct amp_node *node = node_of(probe, step);
    bool is_dirty = reads_dirty(probe, step);
    if (!is_dirty) {
        probe->spent += probe->steps.items[step].is_constant ? 0 : probe->cost[step];
        return amp_walk_compute(probe->session, step, err);
    }
    if (probe->steps.items[step].is_constant)
        return AMP_OK;
    AMP_TRY(run_apart(probe, &probe->open, step, err));
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE)
            AMP_TRY(amp_walk_set(probe->session, node->outputs[k], &probe->outputs[k], err));
    amp_tensors_release(probe->outputs, probe->n_slots);
    return AMP_OK;
}

/* The source that output VALUE of NODE belongs to: its own, or that of the node's bodies. */
static uint32_t source_of(const struct amp_noise_probe *probe, const struct amp_node *node,
                          uint32_t value)
{
    const struct amp_noise_sources *sources = &probe->sources;
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t source =
            node->outputs[k] == AMP_NONE ? AMP_NONE : sources->of_value[node->outputs[k]];
        if (source != AMP_NONE && sources->items[source].kind == AMP_NOISE_BODIES)
            return source;
    }
    return sources->of_value[value];
}

static bool is_float(const struct amp_tensor *tensor)
{
    return tensor->form == AMP_FORM_TENSOR && tensor->dtype == AMP_FLOAT && tensor->data != NULL;
}

/* ---- the walk with all rounded ----------------------------------------------------------------
 */

/* A value that the session holds, and the slot that what rounding it adds goes to. */
struct rounded_value {
    uint32_t id;
    size_t slot;
    const struct amp_tensor *apart; /* what it is where the node rounds within; NULL: it is rounded
                                       itself */
};

/* Rounds VALUE; *CHANGES: whether that adds anything. */
static enum amp_status round_value(struct amp_noise_probe *probe, const struct rounded_value *value,
                                   bool *changes, struct amp_error *err)
{
    const struct amp_tensor *apart = value->apart;
    struct amp_tensor exact = {.dtype = AMP_UNDEFINED}, rounded = {.dtype = AMP_UNDEFINED};
    struct amp_noise_change change = {
        .exact = &exact, .rounded = &rounded, .added = &probe->changes[value->slot]};
    enum amp_status status = amp_walk_get(probe->session, value->id, &exact, err);
    bool fits = status == AMP_OK && is_float(&exact);
    if (fits && apart != NULL) {
        fits = apart->data != NULL && amp_shape_equal(&exact.shape, &apart->shape);
        status = fits ? amp_noise_widen(apart, &rounded, err) : AMP_OK;
        if (fits && status == AMP_OK)
            status = amp_noise_take_change(&change, err);
    } else if (fits) {
        enum amp_dtype dtype = amp_value_at(probe->converted, value->id)->dtype;
        status = amp_noise_round(&change, dtype, err);
    }
    if (fits && status == AMP_OK)
        status = amp_walk_set(probe->session, value->id, &rounded, err);
    *changes = change.is_any;
    amp_tensor_release(&exact);
    amp_tensor_release(&rounded);
    return status;
}

/* Rounds what STEP has given; IS_APART: to what it gives where it rounds within. */
static enum amp_status round_outputs(struct amp_noise_probe *probe, size_t step, bool is_apart,
                                     bool *changes, struct amp_error *err)
{
    const struct amp_node *node = node_of(probe, step);
    amp_tensors_release(probe->changes, probe->n_slots);
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t value = node->outputs[k];
        uint32_t source = value == AMP_NONE ? AMP_NONE : source_of(probe, node, value);
        bool changed = false;
        if (source == AMP_NONE || probe->sources.places[source].is_constant)
            continue;
        const struct rounded_value rounded = {value, k, is_apart ? &probe->outputs[k] : NULL};
        AMP_TRY(round_value(probe, &rounded, &changed, err));
        if (changes != NULL)
            changes[source] |= changed;
    }
    return AMP_OK;
}

/* The session in which STEP runs as it does in the converted model, as it rounds within; NULL: it
   does not. */
static const struct amp_noise_apart *roundings_of(const struct amp_noise_probe *probe, size_t step)
{
    const struct amp_node *node = node_of(probe, step);
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t source =
            node->outputs[k] == AMP_NONE ? AMP_NONE : probe->sources.of_value[node->outputs[k]];
        if (source == AMP_NONE || probe->sources.places[source].is_constant)
            continue;
        if (probe->sources.items[source].kind == AMP_NOISE_BODIES)
            return &probe->bodies;
        if (amp_op_of(node)->rounds_within)
            return &probe->lower;
    }
    return NULL;
}

/* Runs STEP and rounds what it gives. */
static enum amp_status step_rounded(struct amp_noise_probe *probe, size_t step, bool *changes,
                                    struct amp_error *err)
{
    const struct amp_noise_apart *apart = roundings_of(probe, step);
    AMP_TRY(compute(probe, step, err));
    if (apart != NULL)
        AMP_TRY(run_apart(probe, apart, step, err));
    AMP_TRY(round_outputs(probe, step, apart != NULL, changes, err));
    amp_tensors_release(probe->outputs, probe->n_slots);
    amp_walk_release(probe->session, step);
    return AMP_OK;
}

static enum amp_status round_inputs(struct amp_noise_probe *probe, bool *changes,
                                    struct amp_error *err)
{
    const struct amp_ids *inputs = &probe->steps.model->graphs[0].inputs;
    amp_tensors_release(probe->changes, probe->n_slots);
    for (size_t i = 0; i < inputs->count; i++) {
        uint32_t source = probe->sources.of_value[inputs->items[i]];
        bool changed = false;
        if (source == AMP_NONE || probe->sources.places[source].is_constant)
            continue;
        AMP_TRY(
            round_value(probe, &(struct rounded_value){inputs->items[i], i, NULL}, &changed, err));
        if (changes != NULL)
            changes[source] |= changed;
    }
    return AMP_OK;
}

/* Brings the walk with all rounded behind STEP, if it is not there yet; the session, which stands
   somewhere else, comes back. */
static enum amp_status catch_up(struct amp_noise_probe *probe, size_t step, struct amp_error *err)
{
    const bool *is_dirty = probe->is_dirty;
    if (probe->rounded.at > step)
        return AMP_OK;
    enum amp_status status = note_place(probe, &probe->here, step + 1, err);
    probe->is_dirty = probe->all;
    if (status == AMP_OK)
        status = go_to(probe, &probe->rounded, err);
    for (size_t i = probe->rounded.at; i <= step && status == AMP_OK; i++)
        status = step_rounded(probe, i, NULL, err);
    if (status == AMP_OK)
        status = note_place(probe, &probe->rounded, step + 1, err);
    if (status == AMP_OK)
        status = go_to(probe, &probe->here, err);
    probe->is_dirty = is_dirty;
    drop(&probe->here);
    return status;
}

/* ---- survey ---------------------------------------------------------------------------------- */

/* An operation of arithmetic is as dear as a byte moved at these rates of a core, and a step has
   some to do whatever its size. */
enum { COST_PER_ELEMENT = 16, COST_PER_STEP = 100000 };

static enum amp_status measure_cost(struct amp_noise_probe *probe, size_t step,
                                    struct amp_error *err)
{
    const struct amp_node *node = node_of(probe, step);
    size_t n = (size_t)node->n_inputs + node->n_outputs;
    struct amp_tensor *tensors = amp_xcalloc(n, sizeof *tensors);
    struct amp_tensor **pointers = amp_xcalloc(n, sizeof *pointers);
    enum amp_status status = AMP_OK;
    double elements = 0;
    bool is_known = true;
    for (size_t i = 0; i < n && status == AMP_OK; i++) {
        uint32_t value = i < node->n_inputs ? node->inputs[i] : node->outputs[i - node->n_inputs];
        if (value == AMP_NONE)
            continue;
        status = amp_walk_get(probe->session, value, &tensors[i], err);
        pointers[i] = &tensors[i];
        is_known = is_known && !amp_tensor_is_list(&tensors[i]);
        elements += (double)amp_shape_count(&tensors[i].shape);
    }
    const struct amp_ctx ctx = {.model = probe->steps.model,
                                .node = node,
                                .in = (const struct amp_tensor *const *)pointers,
                                .n_in = node->n_inputs,
                                .out = pointers + node->n_inputs,
                                .n_out = node->n_outputs};
    double flops = is_known && status == AMP_OK ? amp_flops(&ctx) : 0;
    probe->cost[step] = flops + COST_PER_ELEMENT * elements + COST_PER_STEP;
    amp_tensors_release(tensors, n);
    free(tensors);
    free(pointers);
    return status;
}

/* Keeps what constant STEP gives where that is a source. */
static enum amp_status keep_constants(struct amp_noise_probe *probe, size_t step,
                                      struct amp_error *err)
{
    const struct amp_node *node = node_of(probe, step);
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t value = node->outputs[k];
        if (value != AMP_NONE && probe->is_open[value] && probe->clean[value].data == NULL)
            AMP_TRY(amp_walk_get(probe->session, value, &probe->clean[value], err));
    }
    return AMP_OK;
}

static enum amp_status survey_step(struct amp_noise_probe *probe, size_t step, bool is_first,
                                   struct amp_error *err)
{
    bool is_constant = probe->steps.items[step].is_constant;
    AMP_TRY(compute(probe, step, err));
    if (is_constant)
        AMP_TRY(keep_constants(probe, step, err));
    else if (is_first)
        AMP_TRY(measure_cost(probe, step, err));
    amp_walk_release(probe->session, step);
    return AMP_OK;
}

static enum amp_status run_exactly(struct amp_noise_probe *probe, const struct amp_tensor *inputs,
                                   struct amp_tensor *outputs, struct amp_error *err)
{
    bool is_first = probe->whole == 0;
    AMP_TRY(amp_walk_begin(probe->session, inputs, err));
    for (size_t i = 0; i < probe->steps.count; i++)
        AMP_TRY(survey_step(probe, i, is_first, err));
    for (size_t i = 0; i < probe->steps.count && is_first; i++)
        probe->whole += probe->cost[i];
    probe->spent += is_first ? probe->whole : 0;
    return amp_walk_end(probe->session, outputs, err);
}

static enum amp_status run_rounded(struct amp_noise_probe *probe, const struct amp_tensor *inputs,
                                   struct amp_tensor *outputs, bool *changes, struct amp_error *err)
{
    mark_dirty(probe, probe->all, 0, probe->sources.count);
    AMP_TRY(amp_walk_begin(probe->session, inputs, err));
    AMP_TRY(round_inputs(probe, changes, err));
    for (size_t i = 0; i < probe->steps.count; i++)
        AMP_TRY(step_rounded(probe, i, changes, err));
    return amp_walk_end(probe->session, outputs, err);
}

/* Notes which of the constants that are set by hand rounding changes. */
static enum amp_status survey_constants(struct amp_noise_probe *probe, bool *changes,
                                        struct amp_error *err)
{
    const bool *kinds[2] = {probe->none, probe->all};
    struct amp_tensor tensors[2] = {{.dtype = AMP_UNDEFINED}, {.dtype = AMP_UNDEFINED}};
    enum amp_status status = AMP_OK;
    for (size_t s = 0; s < probe->sources.count && status == AMP_OK; s++) {
        for (int i = 0; i < 2 && status == AMP_OK; i++) {
            probe->is_dirty = kinds[i];
            status = supply_constant(probe, probe->sources.items[s].value_id, &tensors[i], err);
        }
        if (status == AMP_OK && probe->sources.places[s].is_open)
            changes[s] |= differ(&tensors[0], &tensors[1]);
        amp_tensors_release(tensors, 2);
    }
    return status;
}

enum amp_status amp_noise_probe_survey(struct amp_noise_probe *probe,
                                       const struct amp_tensor *inputs,
                                       struct amp_noise_outputs *outputs, bool *changes,
                                       struct amp_error *err)
{
    struct amp_error unused = {.status = AMP_OK};
    bool is_first = probe->whole == 0;
    enum amp_status status = run_exactly(probe, inputs, outputs->exact, err);
    probe->surveyed = changes;
    if (status == AMP_OK)
        status = run_rounded(probe, inputs, outputs->rounded, changes, err);
    if (status == AMP_OK && is_first)
        status = survey_constants(probe, changes, err);
    probe->surveyed = NULL;
    probe->is_dirty = probe->none;
    AMP_IGNORE(amp_walk_end(probe->session, NULL, &unused));
    return status;
}

double amp_noise_probe_cost(const struct amp_noise_probe *probe, size_t source)
{
    double cost = 0;
    for (size_t i = probe->sources.places[source].from; i < probe->steps.count; i++)
        cost += probe->steps.items[i].is_constant ? 0 : probe->cost[i];
    return probe->whole > 0 ? cost / probe->whole : 0;
}

double amp_noise_probe_spent(const struct amp_noise_probe *probe)
{
    return probe->whole > 0 ? probe->spent / probe->whole : 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum amp_status amp_noise_probe_begin(struct amp_noise_probe *probe,
                                      const struct amp_tensor *inputs, struct amp_error *err)
{
    probe->is_dirty = probe->none;
    AMP_TRY(amp_walk_begin(probe->session, inputs, err));
    AMP_TRY(note_place(probe, &probe->exact, 0, err));
    AMP_TRY(round_inputs(probe, NULL, err));
    AMP_TRY(note_place(probe, &probe->rounded, 0, err));
    return go_to(probe, &probe->exact, err);
}

/* Brings the walk with nothing rounded before step AT, where the session then stands. */
static enum amp_status advance(struct amp_noise_probe *probe, size_t at, struct amp_error *err)
{
    probe->is_dirty = probe->none;
    AMP_TRY(go_to(probe, &probe->exact, err));
    for (size_t i = probe->exact.at; i < at; i++) {
        AMP_TRY(compute(probe, i, err));
        amp_walk_release(probe->session, i);
    }
    return note_place(probe, &probe->exact, at, err);
}

/* Adds what slot K of the rounded walk has changed to VALUE of the session. */
static enum amp_status add_change(struct amp_noise_probe *probe, uint32_t value, size_t k,
                                  struct amp_error *err)
{
    struct amp_tensor exact = {.dtype = AMP_UNDEFINED}, sum = {.dtype = AMP_UNDEFINED};
    const struct amp_tensor *change = &probe->changes[k];
    enum amp_status status = amp_walk_get(probe->session, value, &exact, err);
    if (status == AMP_OK && change->data != NULL && is_float(&exact) &&
        amp_shape_equal(&exact.shape, &change->shape)) {
        status = amp_noise_add(&exact, change, &sum, err);
        if (status == AMP_OK)
            status = amp_walk_set(probe->session, value, &sum, err);
    }
    amp_tensor_release(&exact);
    amp_tensor_release(&sum);
    return status;
}

static bool is_rounded(const struct amp_noise_probe *probe, uint32_t source)
{
    return source >= probe->first && source <= probe->last && /* not AMP_NONE */
           !probe->sources.places[source].is_constant;
}

static enum amp_status change_inputs(struct amp_noise_probe *probe, struct amp_error *err)
{
    const struct amp_ids *inputs = &probe->steps.model->graphs[0].inputs;
    for (size_t i = 0; i < inputs->count; i++)
        if (is_rounded(probe, probe->sources.of_value[inputs->items[i]]))
            AMP_TRY(add_change(probe, inputs->items[i], i, err));
    return AMP_OK;
}

static enum amp_status change_outputs(struct amp_noise_probe *probe, size_t step,
                                      struct amp_error *err)
{
    const struct amp_node *node = node_of(probe, step);
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t value = node->outputs[k];
        if (value == AMP_NONE || !is_rounded(probe, source_of(probe, node, value)))
            continue;
        AMP_TRY(catch_up(probe, step, err));
        AMP_TRY(add_change(probe, value, k, err));
    }
    return AMP_OK;
}

enum amp_status amp_noise_probe_run(struct amp_noise_probe *probe, size_t first, size_t last,
                                    struct amp_tensor *outputs, struct amp_error *err)
{
    size_t from = probe->sources.places[first].from;
    AMP_TRY(advance(probe, from, err));
    probe->first = first;
    probe->last = last;
    mark_dirty(probe, probe->marked, first, last + 1 - first);
    AMP_TRY(change_inputs(probe, err));
    for (size_t i = from; i < probe->steps.count; i++) {
        AMP_TRY(compute(probe, i, err));
        AMP_TRY(change_outputs(probe, i, err));
        amp_walk_release(probe->session, i);
    }
    return amp_walk_end(probe->session, outputs, err);
}

void amp_noise_probe_end(struct amp_noise_probe *probe)
{
    struct amp_error unused = {.status = AMP_OK};
    drop(&probe->exact);
    drop(&probe->rounded);
    drop(&probe->here);
    amp_tensors_release(probe->changes, probe->n_slots);
    amp_tensors_release(probe->outputs, probe->n_slots);
    AMP_IGNORE(amp_walk_end(probe->session, NULL, &unused));
}
