/*
 * Types of values as messages: TypeProto to kind, dtype and shape, and back. Symbolic dims become
 * negative numbers that the model has a name for. Types nested deeper than a sequence in an
 * optional are left unknown.
 */
#include "onnx/file/type_proto.h"

#include "core/tensor.h"
#include "ops/op.h"

static int64_t read_dim(struct amp_model *model, const Onnx__TensorShapeProto__Dimension *dim)
{
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
        return dim->dim_value < 0 ? AMP_DIM_UNKNOWN : dim->dim_value;
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
        dim->dim_param[0] != '\0')
        return amp_symbol_dim(model, dim->dim_param);
    return AMP_DIM_UNKNOWN;
}

static enum amp_status read_tensor_type(struct amp_reader *reader, int32_t elem_type,
                                        const Onnx__TensorShapeProto *dims, uint32_t id)
{
    struct amp_value *value = amp_value_at(reader->model, id);
    struct amp_shape shape = {.rank = -1};
    if (elem_type != AMP_UNDEFINED && !amp_dtype_is_valid(elem_type))
        return amp_fail(reader->err, AMP_MODEL,
                        "value '%s': unknown elem_type %d; 1 to %d are known", value->name,
                        elem_type, AMP_DTYPE_COUNT - 1);
    value->dtype = (enum amp_dtype)elem_type;
    if (dims != NULL) {
        if (dims->n_dim > AMP_RANK_MAX)
            return amp_fail(reader->err, AMP_MODEL, "value '%s': rank %zu; at most %d is supported",
                            value->name, dims->n_dim, AMP_RANK_MAX);
        shape.rank = (int)dims->n_dim;
        for (size_t i = 0; i < dims->n_dim; i++)
            shape.dims[i] = read_dim(reader->model, dims->dim[i]);
    }
    amp_value_set_shape(reader->model, id, &shape);
    return AMP_OK;
}

/* Value ID is of KIND, with elements of type ELEMENT; nothing is said where these are no tensors.
 */
static enum amp_status read_nested(struct amp_reader *reader, const Onnx__TypeProto *element,
                                   enum amp_kind kind, uint32_t id)
{
    if (element == NULL || element->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return AMP_OK;
    const Onnx__TypeProto__Tensor *tensor = element->tensor_type;
    amp_value_at(reader->model, id)->kind = kind;
    return read_tensor_type(reader, tensor->elem_type, tensor->shape, id);
}

enum amp_status amp_type_from_proto(struct amp_reader *reader, const Onnx__TypeProto *type,
                                    uint32_t id)
{
    struct amp_value *value = amp_value_at(reader->model, id);
    const Onnx__TypeProto *element;
    if (type == NULL)
        return AMP_OK;
    switch ((int)type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        return read_nested(reader, type, AMP_KIND_TENSOR, id);
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        value->kind = AMP_KIND_SPARSE_TENSOR;
        return read_tensor_type(reader, type->sparse_tensor_type->elem_type,
                                type->sparse_tensor_type->shape, id);
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        element = type->sequence_type->elem_type;
        if (element != NULL && element->value_case == ONNX__TYPE_PROTO__VALUE_MAP_TYPE)
            value->kind = AMP_KIND_MAP_SEQUENCE;
        return read_nested(reader, element, AMP_KIND_SEQUENCE, id);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        element = type->optional_type->elem_type;
        if (element != NULL && element->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE)
            return read_nested(reader, element->sequence_type->elem_type,
                               AMP_KIND_OPTIONAL_SEQUENCE, id);
        return read_nested(reader, element, AMP_KIND_OPTIONAL, id);
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        value->kind = AMP_KIND_MAP;
        return AMP_OK;
    default: /* not set, or newer than this onnx.proto */
        return AMP_OK;
    }
}

enum amp_status amp_type_of_optional(struct amp_reader *reader, uint32_t id)
{
    const struct amp_node *node = amp_node_at(reader->model, id);
    const struct amp_attr *attr = amp_node_attr(node, "type");
    if (!amp_node_has_role(node, AMP_ROLE_OPTIONAL) || node->n_outputs == 0 ||
        node->outputs[0] == AMP_NONE || (node->n_inputs > 0 && node->inputs[0] != AMP_NONE) ||
        attr == NULL || attr->type != AMP_ATTR_TYPE)
        return AMP_OK;
    const Onnx__TypeProto *type = ((const Onnx__AttributeProto *)attr->origin)->tp;
    uint32_t output = node->outputs[0];
    if (type == NULL)
        return AMP_OK;
    AMP_TRY(amp_type_from_proto(reader, type, output));
    struct amp_value *value = amp_value_at(reader->model, output);
    value->kind = value->kind == AMP_KIND_SEQUENCE ? AMP_KIND_OPTIONAL_SEQUENCE : AMP_KIND_OPTIONAL;
    return AMP_OK;
}

static Onnx__TensorShapeProto__Dimension *dim_to_proto(const struct amp_model *model, int64_t dim)
{
    Onnx__TensorShapeProto__Dimension *proto = amp_arena_alloc(model->arena, sizeof *proto);
    onnx__tensor_shape_proto__dimension__init(proto);
    const char *symbol = amp_dim_symbol(model, dim);
    if (dim >= 0) {
        proto->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        proto->dim_value = dim;
    } else if (symbol != NULL) {
        proto->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        proto->dim_param = amp_arena_strdup(model->arena, symbol);
    }
    return proto;
}

Onnx__TypeProto *amp_type_to_proto(const struct amp_model *model, const struct amp_value *value)
{
    struct amp_arena *arena = model->arena;
    Onnx__TypeProto *type = amp_arena_alloc(arena, sizeof *type);
    Onnx__TypeProto__Tensor *tensor = amp_arena_alloc(arena, sizeof *tensor);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = value->dtype;
    if (value->rank < 0)
        return type;
    tensor->shape = amp_arena_alloc(arena, sizeof *tensor->shape);
    onnx__tensor_shape_proto__init(tensor->shape);
    tensor->shape->n_dim = (size_t)value->rank;
    tensor->shape->dim =
        amp_arena_array(arena, tensor->shape->n_dim, sizeof(Onnx__TensorShapeProto__Dimension *));
    for (int i = 0; i < value->rank; i++)
        tensor->shape->dim[i] = dim_to_proto(model, value->dims[i]);
    return type;
}
