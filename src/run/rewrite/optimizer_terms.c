/*
 * Takes optimizers apart: takes a model with inferred types, replaces each of their nodes by the
 * terms of its operator's descriptor (amp_op.update), a few nodes for each tensor. Knows no
 * optimizer itself.
 */
#include "run/rewrite/optimizer_terms.h"

#include "core/graph/order.h"
#include "onnx/schema/infer.h"
#include "ops/op.h"
#include "run/rewrite/gradient_term.h"

#include <string.h>

enum { TENSORS = 2 /* where groups of inputs begin: values, gradients, states */ };

static uint32_t count_states(const struct amp_update *update)
{
    return update->states[0] == NULL ? 0 : update->states[1] == NULL ? 1 : 2;
}

static enum amp_status check(const struct amp_model *model, uint32_t id, uint32_t n,
                             uint32_t n_states, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    bool fits = n > 0 && node->n_inputs == TENSORS + n * (2 + n_states) &&
                node->n_outputs <= n * (1 + n_states);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        fits &= node->inputs[i] != AMP_NONE;
    return fits ? AMP_OK
                : amp_fail(err, AMP_MODEL,
                           "%s: %s: %u inputs and %u outputs; 2 and %u for each tensor, and %u for "
                           "each, are needed",
                           model->path, amp_node_text(model, id, text, sizeof text), node->n_inputs,
                           node->n_outputs, 2 + n_states, 1 + n_states);
}

/* Has output PLACE of NODE come from where VALUE does; the value that stands for VALUE then. */
static uint32_t give_out(struct amp_model *model, const struct amp_node *node, uint32_t place,
                         uint32_t value)
{
    if (place >= node->n_outputs || node->outputs[place] == AMP_NONE)
        return value;
    amp_node_set_output(model, amp_value_at(model, value)->producer, 0, node->outputs[place]);
    return node->outputs[place];
}

/* Makes the step of tensor I of the N that the node of STEP has; RATE is that of this step. */
static void expand_tensor(struct amp_derivation *step, const struct amp_update *update, uint32_t i,
                          uint32_t n, uint32_t rate)
{
    static const char *const names[] = {"s", "t"};
    struct amp_model *model = step->model;
    const struct amp_node node = *amp_node_at(model, step->node);
    uint32_t n_states = count_states(update);
    step->x = node.inputs[TENSORS + i];
    step->g = node.inputs[TENSORS + n + i];
    step->dtype = amp_value_at(model, step->x)->dtype;
    struct amp_named_value named[] = {
        {"rate", rate}, {"slope", amp_gradient_term(step, update->slope)}, {"s", 0}, {"t", 0}};
    for (uint32_t k = 0; k < n_states; k++) {
        named[2 + k] = (struct amp_named_value){names[k], node.inputs[TENSORS + (2 + k) * n + i]};
        uint32_t state = amp_gradient_term_of(step, update->states[k], named, 3 + k);
        named[2 + k].value = give_out(model, &node, (1 + k) * n + i, state);
    }
    give_out(model, &node, i, amp_gradient_term_of(step, update->value, named, 2 + n_states));
}

static enum amp_status expand(struct amp_model *model, uint32_t id, const struct amp_update *update,
                              struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    uint32_t n_states = count_states(update);
    uint32_t n = node->n_inputs < TENSORS ? 0 : (node->n_inputs - TENSORS) / (2 + n_states);
    struct amp_derivation step = {
        .model = model, .graph = node->graph, .node = id, .dtype = AMP_DOUBLE};
    AMP_TRY(check(model, id, n, n_states, err));
    uint32_t rate = amp_gradient_term(&step, update->rate);
    for (uint32_t i = 0; i < n; i++)
        expand_tensor(&step, update, i, n, rate);
    amp_node_remove(model, id);
    return AMP_OK;
}

enum amp_status amp_optimizers_expand(struct amp_model *model, struct amp_error *err)
{
    size_t n_nodes = model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct amp_op *op = amp_op_of(amp_node_at(model, id));
        if (amp_node_at(model, id)->is_removed || op == NULL || op->update == NULL)
            continue;
        AMP_TRY(expand(model, id, op->update, err));
    }
    AMP_TRY(amp_graph_sort(model, NULL, err));
    return amp_infer(model, err);
}
