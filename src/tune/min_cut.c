/*
 * Minimum cuts: takes gains of nodes and weights of edges, gives the least best source side. Flow
 * goes the other way round than usual, from the nodes that lose on the source side to those that
 * gain there: what can still reach a gain in the end is the least source side, and the flow that
 * arrives nowhere need not be taken back.
 */
#include "tune/min_cut.h"

#include "core/arena.h"

#include <stdlib.h>

/* Labels are brought up to date after so much work per node, as measured by the authors. */
enum { WORK_PER_NODE = 6, WORK_PER_LABEL = 12 };

static const uint32_t none = UINT32_MAX;

struct arc {
    uint32_t to, back; /* back: the arc of the other direction */
    int64_t room;      /* what can still flow */
};

struct node {
    size_t first, end, current; /* its arcs; all before CURRENT lead nowhere at this label */
    int64_t balance;            /* above 0: what it has to push; below: what it can still take */
    uint32_t label;             /* at most the number of arcs to where it can push to; DEAD */
    uint32_t next, previous;    /* on the same label */
    uint32_t next_active;       /* in the line of those that have something to push */
};

struct flow {
    struct node *nodes;
    uint32_t n_nodes, dead; /* dead: the label of nodes that can push nowhere */
    struct arc *arcs;
    uint32_t *levels;             /* by label: the first node on it; NONE: there is none */
    uint32_t highest;             /* label that a node may have */
    uint32_t *queue;              /* room for a search */
    uint32_t active, last_active; /* the line; NONE: it is empty */
    size_t work, recent;          /* before the last time that all were labelled, and since */
    size_t recent_limit;          /* of RECENT, until all are labelled anew */
};

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_arcs(struct flow *flow, const struct amp_cut_edge *edge)
{
    struct node *a = &flow->nodes[edge->a], *b = &flow->nodes[edge->b];
    uint32_t forth = (uint32_t)a->end++, back = (uint32_t)b->end++;
    flow->arcs[forth] = (struct arc){edge->b, back, edge->weight};
    flow->arcs[back] = (struct arc){edge->a, forth, edge->weight};
}

static bool parts(const struct amp_cut_edge *edge)
{
    return edge->a != edge->b && edge->weight > 0;
}

static void build(struct flow *flow, const struct amp_min_cut *cut)
{
    size_t n_arcs = 0;
    for (size_t i = 0; i < cut->n_edges; i++)
        if (parts(&cut->edges[i])) {
            flow->nodes[cut->edges[i].a].end++;
            flow->nodes[cut->edges[i].b].end++;
        }
    for (size_t i = 0; i < cut->n_nodes; i++) {
        struct node *node = &flow->nodes[i];
        node->balance = -cut->gains[i];
        node->first = n_arcs;
        n_arcs += node->end;
        node->end = node->first;
    }
    for (size_t i = 0; i < cut->n_edges; i++)
        if (parts(&cut->edges[i]))
            add_arcs(flow, &cut->edges[i]);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void enter(struct flow *flow, uint32_t id, uint32_t label)
{
    struct node *node = &flow->nodes[id];
    node->label = label;
    node->current = node->first;
    node->previous = none;
    node->next = flow->levels[label];
    if (node->next != none)
        flow->nodes[node->next].previous = id;
    flow->levels[label] = id;
    flow->highest = label > flow->highest ? label : flow->highest;
}

static void leave(struct flow *flow, uint32_t id)
{
    struct node *node = &flow->nodes[id];
    if (node->next != none)
        flow->nodes[node->next].previous = node->previous;
    if (node->previous != none)
        flow->nodes[node->previous].next = node->next;
    else
        flow->levels[node->label] = node->next;
}

/* No node is on LABEL any more, so that those above it push nowhere. */
static void close_gap(struct flow *flow, uint32_t label)
{
    for (uint32_t above = label + 1; above <= flow->highest; above++) {
        for (uint32_t id = flow->levels[above]; id != none; id = flow->nodes[id].next)
            flow->nodes[id].label = flow->dead;
        flow->levels[above] = none;
    }
    flow->highest = label;
}

/* Puts a node at the end of the line of those that have something to push. */
static void activate(struct flow *flow, uint32_t id)
{
    flow->nodes[id].next_active = none;
    if (flow->active == none)
        flow->active = id;
    else
        flow->nodes[flow->last_active].next_active = id;
    flow->last_active = id;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void start_labels(struct flow *flow)
{
    for (uint32_t i = 0; i <= flow->dead; i++)
        flow->levels[i] = none;
    for (uint32_t id = 0; id < flow->n_nodes; id++)
        flow->nodes[id].label = flow->dead;
    flow->highest = 0;
    flow->active = none;
    flow->work += flow->recent;
    flow->recent = 0;
    flow->work += flow->n_nodes;
}

/* Gives each node its distance to the nearest node that can still take something. */
static void label_all(struct flow *flow)
{
    uint32_t n = 0;
    start_labels(flow);
    for (uint32_t id = 0; id < flow->n_nodes; id++)
        if (flow->nodes[id].balance < 0) {
            enter(flow, id, 1);
            flow->queue[n++] = id;
        }
    for (uint32_t i = 0; i < n; i++) {
        const struct node *node = &flow->nodes[flow->queue[i]];
        for (size_t at = node->first; at < node->end; at++) {
            const struct arc *arc = &flow->arcs[at];
            if (flow->nodes[arc->to].label == flow->dead && flow->arcs[arc->back].room > 0) {
                enter(flow, arc->to, node->label + 1);
                flow->queue[n++] = arc->to;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (flow->nodes[flow->queue[i]].balance > 0)
            activate(flow, flow->queue[i]);
}

/* Raises the label of a node, none of whose arcs leads on, as far as its arcs allow. */
static void relabel(struct flow *flow, uint32_t id)
{
    struct node *node = &flow->nodes[id];
    uint32_t old = node->label, label = flow->dead;
    for (size_t at = node->first; at < node->end; at++) {
        const struct arc *arc = &flow->arcs[at];
        if (arc->room > 0 && flow->nodes[arc->to].label + 1 < label)
            label = flow->nodes[arc->to].label + 1;
    }
    flow->recent += WORK_PER_LABEL + node->end - node->first;
    leave(flow, id);
    node->label = flow->dead;
    if (flow->levels[old] == none)
        close_gap(flow, old);
    else if (label < flow->dead)
        enter(flow, id, label);
}

/* ---- the flow -------------------------------------------------------------------------------- */

static void push(struct flow *flow, struct node *node, struct arc *arc)
{
    struct node *to = &flow->nodes[arc->to];
    int64_t amount = node->balance < arc->room ? node->balance : arc->room;
    bool was_active = to->balance > 0;
    arc->room -= amount;
    flow->arcs[arc->back].room += amount;
    node->balance -= amount;
    to->balance += amount;
    if (!was_active && to->balance > 0)
        activate(flow, arc->to);
}

/* Pushes what a node has to nodes one label below, raising it as needed, until it has nothing or
   can push nowhere. */
static void discharge(struct flow *flow, uint32_t id)
{
    struct node *node = &flow->nodes[id];
    while (node->label < flow->dead) {
        for (; node->current < node->end; node->current++) {
            struct arc *arc = &flow->arcs[node->current];
            if (arc->room > 0 && flow->nodes[arc->to].label + 1 == node->label)
                push(flow, node, arc);
            if (node->balance == 0)
                return;
        }
        relabel(flow, id);
    }
}

static void push_all(struct flow *flow)
{
    while (flow->active != none) {
        uint32_t id = flow->active;
        flow->active = flow->nodes[id].next_active;
        discharge(flow, id);
        if (flow->recent > flow->recent_limit)
            label_all(flow);
    }
}

size_t amp_min_cut_solve(const struct amp_min_cut *cut, bool *is_source)
{
    struct flow flow = {.n_nodes = (uint32_t)cut->n_nodes, .dead = (uint32_t)cut->n_nodes + 1};
    flow.nodes = amp_xcalloc(cut->n_nodes + 1, sizeof *flow.nodes);
    flow.arcs = amp_xcalloc(cut->n_edges + 1, 2 * sizeof *flow.arcs);
    flow.levels = amp_xcalloc(cut->n_nodes + 2, sizeof *flow.levels);
    flow.queue = amp_xcalloc(cut->n_nodes + 1, sizeof *flow.queue);
    flow.recent_limit = WORK_PER_NODE * cut->n_nodes + cut->n_edges;
    build(&flow, cut);
    label_all(&flow);
    push_all(&flow);
    label_all(&flow);
    for (size_t i = 0; i < cut->n_nodes; i++)
        is_source[i] = flow.nodes[i].label < flow.dead;
    free(flow.nodes);
    free(flow.arcs);
    free(flow.levels);
    free(flow.queue);
    return flow.work;
}
