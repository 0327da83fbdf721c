/*
 * Raises a model to a newer opset, node by node and definition by definition: a definition that
 * means the same is taken over, for others an adapter (adapters.h) rewrites the node. Nodes that
 * adapters add are raised in their turn. Takes a model whose element types are inferred as far as
 * they can be. The model is copied first and restored when one node cannot follow, so that raising
 * succeeds whole or changes nothing.
 */
#include "onnx/opset/opset.h"

#include "core/graph/order.h"
#include "onnx/opset/adapters.h"
#include "onnx/schema/difference.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

static void *copy_array(struct amp_arena *arena, const void *items, size_t count, size_t size)
{
    return count > 0 ? amp_arena_memdup(arena, items, count * size) : NULL;
}

static struct amp_ids copy_ids(struct amp_arena *arena, const struct amp_ids *ids)
{
    uint32_t *items = copy_array(arena, ids->items, ids->count, sizeof *items);

    return (struct amp_ids){.items = items, .count = ids->count, .capacity = ids->count};
}

static struct amp_node copy_node(struct amp_arena *arena, const struct amp_node *node)
{
    struct amp_node copy = *node;

    copy.inputs = copy_array(arena, node->inputs, node->n_inputs, sizeof *copy.inputs);
    copy.outputs = copy_array(arena, node->outputs, node->n_outputs, sizeof *copy.outputs);
    copy.attrs = copy_array(arena, node->attrs, node->n_attrs, sizeof *copy.attrs);
    return copy;
}

/* A copy of MODEL whose arrays are its own: what raising may change. */
static struct amp_model copy_model(const struct amp_model *model)
{
    struct amp_arena *arena = model->arena;
    struct amp_model copy = *model;

    copy.values = copy_array(arena, model->values, model->n_values, sizeof *copy.values);
    copy.values_capacity = model->n_values;
    copy.nodes = copy_array(arena, model->nodes, model->n_nodes, sizeof *copy.nodes);
    copy.nodes_capacity = model->n_nodes;
    copy.graphs = copy_array(arena, model->graphs, model->n_graphs, sizeof *copy.graphs);
    copy.graphs_capacity = model->n_graphs;
    for (size_t i = 0; i < copy.n_nodes; i++)
        copy.nodes[i] = copy_node(arena, &model->nodes[i]);
    for (size_t i = 0; i < copy.n_graphs; i++) {
        copy.graphs[i].nodes = copy_ids(arena, &model->graphs[i].nodes);
        copy.graphs[i].initializers = copy_ids(arena, &model->graphs[i].initializers);
    }
    return copy;
}

/* Makes MODEL what KEPT is, but for names: those that were taken since stay taken, as the table of
   names only grows. */
static void restore(struct amp_model *model, const struct amp_model *kept)
{
    struct amp_strmap names = model->names, symbol_ids = model->symbol_ids;

    *model = *kept;
    model->names = names;
    model->symbol_ids = symbol_ids;
}

/* Whether every tensor input whose dtype is known has one that SCHEMA takes. */
static bool takes_inputs(const struct amp_upgrade *upgrade, const struct amp_schema *schema)
{
    const struct amp_node *node = amp_upgrade_node(upgrade);

    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (node->inputs[i] == AMP_NONE || param == NULL)
            continue;
        const struct amp_value *value = amp_value_at(upgrade->model, node->inputs[i]);
        if (value->kind == AMP_KIND_TENSOR && value->dtype != AMP_UNDEFINED &&
            !(amp_schema_type(schema, param)->tensors & AMP_DTYPE_BIT(value->dtype)))
            return false;
    }
    return true;
}

/* Carries the node over from definition FROM to NEXT. Returns NULL, or why it cannot follow. */
static const char *carry_over(struct amp_upgrade *upgrade, const struct amp_schema *from,
                              const struct amp_schema *next)
{
    const char *difference = amp_schema_difference(from, next);
    amp_adapter *adapt = amp_adapters_find(next->name, next->since_version);

    if (amp_schema_attr(next, "consumed_inputs") == NULL)
        amp_upgrade_drop_attr(upgrade, "consumed_inputs");
    if (difference == NULL)
        return NULL;
    return adapt != NULL ? adapt(upgrade) : difference;
}

/* Raises the node to upgrade->target. Returns NULL, or why it stops before the definition of
   upgrade->version. */
static const char *raise_node(struct amp_upgrade *upgrade)
{
    const struct amp_schema *first = amp_upgrade_node(upgrade)->schema, *schema = first, *next;

    while ((next = amp_schema_next(schema)) != NULL && next->since_version <= upgrade->target) {
        upgrade->version = next->since_version;
        const char *obstacle = carry_over(upgrade, schema, next);
        if (obstacle != NULL)
            return obstacle;
        schema = amp_schema_find("", amp_upgrade_node(upgrade)->op_type, upgrade->version);
        amp_upgrade_node(upgrade)->schema = schema;
        amp_upgrade_node(upgrade)->since_version = schema->since_version;
    }
    return schema == first || takes_inputs(upgrade, schema) ? NULL : "it takes fewer types";
}

/* The first opset above OPSET, TARGET at most, in which the operator of NODE exists when it does
   not in OPSET; 0 when there is none. A node of an unknown operator must not become one of a known
   operator by being raised. */
static int coming_opset(const struct amp_node *node, int opset, int target)
{
    if (node->is_removed || node->domain[0] != '\0' || node->schema != NULL)
        return 0;
    for (int next = opset + 1; next <= target; next++)
        if (amp_schema_find("", node->op_type, next) != NULL)
            return next;
    return 0;
}

static enum amp_status fail_node(const struct amp_upgrade *upgrade, const char *obstacle,
                                 const struct amp_schema *schema, struct amp_error *err)
{
    char text[512];

    return amp_fail(err, AMP_UNSUPPORTED,
                    "%s: cannot be raised to opset %d: %s changed in opset %d: %s",
                    amp_node_text(upgrade->model, upgrade->node, text, sizeof text),
                    upgrade->target, schema->name, upgrade->version, obstacle);
}

static enum amp_status fail_unknown(const struct amp_model *model, uint32_t id, int target,
                                    int opset, struct amp_error *err)
{
    char text[512];

    return amp_fail(err, AMP_UNSUPPORTED,
                    "%s: cannot be raised to opset %d: the operator is new in opset %d",
                    amp_node_text(model, id, text, sizeof text), target, opset);
}

static enum amp_status raise_nodes(struct amp_model *model, int target,
                                   struct amp_opset_limit *limit, struct amp_error *err)
{
    int now = (int)amp_model_opset(model, "");

    for (size_t id = 0; id < model->n_nodes; id++) {
        struct amp_upgrade upgrade = {.model = model, .node = (uint32_t)id, .target = target};
        int coming = coming_opset(amp_upgrade_node(&upgrade), now, target);
        if (coming > 0) {
            *limit = (struct amp_opset_limit){.node = upgrade.node, .opset = coming - 1};
            return fail_unknown(model, upgrade.node, target, coming, err);
        }
        const struct amp_node *node = amp_upgrade_node(&upgrade);
        if (node->is_removed || node->domain[0] != '\0' || node->schema == NULL)
            continue;
        const char *obstacle = raise_node(&upgrade);
        if (obstacle != NULL) {
            *limit = (struct amp_opset_limit){.node = upgrade.node, .opset = upgrade.version - 1};
            return fail_node(&upgrade, obstacle, amp_upgrade_node(&upgrade)->schema, err);
        }
    }
    return AMP_OK;
}

static void set_opset(struct amp_model *model, int target, bool has_new_initializers)
{
    int ir = amp_schema_ir_version(target);

    for (size_t i = 0; i < model->n_opsets; i++)
        if (model->opsets[i].domain[0] == '\0' || strcmp(model->opsets[i].domain, "ai.onnx") == 0)
            model->opsets[i].version = target;
    /* Before IR version 4 every initializer had to be an input of its graph as well. */
    if (has_new_initializers && ir < 4)
        ir = 4;
    if (model->ir_version < ir)
        model->ir_version = ir;
}

/* Which values nodes take or graphs give out; freed by the caller. */
static bool *find_used(const struct amp_model *model)
{
    bool *used = amp_xcalloc(model->n_values, sizeof *used);

    for (size_t n = 0; n < model->n_nodes; n++)
        for (uint32_t i = 0; !model->nodes[n].is_removed && i < model->nodes[n].n_inputs; i++)
            if (model->nodes[n].inputs[i] != AMP_NONE)
                used[model->nodes[n].inputs[i]] = true;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            used[model->graphs[g].outputs.items[i]] = true;
    return used;
}

/* Whether VALUE was used before, or was not there yet, and is not used any more. */
static bool is_left_over(uint32_t value, const bool *before, size_t n_before, const bool *after)
{
    return value != AMP_NONE && !after[value] && (value >= n_before || before[value]);
}

/* Drops initializers and Constants that were in use BEFORE and are no more. Initializers that
   callers may override stay. */
static void drop_leftovers(struct amp_model *model, const bool *before, size_t n_before)
{
    bool *after = find_used(model);

    for (size_t g = 0; g < model->n_graphs; g++) {
        struct amp_ids *ids = &model->graphs[g].initializers;
        size_t kept = 0;
        for (size_t i = 0; i < ids->count; i++)
            if (amp_value_at(model, ids->items[i])->constant == NULL ||
                !is_left_over(ids->items[i], before, n_before, after))
                ids->items[kept++] = ids->items[i];
        ids->count = kept;
    }
    for (size_t n = 0; n < model->n_nodes; n++)
        if (!model->nodes[n].is_removed && amp_node_has_role(&model->nodes[n], AMP_ROLE_CONSTANT) &&
            is_left_over(model->nodes[n].outputs[0], before, n_before, after))
            amp_node_remove(model, (uint32_t)n);
    free(after);
}

enum amp_status amp_opset_raise(struct amp_model *model, int target, struct amp_opset_limit *limit,
                                struct amp_error *err)
{
    struct amp_opset_limit unused;
    size_t n_values = model->n_values;
    int64_t opset = amp_model_opset(model, "");

    if (target <= opset || opset == 0)
        return AMP_OK;
    if (target > amp_schema_newest_opset(""))
        return amp_fail(err, AMP_UNSUPPORTED, "opset %d is not known; the newest known is %d",
                        target, amp_schema_newest_opset(""));
    limit = limit != NULL ? limit : &unused;
    struct amp_model kept = copy_model(model);
    bool *used = find_used(model);
    enum amp_status status = raise_nodes(model, target, limit, err);
    if (status == AMP_OK) {
        drop_leftovers(model, used, n_values);
        status = amp_graph_sort(model, NULL, err);
    }
    if (status == AMP_OK)
        set_opset(model, target, model->n_values > n_values);
    else
        restore(model, &kept);
    free(used);
    return status;
}
