/*
 * Unrolls recurrent nodes (ONNX RNN-22, GRU-22, LSTM-22), so that they can be derived like any
 * other nodes: takes a graph with inferred types, makes for each step and direction the nodes of
 * the operator's recurrence. Knows no operator itself.
 */
#include "run/rewrite/unroll_recurrence.h"

#include "ops/op.h"
#include "run/rewrite/gradient_condition.h"
#include "run/rewrite/gradient_term.h"

#include <stdio.h>
#include <string.h>

/* Places of inputs and outputs that all of them share. */
enum { X, W, R, BIAS, LENGTHS, H, C, PEEPHOLES };
enum { Y, Y_H, Y_C };
enum { STEPS_MAX = 100000 };

/* One direction of a node while its steps are made. */
struct direction {
    struct amp_derivation derivation; /* of the node, of which nothing is derived yet */
    const struct amp_recurrence *recurrence;
    uint32_t number; /* of the direction, a scalar */
    int steps;
    bool is_reverse;
    uint32_t w, r, wb, rb, h, c;
    uint32_t *states; /* of each step, [1, 1, batch, hidden] */
};

static bool has_input(const struct amp_node *node, uint32_t i)
{
    return i < node->n_inputs && node->inputs[i] != AMP_NONE;
}

/* What TEXT makes of p, input I of the node, and of the number of the direction. */
static uint32_t term_of(const struct direction *direction, uint32_t i, const char *text)
{
    const struct amp_derivation *derivation = &direction->derivation;
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    const struct amp_named_value named[] = {{"p", node->inputs[i]}, {"number", direction->number}};
    return amp_gradient_term_of(derivation, text, named, 2);
}

/* Zeros where the node has no input I, of the shape that SHAPE makes, else what TEXT makes of it.
 */
static uint32_t term_or_zeros(const struct direction *direction, uint32_t i, const char *text,
                              const char *shape)
{
    const struct amp_derivation *derivation = &direction->derivation;
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    return has_input(node, i) ? term_of(direction, i, text) : amp_gradient_term(derivation, shape);
}

static void begin(struct direction *direction)
{
    static const char transposed[] = "Transpose(Gather(p, number; axis=0); perm=[1, 0])";
    static const char state[] = "Gather(p, number; axis=0)";
    static const char no_state[] =
        "Expand(0, Concat(Shape(a; start=1, end=2), [#hidden_size]; axis=0))";
    direction->w = term_of(direction, W, transposed);
    direction->r = term_of(direction, R, transposed);
    direction->h = term_or_zeros(direction, H, state, no_state);
    direction->c = term_or_zeros(direction, C, state, no_state);
}

/* The two halves of the bias, that of the input's product first. */
static void begin_biases(struct direction *direction)
{
    static const char none[] = "Expand(0, Shape(b; start=1, end=2))";
    direction->wb =
        term_or_zeros(direction, BIAS,
                      "Slice(Gather(p, number; axis=0), [0], Shape(b; start=1, end=2), [0])", none);
    direction->rb = term_or_zeros(
        direction, BIAS,
        "n = Shape(b; start=1, end=2); Slice(Gather(p, number; axis=0), n, Add(n, n), [0])", none);
}

/* Makes the nodes of step T; false where the recurrence needs what the node does not tell. */
static bool add_step(struct direction *direction, int t)
{
    const struct amp_derivation *derivation = &direction->derivation;
    char text[64];
    snprintf(text, sizeof text, "Gather(a, %dL; axis=0)", t);
    uint32_t xt = amp_gradient_term(derivation, text), next = direction->c;
    struct amp_named_value named[] = {
        {"xt", xt},          {"h", direction->h},   {"c", direction->c},   {"w", direction->w},
        {"r", direction->r}, {"wb", direction->wb}, {"rb", direction->rb}, {"next", next}};
    size_t count = sizeof named / sizeof named[0];
    if (direction->recurrence->c != NULL)
        next = named[count - 1].value =
            amp_gradient_term_of(derivation, direction->recurrence->c, named, count);
    uint32_t h = amp_gradient_term_of(derivation, direction->recurrence->h, named, count);
    if (next == AMP_NONE || h == AMP_NONE)
        return false;
    const struct amp_named_value p = {"p", h};
    direction->c = next;
    direction->h = h;
    direction->states[t] = amp_gradient_term_of(derivation, "Unsqueeze(p, [0, 1])", &p, 1);
    return true;
}

static bool add_steps(struct direction *direction)
{
    begin(direction);
    begin_biases(direction);
    for (int i = 0; i < direction->steps; i++)
        if (!add_step(direction, direction->is_reverse ? direction->steps - 1 - i : i))
            return false;
    return true;
}

/* Output PLACE of the node, if it has that, is VALUE, whose producer is new. */
static void give(const struct amp_derivation *derivation, uint32_t place, uint32_t value)
{
    struct amp_model *model = derivation->model;
    const struct amp_node *node = amp_node_at(model, derivation->node);
    uint32_t output = place < node->n_outputs ? node->outputs[place] : AMP_NONE;
    if (output != AMP_NONE)
        amp_node_set_output(model, amp_value_at(model, value)->producer, 0, output);
}

/* The last states of N directions, of which VALUE tells it, as [n, batch, hidden]. */
static uint32_t join_last(const struct direction *directions, uint32_t n, bool is_cell)
{
    uint32_t parts[2];
    for (uint32_t d = 0; d < n; d++) {
        const struct amp_named_value p = {"p", is_cell ? directions[d].c : directions[d].h};
        parts[d] = amp_gradient_term_of(&directions[d].derivation, "Unsqueeze(p, [0])", &p, 1);
    }
    return amp_gradient_join(&directions[0].derivation, "Concat", parts, n, 0);
}

static void join_outputs(const struct direction *directions, uint32_t n)
{
    const struct amp_derivation *derivation = &directions[0].derivation;
    struct amp_model *model = derivation->model;
    uint32_t steps = (uint32_t)directions[0].steps;
    uint32_t *all = amp_arena_array(model->arena, steps, sizeof *all);
    for (uint32_t t = 0; t < steps; t++) {
        const uint32_t parts[] = {directions[0].states[t], directions[n - 1].states[t]};
        all[t] = n == 1 ? parts[0] : amp_gradient_join(derivation, "Concat", parts, n, 1);
    }
    uint32_t y = amp_gradient_join(derivation, "Concat", all, steps, 0);
    uint32_t y_h = join_last(directions, n, false), y_c = join_last(directions, n, true);
    const struct amp_node node = *amp_node_at(model, derivation->node);
    amp_node_remove(model, derivation->node);
    give(derivation, Y, y);
    give(derivation, Y_H, y_h);
    if (node.n_outputs > Y_C)
        give(derivation, Y_C, y_c);
}

static const struct amp_recurrence *recurrence_of(const struct amp_model *model,
                                                  const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    const struct amp_recurrence *recurrence = op != NULL ? op->recurrence : NULL;
    const struct amp_value *x = node->n_inputs > R ? amp_value_at(model, node->inputs[X]) : NULL;
    if (recurrence == NULL || x == NULL || x->rank != 3 || x->dims[0] < 1 ||
        x->dims[0] > STEPS_MAX || has_input(node, PEEPHOLES) ||
        amp_node_attr(node, "hidden_size") == NULL)
        return NULL;
    while (recurrence->h != NULL && !amp_gradient_condition(model, node, recurrence->when))
        recurrence++;
    return recurrence->h != NULL ? recurrence : NULL;
}

/* Takes node ID apart; false where it is to stay. */
static bool unroll(struct amp_model *model, uint32_t id)
{
    struct direction directions[2];
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_recurrence *recurrence = recurrence_of(model, node);
    if (recurrence == NULL)
        return false;
    const char *way = amp_gradient_word(node, "direction");
    const struct amp_value *x = amp_value_at(model, node->inputs[X]);
    uint32_t n = strcmp(way, "bidirectional") == 0 ? 2 : 1, graph = node->graph;
    int steps = (int)x->dims[0];
    enum amp_dtype dtype = x->dtype;
    bool is_reverse = strcmp(way, "reverse") == 0;
    for (uint32_t d = 0; d < n; d++) {
        directions[d] = (struct direction){
            .derivation = {.model = model, .graph = graph, .node = id, .dtype = dtype},
            .recurrence = recurrence,
            .steps = steps,
            .is_reverse = is_reverse || d == 1,
            .states = amp_arena_array(model->arena, (size_t)steps, sizeof(uint32_t))};
        directions[d].number = amp_gradient_term(&directions[d].derivation, d == 0 ? "0L" : "1L");
        if (!add_steps(&directions[d]))
            return false;
    }
    join_outputs(directions, n);
    return true;
}

bool amp_recurrences_unroll(struct amp_model *model, uint32_t graph)
{
    bool is_any = false;
    size_t count = model->graphs[graph].nodes.count;
    for (size_t i = 0; i < count; i++)
        is_any |= unroll(model, model->graphs[graph].nodes.items[i]);
    return is_any;
}
