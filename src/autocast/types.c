/*
 * What the type variables of operators let nodes have. Takes nodes and their definitions in the
 * schema table, at the model's opset and newer ones; decides nothing.
 */
#include "autocast/types.h"

#include "autocast/custom.h"
#include "autocast/eligible.h"
#include "autocast/forms/einsum.h"
#include "onnx/schema/schema.h"

#include <string.h>

/* ID where PARAM, which describes it in SCHEMA, is of type variable TYPE; of a node without a
   definition, where it is a float; else AMP_NONE. */
static uint32_t typed(const struct amp_model *model, uint32_t id, int type,
                      const struct amp_schema *schema, const struct amp_schema_param *param)
{
    bool is_typed = type == AMP_TYPE_ALL_FLOATS
                        ? id != AMP_NONE && amp_custom_is_float(amp_value_at(model, id))
                        : amp_schema_shares(schema, type, param);
    return is_typed ? id : AMP_NONE;
}

/* The definition of NODE at the cap; NULL: it has none. */
static const struct amp_schema *schema_of(const struct amp_types *types,
                                          const struct amp_node *node)
{
    return node->schema != NULL ? amp_schema_at_cap(node, types->cap) : NULL;
}

uint32_t amp_typed_input(const struct amp_types *types, const struct amp_node *node, int type,
                         uint32_t i)
{
    const struct amp_schema *schema = schema_of(types, node);
    return typed(types->model, node->inputs[i], type, schema,
                 schema != NULL ? amp_schema_input(schema, i) : NULL);
}

uint32_t amp_typed_output(const struct amp_types *types, const struct amp_node *node, int type,
                          uint32_t i)
{
    const struct amp_schema *schema = schema_of(types, node);
    return typed(types->model, node->outputs[i], type, schema,
                 schema != NULL ? amp_schema_output(schema, i) : NULL);
}

bool amp_schema_takes(const struct amp_schema *schema, const char *variable, enum amp_dtype dtype)
{
    for (uint8_t i = 0; i < schema->n_types; i++)
        if (schema->types[i].name != NULL && strcmp(schema->types[i].name, variable) == 0)
            return (schema->types[i].tensors & AMP_DTYPE_BIT(dtype)) != 0;
    return false;
}

/* Whether SCHEMA, a definition of the node's operator, takes DTYPE for all inputs that are of type
   variable TYPE at the cap; variables may have other names here. */
static bool takes_inputs(const struct amp_types *types, const struct amp_node *node, int type,
                         const struct amp_schema *schema, enum amp_dtype dtype)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *input = amp_schema_input(schema, i);
        if (amp_typed_input(types, node, type, i) != AMP_NONE &&
            (input == NULL ||
             (amp_schema_type(schema, input)->tensors & AMP_DTYPE_BIT(dtype)) == 0))
            return false;
    }
    return true;
}

int amp_opset_for(const struct amp_types *types, const struct amp_node *node, int type,
                  enum amp_dtype dtype)
{
    int opset = (int)amp_model_opset(types->model, node->domain);
    if (type == AMP_TYPE_ALL_FLOATS)
        return (int)amp_model_opset(types->model, "");
    for (const struct amp_schema *s = node->schema; s != NULL; s = amp_schema_next(s))
        if (takes_inputs(types, node, type, s, dtype))
            return s->since_version > opset ? s->since_version : opset;
    return amp_einsum_opset(types->model, node, dtype);
}

int amp_opset_of_cast(enum amp_dtype dtype)
{
    const struct amp_schema *s = amp_schema_find("", "Cast", 1);
    while (!amp_schema_takes(s, "T2", dtype) || amp_schema_attr(s, "to")->type != AMP_ATTR_INT)
        s = amp_schema_next(s);
    return s->since_version;
}
