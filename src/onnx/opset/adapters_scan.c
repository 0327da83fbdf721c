/*
 * The adapter of Scan. Scan-8 has a batch dim before all others: state variables are [batch, ...],
 * scanned inputs and outputs [batch, steps, ...], and each sequence starts with its own state. That
 * is a Scan over the batch, without state, whose body is a Scan over the steps with the old body.
 * Source: the definitions of Scan-8 and Scan-9 in ONNX's Changelog.md.
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"
#include "onnx/schema/schema.h"

/* A new value of GRAPH for one element of the batch of VALUE. */
static uint32_t add_slice(struct amp_upgrade *upgrade, uint32_t graph, uint32_t value)
{
    struct amp_model *model = upgrade->model;
    struct amp_shape shape = {.rank = -1};
    enum amp_dtype dtype = AMP_UNDEFINED;
    if (value != AMP_NONE) {
        dtype = amp_value_at(model, value)->dtype;
        amp_value_shape(amp_value_at(model, value), &shape);
    }
    uint32_t id = amp_graph_add_value(model, graph, amp_upgrade_name(upgrade, "sequence"));
    amp_value_at(model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(model, id)->dtype = dtype;
    for (int i = 1; i < shape.rank; i++)
        shape.dims[i - 1] = shape.dims[i];
    if (shape.rank > 0) {
        shape.rank--;
        amp_value_set_shape(model, id, &shape);
    }
    return id;
}

/* The Scan over the steps of one sequence, in GRAPH: the body and its directions are the node's. */
static uint32_t add_inner(struct amp_upgrade *upgrade, uint32_t graph)
{
    struct amp_model *model = upgrade->model;
    const char *name = amp_upgrade_name(upgrade, "steps");
    uint32_t n_inputs = amp_upgrade_node(upgrade)->n_inputs - 1;
    uint32_t n_outputs = amp_upgrade_node(upgrade)->n_outputs;
    uint32_t id = amp_graph_add_node(model, graph, "Scan", n_inputs, n_outputs);
    struct amp_node *inner = amp_node_at(model, id), *outer = amp_upgrade_node(upgrade);
    const struct amp_attr *directions = amp_node_attr(outer, "directions");
    struct amp_attr body = *amp_node_attr(outer, "body");
    inner->name = name;
    inner->schema = amp_schema_find("", "Scan", upgrade->version);
    inner->since_version = inner->schema->since_version;
    amp_node_set_attr(model, id, body);
    amp_node_set_int(model, id, "num_scan_inputs", amp_node_int(outer, "num_scan_inputs", 0));
    if (directions != NULL) {
        struct amp_attr renamed = *directions;
        renamed.name = "scan_input_directions";
        renamed.origin = NULL;
        amp_node_set_attr(model, id, renamed);
    }
    model->graphs[body.graphs[0]].owner = id;
    return id;
}

/* The body of the Scan over the batch. */
static uint32_t add_batch_body(struct amp_upgrade *upgrade)
{
    struct amp_model *model = upgrade->model;
    uint32_t graph = amp_graph_add(model, amp_upgrade_name(upgrade, "batch"), upgrade->node);
    uint32_t inner = add_inner(upgrade, graph);
    for (uint32_t i = 0; i < amp_node_at(model, inner)->n_inputs; i++) {
        uint32_t slice = add_slice(upgrade, graph, amp_upgrade_node(upgrade)->inputs[i + 1]);
        amp_value_at(model, slice)->is_input = true;
        amp_ids_push(model, &model->graphs[graph].inputs, slice);
        amp_node_at(model, inner)->inputs[i] = slice;
    }
    for (uint32_t i = 0; i < amp_node_at(model, inner)->n_outputs; i++) {
        uint32_t slice = add_slice(upgrade, graph, amp_upgrade_node(upgrade)->outputs[i]);
        amp_value_at(model, slice)->is_output = true;
        amp_ids_push(model, &model->graphs[graph].outputs, slice);
        amp_node_set_output(model, inner, i, slice);
    }
    return graph;
}

static const char *scan_9(struct amp_upgrade *upgrade)
{
    struct amp_attr body = {.name = "body", .type = AMP_ATTR_GRAPH, .count = 1};
    struct amp_node *node = amp_upgrade_node(upgrade);
    if (amp_upgrade_input(upgrade, 0) != AMP_NONE)
        return "its sequences have lengths of their own";
    for (uint32_t i = 1; i < node->n_inputs; i++)
        if (node->inputs[i] == AMP_NONE)
            return "an input is missing";
    uint32_t graph = add_batch_body(upgrade);
    body.graphs = amp_arena_memdup(upgrade->model->arena, &graph, sizeof graph);
    amp_node_set_attr(upgrade->model, upgrade->node, body);
    amp_upgrade_drop_attr(upgrade, "directions");
    node = amp_upgrade_node(upgrade);
    node->inputs++;
    node->n_inputs--;
    amp_node_set_int(upgrade->model, upgrade->node, "num_scan_inputs", node->n_inputs);
    return NULL;
}

static const struct amp_adapter_entry entries[] = {
    {"Scan", 9, scan_9},
};

const struct amp_adapter_family amp_adapters_scan = {entries, AMP_COUNT(entries)};
