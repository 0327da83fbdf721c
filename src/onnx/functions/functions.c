/*
 * Model-local functions: takes the message of a model, decides which functions are inlined, has
 * function_call.c replace their calls, and drops those that nobody calls any more. Works on names,
 * before the graph is read, so that all later stages see plain operators.
 */
#include "onnx/functions/functions.h"

#include "core/dtype.h"
#include "onnx/functions/call.h"

#include <stdio.h>
#include <string.h>

typedef enum amp_status visitor(struct amp_functions *functions, struct amp_function *caller,
                                const Onnx__NodeProto *node);

static const char *domain_of(const char *domain)
{
    return domain == NULL || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* The index of what each domain is imported with. As ever of two for one domain, the first counts.
 */
static void index_imports(struct amp_functions *functions, struct amp_strmap *map,
                          Onnx__OperatorSetIdProto *const *imports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!amp_strmap_get(map, domain_of(imports[i]->domain), NULL))
            amp_strmap_put(map, functions->arena, domain_of(imports[i]->domain), (uint32_t)i);
}

static int64_t imported(const struct amp_strmap *map, Onnx__OperatorSetIdProto *const *imports,
                        const char *domain)
{
    uint32_t index;
    return amp_strmap_get(map, domain_of(domain), &index) ? imports[index]->version : 0;
}

int64_t amp_function_opset(const struct amp_functions *functions, const struct amp_function *caller,
                           const char *domain)
{
    int64_t version = 0;
    if (caller != NULL && caller->proto != NULL)
        version = imported(&caller->imports, caller->proto->opset_import, domain);
    return version ? version
                   : imported(&functions->imports, functions->model->opset_import, domain);
}

const struct amp_schema *amp_function_schema(const struct amp_functions *functions,
                                             const struct amp_function *caller,
                                             const Onnx__NodeProto *node)
{
    int64_t version = amp_function_opset(functions, caller, node->domain);
    return amp_schema_find(domain_of(node->domain), text_or_empty(node->op_type), (int)version);
}

/* What ONNX identifies a function by, until the next is asked for. */
static const char *key_of(struct amp_functions *functions, const char *domain, const char *name,
                          const char *overload)
{
    const char *parts[] = {domain_of(domain), text_or_empty(name), text_or_empty(overload)};
    size_t size = strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) + sizeof "\n\n";
    if (size > functions->key_size) {
        functions->key_size = 2 * size;
        functions->key = amp_arena_alloc(functions->arena, functions->key_size);
    }
    snprintf(functions->key, size, "%s\n%s\n%s", parts[0], parts[1], parts[2]);
    return functions->key;
}

struct amp_function *amp_function_called(struct amp_functions *functions,
                                         const struct amp_function *caller,
                                         const Onnx__NodeProto *node)
{
    uint32_t id;
    if (node->op_type == NULL)
        return NULL;
    const char *key = key_of(functions, node->domain, node->op_type, node->overload);
    if (!amp_strmap_get(&functions->ids, key, &id) ||
        amp_function_schema(functions, caller, node) != NULL)
        return NULL;
    return &functions->items[id];
}

static enum amp_status index_functions(struct amp_functions *functions)
{
    struct amp_arena *arena = functions->arena;
    functions->count = functions->model->n_functions;
    functions->items = amp_arena_array(arena, functions->count, sizeof *functions->items);
    functions->needed = amp_arena_array(arena, functions->count, sizeof(struct amp_function *));
    functions->imports_capacity = functions->model->n_opset_import;
    index_imports(functions, &functions->imports, functions->model->opset_import,
                  functions->model->n_opset_import);
    for (size_t i = 0; i < functions->count; i++) {
        Onnx__FunctionProto *proto = functions->model->functions[i];
        const char *key =
            amp_arena_strdup(arena, key_of(functions, proto->domain, proto->name, proto->overload));
        const char *overload = text_or_empty(proto->overload), *domain = domain_of(proto->domain);
        functions->items[i].proto = proto;
        index_imports(functions, &functions->items[i].imports, proto->opset_import,
                      proto->n_opset_import);
        functions->items[i].text =
            amp_arena_printf(arena, "%s%s%s%s%s", domain, domain[0] ? "." : "",
                             text_or_empty(proto->name), overload[0] ? ":" : "", overload);
        if (amp_strmap_get(&functions->ids, key, NULL))
            return amp_fail(functions->err, AMP_MODEL, "function '%s' is defined twice",
                            functions->items[i].text);
        amp_strmap_put(&functions->ids, arena, key, (uint32_t)i);
    }
    return AMP_OK;
}

/* Calls VISIT for the nodes and for those of the graphs that they hold. */
static enum amp_status walk(struct amp_functions *functions, struct amp_function *caller,
                            Onnx__NodeProto *const *nodes, size_t count, visitor *visit)
{
    for (size_t i = 0; i < count; i++) {
        AMP_TRY(visit(functions, caller, nodes[i]));
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            const Onnx__AttributeProto *attr = nodes[i]->attribute[a];
            if (attr->g != NULL)
                AMP_TRY(walk(functions, caller, attr->g->node, attr->g->n_node, visit));
            for (size_t g = 0; g < attr->n_graphs; g++)
                AMP_TRY(
                    walk(functions, caller, attr->graphs[g]->node, attr->graphs[g]->n_node, visit));
        }
    }
    return AMP_OK;
}

/* Whether a conversion could change a node of SCHEMA: its dtype, or its definition when the model's
   opset goes up. */
static bool is_changeable(const struct amp_schema *schema)
{
    const struct amp_schema *next = amp_schema_next(schema);
    if (next != NULL && next->since_version <= amp_schema_released_opset())
        return true;
    for (uint8_t i = 0; i < schema->n_types; i++) {
        const struct amp_schema_type *type = &schema->types[i];
        uint32_t dtypes =
            type->tensors | type->sequences | type->optionals | type->optional_sequences;
        if (dtypes & AMP_DTYPE_BIT(AMP_FLOAT))
            return true;
    }
    return false;
}

static enum amp_status look_into(struct amp_functions *functions, struct amp_function *function);

static size_t count_graph_parts(const Onnx__GraphProto *graph)
{
    return graph->n_input + graph->n_output + graph->n_initializer + graph->n_sparse_initializer +
           graph->n_value_info;
}

/* What a copy of NODE has to name or to read, but for the nodes of its graphs. */
static size_t count_parts(const Onnx__NodeProto *node)
{
    size_t count = node->n_input + node->n_output + node->n_attribute;
    bool is_constant = strcmp(text_or_empty(node->op_type), "Constant") == 0;
    for (size_t i = 0; i < node->n_attribute && !is_constant; i++) {
        const Onnx__AttributeProto *attr = node->attribute[i];
        count += attr->n_strings + attr->n_tensors + attr->n_sparse_tensors;
        if (attr->g != NULL)
            count += count_graph_parts(attr->g);
        for (size_t g = 0; g < attr->n_graphs; g++)
            count += count_graph_parts(attr->graphs[g]);
    }
    return count;
}

/* Adds to what the calls in CALLER become; a sum that is too large stays just that. */
static void add_counts(struct amp_function *caller, size_t n_nodes, size_t n_parts)
{
    caller->n_nodes += n_nodes;
    if (caller->n_nodes > AMP_FUNCTION_NODES_MAX)
        caller->n_nodes = AMP_FUNCTION_NODES_MAX + 1;
    caller->n_parts += n_parts;
    if (caller->n_parts > AMP_FUNCTION_PARTS_MAX)
        caller->n_parts = AMP_FUNCTION_PARTS_MAX + 1;
}

/* Adds NODE to what is known of CALLER. */
static enum amp_status classify_node(struct amp_functions *functions, struct amp_function *caller,
                                     const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_called(functions, caller, node);
    const struct amp_schema *schema = amp_function_schema(functions, caller, node);
    caller->is_inlined |= schema != NULL && is_changeable(schema);
    if (called != NULL)
        AMP_TRY(look_into(functions, called));
    if (called != NULL && called->is_inlined) {
        caller->is_inlined = true;
        add_counts(caller, called->n_nodes, called->n_parts);
    } else {
        add_counts(caller, 1, count_parts(node));
    }
    return AMP_OK;
}

static enum amp_status look_into(struct amp_functions *functions, struct amp_function *function)
{
    if (function->visit == AMP_VISIT_DONE)
        return AMP_OK;
    if (function->visit == AMP_VISIT_OPEN)
        return amp_fail(functions->err, AMP_MODEL, "function '%s' calls itself", function->text);
    if (functions->depth == AMP_FUNCTION_DEPTH_MAX)
        return amp_fail(functions->err, AMP_MODEL, "function '%s': calls nested more than %d deep",
                        function->text, AMP_FUNCTION_DEPTH_MAX);
    function->visit = AMP_VISIT_OPEN;
    function->is_inlined = functions->all;
    function->n_nodes = 1 + function->proto->n_output;
    function->n_parts =
        function->proto->n_input + function->proto->n_output + function->proto->n_value_info;
    functions->depth++;
    AMP_TRY(
        walk(functions, function, function->proto->node, function->proto->n_node, classify_node));
    functions->depth--;
    function->visit = AMP_VISIT_DONE;
    return AMP_OK;
}

/* Looks into the function that NODE of a graph calls. GRAPHS stands for all graphs: it counts what
   the calls become. */
static enum amp_status count_call(struct amp_functions *functions, struct amp_function *graphs,
                                  const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_called(functions, NULL, node);
    if (called == NULL)
        return AMP_OK;
    AMP_TRY(look_into(functions, called));
    if (!called->is_inlined)
        return AMP_OK;
    graphs->is_inlined = true;
    add_counts(graphs, called->n_nodes, called->n_parts);
    if (graphs->n_nodes > AMP_FUNCTION_NODES_MAX)
        return amp_fail(functions->err, AMP_UNSUPPORTED,
                        "function '%s': the model's calls become more than %d nodes", called->text,
                        AMP_FUNCTION_NODES_MAX);
    if (graphs->n_parts > AMP_FUNCTION_PARTS_MAX)
        return amp_fail(functions->err, AMP_UNSUPPORTED,
                        "function '%s': the nodes that the model's calls become have more than %d "
                        "inputs, outputs and attributes",
                        called->text, AMP_FUNCTION_PARTS_MAX);
    return AMP_OK;
}

static void take(struct amp_functions *functions, const char *name)
{
    if (name != NULL && name[0] != '\0')
        amp_strmap_put(&functions->value_names, functions->arena, name, 0);
}

static void take_names(struct amp_functions *functions, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_input; i++)
        take(functions, graph->input[i]->name);
    for (size_t i = 0; i < graph->n_initializer; i++)
        take(functions, graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        if (graph->sparse_initializer[i]->values != NULL)
            take(functions, graph->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        if (node->name != NULL)
            amp_strmap_put(&functions->node_names, functions->arena, node->name, 0);
        for (size_t k = 0; k < node->n_output; k++)
            take(functions, node->output[k]);
        for (size_t a = 0; a < node->n_attribute; a++) {
            if (node->attribute[a]->g != NULL)
                take_names(functions, node->attribute[a]->g);
            for (size_t g = 0; g < node->attribute[a]->n_graphs; g++)
                take_names(functions, node->attribute[a]->graphs[g]);
        }
    }
}

static void need(struct amp_functions *functions, struct amp_function *function)
{
    if (function->is_needed)
        return;
    function->is_needed = true;
    functions->needed[functions->n_needed++] = function;
}

static enum amp_status need_called(struct amp_functions *functions, struct amp_function *caller,
                                   const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_called(functions, caller, node);
    if (called != NULL)
        need(functions, called);
    return AMP_OK;
}

/* Drops the functions that are neither needed nor called by one that is. */
static enum amp_status drop_others(struct amp_functions *functions)
{
    Onnx__ModelProto *model = functions->model;
    size_t kept = 0;
    for (size_t i = 0; i < functions->n_needed; i++) {
        const Onnx__FunctionProto *proto = functions->needed[i]->proto;
        AMP_TRY(walk(functions, functions->needed[i], proto->node, proto->n_node, need_called));
    }
    for (size_t i = 0; i < functions->count; i++)
        if (functions->items[i].is_needed)
            model->functions[kept++] = functions->items[i].proto;
    model->n_functions = kept;
    return AMP_OK;
}

enum amp_status amp_functions_inline(Onnx__ModelProto *model, bool all, struct amp_arena *arena,
                                     struct amp_error *err)
{
    struct amp_functions functions = {.model = model, .arena = arena, .err = err, .all = all};
    struct amp_function graphs = {.n_nodes = 0};
    Onnx__GraphProto *graph = model->graph;
    /* A model without imports is refused by whoever reads them: none may come from functions. */
    if (model->n_functions == 0 || model->n_opset_import == 0 || graph == NULL)
        return AMP_OK;
    AMP_TRY(index_functions(&functions));
    AMP_TRY(walk(&functions, &graphs, graph->node, graph->n_node, count_call));
    if (!graphs.is_inlined)
        return AMP_OK;
    take_names(&functions, graph);
    AMP_TRY(amp_function_calls_inline(&functions, graph));
    for (size_t i = 0; i < functions.count; i++)
        if (!functions.items[i].is_inlined)
            need(&functions, &functions.items[i]);
    return drop_others(&functions);
}

static enum amp_status compare_schemas(struct amp_functions *functions, struct amp_function *caller,
                                       const Onnx__NodeProto *node)
{
    bool is_imported = amp_function_opset(functions, NULL, node->domain) != 0;
    bool is_same =
        amp_function_schema(functions, caller, node) == amp_function_schema(functions, NULL, node);
    return is_same || !is_imported ? AMP_OK : AMP_UNSUPPORTED;
}

enum amp_status amp_functions_settle(Onnx__ModelProto *model, struct amp_arena *arena,
                                     struct amp_error *err)
{
    struct amp_functions functions = {.model = model, .arena = arena, .err = err};
    bool is_stale = false;
    if (model->n_functions == 0)
        return AMP_OK;
    AMP_TRY(index_functions(&functions));
    for (size_t i = 0; i < functions.count && !is_stale; i++) {
        struct amp_function *function = &functions.items[i];
        is_stale = walk(&functions, function, function->proto->node, function->proto->n_node,
                        compare_schemas) != AMP_OK;
    }
    if (!is_stale)
        return AMP_OK;
    AMP_TRY(walk(&functions, NULL, model->graph->node, model->graph->n_node, need_called));
    return drop_others(&functions);
}
