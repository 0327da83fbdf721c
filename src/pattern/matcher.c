/*
 * Looks for a pattern in a graph: from a node backwards through the producers of its inputs, each
 * order of commutative inputs and each alternative in turn, until everything fits together. What is
 * left to do is a list of goals on the C stack, as deep as the pattern, so that giving up a choice
 * is returning from a call. Takes a graph whose types are inferred and a compiled pattern; gives
 * the nodes and values of the first match. The tries are bounded, so a pattern may be missed in a
 * graph that was made to confuse it; the graph is not changed.
 */
#include "pattern/matcher.h"

#include "core/array.h"
#include "core/graph/uses.h"
#include "ops/op.h"
#include "pattern/constant.h"
#include "pattern/term.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Choices that are tried for one root: some ten times what the largest pattern takes. */
    TRIES = 1 << 14,
    /* Inputs that a repeated argument may stand for: each takes a frame of the stack. */
    INPUTS_MAX = 1024
};

struct amp_pattern_matcher {
    const struct amp_model *model;
    struct amp_uses uses;
    const struct amp_pattern *pattern;
    uint32_t root, graph;
    uint32_t *nodes; /* of the match so far */
    size_t n_nodes, capacity;
    bool *is_part;                       /* per node id: in NODES */
    uint32_t values[AMP_PATTERN_VALUES]; /* per name of the pattern; AMP_NONE: not known */
    struct amp_axes_letters letters;
    int tries; /* that are left */
};

/* One thing that must hold, and those after it. */
struct goal {
    const struct amp_term *term;
    uint32_t value; /* that the term is to fit */
    uint32_t user;  /* the node that takes it */
    /* Where CALLEE is a node, instead: its inputs from INPUT on fit the arguments of TERM. */
    uint32_t callee, input;
    bool is_swapped;
    const struct goal *next;
};

static bool solve(struct amp_pattern_matcher *m, const struct goal *goal);

/* ---- the whole match ---- */

static bool has_outside_use(const struct amp_pattern_matcher *m, uint32_t value)
{
    if (amp_value_at(m->model, value)->is_output)
        return true;
    for (uint32_t u = m->uses.first[value]; u < m->uses.first[value + 1]; u++)
        if (!m->is_part[m->uses.items[u].node])
            return true;
    return false;
}

/* Whether no node outside the match, and no output of the graph, takes what the parts other than
   the root give. */
static bool is_closed(const struct amp_pattern_matcher *m)
{
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(m->model, m->nodes[i]);
        for (uint32_t o = 0; o < node->n_outputs && m->nodes[i] != m->root; o++)
            if (node->outputs[o] != AMP_NONE && has_outside_use(m, node->outputs[o]))
                return false;
    }
    return true;
}

/* ---- nodes ---- */

static void add_part(struct amp_pattern_matcher *m, uint32_t node)
{
    if (m->is_part[node])
        return;
    if (m->n_nodes == m->capacity) {
        m->capacity = m->capacity ? m->capacity * 2 : 32;
        m->nodes = amp_xrealloc(m->nodes, m->capacity, sizeof *m->nodes);
    }
    m->nodes[m->n_nodes++] = node;
    m->is_part[node] = true;
}

static void drop_parts(struct amp_pattern_matcher *m, size_t count)
{
    while (m->n_nodes > count)
        m->is_part[m->nodes[--m->n_nodes]] = false;
}

static bool is_commutative(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && op->is_commutative && node->n_inputs == 2;
}

/* Whether the node gives its first input on as it is. */
static bool is_transparent(const struct amp_pattern_matcher *m, const struct amp_node *node)
{
    if (node->n_inputs == 0 || node->inputs[0] == AMP_NONE)
        return false;
    const struct amp_op *op = amp_op_of(node);
    if (op != NULL && op->role == AMP_ROLE_CAST)
        return amp_value_at(m->model, node->inputs[0])->dtype ==
               amp_value_at(m->model, node->outputs[0])->dtype;
    return op != NULL && (op->role == AMP_ROLE_IDENTITY || op->role == AMP_ROLE_DROPOUT);
}

/* Whether the inputs beyond the COUNT that the pattern names are constants or left out: they may be
   settings, but no data. */
static bool has_only_constants_after(const struct amp_pattern_matcher *m,
                                     const struct amp_node *node, size_t count)
{
    for (size_t i = count; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE &&
            amp_value_at(m->model, node->inputs[i])->initial == NULL &&
            amp_pattern_constant(m->model, node->inputs[i]) == NULL)
            return false;
    return true;
}

/* Whether NODE has the inputs that TERM writes out, and no other data. */
static bool has_inputs(const struct amp_pattern_matcher *m, const struct amp_node *node,
                       const struct amp_term *term)
{
    if (node->n_inputs < term->n_items)
        return false;
    return term->repeats ? node->n_inputs <= INPUTS_MAX
                         : has_only_constants_after(m, node, term->n_items);
}

static bool holds_conditions(struct amp_pattern_matcher *m, uint32_t node,
                             const struct amp_term *term)
{
    for (size_t i = 0; i < term->n_conditions; i++)
        if (!amp_condition_holds(m->model, node, &term->conditions[i], &m->letters))
            return false;
    return true;
}

static bool solve_inputs(struct amp_pattern_matcher *m, const struct goal *goal)
{
    const struct amp_node *node = amp_node_at(m->model, goal->callee);
    const struct amp_term *term = goal->term;
    size_t count = term->repeats ? node->n_inputs : term->n_items;
    if (goal->input == count)
        return solve(m, goal->next);
    uint32_t input = goal->is_swapped ? 1 - goal->input : goal->input;
    size_t item = goal->input < term->n_items ? goal->input : term->n_items - 1;
    struct goal others = *goal;
    others.input++;
    struct goal one = {.term = term->items[item],
                       .value = node->inputs[input],
                       .user = goal->callee,
                       .callee = AMP_NONE,
                       .next = &others};
    return solve(m, &one);
}

static bool solve_operator(struct amp_pattern_matcher *m, const struct goal *goal, uint32_t node)
{
    uint32_t known = m->letters.known;
    struct goal inputs = {.term = goal->term, .callee = node, .next = goal->next};
    bool fits = holds_conditions(m, node, goal->term) && solve_inputs(m, &inputs);
    if (!fits && goal->term->n_items == 2 && is_commutative(amp_node_at(m->model, node))) {
        m->letters.known = known;
        inputs.is_swapped = true;
        fits = holds_conditions(m, node, goal->term) && solve_inputs(m, &inputs);
    }
    if (!fits)
        m->letters.known = known;
    return fits;
}

static bool solve_node(struct amp_pattern_matcher *m, const struct goal *goal)
{
    uint32_t id = amp_value_at(m->model, goal->value)->producer;
    if (id == AMP_NONE)
        return false;
    const struct amp_node *node = amp_node_at(m->model, id);
    bool is_root = goal->user == AMP_NONE;
    if (node->graph != m->graph || node->outputs[0] != goal->value)
        return false;
    size_t n_nodes = m->n_nodes;
    bool fits = false;
    if (amp_node_is(node, "", goal->term->op) && has_inputs(m, node, goal->term)) {
        add_part(m, id);
        fits = solve_operator(m, goal, id);
    } else if (!is_root && is_transparent(m, node)) {
        struct goal behind = *goal;
        behind.value = node->inputs[0];
        behind.user = id;
        add_part(m, id);
        fits = solve(m, &behind);
    }
    if (!fits)
        drop_parts(m, n_nodes);
    return fits;
}

/* ---- the other terms ---- */

/* Whether two values are one, or two constants of one element that are equal: exporters write a
   constant once for each use. */
static bool is_same(const struct amp_pattern_matcher *m, uint32_t a, uint32_t b)
{
    const struct amp_tensor *constant = a == b ? NULL : amp_pattern_constant(m->model, a);
    double number;
    return a == b || (amp_pattern_constant_number(constant, &number) &&
                      amp_pattern_constant_equals(amp_pattern_constant(m->model, b), number));
}

/* The value that nodes which change nothing make VALUE of, in the pattern's graph; they become
   parts. */
static uint32_t skip_transparent(struct amp_pattern_matcher *m, uint32_t value)
{
    const struct amp_value *at = amp_value_at(m->model, value);
    while (at->producer != AMP_NONE && !at->is_output) {
        const struct amp_node *node = amp_node_at(m->model, at->producer);
        if (node->graph != m->graph || node->outputs[0] != value || !is_transparent(m, node))
            break;
        add_part(m, at->producer);
        value = node->inputs[0];
        at = amp_value_at(m->model, value);
    }
    return value;
}

/* VALUE is what TERM names: what it was before, or else what AFTER says. */
static bool solve_name(struct amp_pattern_matcher *m, const struct amp_term *term, uint32_t value,
                       const struct goal *after, const struct goal *next)
{
    uint32_t *known = &m->values[term->value];
    if (*known != AMP_NONE)
        return is_same(m, *known, value) && solve(m, next);
    *known = value;
    bool fits = solve(m, after);
    if (!fits)
        *known = AMP_NONE;
    return fits;
}

static bool solve_value(struct amp_pattern_matcher *m, const struct goal *goal)
{
    const struct amp_term *term = goal->term;
    if (term->test != NULL && !term->test(m->model, goal->value, goal->user))
        return false;
    if (term->value < 0)
        return solve(m, goal->next);
    struct goal definition = *goal;
    definition.term = m->pattern->definitions[term->value];
    if (definition.term == NULL)
        return solve_name(m, term, goal->value, goal->next, goal->next);
    size_t n_nodes = m->n_nodes;
    if (goal->user != AMP_NONE)
        definition.value = skip_transparent(m, goal->value);
    bool fits = solve_name(m, term, definition.value, &definition, goal->next);
    if (!fits)
        drop_parts(m, n_nodes);
    return fits;
}

static bool solve_alternatives(struct amp_pattern_matcher *m, const struct goal *goal)
{
    struct goal one = *goal;
    for (size_t i = 0; i < goal->term->n_items; i++) {
        one.term = goal->term->items[i];
        if (solve(m, &one))
            return true;
    }
    return false;
}

static bool solve(struct amp_pattern_matcher *m, const struct goal *goal)
{
    if (goal == NULL)
        return is_closed(m);
    if (--m->tries < 0)
        return false;
    if (goal->callee != AMP_NONE)
        return solve_inputs(m, goal);
    if (goal->value == AMP_NONE)
        return false;
    switch (goal->term->kind) {
    case AMP_TERM_NODE:
        return solve_node(m, goal);
    case AMP_TERM_VALUE:
        return solve_value(m, goal);
    case AMP_TERM_ALTERNATIVES:
        return solve_alternatives(m, goal);
    case AMP_TERM_NUMBER:
        break;
    }
    return amp_pattern_constant_equals(amp_pattern_constant(m->model, goal->value),
                                       goal->term->number) &&
           solve(m, goal->next);
}

/* ---- the matcher ---- */

struct amp_pattern_matcher *amp_pattern_matcher_create(const struct amp_model *model)
{
    struct amp_pattern_matcher *matcher = amp_xcalloc(1, sizeof *matcher);
    matcher->model = model;
    matcher->uses = amp_uses_create(model);
    matcher->is_part = amp_xcalloc(model->n_nodes, sizeof *matcher->is_part);
    return matcher;
}

void amp_pattern_matcher_destroy(struct amp_pattern_matcher *matcher)
{
    if (matcher == NULL)
        return;
    amp_uses_destroy(&matcher->uses);
    free(matcher->nodes);
    free(matcher->is_part);
    free(matcher);
}

bool amp_pattern_matcher_match(struct amp_pattern_matcher *m, const struct amp_pattern *pattern,
                               uint32_t root, struct amp_pattern_match *match)
{
    const struct amp_node *node = amp_node_at(m->model, root);
    struct goal goal = {.term = pattern->root,
                        .value = node->n_outputs > 0 ? node->outputs[0] : AMP_NONE,
                        .user = AMP_NONE,
                        .callee = AMP_NONE};
    m->pattern = pattern;
    m->root = root;
    m->graph = node->graph;
    m->letters.known = 0;
    m->tries = TRIES;
    for (int i = 0; i < AMP_PATTERN_VALUES; i++)
        m->values[i] = AMP_NONE;
    if (!solve(m, &goal))
        return false;
    match->nodes = m->nodes;
    match->n_nodes = m->n_nodes;
    memcpy(match->values, m->values, sizeof match->values);
    drop_parts(m, 0);
    return true;
}
