/*
 * Reads the term of a gradient rule and makes its nodes: takes the text, gives nodes at the end of
 * the graph's list and the value of the last one. It assumes that the text is correct, because all
 * texts are the program's own. It does not set types and shapes of the new values: inference does.
 */
#include "run/rewrite/gradient_term.h"

#include "onnx/schema/schema.h"
#include "ops/op.h"
#include "run/rewrite/gradient_condition.h"
#include "run/rewrite/gradient_macros.h"
#include "run/rewrite/gradient_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 8, MAX_LOCALS = 32, OPSET = 18 /* that texts need at least */ };

/* A definition of a rule or macro, or an argument of a macro. */
struct local {
    char name[AMP_GRADIENT_NAME];
    const char *text; /* from which it is made when it is first used; NULL: it is */
    uint32_t value;
};

/* The definitions that a text may use: its own, then those of the text that uses it. */
struct amp_gradient_scope {
    struct local locals[MAX_LOCALS];
    size_t count;
    struct amp_gradient_scope *outer;
};

static uint32_t read_term(struct amp_gradient_reader *reader);

static uint32_t lack(struct amp_gradient_reader *reader)
{
    *reader->is_lacking = true;
    return AMP_NONE;
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

static uint32_t add_scalar(const struct amp_derivation *derivation, double number)
{
    static const struct amp_shape scalar = {.rank = 0};
    return add_constant(derivation, derivation->dtype, &scalar, NULL, number);
}

static uint32_t add_integer(const struct amp_derivation *derivation, int64_t integer)
{
    static const struct amp_shape scalar = {.rank = 0};
    return add_constant(derivation, AMP_INT64, &scalar, &integer, 0);
}

static uint32_t add_list(const struct amp_derivation *derivation, const int64_t *ints, size_t count)
{
    const struct amp_shape shape = {.rank = 1, .dims = {(int64_t)count}};
    return add_constant(derivation, AMP_INT64, &shape, ints, 0);
}

static uint32_t read_number(struct amp_gradient_reader *reader)
{
    char *end;
    double number = strtod(reader->at, &end);
    reader->at = end;
    return amp_gradient_take(reader, 'L') ? add_integer(reader->derivation, (int64_t)number)
                                          : add_scalar(reader->derivation, number);
}

static uint32_t read_list(struct amp_gradient_reader *reader)
{
    int64_t ints[AMP_GRADIENT_ITEMS];
    int count = amp_gradient_items(reader, ints);
    return count < 0 ? lack(reader) : add_list(reader->derivation, ints, (size_t)count);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct arguments {
    uint32_t items[MAX_ARGUMENTS];
    uint32_t count;
};

static void read_arguments(struct amp_gradient_reader *reader, struct arguments *arguments)
{
    arguments->count = 0;
    do
        arguments->items[arguments->count++] = read_term(reader);
    while (amp_gradient_take(reader, ',') && arguments->count < MAX_ARGUMENTS);
}

/* Gives node ID, whose inputs are there, its name and its outputs; the value of output PLACE. */
static uint32_t finish_node(const struct amp_derivation *derivation, uint32_t id, uint32_t place)
{
    struct amp_model *model = derivation->model;
    amp_node_at(model, id)->name = amp_model_unique_name(model, "gradient/node");
    for (uint32_t i = 0; i < amp_node_at(model, id)->n_outputs; i++)
        amp_node_set_output(model, id, i,
                            amp_graph_add_value(model, derivation->graph,
                                                amp_model_unique_name(model, "gradient/value")));
    return amp_node_at(model, id)->outputs[place];
}

static uint32_t add_node(const struct amp_derivation *derivation, const struct amp_op *op,
                         const uint32_t *inputs, uint32_t n_inputs, uint32_t n_outputs)
{
    uint32_t id =
        amp_graph_add_node(derivation->model, derivation->graph, op->name, n_inputs, n_outputs);
    struct amp_node *node = amp_node_at(derivation->model, id);
    int64_t opset = amp_model_opset(derivation->model, "");
    memcpy(node->inputs, inputs, n_inputs * sizeof *inputs);
    node->schema = amp_schema_find("", op->name, opset > OPSET ? (int)opset : OPSET);
    node->since_version = node->schema->since_version;
    return id;
}

/* The node that is derived, on another input 0. */
static uint32_t add_same(struct amp_gradient_reader *reader, uint32_t input, uint32_t place)
{
    struct amp_model *model = reader->derivation->model;
    const struct amp_node origin = *amp_gradient_node(reader);
    uint32_t id =
        amp_graph_add_node(model, reader->derivation->graph, origin.op_type, origin.n_inputs,
                           origin.n_outputs > place ? origin.n_outputs : place + 1);
    struct amp_node *node = amp_node_at(model, id);
    memcpy(node->inputs, origin.inputs, origin.n_inputs * sizeof origin.inputs[0]);
    node->inputs[0] = input;
    node->domain = origin.domain;
    node->schema = origin.schema;
    node->since_version = origin.since_version;
    node->attrs = origin.attrs;
    node->n_attrs = origin.n_attrs;
    return finish_node(reader->derivation, id, place);
}

/* An operator, after its name and the parenthesis. */
static uint32_t read_operator(struct amp_gradient_reader *reader, const char *name, uint32_t place)
{
    struct arguments arguments;
    read_arguments(reader, &arguments);
    uint32_t id = add_node(reader->derivation, amp_op_find("", name), arguments.items,
                           arguments.count, place + 1);
    if (amp_gradient_take(reader, ';'))
        do
            if (!amp_gradient_read_attr(reader, id))
                lack(reader);
        while (amp_gradient_take(reader, ','));
    return finish_node(reader->derivation, id, place);
}

/* ---- definitions and macros ------------------------------------------------------------------ */

/* Notes the definitions that the text at READER begins with, without making them. */
static void note_definitions(struct amp_gradient_reader *reader)
{
    for (;;) {
        struct local *local = &reader->scope->locals[reader->scope->count];
        const char *begin = reader->at;
        amp_gradient_read_name(reader, local->name);
        if (local->name[0] == '\0' || !amp_gradient_take(reader, '=')) {
            reader->at = begin;
            return;
        }
        local->text = reader->at;
        local->value = AMP_NONE;
        reader->scope->count++;
        amp_gradient_skip(reader, ';');
    }
}

static uint32_t read_text(struct amp_gradient_reader *reader, const char *text)
{
    const char *at = reader->at;
    reader->at = text;
    note_definitions(reader);
    uint32_t value = read_term(reader);
    reader->at = at;
    return value;
}

static struct amp_gradient_scope *new_scope(const struct amp_derivation *derivation,
                                            struct amp_gradient_scope *outer)
{
    struct amp_gradient_scope *scope = amp_arena_alloc(derivation->model->arena, sizeof *scope);
    *scope = (struct amp_gradient_scope){.outer = outer};
    return scope;
}

static void define(struct amp_gradient_scope *scope, const char *name, uint32_t value)
{
    struct local *local = &scope->locals[scope->count++];
    *local = (struct local){.value = value};
    memcpy(local->name, name, strlen(name) + 1);
}

static uint32_t call_macro(struct amp_gradient_reader *reader, const char *text,
                           const struct arguments *arguments)
{
    static const char *const names[] = {"p", "q"};
    struct amp_gradient_scope *outer = reader->scope;
    reader->scope = new_scope(reader->derivation, outer);
    for (uint32_t i = 0; i < arguments->count && i < 2; i++)
        define(reader->scope, names[i], arguments->items[i]);
    uint32_t value = read_text(reader, text);
    reader->scope = outer;
    return value;
}

/* ---- terms that are no operators ------------------------------------------------------------- */

/* Whether the gradient has the shape of x already, as far as shapes are known. */
static bool has_shape_of_x(const struct amp_gradient_reader *reader)
{
    const struct amp_derivation *derivation = reader->derivation;
    struct amp_shape x, y;
    const struct amp_node *node = amp_gradient_node(reader);
    amp_value_shape(amp_value_at(derivation->model, derivation->x), &x);
    amp_value_shape(amp_value_at(derivation->model, node->outputs[derivation->output]), &y);
    return amp_shape_is_known(&x) && amp_shape_is_known(&y) && amp_shape_equal(&x, &y);
}

static uint32_t read_sum_to(struct amp_gradient_reader *reader, uint32_t place)
{
    struct arguments arguments;
    (void)place;
    read_arguments(reader, &arguments);
    return has_shape_of_x(reader) ? arguments.items[0]
                                  : call_macro(reader, amp_gradient_macro("Summed"), &arguments);
}

static uint32_t read_keep(struct amp_gradient_reader *reader, uint32_t place)
{
    struct arguments arguments;
    (void)place;
    read_arguments(reader, &arguments);
    if (amp_gradient_int(amp_gradient_node(reader), "keepdims", 1) != 0)
        return arguments.items[0];
    return call_macro(reader, "Unsqueeze(p, axes)", &arguments);
}

/* Adds VALUE to SUM, which is AMP_NONE before the first. */
static uint32_t add_to(struct amp_gradient_reader *reader, uint32_t sum, uint32_t value)
{
    const struct arguments both = {{sum, value}, 2};
    return sum == AMP_NONE ? value : call_macro(reader, "Add(p, q)", &both);
}

static uint32_t read_all(struct amp_gradient_reader *reader, uint32_t place)
{
    const struct amp_node node = *amp_gradient_node(reader);
    const struct amp_derivation *outer = reader->derivation;
    struct amp_derivation each = *outer;
    const char *begin = reader->at;
    uint32_t sum = AMP_NONE;
    (void)place;
    reader->derivation = &each;
    for (uint32_t i = 0; i < node.n_inputs; i++) {
        each.x = node.inputs[i];
        reader->at = begin;
        sum = add_to(reader, sum, read_term(reader));
    }
    reader->derivation = outer;
    return sum;
}

static uint32_t read_ahead(struct amp_gradient_reader *reader, uint32_t place)
{
    const struct amp_derivation *derivation = reader->derivation;
    const struct amp_node node = *amp_gradient_node(reader);
    bool is_among_inputs = amp_gradient_take(reader, 'x') || !amp_gradient_take(reader, 'y');
    const uint32_t *values = is_among_inputs ? node.inputs : node.outputs;
    static const int64_t nothing = 0;
    uint32_t sum = add_list(derivation, &nothing, 1);
    (void)place;
    for (uint32_t i = 0; is_among_inputs ? i != derivation->input : i != derivation->output; i++) {
        const struct arguments one = {{values[i]}, 1};
        if (values[i] == AMP_NONE)
            return lack(reader);
        sum = add_to(reader, sum, call_macro(reader, "Gather(Shape(p), [#axis])", &one));
    }
    return sum;
}

static uint32_t read_same(struct amp_gradient_reader *reader, uint32_t place)
{
    uint32_t input = read_term(reader);
    return *reader->is_lacking ? AMP_NONE : add_same(reader, input, place);
}

static uint32_t read_choice(struct amp_gradient_reader *reader, uint32_t place)
{
    const struct amp_derivation *derivation = reader->derivation;
    bool holds = amp_gradient_condition(derivation->model, amp_gradient_node(reader), reader->at);
    uint32_t value = AMP_NONE;
    (void)place;
    amp_gradient_skip(reader, ',');
    if (holds)
        value = read_term(reader);
    amp_gradient_skip(reader, holds ? ')' : ',');
    if (!holds)
        value = read_term(reader);
    else
        reader->at--;
    return value;
}

/* Each reads its arguments, after the parenthesis; PLACE is the number behind its name. */
static const struct {
    const char *name;
    uint32_t (*read)(struct amp_gradient_reader *reader, uint32_t place);
} forms[] = {{"SumTo", read_sum_to}, {"Keep", read_keep}, {"All", read_all},
             {"Ahead", read_ahead},  {"Same", read_same}, {"Choose", read_choice}};

/* After NAME, the place behind it and the parenthesis. */
static uint32_t read_call(struct amp_gradient_reader *reader, const char *name, uint32_t place)
{
    const char *macro = amp_gradient_macro(name);
    struct arguments arguments;
    uint32_t value = AMP_NONE;
    size_t i = 0;
    while (i < sizeof forms / sizeof forms[0] && strcmp(forms[i].name, name) != 0)
        i++;
    if (i < sizeof forms / sizeof forms[0])
        value = forms[i].read(reader, place);
    else if (macro == NULL)
        value = read_operator(reader, name, place);
    else {
        read_arguments(reader, &arguments);
        value = call_macro(reader, macro, &arguments);
    }
    amp_gradient_take(reader, ')');
    return value;
}

/* ---- variables ------------------------------------------------------------------------------- */

static uint32_t axes_of(struct amp_gradient_reader *reader)
{
    const struct amp_node *node = amp_gradient_node(reader);
    size_t count = 0;
    if (node->n_inputs > 1 && node->inputs[1] != AMP_NONE)
        return node->inputs[1];
    const int64_t *axes = amp_node_ints(node, "axes", &count);
    return add_list(reader->derivation, axes, count);
}

/* The macro that says where windows begin. An output_shape leaves the padding to be computed. */
static const char *begins_of(const struct amp_node *node)
{
    const char *pad = amp_gradient_word(node, "auto_pad");
    bool is_computed = amp_node_attr(node, "output_shape") != NULL;
    return is_computed && strcmp(pad, "SAME_UPPER") != 0 ? "SAME_LOWER" : pad;
}

/* The value of NAME where SCOPE or one around it defines it: false when none does. What is not made
   yet is made in the scope of its definition. */
static bool find_local(struct amp_gradient_reader *reader, const char *name, uint32_t *value)
{
    struct amp_gradient_scope *used_in = reader->scope, *scope = used_in;
    struct local *local = NULL;
    for (; scope != NULL && local == NULL; scope = local == NULL ? scope->outer : scope)
        for (size_t i = 0; i < scope->count && local == NULL; i++)
            local = strcmp(scope->locals[i].name, name) == 0 ? &scope->locals[i] : NULL;
    if (local == NULL)
        return false;
    if (local->text != NULL) {
        const char *text = local->text;
        local->text = NULL;
        reader->scope = scope;
        local->value = read_text(reader, text);
        reader->scope = used_in;
    }
    *value = local->value;
    return true;
}

/* The value of macro NAME, made where it is first used for all of the rule. */
static uint32_t macro_value(struct amp_gradient_reader *reader, const char *name, const char *text)
{
    struct amp_gradient_scope *used_in = reader->scope;
    reader->scope = reader->root;
    uint32_t value = read_text(reader, text);
    reader->scope = used_in;
    define(reader->root, name, value);
    return value;
}

static uint32_t read_variable(struct amp_gradient_reader *reader, const char *name)
{
    bool is_begins = strcmp(name, "begins") == 0;
    const char *macro = amp_gradient_macro(is_begins ? begins_of(amp_gradient_node(reader)) : name);
    uint32_t value = AMP_NONE;
    if (strcmp(name, "_") == 0)
        return AMP_NONE;
    if (!find_local(reader, name, &value)) {
        if (strcmp(name, "axes") == 0)
            value = axes_of(reader);
        else
            value = macro != NULL ? macro_value(reader, name, macro)
                                  : amp_gradient_letter(reader, name[0]);
    }
    return value == AMP_NONE ? lack(reader) : value;
}

static uint32_t read_term(struct amp_gradient_reader *reader)
{
    char name[AMP_GRADIENT_NAME];
    const struct amp_node *node = amp_gradient_node(reader);
    if (*reader->is_lacking)
        return AMP_NONE;
    if (amp_gradient_take(reader, '['))
        return read_list(reader);
    if (amp_gradient_take(reader, '$')) {
        amp_gradient_read_name(reader, name);
        return add_scalar(reader->derivation, (double)amp_gradient_float(node, name));
    }
    if (amp_gradient_take(reader, '#')) {
        amp_gradient_read_name(reader, name);
        return add_integer(reader->derivation, amp_gradient_int(node, name, 1));
    }
    if (isdigit((unsigned char)*reader->at) || *reader->at == '-')
        return read_number(reader);
    amp_gradient_read_name(reader, name);
    uint32_t place = amp_gradient_take(reader, '.') ? (uint32_t)(*reader->at++ - '0') : 0;
    return amp_gradient_take(reader, '(') ? read_call(reader, name, place)
                                          : read_variable(reader, name);
}

uint32_t amp_gradient_term_of(const struct amp_derivation *derivation, const char *text,
                              const struct amp_named_value *named, size_t count)
{
    bool is_lacking = false;
    struct amp_gradient_scope *root = new_scope(derivation, NULL);
    struct amp_gradient_reader reader = {
        .derivation = derivation, .scope = root, .root = root, .is_lacking = &is_lacking};
    for (size_t i = 0; i < count; i++)
        define(root, named[i].name, named[i].value);
    uint32_t value = read_text(&reader, text);
    return is_lacking ? AMP_NONE : value;
}

uint32_t amp_gradient_term(const struct amp_derivation *derivation, const char *text)
{
    return amp_gradient_term_of(derivation, text, NULL, 0);
}

uint32_t amp_gradient_join(const struct amp_derivation *derivation, const char *op_type,
                           const uint32_t *inputs, uint32_t count, int64_t axis)
{
    uint32_t id = add_node(derivation, amp_op_find("", op_type), inputs, count, 1);
    amp_node_set_int(derivation->model, id, "axis", axis);
    return finish_node(derivation, id, 0);
}
