/*
 * Reads the term of a gradient rule and makes its nodes: takes the text, gives nodes at the end of
 * the graph's list and the value of the last one. It assumes that the text is correct, because all
 * texts are the program's own. It does not set types and shapes of the new values: inference does.
 */
#include "run/rewrite/gradient_term.h"

#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 4, NAME_SIZE = 32 };

/* g, of a broadcast shape, summed to the shape of x: over the axes in which x, with ones before its
   dims, differs from g. */
static const char sum_to[] =
    "Reshape(ReduceSum(g, Squeeze(NonZero(Not(Equal(Concat(Expand([1], Reshape(Sub(Size(Shape(g)), "
    "Size(Shape(x))), [-1])), Shape(x); axis=0), Shape(g)))), [0]); noop_with_empty_axes=1), "
    "Shape(x); allowzero=1)";

struct reader {
    const struct amp_derivation *derivation;
    const char *at;
};

static uint32_t read_term(struct reader *reader);

static bool take(struct reader *reader, char c)
{
    while (*reader->at == ' ')
        reader->at++;
    if (*reader->at != c)
        return false;
    reader->at++;
    return true;
}

static void read_name(struct reader *reader, char name[NAME_SIZE])
{
    size_t length = 0;
    while (*reader->at == ' ')
        reader->at++;
    while ((isalnum((unsigned char)*reader->at) || *reader->at == '_') && length < NAME_SIZE - 1)
        name[length++] = *reader->at++;
    name[length] = '\0';
}

/* ---- constants ------------------------------------------------------------------------------- */

static uint32_t add_constant(const struct amp_derivation *derivation, enum amp_dtype dtype,
                             const struct amp_shape *shape, const int64_t *ints, double number)
{
    struct amp_model *model = derivation->model;
    struct amp_tensor *tensor = amp_arena_alloc(model->arena, sizeof *tensor);
    *tensor = (struct amp_tensor){.dtype = dtype, .shape = *shape};
    tensor->data = amp_arena_alloc(model->arena, amp_tensor_size(tensor) + 1);
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        if (ints != NULL)
            ((int64_t *)tensor->data)[i] = ints[i];
        else
            amp_tensor_set_double(tensor, i, number);
    return amp_graph_add_initializer(model, derivation->graph,
                                     amp_model_unique_name(model, "gradient/constant"), tensor);
}

static uint32_t add_list(const struct amp_derivation *derivation, const int64_t *ints, size_t count)
{
    const struct amp_shape shape = {.rank = 1, .dims = {(int64_t)count}};
    return add_constant(derivation, AMP_INT64, &shape, ints, 0);
}

static uint32_t read_number(struct reader *reader)
{
    static const struct amp_shape scalar = {.rank = 0};
    char *end;
    double number = strtod(reader->at, &end);
    int64_t integer = (int64_t)number;
    reader->at = end;
    if (take(reader, 'L'))
        return add_constant(reader->derivation, AMP_INT64, &scalar, &integer, 0);
    return add_constant(reader->derivation, reader->derivation->dtype, &scalar, NULL, number);
}

static uint32_t read_list(struct reader *reader)
{
    char *end;
    int64_t integer = strtoll(reader->at, &end, 10);
    reader->at = end;
    take(reader, ']');
    return add_list(reader->derivation, &integer, 1);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static const struct amp_node *node_of(const struct reader *reader)
{
    return amp_node_at(reader->derivation->model, reader->derivation->node);
}

static void set_float(struct reader *reader, uint32_t node, const char *name)
{
    struct amp_model *model = reader->derivation->model;
    char its[NAME_SIZE];
    read_name(reader, its);
    float value = amp_node_float(node_of(reader), its, 1);
    amp_node_set_attr(
        model, node,
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_FLOAT,
                          .count = 1,
                          .floats = amp_arena_memdup(model->arena, &value, sizeof value)});
}

/* What is no permutation is left as it is: the node itself is refused then. */
static void set_inverse(struct reader *reader, uint32_t node, const char *name)
{
    struct amp_model *model = reader->derivation->model;
    char its[NAME_SIZE];
    size_t count;
    read_name(reader, its);
    const int64_t *ints = amp_node_ints(node_of(reader), its, &count);
    if (ints == NULL)
        return;
    int64_t *inverse = amp_arena_memdup(model->arena, ints, count * sizeof *ints);
    for (size_t i = 0; i < count; i++)
        if (ints[i] >= 0 && (uint64_t)ints[i] < count)
            inverse[ints[i]] = (int64_t)i;
    amp_node_set_attr(
        model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_INTS, .count = count, .ints = inverse});
}

static uint32_t find_variable(const struct reader *reader, const char *name);

static void set_swap(struct reader *reader, uint32_t node, const char *name)
{
    struct amp_model *model = reader->derivation->model;
    char variable[NAME_SIZE];
    read_name(reader, variable);
    int rank = amp_value_at(model, find_variable(reader, variable))->rank;
    int64_t *axes = amp_arena_array(model->arena, (size_t)rank, sizeof *axes);
    for (int i = 0; i < rank; i++)
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    amp_node_set_attr(
        model, node,
        (struct amp_attr){
            .name = name, .type = AMP_ATTR_INTS, .count = (size_t)rank, .ints = axes});
}

static int64_t read_int(struct reader *reader)
{
    char its[NAME_SIZE], *end;
    bool is_negated = take(reader, '!');
    if (is_negated || take(reader, '@')) {
        read_name(reader, its);
        return (amp_node_int(node_of(reader), its, 0) != 0) != is_negated;
    }
    int64_t value = strtoll(reader->at, &end, 10);
    reader->at = end;
    return value;
}

static void read_attr(struct reader *reader, uint32_t node)
{
    char text[NAME_SIZE];
    read_name(reader, text);
    const char *name = amp_arena_strdup(reader->derivation->model->arena, text);
    take(reader, '=');
    if (take(reader, '$'))
        set_float(reader, node, name);
    else if (take(reader, '~'))
        set_inverse(reader, node, name);
    else if (take(reader, '^'))
        set_swap(reader, node, name);
    else
        amp_node_set_int(reader->derivation->model, node, name, read_int(reader));
}

/* ---- nodes and values ------------------------------------------------------------------------ */

static uint32_t add_node(const struct amp_derivation *derivation, const struct amp_op *op,
                         const uint32_t *arguments, uint32_t count)
{
    struct amp_model *model = derivation->model;
    uint32_t id = amp_graph_add_node(model, derivation->graph, op->name, count, 1);
    uint32_t output = amp_graph_add_value(model, derivation->graph,
                                          amp_model_unique_name(model, "gradient/value"));
    struct amp_node *node = amp_node_at(model, id);
    node->name = amp_model_unique_name(model, "gradient/node");
    memcpy(node->inputs, arguments, count * sizeof *arguments);
    node->schema = amp_schema_find("", op->name, op->newest);
    node->since_version = op->newest;
    amp_node_set_output(model, id, 0, output);
    return id;
}

/* Whether the gradient has the shape of x already, as far as shapes are known. */
static bool has_shape_of_x(const struct amp_derivation *derivation)
{
    struct amp_shape x, y;
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    amp_value_shape(amp_value_at(derivation->model, derivation->x), &x);
    amp_value_shape(amp_value_at(derivation->model, node->outputs[0]), &y);
    return amp_shape_is_known(&x) && amp_shape_is_known(&y) && amp_shape_equal(&x, &y);
}

/* After NAME and the parenthesis. */
static uint32_t read_call(struct reader *reader, const char *name)
{
    uint32_t arguments[MAX_ARGUMENTS], count = 0;
    do
        arguments[count++] = read_term(reader);
    while (take(reader, ',') && count < MAX_ARGUMENTS);
    if (strcmp(name, "SumTo") == 0) {
        struct amp_derivation sum = *reader->derivation;
        sum.g = arguments[0];
        take(reader, ')');
        return has_shape_of_x(&sum) ? sum.g : amp_gradient_term(&sum, sum_to);
    }
    uint32_t id = add_node(reader->derivation, amp_op_find("", name), arguments, count);
    if (take(reader, ';'))
        do
            read_attr(reader, id);
        while (take(reader, ','));
    take(reader, ')');
    return amp_node_at(reader->derivation->model, id)->outputs[0];
}

static uint32_t axes_of(const struct reader *reader)
{
    const struct amp_node *node = node_of(reader);
    size_t count = 0;
    if (node->n_inputs > 1 && node->inputs[1] != AMP_NONE)
        return node->inputs[1];
    const int64_t *axes = amp_node_ints(node, "axes", &count);
    return add_list(reader->derivation, axes, count);
}

static uint32_t find_variable(const struct reader *reader, const char *name)
{
    const struct amp_node *node = node_of(reader);
    if (strcmp(name, "axes") == 0)
        return axes_of(reader);
    switch (name[0]) {
    case 'g':
        return reader->derivation->g;
    case 'x':
        return reader->derivation->x;
    case 'y':
        return node->outputs[0];
    default:
        return node->inputs[name[0] - 'a'];
    }
}

static uint32_t read_term(struct reader *reader)
{
    static const struct amp_shape scalar = {.rank = 0};
    char name[NAME_SIZE];
    if (take(reader, '['))
        return read_list(reader);
    if (take(reader, '$')) {
        read_name(reader, name);
        return add_constant(reader->derivation, reader->derivation->dtype, &scalar, NULL,
                            amp_node_float(node_of(reader), name, 1));
    }
    while (*reader->at == ' ')
        reader->at++;
    if (isdigit((unsigned char)*reader->at))
        return read_number(reader);
    read_name(reader, name);
    return take(reader, '(') ? read_call(reader, name) : find_variable(reader, name);
}

uint32_t amp_gradient_term(const struct amp_derivation *derivation, const char *text)
{
    struct reader reader = {derivation, text};
    return read_term(&reader);
}
