/*
 * What adapters do to a node and its surroundings: inputs from attributes, constants, nodes before
 * and after it. Everything goes through core/graph/graph.h. Knows no operator but Shape, Flatten
 * and Reshape, which flattening adds.
 */
#include "onnx/opset/upgrade.h"

#include "onnx/schema/schema.h"

#include <string.h>

struct amp_node *amp_upgrade_node(const struct amp_upgrade *upgrade)
{
    return amp_node_at(upgrade->model, upgrade->node);
}

uint32_t amp_upgrade_input(const struct amp_upgrade *upgrade, uint32_t index)
{
    const struct amp_node *node = amp_upgrade_node(upgrade);

    return index < node->n_inputs ? node->inputs[index] : AMP_NONE;
}

void amp_upgrade_set_input(struct amp_upgrade *upgrade, uint32_t index, uint32_t value)
{
    amp_node_grow_inputs(upgrade->model, upgrade->node, index + 1);
    amp_upgrade_node(upgrade)->inputs[index] = value;
}

bool amp_upgrade_is_float(enum amp_dtype dtype)
{
    return dtype == AMP_DOUBLE || amp_dtype_is_autocast(dtype);
}

enum amp_dtype amp_upgrade_dtype(const struct amp_upgrade *upgrade, uint32_t index)
{
    uint32_t id = amp_upgrade_input(upgrade, index);

    return id == AMP_NONE ? AMP_UNDEFINED : amp_value_at(upgrade->model, id)->dtype;
}

struct amp_shape amp_upgrade_shape(const struct amp_upgrade *upgrade, uint32_t index)
{
    struct amp_shape shape = {.rank = -1};
    uint32_t id = amp_upgrade_input(upgrade, index);

    if (id != AMP_NONE)
        amp_value_shape(amp_value_at(upgrade->model, id), &shape);
    return shape;
}

const struct amp_tensor *amp_upgrade_constant(const struct amp_upgrade *upgrade, uint32_t index)
{
    uint32_t id = amp_upgrade_input(upgrade, index);
    const struct amp_tensor *constant =
        id == AMP_NONE ? NULL : amp_value_at(upgrade->model, id)->constant;
    if (constant == NULL || constant->data != NULL || constant->source == NULL)
        return constant;
    /* What a cast makes of another one has no data of its own yet. */
    struct amp_arena *arena = upgrade->model->arena;
    struct amp_tensor *filled = amp_arena_alloc(arena, sizeof *filled);

    *filled = (struct amp_tensor){.dtype = constant->dtype, .shape = constant->shape};
    filled->data = amp_arena_alloc(arena, amp_tensor_size(constant));
    amp_tensor_copy(constant, filled->data);
    return filled;
}

const char *amp_upgrade_name(struct amp_upgrade *upgrade, const char *what)
{
    const struct amp_node *node = amp_upgrade_node(upgrade);
    const char *base = node->name;

    for (uint32_t i = 0; base[0] == '\0' && i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            base = amp_value_at(upgrade->model, node->outputs[i])->name;
    return amp_model_unique_name(upgrade->model,
                                 amp_arena_printf(upgrade->model->arena, "%s_%s", base, what));
}

static struct amp_tensor *new_tensor(struct amp_upgrade *upgrade, enum amp_dtype dtype, int rank,
                                     size_t count)
{
    struct amp_tensor *tensor = amp_arena_alloc(upgrade->model->arena, sizeof *tensor);

    tensor->dtype = dtype;
    tensor->shape = (struct amp_shape){.rank = rank, .dims = {(int64_t)count}};
    tensor->data = amp_arena_array(upgrade->model->arena, count, amp_dtype_bits(dtype) / 8);
    return tensor;
}

static uint32_t add_initializer(struct amp_upgrade *upgrade, const char *what,
                                struct amp_tensor *tensor)
{
    uint32_t graph = amp_upgrade_node(upgrade)->graph;

    return amp_graph_add_initializer(upgrade->model, graph, amp_upgrade_name(upgrade, what),
                                     tensor);
}

uint32_t amp_upgrade_add_ints(struct amp_upgrade *upgrade, const char *what, const int64_t *items,
                              size_t count)
{
    return amp_graph_add_ints(upgrade->model, amp_upgrade_node(upgrade)->graph,
                              amp_upgrade_name(upgrade, what), items, count);
}

uint32_t amp_upgrade_add_int(struct amp_upgrade *upgrade, const char *what, int64_t value)
{
    struct amp_tensor *tensor = new_tensor(upgrade, AMP_INT64, 0, 1);

    *(int64_t *)tensor->data = value;
    return add_initializer(upgrade, what, tensor);
}

uint32_t amp_upgrade_add_floats(struct amp_upgrade *upgrade, const char *what, enum amp_dtype dtype,
                                const float *items, size_t count)
{
    struct amp_tensor *tensor = new_tensor(upgrade, dtype, 1, count);

    for (size_t i = 0; i < count; i++)
        amp_tensor_set_double(tensor, i, (double)items[i]);
    return add_initializer(upgrade, what, tensor);
}

uint32_t amp_upgrade_add_float(struct amp_upgrade *upgrade, const char *what, enum amp_dtype dtype,
                               float value)
{
    struct amp_tensor *tensor = new_tensor(upgrade, dtype, 0, 1);

    amp_tensor_set_double(tensor, 0, (double)value);
    return add_initializer(upgrade, what, tensor);
}

uint32_t amp_upgrade_add_reshaped(struct amp_upgrade *upgrade, const char *what,
                                  const struct amp_tensor *tensor, const struct amp_shape *shape)
{
    struct amp_tensor *copy = amp_arena_alloc(upgrade->model->arena, sizeof *copy);

    *copy = (struct amp_tensor){.dtype = tensor->dtype, .shape = *shape, .data = tensor->data};
    return add_initializer(upgrade, what, copy);
}

uint32_t amp_upgrade_add_repeated(struct amp_upgrade *upgrade, const char *what,
                                  const struct amp_tensor *tensor, int64_t times)
{
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    struct amp_tensor *repeated = new_tensor(upgrade, tensor->dtype, 1, count * (size_t)times);
    const char *from = tensor->data;
    char *to = repeated->data;

    for (size_t i = 0; i < count; i++)
        for (int64_t k = 0; k < times; k++, to += width)
            memcpy(to, from + i * width, width);
    return add_initializer(upgrade, what, repeated);
}

void amp_upgrade_ints_to_input(struct amp_upgrade *upgrade, const char *name, uint32_t index)
{
    size_t count;
    const int64_t *items = amp_node_ints(amp_upgrade_node(upgrade), name, &count);

    if (items != NULL)
        amp_upgrade_set_input(upgrade, index, amp_upgrade_add_ints(upgrade, name, items, count));
    amp_upgrade_drop_attr(upgrade, name);
}

static uint32_t new_value(struct amp_upgrade *upgrade, const char *what, enum amp_dtype dtype)
{
    uint32_t id = amp_graph_add_value(upgrade->model, amp_upgrade_node(upgrade)->graph,
                                      amp_upgrade_name(upgrade, what));
    struct amp_value *value = amp_value_at(upgrade->model, id);

    value->kind = AMP_KIND_TENSOR;
    value->dtype = dtype;
    return id;
}

static uint32_t add_node(struct amp_upgrade *upgrade, const char *op_type, uint32_t first,
                         uint32_t second)
{
    const char *name = amp_upgrade_name(upgrade, op_type);
    uint32_t n_inputs = second == AMP_NONE ? 1 : 2;
    uint32_t id =
        amp_graph_add_node(upgrade->model, amp_upgrade_node(upgrade)->graph, op_type, n_inputs, 1);
    struct amp_node *node = amp_node_at(upgrade->model, id);

    node->name = name;
    node->schema = amp_schema_find("", op_type, upgrade->version);
    node->since_version = node->schema->since_version;
    node->inputs[0] = first;
    if (second != AMP_NONE)
        node->inputs[1] = second;
    return id;
}

uint32_t amp_upgrade_add_node_before(struct amp_upgrade *upgrade, const char *op_type,
                                     uint32_t first, uint32_t second, enum amp_dtype dtype)
{
    uint32_t output = new_value(upgrade, op_type, dtype);
    uint32_t id = add_node(upgrade, op_type, first, second);

    amp_node_set_output(upgrade->model, id, 0, output);
    return output;
}

uint32_t amp_upgrade_add_node_after(struct amp_upgrade *upgrade, const char *op_type,
                                    uint32_t index, enum amp_dtype dtype, uint32_t second)
{
    uint32_t value = amp_upgrade_node(upgrade)->outputs[index];
    uint32_t before = new_value(upgrade, op_type, dtype);
    uint32_t id = add_node(upgrade, op_type, before, second);

    amp_node_set_output(upgrade->model, upgrade->node, index, before);
    amp_node_set_output(upgrade->model, id, 0, value);
    return id;
}

void amp_upgrade_flatten(struct amp_upgrade *upgrade, int64_t axis)
{
    struct amp_shape shape = amp_upgrade_shape(upgrade, 0);
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, 0);
    uint32_t input = amp_upgrade_input(upgrade, 0), dims;

    if (amp_shape_is_known(&shape))
        dims = amp_upgrade_add_ints(upgrade, "dims", shape.dims, (size_t)shape.rank);
    else
        dims = amp_upgrade_add_node_before(upgrade, "Shape", input, AMP_NONE, AMP_INT64);
    uint32_t flat = amp_upgrade_add_node_before(upgrade, "Flatten", input, AMP_NONE, dtype);
    amp_node_set_int(upgrade->model, amp_value_at(upgrade->model, flat)->producer, "axis", axis);
    amp_upgrade_set_input(upgrade, 0, flat);
    amp_upgrade_add_node_after(upgrade, "Reshape", 0, dtype, dims);
}

/* Whether a graph other than the value's own gives it out: a branch may give what it captures. */
static bool is_given_out(const struct amp_model *model, uint32_t id)
{
    for (size_t g = 1; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            if (model->graphs[g].outputs.items[i] == id)
                return true;
    return amp_value_at(model, id)->is_output;
}

bool amp_upgrade_is_used(const struct amp_upgrade *upgrade, uint32_t index)
{
    const struct amp_model *model = upgrade->model;
    const struct amp_node *node = amp_upgrade_node(upgrade);
    uint32_t id = index < node->n_outputs ? node->outputs[index] : AMP_NONE;

    if (id == AMP_NONE || is_given_out(model, id))
        return id != AMP_NONE;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (uint32_t i = 0; !model->nodes[n].is_removed && i < model->nodes[n].n_inputs; i++)
            if (model->nodes[n].inputs[i] == id)
                return true;
    return false;
}

void amp_upgrade_trim_outputs(struct amp_upgrade *upgrade, uint32_t count)
{
    struct amp_node *node = amp_upgrade_node(upgrade);

    for (uint32_t i = count; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            amp_value_at(upgrade->model, node->outputs[i])->producer = AMP_NONE;
    if (node->n_outputs > count)
        node->n_outputs = count;
}

void amp_upgrade_set_string(struct amp_upgrade *upgrade, const char *name, const char *value)
{
    struct amp_str *text = amp_arena_alloc(upgrade->model->arena, sizeof *text);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_STRING, .count = 1};

    *text = (struct amp_str){value, strlen(value)};
    attr.strings = text;
    amp_node_set_attr(upgrade->model, upgrade->node, attr);
}

void amp_upgrade_set_float(struct amp_upgrade *upgrade, const char *name, float value)
{
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_FLOAT, .count = 1};

    attr.floats = amp_arena_memdup(upgrade->model->arena, &value, sizeof value);
    amp_node_set_attr(upgrade->model, upgrade->node, attr);
}

void amp_upgrade_drop_attr(struct amp_upgrade *upgrade, const char *name)
{
    amp_node_remove_attr(upgrade->model, upgrade->node, name);
}
