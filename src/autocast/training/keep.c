/*
 * The nodes of training graphs that keep their types: takes a model, looks for Gradient nodes and
 * follows values from and to them. Decides nothing about the rest.
 */
#include "autocast/training/keep.h"

#include "core/graph/reach.h"
#include "onnx/training/gradient_node.h"

#include <stdlib.h>

/* What there is in a model. */
struct training {
    struct amp_ids points; /* values that gradients are by and at */
    bool *forward;         /* per value: a loss is computed from it */
    bool *update;          /* per value: it is computed from gradients */
    bool has_gradient;
};

static void add_point(const struct amp_model *model, struct training *training, uint32_t value)
{
    struct amp_ids *points = &training->points;
    uint32_t *slot = amp_arena_push(model->arena, &points->items, &points->count, &points->capacity,
                                    sizeof *slot);
    *slot = value;
}

static void look_at(const struct amp_model *model, uint32_t id, struct training *training)
{
    const struct amp_node *node = amp_node_at(model, id);
    uint32_t target = amp_gradient_target(model, id);
    training->has_gradient = true;
    amp_gradient_add_points(model, id, &training->points);
    if (target != AMP_NONE)
        training->forward[target] = true;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            training->update[node->outputs[i]] = true;
}

static bool is_kept(const struct amp_node *node, const struct training *training, bool is_algorithm)
{
    if (amp_node_is_gradient(node))
        return true;
    bool is_after = is_algorithm || amp_reach_has_output(node, training->update);
    return is_after && !amp_reach_has_output(node, training->forward);
}

/* Marks in KEEPS, a flag per node, those of the main graph that are kept, and with them what they
   hold. */
static void mark(const struct amp_model *model, const struct training *training, bool is_algorithm,
                 bool *keeps)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        keeps[id] = !node->is_removed && node->graph == 0 && is_kept(node, training, is_algorithm);
    }
    for (size_t i = 0; i < training->points.count; i++) {
        uint32_t producer = amp_value_at(model, training->points.items[i])->producer;
        if (producer != AMP_NONE)
            keeps[producer] = true;
    }
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed && node->graph != 0)
            keeps[id] = keeps[amp_graph_container(model, id, 0)];
    }
}

const bool *amp_training_keep(const struct amp_model *model, const struct amp_training_role *role)
{
    bool *keeps = amp_arena_array(model->arena, model->n_nodes, sizeof *keeps);
    struct training training = {.forward = amp_xcalloc(model->n_values, sizeof(bool)),
                                .update = amp_xcalloc(model->n_values, sizeof(bool))};
    for (size_t i = 0; i < role->points.count; i++)
        add_point(model, &training, role->points.items[i]);
    for (uint32_t id = 0; id < model->n_nodes; id++)
        if (amp_node_is_gradient(amp_node_at(model, id)) && amp_node_at(model, id)->graph == 0)
            look_at(model, id, &training);
    bool has_kept = training.has_gradient || training.points.count > 0 || role->is_algorithm;
    if (has_kept) {
        amp_reach_ahead(model, training.update);
        amp_reach_back(model, NULL, training.forward);
        mark(model, &training, role->is_algorithm, keeps);
    }
    free(training.forward);
    free(training.update);
    return has_kept ? keeps : NULL;
}
