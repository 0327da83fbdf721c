#ifndef AMP_TESTS_SHAPE_CALL_H
#define AMP_TESTS_SHAPE_CALL_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "ops/op.h"

/* One call of a shape function, put together step by step, and what is expected of it. */
enum { Q = AMP_DIM_UNKNOWN, B = -2, S = -3 }; /* unknown, and two symbols */

enum { MOST = 6 };

static struct {
    struct amp_node node;
    struct amp_attr attrs[MOST];
    struct amp_tensor in[MOST], out[MOST];
    int64_t values[MOST][16];
    float numbers[MOST];
    struct amp_str words[MOST];
    uint32_t n_in;
    struct amp_error err;
} call;

static inline void start(const char *op_type, int version)
{
    memset(&call, 0, sizeof call);
    call.node = (struct amp_node){
        .op_type = op_type, .domain = "", .since_version = version, .attrs = call.attrs};
}

static inline struct amp_tensor *next_input(enum amp_dtype dtype, const int64_t *dims, size_t rank)
{
    struct amp_tensor *in = &call.in[call.n_in++];
    *in = (struct amp_tensor){.dtype = dtype, .shape.rank = (int)rank};
    for (size_t i = 0; i < rank; i++)
        in->shape.dims[i] = dims[i];
    return in;
}

static inline void add_values(const int64_t *values, size_t n)
{
    memcpy(call.values[call.n_in], values, n * sizeof *values);
    void *data = call.values[call.n_in];
    next_input(AMP_INT64, (int64_t[]){(int64_t)n}, 1)->data = data;
}

static inline void add_attr(const char *name, const int64_t *values, size_t n,
                            enum amp_attr_type type)
{
    int64_t *kept = call.values[MOST - 1 - call.node.n_attrs];
    memcpy(kept, values, n * sizeof *values);
    call.attrs[call.node.n_attrs++] =
        (struct amp_attr){.name = name, .type = type, .count = n, .ints = kept};
}

#define LIST(...) (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
/* Inputs, in order: of these dims with unknown data; int64 vectors of these values. */
#define TENSOR(...) next_input(AMP_FLOAT, LIST(__VA_ARGS__))
#define VALUES(...) add_values(LIST(__VA_ARGS__))
#define NO_VALUES(length) next_input(AMP_INT64, LIST(length))
#define ANY_RANK() (next_input(AMP_FLOAT, LIST(0))->shape.rank = -1)
#define OMITTED() (call.in[call.n_in++].dtype = AMP_UNDEFINED)
#define FLOATS(...) \
    add_floats((const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float))
#define WORD(name, word) add_word(name, word)
#define INT(name, value) add_attr(name, LIST(value), AMP_ATTR_INT)
#define INTS(name, ...) add_attr(name, LIST(__VA_ARGS__), AMP_ATTR_INTS)

static inline void add_word(const char *name, const char *word)
{
    struct amp_str *kept = &call.words[call.node.n_attrs];
    *kept = (struct amp_str){word, strlen(word)};
    call.attrs[call.node.n_attrs++] =
        (struct amp_attr){.name = name, .type = AMP_ATTR_STRING, .count = 1, .strings = kept};
}

/* A float32 vector. */
static inline void add_floats(const float *values, size_t n)
{
    void *data = memcpy(call.values[call.n_in], values, n * sizeof *values);
    next_input(AMP_FLOAT, (int64_t[]){(int64_t)n}, 1)->data = data;
}

static inline void add_float(float value)
{
    call.numbers[call.n_in] = value;
    void *data = &call.numbers[call.n_in];
    next_input(AMP_FLOAT, NULL, 0)->data = data;
}

static inline enum amp_status infer(uint32_t n_out)
{
    const struct amp_tensor *in[MOST];
    struct amp_tensor *out[MOST];
    for (uint32_t i = 0; i < call.n_in; i++)
        in[i] = call.in[i].dtype == AMP_UNDEFINED ? NULL : &call.in[i];
    for (uint32_t i = 0; i < n_out; i++) {
        out[i] = &call.out[i];
        *out[i] = (struct amp_tensor){.dtype = AMP_FLOAT, .shape.rank = -1};
    }
    struct amp_ctx ctx = {.node = &call.node,
                          .in = in,
                          .n_in = call.n_in,
                          .out = out,
                          .n_out = n_out,
                          .err = &call.err};
    const struct amp_op *op = amp_op_find(call.node.domain, call.node.op_type);
    assert_non_null(op);
    return op->shape(&ctx);
}

static inline void expect_dims(const struct amp_shape *shape, const int64_t *dims, size_t rank)
{
    assert_int_equal(shape->rank, rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(shape->dims[i], dims[i]);
}

static inline void expect_call(const int64_t *dims, size_t rank)
{
    if (infer(1) != AMP_OK)
        fail_msg("%s", call.err.text);
    expect_dims(&call.out[0].shape, dims, rank);
}

/* Runs the call: output 0 has these dims; is a scalar; is of unknown rank. */
#define EXPECT(...) expect_call(LIST(__VA_ARGS__))
#define EXPECT_SCALAR() expect_call(NULL, 0)
#define EXPECT_ANY_RANK()                             \
    do {                                              \
        assert_int_equal(infer(1), AMP_OK);           \
        assert_int_equal(call.out[0].shape.rank, -1); \
    } while (0)

static inline void expect_failure(const char *text)
{
    assert_int_equal(infer(1), AMP_MODEL);
    assert_string_equal(call.err.text, text);
}

#endif
