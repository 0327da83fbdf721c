/*
 * Finds the nodes that a tuner decides on together. Takes a converted model and what was decided in
 * it, and joins nodes until nothing more belongs together.
 */
#include "tune/units.h"

#include "autocast/wholes.h"
#include "core/graph/graph.h"
#include "ops/op.h"

struct grouping {
    const struct amp_model *model;
    const struct amp_assignment *assignment;
    struct amp_arena *arena;
    uint32_t *parent; /* per node id: towards the node that stands for its group */
};

static uint32_t find(struct grouping *grouping, uint32_t node)
{
    uint32_t *parent = grouping->parent;
    for (; parent[node] != node; node = parent[node])
        parent[node] = parent[parent[node]];
    return node;
}

static void join(struct grouping *grouping, uint32_t a, uint32_t b)
{
    uint32_t first = find(grouping, a), second = find(grouping, b);
    grouping->parent[first < second ? second : first] = first < second ? first : second;
}

/* Whether NODE, which may be AMP_NONE, is one that is decided on. */
static bool is_low(const struct grouping *grouping, uint32_t node)
{
    const struct amp_assignment *assignment = grouping->assignment;
    return node < assignment->n_nodes && !amp_node_at(grouping->model, node)->is_removed &&
           amp_assignment_chooses(assignment, assignment->nodes[node].dtype);
}

/* Whether NODE rounds nothing: what it gives was rounded, or will be, by others. */
static bool moves(const struct grouping *grouping, uint32_t node)
{
    const struct amp_op *op = amp_op_of(amp_node_at(grouping->model, node));
    return op != NULL && (op->effect == AMP_PRESERVES_VALUES || op->picks);
}

/* The node of the main graph that holds NODE: itself, or the owner of the body that it is in. */
static uint32_t outermost(const struct amp_model *model, uint32_t node)
{
    while (amp_node_at(model, node)->graph != 0)
        node = model->graphs[amp_node_at(model, node)->graph].owner;
    return node;
}

static void join_wholes(struct grouping *grouping)
{
    const struct amp_wholes *wholes = grouping->assignment->wholes;
    for (size_t w = 0; w < wholes->count; w++) {
        uint32_t first = AMP_NONE;
        for (size_t i = 0; i < wholes->items[w].n_nodes; i++) {
            uint32_t node = wholes->items[w].nodes[i];
            if (!is_low(grouping, node))
                continue;
            if (first != AMP_NONE)
                join(grouping, first, node);
            first = node;
        }
    }
}

/* Joins what NODE only moves with the node that gives it. Returns false where that is none. */
static bool join_producer(struct grouping *grouping, uint32_t node)
{
    const struct amp_node *at = amp_node_at(grouping->model, node);
    for (uint32_t i = 0; i < at->n_inputs; i++) {
        uint32_t producer = at->inputs[i] == AMP_NONE
                                ? AMP_NONE
                                : amp_value_at(grouping->model, at->inputs[i])->producer;
        if (is_low(grouping, producer)) {
            join(grouping, producer, node);
            return true;
        }
    }
    return false;
}

/* Joins the nodes that take what NODE, which only moves elements, gives. */
static void join_consumers(struct grouping *grouping, const uint32_t *mover, uint32_t node)
{
    const struct amp_node *at = amp_node_at(grouping->model, node);
    for (uint32_t i = 0; i < at->n_inputs; i++)
        if (at->inputs[i] != AMP_NONE && mover[at->inputs[i]] != AMP_NONE)
            join(grouping, mover[at->inputs[i]], node);
}

static void join_movers(struct grouping *grouping)
{
    const struct amp_model *model = grouping->model;
    uint32_t *mover = amp_arena_array(grouping->arena, model->n_values, sizeof *mover);
    for (size_t v = 0; v < model->n_values; v++)
        mover[v] = AMP_NONE;
    for (uint32_t node = 0; node < grouping->assignment->n_nodes; node++) {
        const struct amp_node *at = amp_node_at(model, node);
        if (!is_low(grouping, node) || !moves(grouping, node) || join_producer(grouping, node))
            continue;
        for (uint32_t i = 0; i < at->n_outputs; i++)
            if (at->outputs[i] != AMP_NONE)
                mover[at->outputs[i]] = node;
    }
    for (uint32_t node = 0; node < grouping->assignment->n_nodes; node++)
        if (is_low(grouping, node))
            join_consumers(grouping, mover, node);
}

static void join_bodies(struct grouping *grouping)
{
    for (uint32_t node = 0; node < grouping->assignment->n_nodes; node++)
        if (is_low(grouping, node))
            join(grouping, outermost(grouping->model, node), node);
}

/* Says in UNIT what NODE is, unless a node before said it and NODE only moves elements. */
static void name_unit(struct grouping *grouping, struct amp_unit *unit, uint32_t node)
{
    char text[512];
    const struct amp_whole *whole = grouping->assignment->nodes[node].whole;
    if (unit->name != NULL && moves(grouping, node))
        return;
    amp_node_text(grouping->model, node, text, sizeof text);
    unit->name = amp_arena_strdup(grouping->arena, text);
    unit->op = amp_arena_strdup(
        grouping->arena, whole != NULL ? whole->name : amp_node_at(grouping->model, node)->op_type);
}

static void list_nodes(struct grouping *grouping, struct amp_units *units)
{
    const struct amp_assignment *assignment = grouping->assignment;
    for (uint32_t node = 0; node < assignment->n_nodes; node++)
        if (is_low(grouping, node))
            units->items[units->of_node[find(grouping, node)]].n_nodes++;
    for (size_t u = 0; u < units->count; u++) {
        struct amp_unit *unit = &units->items[u];
        unit->nodes = amp_arena_array(grouping->arena, unit->n_nodes, sizeof *unit->nodes);
        unit->n_nodes = 0;
    }
    for (uint32_t node = 0; node < assignment->n_nodes; node++) {
        if (!is_low(grouping, node))
            continue;
        struct amp_unit *unit = &units->items[units->of_node[find(grouping, node)]];
        unit->nodes[unit->n_nodes++] = node;
        name_unit(grouping, unit, node);
    }
}

struct amp_units amp_units_find(const struct amp_model *converted,
                                const struct amp_assignment *assignment, struct amp_arena *arena)
{
    struct grouping grouping = {.model = converted, .assignment = assignment, .arena = arena};
    struct amp_units units = {.count = 0};
    grouping.parent = amp_arena_array(arena, converted->n_nodes, sizeof *grouping.parent);
    units.of_node = amp_arena_array(arena, converted->n_nodes, sizeof *units.of_node);
    units.items = amp_arena_array(arena, converted->n_nodes, sizeof *units.items);
    for (uint32_t node = 0; node < converted->n_nodes; node++) {
        grouping.parent[node] = node;
        units.of_node[node] = AMP_NONE;
    }
    join_wholes(&grouping);
    join_movers(&grouping);
    join_bodies(&grouping);
    for (uint32_t node = 0; node < assignment->n_nodes; node++) {
        uint32_t root = find(&grouping, node);
        if (is_low(&grouping, node) && units.of_node[root] == AMP_NONE)
            units.of_node[root] = (uint32_t)units.count++;
    }
    list_nodes(&grouping, &units);
    for (uint32_t node = 0; node < assignment->n_nodes; node++)
        units.of_node[node] = units.of_node[find(&grouping, node)];
    return units;
}

void amp_units_split(struct amp_units *units, const bool *has_steps, struct amp_arena *arena)
{
    size_t n = 0, count = units->count;
    struct amp_unit *items = amp_arena_array(arena, 2 * count, sizeof *items);
    for (size_t u = 0; u < count; u++) {
        if (has_steps[u]) {
            items[n] = units->items[u];
            items[n++].is_fine = true;
        }
        for (size_t i = 0; i < units->items[u].n_nodes; i++)
            units->of_node[units->items[u].nodes[i]] = (uint32_t)n;
        items[n++] = units->items[u];
    }
    units->items = items;
    units->count = n;
}
