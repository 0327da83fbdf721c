/*
 * The operator table and the questions asked of it: lookup by domain, name and opset, IR versions,
 * near names. The table is sorted by domain, name and version, which is all this file relies on.
 * What two versions have in common is difference.c's matter.
 */
#include "onnx/schema/schema.h"

#include "core/array.h"
#include "core/graph/graph.h"
#include "core/words.h"
#include "ops/op.h"

#include <limits.h>
#include <string.h>

/* The newest opset of ai.onnx that came with an IR version. */
struct amp_schema_ir {
    int ir_version, opset;
};

#include "onnx/schema/schema_table.inc"

static const char *domain_key(const char *domain)
{
    return domain == NULL || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

/* Negative, 0 or positive as S stands before, at or after the given place in the table. */
static int place(const struct amp_schema *s, const char *domain, const char *name, int version)
{
    int order = strcmp(s->domain, domain);

    if (order == 0)
        order = strcmp(s->name, name);
    return order != 0 ? order : s->since_version - version;
}

/* The number of definitions that stand before the given place or at it. */
static size_t count_until(const char *domain, const char *name, int version)
{
    size_t low = 0, high = AMP_COUNT(schemas);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (place(&schemas[middle], domain, name, version) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct amp_schema *amp_schema_find(const char *domain, const char *op_type, int opset)
{
    const char *key = domain_key(domain);
    size_t count = count_until(key, op_type, opset);

    if (count == 0)
        return NULL;
    const struct amp_schema *found = &schemas[count - 1];
    return strcmp(found->domain, key) == 0 && strcmp(found->name, op_type) == 0 ? found : NULL;
}

const struct amp_schema *amp_schema_at(size_t index)
{
    return index < AMP_COUNT(schemas) ? &schemas[index] : NULL;
}

const struct amp_schema *amp_schema_next(const struct amp_schema *schema)
{
    const struct amp_schema *next = schema + 1;

    if (next == schemas + AMP_COUNT(schemas) || strcmp(next->name, schema->name) != 0 ||
        strcmp(next->domain, schema->domain) != 0)
        return NULL;
    return next;
}

bool amp_schema_is_partial(const char *domain)
{
    const char *key = domain_key(domain);

    return strcmp(key, "com.microsoft") == 0 || strcmp(key, "ai.onnx.preview") == 0;
}

int amp_schema_newest_opset(const char *domain)
{
    const char *key = domain_key(domain);
    int newest = 0;

    if (amp_schema_is_partial(key))
        return 0;
    for (size_t i = count_until(key, "", 0); i < AMP_COUNT(schemas); i++) {
        if (strcmp(schemas[i].domain, key) != 0)
            break;
        if (schemas[i].since_version > newest)
            newest = schemas[i].since_version;
    }
    /* A release may bring an opset in which no operator changed. */
    if (key[0] == '\0' && amp_schema_released_opset() > newest)
        newest = amp_schema_released_opset();
    return newest;
}

int amp_schema_released_opset(void)
{
    return ir_versions[AMP_COUNT(ir_versions) - 1].opset;
}

int amp_schema_ir_version(int opset)
{
    size_t i = 0;

    while (i < AMP_COUNT(ir_versions) - 1 && ir_versions[i].opset < opset)
        i++;
    return ir_versions[i].ir_version;
}

static const struct amp_schema_param *param_at(const struct amp_schema_param *list, size_t count,
                                               size_t i)
{
    if (i < count)
        return &list[i];
    if (count > 0 && list[count - 1].option == AMP_PARAM_VARIADIC)
        return &list[count - 1];
    return NULL;
}

const struct amp_schema_param *amp_schema_input(const struct amp_schema *schema, size_t i)
{
    return param_at(schema->inputs, schema->n_inputs, i);
}

const struct amp_schema_param *amp_schema_output(const struct amp_schema *schema, size_t i)
{
    return param_at(schema->outputs, schema->n_outputs, i);
}

const struct amp_schema_type *amp_schema_type(const struct amp_schema *schema,
                                              const struct amp_schema_param *param)
{
    return &schema->types[param->type];
}

static bool is_type(const struct amp_schema *schema, int type, const char *name)
{
    return schema->types[type].name != NULL && strcmp(schema->types[type].name, name) == 0;
}

bool amp_schema_shares(const struct amp_schema *schema, int type,
                       const struct amp_schema_param *param)
{
    if (param == NULL || type < 0)
        return false;
    if (param->type == type)
        return true;
    const struct amp_op *op = amp_op_find(schema->domain, schema->name);
    if (op == NULL || op->twins[0] == NULL)
        return false;
    return (is_type(schema, type, op->twins[0]) && is_type(schema, param->type, op->twins[1])) ||
           (is_type(schema, type, op->twins[1]) && is_type(schema, param->type, op->twins[0]));
}

const struct amp_schema_attr *amp_schema_attr(const struct amp_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->n_attrs; i++)
        if (strcmp(schema->attrs[i].name, name) == 0)
            return &schema->attrs[i];
    return NULL;
}

/* The name of definition INDEX; the first one's again for an operator that nobody is to use any
   more. NULL past the end. */
static const char *name_at(size_t index)
{
    if (index >= AMP_COUNT(schemas))
        return NULL;
    const struct amp_schema *schema = &schemas[index], *next;
    while ((next = amp_schema_next(schema)) != NULL)
        schema = next;
    return schema->deprecated ? schemas[0].name : schema->name;
}

void amp_node_change(struct amp_model *model, uint32_t node, const char *domain,
                     const char *op_type, int opset)
{
    struct amp_node *changed = amp_node_at(model, node);
    changed->domain = domain != NULL ? domain : "";
    changed->op_type = op_type;
    changed->schema = amp_schema_find(changed->domain, op_type, opset);
    changed->since_version = changed->schema->since_version;
}

void amp_node_become(struct amp_model *model, uint32_t node, const char *op_type, int opset)
{
    amp_node_at(model, node)->n_attrs = 0;
    amp_node_change(model, node, "", op_type, opset);
}

const char *amp_schema_nearest(const char *word)
{
    return amp_word_nearest_at(word, name_at);
}
