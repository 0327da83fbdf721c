#ifndef AMP_TESTS_NET_H
#define AMP_TESTS_NET_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/tensor.h"
#include "onnx/schema/check.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"
#include "run/exec/session.h"

/*
 * A small model that a test builds in memory, step by step: input and constant add values, node an
 * operator whose first output comes back. NET_TEST gives each test an empty one.
 */
enum { NET_OUTPUTS = 4 };

static struct {
    struct amp_arena *arena;
    struct amp_model *model;
    struct amp_error err;
    struct amp_tensor outputs[NET_OUTPUTS]; /* of the last run */
} net;

/* ---- the model ---- */

static inline int net_open(void **state)
{
    (void)state;
    memset(&net, 0, sizeof net);
    net.arena = amp_arena_create();
    return 0;
}

static inline int net_close(void **state)
{
    (void)state;
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    amp_arena_destroy(net.arena);
    return 0;
}

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, net_open, net_close)

/* Begins an empty model at OPSET; what was built before is forgotten. */
static inline void net_start(int opset)
{
    net.err = (struct amp_error){.status = AMP_OK};
    net.model = amp_model_create(net.arena, "net.onnx");
    net.model->ir_version = amp_schema_ir_version(opset);
    amp_model_import(net.model, "", opset);
    amp_graph_add(net.model, "main", AMP_NONE);
}

#define DIMS(...) \
    ((struct amp_shape){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SCALAR ((struct amp_shape){.rank = 0})
#define ANY_DIMS ((struct amp_shape){.rank = -1})

static inline uint32_t net_value_in(uint32_t graph, const char *name, enum amp_dtype dtype,
                                    struct amp_shape shape)
{
    uint32_t id = amp_graph_add_value(net.model, graph, name);
    amp_value_set_shape(net.model, id, &shape);
    amp_value_at(net.model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(net.model, id)->dtype = dtype;
    return id;
}

static inline uint32_t input(const char *name, enum amp_dtype dtype, struct amp_shape shape)
{
    uint32_t id = net_value_in(0, name, dtype, shape);
    amp_value_at(net.model, id)->is_input = true;
    amp_ids_push(net.model, &net.model->graphs[0].inputs, id);
    return id;
}

/* A tensor of DATA, which are copied, in the model's arena. */
static inline struct amp_tensor *net_tensor(enum amp_dtype dtype, struct amp_shape shape,
                                            const void *data)
{
    struct amp_tensor *tensor = amp_arena_alloc(net.arena, sizeof *tensor);
    *tensor = (struct amp_tensor){.dtype = dtype, .shape = shape};
    tensor->data = amp_arena_memdup(net.arena, data, amp_tensor_size(tensor));
    return tensor;
}

static inline uint32_t constant(const char *name, enum amp_dtype dtype, struct amp_shape shape,
                                const void *data)
{
    return amp_graph_add_initializer(net.model, 0, name, net_tensor(dtype, shape, data));
}

#define FLOATS(name, ...)                                                           \
    constant(name, AMP_FLOAT, DIMS(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), \
             (const float[]){__VA_ARGS__})
#define NUMBERS(name, ...)                                                              \
    constant(name, AMP_INT64, DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
             (const int64_t[]){__VA_ARGS__})

/* A node of ai.onnx in GRAPH with N_OUTPUTS outputs called NAME, NAME_1 and so on; its id. */
static inline uint32_t net_node(uint32_t graph, const char *op_type, const char *name,
                                uint32_t n_outputs, const uint32_t *inputs, size_t n_inputs)
{
    uint32_t id = amp_graph_add_node(net.model, graph, op_type, (uint32_t)n_inputs, n_outputs);
    struct amp_node *made = amp_node_at(net.model, id);
    memcpy(made->inputs, inputs, n_inputs * sizeof *inputs);
    made->schema = amp_schema_find("", op_type, (int)amp_model_opset(net.model, ""));
    made->since_version = made->schema != NULL ? made->schema->since_version : 0;
    for (uint32_t i = 0; i < n_outputs; i++) {
        const char *unique = amp_model_unique_name(net.model, name);
        amp_node_set_output(net.model, id, i, net_value_in(graph, unique, AMP_UNDEFINED, ANY_DIMS));
    }
    return id;
}

#define IDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4
/* A node of the main graph with one output; the output's id. */
#define NODE(op_type, name, ...) net_out(net_node(0, op_type, name, 1, IDS(__VA_ARGS__)), 0)

static inline uint32_t net_out(uint32_t node, uint32_t i)
{
    return amp_node_at(net.model, node)->outputs[i];
}

/* The node that makes VALUE. */
static inline uint32_t node_of(uint32_t value)
{
    return amp_value_at(net.model, value)->producer;
}

static inline void output(uint32_t id)
{
    amp_value_at(net.model, id)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[0].outputs, id);
}

/* ---- attributes of the node that makes VALUE ---- */

static inline void set_int(uint32_t value, const char *name, int64_t number)
{
    amp_node_set_int(net.model, node_of(value), name, number);
}

static inline void set_list(uint32_t value, const char *name, size_t count, const int64_t *items)
{
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_INTS,
                          .count = count,
                          .ints = amp_arena_memdup(net.arena, items, count * sizeof *items)});
}

#define SET_INTS(value, name, ...)                                            \
    set_list(value, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
             (const int64_t[]){__VA_ARGS__})

static inline uint32_t to_dtype(const char *name, uint32_t x, enum amp_dtype dtype)
{
    uint32_t y = NODE("Cast", name, x);
    set_int(y, "to", dtype);
    return y;
}

/* The transpose of a matrix. */
static inline uint32_t turn(const char *name, uint32_t x)
{
    uint32_t y = NODE("Transpose", name, x);
    SET_INTS(y, "perm", 1, 0);
    return y;
}

static inline void set_number(uint32_t value, const char *name, float number)
{
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_FLOAT,
                          .count = 1,
                          .floats = amp_arena_memdup(net.arena, &number, sizeof number)});
}

static inline void set_word(uint32_t value, const char *name, const char *word)
{
    struct amp_str *string = amp_arena_alloc(net.arena, sizeof *string);
    *string = (struct amp_str){word, strlen(word)};
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){.name = name, .type = AMP_ATTR_STRING, .count = 1, .strings = string});
}

static inline void set_floats(uint32_t value, const char *name, size_t count, const float *items)
{
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_FLOATS,
                          .count = count,
                          .floats = amp_arena_memdup(net.arena, items, count * sizeof *items)});
}

/* Any attribute that is a list, of COUNT items of SIZE bytes. */
static inline void set_array(uint32_t value, const char *name, enum amp_attr_type type,
                             size_t count, const void *items, size_t size)
{
    struct amp_attr attr = {.name = name, .type = type, .count = count};
    attr.ints = amp_arena_memdup(net.arena, items, count * size);
    amp_node_set_attr(net.model, node_of(value), attr);
}

/* A model of one operator on one input, which has SHAPE. */
static inline uint32_t start_one(const char *op_type, int opset, enum amp_dtype dtype,
                                 struct amp_shape shape)
{
    net_start(opset);
    uint32_t y = NODE(op_type, "y", input("x", dtype, shape));
    output(y);
    return y;
}

/* ---- what comes of it ---- */

/* Checks and infers, as when the model comes from a file. */
static inline enum amp_status net_infer(void)
{
    AMP_TRY(amp_check_model(net.model, &net.err));
    return amp_infer(net.model, &net.err);
}

static inline void infer_all(void)
{
    if (net_infer() != AMP_OK)
        fail_msg("%s", net.err.text);
}

static inline void assert_dump(const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    amp_model_dump(file, net.model, NULL, NULL);
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    free(text);
}

/* Runs the model on INPUTS; the outputs are in net.outputs. */
static inline enum amp_status net_run(bool is_strict, const struct amp_tensor *inputs)
{
    struct amp_session *session = NULL;
    net.err = (struct amp_error){.status = AMP_OK};
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    enum amp_status status = net_infer();
    if (status == AMP_OK)
        status = amp_session_open(net.model, is_strict, &session, &net.err);
    if (status == AMP_OK)
        status = amp_session_run(session, inputs, net.outputs, &net.err);
    amp_session_destroy(session);
    return status;
}

#define TENSORS(...) ((const struct amp_tensor[]){__VA_ARGS__})

/* Runs the model, strictly; each argument is a tensor, as net_tensor makes them. */
static inline void run_on(const struct amp_tensor *inputs)
{
    if (net_run(true, inputs) != AMP_OK)
        fail_msg("%s", net.err.text);
}

/* The model is refused, at once or when it runs, with STATUS and TEXT at the end of what is said.
 */
static inline void refuses(const struct amp_tensor *inputs, enum amp_status status,
                           const char *text)
{
    enum amp_status found = net_run(true, inputs);
    size_t length = strlen(net.err.text), tail = strlen(text);
    if (found != status || length < tail || strcmp(net.err.text + length - tail, text) != 0)
        fail_msg("status %d: %s", (int)found, net.err.text);
}

static inline void expect_doubles(uint32_t i, const double *expected, size_t count, double error)
{
    assert_int_equal(amp_tensor_count(&net.outputs[i]), count);
    for (size_t k = 0; k < count; k++) {
        double found = amp_tensor_double(&net.outputs[i], k);
        bool are_nan = found != found && expected[k] != expected[k];
        if (!are_nan && found != expected[k] &&
            !(found - expected[k] <= error && expected[k] - found <= error))
            fail_msg("output %d, element %zu: %.9g; %.9g is right", (int)i, k, found, expected[k]);
    }
}

/* The values of output I, all of them. */
#define EXPECT_OUTPUT(i, error, ...)                 \
    expect_doubles(i, (const double[]){__VA_ARGS__}, \
                   sizeof((double[]){__VA_ARGS__}) / sizeof(double), error)

#endif
