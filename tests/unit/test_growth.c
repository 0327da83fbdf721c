/*
 * Models that are large in one respect, each at a size and at four times that: the time and the
 * memory of every command must grow with the model, not with its square. One row a kind of growth.
 * Every measurement is a process of its own, by its CPU time; one that fails is made again, as
 * machines are busy. Rows may be named on the command line.
 *
 *   GROWTH_SHOW=1    print what was measured
 *   GROWTH_SCALE=K   K times the sizes
 */
#include "cli/options/command_line.h"
#include "cli/convert/convert.h"
#include "cli/run.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/dtype.h"
#include "core/graph/graph.h"
#include "scratch.h"

#include "onnx.pb-c.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- making models --------------------------------------------------------------------------- */

struct maker {
    struct amp_arena *arena;
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph; /* where nodes and values go */
    const char *folder;
};

/* Appends ITEM to the array of pointers at ITEMS, which has room for the next power of two. */
static void push(struct maker *m, void *items, size_t *count, void *item)
{
    void ***array = items;
    if ((*count & (*count - 1)) == 0) {
        void **grown = amp_arena_array(m->arena, *count ? *count * 2 : 1, sizeof *grown);
        if (*count > 0)
            memcpy(grown, *array, *count * sizeof *grown);
        *array = grown;
    }
    (*array)[(*count)++] = item;
}

#define MAKE(NAME, TYPE, INIT)                                \
    static TYPE *NAME(struct maker *m)                        \
    {                                                         \
        TYPE *made = amp_arena_alloc(m->arena, sizeof *made); \
        INIT(made);                                           \
        return made;                                          \
    }

MAKE(new_node, Onnx__NodeProto, onnx__node_proto__init)
MAKE(new_graph, Onnx__GraphProto, onnx__graph_proto__init)
MAKE(new_info, Onnx__ValueInfoProto, onnx__value_info_proto__init)
MAKE(new_type, Onnx__TypeProto, onnx__type_proto__init)
MAKE(new_tensor_type, Onnx__TypeProto__Tensor, onnx__type_proto__tensor__init)
MAKE(new_sequence_type, Onnx__TypeProto__Sequence, onnx__type_proto__sequence__init)
MAKE(new_shape, Onnx__TensorShapeProto, onnx__tensor_shape_proto__init)
MAKE(new_dim, Onnx__TensorShapeProto__Dimension, onnx__tensor_shape_proto__dimension__init)
MAKE(new_tensor, Onnx__TensorProto, onnx__tensor_proto__init)
MAKE(new_attr, Onnx__AttributeProto, onnx__attribute_proto__init)
MAKE(new_entry, Onnx__StringStringEntryProto, onnx__string_string_entry_proto__init)
MAKE(new_import, Onnx__OperatorSetIdProto, onnx__operator_set_id_proto__init)
MAKE(new_function, Onnx__FunctionProto, onnx__function_proto__init)
MAKE(new_model, Onnx__ModelProto, onnx__model_proto__init)

static char *text(struct maker *m, const char *word)
{
    return amp_arena_strdup(m->arena, word);
}

/* "v7" */
static char *numbered(struct maker *m, const char *word, size_t number)
{
    return amp_arena_printf(m->arena, "%s%zu", word, number);
}

/* COUNT bytes that begin with WORD. */
static char *stretched(struct maker *m, const char *word, size_t count)
{
    size_t length = strlen(word);
    char *made = amp_arena_alloc(m->arena, count + length + 1);
    memset(made, 'n', count + length);
    memcpy(made, word, length);
    return made;
}

static void import(struct maker *m, const char *domain, int64_t version)
{
    Onnx__OperatorSetIdProto *import = new_import(m);
    import->domain = text(m, domain);
    import->has_version = true;
    import->version = version;
    push(m, &m->model->opset_import, &m->model->n_opset_import, import);
}

/* float32 [1, 1] unless RANK and DTYPE say otherwise; every dim is 1. */
static Onnx__TypeProto *tensor_type(struct maker *m, size_t rank, int32_t dtype)
{
    Onnx__TypeProto *type = new_type(m);
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = new_tensor_type(m);
    type->tensor_type->has_elem_type = true;
    type->tensor_type->elem_type = dtype;
    type->tensor_type->shape = new_shape(m);
    for (size_t i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *dim = new_dim(m);
        dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        dim->dim_value = 1;
        push(m, &type->tensor_type->shape->dim, &type->tensor_type->shape->n_dim, dim);
    }
    return type;
}

static Onnx__ValueInfoProto *info_of(struct maker *m, const char *name, int32_t dtype)
{
    Onnx__ValueInfoProto *info = new_info(m);
    info->name = text(m, name);
    info->type = tensor_type(m, dtype == AMP_BOOL ? 0 : 2, dtype);
    return info;
}

static void input(struct maker *m, const char *name)
{
    push(m, &m->graph->input, &m->graph->n_input, info_of(m, name, AMP_FLOAT));
}

static void output(struct maker *m, const char *name)
{
    push(m, &m->graph->output, &m->graph->n_output, info_of(m, name, AMP_FLOAT));
}

static void take(struct maker *m, Onnx__NodeProto *node, const char *name)
{
    push(m, &node->input, &node->n_input, text(m, name));
}

static void give(struct maker *m, Onnx__NodeProto *node, const char *name)
{
    push(m, &node->output, &node->n_output, text(m, name));
}

/* A node without a place. */
static Onnx__NodeProto *node_of(struct maker *m, const char *op, const char *a, const char *b,
                                const char *made)
{
    Onnx__NodeProto *node = new_node(m);
    node->op_type = text(m, op);
    if (a != NULL)
        take(m, node, a);
    if (b != NULL)
        take(m, node, b);
    if (made != NULL)
        give(m, node, made);
    return node;
}

static Onnx__NodeProto *add(struct maker *m, const char *op, const char *a, const char *b,
                            const char *made)
{
    Onnx__NodeProto *node = node_of(m, op, a, b, made);
    push(m, &m->graph->node, &m->graph->n_node, node);
    return node;
}

static Onnx__AttributeProto *attribute(struct maker *m, Onnx__NodeProto *node, const char *name,
                                       enum amp_attr_type type)
{
    Onnx__AttributeProto *attr = new_attr(m);
    attr->name = text(m, name);
    attr->has_type = true;
    attr->type = (Onnx__AttributeProto__AttributeType)type;
    push(m, &node->attribute, &node->n_attribute, attr);
    return attr;
}

static void integer(struct maker *m, Onnx__NodeProto *node, const char *name, int64_t value)
{
    Onnx__AttributeProto *attr = attribute(m, node, name, AMP_ATTR_INT);
    attr->has_i = true;
    attr->i = value;
}

/* float32 [1, 1] */
static Onnx__TensorProto *tensor_of(struct maker *m, const char *name)
{
    static float one = 1;
    Onnx__TensorProto *tensor = new_tensor(m);
    tensor->name = text(m, name);
    tensor->has_data_type = true;
    tensor->data_type = AMP_FLOAT;
    tensor->n_dims = 2;
    tensor->dims = amp_arena_array(m->arena, 2, sizeof *tensor->dims);
    tensor->dims[0] = tensor->dims[1] = 1;
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){.len = sizeof one, .data = (uint8_t *)&one};
    return tensor;
}

static Onnx__TensorProto *weight(struct maker *m, const char *name)
{
    Onnx__TensorProto *tensor = tensor_of(m, name);
    push(m, &m->graph->initializer, &m->graph->n_initializer, tensor);
    return tensor;
}

static void graph_attribute(struct maker *m, Onnx__NodeProto *node, const char *name,
                            Onnx__GraphProto *graph)
{
    attribute(m, node, name, AMP_ATTR_GRAPH)->g = graph;
}

/* From x to y by COUNT nodes of OP, which also take SECOND where it is not NULL. */
static void chain(struct maker *m, size_t count, const char *op, const char *second)
{
    for (size_t i = 0; i < count; i++)
        add(m, op, i == 0 ? "x" : numbered(m, "v", i), second,
            i + 1 == count ? "y" : numbered(m, "v", i + 1));
}

static void between_x_and_y(struct maker *m)
{
    input(m, "x");
    output(m, "y");
}

/* ---- kinds of growth ------------------------------------------------------------------------- */

static void nodes(struct maker *m, size_t n)
{
    between_x_and_y(m);
    weight(m, "w");
    chain(m, n, "MatMul", "w");
}

static void nodes_backwards(struct maker *m, size_t n)
{
    nodes(m, n);
    for (size_t i = 0; i < n / 2; i++) {
        Onnx__NodeProto *node = m->graph->node[i];
        m->graph->node[i] = m->graph->node[n - 1 - i];
        m->graph->node[n - 1 - i] = node;
    }
}

static void nodes_of_two_kinds(struct maker *m, size_t n)
{
    between_x_and_y(m);
    weight(m, "w");
    chain(m, n, "MatMul", "w");
    for (size_t i = 0; i < n; i += 2) {
        m->graph->node[i]->op_type = text(m, "Exp");
        m->graph->node[i]->n_input = 1;
    }
}

/* Every way through it is another. */
static void diamonds(struct maker *m, size_t n)
{
    static const char *const ops[] = {"Add", "Mul", "Sub", "Div", "MatMul", "Pow"};
    between_x_and_y(m);
    chain(m, n, "Add", NULL);
    for (size_t i = 0; i < n; i++) {
        m->graph->node[i]->op_type = text(m, ops[i / 7 % AMP_COUNT(ops)]);
        take(m, m->graph->node[i], m->graph->node[i]->input[0]);
    }
}

static void inputs(struct maker *m, size_t n)
{
    between_x_and_y(m);
    chain(m, 1, "MatMul", "x");
    for (size_t i = 0; i < n; i++)
        input(m, numbered(m, "i", i));
}

static void integer_inputs(struct maker *m, size_t n)
{
    inputs(m, n);
    for (size_t i = 1; i <= n; i++)
        m->graph->input[i]->type->tensor_type->elem_type = AMP_INT64;
}

static void used_inputs(struct maker *m, size_t n)
{
    Onnx__NodeProto *last = node_of(m, "Sum", NULL, NULL, "y");
    output(m, "y");
    for (size_t i = 0; i < n; i++) {
        input(m, numbered(m, "i", i));
        add(m, "MatMul", numbered(m, "i", i), numbered(m, "i", i), numbered(m, "v", i));
        take(m, last, numbered(m, "v", i));
    }
    push(m, &m->graph->node, &m->graph->n_node, last);
}

static void outputs(struct maker *m, size_t n)
{
    input(m, "x");
    for (size_t i = 0; i < n; i++) {
        add(m, "MatMul", "x", "x", numbered(m, "o", i));
        output(m, numbered(m, "o", i));
    }
}

/* One value given out so often is none that ONNX knows of, but no reason to take long. */
static void inputs_as_outputs(struct maker *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        input(m, numbered(m, "i", i));
        output(m, numbered(m, "i", i));
    }
}

static void initializers(struct maker *m, size_t n)
{
    nodes(m, n);
    for (size_t i = 0; i < n; i++) {
        m->graph->node[i]->input[1] = numbered(m, "w", i);
        weight(m, numbered(m, "w", i));
    }
}

static void initializers_that_are_inputs(struct maker *m, size_t n)
{
    initializers(m, n);
    m->model->ir_version = 3;
    for (size_t i = 0; i < m->graph->n_initializer; i++)
        input(m, m->graph->initializer[i]->name);
}

static void unused_initializers(struct maker *m, size_t n)
{
    nodes(m, 1);
    for (size_t i = 0; i < n; i++)
        weight(m, numbered(m, "u", i));
}

static void constants(struct maker *m, size_t n)
{
    nodes(m, n);
    Onnx__NodeProto **chained = m->graph->node;
    m->graph->node = NULL;
    m->graph->n_node = 0;
    for (size_t i = 0; i < n; i++) {
        attribute(m, add(m, "Constant", NULL, NULL, numbered(m, "c", i)), "value", AMP_ATTR_TENSOR)
            ->t = tensor_of(m, "");
        chained[i]->input[1] = numbered(m, "c", i);
        push(m, &m->graph->node, &m->graph->n_node, chained[i]);
    }
}

static void value_infos(struct maker *m, size_t n)
{
    nodes(m, n);
    for (size_t i = 1; i < n; i++)
        push(m, &m->graph->value_info, &m->graph->n_value_info,
             info_of(m, numbered(m, "v", i), AMP_FLOAT));
}

static void stale_value_infos(struct maker *m, size_t n)
{
    nodes(m, 1);
    for (size_t i = 0; i < n; i++)
        push(m, &m->graph->value_info, &m->graph->n_value_info,
             info_of(m, i % 2 ? "x" : numbered(m, "s", i), AMP_FLOAT));
}

static void nested_types(struct maker *m, size_t n)
{
    nodes(m, 1);
    Onnx__TypeProto *type = tensor_type(m, 2, AMP_FLOAT);
    for (size_t i = 0; i < n; i++) {
        Onnx__TypeProto *outer = new_type(m);
        outer->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        outer->sequence_type = new_sequence_type(m);
        outer->sequence_type->elem_type = type;
        type = outer;
    }
    Onnx__ValueInfoProto *info = new_info(m);
    info->name = text(m, "v");
    info->type = type;
    push(m, &m->graph->value_info, &m->graph->n_value_info, info);
}

static void symbols(struct maker *m, size_t n)
{
    outputs(m, n);
    for (size_t i = 0; i < n; i++) {
        Onnx__TensorShapeProto__Dimension *dim =
            m->graph->output[i]->type->tensor_type->shape->dim[0];
        dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        dim->dim_param = numbered(m, "d", i);
    }
}

static Onnx__FunctionProto *function(struct maker *m, const char *name)
{
    Onnx__FunctionProto *function = new_function(m);
    Onnx__OperatorSetIdProto **imports = m->model->opset_import;
    function->name = text(m, name);
    function->domain = text(m, "f");
    push(m, &function->input, &function->n_input, text(m, "x"));
    push(m, &function->output, &function->n_output, text(m, "y"));
    for (size_t i = 0; i < m->model->n_opset_import; i++)
        push(m, &function->opset_import, &function->n_opset_import, imports[i]);
    push(m, &m->model->functions, &m->model->n_functions, function);
    return function;
}

static void function_node(struct maker *m, Onnx__FunctionProto *function, Onnx__NodeProto *node)
{
    push(m, &function->node, &function->n_node, node);
}

static void functions(struct maker *m, size_t n)
{
    import(m, "f", 1);
    between_x_and_y(m);
    chain(m, n, "F", NULL);
    for (size_t i = 0; i < n; i++) {
        m->graph->node[i]->domain = text(m, "f");
        m->graph->node[i]->op_type = numbered(m, "F", i);
        function_node(m, function(m, numbered(m, "F", i)), node_of(m, "MatMul", "x", "x", "y"));
    }
}

static void calls(struct maker *m, size_t n)
{
    import(m, "f", 1);
    between_x_and_y(m);
    chain(m, n, "F", NULL);
    for (size_t i = 0; i < n; i++)
        m->graph->node[i]->domain = text(m, "f");
    Onnx__FunctionProto *called = function(m, "F");
    Onnx__NodeProto *constant = node_of(m, "Constant", NULL, NULL, "w");
    attribute(m, constant, "value", AMP_ATTR_TENSOR)->t = tensor_of(m, "");
    function_node(m, called, constant);
    function_node(m, called, node_of(m, "MatMul", "x", "w", "y"));
}

/* Every call has a large constant, and a body with a large initializer. */
static void calls_with_constants(struct maker *m, size_t n)
{
    enum { BYTES = 4096 };
    static uint8_t zeros[BYTES];
    calls(m, n);
    Onnx__FunctionProto *called = m->model->functions[0];
    Onnx__TensorProto *tensor = called->node[0]->attribute[0]->t;
    tensor->dims[1] = BYTES / sizeof(float);
    tensor->raw_data = (ProtobufCBinaryData){BYTES, zeros};
    called->node[1]->op_type = text(m, "Mul");
    called->node[1]->output[0] = text(m, "t");
    Onnx__GraphProto *body = new_graph(m), *main_graph = m->graph;
    m->graph = body;
    body->name = text(m, "b");
    *weight(m, "u") = *tensor;
    m->graph->initializer[0]->name = text(m, "u");
    add(m, "Add", "t", "u", "s");
    add(m, "ReduceSum", "s", NULL, "r");
    output(m, "r");
    m->graph = main_graph;
    Onnx__NodeProto *condition = node_of(m, "Constant", NULL, NULL, "c");
    Onnx__AttributeProto *value = attribute(m, condition, "value", AMP_ATTR_TENSOR);
    value->t = tensor_of(m, "");
    value->t->n_dims = 0;
    value->t->data_type = AMP_BOOL;
    value->t->raw_data.len = 1;
    Onnx__NodeProto *branch = node_of(m, "If", "c", NULL, "y");
    graph_attribute(m, branch, "then_branch", body);
    graph_attribute(m, branch, "else_branch", body);
    function_node(m, called, condition);
    function_node(m, called, branch);
}

static void call_with_a_long_name(struct maker *m, size_t n)
{
    calls(m, 1);
    m->graph->node[0]->name = stretched(m, "call", n);
    m->graph->node[0]->doc_string = stretched(m, "doc", n);
    m->graph->input[0]->name = stretched(m, "x", n);
    m->graph->node[0]->input[0] = m->graph->input[0]->name;
    Onnx__FunctionProto *called = m->model->functions[0];
    for (size_t i = 0; i < n / 10; i++)
        function_node(m, called, node_of(m, "MatMul", "x", "w", numbered(m, "v", i)));
}

static void attributes(struct maker *m, size_t n)
{
    import(m, "other", 1);
    nodes(m, 2);
    m->graph->node[0]->domain = text(m, "other");
    for (size_t i = 0; i < n; i++)
        integer(m, m->graph->node[0], numbered(m, "a", i), 1);
}

static Onnx__GraphProto *branch(struct maker *m, size_t number)
{
    Onnx__GraphProto *outer = m->graph, *made = new_graph(m);
    made->name = text(m, "b");
    m->graph = made;
    add(m, "MatMul", "x", "x", numbered(m, "b", number));
    output(m, numbered(m, "b", number));
    m->graph = outer;
    return made;
}

static void condition(struct maker *m)
{
    push(m, &m->graph->input, &m->graph->n_input, info_of(m, "c", AMP_BOOL));
}

static void subgraphs(struct maker *m, size_t n)
{
    between_x_and_y(m);
    condition(m);
    for (size_t i = 0; i < n; i++) {
        Onnx__NodeProto *node = add(m, "If", "c", NULL, i + 1 == n ? "y" : numbered(m, "v", i + 1));
        graph_attribute(m, node, "then_branch", branch(m, 2 * i));
        graph_attribute(m, node, "else_branch", branch(m, 2 * i + 1));
    }
}

static void subgraph_depth(struct maker *m, size_t n)
{
    Onnx__GraphProto *made = branch(m, 0);
    for (size_t i = 1; i < n; i++) {
        Onnx__GraphProto *outer = new_graph(m);
        outer->name = text(m, "b");
        Onnx__NodeProto *node = node_of(m, "If", "c", NULL, numbered(m, "d", i));
        graph_attribute(m, node, "then_branch", made);
        graph_attribute(m, node, "else_branch", branch(m, 2 * i + 1));
        push(m, &outer->node, &outer->n_node, node);
        push(m, &outer->output, &outer->n_output, info_of(m, numbered(m, "d", i), AMP_FLOAT));
        made = outer;
    }
    between_x_and_y(m);
    condition(m);
    Onnx__NodeProto *node = add(m, "If", "c", NULL, "y");
    graph_attribute(m, node, "then_branch", made);
    graph_attribute(m, node, "else_branch", branch(m, 1));
}

/* A body that gives out what is outside of it, so often. */
static void captures(struct maker *m, size_t n)
{
    Onnx__GraphProto *then_branch = new_graph(m), *else_branch = new_graph(m), *outer = m->graph;
    Onnx__NodeProto *node = node_of(m, "If", "c", NULL, NULL);
    between_x_and_y(m);
    condition(m);
    weight(m, "w");
    chain(m, n, "MatMul", "w");
    then_branch->name = else_branch->name = text(m, "b");
    for (size_t i = 1; i < n; i++) {
        m->graph = then_branch;
        output(m, numbered(m, "v", i));
        m->graph = else_branch;
        output(m, numbered(m, "v", i));
        m->graph = outer;
        give(m, node, numbered(m, "o", i));
    }
    graph_attribute(m, node, "then_branch", then_branch);
    graph_attribute(m, node, "else_branch", else_branch);
    push(m, &m->graph->node, &m->graph->n_node, node);
}

static void long_names(struct maker *m, size_t n)
{
    between_x_and_y(m);
    chain(m, 4, "MatMul", "x");
    for (size_t i = 0; i < 4; i++)
        m->graph->node[i]->name = stretched(m, numbered(m, "node", i), n);
    for (size_t i = 0; i < 3; i++)
        m->graph->node[i]->output[0] = m->graph->node[i + 1]->input[0] =
            stretched(m, numbered(m, "value", i), n);
}

static void equal_names_of_nodes(struct maker *m, size_t n)
{
    nodes(m, n);
    for (size_t i = 0; i < n; i++)
        m->graph->node[i]->name = i % 2 ? text(m, "same") : numbered(m, "same_", i);
}

/* The names that casts and converted weights would get are taken. */
static void taken_names(struct maker *m, size_t n)
{
    between_x_and_y(m);
    for (size_t i = 0; i < n; i++) {
        add(m, "MatMul", "x", "x", numbered(m, "x_bf16_", i));
        add(m, "Exp", numbered(m, "x_bf16_", i), NULL, numbered(m, "v_bf16_", i));
    }
    add(m, "MatMul", "x", "x", "v");
    add(m, "Exp", "v", NULL, "v_bf16");
    add(m, "Exp", "x", NULL, "x_bf16");
    add(m, "MatMul", "v_bf16", "x_bf16", "y");
}

static void opset_imports(struct maker *m, size_t n)
{
    nodes(m, n);
    for (size_t i = 0; i < n; i++)
        import(m, numbered(m, "domain", i), 1);
}

static void metadata(struct maker *m, size_t n)
{
    nodes(m, 1);
    for (size_t i = 0; i < n; i++) {
        Onnx__StringStringEntryProto *entry = new_entry(m);
        entry->key = numbered(m, "key", i);
        entry->value = numbered(m, "value", i);
        push(m, &m->model->metadata_props, &m->model->n_metadata_props, entry);
        push(m, &m->graph->node[0]->metadata_props, &m->graph->node[0]->n_metadata_props, entry);
    }
}

static void entry_of(struct maker *m, Onnx__TensorProto *tensor, const char *key, char *value)
{
    Onnx__StringStringEntryProto *entry = new_entry(m);
    entry->key = text(m, key);
    entry->value = value;
    push(m, &tensor->external_data, &tensor->n_external_data, entry);
}

static void write_floats(struct maker *m, const char *name, size_t count)
{
    float one = 1;
    FILE *file = fopen(amp_arena_printf(m->arena, "%s/%s", m->folder, name), "wb");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fwrite(&one, sizeof one, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void put_outside(struct maker *m, size_t n, size_t n_files)
{
    initializers(m, n);
    for (size_t f = 0; f < n_files; f++)
        write_floats(m, numbered(m, "data", f), n / n_files);
    for (size_t i = 0; i < m->graph->n_initializer; i++) {
        Onnx__TensorProto *tensor = m->graph->initializer[i];
        tensor->has_raw_data = false;
        tensor->has_data_location = true;
        tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
        entry_of(m, tensor, "location", numbered(m, "data", i % n_files));
        entry_of(m, tensor, "offset",
                 amp_arena_printf(m->arena, "%zu", i % (n / n_files) * sizeof(float)));
    }
}

static void external_data(struct maker *m, size_t n)
{
    put_outside(m, n, 1);
}

static void external_files(struct maker *m, size_t n)
{
    put_outside(m, n, n);
}

static void node_inputs(struct maker *m, size_t n)
{
    between_x_and_y(m);
    weight(m, "w");
    Onnx__NodeProto *first = add(m, "Concat", "x", NULL, "v"), *second = NULL;
    integer(m, first, "axis", 0);
    add(m, "MatMul", "v", "w", "u");
    second = add(m, "Sum", "u", NULL, "y");
    for (size_t i = 1; i < n; i++) {
        take(m, first, "x");
        take(m, second, "u");
    }
}

static void node_outputs(struct maker *m, size_t n)
{
    between_x_and_y(m);
    Onnx__NodeProto *split = new_node(m), *last = node_of(m, "Concat", NULL, NULL, "v");
    split->op_type = text(m, "Split");
    take(m, split, "x");
    integer(m, split, "axis", 0);
    integer(m, split, "num_outputs", (int64_t)n);
    integer(m, last, "axis", 0);
    m->graph->input[0]->type->tensor_type->shape->dim[0]->dim_value = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        give(m, split, numbered(m, "s", i));
        take(m, last, numbered(m, "s", i));
    }
    push(m, &m->graph->node, &m->graph->n_node, split);
    push(m, &m->graph->node, &m->graph->n_node, last);
    add(m, "MatMul", "x", "x", NULL);
    m->graph->node[2]->input[0] = text(m, "v");
    weight(m, "w");
    m->graph->node[2]->input[1] = text(m, "w");
    give(m, m->graph->node[2], "y");
    m->graph->output[0]->type = NULL;
}

static void casts(struct maker *m, size_t n)
{
    between_x_and_y(m);
    chain(m, 2 * n, "Cast", NULL);
    for (size_t i = 0; i < 2 * n; i++)
        integer(m, m->graph->node[i], "to", i % 2 ? AMP_FLOAT : AMP_FLOAT16);
}

/* Casts of one value, and casts of those. */
static void casts_side_by_side(struct maker *m, size_t n)
{
    Onnx__NodeProto *last = node_of(m, "Sum", NULL, NULL, "y");
    between_x_and_y(m);
    for (size_t i = 0; i < n; i++) {
        integer(m, add(m, "Cast", "x", NULL, numbered(m, "h", i)), "to", AMP_FLOAT16);
        integer(m, add(m, "Cast", numbered(m, "h", i), NULL, numbered(m, "f", i)), "to", AMP_FLOAT);
        take(m, last, numbered(m, "f", i));
    }
    push(m, &m->graph->node, &m->graph->n_node, last);
}

/* Two thirds of each are for others of their kind: movers of data, and shapes that are computed. */
static void movers(struct maker *m, size_t n)
{
    static const char *const ops[] = {"Identity", "Transpose", "Flatten"};
    between_x_and_y(m);
    chain(m, n, "Identity", NULL);
    for (size_t i = 0; i < n; i++)
        m->graph->node[i]->op_type = text(m, ops[i % AMP_COUNT(ops)]);
}

static void shapes(struct maker *m, size_t n)
{
    between_x_and_y(m);
    for (size_t i = 0; i < n; i++) {
        add(m, "Shape", i == 0 ? "x" : numbered(m, "v", i), NULL, numbered(m, "s", i));
        add(m, "Reshape", i == 0 ? "x" : numbered(m, "v", i), numbered(m, "s", i),
            i + 1 == n ? "y" : numbered(m, "v", i + 1));
    }
}

/* Constants of which only computing tells what they are. */
static void computed_weights(struct maker *m, size_t n)
{
    between_x_and_y(m);
    weight(m, "v0");
    for (size_t i = 0; i < n; i++)
        add(m, i % 2 ? "Transpose" : "Identity", numbered(m, "v", i), NULL,
            numbered(m, "v", i + 1));
    add(m, "MatMul", "x", numbered(m, "v", n), "y");
}

/* ---- measuring ------------------------------------------------------------------------------- */

enum { WORDS_MAX = 16, TRIES = 6 };

/* What is done with every model: MODEL, OUT and JSON stand for files. */
static const struct command {
    const char *name, *words[WORDS_MAX];
} commands[] = {
    {"convert", {"MODEL", "--no-validate", "-q", "--explain", "-o", "OUT", "--json", "JSON"}},
    {"print",
     {"MODEL", "-q", "--dump-after=fold", "--opset", "22", "-d", "fp16", "--cast-cache", "off",
      "--node", "v*=lower"}},
    {"run", {"run", "MODEL", "-q", "--threads", "1"}},
    {"validate", {"MODEL", "-q", "--accept", "-o", "OUT", "--threads", "1"}},
};

/* CONVERTS: what the executor does not know; RUNS: that too; VALIDATES: where names of the
   interface are many, both. */
enum { CONVERTS = 3, RUNS = 7, VALIDATES = 15 };

static const struct growth {
    const char *name;
    void (*make)(struct maker *m, size_t n);
    size_t n;
    unsigned commands;
} rows[] = {
#define ROW(NAME, N, COMMANDS)   \
    {                            \
#        NAME, NAME, N, COMMANDS \
    }
    ROW(nodes, 2500, RUNS),
    ROW(nodes_backwards, 2500, RUNS),
    ROW(nodes_of_two_kinds, 2500, RUNS),
    ROW(diamonds, 2500, RUNS),
    ROW(inputs, 5000, VALIDATES),
    ROW(integer_inputs, 2500, VALIDATES),
    ROW(used_inputs, 2500, RUNS),
    ROW(outputs, 2500, VALIDATES),
    ROW(inputs_as_outputs, 5000, RUNS),
    ROW(initializers, 2500, RUNS),
    ROW(initializers_that_are_inputs, 2500, RUNS),
    ROW(unused_initializers, 5000, RUNS),
    ROW(constants, 2500, RUNS),
    ROW(value_infos, 2500, RUNS),
    ROW(stale_value_infos, 5000, RUNS),
    ROW(nested_types, 20, RUNS),
    ROW(symbols, 2500, RUNS),
    ROW(functions, 2500, RUNS),
    ROW(calls, 2500, RUNS),
    ROW(calls_with_constants, 500, RUNS),
    ROW(call_with_a_long_name, 20000, RUNS),
    ROW(attributes, 5000, CONVERTS),
    ROW(subgraphs, 1000, RUNS),
    ROW(subgraph_depth, 14, RUNS),
    ROW(captures, 2500, RUNS),
    ROW(long_names, 50000, RUNS),
    ROW(equal_names_of_nodes, 2500, RUNS),
    ROW(taken_names, 2500, RUNS),
    ROW(opset_imports, 2500, RUNS),
    ROW(metadata, 5000, RUNS),
    ROW(external_data, 2500, RUNS),
    ROW(external_files, 400, RUNS),
    ROW(node_inputs, 5000, RUNS),
    ROW(node_outputs, 5000, RUNS),
    ROW(casts, 2500, RUNS),
    ROW(casts_side_by_side, 2500, RUNS),
    ROW(movers, 2500, RUNS),
    ROW(shapes, 1500, RUNS),
    ROW(computed_weights, 2500, RUNS),
#undef ROW
};

struct cost {
    double seconds; /* of CPU time */
    double bytes;   /* at most */
};

struct place {
    char folder[SCRATCH_MAX], model[SCRATCH_MAX + 16], out[SCRATCH_MAX + 16],
        json[SCRATCH_MAX + 16];
};

static void write_model(const struct growth *row, size_t n, const struct place *place)
{
    struct maker m = {.arena = amp_arena_create(), .folder = place->folder};
    m.model = new_model(&m);
    m.graph = m.model->graph = new_graph(&m);
    m.graph->name = text(&m, "g");
    m.model->has_ir_version = true;
    m.model->ir_version = 9;
    import(&m, "", 18);
    row->make(&m, n);
    size_t size = protobuf_c_message_get_packed_size(&m.model->base);
    uint8_t *bytes = amp_arena_alloc(m.arena, size);
    protobuf_c_message_pack(&m.model->base, bytes);
    FILE *file = fopen(place->model, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    amp_arena_destroy(m.arena);
}

static int do_command(const struct command *command, const struct place *place)
{
    struct amp_options options;
    struct amp_error err = {.status = AMP_OK};
    char *words[WORDS_MAX + 1] = {(char[]){"ampconv"}};
    int n = 1;
    for (; n <= WORDS_MAX && command->words[n - 1] != NULL; n++) {
        const char *word = command->words[n - 1];
        words[n] = amp_xstrdup(strcmp(word, "MODEL") == 0  ? place->model
                               : strcmp(word, "OUT") == 0  ? place->out
                               : strcmp(word, "JSON") == 0 ? place->json
                                                           : word);
    }
    if (amp_command_line_parse(n, words, &options, &err) == AMP_OK) {
        if (options.command == AMP_CMD_RUN)
            AMP_IGNORE(amp_command_run(&options, &err));
        else
            AMP_IGNORE(amp_command_convert(&options, &err));
    }
    if (err.status != AMP_OK)
        fprintf(stderr, "%s: %.300s\n", command->name, err.text);
    return err.status;
}

/* In a process of its own: the model is made (COMMAND NULL), or the command done. */
static int do_apart(const struct growth *row, size_t n, const struct command *command,
                    const struct place *place, struct cost *cost)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (command == NULL)
            write_model(row, n, place);
        else if (freopen("/dev/null", "w", stdout) == NULL || do_command(command, place) != AMP_OK)
            _exit(1);
        _exit(0);
    }
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    cost->seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    cost->bytes = (double)usage.ru_maxrss * 1024;
    return status;
}

/* The size of the smaller model, or of the larger. */
static size_t size_of(const struct growth *row, int which)
{
    const char *scale = getenv("GROWTH_SCALE");
    size_t n = scale ? strtoul(scale, NULL, 10) * row->n : row->n;
#ifdef __SANITIZE_ADDRESS__
    n = (n + 3) / 4;
#endif
    return which == 0 ? n : 4 * n;
}

/* The least of both over TRIES, or until IS_ENOUGH says so. */
static void measure(const struct growth *row, const struct command *command,
                    const struct place places[2], struct cost least[2])
{
    for (int i = 0; i < 2; i++) {
        struct cost cost;
        size_t n = size_of(row, i);
        if (do_apart(row, n, command, &places[i], &cost) != 0)
            fail_msg("%s of %zu %s failed", command->name, n, row->name);
        least[i].seconds = fmin(least[i].seconds, cost.seconds);
        least[i].bytes = fmin(least[i].bytes, cost.bytes);
    }
}

/* What a process takes that does nothing, and what is too little to be told from it. */
static const double idle_bytes = 8e6, small_bytes = 12e6, small_seconds = 0.1;

static bool is_slow(const struct cost cost[2])
{
    return cost[1].seconds > 8 * cost[0].seconds + small_seconds;
}

static bool is_fat(const struct cost cost[2])
{
    return cost[1].bytes - idle_bytes > 6 * fmax(cost[0].bytes - idle_bytes, 0) + small_bytes;
}

static void check_command(const struct growth *row, const struct command *command,
                          const struct place places[2])
{
    struct cost least[2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int i = 0; i < TRIES && (i == 0 || is_slow(least) || is_fat(least)); i++)
        measure(row, command, places, least);
    if (getenv("GROWTH_SHOW") != NULL)
        fprintf(stderr, "# %-30s %-8s %7.3f s %7.3f s   %6.1f MB %6.1f MB\n", row->name,
                command->name, least[0].seconds, least[1].seconds, least[0].bytes / 1e6,
                least[1].bytes / 1e6);
    if (is_slow(least) || is_fat(least))
        fail_msg("%s of %s: %zu take %.3f s and %.1f MB, %zu %.3f s and %.1f MB", command->name,
                 row->name, row->n, least[0].seconds, least[0].bytes / 1e6, 4 * row->n,
                 least[1].seconds, least[1].bytes / 1e6);
}

static void remove_folder(const char *folder)
{
    char command[SCRATCH_MAX + 16];
    int length = snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_in_range(length, 1, sizeof command - 1);
    assert_int_equal(system(command), 0);
}

static void prepare(const struct growth *row, size_t n, struct place *place)
{
    struct cost cost;
    size_t size = sizeof place->model;
    scratch_folder(place->folder, sizeof place->folder);
    assert_in_range(snprintf(place->model, size, "%s/m.onnx", place->folder), 1, size - 1);
    assert_in_range(snprintf(place->out, size, "%s/out.onnx", place->folder), 1, size - 1);
    assert_in_range(snprintf(place->json, size, "%s/out.json", place->folder), 1, size - 1);
    assert_int_equal(do_apart(row, n, NULL, place, &cost), 0);
}

static void grows_with_the_model(void **state)
{
    const struct growth *row = *state;
    struct place places[2];
    for (int i = 0; i < 2; i++)
        prepare(row, size_of(row, i), &places[i]);
    for (size_t c = 0; c < AMP_COUNT(commands); c++)
        if (row->commands >> c & 1)
            check_command(row, &commands[c], places);
    for (int i = 0; i < 2; i++)
        remove_folder(places[i].folder);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[AMP_COUNT(rows)];
    size_t n_tests = 0;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        bool is_wanted = argc < 2;
        for (int k = 1; k < argc; k++)
            is_wanted |= strcmp(argv[k], rows[i].name) == 0;
        if (is_wanted)
            tests[n_tests++] = (struct CMUnitTest){
                .name = rows[i].name,
                .test_func = grows_with_the_model,
                .initial_state = (void *)(uintptr_t)&rows[i],
            };
    }
    return _cmocka_run_group_tests("growth", tests, n_tests, NULL, NULL);
}
