/*
 * What adapters do to a node and its surroundings: inputs from attributes, constants, nodes before
 * and after it. Everything goes through core/graph/graph.h; nothing here knows an operator.
 */
#include "onnx/opset/upgrade.h"

#include <string.h>

#include "onnx/schema/schema.h"

struct amp_node *amp_step_node(const struct amp_step *step)
{
    return amp_node_at(step->model, step->node);
}

uint32_t amp_step_input(const struct amp_step *step, uint32_t slot)
{
    const struct amp_node *node = amp_step_node(step);

    return slot < node->n_inputs ? node->inputs[slot] : AMP_NONE;
}

void amp_step_set_input(struct amp_step *step, uint32_t slot, uint32_t value)
{
    amp_node_grow_inputs(step->model, step->node, slot + 1);
    amp_step_node(step)->inputs[slot] = value;
}

bool amp_step_is_float(enum amp_dtype dtype)
{
    return dtype == AMP_DOUBLE || amp_dtype_is_autocast(dtype);
}

enum amp_dtype amp_step_dtype(const struct amp_step *step, uint32_t slot)
{
    uint32_t id = amp_step_input(step, slot);

    return id == AMP_NONE ? AMP_UNDEFINED : amp_value_at(step->model, id)->dtype;
}

struct amp_shape amp_step_shape(const struct amp_step *step, uint32_t slot)
{
    struct amp_shape shape = {.rank = -1};
    uint32_t id = amp_step_input(step, slot);

    if (id != AMP_NONE)
        amp_value_shape(amp_value_at(step->model, id), &shape);
    return shape;
}

const struct amp_tensor *amp_step_constant(const struct amp_step *step, uint32_t slot)
{
    uint32_t id = amp_step_input(step, slot);

    return id == AMP_NONE ? NULL : amp_value_at(step->model, id)->constant;
}

const char *amp_step_name(struct amp_step *step, const char *what)
{
    const struct amp_node *node = amp_step_node(step);
    const char *base = node->name;

    for (uint32_t i = 0; base[0] == '\0' && i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            base = amp_value_at(step->model, node->outputs[i])->name;
    return amp_model_unique_name(step->model,
                                 amp_arena_printf(step->model->arena, "%s_%s", base, what));
}

static struct amp_tensor *new_tensor(struct amp_step *step, enum amp_dtype dtype, int rank,
                                     size_t count)
{
    struct amp_tensor *tensor = amp_arena_alloc(step->model->arena, sizeof *tensor);

    tensor->dtype = dtype;
    tensor->shape = (struct amp_shape){.rank = rank, .dims = {(int64_t)count}};
    tensor->data = amp_arena_array(step->model->arena, count, amp_dtype_bits(dtype) / 8);
    return tensor;
}

static uint32_t add_initializer(struct amp_step *step, const char *what, struct amp_tensor *tensor)
{
    uint32_t graph = amp_step_node(step)->graph;

    return amp_graph_add_initializer(step->model, graph, amp_step_name(step, what), tensor);
}

uint32_t amp_step_ints(struct amp_step *step, const char *what, const int64_t *items, size_t count)
{
    struct amp_tensor *tensor = new_tensor(step, AMP_INT64, 1, count);

    if (count > 0)
        memcpy(tensor->data, items, count * sizeof *items);
    return add_initializer(step, what, tensor);
}

uint32_t amp_step_int(struct amp_step *step, const char *what, int64_t value)
{
    struct amp_tensor *tensor = new_tensor(step, AMP_INT64, 0, 1);

    *(int64_t *)tensor->data = value;
    return add_initializer(step, what, tensor);
}

uint32_t amp_step_floats(struct amp_step *step, const char *what, enum amp_dtype dtype,
                         const float *items, size_t count)
{
    struct amp_tensor *tensor = new_tensor(step, dtype, 1, count);

    for (size_t i = 0; i < count; i++)
        amp_tensor_set_double(tensor, i, (double)items[i]);
    return add_initializer(step, what, tensor);
}

uint32_t amp_step_float(struct amp_step *step, const char *what, enum amp_dtype dtype, float value)
{
    struct amp_tensor *tensor = new_tensor(step, dtype, 0, 1);

    amp_tensor_set_double(tensor, 0, (double)value);
    return add_initializer(step, what, tensor);
}

uint32_t amp_step_reshaped(struct amp_step *step, const char *what, const struct amp_tensor *tensor,
                           const struct amp_shape *shape)
{
    struct amp_tensor *copy = amp_arena_alloc(step->model->arena, sizeof *copy);

    *copy = (struct amp_tensor){.dtype = tensor->dtype, .shape = *shape, .data = tensor->data};
    return add_initializer(step, what, copy);
}

uint32_t amp_step_repeated(struct amp_step *step, const char *what, const struct amp_tensor *tensor,
                           int64_t times)
{
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    struct amp_tensor *repeated = new_tensor(step, tensor->dtype, 1, count * (size_t)times);
    const char *from = tensor->data;
    char *to = repeated->data;

    for (size_t i = 0; i < count; i++)
        for (int64_t k = 0; k < times; k++, to += width)
            memcpy(to, from + i * width, width);
    return add_initializer(step, what, repeated);
}

void amp_step_ints_to_input(struct amp_step *step, const char *name, uint32_t slot)
{
    size_t count;
    const int64_t *items = amp_node_ints(amp_step_node(step), name, &count);

    if (items != NULL)
        amp_step_set_input(step, slot, amp_step_ints(step, name, items, count));
    amp_step_drop_attr(step, name);
}

static uint32_t new_value(struct amp_step *step, const char *what, enum amp_dtype dtype)
{
    uint32_t id =
        amp_graph_add_value(step->model, amp_step_node(step)->graph, amp_step_name(step, what));
    struct amp_value *value = amp_value_at(step->model, id);

    value->kind = AMP_KIND_TENSOR;
    value->dtype = dtype;
    return id;
}

static uint32_t add_node(struct amp_step *step, const char *op_type, uint32_t first,
                         uint32_t second)
{
    const char *name = amp_step_name(step, op_type);
    uint32_t n_inputs = second == AMP_NONE ? 1 : 2;
    uint32_t id = amp_graph_add_node(step->model, amp_step_node(step)->graph, op_type, n_inputs, 1);
    struct amp_node *node = amp_node_at(step->model, id);

    node->name = name;
    node->schema = amp_schema_find("", op_type, step->version);
    node->since_version = node->schema->since_version;
    node->inputs[0] = first;
    if (second != AMP_NONE)
        node->inputs[1] = second;
    return id;
}

uint32_t amp_step_add_before(struct amp_step *step, const char *op_type, uint32_t first,
                             uint32_t second, enum amp_dtype dtype)
{
    uint32_t output = new_value(step, op_type, dtype);
    uint32_t id = add_node(step, op_type, first, second);

    amp_node_set_output(step->model, id, 0, output);
    return output;
}

uint32_t amp_step_add_after(struct amp_step *step, const char *op_type, uint32_t slot,
                            enum amp_dtype dtype, uint32_t second)
{
    uint32_t value = amp_step_node(step)->outputs[slot];
    uint32_t before = new_value(step, op_type, dtype);
    uint32_t id = add_node(step, op_type, before, second);

    amp_node_set_output(step->model, step->node, slot, before);
    amp_node_set_output(step->model, id, 0, value);
    return id;
}

void amp_step_flatten(struct amp_step *step, int64_t axis)
{
    struct amp_shape shape = amp_step_shape(step, 0);
    enum amp_dtype dtype = amp_step_dtype(step, 0);
    uint32_t input = amp_step_input(step, 0), dims;

    if (amp_shape_is_known(&shape))
        dims = amp_step_ints(step, "dims", shape.dims, (size_t)shape.rank);
    else
        dims = amp_step_add_before(step, "Shape", input, AMP_NONE, AMP_INT64);
    uint32_t flat = amp_step_add_before(step, "Flatten", input, AMP_NONE, dtype);
    amp_node_set_int(step->model, amp_value_at(step->model, flat)->producer, "axis", axis);
    amp_step_set_input(step, 0, flat);
    amp_step_add_after(step, "Reshape", 0, dtype, dims);
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

bool amp_step_is_used(const struct amp_step *step, uint32_t slot)
{
    const struct amp_model *model = step->model;
    const struct amp_node *node = amp_step_node(step);
    uint32_t id = slot < node->n_outputs ? node->outputs[slot] : AMP_NONE;

    if (id == AMP_NONE || is_given_out(model, id))
        return id != AMP_NONE;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (uint32_t i = 0; !model->nodes[n].is_removed && i < model->nodes[n].n_inputs; i++)
            if (model->nodes[n].inputs[i] == id)
                return true;
    return false;
}

void amp_step_trim_outputs(struct amp_step *step, uint32_t count)
{
    struct amp_node *node = amp_step_node(step);

    for (uint32_t i = count; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            amp_value_at(step->model, node->outputs[i])->producer = AMP_NONE;
    if (node->n_outputs > count)
        node->n_outputs = count;
}

void amp_step_set_string(struct amp_step *step, const char *name, const char *value)
{
    struct amp_str *text = amp_arena_alloc(step->model->arena, sizeof *text);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_STRING, .count = 1};

    *text = (struct amp_str){value, strlen(value)};
    attr.strings = text;
    amp_node_set_attr(step->model, step->node, attr);
}

void amp_step_set_float(struct amp_step *step, const char *name, float value)
{
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_FLOAT, .count = 1};

    attr.floats = amp_arena_memdup(step->model->arena, &value, sizeof value);
    amp_node_set_attr(step->model, step->node, attr);
}

void amp_step_drop_attr(struct amp_step *step, const char *name)
{
    amp_node_remove_attr(step->model, step->node, name);
}
