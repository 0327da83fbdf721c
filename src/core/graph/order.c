/*
 * The order of nodes: takes a model of any order, gives a stable topological one. Works on all
 * graphs of a model; a node that owns subgraphs needs what these capture.
 */
#include "core/graph/order.h"

#include "core/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* Edges of the sort: the nodes that must stand before a node, its providers. */
struct edges {
    uint32_t *first; /* providers of node n: providers[first[n]] .. providers[first[n + 1] - 1] */
    uint32_t *providers;
};

/* Counts an edge, two places up so that filling moves each count to its place, or fills it in. */
static void count_edge(struct edges *edges, uint32_t provider, uint32_t node, bool fill)
{
    if (fill)
        edges->providers[edges->first[node + 1]++] = provider;
    else
        edges->first[node + 2]++;
}

/* USER takes the value, as an input, by capture, or as an outer value that its subgraph gives out.
   The edge is between nodes of the value's own graph. */
static void add_edge(const struct amp_model *model, struct edges *edges, uint32_t value_id,
                     uint32_t user, bool fill)
{
    const struct amp_value *value = amp_value_at(model, value_id);
    if (value->producer == AMP_NONE)
        return;
    uint32_t node = amp_graph_container(model, user, value->graph);
    if (node != AMP_NONE)
        count_edge(edges, value->producer, node, fill);
}

static void add_edges(const struct amp_model *model, struct edges *edges, bool fill)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] != AMP_NONE)
                add_edge(model, edges, node->inputs[i], id, fill);
    }
    for (uint32_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        for (size_t i = 0; i < graph->outputs.count && graph->owner != AMP_NONE; i++)
            if (amp_value_at(model, graph->outputs.items[i])->graph != g)
                add_edge(model, edges, graph->outputs.items[i], graph->owner, fill);
    }
}

static struct edges create_edges(const struct amp_model *model)
{
    struct edges edges = {.first = amp_xcalloc(model->n_nodes + 2, sizeof *edges.first)};
    add_edges(model, &edges, false);
    for (size_t n = 1; n <= model->n_nodes; n++)
        edges.first[n + 1] += edges.first[n];
    edges.providers = amp_xmalloc(edges.first[model->n_nodes + 1], sizeof *edges.providers);
    add_edges(model, &edges, true);
    return edges;
}

/* A depth-first walk that emits a node after its providers; the stack is explicit, so that a long
   chain costs no C stack. */
struct walk {
    const struct amp_model *model;
    struct edges edges;
    unsigned char *state; /* per node */
    uint32_t *next;       /* per node: the next provider to visit */
    uint32_t *stack;
    uint32_t *order; /* of the graph at hand */
    size_t n_order;
};

enum { NEW, OPEN, DONE };

/* Visits the next provider of the node on top; false when it has none left. A provider that is open
   is on a cycle: it goes to *CYCLE. */
static bool descend(struct walk *walk, size_t *depth, uint32_t *cycle)
{
    uint32_t node = walk->stack[*depth - 1];
    while (walk->next[node] < walk->edges.first[node + 1]) {
        uint32_t provider = walk->edges.providers[walk->next[node]++];
        if (walk->state[provider] == OPEN)
            *cycle = provider;
        if (walk->state[provider] != NEW)
            continue;
        walk->state[provider] = OPEN;
        walk->stack[(*depth)++] = provider;
        return true;
    }
    return false;
}

static void visit(struct walk *walk, uint32_t root, uint32_t *cycle)
{
    if (walk->state[root] != NEW)
        return;
    size_t depth = 0;
    walk->state[root] = OPEN;
    walk->stack[depth++] = root;
    while (depth > 0 && *cycle == AMP_NONE) {
        if (descend(walk, &depth, cycle))
            continue;
        uint32_t node = walk->stack[--depth];
        walk->state[node] = DONE;
        walk->order[walk->n_order++] = node;
    }
}

/* Sorts the nodes of graph G and writes the order back unless there is a cycle. */
static enum amp_status sort_graph(struct walk *walk, struct amp_graph *graph, bool *moved,
                                  struct amp_error *err)
{
    struct amp_ids *nodes = &graph->nodes;
    uint32_t cycle = AMP_NONE;
    walk->n_order = 0;
    for (size_t i = 0; i < nodes->count; i++)
        visit(walk, nodes->items[i], &cycle);
    if (cycle != AMP_NONE) {
        char text[512];
        return amp_fail(err, AMP_MODEL, "%s: %s is part of a cycle", walk->model->path,
                        amp_node_text(walk->model, cycle, text, sizeof text));
    }
    if (nodes->count > 0) {
        *moved |= memcmp(nodes->items, walk->order, nodes->count * sizeof *walk->order) != 0;
        memcpy(nodes->items, walk->order, nodes->count * sizeof *walk->order);
    }
    return AMP_OK;
}

enum amp_status amp_graph_sort(struct amp_model *model, bool *moved, struct amp_error *err)
{
    amp_graph_drop_removed(model);
    size_t n = model->n_nodes;
    struct walk walk = {.model = model,
                        .edges = create_edges(model),
                        .state = amp_xmalloc(n, 1),
                        .next = amp_xmalloc(n, sizeof *walk.next),
                        .stack = amp_xmalloc(n, sizeof *walk.stack),
                        .order = amp_xmalloc(n, sizeof *walk.order)};
    bool any_moved = false;
    memset(walk.state, NEW, n);
    memcpy(walk.next, walk.edges.first, n * sizeof *walk.next);
    enum amp_status status = AMP_OK;
    for (size_t g = 0; g < model->n_graphs && status == AMP_OK; g++)
        status = sort_graph(&walk, &model->graphs[g], &any_moved, err);
    if (moved != NULL)
        *moved = any_moved;
    free(walk.edges.first);
    free(walk.edges.providers);
    free(walk.state);
    free(walk.next);
    free(walk.stack);
    free(walk.order);
    return status;
}
