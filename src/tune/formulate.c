/*
 * Makes a problem of a converted model: takes its units, the noise by source and the costs, gives
 * which noise and which casts hang on which units. It runs nothing.
 */
#include "tune/formulate.h"

#include "core/graph/graph.h"
#include "core/tensor.h"
#include "tune/ties.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Who reads a value: units, and nodes that are float32 in any case. */
struct readers {
    uint32_t *units; /* each once, in the order of reading */
    double *weights; /* of each: how much of the value's error goes through it, not normalised */
    size_t count;
    bool has_fixed; /* a node that is float32 in any case, or the graph's outputs */
    double fixed;   /* their weight */
};

struct formulating {
    const struct amp_formulation *from;
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_problem *problem;
    size_t noises_capacity, edges_capacity;
    size_t *first, *nodes;  /* per value id: where in NODES those that read it begin */
    struct readers readers; /* of the value at hand; room for all units */
    uint32_t *seen;         /* per unit: the number of the last value that it was seen to read */
    uint32_t n_asked;       /* values that readers were asked for */
    size_t *place;          /* per unit that was seen last: its index in READERS */
};

/* ---- readers --------------------------------------------------------------------------------- */

static void count_readers(struct formulating *f, bool counts)
{
    for (uint32_t node = 0; node < f->model->n_nodes; node++) {
        const struct amp_node *at = amp_node_at(f->model, node);
        for (uint32_t i = 0; i < at->n_inputs && !at->is_removed; i++) {
            if (at->inputs[i] == AMP_NONE)
                continue;
            if (counts)
                f->first[at->inputs[i] + 1]++;
            else
                f->nodes[f->first[at->inputs[i]]++] = node;
        }
    }
}

/* Lists who reads each value. */
static void index_readers(struct formulating *f)
{
    size_t n = f->model->n_values;
    f->first = amp_arena_array(f->arena, n + 1, sizeof *f->first);
    count_readers(f, true);
    for (size_t v = 0; v < n; v++)
        f->first[v + 1] += f->first[v];
    f->nodes = amp_arena_array(f->arena, f->first[n], sizeof *f->nodes);
    count_readers(f, false);
    memmove(f->first + 1, f->first, n * sizeof *f->first);
    f->first[0] = 0;
}

/* Whether NODE is a Cast of the conversion, which stands for those that read it. */
static bool is_inserted_cast(const struct formulating *f, uint32_t node)
{
    const struct amp_node *at = amp_node_at(f->model, node);
    return node >= f->from->assignment->n_nodes && at->n_inputs == 1 && at->n_outputs == 1;
}

/* The number of elements that VALUE has for each of the dims that are not known; 0: nothing is. */
static double count_elements(const struct formulating *f, uint32_t value)
{
    double count = 1;
    struct amp_shape shape;
    amp_value_shape(amp_value_at(f->model, value), &shape);
    for (int i = 0; i < shape.rank; i++)
        count *= shape.dims[i] > 0 ? (double)shape.dims[i] : 1;
    return shape.rank >= 0 ? count : 0;
}

/* How much of an error of VALUE, elements of which are independent, is found in what NODE gives:
   where that has fewer elements, they average out. */
static double weight_of(const struct formulating *f, uint32_t value, uint32_t node)
{
    const struct amp_node *at = amp_node_at(f->model, node);
    double in = count_elements(f, value), out = 0;
    for (uint32_t i = 0; i < at->n_outputs; i++)
        if (at->outputs[i] != AMP_NONE)
            out = fmax(out, count_elements(f, at->outputs[i]));
    return out > 0 && out < in ? out / in : 1;
}

static void add_reader(struct formulating *f, uint32_t value, uint32_t node)
{
    const struct amp_assignment *assignment = f->from->assignment;
    struct readers *readers = &f->readers;
    uint32_t unit = f->from->units->of_node[node];
    double weight = weight_of(f, value, node);
    if (unit == AMP_NONE) {
        bool is_fixed = node < assignment->n_nodes && assignment->nodes[node].dtype == AMP_FLOAT;
        readers->fixed += is_fixed ? weight : 0;
        readers->has_fixed |= is_fixed;
        return;
    }
    if (f->seen[unit] != f->n_asked) {
        f->seen[unit] = f->n_asked;
        f->place[unit] = readers->count;
        readers->weights[readers->count] = 0;
        readers->units[readers->count++] = unit;
    }
    readers->weights[f->place[unit]] += weight;
}

/* Adds those that read VALUE, past casts. */
static void add_readers(struct formulating *f, uint32_t value)
{
    bool is_output = amp_value_at(f->model, value)->is_output;
    f->readers.has_fixed |= is_output;
    f->readers.fixed += is_output;
    for (size_t i = f->first[value]; i < f->first[value + 1]; i++) {
        const struct amp_node *reader = amp_node_at(f->model, f->nodes[i]);
        if (!is_inserted_cast(f, f->nodes[i]))
            add_reader(f, value, f->nodes[i]);
        else
            add_readers(f, reader->outputs[0]);
    }
}

/* Finds the readers of VALUE. */
static void find_readers(struct formulating *f, uint32_t value)
{
    f->n_asked++;
    f->readers.count = 0;
    f->readers.has_fixed = false;
    f->readers.fixed = 0;
    add_readers(f, value);
}

/* ---- noise ----------------------------------------------------------------------------------- */

static void add_noise(struct formulating *f, uint32_t a, uint32_t b, double power)
{
    struct amp_problem *problem = f->problem;
    *(struct amp_problem_noise *)amp_arena_push(f->arena, &problem->noises, &problem->n_noises,
                                                &f->noises_capacity, sizeof *problem->noises) =
        (struct amp_problem_noise){a, b, power};
}

/* The unit that rounds in SOURCE; AMP_NONE: those that read it do, or a node that always will. */
static uint32_t rounder(const struct formulating *f, const struct amp_noise_source *source)
{
    bool is_made = source->kind == AMP_NOISE_VALUE || source->kind == AMP_NOISE_BODIES;
    return is_made && source->node_id != AMP_NONE ? f->from->units->of_node[source->node_id]
                                                  : AMP_NONE;
}

static void add_source(struct formulating *f, const struct amp_noise_source *source, double power)
{
    uint32_t unit = rounder(f, source);
    if (source->kind == AMP_NOISE_BODIES && unit != AMP_NONE) {
        add_noise(f, unit, unit, power);
        return;
    }
    find_readers(f, source->value_id);
    const struct readers *readers = &f->readers;
    double all = readers->count == 0 ? 1 : readers->fixed;
    double fixed = all;
    for (size_t i = 0; i < readers->count; i++)
        all += readers->weights[i];
    for (size_t i = 0; i < readers->count; i++)
        add_noise(f, unit != AMP_NONE ? unit : readers->units[i], readers->units[i],
                  power * readers->weights[i] / all);
    if (fixed > 0 && unit != AMP_NONE)
        add_noise(f, unit, unit, power * fixed / all);
    else if (fixed > 0)
        f->problem->floor += power * fixed / all;
}

static void add_sources(struct formulating *f)
{
    const struct amp_noise *noise = f->from->noise;
    double sum = 0;
    for (size_t s = 0; s < noise->n_sources; s++)
        sum += noise->sources[s].power;
    for (size_t s = 0; s < noise->n_sources; s++) {
        const struct amp_noise_source *source = &noise->sources[s];
        bool is_lethal = source->n_lost > 0;
        double power = is_lethal ? 10 * (sum > 1 ? sum : 1) : source->power;
        if (power > 0)
            add_source(f, source, power);
    }
}

/* ---- costs ----------------------------------------------------------------------------------- */

static void add_edge(struct formulating *f, uint32_t a, uint32_t b, double cost)
{
    struct amp_problem *problem = f->problem;
    *(struct amp_problem_edge *)amp_arena_push(f->arena, &problem->edges, &problem->n_edges,
                                               &f->edges_capacity, sizeof *problem->edges) =
        (struct amp_problem_edge){a, b, cost};
}

/* The unit that gives VALUE; AMP_NONE: it is float32 in any case. */
static uint32_t giver(const struct formulating *f, uint32_t value)
{
    uint32_t producer = amp_value_at(f->model, value)->producer;
    return producer == AMP_NONE ? AMP_NONE : f->from->units->of_node[producer];
}

/* Adds what casting VALUE costs where units differ. */
static void add_casts(struct formulating *f, uint32_t value, double cost)
{
    struct amp_unit *units = f->problem->units;
    uint32_t unit = giver(f, value);
    find_readers(f, value);
    const struct readers *readers = &f->readers;
    double share = cost / (double)(readers->count + readers->has_fixed);
    for (size_t i = 0; i < readers->count; i++) {
        uint32_t reader = readers->units[i];
        if (unit == AMP_NONE)
            units[reader].loss -= share;
        else if (unit != reader)
            add_edge(f, unit, reader, share);
    }
    if (readers->has_fixed && unit != AMP_NONE)
        units[unit].loss -= share;
}

static void add_costs(struct formulating *f)
{
    const struct amp_costs *costs = f->from->costs;
    for (size_t u = 0; u < f->problem->n_units; u++) {
        struct amp_unit *unit = &f->problem->units[u];
        for (size_t i = 0; i < unit->n_nodes; i++)
            if (unit->nodes[i] < costs->n_nodes)
                unit->loss += costs->wide[unit->nodes[i]] - costs->low[unit->nodes[i]];
    }
    for (uint32_t v = 0; v < costs->n_values; v++) {
        const struct amp_value *value = amp_value_at(f->model, v);
        bool is_cast = amp_dtype_is_autocast(value->dtype) && value->constant == NULL &&
                       value->graph == 0 && !value->is_removed;
        if (is_cast && costs->casts[v] > 0)
            add_casts(f, v, costs->casts[v]);
    }
}

struct amp_problem *amp_problem_create(const struct amp_units *units, struct amp_arena *arena)
{
    struct amp_problem *problem = amp_arena_alloc(arena, sizeof *problem);
    problem->n_units = units->count;
    problem->units = amp_arena_array(arena, units->count, sizeof *problem->units);
    memcpy(problem->units, units->items, units->count * sizeof *units->items);
    return problem;
}

void amp_problem_formulate(const struct amp_formulation *formulation, struct amp_problem *problem,
                           struct amp_arena *arena)
{
    size_t n_units = problem->n_units;
    struct formulating f = {
        .from = formulation, .model = formulation->converted, .arena = arena, .problem = problem};
    f.readers.units = amp_arena_array(arena, n_units, sizeof *f.readers.units);
    f.readers.weights = amp_arena_array(arena, n_units, sizeof *f.readers.weights);
    f.seen = amp_arena_array(arena, n_units, sizeof *f.seen);
    f.place = amp_arena_array(arena, n_units, sizeof *f.place);
    problem->base = formulation->costs->total_low;
    problem->origin = formulation->costs->origin;
    index_readers(&f);
    add_sources(&f);
    add_costs(&f);
}

/* ---- two lower dtypes ------------------------------------------------------------------------ */

struct combining {
    const struct amp_ties *coarse, *fine;
    double most;   /* noise that matters beside that of all units in the coarser dtype */
    double dearer; /* than any choice */
    bool *skips;   /* per unit: its first step alone is no choice */
    double *casts; /* per unit: what its casts cost */
    struct formulating to;
};

/* What the noise of two units, or of one, is in the one dtype and in the other. */
static void visit_noise(struct combining *c, uint32_t a, uint32_t b, double coarse, double fine)
{
    const struct amp_problem *problem = c->to.problem;
    uint32_t step_a = amp_problem_step(problem, a), step_b = amp_problem_step(problem, b);
    if (step_a == a && step_b == b)
        add_noise(&c->to, a, b, coarse);
    else if (fine > coarse)
        add_noise(&c->to, a, b, c->skips[a] || c->skips[b] ? coarse : fine);
    else {
        add_noise(&c->to, step_a, step_b, coarse - fine);
        add_noise(&c->to, a, b, fine);
    }
}

/* Notes the units to which the finer dtype does harm. */
static void find_harm(struct combining *c, uint32_t a, uint32_t b, double coarse, double fine)
{
    if (fine > coarse && fine > c->most)
        c->skips[a] = c->skips[b] = true;
}

typedef void noise_visitor(struct combining *c, uint32_t a, uint32_t b, double coarse, double fine);

/* Visits the noise of UNIT with units behind it; both problems have ties in the order of units. */
static void visit_ties(struct combining *c, uint32_t unit, noise_visitor *visit)
{
    size_t i = c->coarse->first[unit], k = c->fine->first[unit];
    size_t n = c->coarse->first[unit + 1], m = c->fine->first[unit + 1];
    while (i < n || k < m) {
        uint32_t in_coarse = i < n ? c->coarse->all[i].other : AMP_NONE;
        uint32_t in_fine = k < m ? c->fine->all[k].other : AMP_NONE;
        uint32_t other = in_coarse < in_fine ? in_coarse : in_fine;
        double coarse = in_coarse == other ? c->coarse->all[i++].power : 0;
        double fine = in_fine == other ? c->fine->all[k++].power : 0;
        if (other > unit && coarse + fine > 0)
            visit(c, unit, other, coarse, fine);
    }
}

static void visit_all(struct combining *c, noise_visitor *visit)
{
    for (uint32_t unit = 0; unit < c->to.problem->n_units; unit++) {
        if (c->coarse->power[unit] + c->fine->power[unit] > 0)
            visit(c, unit, unit, c->coarse->power[unit], c->fine->power[unit]);
        visit_ties(c, unit, visit);
    }
}

/* Adds the casts of the first steps to those of the second ones. */
static void combine_casts(struct combining *c, const struct amp_problem *coarse)
{
    static const double part_of_fine = 4.0 / 6;
    const struct amp_problem *problem = c->to.problem;
    for (size_t i = 0; i < coarse->n_edges; i++) {
        const struct amp_problem_edge *edge = &coarse->edges[i];
        uint32_t a = amp_problem_step(problem, edge->a), b = amp_problem_step(problem, edge->b);
        double cost = edge->cost * part_of_fine;
        add_edge(&c->to, edge->a, edge->b, edge->cost);
        if (a == edge->a && b == edge->b)
            continue;
        add_edge(&c->to, a, b, cost);
        c->casts[a] += cost;
        c->casts[b] += cost;
    }
}

/* Shares the loss of UNIT out to its steps, and ties them so that none is better off with the
   second alone, nor, where the first alone is no choice, with that. */
static void combine_losses(struct combining *c, uint32_t unit)
{
    struct amp_unit *units = c->to.problem->units;
    uint32_t step = amp_problem_step(c->to.problem, unit);
    double first = c->skips[unit] ? 0 : c->coarse->loss[unit] - c->fine->loss[unit];
    units[unit].loss = c->coarse->loss[unit];
    if (step == unit)
        return;
    double tie = c->skips[unit] ? c->dearer : (fmax(first, 0) + c->casts[step]) / 2;
    units[step].loss = first - (c->skips[unit] ? 0 : tie);
    units[unit].loss -= units[step].loss;
    add_edge(&c->to, step, unit, tie);
}

void amp_problem_combine(const struct amp_problem *coarse, const struct amp_problem *fine,
                         struct amp_problem *problem, struct amp_arena *arena)
{
    static const double small = 1e-3;
    size_t n = problem->n_units;
    struct combining c = {.coarse = amp_ties_create(arena, coarse),
                          .fine = amp_ties_create(arena, fine),
                          .skips = amp_arena_array(arena, n, sizeof *c.skips),
                          .casts = amp_arena_array(arena, n, sizeof *c.casts),
                          .to = {.arena = arena, .problem = problem}};
    for (size_t i = 0; i < coarse->n_noises; i++)
        c.most += small * coarse->noises[i].power;
    for (size_t i = 0; i < n; i++)
        c.dearer += fabs(coarse->units[i].loss);
    for (size_t i = 0; i < coarse->n_edges; i++)
        c.dearer += 2 * coarse->edges[i].cost;
    problem->floor = coarse->floor;
    problem->base = coarse->base;
    problem->origin = coarse->origin;
    visit_all(&c, find_harm);
    visit_all(&c, visit_noise);
    combine_casts(&c, coarse);
    for (uint32_t unit = 0; unit < n; unit++)
        combine_losses(&c, unit);
}
