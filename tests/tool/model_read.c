/* Reads models in ONNX's textual form, as model_put.c writes them and as one writes them by hand.
   It checks the notation, never what the model means: tests need models that are wrong. What does
   not fit ends the program with the file and the line. */
#include <stdlib.h>
#include <string.h>

#include "anchor.h"
#include "element.h"
#include "fields.h"
#include "model.h"
#include "tensor.h"
#include "type.h"

static Onnx__GraphProto *read_graph(struct lexer *lexer);

/* Names up to CLOSE, which it takes too. */
static void read_names(struct lexer *lexer, const char *close, char ***names, size_t *n)
{
    while (!accept(lexer, close)) {
        add_item(names, n, read_name(lexer));
        accept(lexer, ",");
    }
}

/* ---- attributes ---- */

static const char *const attribute_types[] = {
    "undefined",      "float",      "int",        "string",  "tensor", "graph",
    "floats",         "ints",       "strings",    "tensors", "graphs", "sparse_tensor",
    "sparse_tensors", "type_proto", "type_protos"};

static void set_type(Onnx__AttributeProto *attribute, int type)
{
    attribute->has_type = 1;
    attribute->type = (Onnx__AttributeProto__AttributeType)type;
}

/* The type named behind a colon; 0: none is. */
static int read_attribute_type(struct lexer *lexer)
{
    if (!accept(lexer, ":")) {
        return 0;
    }
    char *word = read_name(lexer);
    for (int i = 1; i < (int)(sizeof attribute_types / sizeof *attribute_types); i++) {
        if (!strcmp(word, attribute_types[i])) {
            free(word);
            return i;
        }
    }
    fail_at(lexer, "attributes have no type '%s'", word);
}

static float get_float(struct lexer *lexer, const char *word)
{
    uint64_t bits;
    uint32_t low;
    float value;
    if (!read_number(find_element("float"), word, &bits)) {
        fail_at(lexer, "'%s' is no number", word);
    }
    low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return value;
}

static int64_t get_integer(struct lexer *lexer, const char *word)
{
    uint64_t bits;
    if (!read_number(find_element("int64"), word, &bits)) {
        fail_at(lexer, "'%s' is no integer", word);
    }
    return (int64_t)bits;
}

/* Whether the word is a float's: more than a sign and digits. */
static bool is_float(const char *word)
{
    return word[strspn(word, "+-0123456789")] != 0;
}

static void read_number_attribute(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    char *word = read_word(lexer);
    if (type == 1 || (!type && is_float(word))) {
        set_type(attribute, 1);
        attribute->has_f = 1;
        attribute->f = get_float(lexer, word);
    } else {
        set_type(attribute, 2);
        attribute->has_i = 1;
        attribute->i = get_integer(lexer, word);
    }
    free(word);
}

static void set_numbers(struct lexer *lexer, Onnx__AttributeProto *attribute, char **words,
                        size_t n)
{
    if (attribute->type == 6) {
        attribute->n_floats = n;
        attribute->floats = new_memory(n * sizeof *attribute->floats);
    } else {
        attribute->n_ints = n;
        attribute->ints = new_memory(n * sizeof *attribute->ints);
    }
    for (size_t i = 0; i < n; i++) {
        if (attribute->type == 6) {
            attribute->floats[i] = get_float(lexer, words[i]);
        } else {
            attribute->ints[i] = get_integer(lexer, words[i]);
        }
    }
}

/* Numbers up to ]: floats when the first of them is one or the type says so. */
static void read_numbers(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    char **words = NULL;
    size_t n = 0;
    while (!accept(lexer, "]")) {
        add_item(&words, &n, read_word(lexer));
        accept(lexer, ",");
    }
    if (!n && !type) {
        fail_at(lexer, "the type of an empty list is missing: `axes: ints = []`");
    }
    set_type(attribute, type ? type : is_float(words[0]) ? 6 : 7);
    if (attribute->type != 6 && attribute->type != 7) {
        fail_at(lexer, "the list's elements are numbers");
    }
    set_numbers(lexer, attribute, words, n);
}

static void read_strings(struct lexer *lexer, Onnx__AttributeProto *attribute)
{
    size_t capacity = 0;
    set_type(attribute, 8);
    while (!accept(lexer, "]")) {
        if (attribute->n_strings == capacity) {
            capacity = 2 * capacity + 16;
            attribute->strings = realloc(attribute->strings, capacity * sizeof *attribute->strings);
        }
        ProtobufCBinaryData *text = &attribute->strings[attribute->n_strings++];
        text->data = (uint8_t *)read_text(lexer, &text->len);
        accept(lexer, ",");
    }
}

/* The elements of a list in a row, as anchors keep them: numbers, or strings with a NUL behind
 * each. */
static struct buffer get_list(const Onnx__AttributeProto *attribute)
{
    struct buffer all = {0};
    if (attribute->type == 6) {
        put_bytes(&all, attribute->floats, attribute->n_floats * sizeof *attribute->floats);
    } else if (attribute->type == 7) {
        put_bytes(&all, attribute->ints, attribute->n_ints * sizeof *attribute->ints);
    }
    for (size_t i = 0; i < attribute->n_strings; i++) {
        put_bytes(&all, attribute->strings[i].data, attribute->strings[i].len);
        put_bytes(&all, "", 1);
    }
    return all;
}

static void set_list(Onnx__AttributeProto *attribute, const struct buffer *all)
{
    if (attribute->type == 6) {
        attribute->n_floats = all->size / sizeof *attribute->floats;
        attribute->floats = (float *)(void *)copy_bytes(all->data, all->size);
    } else if (attribute->type == 7) {
        attribute->n_ints = all->size / sizeof *attribute->ints;
        attribute->ints = (int64_t *)(void *)copy_bytes(all->data, all->size);
    } else {
        attribute->strings = new_memory(all->size * sizeof *attribute->strings);
        for (size_t at = 0; at < all->size;) {
            ProtobufCBinaryData *text = &attribute->strings[attribute->n_strings++];
            text->len = strlen(all->data + at);
            text->data = (uint8_t *)copy_bytes(all->data + at, text->len);
            at += text->len + 1;
        }
    }
}

/* A list in brackets. */
static void read_list(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    expect(lexer, "[");
    if (peek(lexer) == '"' || type == 8) {
        read_strings(lexer, attribute);
    } else {
        read_numbers(lexer, attribute, type);
    }
}

/* A list that has the name behind &. */
static void read_named(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    char *name = read_name(lexer);
    read_list(lexer, attribute, type);
    struct buffer all = get_list(attribute);
    keep_anchor(lexer, name, all.data, all.size);
    free(all.data);
    free(name);
}

/* The list that was named. */
static void read_again(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    if (type < 6 || type > 8) {
        fail_at(lexer, "the type of the list is missing: `axes: ints = *NAME`");
    }
    set_type(attribute, type);
    set_list(attribute, read_reference(lexer));
}

/* A tensor begins with a type, a graph with its name or its inputs. */
static void read_tensor_or_graph(struct lexer *lexer, Onnx__AttributeProto *attribute)
{
    struct lexer ahead = *lexer;
    bool has_type;
    int type;
    if (accept_element_type(&ahead, &has_type, &type)) {
        set_type(attribute, 4);
        attribute->t = read_tensor(lexer);
    } else {
        set_type(attribute, 5);
        attribute->g = read_graph(lexer);
    }
}

static bool is_number_next(struct lexer ahead)
{
    return strchr("+-0123456789", peek(&ahead)) || accept_word(&ahead, "nan") ||
           accept_word(&ahead, "inf");
}

/* The value behind the equals sign. */
static void read_attribute_value(struct lexer *lexer, Onnx__AttributeProto *attribute, int type)
{
    char next = peek(lexer);
    if (accept(lexer, "@")) {
        attribute->ref_attr_name = read_name(lexer);
        set_type(attribute, type);
    } else if (accept(lexer, "&")) {
        read_named(lexer, attribute, type);
    } else if (accept(lexer, "*")) {
        read_again(lexer, attribute, type);
    } else if (type == 13) {
        set_type(attribute, type);
        attribute->tp = accept_type(lexer);
    } else if (next == '[') {
        read_list(lexer, attribute, type);
    } else if (type == 1 || is_number_next(*lexer)) {
        read_number_attribute(lexer, attribute, type);
    } else if (next == '"' && type != 5) {
        set_type(attribute, 3);
        attribute->has_s = 1;
        attribute->s.data = (uint8_t *)read_text(lexer, &attribute->s.len);
    } else {
        read_tensor_or_graph(lexer, attribute);
    }
}

static Onnx__AttributeProto *read_attribute(struct lexer *lexer)
{
    Onnx__AttributeProto *attribute = new_message(&onnx__attribute_proto__descriptor);
    attribute->name = read_name(lexer);
    int type = read_attribute_type(lexer);
    if (accept(lexer, "=")) {
        read_attribute_value(lexer, attribute, type);
    }
    read_rest(lexer, &attribute->base);
    return attribute;
}

/* ---- nodes ---- */

/* The domain in front of an operator's name: what stands before the last dot. */
static void read_operator(struct lexer *lexer, Onnx__NodeProto *node)
{
    struct buffer domain = {0};
    bool has_domain = accept(lexer, ".");
    char *name = read_name(lexer);
    while (accept(lexer, ".")) {
        put(&domain, has_domain ? "." : "");
        put(&domain, name);
        name = read_name(lexer);
        has_domain = true;
    }
    if (has_domain) {
        node->domain = domain.data ? domain.data : copy_bytes("", 0);
    }
    node->op_type = name;
    if (accept(lexer, ":")) {
        node->overload = read_name(lexer);
    }
}

static Onnx__NodeProto *read_node(struct lexer *lexer)
{
    Onnx__NodeProto *node = new_message(&onnx__node_proto__descriptor);
    if (accept(lexer, "[")) {
        node->name = read_name(lexer);
        expect(lexer, "]");
    }
    read_names(lexer, "=", &node->output, &node->n_output);
    read_operator(lexer, node);
    if (accept(lexer, "<")) {
        while (!accept(lexer, ">")) {
            add_item(&node->attribute, &node->n_attribute, read_attribute(lexer));
            accept(lexer, ",");
        }
    }
    expect(lexer, "(");
    read_names(lexer, ")", &node->input, &node->n_input);
    read_rest(lexer, &node->base);
    return node;
}

/* ---- graphs, functions, models ---- */

static void read_value_infos(struct lexer *lexer, Onnx__ValueInfoProto ***values, size_t *n)
{
    expect(lexer, "(");
    while (!accept(lexer, ")")) {
        add_item(values, n, read_value_info(lexer));
        accept(lexer, ",");
    }
}

/* Whether what comes next is a tensor with data, not a value with a type: both begin with a type
 * and a name. */
static bool is_tensor_next(const struct lexer *lexer)
{
    struct lexer ahead = *lexer;
    if (!accept_type(&ahead)) {
        return false;
    }
    if (is_name_next(&ahead)) {
        free(read_name(&ahead));
    }
    return peek(&ahead) == '=' || peek(&ahead) == '{';
}

static void read_known_values(struct lexer *lexer, Onnx__GraphProto *graph)
{
    while (!accept(lexer, ">")) {
        if (is_tensor_next(lexer)) {
            add_item(&graph->initializer, &graph->n_initializer, read_tensor(lexer));
        } else {
            add_item(&graph->value_info, &graph->n_value_info, read_value_info(lexer));
        }
        accept(lexer, ",");
    }
}

static Onnx__GraphProto *read_graph(struct lexer *lexer)
{
    Onnx__GraphProto *graph = new_message(&onnx__graph_proto__descriptor);
    graph->name = is_name_next(lexer) ? read_name(lexer) : NULL;
    read_value_infos(lexer, &graph->input, &graph->n_input);
    expect(lexer, "=>");
    read_value_infos(lexer, &graph->output, &graph->n_output);
    if (accept(lexer, "<")) {
        read_known_values(lexer, graph);
    }
    expect(lexer, "{");
    while (!accept(lexer, "}")) {
        add_item(&graph->node, &graph->n_node, read_node(lexer));
    }
    read_rest(lexer, &graph->base);
    return graph;
}

/* A name alone or an attribute with its default. */
static void read_parameter(struct lexer *lexer, Onnx__FunctionProto *function)
{
    Onnx__AttributeProto *attribute = read_attribute(lexer);
    if (attribute->has_type) {
        add_item(&function->attribute_proto, &function->n_attribute_proto, attribute);
    } else {
        add_item(&function->attribute, &function->n_attribute, attribute->name);
    }
}

Onnx__FunctionProto *read_function(struct lexer *lexer)
{
    Onnx__FunctionProto *function = new_message(&onnx__function_proto__descriptor);
    expect(lexer, "<");
    read_fields(lexer, &function->base, ">");
    function->name = is_name_next(lexer) ? read_name(lexer) : NULL;
    if (accept(lexer, "<")) {
        while (!accept(lexer, ">")) {
            read_parameter(lexer, function);
            accept(lexer, ",");
        }
    }
    expect(lexer, "(");
    read_names(lexer, ")", &function->input, &function->n_input);
    expect(lexer, "=>");
    expect(lexer, "(");
    read_names(lexer, ")", &function->output, &function->n_output);
    expect(lexer, "{");
    while (!accept(lexer, "}")) {
        add_item(&function->node, &function->n_node, read_node(lexer));
    }
    return function;
}

/* What stands behind the word `training`. */
static Onnx__TrainingInfoProto *read_training(struct lexer *lexer)
{
    Onnx__TrainingInfoProto *training = new_message(&onnx__training_info_proto__descriptor);
    if (accept(lexer, "<")) {
        read_fields(lexer, &training->base, ">");
    }
    if (accept_word(lexer, "initialization")) {
        training->initialization = read_graph(lexer);
    }
    if (accept_word(lexer, "algorithm")) {
        training->algorithm = read_graph(lexer);
    }
    return training;
}

Onnx__ModelProto *read_model(struct lexer *lexer, const struct lexer *fields)
{
    Onnx__ModelProto *model = new_message(&onnx__model_proto__descriptor);
    if (accept(lexer, "<")) {
        read_fields(lexer, &model->base, ">");
    } else if (fields) {
        struct lexer section = *fields;
        expect(&section, "<");
        read_fields(&section, &model->base, ">");
    }
    if (peek(lexer) && peek(lexer) != '<') {
        model->graph = read_graph(lexer);
    }
    while (accept_word(lexer, "training")) {
        add_item(&model->training_info, &model->n_training_info, read_training(lexer));
    }
    while (peek(lexer)) {
        add_item(&model->functions, &model->n_functions, read_function(lexer));
    }
    return model;
}
