/*
 * The float32 twin of a converted model and its variants. Takes the converted model, gives models
 * whose values have the same ids, so that what is rounded in the one can be rounded by hand in the
 * other. It runs nothing.
 */
#include "check/noise/twin.h"

#include "core/convert.h"
#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

static bool is_lower(enum amp_dtype dtype)
{
    return dtype == AMP_BFLOAT16 || dtype == AMP_FLOAT16;
}

/* ---- float32 --------------------------------------------------------------------------------- */

/* What TENSOR was before it was converted, in float32. */
static struct amp_tensor *widened(struct amp_tensor *tensor, struct amp_arena *arena)
{
    if (tensor == NULL || tensor->form != AMP_FORM_TENSOR || !is_lower(tensor->dtype))
        return tensor;
    struct amp_tensor *wide = amp_arena_alloc(arena, sizeof *wide);
    const struct amp_tensor *from = tensor->source != NULL ? tensor->source : tensor;
    if (from->dtype == AMP_FLOAT)
        *wide = *from;
    else
        *wide = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = from->shape, .source = from};
    return wide;
}

static void widen_tensors(struct amp_attr *attr, struct amp_arena *arena)
{
    struct amp_tensor **tensors =
        amp_arena_memdup(arena, attr->tensors, attr->count * sizeof *tensors);
    for (size_t i = 0; i < attr->count; i++)
        tensors[i] = widened(tensors[i], arena);
    attr->tensors = tensors;
}

static void widen_node(struct amp_model *model, uint32_t id)
{
    struct amp_node *node = amp_node_at(model, id);
    const struct amp_op *op = amp_op_of(node);
    for (uint32_t i = 0; i < node->n_attrs; i++)
        if (node->attrs[i].type == AMP_ATTR_TENSOR || node->attrs[i].type == AMP_ATTR_TENSORS)
            widen_tensors(&node->attrs[i], model->arena);
    const char *name = op != NULL && op->dtype_attr != NULL ? op->dtype_attr->name : NULL;
    if (name != NULL && is_lower((enum amp_dtype)amp_node_int(node, name, AMP_UNDEFINED)))
        amp_node_set_int(model, id, name, AMP_FLOAT);
}

struct amp_model *amp_twin_create(const struct amp_model *converted, struct amp_arena *arena)
{
    struct amp_model *twin = amp_model_copy(converted, arena);
    for (uint32_t v = 0; v < twin->n_values; v++) {
        struct amp_value *value = amp_value_at(twin, v);
        bool is_shared = value->initial == value->constant;
        value->dtype = is_lower(value->dtype) ? AMP_FLOAT : value->dtype;
        value->constant = widened(value->constant, arena);
        value->initial = is_shared ? value->constant : widened(value->initial, arena);
    }
    for (uint32_t id = 0; id < twin->n_nodes; id++)
        if (!amp_node_at(twin, id)->is_removed)
            widen_node(twin, id);
    return twin;
}

/* ---- open values ----------------------------------------------------------------------------- */

static void open_value(struct amp_model *model, uint32_t id)
{
    struct amp_value *value = amp_value_at(model, id);
    struct amp_node *producer =
        value->producer == AMP_NONE ? NULL : amp_node_at(model, value->producer);
    value->constant = value->initial = NULL;
    value->is_initializer = false;
    value->producer = AMP_NONE;
    if (producer == NULL)
        return;
    producer->is_removed = true;
    for (uint32_t i = 0; i < producer->n_outputs; i++)
        producer->is_removed = producer->is_removed &&
                               (producer->outputs[i] == id || producer->outputs[i] == AMP_NONE);
    for (uint32_t i = 0; i < producer->n_outputs; i++)
        if (producer->outputs[i] == id)
            producer->outputs[i] = AMP_NONE;
}

struct amp_model *amp_twin_open(const struct amp_model *twin, const uint32_t *values, size_t n,
                                struct amp_arena *arena)
{
    struct amp_model *open = amp_model_copy(twin, arena);
    for (size_t i = 0; i < n; i++)
        open_value(open, values[i]);
    amp_graph_drop_removed(open);
    return open;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

bool amp_twin_rounds(const struct amp_model *converted, uint32_t id, uint32_t value)
{
    const struct amp_node *node = amp_node_at(converted, id);
    const struct amp_op *op = amp_op_of(node);
    const struct amp_value *output = amp_value_at(converted, value);
    if (output->kind != AMP_KIND_TENSOR || !is_lower(output->dtype) || op == NULL)
        return false;
    if (op->role == AMP_ROLE_CAST || op->role == AMP_ROLE_CAST_LIKE)
        return !amp_dtype_is_exact(amp_value_at(converted, node->inputs[0])->dtype, output->dtype);
    return op->effect == AMP_COMPUTES;
}

/* The node of the main graph that has GRAPH among its bodies. */
static uint32_t outermost(const struct amp_model *model, uint32_t graph)
{
    uint32_t owner = model->graphs[graph].owner;
    return owner == AMP_NONE ? AMP_NONE : amp_graph_container(model, owner, 0);
}

/* Adds a Cast of INPUT to DTYPE to the end of GRAPH, whose output is OUTPUT. */
static void add_cast(struct amp_model *model, uint32_t graph, uint32_t input, uint32_t output)
{
    uint32_t id = amp_graph_add_node(model, graph, "Cast", 1, 1);
    struct amp_node *node = amp_node_at(model, id);
    node->name = "";
    node->inputs[0] = input;
    node->schema = amp_schema_find("", "Cast", (int)amp_model_opset(model, ""));
    node->since_version = node->schema ? node->schema->since_version : 0;
    amp_node_set_output(model, id, 0, output);
    amp_node_set_int(model, id, "to", amp_value_at(model, output)->dtype);
}

static uint32_t add_value_like(struct amp_model *model, uint32_t value, enum amp_dtype dtype)
{
    uint32_t graph = amp_value_at(model, value)->graph;
    const char *name = amp_model_unique_name(model, amp_value_at(model, value)->name);
    uint32_t id = amp_graph_add_value(model, graph, name);
    struct amp_value *added = amp_value_at(model, id), *like = amp_value_at(model, value);
    added->kind = like->kind;
    added->dtype = dtype;
    added->rank = like->rank;
    added->dims = like->dims;
    return id;
}

/* Has what NODE gives as output SLOT cast to DTYPE and back. */
static void round_output(struct amp_model *model, uint32_t node, uint32_t slot,
                         enum amp_dtype dtype)
{
    uint32_t value = amp_node_at(model, node)->outputs[slot];
    uint32_t exact = add_value_like(model, value, AMP_FLOAT);
    uint32_t low = add_value_like(model, value, dtype);
    uint32_t graph = amp_value_at(model, value)->graph;
    amp_node_set_output(model, node, slot, exact);
    add_cast(model, graph, exact, low);
    add_cast(model, graph, low, value);
}

static bool round_node(struct amp_model *model, const struct amp_model *converted, uint32_t id)
{
    bool found = false;
    for (uint32_t slot = 0; slot < amp_node_at(model, id)->n_outputs; slot++) {
        uint32_t value = amp_node_at(model, id)->outputs[slot];
        if (value == AMP_NONE || amp_value_at(model, value)->constant != NULL ||
            value >= converted->n_values || !amp_twin_rounds(converted, id, value))
            continue;
        round_output(model, id, slot, amp_value_at(converted, value)->dtype);
        found = true;
    }
    return found;
}

/* Makes a constant of a body what the conversion made of it, in float32. */
static bool round_constant(struct amp_model *model, const struct amp_model *converted, uint32_t id)
{
    struct amp_value *value = amp_value_at(model, id);
    const struct amp_tensor *low = amp_value_at(converted, id)->constant;
    if (low == NULL || !is_lower(low->dtype) || low->source == NULL)
        return false;
    struct amp_tensor *made = amp_arena_alloc(model->arena, sizeof *made);
    struct amp_tensor *stored = amp_arena_alloc(model->arena, sizeof *stored);
    *stored = (struct amp_tensor){.dtype = low->dtype, .shape = low->shape};
    stored->data = amp_arena_alloc(model->arena, amp_tensor_size(low));
    amp_tensor_copy(low, stored->data);
    *made = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = low->shape, .source = stored};
    value->constant = value->initial = made;
    return true;
}

enum amp_status amp_twin_round_bodies(const struct amp_model *twin,
                                      const struct amp_model *converted, struct amp_arena *arena,
                                      struct amp_twin_bodies *bodies, struct amp_error *err)
{
    struct amp_model *model = amp_model_copy(twin, arena);
    bool is_any = false;
    bool *found = amp_arena_array(arena, model->n_nodes, sizeof *found);
    *bodies = (struct amp_twin_bodies){.found = found};
    for (uint32_t v = 0; v < converted->n_values; v++) {
        uint32_t owner = outermost(model, amp_value_at(model, v)->graph);
        if (owner != AMP_NONE && round_constant(model, converted, v))
            is_any = found[owner] = true;
    }
    for (uint32_t id = 0; id < converted->n_nodes; id++) { /* which the twin has too */
        uint32_t owner = outermost(model, amp_node_at(model, id)->graph);
        if (!amp_node_at(model, id)->is_removed && owner != AMP_NONE &&
            round_node(model, converted, id))
            is_any = found[owner] = true;
    }
    if (!is_any)
        return AMP_OK;
    bodies->model = model;
    return amp_graph_sort(model, NULL, err);
}
