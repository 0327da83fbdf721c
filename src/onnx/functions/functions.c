/*
 * Model-local functions: takes the message of a model, decides which functions are inlined, has
 * their calls replaced (inline.c), and drops those that nobody calls any more. Works on the
 * message, before the graph is read, so that all later stages see plain operators.
 */
#include "onnx/functions/functions.h"

#include "core/array.h"
#include "core/dtype.h"
#include "onnx/functions/inline.h"
#include "onnx/functions/shared_constants.h"
#include "onnx/functions/table.h"

enum visit { VISIT_NONE, VISIT_OPEN, VISIT_DONE };

/* What is known of one function, or of all graphs of the model together. */
struct finding {
    enum visit visit; /* whether the body has been looked into */
    bool is_needed;   /* by a function that stays, or for itself */
    /* Once the calls within are inlined, with one for each output that an Identity may have to
       give, and one more so that empty bodies count; at most AMP_FUNCTION_NODES_MAX + 1. */
    size_t n_nodes;
    size_t n_parts; /* what hangs on those nodes, at most AMP_FUNCTION_PARTS_MAX + 1 */
};

struct decision {
    struct amp_function_table table;
    bool all;                     /* every function is inlined */
    int depth;                    /* of the calls that are being looked into */
    struct finding *findings;     /* per function of the table, and one for the graphs */
    struct amp_function **needed; /* functions that stay, in the order in which this was found */
    size_t n_needed;
};

/* What is done for a node in the body of CALLER (NULL: in a graph). */
typedef enum amp_status visitor(struct decision *decision, struct amp_function *caller,
                                const Onnx__NodeProto *node);

/* Fills DECISION, whose table has model, arena and err. */
static enum amp_status begin(struct decision *decision)
{
    struct amp_function_table *table = &decision->table;
    AMP_TRY(amp_function_table_fill(table));
    decision->findings =
        amp_arena_array(table->arena, table->count + 1, sizeof *decision->findings);
    decision->needed = amp_arena_array(table->arena, table->count, sizeof(struct amp_function *));
    return AMP_OK;
}

/* What is known of FUNCTION; NULL: of the graphs. */
static struct finding *finding_of(struct decision *decision, const struct amp_function *function)
{
    const struct amp_function_table *table = &decision->table;
    return &decision->findings[function != NULL ? (size_t)(function - table->items) : table->count];
}

/* Calls VISIT for the COUNT nodes at NODES and for those of the graphs that they hold. */
static enum amp_status walk(struct decision *decision, struct amp_function *caller,
                            Onnx__NodeProto *const *nodes, size_t count, visitor *visit)
{
    for (size_t i = 0; i < count; i++) {
        AMP_TRY(visit(decision, caller, nodes[i]));
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            const Onnx__AttributeProto *attr = nodes[i]->attribute[a];
            if (attr->g != NULL)
                AMP_TRY(walk(decision, caller, attr->g->node, attr->g->n_node, visit));
            for (size_t g = 0; g < attr->n_graphs; g++)
                AMP_TRY(
                    walk(decision, caller, attr->graphs[g]->node, attr->graphs[g]->n_node, visit));
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

/* Finds out whether FUNCTION is inlined, and what it becomes then. */
static enum amp_status look_into(struct decision *decision, struct amp_function *function);

static size_t count_graph_parts(const Onnx__GraphProto *graph)
{
    return graph->n_input + graph->n_output + graph->n_initializer + graph->n_sparse_initializer +
           graph->n_value_info;
}

/* What a copy of NODE has to name or to read, but for the nodes of its graphs. */
static size_t count_parts(const Onnx__NodeProto *node)
{
    size_t count = node->n_input + node->n_output + node->n_attribute;
    bool is_constant = amp_shared_constants_is_op(node->op_type);
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

/* Adds to what CALLER becomes; a sum that is too large stays just that. */
static void add_counts(struct finding *caller, size_t n_nodes, size_t n_parts)
{
    caller->n_nodes += n_nodes;
    if (caller->n_nodes > AMP_FUNCTION_NODES_MAX)
        caller->n_nodes = AMP_FUNCTION_NODES_MAX + 1;
    caller->n_parts += n_parts;
    if (caller->n_parts > AMP_FUNCTION_PARTS_MAX)
        caller->n_parts = AMP_FUNCTION_PARTS_MAX + 1;
}

/* Adds NODE to what is known of CALLER, a function. */
static enum amp_status classify_node(struct decision *decision, struct amp_function *caller,
                                     const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_table_called(&decision->table, caller, node);
    const struct amp_schema *schema = amp_function_table_schema(&decision->table, caller, node);
    struct finding *finding = finding_of(decision, caller);
    caller->is_inlined |= schema != NULL && is_changeable(schema);
    if (called != NULL)
        AMP_TRY(look_into(decision, called));
    if (called != NULL && called->is_inlined) {
        const struct finding *body = finding_of(decision, called);
        caller->is_inlined = true;
        add_counts(finding, body->n_nodes, body->n_parts);
    } else {
        add_counts(finding, 1, count_parts(node));
    }
    return AMP_OK;
}

static enum amp_status look_into(struct decision *decision, struct amp_function *function)
{
    struct amp_error *err = decision->table.err;
    struct finding *finding = finding_of(decision, function);
    const Onnx__FunctionProto *proto = function->proto;
    if (finding->visit == VISIT_DONE)
        return AMP_OK;
    if (finding->visit == VISIT_OPEN)
        return amp_fail(err, AMP_MODEL, "function '%s' calls itself", function->text);
    if (decision->depth == AMP_FUNCTION_DEPTH_MAX)
        return amp_fail(err, AMP_MODEL, "function '%s': calls nested more than %d deep",
                        function->text, AMP_FUNCTION_DEPTH_MAX);
    function->is_inlined = decision->all;
    finding->visit = VISIT_OPEN;
    finding->n_nodes = 1 + proto->n_output;
    finding->n_parts = proto->n_input + proto->n_output + proto->n_value_info;
    decision->depth++;
    AMP_TRY(walk(decision, function, proto->node, proto->n_node, classify_node));
    decision->depth--;
    finding->visit = VISIT_DONE;
    return AMP_OK;
}

/* Looks into the function that NODE of a graph calls, and counts what all such calls become. */
static enum amp_status count_call(struct decision *decision, struct amp_function *caller,
                                  const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_table_called(&decision->table, caller, node);
    struct finding *graphs = finding_of(decision, caller);
    if (called == NULL)
        return AMP_OK;
    AMP_TRY(look_into(decision, called));
    if (!called->is_inlined)
        return AMP_OK;
    add_counts(graphs, finding_of(decision, called)->n_nodes,
               finding_of(decision, called)->n_parts);
    if (graphs->n_nodes > AMP_FUNCTION_NODES_MAX)
        return amp_fail(decision->table.err, AMP_UNSUPPORTED,
                        "function '%s': the model's calls become more than %d nodes", called->text,
                        AMP_FUNCTION_NODES_MAX);
    if (graphs->n_parts > AMP_FUNCTION_PARTS_MAX)
        return amp_fail(decision->table.err, AMP_UNSUPPORTED,
                        "function '%s': the nodes that the model's calls become have more than %d "
                        "inputs, outputs and attributes",
                        called->text, AMP_FUNCTION_PARTS_MAX);
    return AMP_OK;
}

/* What a graph of training_info calls must stay, as calls in the main graph alone are replaced. */
static enum amp_status refuse_inlined(struct decision *decision, struct amp_function *caller,
                                      const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_table_called(&decision->table, caller, node);
    if (called == NULL)
        return AMP_OK;
    AMP_TRY(look_into(decision, called));
    if (!called->is_inlined)
        return AMP_OK;
    return amp_fail(decision->table.err, AMP_UNSUPPORTED,
                    "training_info: node '%s' calls function '%s', which holds operators that the "
                    "conversion may change; it replaces only calls in the main graph",
                    node->name != NULL ? node->name : "", called->text);
}

static enum amp_status walk_training(struct decision *decision, visitor *visit)
{
    const Onnx__ModelProto *model = decision->table.model;
    for (size_t i = 0; i < model->n_training_info; i++) {
        const Onnx__GraphProto *graphs[] = {model->training_info[i]->initialization,
                                            model->training_info[i]->algorithm};
        for (size_t g = 0; g < AMP_COUNT(graphs); g++)
            if (graphs[g] != NULL)
                AMP_TRY(walk(decision, NULL, graphs[g]->node, graphs[g]->n_node, visit));
    }
    return AMP_OK;
}

static void need(struct decision *decision, struct amp_function *function)
{
    struct finding *finding = finding_of(decision, function);
    if (finding->is_needed)
        return;
    finding->is_needed = true;
    decision->needed[decision->n_needed++] = function;
}

static enum amp_status need_called(struct decision *decision, struct amp_function *caller,
                                   const Onnx__NodeProto *node)
{
    struct amp_function *called = amp_function_table_called(&decision->table, caller, node);
    if (called != NULL)
        need(decision, called);
    return AMP_OK;
}

/* Drops the functions that are neither needed nor called by one that is. */
static enum amp_status drop_others(struct decision *decision)
{
    const struct amp_function_table *table = &decision->table;
    size_t kept = 0;
    for (size_t i = 0; i < decision->n_needed; i++) {
        const Onnx__FunctionProto *proto = decision->needed[i]->proto;
        AMP_TRY(walk(decision, decision->needed[i], proto->node, proto->n_node, need_called));
    }
    for (size_t i = 0; i < table->count; i++)
        if (decision->findings[i].is_needed)
            table->model->functions[kept++] = table->items[i].proto;
    table->model->n_functions = kept;
    return AMP_OK;
}

enum amp_status amp_functions_inline(Onnx__ModelProto *model, bool all, struct amp_arena *arena,
                                     struct amp_error *err)
{
    struct decision decision = {.table = {.model = model, .arena = arena, .err = err}, .all = all};
    struct amp_function_table *table = &decision.table;
    Onnx__GraphProto *graph = model->graph;
    /* A model without imports is refused by whoever reads them: none may come from functions. */
    if (model->n_functions == 0 || model->n_opset_import == 0 || graph == NULL)
        return AMP_OK;
    AMP_TRY(begin(&decision));
    if (!all)
        AMP_TRY(walk_training(&decision, refuse_inlined));
    AMP_TRY(walk(&decision, NULL, graph->node, graph->n_node, count_call));
    if (finding_of(&decision, NULL)->n_nodes == 0)
        return AMP_OK;
    AMP_TRY(amp_inline_calls(table, graph));
    for (size_t i = 0; i < table->count; i++)
        if (!table->items[i].is_inlined)
            need(&decision, &table->items[i]);
    return drop_others(&decision);
}

/* AMP_UNSUPPORTED without a message where NODE of a function is another operator under the model's
   opsets. */
static enum amp_status compare_schemas(struct decision *decision, struct amp_function *caller,
                                       const Onnx__NodeProto *node)
{
    const struct amp_function_table *table = &decision->table;
    bool is_imported = amp_function_table_opset(table, NULL, node->domain) != 0;
    bool is_same = amp_function_table_schema(table, caller, node) ==
                   amp_function_table_schema(table, NULL, node);
    return is_same || !is_imported ? AMP_OK : AMP_UNSUPPORTED;
}

enum amp_status amp_functions_drop_invalid(Onnx__ModelProto *model, struct amp_arena *arena,
                                           struct amp_error *err)
{
    struct decision decision = {.table = {.model = model, .arena = arena, .err = err}};
    bool is_stale = false;
    if (model->n_functions == 0)
        return AMP_OK;
    AMP_TRY(begin(&decision));
    for (size_t i = 0; i < decision.table.count && !is_stale; i++) {
        struct amp_function *function = &decision.table.items[i];
        is_stale = walk(&decision, function, function->proto->node, function->proto->n_node,
                        compare_schemas) != AMP_OK;
    }
    if (!is_stale)
        return AMP_OK;
    AMP_TRY(walk(&decision, NULL, model->graph->node, model->graph->n_node, need_called));
    AMP_TRY(walk_training(&decision, need_called));
    return drop_others(&decision);
}
