/* Writes models in ONNX's textual form. Each entity is written with the fields that its notation
   shows; they are taken out of a copy, and what is left follows as @{fields}, so that nothing gets
   lost. */
#include <stdlib.h>
#include <string.h>

#include "anchor.h"
#include "element.h"
#include "fields.h"
#include "model.h"
#include "tensor.h"
#include "type.h"

static void put_graph(struct buffer *buffer, const Onnx__GraphProto *graph, int depth);

/* Deep graphs do not go further to the right from some depth on. */
static void put_indent(struct buffer *buffer, int depth)
{
    put_format(buffer, "%*s", 2 * (depth < 8 ? depth : 8), "");
}

/* A comma, and a new line where this one is full. */
static void put_comma(struct buffer *buffer)
{
    put(buffer, get_column(buffer) > 100 ? ",\n    " : ", ");
}

static void put_names(struct buffer *buffer, char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_name(buffer, names[i]);
    }
}

/* ---- attributes ---- */

static const char *const attribute_types[] = {
    "undefined",      "float",      "int",        "string",  "tensor", "graph",
    "floats",         "ints",       "strings",    "tensors", "graphs", "sparse_tensor",
    "sparse_tensors", "type_proto", "type_protos"};

static void put_float(struct buffer *buffer, float value)
{
    struct buffer number = {0};
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(&number, find_element("float"), bits);
    put(buffer, number.data);
    /* Digits alone would be an integer. */
    put(buffer, strpbrk(number.data, ".einx") ? "" : ".0");
    free(number.data);
}

/* More numbers than this are named when they stand in several places. */
enum { MANY = 24 };

static void put_floats(struct buffer *buffer, const Onnx__AttributeProto *attribute)
{
    size_t n = attribute->n_floats;
    if (n > MANY && put_anchor(buffer, attribute->floats, n * sizeof *attribute->floats)) {
        return;
    }
    put(buffer, "[");
    for (size_t i = 0; i < attribute->n_floats; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_float(buffer, attribute->floats[i]);
    }
    put(buffer, "]");
}

static void put_ints(struct buffer *buffer, const Onnx__AttributeProto *attribute)
{
    size_t n = attribute->n_ints;
    if (n > MANY && put_anchor(buffer, attribute->ints, n * sizeof *attribute->ints)) {
        return;
    }
    put(buffer, "[");
    for (size_t i = 0; i < attribute->n_ints; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_format(buffer, "%lld", (long long)attribute->ints[i]);
    }
    put(buffer, "]");
}

static void put_strings(struct buffer *buffer, const Onnx__AttributeProto *attribute)
{
    struct buffer all = {0};
    for (size_t i = 0; i < attribute->n_strings; i++) {
        put_bytes(&all, attribute->strings[i].data, attribute->strings[i].len);
        put_bytes(&all, "", 1);
    }
    bool is_named = attribute->n_strings > MANY && put_anchor(buffer, all.data, all.size);
    free(all.data);
    if (is_named) {
        return;
    }
    put(buffer, "[");
    for (size_t i = 0; i < attribute->n_strings; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_text(buffer, attribute->strings[i].data, attribute->strings[i].len);
    }
    put(buffer, "]");
}

/* The one value of the attribute's type, taken out of REST; false where it is not there, or the
 * type is none of these. */
static bool put_single(struct buffer *buffer, Onnx__AttributeProto *rest, int depth)
{
    Onnx__AttributeProto all = *rest;
    if (all.type == 1 && all.has_f) {
        rest->has_f = 0;
        put_float(buffer, all.f);
    } else if (all.type == 2 && all.has_i) {
        rest->has_i = 0;
        put_format(buffer, "%lld", (long long)all.i);
    } else if (all.type == 3 && all.has_s) {
        rest->has_s = 0;
        put_text(buffer, all.s.data, all.s.len);
    } else if (all.type == 4 && all.t) {
        rest->t = NULL;
        put_tensor(buffer, all.t);
    } else if (all.type == 5 && all.g) {
        rest->g = NULL;
        put_graph(buffer, all.g, depth + 1);
    } else if (all.type == 13 && all.tp) {
        rest->tp = NULL;
        put_type(buffer, all.tp);
    } else {
        return false;
    }
    return true;
}

static bool put_many(struct buffer *buffer, Onnx__AttributeProto *rest)
{
    if (rest->type == 6) {
        put_floats(buffer, rest);
        rest->n_floats = 0;
    } else if (rest->type == 7) {
        put_ints(buffer, rest);
        rest->n_ints = 0;
    } else if (rest->type == 8) {
        put_strings(buffer, rest);
        rest->n_strings = 0;
    } else {
        return false;
    }
    return true;
}

/* Whether the value does not tell the type. */
static bool needs_type(const Onnx__AttributeProto *attribute)
{
    bool is_empty = (attribute->type == 6 && !attribute->n_floats) ||
                    (attribute->type == 7 && !attribute->n_ints) ||
                    (attribute->type == 8 && !attribute->n_strings);
    bool has_many =
        attribute->n_ints > MANY || attribute->n_floats > MANY || attribute->n_strings > MANY;
    return is_empty || has_many || attribute->type == 13 || attribute->ref_attr_name;
}

/* The value as its type says, taken out of REST; false where there is none. */
static bool put_attribute_value(struct buffer *buffer, Onnx__AttributeProto *rest, int depth)
{
    if (!rest->has_type || rest->type < 1 || rest->type > 14) {
        return false;
    }
    put_format(buffer, needs_type(rest) ? ": %s = " : " = ", attribute_types[rest->type]);
    if (rest->ref_attr_name) {
        put(buffer, "@");
        put_name(buffer, rest->ref_attr_name);
        rest->ref_attr_name = NULL;
    } else if (!put_single(buffer, rest, depth) && !put_many(buffer, rest)) {
        return false;
    }
    rest->has_type = 0;
    return true;
}

static void put_attribute(struct buffer *buffer, const Onnx__AttributeProto *attribute, int depth)
{
    Onnx__AttributeProto rest = *attribute;
    rest.name = NULL;
    put_name(buffer, attribute->name ? attribute->name : "");
    size_t size = buffer->size;
    if (!put_attribute_value(buffer, &rest, depth)) {
        buffer->size = size;
    }
    put_rest(buffer, &rest.base);
}

/* ---- nodes ---- */

static void put_operator(struct buffer *buffer, const Onnx__NodeProto *node)
{
    bool is_plain = node->domain && *node->domain;
    for (const char *part = node->domain; is_plain && part;) {
        const char *dot = strchr(part, '.');
        char *name = copy_bytes(part, dot ? (size_t)(dot - part) : strlen(part));
        is_plain = is_identifier(name);
        free(name);
        part = dot ? dot + 1 : NULL;
    }
    if (is_plain) {
        put(buffer, node->domain);
    } else if (node->domain && *node->domain) {
        put_text(buffer, node->domain, strlen(node->domain));
    }
    put(buffer, node->domain ? "." : "");
    const char *type = node->op_type ? node->op_type : "";
    if (is_identifier(type)) {
        put(buffer, type);
    } else {
        put_text(buffer, type, strlen(type));
    }
    if (node->overload) {
        put(buffer, ":");
        put_name(buffer, node->overload);
    }
}

static void put_node(struct buffer *buffer, const Onnx__NodeProto *node, int depth)
{
    Onnx__NodeProto rest = *node;
    put_indent(buffer, depth);
    if (node->name) {
        put(buffer, "[");
        put_name(buffer, node->name);
        put(buffer, "] ");
    }
    put_names(buffer, node->output, node->n_output);
    put(buffer, node->n_output ? " = " : "= ");
    put_operator(buffer, node);
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (i) {
            put_comma(buffer);
        }
        put(buffer, i ? "" : "<");
        put_attribute(buffer, node->attribute[i], depth);
    }
    put(buffer, node->n_attribute ? ">(" : "(");
    put_names(buffer, node->input, node->n_input);
    put(buffer, ")");
    rest.name = rest.op_type = rest.domain = rest.overload = NULL;
    rest.n_input = rest.n_output = rest.n_attribute = 0;
    put_rest(buffer, &rest.base);
    put(buffer, "\n");
}

static void put_nodes(struct buffer *buffer, Onnx__NodeProto *const *nodes, size_t n, int depth)
{
    put(buffer, "{\n");
    for (size_t i = 0; i < n; i++) {
        put_node(buffer, nodes[i], depth + 1);
    }
    put_indent(buffer, depth);
    put(buffer, "}");
}

/* ---- graphs, functions, models ---- */

static void put_value_infos(struct buffer *buffer, Onnx__ValueInfoProto *const *values, size_t n)
{
    put(buffer, "(");
    for (size_t i = 0; i < n; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_value_info(buffer, values[i]);
    }
    put(buffer, ")");
}

/* Initializers and the types of values within, a line each. */
static void put_known_values(struct buffer *buffer, const Onnx__GraphProto *graph, int depth)
{
    size_t n = graph->n_initializer + graph->n_value_info;
    for (size_t i = 0; i < n; i++) {
        put(buffer, i ? ",\n" : "\n");
        put_indent(buffer, depth);
        put(buffer, i ? " " : "<");
        if (i < graph->n_initializer) {
            put_tensor(buffer, graph->initializer[i]);
        } else {
            put_value_info(buffer, graph->value_info[i - graph->n_initializer]);
        }
    }
    if (n) {
        put(buffer, ">\n");
        put_indent(buffer, depth);
    } else {
        put(buffer, " ");
    }
}

static void put_graph(struct buffer *buffer, const Onnx__GraphProto *graph, int depth)
{
    Onnx__GraphProto rest = *graph;
    if (graph->name) {
        put_name(buffer, graph->name);
        put(buffer, " ");
    }
    put_value_infos(buffer, graph->input, graph->n_input);
    put(buffer, " => ");
    put_value_infos(buffer, graph->output, graph->n_output);
    put_known_values(buffer, graph, depth);
    put_nodes(buffer, graph->node, graph->n_node, depth);
    rest.name = NULL;
    rest.n_input = rest.n_output = rest.n_initializer = rest.n_value_info = rest.n_node = 0;
    put_rest(buffer, &rest.base);
}

/* The attributes of a function: names, and names with defaults. */
static void put_parameters(struct buffer *buffer, const Onnx__FunctionProto *function)
{
    size_t n = function->n_attribute + function->n_attribute_proto;
    for (size_t i = 0; i < n; i++) {
        put(buffer, i ? ", " : " <");
        if (i < function->n_attribute) {
            put_name(buffer, function->attribute[i]);
        } else {
            put_attribute(buffer, function->attribute_proto[i - function->n_attribute], 0);
        }
    }
    put(buffer, n ? ">" : "");
}

void put_function(struct buffer *buffer, const Onnx__FunctionProto *function)
{
    Onnx__FunctionProto rest = *function;
    rest.name = NULL;
    rest.n_input = rest.n_output = rest.n_attribute = rest.n_attribute_proto = rest.n_node = 0;
    put(buffer, has_fields(&rest.base) ? "" : "<>");
    put_fields(buffer, &rest.base, "<", ">");
    put(buffer, "\n");
    if (function->name) {
        put_name(buffer, function->name);
    }
    put_parameters(buffer, function);
    put(buffer, " (");
    put_names(buffer, function->input, function->n_input);
    put(buffer, ") => (");
    put_names(buffer, function->output, function->n_output);
    put(buffer, ") ");
    put_nodes(buffer, function->node, function->n_node, 0);
    put(buffer, "\n");
}

static void put_training(struct buffer *buffer, const Onnx__TrainingInfoProto *training)
{
    Onnx__TrainingInfoProto rest = *training;
    rest.initialization = rest.algorithm = NULL;
    put(buffer, "training");
    put_fields(buffer, &rest.base, " <", ">");
    put(buffer, "\n");
    if (training->initialization) {
        put(buffer, "initialization ");
        put_graph(buffer, training->initialization, 0);
        put(buffer, "\n");
    }
    if (training->algorithm) {
        put(buffer, "algorithm ");
        put_graph(buffer, training->algorithm, 0);
        put(buffer, "\n");
    }
}

void put_model(struct buffer *buffer, const Onnx__ModelProto *model)
{
    Onnx__ModelProto rest = *model;
    rest.graph = NULL;
    rest.n_functions = 0;
    rest.n_training_info = 0;
    put_fields(buffer, &rest.base, "<", ">\n");
    if (model->graph) {
        put_graph(buffer, model->graph, 0);
        put(buffer, "\n");
    }
    for (size_t i = 0; i < model->n_training_info; i++) {
        put_training(buffer, model->training_info[i]);
    }
    for (size_t i = 0; i < model->n_functions; i++) {
        put_function(buffer, model->functions[i]);
    }
}
