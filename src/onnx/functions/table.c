/*
 * The table of a model's local functions: who is called by a node, and with which opset. ONNX
 * identifies a function by domain, name and overload, and lets each import opsets of its own. Takes
 * the message of a model and changes nothing in it but the list of opset imports.
 */
#include "onnx/functions/table.h"

#include <stdio.h>
#include <string.h>

static const char *domain_of(const char *domain)
{
    return domain == NULL || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* Notes where each domain is imported. Of two imports of one domain the first counts. */
static void index_imports(struct amp_arena *arena, struct amp_strmap *map,
                          Onnx__OperatorSetIdProto *const *imports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!amp_strmap_get(map, domain_of(imports[i]->domain), NULL))
            amp_strmap_put(map, arena, domain_of(imports[i]->domain), (uint32_t)i);
}

static int64_t imported(const struct amp_strmap *map, Onnx__OperatorSetIdProto *const *imports,
                        const char *domain)
{
    uint32_t index;
    return amp_strmap_get(map, domain_of(domain), &index) ? imports[index]->version : 0;
}

int64_t amp_function_table_opset(const struct amp_function_table *table,
                                 const struct amp_function *caller, const char *domain)
{
    int64_t version = 0;
    if (caller != NULL)
        version = imported(&caller->imports, caller->proto->opset_import, domain);
    return version ? version : imported(&table->imports, table->model->opset_import, domain);
}

const struct amp_schema *amp_function_table_schema(const struct amp_function_table *table,
                                                   const struct amp_function *caller,
                                                   const Onnx__NodeProto *node)
{
    int64_t version = amp_function_table_opset(table, caller, node->domain);
    return amp_schema_find(domain_of(node->domain), text_or_empty(node->op_type), (int)version);
}

/* The key of a function in the table's ids; the text is the table's until the next is asked for. */
static const char *key_of(struct amp_function_table *table, const char *domain, const char *name,
                          const char *overload)
{
    const char *parts[] = {domain_of(domain), text_or_empty(name), text_or_empty(overload)};
    size_t size = strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) + sizeof "\n\n";
    if (size > table->key_size) {
        table->key_size = 2 * size;
        table->key = amp_arena_alloc(table->arena, table->key_size);
    }
    snprintf(table->key, size, "%s\n%s\n%s", parts[0], parts[1], parts[2]);
    return table->key;
}

struct amp_function *amp_function_table_called(struct amp_function_table *table,
                                               const struct amp_function *caller,
                                               const Onnx__NodeProto *node)
{
    uint32_t id;
    if (node->op_type == NULL)
        return NULL;
    const char *key = key_of(table, node->domain, node->op_type, node->overload);
    if (!amp_strmap_get(&table->ids, key, &id) ||
        amp_function_table_schema(table, caller, node) != NULL)
        return NULL;
    return &table->items[id];
}

/* Fills in function I of the model. */
static enum amp_status add_function(struct amp_function_table *table, size_t i)
{
    struct amp_function *function = &table->items[i];
    Onnx__FunctionProto *proto = table->model->functions[i];
    const char *overload = text_or_empty(proto->overload), *domain = domain_of(proto->domain);
    const char *key =
        amp_arena_strdup(table->arena, key_of(table, proto->domain, proto->name, proto->overload));
    function->proto = proto;
    function->text = amp_arena_printf(table->arena, "%s%s%s%s%s", domain, domain[0] ? "." : "",
                                      text_or_empty(proto->name), overload[0] ? ":" : "", overload);
    index_imports(table->arena, &function->imports, proto->opset_import, proto->n_opset_import);
    if (amp_strmap_get(&table->ids, key, NULL))
        return amp_fail(table->err, AMP_MODEL, "function '%s' is defined twice", function->text);
    amp_strmap_put(&table->ids, table->arena, key, (uint32_t)i);
    return AMP_OK;
}

enum amp_status amp_function_table_fill(struct amp_function_table *table)
{
    const Onnx__ModelProto *model = table->model;
    table->count = model->n_functions;
    table->items = amp_arena_array(table->arena, table->count, sizeof *table->items);
    table->imports_capacity = model->n_opset_import;
    index_imports(table->arena, &table->imports, model->opset_import, model->n_opset_import);
    for (size_t i = 0; i < table->count; i++)
        AMP_TRY(add_function(table, i));
    return AMP_OK;
}

void amp_function_table_import(struct amp_function_table *table, const char *domain,
                               int64_t version)
{
    Onnx__ModelProto *model = table->model;
    Onnx__OperatorSetIdProto *import = amp_arena_alloc(table->arena, sizeof *import);
    onnx__operator_set_id_proto__init(import);
    import->domain = amp_arena_strdup(table->arena, domain);
    import->has_version = true;
    import->version = version;
    Onnx__OperatorSetIdProto **last =
        amp_arena_push(table->arena, &model->opset_import, &model->n_opset_import,
                       &table->imports_capacity, sizeof(Onnx__OperatorSetIdProto *));
    *last = import;
    amp_strmap_put(&table->imports, table->arena, import->domain,
                   (uint32_t)(model->n_opset_import - 1));
}
