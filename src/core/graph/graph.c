/*
 * The model's arrays of values, nodes and graphs: adding, editing, reading. Takes ids that are in
 * the model; does not check them. Nothing here judges precision, sorts nodes or reads a file.
 */
#include "core/graph/graph.h"

#include "core/tensor.h"

#include <stdio.h>
#include <string.h>

static const char *domain_name(const char *domain)
{
    return strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

struct amp_model *amp_model_create(struct amp_arena *arena, const char *path)
{
    struct amp_model *model = amp_arena_alloc(arena, sizeof *model);
    model->arena = arena;
    model->path = path;
    return model;
}

void amp_model_import(struct amp_model *model, const char *domain, int64_t version)
{
    struct amp_opset *opset = amp_arena_push(model->arena, &model->opsets, &model->n_opsets,
                                             &model->opsets_capacity, sizeof *opset);
    *opset = (struct amp_opset){domain, version};
    amp_strmap_put(&model->opset_ids, model->arena, domain_name(domain),
                   (uint32_t)(model->n_opsets - 1));
}

int64_t amp_model_opset(const struct amp_model *model, const char *domain)
{
    uint32_t id;
    bool is_imported = amp_strmap_get(&model->opset_ids, domain_name(domain), &id);
    return is_imported ? model->opsets[id].version : 0;
}

int64_t amp_symbol_dim(struct amp_model *model, const char *name)
{
    uint32_t index;
    if (!amp_strmap_get(&model->symbol_ids, name, &index)) {
        index = (uint32_t)model->n_symbols;
        const char **slot = amp_arena_push(model->arena, &model->symbols, &model->n_symbols,
                                           &model->symbols_capacity, sizeof *slot);
        *slot = name;
        amp_strmap_put(&model->symbol_ids, model->arena, name, index);
    }
    return AMP_DIM_UNKNOWN - 1 - (int64_t)index;
}

const char *amp_dim_symbol(const struct amp_model *model, int64_t dim)
{
    return dim < AMP_DIM_UNKNOWN ? model->symbols[AMP_DIM_UNKNOWN - 1 - dim] : NULL;
}

uint32_t amp_graph_add(struct amp_model *model, const char *name, uint32_t owner)
{
    uint32_t id = (uint32_t)model->n_graphs;
    struct amp_graph *graph = amp_arena_push(model->arena, &model->graphs, &model->n_graphs,
                                             &model->graphs_capacity, sizeof *graph);
    *graph = (struct amp_graph){.name = name, .owner = owner};
    return id;
}

uint32_t amp_graph_add_value(struct amp_model *model, uint32_t graph, const char *name)
{
    uint32_t id = (uint32_t)model->n_values;
    struct amp_value *value = amp_arena_push(model->arena, &model->values, &model->n_values,
                                             &model->values_capacity, sizeof *value);
    *value = (struct amp_value){.name = name,
                                .rank = -1,
                                .graph = graph,
                                .producer = AMP_NONE,
                                .constant_max = -1,
                                .constant_flushed = -1};
    amp_strmap_put(&model->names, model->arena, name, 1);
    return id;
}

static uint32_t *empty_ids(struct amp_model *model, uint32_t count)
{
    uint32_t *ids = amp_arena_array(model->arena, count, sizeof *ids);
    for (uint32_t i = 0; i < count; i++)
        ids[i] = AMP_NONE;
    return ids;
}

uint32_t amp_graph_add_node(struct amp_model *model, uint32_t graph, const char *op_type,
                            uint32_t n_inputs, uint32_t n_outputs)
{
    uint32_t id = (uint32_t)model->n_nodes;
    struct amp_node *node = amp_arena_push(model->arena, &model->nodes, &model->n_nodes,
                                           &model->nodes_capacity, sizeof *node);
    *node = (struct amp_node){.name = "",
                              .op_type = op_type,
                              .domain = "",
                              .graph = graph,
                              .index = (uint32_t)model->graphs[graph].nodes.count,
                              .n_inputs = n_inputs,
                              .n_outputs = n_outputs,
                              .inputs = empty_ids(model, n_inputs),
                              .outputs = empty_ids(model, n_outputs)};
    amp_ids_push(model, &model->graphs[graph].nodes, id);
    return id;
}

void amp_graph_make_initializer(struct amp_model *model, uint32_t id, struct amp_tensor *tensor)
{
    struct amp_value *value = amp_value_at(model, id);
    value->kind = AMP_KIND_TENSOR;
    value->dtype = tensor->dtype;
    value->constant = value->initial = tensor;
    value->is_initializer = true;
    amp_value_set_shape(model, id, &tensor->shape);
    amp_ids_push(model, &model->graphs[value->graph].initializers, id);
    /* Before IR version 4 an initializer was an input of its graph, too many for a body. */
    if (value->graph > 0 && model->ir_version < 4)
        model->ir_version = 4;
}

uint32_t amp_graph_add_initializer(struct amp_model *model, uint32_t graph, const char *name,
                                   struct amp_tensor *tensor)
{
    uint32_t id = amp_graph_add_value(model, graph, name);
    amp_graph_make_initializer(model, id, tensor);
    return id;
}

uint32_t amp_graph_add_ints(struct amp_model *model, uint32_t graph, const char *name,
                            const int64_t *items, size_t count)
{
    struct amp_tensor *tensor = amp_arena_alloc(model->arena, sizeof *tensor);
    *tensor = (struct amp_tensor){.dtype = AMP_INT64,
                                  .shape = {.rank = 1, .dims = {(int64_t)count}},
                                  .data = amp_arena_array(model->arena, count, sizeof *items)};
    if (count > 0)
        memcpy(tensor->data, items, count * sizeof *items);
    return amp_graph_add_initializer(model, graph, name, tensor);
}

void amp_graph_remove_initializer(struct amp_model *model, uint32_t id)
{
    amp_value_at(model, id)->is_removed = true;
}

static void drop_removed(struct amp_model *model, struct amp_graph *graph)
{
    struct amp_ids *nodes = &graph->nodes, *initializers = &graph->initializers;
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++)
        if (!amp_node_at(model, nodes->items[i])->is_removed)
            nodes->items[kept++] = nodes->items[i];
    nodes->count = kept;
    kept = 0;
    for (size_t i = 0; i < initializers->count; i++)
        if (!amp_value_at(model, initializers->items[i])->is_removed)
            initializers->items[kept++] = initializers->items[i];
    initializers->count = kept;
}

void amp_graph_drop_removed(struct amp_model *model)
{
    for (size_t g = 0; g < model->n_graphs; g++)
        drop_removed(model, &model->graphs[g]);
}

void amp_ids_push(struct amp_model *model, struct amp_ids *ids, uint32_t id)
{
    uint32_t *slot =
        amp_arena_push(model->arena, &ids->items, &ids->count, &ids->capacity, sizeof *slot);
    *slot = id;
}

const char *amp_model_unique_name(struct amp_model *model, const char *base)
{
    const char *name = base;
    uint32_t next = 0;
    /* The number last given to a base is kept as its value, so that many names cost little. */
    if (amp_strmap_get(&model->names, base, &next)) {
        do
            name = amp_arena_printf(model->arena, "%s_%u", base, next++);
        while (amp_strmap_get(&model->names, name, NULL));
        amp_strmap_put(&model->names, model->arena, base, next);
    } else {
        name = amp_arena_strdup(model->arena, base);
    }
    amp_strmap_put(&model->names, model->arena, name, 1);
    return name;
}

void amp_model_rename_nodes(struct amp_model *model)
{
    for (size_t g = 0; g < model->n_graphs; g++) {
        struct amp_strmap names = {.count = 0};
        for (size_t i = 0; i < model->graphs[g].nodes.count; i++) {
            struct amp_node *node = amp_node_at(model, model->graphs[g].nodes.items[i]);
            if (node->name[0] == '\0')
                continue;
            if (amp_strmap_get(&names, node->name, NULL))
                node->name = amp_model_unique_name(model, node->name);
            amp_strmap_put(&names, model->arena, node->name, 1);
        }
    }
}

void amp_node_set_output(struct amp_model *model, uint32_t node, uint32_t slot, uint32_t value)
{
    amp_node_at(model, node)->outputs[slot] = value;
    if (value != AMP_NONE)
        amp_value_at(model, value)->producer = node;
}

void amp_node_remove(struct amp_model *model, uint32_t node)
{
    struct amp_node *removed = amp_node_at(model, node);
    removed->is_removed = true;
    for (uint32_t i = 0; i < removed->n_outputs; i++)
        if (removed->outputs[i] != AMP_NONE &&
            amp_value_at(model, removed->outputs[i])->producer == node)
            amp_value_at(model, removed->outputs[i])->producer = AMP_NONE;
}

static struct amp_attr *find_attr(const struct amp_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->n_attrs; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

void amp_node_set_attr(struct amp_model *model, uint32_t node_id, struct amp_attr attr)
{
    struct amp_node *node = amp_node_at(model, node_id);
    struct amp_attr *found = find_attr(node, attr.name);
    if (found != NULL) {
        *found = attr;
        return;
    }
    struct amp_attr *grown = amp_arena_array(model->arena, node->n_attrs + 1, sizeof *grown);
    if (node->n_attrs > 0)
        memcpy(grown, node->attrs, node->n_attrs * sizeof *grown);
    grown[node->n_attrs++] = attr;
    node->attrs = grown;
}

void amp_node_set_int(struct amp_model *model, uint32_t node, const char *name, int64_t value)
{
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_INT, .count = 1};
    attr.ints = amp_arena_memdup(model->arena, &value, sizeof value);
    amp_node_set_attr(model, node, attr);
}

void amp_node_remove_attr(struct amp_model *model, uint32_t node_id, const char *name)
{
    struct amp_node *node = amp_node_at(model, node_id);
    struct amp_attr *found = find_attr(node, name);
    if (found == NULL)
        return;
    size_t after = (size_t)(node->attrs + node->n_attrs - (found + 1));
    memmove(found, found + 1, after * sizeof *found);
    node->n_attrs--;
}

void amp_node_grow_inputs(struct amp_model *model, uint32_t node_id, uint32_t count)
{
    struct amp_node *node = amp_node_at(model, node_id);
    if (count <= node->n_inputs)
        return;
    uint32_t *grown = empty_ids(model, count);
    memcpy(grown, node->inputs, node->n_inputs * sizeof *grown);
    node->inputs = grown;
    node->n_inputs = count;
}

void amp_node_clear_outputs(struct amp_model *model, uint32_t node, uint32_t count)
{
    amp_node_at(model, node)->outputs = empty_ids(model, count);
    amp_node_at(model, node)->n_outputs = count;
}

void amp_value_set_shape(struct amp_model *model, uint32_t id, const struct amp_shape *shape)
{
    struct amp_value *value = amp_value_at(model, id);
    value->rank = shape->rank;
    value->dims = NULL;
    if (shape->rank > 0)
        value->dims =
            amp_arena_memdup(model->arena, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
}

void amp_value_shape(const struct amp_value *value, struct amp_shape *shape)
{
    shape->rank = value->rank;
    if (value->rank > 0)
        memcpy(shape->dims, value->dims, (size_t)value->rank * sizeof *shape->dims);
}

const struct amp_attr *amp_node_attr(const struct amp_node *node, const char *name)
{
    return find_attr(node, name);
}

static const struct amp_attr *attr_of_type(const struct amp_node *node, const char *name,
                                           enum amp_attr_type type)
{
    const struct amp_attr *attr = find_attr(node, name);
    return attr != NULL && attr->type == type ? attr : NULL;
}

int64_t amp_node_int(const struct amp_node *node, const char *name, int64_t fallback)
{
    const struct amp_attr *attr = attr_of_type(node, name, AMP_ATTR_INT);
    return attr ? attr->ints[0] : fallback;
}

float amp_node_float(const struct amp_node *node, const char *name, float fallback)
{
    const struct amp_attr *attr = attr_of_type(node, name, AMP_ATTR_FLOAT);
    return attr ? attr->floats[0] : fallback;
}

const char *amp_node_string(const struct amp_node *node, const char *name, const char *fallback)
{
    const struct amp_attr *attr = attr_of_type(node, name, AMP_ATTR_STRING);
    return attr ? attr->strings[0].data : fallback;
}

const int64_t *amp_node_ints(const struct amp_node *node, const char *name, size_t *count)
{
    const struct amp_attr *attr = attr_of_type(node, name, AMP_ATTR_INTS);
    *count = attr ? attr->count : 0;
    return attr ? attr->ints : NULL;
}

size_t amp_attr_graph_count(const struct amp_attr *attr)
{
    return attr->type == AMP_ATTR_GRAPH || attr->type == AMP_ATTR_GRAPHS ? attr->count : 0;
}

bool amp_node_has_bodies(const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_attrs; i++)
        if (amp_attr_graph_count(&node->attrs[i]) > 0)
            return true;
    return false;
}

bool amp_node_is(const struct amp_node *node, const char *domain, const char *op_type)
{
    return strcmp(node->op_type, op_type) == 0 && strcmp(node->domain, domain) == 0;
}

char *amp_node_text(const struct amp_model *model, uint32_t id, char *text, size_t size)
{
    const struct amp_node *node = amp_node_at(model, id);
    const char *dot = node->domain[0] ? "." : "";
    char version[16] = "";
    if (node->since_version > 0)
        snprintf(version, sizeof version, "-%d", node->since_version);
    if (node->name[0] != '\0') {
        snprintf(text, size, "node '%s' (%s%s%s%s)", node->name, node->domain, dot, node->op_type,
                 version);
        return text;
    }
    const char *output = "";
    for (uint32_t i = 0; i < node->n_outputs && output[0] == '\0'; i++)
        if (node->outputs[i] != AMP_NONE)
            output = amp_value_at(model, node->outputs[i])->name;
    snprintf(text, size, "node %u with output '%s' (%s%s%s%s)", node->index, output, node->domain,
             dot, node->op_type, version);
    return text;
}

uint32_t amp_graph_container(const struct amp_model *model, uint32_t node, uint32_t graph)
{
    while (node != AMP_NONE && amp_node_at(model, node)->graph != graph)
        node = model->graphs[amp_node_at(model, node)->graph].owner;
    return node;
}
