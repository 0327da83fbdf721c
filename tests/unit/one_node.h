#ifndef AMP_TESTS_ONE_NODE_H
#define AMP_TESTS_ONE_NODE_H

#include "net.h"

#include <ctype.h>

/*
 * Models of one node out of a line of text:
 *     Conv-11 f[1,6,3,3] f[4,3,1,1] group=2
 * The operator, with its domain before it if it is not ai.onnx, and the opset; its inputs, "_" for
 * one that is omitted; its attributes; ">3" for a number of outputs other than 1, "~1" for one of
 * them that is omitted. An input is a letter for its type and its dims, and "=1,2" after that its
 * values; else floats are 1, integers 0, bools true and strings empty. An attribute is a whole
 * number, a number with a point, a list of whole numbers ("[1,2]"), of floats ("(1,2.5)") or of
 * words ("{a,b}"), or a word.
 */
enum one_way {
    ONE_GIVEN,    /* the inputs are the model's, with their shapes */
    ONE_UNKNOWN,  /* ... without shapes */
    ONE_RANKED,   /* ... with as many dims as they have, none of them known */
    ONE_FIRST,    /* ... but for the first, which has its shape */
    ONE_WEIGHTS,  /* none of the first's dims is known; the others are initializers */
    ONE_CONSTANT, /* the inputs are initializers */
    ONE_LAST,     /* the last has its shape; none of the others' dims is known */
    ONE_EVEN,     /* as ONE_GIVEN, but of every other input no dim is known, from the first on */
    ONE_ODD,      /* ... from the second on */
    ONE_TAIL,     /* as ONE_GIVEN, but the first's rank is not known */
    ONE_HEAD,     /* ... the others' ranks are not known */
    ONE_OUTER,    /* ... of all inputs every other dim, from the first on, is not known */
    ONE_INNER,    /* ... from the second on */
    ONE_WAYS
};

static const struct {
    char letter;
    enum amp_dtype dtype;
} one_types[] = {{'f', AMP_FLOAT}, {'d', AMP_DOUBLE}, {'h', AMP_FLOAT16},
                 {'i', AMP_INT64}, {'j', AMP_INT32},  {'c', AMP_INT8},
                 {'u', AMP_UINT8}, {'b', AMP_BOOL},   {'s', AMP_STRING}};

static struct {
    struct amp_tensor inputs[16]; /* of the graph */
    size_t n_inputs, n_words;     /* those so far; all that the line has */
} one;

static inline enum amp_dtype one_dtype(char letter)
{
    for (size_t i = 0; i < sizeof one_types / sizeof *one_types; i++)
        if (one_types[i].letter == letter)
            return one_types[i].dtype;
    fail_msg("no type '%c'", letter);
    return AMP_UNDEFINED;
}

static inline void one_set(const struct amp_tensor *tensor, size_t i, double value)
{
    if (tensor->dtype == AMP_INT64)
        ((int64_t *)tensor->data)[i] = (int64_t)value;
    else if (tensor->dtype == AMP_INT32)
        ((int32_t *)tensor->data)[i] = (int32_t)value;
    else if (tensor->dtype == AMP_STRING)
        ((struct amp_str *)tensor->data)[i] = (struct amp_str){"", 0};
    else if (amp_dtype_bits(tensor->dtype) == 8)
        ((int8_t *)tensor->data)[i] = (int8_t)value;
    else
        amp_tensor_set_double(tensor, i, value);
}

/* Whole numbers with commas between them, up to a bracket if there is one; their number. */
static inline size_t one_list(const char **at, int64_t *items)
{
    size_t count = 0;
    while (**at == '-' || isdigit((unsigned char)**at)) {
        items[count++] = strtoll(*at, (char **)(uintptr_t)at, 10);
        *at += **at == ',';
    }
    *at += **at == ']';
    return count;
}

/* "f[2,3]=1,2,..." */
static inline struct amp_tensor *one_tensor(const char *text)
{
    struct amp_tensor *tensor = amp_arena_alloc(net.arena, sizeof *tensor);
    const char *at = text + 2;
    *tensor = (struct amp_tensor){.dtype = one_dtype(*text)};
    tensor->shape.rank = (int)one_list(&at, tensor->shape.dims);
    enum amp_dtype_class class = amp_dtype_class(tensor->dtype);
    bool is_zero = class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
    size_t count = amp_tensor_count(tensor);
    tensor->data = amp_arena_alloc(net.arena, amp_tensor_size(tensor) + 1);
    for (size_t i = 0; i < count; i++)
        one_set(tensor, i, is_zero ? 0 : 1);
    for (size_t i = 0; i < count && *at != '\0'; i++)
        one_set(tensor, i, strtod(at + 1, (char **)(uintptr_t)&at));
    return tensor;
}

/* Whether no dim of input I of N, which is there, is known. */
static inline bool one_is_ranked(size_t i, size_t n, enum one_way way)
{
    return way == ONE_RANKED || (way == ONE_FIRST && i > 0) || (way == ONE_WEIGHTS && i == 0) ||
           (way == ONE_LAST && i + 1 < n) || (way == ONE_EVEN && i % 2 == 0) ||
           (way == ONE_ODD && i % 2 != 0);
}

static inline bool one_is_unknown(size_t i, enum one_way way)
{
    return way == ONE_UNKNOWN || way == (i == 0 ? ONE_TAIL : ONE_HEAD);
}

static inline uint32_t one_input(const char *text, enum one_way way)
{
    if (strcmp(text, "_") == 0)
        return AMP_NONE;
    struct amp_tensor *tensor = one_tensor(text);
    const char *name = amp_arena_printf(net.arena, "x%zu", one.n_inputs);
    const size_t i = one.n_inputs++;
    one.inputs[i] = *tensor;
    if (way == ONE_CONSTANT || (way == ONE_WEIGHTS && i > 0))
        return amp_graph_add_initializer(net.model, 0, name, tensor);
    struct amp_shape shape = one_is_unknown(i, way) ? ANY_DIMS : tensor->shape;
    for (int d = 0; d < shape.rank; d++)
        if (one_is_ranked(i, one.n_words, way) || way == (d % 2 == 0 ? ONE_OUTER : ONE_INNER))
            shape.dims[d] = AMP_DIM_UNKNOWN;
    return input(name, tensor->dtype, shape);
}

static inline void one_words(uint32_t value, const char *name, const char *text)
{
    char *words = amp_arena_strdup(net.arena, text + 1);
    struct amp_str *items = amp_arena_array(net.arena, 16, sizeof *items);
    size_t count = 0;
    words[strlen(words) - 1] = '\0';
    for (char *word; (word = strsep(&words, ",")) != NULL;)
        items[count++] = (struct amp_str){word, strlen(word)};
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){
            .name = name, .type = AMP_ATTR_STRINGS, .count = count, .strings = items});
}

static inline void one_floats(uint32_t value, const char *name, const char *text)
{
    float *items = amp_arena_array(net.arena, 32, sizeof *items);
    size_t count = 0;
    for (const char *at = text; at[1] != ')' && *at != ')'; count++)
        items[count] = strtof(at + 1, (char **)(uintptr_t)&at);
    amp_node_set_attr(
        net.model, node_of(value),
        (struct amp_attr){.name = name, .type = AMP_ATTR_FLOATS, .count = count, .floats = items});
}

static inline void one_attr(uint32_t value, const char *name, const char *text)
{
    int64_t items[32];
    const char *at = text + 1;
    if (*text == '[')
        set_list(value, name, one_list(&at, items), items);
    else if (*text == '(')
        one_floats(value, name, text);
    else if (*text == '{')
        one_words(value, name, text);
    else if (*text != '-' && !isdigit((unsigned char)*text))
        set_word(value, name, text);
    else if (strchr(text, '.') != NULL)
        set_number(value, name, strtof(text, NULL));
    else
        set_int(value, name, strtoll(text, NULL, 10));
}

/* "com.microsoft.Attention-1": gives NODE its operator. */
static inline void one_operator(uint32_t node, const char *domain, const char *op_type, int opset)
{
    struct amp_node *made = amp_node_at(net.model, node);
    made->domain = domain;
    made->schema = amp_schema_find(domain, op_type, opset);
    made->since_version = made->schema != NULL ? made->schema->since_version : 0;
}

/* Begins the model of the operator that *WORD names; its name comes back. */
static inline const char *one_start(char *word, const char **domain, int *opset)
{
    char *dash = strrchr(word, '-'), *dot = strrchr(word, '.');
    *opset = atoi(dash + 1);
    *dash = '\0';
    *domain = "";
    if (dot != NULL) {
        *dot = '\0';
        *domain = word;
    }
    net_start(dot != NULL ? 22 : *opset);
    if (dot != NULL)
        amp_model_import(net.model, word, *opset);
    one.n_inputs = 0;
    return dot != NULL ? dot + 1 : word;
}

static inline bool one_is_attr(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals != NULL && equals[-1] != ']';
}

/* Makes the model of LINE. */
static inline void one_node(const char *line, enum one_way way)
{
    uint32_t inputs[16], n_inputs = 0, n_outputs = 1, omitted = AMP_NONE;
    char *words[32], *next = amp_arena_strdup(net.arena, line);
    size_t n_words = 0;
    const char *domain;
    int opset;
    for (char *word; (word = strsep(&next, " ")) != NULL;)
        words[n_words++] = word;
    const char *op_type = one_start(words[0], &domain, &opset);
    one.n_words = 0;
    for (size_t i = 1; i < n_words; i++)
        one.n_words += strchr(">~_", words[i][0]) == NULL && !one_is_attr(words[i]);
    for (size_t i = 1; i < n_words; i++)
        if (words[i][0] == '>')
            n_outputs = (uint32_t)atoi(words[i] + 1);
        else if (words[i][0] == '~')
            omitted = (uint32_t)atoi(words[i] + 1);
        else if (!one_is_attr(words[i]))
            inputs[n_inputs++] = one_input(words[i], way);
    uint32_t id = net_node(0, op_type, "y", n_outputs, inputs, n_inputs);
    one_operator(id, domain, op_type, opset);
    for (uint32_t i = 0; i < n_outputs && i < NET_OUTPUTS; i++)
        if (i != omitted)
            output(net_out(id, i));
    if (omitted != AMP_NONE)
        amp_node_at(net.model, id)->outputs[omitted] = AMP_NONE;
    for (size_t i = 1; i < n_words; i++)
        if (one_is_attr(words[i])) {
            char *value = strchr(words[i], '=');
            *value = '\0';
            one_attr(net_out(id, 0), words[i], value + 1);
        }
}

/* Whether the node is one of those of which not even constant inputs tell the shape, or that give
   no tensor. */
static inline bool one_gives_what_it_finds(void)
{
    static const char *const names[] = {"NonMaxSuppression", "SplitToSequence", "Compress",
                                        "Unique", "StringNormalizer"};
    const struct amp_value *y = amp_value_at(net.model, net.model->graphs[0].outputs.items[0]);
    bool is_one = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_one |= strcmp(amp_node_at(net.model, y->producer)->op_type, names[i]) == 0;
    return is_one;
}

/* Whether the shape that was inferred of output 0 is that of the run, as far as it tells, which is
   all of it where the inputs are constants, and its operator refuses nothing that has come to be
   known before. */
static inline bool one_is_inferred(enum one_way way)
{
    bool is_told, is_whole = way == ONE_CONSTANT && !one_gives_what_it_finds();
    struct amp_shape inferred;
    const struct amp_shape *found = &net.outputs[0].shape;
    const struct amp_value *y = amp_value_at(net.model, net.model->graphs[0].outputs.items[0]);
    amp_value_shape(y, &inferred);
    bool is_same = (inferred.rank < 0 && !is_whole) || inferred.rank == found->rank;
    for (int d = 0; d < inferred.rank && is_same; d++)
        is_same = (inferred.dims[d] < 0 && !is_whole) || inferred.dims[d] == found->dims[d];
    return is_same && amp_infer_check_shapes(net.model, &is_told, &net.err) == AMP_OK;
}

/* Runs the node of LINE. EXPECTED is output 0's shape, "[2, 3]", or how its refusal ends. Says what
   is another. */
static inline bool one_is_as(const char *line, const char *expected, enum one_way way)
{
    char text[256];
    one_node(line, way);
    enum amp_status status = net_run(true, one.inputs);
    const char *found =
        status == AMP_OK ? amp_shape_text(&net.outputs[0].shape, text, sizeof text) : net.err.text;
    size_t length = strlen(found), tail = strlen(expected);
    if ((expected[0] == '[') == (status == AMP_OK) && length >= tail &&
        strcmp(found + length - tail, expected) == 0 && (status != AMP_OK || one_is_inferred(way)))
        return true;
    print_error("%s (way %d): '%s'; '%s' is expected\n", line, (int)way, found, expected);
    return false;
}

struct one_case {
    const char *line, *expected;
};

/* Each in all ways. */
static inline void one_expect_all(const struct one_case *cases, size_t count)
{
    bool are_all = true;
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < ONE_WAYS; way++)
            are_all &= one_is_as(cases[i].line, cases[i].expected, (enum one_way)way);
    assert_true(are_all);
}

#define EXPECT_ALL(cases) one_expect_all(cases, sizeof(cases) / sizeof *(cases))

#endif
