/* Types of values as ONNX's text has them, and values with their types. What the notation has no
   place for (denotations, doc strings) follows as @{fields}. */
#include "type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "tensor.h"

/* ---- writing ---- */

static void put_dim(struct buffer *buffer, const Onnx__TensorShapeProto__Dimension *dim)
{
    Onnx__TensorShapeProto__Dimension rest = *dim;
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
        put_format(buffer, "%lld", (long long)dim->dim_value);
    } else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
        put_name(buffer, dim->dim_param);
    } else {
        put(buffer, "?");
    }
    rest.value_case = 0;
    put_rest(buffer, &rest.base);
}

static void put_shaped(struct buffer *buffer, bool has_type, int type,
                       const Onnx__TensorShapeProto *shape)
{
    put_element_type(buffer, has_type, type);
    if (!shape) {
        put(buffer, "[]");
        return;
    }
    for (size_t i = 0; i < shape->n_dim; i++) {
        put(buffer, i ? "," : "[");
        put_dim(buffer, shape->dim[i]);
    }
    put(buffer, shape->n_dim ? "]" : "");
}

/* WORD and the type in it, which may be absent. */
static void put_around(struct buffer *buffer, const char *word, const Onnx__TypeProto *type)
{
    put_format(buffer, "%s(", word);
    if (type) {
        put_type(buffer, type);
    }
    put(buffer, ")");
}

static void put_map(struct buffer *buffer, const Onnx__TypeProto__Map *map)
{
    put(buffer, "map(");
    put_element_type(buffer, map->has_key_type, map->key_type);
    put(buffer, ", ");
    if (map->value_type) {
        put_type(buffer, map->value_type);
    }
    put(buffer, ")");
}

void put_type(struct buffer *buffer, const Onnx__TypeProto *type)
{
    Onnx__TypeProto rest = *type;
    rest.value_case = 0;
    if (type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
        put_shaped(buffer, type->tensor_type->has_elem_type, type->tensor_type->elem_type,
                   type->tensor_type->shape);
    } else if (type->value_case == ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE) {
        const Onnx__TypeProto__SparseTensor *sparse = type->sparse_tensor_type;
        put(buffer, "sparse_tensor(");
        put_shaped(buffer, sparse->has_elem_type, sparse->elem_type, sparse->shape);
        put(buffer, ")");
    } else if (type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE) {
        put_around(buffer, "seq", type->sequence_type->elem_type);
    } else if (type->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE) {
        put_around(buffer, "optional", type->optional_type->elem_type);
    } else if (type->value_case == ONNX__TYPE_PROTO__VALUE_MAP_TYPE) {
        put_map(buffer, type->map_type);
    } else {
        put(buffer, "any");
    }
    put_rest(buffer, &rest.base);
}

void put_value_info(struct buffer *buffer, const Onnx__ValueInfoProto *value)
{
    Onnx__ValueInfoProto rest = *value;
    if (value->type) {
        put_type(buffer, value->type);
        put(buffer, value->name ? " " : "");
    }
    if (value->name) {
        put_name(buffer, value->name);
    }
    rest.type = NULL;
    rest.name = NULL;
    put_rest(buffer, &rest.base);
}

/* ---- reading ---- */

static Onnx__TensorShapeProto__Dimension *read_dim(struct lexer *lexer)
{
    Onnx__TensorShapeProto__Dimension *dim =
        new_message(&onnx__tensor_shape_proto__dimension__descriptor);
    if (is_name_next(lexer)) {
        dim->dim_param = read_name(lexer);
        dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    } else if (!accept(lexer, "?")) {
        dim->dim_value = read_integer(lexer);
        dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    }
    read_rest(lexer, &dim->base);
    return dim;
}

/* The shape behind an element type; NULL for []. */
static Onnx__TensorShapeProto *read_shape(struct lexer *lexer)
{
    Onnx__TensorShapeProto *shape = new_message(&onnx__tensor_shape_proto__descriptor);
    if (!accept(lexer, "[")) {
        return shape;
    }
    while (!accept(lexer, "]")) {
        add_item(&shape->dim, &shape->n_dim, read_dim(lexer));
        accept(lexer, ",");
    }
    return shape->n_dim ? shape : NULL;
}

static bool accept_tensor_type(struct lexer *lexer, Onnx__TypeProto *type)
{
    bool has_type;
    int number;
    if (!accept_element_type(lexer, &has_type, &number)) {
        return false;
    }
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = new_message(&onnx__type_proto__tensor__descriptor);
    type->tensor_type->has_elem_type = has_type;
    type->tensor_type->elem_type = number;
    type->tensor_type->shape = read_shape(lexer);
    return true;
}

static void read_sparse(struct lexer *lexer, Onnx__TypeProto *type)
{
    Onnx__TypeProto dense = ONNX__TYPE_PROTO__INIT;
    if (!accept_tensor_type(lexer, &dense)) {
        fail_at(lexer, "a sparse tensor has an element type");
    }
    type->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
    type->sparse_tensor_type = new_message(&onnx__type_proto__sparse_tensor__descriptor);
    type->sparse_tensor_type->has_elem_type = dense.tensor_type->has_elem_type;
    type->sparse_tensor_type->elem_type = dense.tensor_type->elem_type;
    type->sparse_tensor_type->shape = dense.tensor_type->shape;
}

static void read_map(struct lexer *lexer, Onnx__TypeProto *type)
{
    bool has_type;
    int number;
    if (!accept_element_type(lexer, &has_type, &number)) {
        fail_at(lexer, "a map has a type of keys");
    }
    type->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
    type->map_type = new_message(&onnx__type_proto__map__descriptor);
    type->map_type->has_key_type = has_type;
    type->map_type->key_type = number;
    expect(lexer, ",");
    type->map_type->value_type = accept_type(lexer);
}

/* What stands in the parentheses behind WORD. */
static void read_compound(struct lexer *lexer, const char *word, Onnx__TypeProto *type)
{
    expect(lexer, "(");
    if (!strcmp(word, "map")) {
        read_map(lexer, type);
    } else if (!strcmp(word, "sparse_tensor")) {
        read_sparse(lexer, type);
    } else if (!strcmp(word, "seq")) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        type->sequence_type = new_message(&onnx__type_proto__sequence__descriptor);
        type->sequence_type->elem_type = accept_type(lexer);
    } else {
        type->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        type->optional_type = new_message(&onnx__type_proto__optional__descriptor);
        type->optional_type->elem_type = accept_type(lexer);
    }
    expect(lexer, ")");
}

Onnx__TypeProto *accept_type(struct lexer *lexer)
{
    static const char *const words[] = {"seq", "optional", "map", "sparse_tensor"};
    Onnx__TypeProto *type = new_message(&onnx__type_proto__descriptor);
    bool is_there = accept_tensor_type(lexer, type) || accept_word(lexer, "any");
    for (size_t i = 0; !is_there && i < sizeof words / sizeof *words; i++) {
        is_there = accept_word(lexer, words[i]);
        if (is_there) {
            read_compound(lexer, words[i], type);
        }
    }
    if (!is_there) {
        free(type);
        return NULL;
    }
    read_rest(lexer, &type->base);
    return type;
}

Onnx__ValueInfoProto *read_value_info(struct lexer *lexer)
{
    Onnx__ValueInfoProto *value = new_message(&onnx__value_info_proto__descriptor);
    value->type = accept_type(lexer);
    value->name = is_name_next(lexer) ? read_name(lexer) : NULL;
    read_rest(lexer, &value->base);
    return value;
}
