/*
 * Constant nodes: gives their output the tensor that one of the attributes value, sparse_value,
 * value_float, value_ints ... holds. Takes a node whose attributes are read.
 */
#include "onnx/file/constant_node.h"

#include "core/tensor.h"
#include "ops/op.h"

#include <string.h>

/* A tensor over the items of an attribute: a scalar for a single value, else rank 1. */
static struct amp_tensor *tensor_of(struct amp_arena *arena, enum amp_dtype dtype,
                                    const void *items, size_t count, bool is_list)
{
    struct amp_tensor *tensor = amp_arena_alloc(arena, sizeof *tensor);
    size_t size = count * (amp_dtype_bits(dtype) / 8);
    tensor->dtype = dtype;
    tensor->shape.rank = is_list ? 1 : 0;
    tensor->shape.dims[0] = (int64_t)count;
    tensor->data = amp_arena_memdup(arena, items, size);
    return tensor;
}

/* The tensor that ATTR of a Constant holds; NULL when it is no value. */
static struct amp_tensor *constant_of(struct amp_arena *arena, const struct amp_attr *attr)
{
    if (strcmp(attr->name, "value") == 0 || strcmp(attr->name, "sparse_value") == 0)
        return attr->type == AMP_ATTR_TENSOR || attr->type == AMP_ATTR_SPARSE_TENSOR
                   ? attr->tensors[0]
                   : NULL;
    if (strncmp(attr->name, "value_", 6) != 0)
        return NULL;
    enum amp_attr_type type = attr->type;
    if (type == AMP_ATTR_FLOAT || type == AMP_ATTR_FLOATS)
        return tensor_of(arena, AMP_FLOAT, attr->floats, attr->count, type == AMP_ATTR_FLOATS);
    if (type == AMP_ATTR_INT || type == AMP_ATTR_INTS)
        return tensor_of(arena, AMP_INT64, attr->ints, attr->count, type == AMP_ATTR_INTS);
    if (type == AMP_ATTR_STRING || type == AMP_ATTR_STRINGS)
        return tensor_of(arena, AMP_STRING, attr->strings, attr->count, type == AMP_ATTR_STRINGS);
    return NULL;
}

void amp_constant_node_read(struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    if (!amp_node_has_role(node, AMP_ROLE_CONSTANT) || node->n_outputs != 1 ||
        node->outputs[0] == AMP_NONE)
        return;
    struct amp_tensor *tensor = NULL;
    for (uint32_t i = 0; i < node->n_attrs && tensor == NULL; i++)
        tensor = constant_of(model->arena, &node->attrs[i]);
    if (tensor == NULL)
        return;
    struct amp_value *value = amp_value_at(model, node->outputs[0]);
    value->constant = tensor;
    value->kind = AMP_KIND_TENSOR;
    value->dtype = tensor->dtype;
    amp_value_set_shape(model, node->outputs[0], &tensor->shape);
}
