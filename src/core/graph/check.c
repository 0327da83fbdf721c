/*
 * The check of a model's form: takes a model, says whether every value has one producer that stands
 * before its consumers. Types, shapes and attributes are not looked at (onnx/schema does that).
 */
#include "core/graph/check.h"

#include "core/graph/graph.h"

#include <stdlib.h>

static enum amp_status check_inputs(const struct amp_model *model, uint32_t id,
                                    const bool *is_defined, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE || is_defined[node->inputs[i]])
            continue;
        return amp_fail(err, AMP_MODEL, "%s: %s, input %u: value '%s' is used before it is defined",
                        model->path, amp_node_text(model, id, text, sizeof text), i,
                        amp_value_at(model, node->inputs[i])->name);
    }
    return AMP_OK;
}

static enum amp_status define_outputs(const struct amp_model *model, uint32_t id, bool *is_defined,
                                      struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(model, node->outputs[i]);
        if (value->producer != id || is_defined[node->outputs[i]] || value->graph != node->graph)
            return amp_fail(err, AMP_MODEL, "%s: %s, output %u: value '%s' has another producer",
                            model->path, amp_node_text(model, id, text, sizeof text), i,
                            value->name);
        is_defined[node->outputs[i]] = true;
    }
    return AMP_OK;
}

/* Graph G with the subgraphs of its nodes, which come after it in the array. */
static enum amp_status check_graph(const struct amp_model *model, uint32_t g, bool *is_defined,
                                   struct amp_error *err)
{
    const struct amp_graph *graph = &model->graphs[g];
    for (size_t i = 0; i < graph->inputs.count; i++)
        is_defined[graph->inputs.items[i]] = true;
    for (size_t i = 0; i < graph->initializers.count; i++)
        is_defined[graph->initializers.items[i]] = true;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        uint32_t id = graph->nodes.items[i];
        AMP_TRY(check_inputs(model, id, is_defined, err));
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                AMP_TRY(check_graph(model, node->attrs[a].graphs[k], is_defined, err));
        AMP_TRY(define_outputs(model, id, is_defined, err));
    }
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (!is_defined[graph->outputs.items[i]])
            return amp_fail(err, AMP_MODEL, "%s: graph output '%s' is not defined", model->path,
                            amp_value_at(model, graph->outputs.items[i])->name);
    return AMP_OK;
}

enum amp_status amp_graph_check(const struct amp_model *model, struct amp_error *err)
{
    bool *is_defined = amp_xcalloc(model->n_values, sizeof *is_defined);
    enum amp_status status = check_graph(model, 0, is_defined, err);
    free(is_defined);
    return status;
}
