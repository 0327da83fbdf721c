/* Raising nodes to newer opsets: small graphs before, as text after. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/graph/check.h"
#include "core/graph/graph.h"
#include "onnx/opset/opset.h"
#include "onnx/opset/adapters.h"
#include "onnx/schema/difference.h"
#include "onnx/schema/check.h"
#include "onnx/schema/schema.h"

struct fixture {
    struct amp_arena *arena;
    struct amp_model *model;
    char text[4096];
    struct amp_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->arena = amp_arena_create();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    amp_arena_destroy(f->arena);
    free(f);
    return 0;
}

/* An empty model at OPSET. */
static void start(struct fixture *f, int opset)
{
    f->err = (struct amp_error){.status = AMP_OK};
    f->model = amp_model_create(f->arena, "test.onnx");
    f->model->ir_version = amp_schema_ir_version(opset);
    amp_model_import(f->model, "", opset);
    amp_graph_add(f->model, "main", AMP_NONE);
}

static uint32_t value(struct fixture *f, uint32_t graph, const char *name, enum amp_dtype dtype,
                      int rank, const int64_t *dims)
{
    uint32_t id = amp_graph_add_value(f->model, graph, name);
    struct amp_shape shape = {.rank = rank};

    if (rank > 0)
        memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    amp_value_set_shape(f->model, id, &shape);
    amp_value_at(f->model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(f->model, id)->dtype = dtype;
    return id;
}

#define INPUT(f, name, dtype, ...) \
    input(f, name, dtype, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static uint32_t input(struct fixture *f, const char *name, enum amp_dtype dtype, size_t rank,
                      const int64_t *dims)
{
    uint32_t id = value(f, 0, name, dtype, (int)rank, dims);

    amp_value_at(f->model, id)->is_input = true;
    amp_ids_push(f->model, &f->model->graphs[0].inputs, id);
    return id;
}

static uint32_t input_of_any_rank(struct fixture *f, const char *name, enum amp_dtype dtype)
{
    uint32_t id = input(f, name, dtype, 0, NULL);

    amp_value_at(f->model, id)->rank = -1;
    return id;
}

static uint32_t weight(struct fixture *f, const char *name, float *data, int64_t count)
{
    struct amp_tensor *tensor = amp_arena_alloc(f->arena, sizeof *tensor);

    *tensor = (struct amp_tensor){
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {count}}, .data = data};
    return amp_graph_add_initializer(f->model, 0, name, tensor);
}

/* A node with up to three inputs (AMP_NONE ends them) and N_OUTPUTS outputs y, y1, ... of float. */
static uint32_t node_in(struct fixture *f, uint32_t graph, const char *op, uint32_t a, uint32_t b,
                        uint32_t c, uint32_t n_outputs)
{
    const uint32_t inputs[] = {a, b, c};
    const char *const names[] = {"y", "y1", "y2", "y3", "y4"};
    uint32_t n_inputs = 0;

    while (n_inputs < 3 && inputs[n_inputs] != AMP_NONE)
        n_inputs++;
    uint32_t id = amp_graph_add_node(f->model, graph, op, n_inputs, n_outputs);
    struct amp_node *node = amp_node_at(f->model, id);
    node->schema = amp_schema_find("", op, (int)amp_model_opset(f->model, ""));
    assert_non_null(node->schema);
    node->since_version = node->schema->since_version;
    memcpy(node->inputs, inputs, n_inputs * sizeof *inputs);
    for (uint32_t i = 0; i < n_outputs; i++) {
        const char *name = amp_model_unique_name(f->model, names[i]);
        uint32_t out = value(f, graph, name, AMP_FLOAT, -1, NULL);
        amp_node_set_output(f->model, id, i, out);
    }
    return id;
}

static uint32_t node(struct fixture *f, const char *op, uint32_t a, uint32_t b, uint32_t c,
                     uint32_t n_outputs)
{
    uint32_t id = node_in(f, 0, op, a, b, c, n_outputs);
    uint32_t y = amp_node_at(f->model, id)->outputs[0];

    amp_value_at(f->model, y)->is_output = true;
    amp_ids_push(f->model, &f->model->graphs[0].outputs, y);
    return id;
}

static void set_ints(struct fixture *f, uint32_t id, const char *name, size_t count,
                     const int64_t *items)
{
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_INTS, .count = count};

    attr.ints = amp_arena_memdup(f->arena, items, count * sizeof *items);
    amp_node_set_attr(f->model, id, attr);
}

#define INTS(f, id, name, ...) \
    set_ints(f, id, name, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static void set_string(struct fixture *f, uint32_t id, const char *name, const char *text)
{
    struct amp_upgrade step = {.model = f->model, .node = id};

    amp_upgrade_set_string(&step, name, text);
}

static void set_float(struct fixture *f, uint32_t id, const char *name, float item)
{
    struct amp_upgrade step = {.model = f->model, .node = id};

    amp_upgrade_set_float(&step, name, item);
}

/* ---- the graph as text: "y = Op-13(x, [1, 2]) axis=1" and so on, one node a line ---- */

static void put(struct fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct fixture *f, const char *format, ...)
{
    size_t used = strlen(f->text);
    va_list args;

    va_start(args, format);
    vsnprintf(f->text + used, sizeof f->text - used, format, args);
    va_end(args);
}

static void put_value(struct fixture *f, uint32_t id)
{
    const struct amp_value *v = id == AMP_NONE ? NULL : amp_value_at(f->model, id);

    if (v == NULL || v->constant == NULL) {
        put(f, "%s", v != NULL ? v->name : "-");
        return;
    }
    put(f, v->rank == 0 ? "%s" : "%s[",
        v->dtype == AMP_FLOAT || v->dtype == AMP_INT64 ? "" : amp_dtype_name(v->dtype));
    for (size_t i = 0; i < amp_tensor_count(v->constant); i++)
        put(f, i > 0 ? " %g" : "%g", amp_tensor_double(v->constant, i));
    put(f, "%s", v->rank == 0 ? "" : "]");
    for (int i = 0; i < v->rank && v->rank > 1; i++)
        put(f, i == 0 ? ":%d" : "x%d", (int)v->dims[i]);
}

static void put_attr(struct fixture *f, const struct amp_attr *attr)
{
    put(f, " %s=", attr->name);
    for (size_t i = 0; i < attr->count; i++) {
        put(f, "%s", i > 0 ? "," : "");
        if (attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_INTS)
            put(f, "%d", (int)attr->ints[i]);
        else if (attr->type == AMP_ATTR_FLOAT || attr->type == AMP_ATTR_FLOATS)
            put(f, "%g", (double)attr->floats[i]);
        else if (attr->type == AMP_ATTR_STRING)
            put(f, "%s", attr->strings[i].data);
        else
            put(f, "?");
    }
}

static void put_node(struct fixture *f, uint32_t id)
{
    const struct amp_node *n = amp_node_at(f->model, id);

    for (uint32_t i = 0; i < n->n_outputs; i++) {
        put(f, "%s", i > 0 ? ", " : "");
        put_value(f, n->outputs[i]);
    }
    put(f, " = %s-%d(", n->op_type, n->since_version);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        put(f, "%s", i > 0 ? ", " : "");
        put_value(f, n->inputs[i]);
    }
    put(f, ")");
    for (uint32_t i = 0; i < n->n_attrs; i++)
        put_attr(f, &n->attrs[i]);
    put(f, "\n");
}

static const char *graph_text(struct fixture *f)
{
    f->text[0] = '\0';
    for (size_t g = 0; g < f->model->n_graphs; g++)
        for (size_t i = 0; i < f->model->graphs[g].nodes.count; i++)
            put_node(f, f->model->graphs[g].nodes.items[i]);
    return f->text;
}

/* Values know whether they are inputs or outputs of a graph, of a new one too. */
static void interfaces_are_marked(const struct amp_model *model)
{
    bool *is_input = calloc(model->n_values, 1), *is_output = calloc(model->n_values, 1);
    assert_true(is_input != NULL && is_output != NULL);
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        for (size_t i = 0; i < graph->inputs.count; i++)
            is_input[graph->inputs.items[i]] = true;
        for (size_t i = 0; i < graph->outputs.count; i++)
            is_output[graph->outputs.items[i]] = true;
    }
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        if ((is_input[id] && !value->is_input) || (is_output[id] && !value->is_output))
            fail_msg("value '%s': is_input %d, is_output %d", value->name, value->is_input,
                     value->is_output);
    }
    free(is_input);
    free(is_output);
}

/* The nodes from FIRST on, which are new, have operands of types that their operators take, and
   give what these give. */
static void types_are_possible(const struct amp_model *model, size_t first)
{
    for (uint32_t id = (uint32_t)first; id < model->n_nodes; id++) {
        struct amp_error err = {.status = AMP_OK};
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed && node->schema != NULL && amp_check_types(model, id, &err) != AMP_OK)
            fail_msg("%s", err.text);
    }
}

/* Raises to TARGET and compares the graph with EXPECTED. */
static void raised(struct fixture *f, int target, const char *expected)
{
    size_t before = f->model->n_nodes;

    if (amp_opset_raise(f->model, target, NULL, &f->err) != AMP_OK)
        fail_msg("%s", f->err.text);
    assert_string_equal(graph_text(f), expected);
    assert_int_equal(amp_model_opset(f->model, ""), target);
    assert_true(f->model->ir_version >= amp_schema_ir_version(target));
    if (amp_graph_check(f->model, &f->err) != AMP_OK)
        fail_msg("%s", f->err.text);
    interfaces_are_marked(f->model);
    types_are_possible(f->model, before);
}

/* Expects the refusal MESSAGE, a highest opset LIMIT, and the graph as it was. */
static void refused(struct fixture *f, int target, int limit, const char *message)
{
    char *before = strdup(graph_text(f));
    struct amp_opset_limit found = {0};
    int64_t opset = amp_model_opset(f->model, "");

    f->err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_opset_raise(f->model, target, &found, &f->err), AMP_UNSUPPORTED);
    assert_string_equal(f->err.text, message);
    assert_int_equal(found.opset, limit);
    assert_string_equal(graph_text(f), before);
    assert_int_equal(amp_model_opset(f->model, ""), opset);
    free(before);
}

/* ---- tests ---- */

static void nodes_are_carried_over(void **state)
{
    struct fixture *f = *state;
    float w[4] = {1, 2, 3, 4};

    start(f, 11);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 2, 8, 8);
    uint32_t id = node(f, "Conv", x, weight(f, "w", w, 4), AMP_NONE, 1);
    set_string(f, id, "auto_pad", "SAME_UPPER");
    raised(f, 22, "y = Conv-22(x, [1 2 3 4]) auto_pad=SAME_UPPER\n");
    assert_int_equal(f->model->ir_version, 10);
    raised(f, 22, "y = Conv-22(x, [1 2 3 4]) auto_pad=SAME_UPPER\n");
    assert_int_equal(amp_opset_raise(f->model, 13, NULL, &f->err), AMP_OK);
    assert_int_equal(amp_model_opset(f->model, ""), 22);
}

static void unknown_opsets_are_refused(void **state)
{
    struct fixture *f = *state;

    start(f, 13);
    node(f, "Relu", INPUT(f, "x", AMP_FLOAT, 2), AMP_NONE, AMP_NONE, 1);
    int newest = amp_schema_newest_opset("");
    char message[100];
    snprintf(message, sizeof message, "opset %d is not known; the newest known is %d", newest + 1,
             newest);
    assert_int_equal(amp_opset_raise(f->model, newest + 1, NULL, &f->err), AMP_UNSUPPORTED);
    assert_string_equal(f->err.text, message);
    assert_int_equal(amp_model_opset(f->model, ""), 13);
    raised(f, newest, "y = Relu-14(x)\n");
}

static void softmax_on_the_last_axis(void **state)
{
    struct fixture *f = *state;

    start(f, 11);
    node(f, "Softmax", INPUT(f, "x", AMP_FLOAT, 2, 10), AMP_NONE, AMP_NONE, 1);
    raised(f, 13, "y = Softmax-13(x) axis=1\n");
    start(f, 9);
    node(f, "LogSoftmax", INPUT(f, "x", AMP_FLOAT, 2, 10, 1, 1), AMP_NONE, AMP_NONE, 1);
    raised(f, 13, "y = LogSoftmax-13(x) axis=1\n");
    start(f, 11);
    uint32_t id = node(f, "Hardmax", input_of_any_rank(f, "x", AMP_FLOAT), AMP_NONE, AMP_NONE, 1);
    amp_node_set_int(f->model, id, "axis", -1);
    raised(f, 13, "y = Hardmax-13(x) axis=-1\n");
}

/* Of dims AXIS on, that which has elements is the one; where none has, it is the last. */
static void softmax_beside_ones(void **state)
{
    static const struct {
        int axis, single; /* -1: no single one, -2: refused */
        int64_t dims[4];
    } lines[] = {
        {0, 0, {3, 1, 1, 1}},   {0, 1, {1, 3, 1, 1}},  {0, 2, {1, 1, 3, 1}},  {0, 3, {1, 1, 1, 3}},
        {0, 3, {1, 1, 1, 1}},   {1, 3, {3, 1, 1, 1}},  {3, 3, {3, 3, 3, 1}},  {3, 3, {3, 3, 3, 3}},
        {2, 2, {3, 3, 3, 1}},   {2, -1, {1, 1, 3, 3}}, {1, -1, {1, 3, 1, 3}}, {0, -1, {3, 1, 1, 3}},
        {0, -1, {3, 3, 1, 1}},  {4, -1, {1, 1, 1, 1}}, {-1, 3, {3, 3, 3, 3}}, {-4, 1, {1, 3, 1, 1}},
        {-3, -1, {1, 3, 3, 1}}, {5, -2, {1, 1, 1, 1}}, {-5, -2, {1, 1, 1, 1}}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[200];
        const int64_t *dims = lines[i].dims;
        int start_axis = lines[i].axis + (lines[i].axis < 0 ? 4 : 0);
        start(f, 11);
        uint32_t x = input(f, "x", AMP_FLOAT, 4, dims);
        uint32_t id = node(f, "Softmax", x, AMP_NONE, AMP_NONE, 1);
        amp_node_set_int(f->model, id, "axis", lines[i].axis);
        if (lines[i].single >= 0)
            snprintf(text, sizeof text, "y = Softmax-13(x) axis=%d\n", lines[i].single);
        else
            snprintf(text, sizeof text,
                     "y_Flatten = Flatten-13(x) axis=%d\n"
                     "y_Reshape = Softmax-13(y_Flatten) axis=-1\n"
                     "y = Reshape-13(y_Reshape, [%d %d %d %d])\n",
                     start_axis, (int)dims[0], (int)dims[1], (int)dims[2], (int)dims[3]);
        if (lines[i].single == -2)
            refused(f, 13, 12,
                    "node 0 with output 'y' (Softmax-11): cannot be raised to opset 13: Softmax "
                    "changed in opset 13: its axis does not fit the rank of its input");
        else
            raised(f, 13, text);
    }
    for (int axis = -2; axis <= 1; axis++) {
        char text[200];
        start(f, 11);
        uint32_t id =
            node(f, "Softmax", input_of_any_rank(f, "x", AMP_FLOAT), AMP_NONE, AMP_NONE, 1);
        amp_node_set_int(f->model, id, "axis", axis);
        snprintf(text, sizeof text,
                 "y_Flatten = Flatten-13(x) axis=%d\n"
                 "y_Reshape = Softmax-13(y_Flatten) axis=-1\n"
                 "y_Shape = Shape-13(x)\n"
                 "y = Reshape-13(y_Reshape, y_Shape)\n",
                 axis);
        raised(f, 13, axis == -1 ? "y = Softmax-13(x) axis=-1\n" : text);
    }
}

static void softmax_over_several_axes(void **state)
{
    struct fixture *f = *state;

    start(f, 11);
    node(f, "Softmax", INPUT(f, "x", AMP_FLOAT, 2, 3, 4), AMP_NONE, AMP_NONE, 1);
    raised(f, 13,
           "y_Flatten = Flatten-13(x) axis=1\n"
           "y_Reshape = Softmax-13(y_Flatten) axis=-1\n"
           "y = Reshape-13(y_Reshape, [2 3 4])\n");
    start(f, 11);
    node(f, "Softmax", INPUT(f, "x", AMP_FLOAT, AMP_DIM_UNKNOWN, 3, 4), AMP_NONE, AMP_NONE, 1);
    raised(f, 13,
           "y_Flatten = Flatten-13(x) axis=1\n"
           "y_Reshape = Softmax-13(y_Flatten) axis=-1\n"
           "y_Shape = Shape-13(x)\n"
           "y = Reshape-13(y_Reshape, y_Shape)\n");
}

static void axes_become_inputs(void **state)
{
    struct fixture *f = *state;

    start(f, 11);
    uint32_t id = node(f, "ReduceSum", INPUT(f, "x", AMP_FLOAT, 2, 3), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "axes", 1);
    raised(f, 13, "y = ReduceSum-13(x, [1])\n");
    start(f, 13);
    id = node(f, "ReduceMean", INPUT(f, "x", AMP_FLOAT, 2, 3), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "axes", -1, 0);
    amp_node_set_int(f->model, id, "keepdims", 0);
    raised(f, 17, "y = ReduceMean-13(x) axes=-1,0 keepdims=0\n");
    raised(f, 18, "y = ReduceMean-18(x, [-1 0]) keepdims=0\n");
    start(f, 11);
    node(f, "Squeeze", INPUT(f, "x", AMP_FLOAT, 2, 1), AMP_NONE, AMP_NONE, 1);
    raised(f, 22, "y = Squeeze-21(x)\n");
    start(f, 9);
    id = node(f, "Unsqueeze", INPUT(f, "x", AMP_FLOAT, 2, 1), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "axes", 0);
    raised(f, 13, "y = Unsqueeze-13(x, [0])\n");
}

static void other_attributes_become_inputs(void **state)
{
    struct fixture *f = *state;

    start(f, 9);
    uint32_t id = node(f, "Slice", INPUT(f, "x", AMP_FLOAT, 4, 4), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "starts", 0, 1);
    INTS(f, id, "ends", 2, -1);
    raised(f, 13, "y = Slice-13(x, [0 1], [2 -1])\n");
    start(f, 9);
    id = node(f, "TopK", INPUT(f, "x", AMP_FLOAT, 4, 4), AMP_NONE, AMP_NONE, 2);
    amp_node_set_int(f->model, id, "k", 3);
    raised(f, 24, "y, y1 = TopK-24(x, [3])\n");
    start(f, 4);
    id = node(f, "Reshape", INPUT(f, "x", AMP_FLOAT, 4, 4), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "shape", 0, -1);
    raised(f, 8, "y = Reshape-5(x, [0 -1])\n");
    assert_int_equal(f->model->ir_version, 4);
    start(f, 17);
    node(f, "DFT", INPUT(f, "x", AMP_FLOAT, 1, 4, 1), AMP_NONE, AMP_NONE, 1);
    raised(f, 20, "y = DFT-20(x, -, 1)\n");
}

static void clip_and_pad(void **state)
{
    struct fixture *f = *state;

    start(f, 10);
    uint32_t id = node(f, "Clip", INPUT(f, "x", AMP_FLOAT16, 4), AMP_NONE, AMP_NONE, 1);
    set_float(f, id, "max", 6.0f);
    raised(f, 13, "y = Clip-13(x, -, float166)\n");
    start(f, 1);
    id = node(f, "Clip", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
    set_float(f, id, "min", -1.0f);
    INTS(f, id, "consumed_inputs", 0);
    raised(f, 13, "y = Clip-13(x, -1)\n");
    start(f, 1);
    id = node(f, "Pad", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "paddings", 1, 2);
    set_float(f, id, "value", 0.5f);
    raised(f, 10, "y = Pad-2(x) value=0.5 pads=1,2\n");
    raised(f, 13, "y = Pad-13(x, [1 2], 0.5)\n");
    for (int i = -1; i <= 1;
         i++) { /* with 0, which is meant where nothing is said, it is not said */
        static const char *const values[] = {", -1", "", ", 1"};
        char text[60];
        start(f, 10);
        id = node(f, "Pad", INPUT(f, "x", AMP_DOUBLE, 4), AMP_NONE, AMP_NONE, 1);
        INTS(f, id, "pads", 1, 2);
        set_float(f, id, "value", (float)i);
        snprintf(text, sizeof text, "y = Pad-11(x, [1 2]%.2s%s%s)\n", values[i + 1],
                 i == 0 ? "" : "float64", i == 0 ? "" : values[i + 1] + 2);
        raised(f, 11, text);
        start(f, 10);
        id = node(f, "Clip", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
        set_float(f, id, "min", (float)i);
        set_float(f, id, "max", (float)i + 1);
        snprintf(text, sizeof text, "y = Clip-11(x, %d, %d)\n", i, i + 1);
        raised(f, 11, text);
    }
    start(f, 10);
    node(f, "Pad", INPUT(f, "x", AMP_UNDEFINED, 4), AMP_NONE, AMP_NONE, 1);
    refused(
        f, 11, 10,
        "node 0 with output 'y' (Pad-2): cannot be raised to opset 11: Pad changed in opset 11: "
        "its type is not known");
    start(f, 10);
    node(f, "Clip", INPUT(f, "x", AMP_UNDEFINED, 4), AMP_NONE, AMP_NONE, 1);
    refused(
        f, 11, 10,
        "node 0 with output 'y' (Clip-6): cannot be raised to opset 11: Clip changed in opset 11: "
        "its type is not known");
}

static void splits(void **state)
{
    struct fixture *f = *state;
    float sizes[2] = {1, 3};

    start(f, 11);
    uint32_t id = node(f, "Split", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 2);
    INTS(f, id, "split", 1, 3);
    raised(f, 18, "y, y1 = Split-18(x, [1 3])\n");
    start(f, 11);
    node(f, "Split", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 2);
    raised(f, 13, "y, y1 = Split-13(x)\n");
    raised(f, 18, "y, y1 = Split-18(x) num_outputs=2\n");
    start(f, 1);
    node(f, "Split", INPUT(f, "x", AMP_FLOAT, 4), weight(f, "s", sizes, 2), AMP_NONE, 2);
    raised(f, 11, "y, y1 = Split-11(x) split=1,3\n");
}

static void dropout_and_batch_normalization(void **state)
{
    struct fixture *f = *state;

    start(f, 6);
    uint32_t id = node(f, "Dropout", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 2);
    set_float(f, id, "ratio", 0.25f);
    amp_node_set_int(f->model, id, "is_test", 1);
    raised(f, 22, "y = Dropout-22(x, 0.25)\n");

    start(f, 9);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 4), s = INPUT(f, "s", AMP_FLOAT, 4);
    node(f, "BatchNormalization", x, s, s, 5);
    raised(f, 15, "y, y1, y2 = BatchNormalization-15(x, s, s) training_mode=1\n");
    start(f, 6);
    x = INPUT(f, "x", AMP_FLOAT, 1, 4), s = INPUT(f, "s", AMP_FLOAT, 4);
    id = node(f, "BatchNormalization", x, s, s, 5);
    amp_node_set_int(f->model, id, "is_test", 1);
    raised(f, 15, "y = BatchNormalization-15(x, s, s)\n");
    start(f, 9);
    x = INPUT(f, "x", AMP_FLOAT, 1, 4), s = INPUT(f, "s", AMP_FLOAT, 4);
    id = node(f, "BatchNormalization", x, s, s, 5);
    node(f, "Relu", amp_node_at(f->model, id)->outputs[3], AMP_NONE, AMP_NONE, 1);
    refused(f, 14, 13,
            "node 0 with output 'y' (BatchNormalization-9): cannot be raised to opset 14: "
            "BatchNormalization changed in opset 14: saved_mean or saved_var, which are gone, are "
            "used");
}

/* Of what training gave, each of the two outputs that version 14 dropped is in the way. */
static void saved_statistics_that_are_used(void **state)
{
    struct fixture *f = *state;

    for (uint32_t used = 0; used < 5; used++) {
        start(f, 9);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 4), s = INPUT(f, "s", AMP_FLOAT, 4);
        uint32_t id = node(f, "BatchNormalization", x, s, s, 5);
        node(f, "Relu", amp_node_at(f->model, id)->outputs[used], AMP_NONE, AMP_NONE, 1);
        enum amp_status status = amp_opset_raise(f->model, 14, NULL, &f->err);
        assert_int_equal(status, used < 3 ? AMP_OK : AMP_UNSUPPORTED);
    }
}

static void batch_normalization_per_activation(void **state)
{
    struct fixture *f = *state;

    start(f, 7);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 2, 2), s = INPUT(f, "s", AMP_FLOAT, 2, 2);
    uint32_t id = node(f, "BatchNormalization", x, s, AMP_NONE, 1);
    amp_node_grow_inputs(f->model, id, 5);
    for (uint32_t i = 2; i < 5; i++)
        amp_node_at(f->model, id)->inputs[i] = s;
    amp_node_set_int(f->model, id, "spatial", 0);
    raised(f, 9,
           "y_Flatten = Flatten-9(x) axis=1\n"
           "y_Reshape = Reshape-5(s, [-1])\n"
           "y_Reshape_2 = Reshape-5(s, [-1])\n"
           "y_Reshape_4 = Reshape-5(s, [-1])\n"
           "y_Reshape_6 = Reshape-5(s, [-1])\n"
           "y_Reshape_8 = BatchNormalization-9(y_Flatten, y_Reshape, y_Reshape_2, y_Reshape_4, "
           "y_Reshape_6)\n"
           "y = Reshape-5(y_Reshape_8, [1 2 2])\n");
    start(f, 7);
    x = INPUT(f, "x", AMP_FLOAT, 1, 2, 2), s = INPUT(f, "s", AMP_FLOAT, 2, 2);
    id = node(f, "BatchNormalization", x, s, s, 5);
    amp_node_set_int(f->model, id, "spatial", 0);
    refused(f, 9, 8,
            "node 0 with output 'y' (BatchNormalization-7): cannot be raised to opset 9: "
            "BatchNormalization changed in opset 9: it is trained per activation (spatial is 0)");
    /* Per channel, or with one activation each. */
    for (int spatial = 0; spatial < 2; spatial++) {
        start(f, 7);
        x = spatial ? INPUT(f, "x", AMP_FLOAT, 1, 2, 2) : INPUT(f, "x", AMP_FLOAT, 1, 2);
        s = INPUT(f, "s", AMP_FLOAT, 2);
        id = node(f, "BatchNormalization", x, s, s, 1);
        amp_node_set_int(f->model, id, "spatial", spatial);
        raised(f, 9, "y = BatchNormalization-9(x, s, s)\n");
    }
}

static void a_dropout_mask_that_is_used(void **state)
{
    struct fixture *f = *state;

    start(f, 7);
    uint32_t id = node(f, "Dropout", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 2);
    uint32_t mask = amp_node_at(f->model, id)->outputs[1];
    node(f, "Relu", mask, AMP_NONE, AMP_NONE, 1);
    raised(f, 13,
           "y, y_Cast = Dropout-13(x)\n"
           "y1 = Cast-13(y_Cast) to=1\n"
           "y_1 = Relu-13(y1)\n");
}

static void upsample_becomes_resize(void **state)
{
    struct fixture *f = *state;
    float scales[] = {1, 1, 2, 2}, shrink[] = {1, 1, 0.5f, 0.5f};

    start(f, 1);
    uint32_t id = node(f, "Upsample", INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), AMP_NONE, AMP_NONE, 1);
    set_float(f, id, "height_scale", 2.0f);
    set_float(f, id, "width_scale", 3.0f);
    set_string(f, id, "mode", "bilinear");
    raised(
        f, 13,
        "y = Resize-13(x, -, [1 1 2 3]) mode=linear coordinate_transformation_mode=asymmetric\n");
    start(f, 9);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2);
    node(f, "Upsample", x, INPUT(f, "s", AMP_FLOAT, 4), AMP_NONE, 1);
    raised(
        f, 11,
        "y = Resize-11(x, [], s) nearest_mode=floor coordinate_transformation_mode=asymmetric\n");
    start(f, 9);
    x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2);
    node(f, "Upsample", x, weight(f, "s", scales, 4), AMP_NONE, 1);
    raised(f, 10, "y = Resize-10(x, [1 1 2 2])\n");
    raised(f, 13,
           "y = Resize-13(x, -, [1 1 2 2]) nearest_mode=floor "
           "coordinate_transformation_mode=asymmetric\n");
    start(f, 10);
    x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2);
    node(f, "Resize", x, weight(f, "s", shrink, 4), AMP_NONE, 1);
    raised(f, 13,
           "y = Resize-13(x, -, [1 1 0.5 0.5]) nearest_mode=ceil "
           "coordinate_transformation_mode=asymmetric\n");
    /* what was needed on the way only is not left */
    assert_int_equal(f->model->graphs[0].initializers.count, 1);
}

static void upsample_without_scales(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 4; i++) {
        start(f, 1);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2);
        uint32_t id = node(f, "Upsample", x, AMP_NONE, AMP_NONE, 1);
        set_float(f, id, "height_scale", i == 0 || i == 2 ? 0.0f : 2.0f);
        set_float(f, id, "width_scale", i == 0 || i == 1 ? 0.0f : 2.0f);
        if (i < 3)
            refused(f, 7, 6,
                    "node 0 with output 'y' (Upsample-1): cannot be raised to opset 7: Upsample "
                    "changed in opset 7: it has no scales");
        else
            raised(f, 7, "y = Upsample-7(x) scales=1,1,2,2\n");
    }
}

/* Rounded down along what is enlarged and up along what shrinks; lines are not rounded. */
static void resizes_go_one_way_or_two(void **state)
{
    static const char rounded[] = "y = Resize-11(x, [], [1 1 %s]) nearest_mode=%s "
                                  "coordinate_transformation_mode=asymmetric\n";
    static const struct {
        float height, width;
        const char *scales, *rounding; /* NULL: two of them */
    } cases[] = {{1.5f, 1.25f, "1.5 1.25", "floor"},
                 {0.5f, 0.75f, "0.5 0.75", "ceil"},
                 {1, 1, "1 1", "floor"},
                 {1, 3, "1 3", "floor"},
                 {1, 0.5f, "1 0.5", "ceil"},
                 {2, 0.5f, NULL, NULL}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_linear = 0; is_linear < 2; is_linear++) {
            float scales[4] = {1, 1, cases[i].height, cases[i].width};
            char expected[512];
            start(f, 10);
            uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4, 4);
            uint32_t id = node(f, "Resize", x, weight(f, "s", scales, 4), AMP_NONE, 1);
            if (is_linear)
                set_string(f, id, "mode", "linear");
            if (is_linear)
                snprintf(expected, sizeof expected,
                         "y = Resize-11(x, [], [1 1 %g %g]) mode=linear "
                         "coordinate_transformation_mode=asymmetric\n",
                         (double)scales[2], (double)scales[3]);
            else if (cases[i].scales != NULL)
                snprintf(expected, sizeof expected, rounded, cases[i].scales, cases[i].rounding);
            else
                snprintf(expected, sizeof expected,
                         "y_Resize = Resize-11(x, [], [1 1 2 1]) nearest_mode=floor "
                         "coordinate_transformation_mode=asymmetric\n"
                         "y = Resize-11(y_Resize, [], [1 1 1 0.5]) nearest_mode=ceil "
                         "coordinate_transformation_mode=asymmetric\n");
            raised(f, 11, expected);
        }
}

/* Node 0, of operator OP, must be refused at VERSION because of REASON. */
static void lacks(struct fixture *f, const char *op, int version, const char *reason)
{
    char message[300];
    const struct amp_node *node = amp_node_at(f->model, 0);
    snprintf(
        message, sizeof message,
        "node 0 with output 'y' (%s-%d): cannot be raised to opset %d: %s changed in opset %d: %s",
        op, node->since_version, version, op, version, reason);
    refused(f, version, version - 1, message);
}

static void legacy_broadcasting(void **state)
{
    struct fixture *f = *state;
    float w[] = {1, 2, 3};

    start(f, 6);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
    uint32_t id = node(f, "Add", x, weight(f, "w", w, 3), AMP_NONE, 1);
    amp_node_set_int(f->model, id, "broadcast", 1);
    amp_node_set_int(f->model, id, "axis", 1);
    raised(f, 13, "y = Add-13(x, [1 2 3]:3x1x1)\n");
    start(f, 6);
    x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
    id = node(f, "Mul", x, INPUT(f, "b", AMP_FLOAT, 3, 4), AMP_NONE, 1);
    amp_node_set_int(f->model, id, "broadcast", 1);
    amp_node_set_int(f->model, id, "axis", 1);
    raised(f, 13,
           "y_Reshape = Reshape-13(b, [0 0 1])\n"
           "y = Mul-13(x, y_Reshape)\n");
    start(f, 6);
    x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
    id = node(f, "Sub", x, weight(f, "w", w, 3), AMP_NONE, 1);
    amp_node_set_int(f->model, id, "broadcast", 1);
    raised(f, 7, "y = Sub-7(x, [1 2 3])\n");
    start(f, 6);
    x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
    node(f, "PRelu", x, weight(f, "w", w, 3), AMP_NONE, 1);
    raised(f, 16, "y = PRelu-16(x, [1 2 3]:3x1x1)\n");
    start(f, 6);
    node(f, "PRelu", INPUT(f, "x", AMP_FLOAT, 2, 3, 4), INPUT(f, "s", AMP_FLOAT, 3, 1), AMP_NONE,
         1);
    raised(f, 7, "y = PRelu-7(x, s)\n");
    start(f, 6);
    node(f, "PRelu", INPUT(f, "x", AMP_FLOAT, 2, 3), weight(f, "w", w, 3), AMP_NONE, 1);
    raised(f, 7, "y = PRelu-7(x, [1 2 3])\n");
    for (int axis = -9; axis <= 3; axis += 12) {
        start(f, 6);
        x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
        id = node(f, "Mul", x, INPUT(f, "b", AMP_FLOAT, 3, 4), AMP_NONE, 1);
        amp_node_set_int(f->model, id, "broadcast", 1);
        amp_node_set_int(f->model, id, "axis", axis);
        refused(f, 7, 6,
                "node 0 with output 'y' (Mul-6): cannot be raised to opset 7: Mul changed in opset "
                "7: its axis does not fit the rank of its inputs");
    }
}

/* Scales that are computed may go both ways: what they are where they enlarge, and where they do
   not, is computed too. */
static void computed_scales_go_two_ways(void **state)
{
    struct fixture *f = *state;

    start(f, 10);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4, 4), s = INPUT(f, "s", AMP_FLOAT, 4);
    node(f, "Resize", x, s, AMP_NONE, 1);
    raised(f, 11,
           "y_Max = Max-8(s, [1])\n"
           "y_Resize = Resize-11(x, [], y_Max) nearest_mode=floor "
           "coordinate_transformation_mode=asymmetric\n"
           "y_Min = Min-8(s, [1])\n"
           "y = Resize-11(y_Resize, [], y_Min) nearest_mode=ceil "
           "coordinate_transformation_mode=asymmetric\n");
    for (uint32_t id = 0; id < f->model->n_values; id++)
        if (amp_value_at(f->model, id)->producer != AMP_NONE)
            assert_int_equal(amp_value_at(f->model, id)->dtype, AMP_FLOAT);
}

/* Of what Resize-11 has as scales and sizes one is empty, which is left out later on; so is what it
   cuts out, but where that counts. */
static void what_does_not_count_is_left_out(void **state)
{
    static int64_t four[] = {1, 1, 4, 4};
    static const char crop[] = "coordinate_transformation_mode=tf_crop_and_resize";
    static const struct {
        bool has_sizes, is_computed, crops;
        const char *raised;
    } cases[] = {{false, false, false, "y = Resize-13(x, -, [1 1 2 2], -)"},
                 {true, false, false, "y = Resize-13(x, -, -, [1 1 4 4])"},
                 {true, true, false, "y = Resize-13(x, -, -, n)"},
                 {false, false, true, "y = Resize-13(x, r, [1 1 2 2], -) "},
                 {true, false, true, "y = Resize-13(x, r, -, [1 1 4 4]) "}};
    float scales[] = {1, 1, 2, 2};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        start(f, 11);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), roi = INPUT(f, "r", AMP_FLOAT, 8);
        uint32_t id = node(f, "Resize", x, roi, weight(f, "s", scales, 4), 1);
        struct amp_tensor *tensor = amp_arena_alloc(f->arena, sizeof *tensor);
        *tensor = (struct amp_tensor){
            .dtype = AMP_INT64, .shape = {1, {cases[i].has_sizes ? 4 : 0}}, .data = four};
        uint32_t sizes = cases[i].is_computed ? INPUT(f, "n", AMP_INT64, 4)
                                              : amp_graph_add_initializer(f->model, 0, "n", tensor);
        struct amp_node *at = amp_node_at(f->model, id);
        const uint32_t inputs[] = {x, roi, at->inputs[2], sizes};
        at->inputs = amp_arena_memdup(f->arena, inputs, sizeof inputs);
        at->n_inputs = 4;
        if (cases[i].crops)
            set_string(f, id, "coordinate_transformation_mode", "tf_crop_and_resize");
        snprintf(text, sizeof text, "%s%s\n", cases[i].raised, cases[i].crops ? crop : "");
        raised(f, 13, text);
    }
}

/* Between opset 16 and 20 the ways of GridSample got other names, but for the nearest. */
static void ways_to_sample_have_other_names(void **state)
{
    static const char *const names[][2] = {{NULL, " mode=linear"},
                                           {"bilinear", " mode=linear"},
                                           {"bicubic", " mode=cubic"},
                                           {"nearest", " mode=nearest"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[100];
        start(f, 16);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4, 4), g = INPUT(f, "g", AMP_FLOAT, 1, 2, 2, 2);
        uint32_t id = node(f, "GridSample", x, g, AMP_NONE, 1);
        if (names[i][0] != NULL)
            set_string(f, id, "mode", names[i][0]);
        snprintf(text, sizeof text, "y = GridSample-20(x, g)%s\n", names[i][1]);
        raised(f, 20, text);
    }
    start(f, 7);
    node(f, "Upsample", INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), AMP_NONE, AMP_NONE, 1);
    lacks(f, "Upsample", 9, "it has no scales");
}

/* B lies along the axes of A from `axis` on, when it is broadcast: where these are the last ones
   nothing is to be done, and without ranks nothing can be. */
static void axes_of_legacy_broadcasting(void **state)
{
    static const char unknown[] =
        "it broadcasts along an axis and the rank of its inputs is not known";
    static const char misfit[] = "its axis does not fit the rank of its inputs";
    static const struct {
        int axis, rank, trailing; /* -1: it does not fit */
    } lines[] = {{0, 4, 0},  {0, 3, 1},  {0, 1, 3},   {1, 3, 0},  {2, 2, 0},  {2, 1, 1},
                 {3, 1, 0},  {-1, 1, 0}, {-4, 4, 0},  {-4, 2, 2}, {-2, 1, 1}, {1, 4, -1},
                 {3, 2, -1}, {4, 1, -1}, {-5, 1, -1}, {-1, 2, -1}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        start(f, 6);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 5), b = INPUT(f, "b", AMP_FLOAT, 2, 3, 4, 5);
        amp_value_at(f->model, b)->rank = (int8_t)lines[i].rank;
        uint32_t id = node(f, "Add", x, b, AMP_NONE, 1);
        amp_node_set_int(f->model, id, "broadcast", 1);
        amp_node_set_int(f->model, id, "axis", lines[i].axis);
        if (lines[i].trailing < 0) {
            lacks(f, "Add", 7, misfit);
        } else if (lines[i].trailing == 0) {
            raised(f, 7, "y = Add-7(x, b)\n");
        } else {
            char dims[20] = "", text[100];
            for (int k = 0; k < lines[i].rank + lines[i].trailing; k++)
                strcat(strcat(dims, k > 0 ? " " : ""), k < lines[i].rank ? "0" : "1");
            snprintf(text, sizeof text, "y_Reshape = Reshape-5(b, [%s])\ny = Add-7(x, y_Reshape)\n",
                     dims);
            raised(f, 7, text);
        }
    }
    start(f, 6);
    uint32_t scalars[] = {INPUT(f, "x", AMP_FLOAT, 2), INPUT(f, "b", AMP_FLOAT, 2)};
    for (int i = 0; i < 2; i++)
        amp_value_at(f->model, scalars[i])->rank = 0;
    uint32_t sum = node(f, "Add", scalars[0], scalars[1], AMP_NONE, 1);
    amp_node_set_int(f->model, sum, "broadcast", 1);
    amp_node_set_int(f->model, sum, "axis", 0);
    raised(f, 7, "y = Add-7(x, b)\n");
    for (int i = 0; i < 4; i++) {
        start(f, 6);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3), b = INPUT(f, "b", AMP_FLOAT, 2);
        amp_value_at(f->model, i % 2 == 0 ? x : b)->rank = -1;
        uint32_t id = node(f, "Add", x, b, AMP_NONE, 1);
        amp_node_set_int(f->model, id, "broadcast", i < 2);
        amp_node_set_int(f->model, id, "axis", 0);
        if (i < 2)
            lacks(f, "Add", 7, unknown);
        else
            raised(f, 7, "y = Add-7(x, b)\n"); /* what is not broadcast has no axis */
    }
}

/* Tile repeats along one axis at first, and along each of them later. */
static void repeats_are_for_each_axis(void **state)
{
    static const char unknown[] = "the axis and how often it repeats along it are not known";
    static const char misfit[] = "its axis does not fit the rank of its input";
    static const char *const repeats[] = {"4 1 1", "1 4 1", "1 1 4"};
    float four[] = {4, 4};
    struct fixture *f = *state;

    for (int axis = -1; axis <= 3; axis++) {
        float at[] = {(float)axis};
        char text[60];
        start(f, 5);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4);
        node(f, "Tile", x, weight(f, "t", four, 1), weight(f, "a", at, 1), 1);
        if (axis < 0 || axis > 2) {
            lacks(f, "Tile", 6, misfit);
            continue;
        }
        snprintf(text, sizeof text, "y = Tile-6(x, [%s])\n", repeats[axis]);
        raised(f, 6, text);
    }
    for (int i = 0; i < 5; i++) {
        float at[] = {0, 0};
        start(f, 5);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4);
        uint32_t tiles =
            i == 0 ? INPUT(f, "t", AMP_FLOAT, 1) : weight(f, "t", four, i == 1 ? 2 : 1);
        uint32_t axis = i == 2 ? INPUT(f, "a", AMP_FLOAT, 1) : weight(f, "a", at, i == 3 ? 2 : 1);
        if (i == 4)
            amp_value_at(f->model, x)->rank = -1;
        node(f, "Tile", x, tiles, axis, 1);
        lacks(f, "Tile", 6, unknown);
    }
}

/* Cast has names of types at first; those of onnx.proto, TensorProto.DataType. */
static void types_have_numbers(void **state)
{
    static const char *const names[] = {"FLOAT",  "UINT8",  "INT8",   "UINT16", "INT16",
                                        "INT32",  "INT64",  "STRING", "BOOL",   "FLOAT16",
                                        "DOUBLE", "UINT32", "UINT64"};
    static const char *const others[] = {"", "UNDEFINED", "float", "FLOAT1", "INT"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[60];
        start(f, 1);
        uint32_t id = node(f, "Cast", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
        set_string(f, id, "to", names[i]);
        snprintf(text, sizeof text, "y = Cast-6(x) to=%zu\n", i + 1);
        raised(f, 6, text);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        start(f, 1);
        uint32_t id = node(f, "Cast", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
        set_string(f, id, "to", others[i]);
        lacks(f, "Cast", 6, "the type it casts to is not known");
    }
}

/* What says nothing any more goes. */
static void settings_without_effect_go(void **state)
{
    static const char *const ops[] = {"RNN", "GRU", "LSTM"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char text[60];
        start(f, 3);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4), w = INPUT(f, "w", AMP_FLOAT, 1, 12, 4);
        uint32_t id = node(f, ops[i], x, w, INPUT(f, "r", AMP_FLOAT, 1, 12, 3), 1);
        amp_node_set_int(f->model, id, "output_sequence", 1);
        snprintf(text, sizeof text, "y = %s-7(x, w, r)\n", ops[i]);
        raised(f, 7, text);
    }
    start(f, 9);
    node(f, "DynamicSlice", INPUT(f, "x", AMP_FLOAT, 4), INPUT(f, "s", AMP_INT64, 1),
         INPUT(f, "e", AMP_INT64, 1), 1);
    raised(f, 10, "y = Slice-10(x, s, e)\n");
}

/* The slope gets dims of its own: what it was goes, unless it is an output too. */
static void outputs_are_not_left_over(void **state)
{
    struct fixture *f = *state;
    float w[] = {1, 2, 3};

    for (int is_output = 0; is_output < 2; is_output++) {
        start(f, 6);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4), slope = weight(f, "w", w, 3);
        (void)weight(f, "unused", w, 3); /* stays, as it was no use before either */
        node(f, "PRelu", x, slope, AMP_NONE, 1);
        if (is_output)
            amp_ids_push(f->model, &f->model->graphs[0].outputs, slope);
        amp_value_at(f->model, slope)->is_output = is_output;
        raised(f, 16, "y = PRelu-16(x, [1 2 3]:3x1x1)\n");
        assert_int_equal(f->model->graphs[0].initializers.count, 2 + is_output);
    }
}

static void changed_names_and_defaults(void **state)
{
    struct fixture *f = *state;

    start(f, 16);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4, 4);
    uint32_t id = node(f, "GridSample", x, INPUT(f, "g", AMP_FLOAT, 1, 2, 2, 2), AMP_NONE, 1);
    set_string(f, id, "mode", "bicubic");
    raised(f, 22, "y = GridSample-22(x, g) mode=cubic\n");
    start(f, 10);
    x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4, 4);
    uint32_t rois = INPUT(f, "r", AMP_FLOAT, 1, 4);
    node(f, "RoiAlign", x, rois, INPUT(f, "b", AMP_INT64, 1), 1);
    raised(f, 16, "y = RoiAlign-16(x, r, b) coordinate_transformation_mode=output_half_pixel\n");
    start(f, 1);
    node(f, "Selu", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
    raised(f, 6, "y = Selu-6(x) alpha=1.6732 gamma=1.0507\n");
    start(f, 1);
    id = node(f, "Cast", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
    set_string(f, id, "to", "INT64");
    raised(f, 13, "y = Cast-13(x) to=7\n");
    start(f, 9);
    x = INPUT(f, "x", AMP_FLOAT, 4);
    uint32_t i = INPUT(f, "i", AMP_INT64, 4);
    node(f, "Scatter", x, i, x, 1);
    raised(f, 18, "y = ScatterElements-18(x, i, x)\n");
}

static void orders_become_whole_numbers(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        start(f, 1);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4);
        uint32_t id = node(f, i == 0 ? "GlobalLpPool" : "LpPool", x, AMP_NONE, AMP_NONE, 1);
        if (i == 1)
            INTS(f, id, "kernel_shape", 2);
        set_float(f, id, "p", 3);
        raised(f, 2,
               i == 0 ? "y = GlobalLpPool-2(x) p=3\n" : "y = LpPool-2(x) kernel_shape=2 p=3\n");
        start(f, 1);
        x = INPUT(f, "x", AMP_FLOAT, 1, 1, 4);
        id = node(f, "GlobalLpPool", x, AMP_NONE, AMP_NONE, 1);
        set_float(f, id, "p", 2.5f);
        refused(
            f, 2, 1,
            "node 0 with output 'y' (GlobalLpPool-1): cannot be raised to opset 2: GlobalLpPool "
            "changed in opset 2: its order p is not a whole number");
    }
    /* one that is not said has nothing to become, and what has no known type may have any */
    for (int i = 0; i < 2; i++) {
        start(f, 1);
        uint32_t x = INPUT(f, "x", i == 0 ? AMP_FLOAT : AMP_UNDEFINED, 1, 1, 4);
        (void)node(f, "GlobalLpPool", x, AMP_NONE, AMP_NONE, 1);
        raised(f, 2, "y = GlobalLpPool-2(x)\n");
    }
}

/* With x = (i + 0.5) / scale, floor(x) is x - 0.5 rounded up at halves, and round(x) with halves
   down is the ceiling of x - 0.5. */
static void coordinates_that_are_gone(void **state)
{
    static const char *const roundings[][2] = {{"floor", "round_prefer_ceil"},
                                               {"round_prefer_floor", "ceil"}};
    struct fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        char expected[256];
        start(f, 11);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), r = INPUT(f, "r", AMP_FLOAT, 0);
        uint32_t id = node(f, "Resize", x, r, INPUT(f, "s", AMP_FLOAT, 4), 1);
        set_string(f, id, "nearest_mode", roundings[i][0]);
        set_string(f, id, "coordinate_transformation_mode", "tf_half_pixel_for_nn");
        snprintf(expected, sizeof expected,
                 "y = Resize-13(x, -, s) nearest_mode=%s "
                 "coordinate_transformation_mode=half_pixel\n",
                 roundings[i][1]);
        raised(f, 13, expected);
    }
    start(f, 11);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), r = INPUT(f, "r", AMP_FLOAT, 0);
    uint32_t id = node(f, "Resize", x, r, INPUT(f, "s", AMP_FLOAT, 4), 1);
    set_string(f, id, "mode", "linear"); /* which rounds nothing */
    set_string(f, id, "nearest_mode", "floor");
    set_string(f, id, "coordinate_transformation_mode", "tf_half_pixel_for_nn");
    refused(f, 13, 12,
            "node 0 with output 'y' (Resize-11): cannot be raised to opset 13: Resize changed in "
            "opset 13: its coordinates, tf_half_pixel_for_nn, are gone, and rounded like this no "
            "others are the same");
}

/* One slope for all needs no shape, nor do those of the last of two dims get more dims; scales are
   floats. */
static void what_fits_already_stays(void **state)
{
    struct fixture *f = *state;
    float w[] = {0.5f, 2, 3};

    start(f, 6);
    node(f, "PRelu", INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4), weight(f, "w", w, 1), AMP_NONE, 1);
    raised(f, 7, "y = PRelu-7(x, [0.5])\n");
    start(f, 6);
    node(f, "PRelu", input_of_any_rank(f, "x", AMP_FLOAT), weight(f, "w", w, 1), AMP_NONE, 1);
    raised(f, 7, "y = PRelu-7(x, [0.5])\n");
    start(f, 6);
    node(f, "PRelu", INPUT(f, "x", AMP_FLOAT, 2, 3), weight(f, "w", w, 3), AMP_NONE, 1);
    raised(f, 7, "y = PRelu-7(x, [0.5 2 3])\n");
    start(f, 6);
    node(f, "PRelu", INPUT(f, "x", AMP_FLOAT, 2, 3, 4), weight(f, "w", w, 3), AMP_NONE, 1);
    raised(f, 7, "y = PRelu-7(x, [0.5 2 3]:3x1)\n");
    start(f, 7);
    uint32_t id = node(f, "Upsample", INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), AMP_NONE, AMP_NONE, 1);
    INTS(f, id, "scales", 1, 1, 2, 2);
    refused(f, 9, 8,
            "node 0 with output 'y' (Upsample-7): cannot be raised to opset 9: Upsample changed in "
            "opset 9: it has no scales");
}

static void group_normalization(void **state)
{
    struct fixture *f = *state;

    start(f, 18);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 6, 4), s = INPUT(f, "s", AMP_FLOAT, 2);
    uint32_t id = node(f, "GroupNormalization", x, s, INPUT(f, "b", AMP_FLOAT, 2), 1);
    amp_node_set_int(f->model, id, "num_groups", 2);
    raised(f, 21,
           "y_Reshape = Reshape-21(s, [-1 1])\n"
           "y_Expand = Expand-13(y_Reshape, [1 3])\n"
           "y_Reshape_2 = Reshape-21(y_Expand, [-1])\n"
           "y_Reshape_4 = Reshape-21(b, [-1 1])\n"
           "y_Expand_2 = Expand-13(y_Reshape_4, [1 3])\n"
           "y_Reshape_6 = Reshape-21(y_Expand_2, [-1])\n"
           "y = GroupNormalization-21(x, y_Reshape_2, y_Reshape_6) num_groups=2\n");
    start(f, 18);
    x = INPUT(f, "x", AMP_FLOAT, 1, -1, 4), s = INPUT(f, "s", AMP_FLOAT, 2);
    id = node(f, "GroupNormalization", x, s, INPUT(f, "b", AMP_FLOAT, 2), 1);
    amp_node_set_int(f->model, id, "num_groups", 2);
    raised(f, 21,
           "y_Reshape = Reshape-21(s, [-1 1])\n"
           "y_Shape = Shape-21(x) start=1 end=2\n"
           "y_Div = Div-14(y_Shape, [2])\n"
           "y_Concat = Concat-13([1], y_Div) axis=0\n"
           "y_Expand = Expand-13(y_Reshape, y_Concat)\n"
           "y_Reshape_2 = Reshape-21(y_Expand, [-1])\n"
           "y_Reshape_4 = Reshape-21(b, [-1 1])\n"
           "y_Expand_2 = Expand-13(y_Reshape_4, y_Concat)\n"
           "y_Reshape_6 = Reshape-21(y_Expand_2, [-1])\n"
           "y = GroupNormalization-21(x, y_Reshape_2, y_Reshape_6) num_groups=2\n");
}

/* What is known of scales and biases is repeated at once; what divides into no groups is refused.
 */
static void groups_of_known_scales(void **state)
{
    static const char misfit[] = "its channels cannot be divided into its groups";
    float scale[] = {1, 2}, bias[] = {3, 4};
    struct fixture *f = *state;

    for (int groups = -1; groups <= 6; groups++) {
        start(f, 18);
        int count = groups == 1 ? 1 : 2;
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 4, 4), s = weight(f, "s", scale, count);
        uint32_t id = node(f, "GroupNormalization", x, s, weight(f, "b", bias, count), 1);
        amp_node_set_int(f->model, id, "num_groups", groups);
        if (groups < 1 || groups == 3 || groups > 4)
            lacks(f, "GroupNormalization", 21, misfit);
        else if (groups == 1)
            raised(f, 21, "y = GroupNormalization-21(x, [1 1 1 1], [3 3 3 3]) num_groups=1\n");
        else if (groups == 2)
            raised(f, 21, "y = GroupNormalization-21(x, [1 1 2 2], [3 3 4 4]) num_groups=2\n");
        else if (groups == 4)
            raised(f, 21, "y = GroupNormalization-21(x, [1 2], [3 4]) num_groups=4\n");
    }
    start(f, 18);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 6, 4), s = weight(f, "s", scale, 2);
    uint32_t id = node(f, "GroupNormalization", x, s, INPUT(f, "b", AMP_FLOAT, 2), 1);
    amp_node_set_int(f->model, id, "num_groups", 2);
    raised(f, 21,
           "y_Reshape = Reshape-21(b, [-1 1])\n"
           "y_Expand = Expand-13(y_Reshape, [1 3])\n"
           "y_Reshape_2 = Reshape-21(y_Expand, [-1])\n"
           "y = GroupNormalization-21(x, [1 1 1 2 2 2], y_Reshape_2) num_groups=2\n");
    for (int rank = 2; rank <= 3; rank++) {
        start(f, 18);
        x = INPUT(f, "x", AMP_FLOAT, 1, 4, 4), s = weight(f, "s", scale, 2);
        amp_value_at(f->model, x)->rank = (int8_t)rank;
        id = node(f, "GroupNormalization", x, s, weight(f, "b", bias, 2), 1);
        amp_node_set_int(f->model, id, "num_groups", 2);
        raised(f, 21, "y = GroupNormalization-21(x, [1 1 2 2], [3 3 4 4]) num_groups=2\n");
    }
    /* without channels the size of a group is computed, whatever is known of its scale */
    for (int rank = -1; rank <= 1; rank++) {
        start(f, 18);
        x = INPUT(f, "x", AMP_FLOAT, 1, AMP_DIM_UNKNOWN), s = weight(f, "s", scale, 2);
        id = node(f, "GroupNormalization", x, s, weight(f, "b", bias, 2), 1);
        amp_value_at(f->model, x)->rank = (int8_t)(rank == 0 ? 2 : rank);
        amp_node_set_int(f->model, id, "num_groups", 2);
        raised(f, 21,
               "y_Reshape = Reshape-21([1 2], [-1 1])\n"
               "y_Shape = Shape-21(x) start=1 end=2\n"
               "y_Div = Div-14(y_Shape, [2])\n"
               "y_Concat = Concat-13([1], y_Div) axis=0\n"
               "y_Expand = Expand-13(y_Reshape, y_Concat)\n"
               "y_Reshape_2 = Reshape-21(y_Expand, [-1])\n"
               "y_Reshape_4 = Reshape-21([3 4], [-1 1])\n"
               "y_Expand_2 = Expand-13(y_Reshape_4, y_Concat)\n"
               "y_Reshape_6 = Reshape-21(y_Expand_2, [-1])\n"
               "y = GroupNormalization-21(x, y_Reshape_2, y_Reshape_6) num_groups=2\n");
        for (size_t i = 0; i < f->model->n_values; i++)
            if (strncmp(amp_value_at(f->model, (uint32_t)i)->name, "y_", 2) == 0)
                assert_int_equal(amp_value_at(f->model, (uint32_t)i)->dtype,
                                 strpbrk(amp_value_at(f->model, (uint32_t)i)->name, "SDC") ||
                                         amp_value_at(f->model, (uint32_t)i)->constant != NULL
                                     ? AMP_INT64
                                     : AMP_FLOAT);
    }
}

/* An experiment of opset 1 on an input of DTYPE. */
static uint32_t experiment(struct fixture *f, const char *op, enum amp_dtype dtype)
{
    start(f, 9);
    return node(f, op, INPUT(f, "x", dtype, 1, 2, 4, 4), AMP_NONE, AMP_NONE, 1);
}

/* Experiments become what they were made of; their definitions are in ONNX's Changelog.md. */
static void experiments_become_what_they_mean(void **state)
{
    static const struct {
        int64_t border[4], scale[2];
        const char *raised;
    } crops[] = {{{1, 2, 3, 4}, {0}, "y = Slice-10(x, [2 1], [-4 -3], [2 3])\n"},
                 {{1, 2, 3, 4}, {5, 6}, "y = Slice-10(x, [2 1], [7 7], [2 3])\n"},
                 {{1, 0, 0, 4}, {0}, "y = Slice-10(x, [0 1], [-4 9.22337e+18], [2 3])\n"},
                 {{0, 2, 3, 0}, {0}, "y = Slice-10(x, [2 0], [9.22337e+18 -3], [2 3])\n"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof crops / sizeof *crops; i++) {
        uint32_t id = experiment(f, "Crop", AMP_FLOAT);
        set_ints(f, id, "border", 4, crops[i].border);
        if (crops[i].scale[0] > 0)
            set_ints(f, id, "scale", 2, crops[i].scale);
        raised(f, 10, crops[i].raised);
        const struct amp_node *slice = amp_node_at(f->model, id);
        const int64_t *ends = amp_value_at(f->model, slice->inputs[2])->constant->data;
        for (int k = 0; k < 2; k++)
            assert_true(ends[k] < 100 || ends[k] == INT64_MAX);
    }
    experiment(f, "Scale", AMP_FLOAT);
    raised(f, 10, "y = Mul-7(x, 1)\n");
    set_float(f, experiment(f, "Scale", AMP_FLOAT16), "scale", 2);
    raised(f, 10, "y = Mul-7(x, float162)\n");
    uint32_t id = experiment(f, "Affine", AMP_FLOAT);
    raised(f, 10, "y_Add = Mul-7(x, 1)\ny = Add-7(y_Add, 0)\n");
    id = experiment(f, "Affine", AMP_DOUBLE);
    amp_value_at(f->model, amp_node_at(f->model, id)->outputs[0])->dtype = AMP_DOUBLE;
    set_float(f, id, "alpha", 2);
    set_float(f, id, "beta", 3);
    raised(f, 10, "y_Add = Mul-7(x, float642)\ny = Add-7(y_Add, float643)\n");
    id = experiment(f, "ImageScaler", AMP_FLOAT);
    set_float(f, id, "scale", 2);
    raised(f, 10, "y = Mul-7(x, 2)\n");
    id = experiment(f, "ImageScaler", AMP_FLOAT);
    struct amp_attr bias = {.name = "bias", .type = AMP_ATTR_FLOATS, .count = 2};
    bias.floats = amp_arena_memdup(f->arena, (const float[]){3, 4}, 2 * sizeof(float));
    amp_node_set_attr(f->model, id, bias);
    raised(f, 10, "y_Add = Mul-7(x, 1)\ny = Add-7(y_Add, [3 4]:2x1x1)\n");
    experiment(f, "ImageScaler", AMP_UNDEFINED);
    lacks(f, "ImageScaler", 10, "the type of its input is not known");
    for (int i = 0; i < 2; i++) {
        char text[100];
        id = experiment(f, i == 0 ? "ParametricSoftplus" : "ScaledTanh", AMP_FLOAT);
        set_float(f, id, "alpha", 2);
        set_float(f, id, "beta", 3);
        snprintf(text, sizeof text,
                 "y_Mul = Mul-7(x, 3)\ny_Mul_2 = %s-1(y_Mul)\ny = Mul-7(y_Mul_2, 2)\n",
                 i == 0 ? "Softplus" : "Tanh");
        if (i == 1)
            text[strcspn(text, "1")] = '6';
        raised(f, 10, text);
    }
    for (int across = 0; across < 2; across++)
        for (int divides = -1; divides < 2; divides++) {
            start(f, 1);
            uint32_t x = INPUT(f, "x", AMP_FLOAT, 1, 2, 4, 4);
            id = node(f, "Softplus", x, AMP_NONE, AMP_NONE, 1);
            amp_node_at(f->model, id)->op_type = "MeanVarianceNormalization";
            amp_node_at(f->model, id)->schema = amp_schema_find("", "MeanVarianceNormalization", 1);
            if (amp_node_at(f->model, id)->schema == NULL)
                continue;
            amp_node_set_int(f->model, id, "across_channels", across);
            if (divides >= 0)
                amp_node_set_int(f->model, id, "normalize_variance", divides);
            if (divides == 0)
                lacks(f, "MeanVarianceNormalization", 9, "it does not divide by the deviation");
            else
                raised(f, 9,
                       across ? "y = MeanVarianceNormalization-9(x) axes=0,2,3,1\n"
                              : "y = MeanVarianceNormalization-9(x) axes=0,2,3\n");
        }
    for (int sides = 0; sides < 4; sides++) { /* a scale that is not said is none */
        start(f, 1);
        id = node(f, "Upsample", INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), AMP_NONE, AMP_NONE, 1);
        if (sides & 1)
            set_float(f, id, "height_scale", 1);
        if (sides & 2)
            set_float(f, id, "width_scale", 0.5f);
        if (sides < 3)
            lacks(f, "Upsample", 7, "it has no scales");
        else
            raised(f, 7, "y = Upsample-7(x) scales=1,1,1,0.5\n");
    }
}

/* What a cast is to make of a constant is filled in where it is asked for. */
static void constants_that_are_not_filled_in(void **state)
{
    struct fixture *f = *state;
    float items[] = {1, 2, 3};

    for (int has_data = 0; has_data < 2; has_data++) {
        start(f, 6);
        uint32_t x = INPUT(f, "x", AMP_FLOAT16, 2, 3, 4), slope = weight(f, "w", items, 3);
        struct amp_tensor *cast = amp_arena_alloc(f->arena, sizeof *cast);
        struct amp_value *value = amp_value_at(f->model, slope);
        *cast = (struct amp_tensor){
            .dtype = AMP_FLOAT16, .shape = value->constant->shape, .source = value->constant};
        if (has_data) {
            cast->data = amp_arena_alloc(f->arena, 6);
            for (size_t i = 0; i < 3; i++)
                amp_tensor_set_double(cast, i, (double)i + 5);
        }
        value->constant = cast;
        value->dtype = AMP_FLOAT16;
        node(f, "PRelu", x, slope, AMP_NONE, 1);
        raised(f, 7,
               has_data ? "y = PRelu-7(x, float16[5 6 7]:3x1)\n"
                        : "y = PRelu-7(x, float16[1 2 3]:3x1)\n");
    }
}

static void what_lacks_something_is_refused(void **state)
{
    static const char whole[] = "its border or its scale is not whole";
    static const char unknown[] = "the type of its input is not known";
    static const char *const bent[] = {"Affine", "ParametricSoftplus", "ScaledTanh"};
    static const int64_t four[] = {0, 0, 1, 1};
    static const float half = 0.5f;
    struct fixture *f = *state;
    for (size_t n_border = 3; n_border <= 4; n_border++)
        for (size_t n_scale = 1; n_scale <= 3; n_scale++) {
            uint32_t id = experiment(f, "Crop", AMP_FLOAT);
            set_ints(f, id, "border", n_border, four);
            set_ints(f, id, "scale", n_scale, four + 1);
            if (n_border != 4 || n_scale != 2)
                lacks(f, "Crop", 10, whole);
        }
    experiment(f, "Crop", AMP_FLOAT);
    lacks(f, "Crop", 10, whole);
    for (size_t i = 1; i < sizeof bent / sizeof *bent; i++) {
        experiment(f, bent[i], AMP_FLOAT);
        lacks(f, bent[i], 10, "it has no alpha or no beta");
        set_float(f, experiment(f, bent[i], AMP_FLOAT), "alpha", half);
        lacks(f, bent[i], 10, "it has no alpha or no beta");
        set_float(f, experiment(f, bent[i], AMP_FLOAT), "beta", half);
        lacks(f, bent[i], 10, "it has no alpha or no beta");
    }
    for (size_t i = 0; i < sizeof bent / sizeof *bent; i++) {
        experiment(f, bent[i], AMP_UNDEFINED);
        lacks(f, bent[i], 10, unknown);
    }
    experiment(f, "Scale", AMP_UNDEFINED);
    lacks(f, "Scale", 10, unknown);
    start(f, 1);
    node(f, "Pad", INPUT(f, "x", AMP_FLOAT, 4), AMP_NONE, AMP_NONE, 1);
    lacks(f, "Pad", 2, "it has no paddings");
    start(f, 7);
    node(f, "Dropout", INPUT(f, "x", AMP_UNDEFINED, 4), AMP_NONE, AMP_NONE, 2);
    uint32_t mask = amp_node_at(f->model, 0)->outputs[1];
    node(f, "Neg", mask, AMP_NONE, AMP_NONE, 1);
    lacks(f, "Dropout", 10, "the type of its mask is not known");
    for (int i = 0; i < 3; i++) {
        start(f, 6);
        uint32_t x = i < 2 ? INPUT(f, "x", AMP_FLOAT, 2, 3, 4) : INPUT(f, "x", AMP_FLOAT, 3);
        uint32_t slope = INPUT(f, "s", AMP_FLOAT, 3);
        if (i < 2)
            amp_value_at(f->model, i == 0 ? x : slope)->rank = -1;
        node(f, "PRelu", x, slope, AMP_NONE, 1);
        lacks(f, "PRelu", 7, "the shapes of its input and its slope are not known");
    }
}

/* Operators of others with a name that is coming, and what is gone, are nobody's concern; nor is
   what a node that stays as it is does not take. */
/* Only Constants and initializers go that nobody reads any more: no other node, no Constant that
   was read by nobody before, none without an output. */
static void only_constants_are_left_over(void **state)
{
    struct fixture *f = *state;
    float w[] = {1, 2, 3};

    start(f, 6);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4), slopes[2];
    static const char *const ops[] = {"Identity", "Constant"};
    for (int i = 0; i < 2; i++) {
        uint32_t id = node_in(f, 0, ops[i], i == 0 ? x : AMP_NONE, AMP_NONE, AMP_NONE, 1);
        slopes[i] = amp_node_at(f->model, id)->outputs[0];
        amp_value_at(f->model, slopes[i])->constant =
            amp_value_at(f->model, weight(f, i == 0 ? "w" : "v", w, 3))->constant;
        amp_value_set_shape(f->model, slopes[i], &(struct amp_shape){1, {3}});
    }
    (void)node_in(f, 0, "Constant", AMP_NONE, AMP_NONE, AMP_NONE, 1);
    uint32_t none = node_in(f, 0, "Constant", AMP_NONE, AMP_NONE, AMP_NONE, 1);
    amp_node_at(f->model, none)->outputs[0] = AMP_NONE;
    node(f, "PRelu", x, slopes[0], AMP_NONE, 1);
    node(f, "PRelu", x, slopes[1], AMP_NONE, 1);
    assert_int_equal(amp_opset_raise(f->model, 7, NULL, &f->err), AMP_OK);
    static const bool stays[] = {true, false, true, true, true, true};
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
        assert_int_equal(amp_node_at(f->model, (uint32_t)i)->is_removed, !stays[i]);
}

/* IR versions go up with the opset, and to 4 with an initializer that is no input of its graph. */
static void new_initializers_need_an_ir_version(void **state)
{
    struct fixture *f = *state;
    float w[] = {1, 2, 3};

    for (int has_new = 0; has_new < 2; has_new++) {
        start(f, 6);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4, 4);
        if (has_new)
            node(f, "PRelu", x, weight(f, "w", w, 3), AMP_NONE, 1);
        else
            node(f, "Relu", x, AMP_NONE, AMP_NONE, 1);
        assert_int_equal(amp_opset_raise(f->model, 8, NULL, &f->err), AMP_OK);
        assert_int_equal(f->model->ir_version, has_new ? 4 : 3);
    }
    f->model = amp_model_create(f->arena, "other.onnx");
    f->model->ir_version = 7;
    amp_model_import(f->model, "com.example", 13);
    amp_graph_add(f->model, "main", AMP_NONE);
    assert_int_equal(amp_opset_raise(f->model, 22, NULL, &f->err), AMP_OK);
    assert_int_equal(f->model->ir_version, 7);
    assert_int_equal(f->model->opsets[0].version, 13);
}

static void what_is_not_raised_stays(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++) {
        start(f, 13);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2);
        uint32_t id = node(f, "Relu", x, AMP_NONE, AMP_NONE, 1);
        struct amp_node *other = amp_node_at(f->model, id);
        other->op_type = "Gelu";
        other->schema = NULL;
        other->since_version = 0;
        other->domain = i == 0 ? "com.example" : "";
        if (i == 1) {
            amp_node_remove(f->model, id);
            f->model->graphs[0].outputs.count = 0;
        }
        if (i < 2)
            raised(f, 20, i == 0 ? "y = Gelu-0(x)\n" : "");
        else
            refused(f, 20, 19,
                    "node 0 with output 'y' (Gelu): cannot be raised to opset 20: the operator is "
                    "new in opset 20");
    }
    start(f, 1); /* which could not be raised if it were there */
    amp_node_remove(
        f->model, node(f, "Upsample", INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2), AMP_NONE, AMP_NONE, 1));
    f->model->graphs[0].outputs.count = 0;
    raised(f, 22, "");
    start(f, 13);
    uint32_t encoder = node(f, "Relu", INPUT(f, "x", AMP_FLOAT, 2), AMP_NONE, AMP_NONE, 1);
    amp_node_at(f->model, encoder)->domain = "ai.onnx.ml";
    amp_node_at(f->model, encoder)->op_type = "LabelEncoder";
    amp_node_at(f->model, encoder)->schema = amp_schema_find("ai.onnx.ml", "LabelEncoder", 1);
    amp_node_at(f->model, encoder)->since_version = 1;
    raised(f, 14, "y = LabelEncoder-1(x)\n");
    start(f, 13);
    f->model->opsets[0].domain = "ai.onnx";
    node(f, "Relu", INPUT(f, "x", AMP_FLOAT, 2), AMP_NONE, AMP_NONE, 1);
    raised(f, 14, "y = Relu-14(x)\n");
    assert_int_equal(f->model->opsets[0].version, 14);
    start(f, 14);
    node(f, "Relu", INPUT(f, "x", AMP_STRING, 2), AMP_NONE, AMP_NONE, 1);
    raised(f, 22, "y = Relu-14(x)\n");
    start(f, 13); /* inputs beyond an operator's last have no types to be looked at */
    uint32_t twice = INPUT(f, "x", AMP_FLOAT, 2);
    node(f, "Relu", twice, twice, AMP_NONE, 1);
    raised(f, 14, "y = Relu-14(x, x)\n");
    start(f, 13);
    node(f, "Relu", INPUT(f, "x", AMP_STRING, 2), AMP_NONE, AMP_NONE, 1);
    refused(f, 14, 13,
            "node 0 with output 'y' (Relu-14): cannot be raised to opset 14: Relu changed in opset "
            "14: it takes fewer types");
    for (int has_axis = 0; has_axis < 2; has_axis++) { /* Concat-1 joins along 1 unless told */
        start(f, 1);
        uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3);
        uint32_t id = node(f, "Concat", x, x, AMP_NONE, 1);
        if (has_axis)
            amp_node_set_int(f->model, id, "axis", 0);
        raised(f, 4, has_axis ? "y = Concat-4(x, x) axis=0\n" : "y = Concat-4(x, x) axis=1\n");
    }
}

static void nodes_in_bodies_are_raised(void **state)
{
    struct fixture *f = *state;

    start(f, 11);
    uint32_t cond = INPUT(f, "cond", AMP_BOOL, 1), x = INPUT(f, "x", AMP_FLOAT, 2, 1);
    uint32_t id = node(f, "If", cond, AMP_NONE, AMP_NONE, 1);
    uint32_t body = amp_graph_add(f->model, "then", id);
    uint32_t inner = node_in(f, body, "Unsqueeze", x, AMP_NONE, AMP_NONE, 1);
    INTS(f, inner, "axes", 0);
    struct amp_attr attr = {.name = "then_branch", .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(f->arena, &body, sizeof body);
    amp_node_set_attr(f->model, id, attr);
    raised(f, 13, "y = If-13(cond) then_branch=?\ny_1 = Unsqueeze-13(x, [0])\n");
    assert_int_equal(f->model->graphs[body].initializers.count, 1);
    assert_int_equal(f->model->graphs[0].initializers.count, 0);
}

static void what_cannot_be_raised_leaves_all_as_it_was(void **state)
{
    struct fixture *f = *state;

    start(f, 8);
    uint32_t x = INPUT(f, "x", AMP_FLOAT, 2, 3, 4);
    uint32_t id = node(f, "Softmax", x, AMP_NONE, AMP_NONE, 1);
    amp_node_at(f->model, node(f, "Scan", x, x, AMP_NONE, 1))->name = "loop";
    amp_node_set_int(f->model, id, "axis", 1);
    refused(f, 13, 8,
            "node 'loop' (Scan-8): cannot be raised to opset 13: Scan changed in opset 9: "
            "its sequences have lengths of their own");
    raised(f, 8, "y = Softmax-1(x) axis=1\ny_1 = Scan-8(x, x)\n");
    start(f, 11);
    x = INPUT(f, "x", AMP_FLOAT, 1, 1, 2, 2);
    id = node(f, "Resize", x, INPUT(f, "r", AMP_FLOAT, 0), INPUT(f, "s", AMP_FLOAT, 4), 1);
    set_string(f, id, "coordinate_transformation_mode", "tf_half_pixel_for_nn");
    set_string(f, id, "nearest_mode", "round_prefer_ceil");
    refused(f, 22, 12,
            "node 0 with output 'y' (Resize-11): cannot be raised to opset 22: Resize changed in "
            "opset 13: its coordinates, tf_half_pixel_for_nn, are gone, and rounded like this no "
            "others are the same");
    start(f, 13);
    id = node(f, "Relu", INPUT(f, "x", AMP_FLOAT, 2), AMP_NONE, AMP_NONE, 1);
    amp_node_at(f->model, id)->op_type = "Gelu";
    amp_node_at(f->model, id)->schema = NULL;
    amp_node_at(f->model, id)->since_version = 0;
    refused(f, 22, 19,
            "node 0 with output 'y' (Gelu): cannot be raised to opset 22: the operator is new "
            "in opset 20");
    refused(f, 20, 19,
            "node 0 with output 'y' (Gelu): cannot be raised to opset 20: the operator is new "
            "in opset 20");
    assert_int_equal(amp_opset_raise(f->model, 19, NULL, &f->err), AMP_OK);
}

/* Every step of every operator of ai.onnx either means the same or has an adapter; but nothing
   takes the place of an experiment that was dropped. */
static void every_change_has_its_adapter(void **state)
{
    const struct amp_schema *s, *next;

    (void)state;
    for (size_t i = 0; (s = amp_schema_at(i)) != NULL; i++) {
        next = amp_schema_next(s);
        if (next == NULL || s->domain[0] != '\0')
            continue;
        const char *difference = amp_schema_difference(s, next);
        bool has_adapter = amp_adapters_find(next->name, next->since_version) != NULL;
        if (difference == NULL && has_adapter)
            fail_msg("%s-%d has an adapter and needs none", next->name, next->since_version);
        if (difference != NULL && !has_adapter && strcmp(s->name, "GivenTensorFill") != 0)
            fail_msg("%s-%d has no adapter: %s", next->name, next->since_version, difference);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nodes_are_carried_over),
        TEST(unknown_opsets_are_refused),
        TEST(softmax_on_the_last_axis),
        TEST(softmax_over_several_axes),
        TEST(softmax_beside_ones),
        TEST(axes_become_inputs),
        TEST(other_attributes_become_inputs),
        TEST(clip_and_pad),
        TEST(splits),
        TEST(dropout_and_batch_normalization),
        TEST(saved_statistics_that_are_used),
        TEST(batch_normalization_per_activation),
        TEST(a_dropout_mask_that_is_used),
        TEST(upsample_becomes_resize),
        TEST(upsample_without_scales),
        TEST(resizes_go_one_way_or_two),
        TEST(legacy_broadcasting),
        TEST(computed_scales_go_two_ways),
        TEST(what_does_not_count_is_left_out),
        TEST(ways_to_sample_have_other_names),
        TEST(axes_of_legacy_broadcasting),
        TEST(repeats_are_for_each_axis),
        TEST(types_have_numbers),
        TEST(settings_without_effect_go),
        TEST(outputs_are_not_left_over),
        TEST(changed_names_and_defaults),
        TEST(orders_become_whole_numbers),
        TEST(coordinates_that_are_gone),
        TEST(what_fits_already_stays),
        TEST(group_normalization),
        TEST(groups_of_known_scales),
        TEST(experiments_become_what_they_mean),
        TEST(constants_that_are_not_filled_in),
        TEST(what_lacks_something_is_refused),
        TEST(only_constants_are_left_over),
        TEST(new_initializers_need_an_ir_version),
        TEST(what_is_not_raised_stays),
        TEST(nodes_in_bodies_are_raised),
        TEST(what_cannot_be_raised_leaves_all_as_it_was),
        TEST(every_change_has_its_adapter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
