/*
 * The graph as text, for --dump-after and for tests: takes a model, prints it short enough to read,
 * complete enough to compare. A line stays a line, whatever the names are. Data of tensors with
 * several elements are left out.
 */
#include "core/graph/dump.h"

#include "core/graph/graph.h"
#include "core/print.h"
#include "core/tensor.h"

struct dump {
    FILE *file;
    const struct amp_model *model;
    amp_dump_note *note;
    const void *context;
};

enum { ITEMS_SHOWN = 8 };

static void print_dims(const struct dump *dump, const struct amp_value *value)
{
    if (value->rank < 0)
        return;
    fputs(" [", dump->file);
    for (int i = 0; i < value->rank; i++) {
        const char *symbol = amp_dim_symbol(dump->model, value->dims[i]);
        fputs(i > 0 ? ", " : "", dump->file);
        if (value->dims[i] >= 0)
            amp_print(dump->file, "%lld", (long long)value->dims[i]);
        else
            amp_print(dump->file, "%s", symbol ? symbol : "?");
    }
    fputs("]", dump->file);
}

static void print_type(const struct dump *dump, const struct amp_value *value)
{
    static const char *const kinds[] = {[AMP_KIND_SPARSE_TENSOR] = "sparse ",
                                        [AMP_KIND_SEQUENCE] = "sequence of ",
                                        [AMP_KIND_OPTIONAL] = "optional ",
                                        [AMP_KIND_OPTIONAL_SEQUENCE] = "optional sequence of ",
                                        [AMP_KIND_MAP] = "map ",
                                        [AMP_KIND_MAP_SEQUENCE] = "sequence of map "};
    bool has_word = value->kind != AMP_KIND_UNKNOWN && value->kind != AMP_KIND_TENSOR;
    amp_print(dump->file, " %s%s", has_word ? kinds[value->kind] : "",
              amp_dtype_name(value->dtype));
    print_dims(dump, value);
}

static void print_value(const struct dump *dump, const char *word, uint32_t id, int indent)
{
    const struct amp_value *value = amp_value_at(dump->model, id);
    amp_print(dump->file, "%*s%s %s", indent, "", word, value->name);
    print_type(dump, value);
    fputc('\n', dump->file);
}

static void print_names(const struct dump *dump, const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        amp_print(dump->file, "%s%s", i > 0 ? ", " : "",
                  ids[i] == AMP_NONE ? "-" : amp_value_at(dump->model, ids[i])->name);
}

static void print_tensor(const struct dump *dump, const struct amp_tensor *tensor)
{
    char text[200];
    amp_print(dump->file, "%s %s", amp_dtype_name(tensor->dtype),
              amp_shape_text(&tensor->shape, text, sizeof text));
    bool is_number = amp_dtype_class(tensor->dtype) != AMP_CLASS_STRING &&
                     amp_dtype_class(tensor->dtype) != AMP_CLASS_COMPLEX;
    if (is_number && amp_tensor_count(tensor) == 1)
        amp_print(dump->file, " %.9g", amp_tensor_double(tensor, 0));
}

static void print_item(const struct dump *dump, const struct amp_attr *attr, size_t i)
{
    switch (attr->type) {
    case AMP_ATTR_FLOAT:
    case AMP_ATTR_FLOATS:
        amp_print(dump->file, "%.9g", (double)attr->floats[i]);
        return;
    case AMP_ATTR_INT:
    case AMP_ATTR_INTS:
        amp_print(dump->file, "%lld", (long long)attr->ints[i]);
        return;
    case AMP_ATTR_STRING:
    case AMP_ATTR_STRINGS:
        amp_print(dump->file, "'%.*s'", (int)attr->strings[i].size, attr->strings[i].data);
        return;
    case AMP_ATTR_TENSOR:
    case AMP_ATTR_TENSORS:
    case AMP_ATTR_SPARSE_TENSOR:
    case AMP_ATTR_SPARSE_TENSORS:
        print_tensor(dump, attr->tensors[i]);
        return;
    case AMP_ATTR_GRAPH:
    case AMP_ATTR_GRAPHS:
        fputs("graph", dump->file);
        return;
    case AMP_ATTR_UNDEFINED:
    case AMP_ATTR_TYPE:
    case AMP_ATTR_TYPES:
        fputs("type", dump->file);
        return;
    }
}

static void print_attr(const struct dump *dump, const struct amp_attr *attr)
{
    bool is_list = attr->count != 1 || attr->type == AMP_ATTR_INTS ||
                   attr->type == AMP_ATTR_FLOATS || attr->type == AMP_ATTR_STRINGS;
    amp_print(dump->file, " %s=%s", attr->name, is_list ? "[" : "");
    for (size_t i = 0; i < attr->count && i < ITEMS_SHOWN; i++) {
        fputs(i > 0 ? ", " : "", dump->file);
        print_item(dump, attr, i);
    }
    fputs(attr->count > ITEMS_SHOWN ? ", ...]" : is_list ? "]" : "", dump->file);
}

static void print_graph(const struct dump *dump, uint32_t graph, int indent);

static void print_node(const struct dump *dump, uint32_t id, int indent)
{
    const struct amp_node *node = amp_node_at(dump->model, id);
    amp_print(dump->file, "%*snode %s%s%s", indent, "", node->domain, node->domain[0] ? "." : "",
              node->op_type);
    if (node->since_version > 0)
        amp_print(dump->file, "-%d", node->since_version);
    if (node->name[0] != '\0')
        amp_print(dump->file, " '%s'", node->name);
    fputs(" (", dump->file);
    print_names(dump, node->inputs, node->n_inputs);
    fputs(") ->", dump->file);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        amp_print(dump->file, "%s %s", i > 0 ? "," : "",
                  node->outputs[i] == AMP_NONE ? "-"
                                               : amp_value_at(dump->model, node->outputs[i])->name);
        if (node->outputs[i] != AMP_NONE)
            print_type(dump, amp_value_at(dump->model, node->outputs[i]));
    }
    for (uint32_t i = 0; i < node->n_attrs; i++)
        print_attr(dump, &node->attrs[i]);
    if (dump->note != NULL)
        dump->note(dump->file, dump->context, id);
    fputc('\n', dump->file);
    for (uint32_t i = 0; i < node->n_attrs; i++)
        for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[i]); k++) {
            amp_print(dump->file, "%*s%s:\n", indent + 2, "", node->attrs[i].name);
            print_graph(dump, node->attrs[i].graphs[k], indent + 4);
        }
}

static void print_graph(const struct dump *dump, uint32_t graph, int indent)
{
    const struct amp_graph *g = &dump->model->graphs[graph];
    for (size_t i = 0; i < g->inputs.count; i++)
        if (amp_value_at(dump->model, g->inputs.items[i])->constant == NULL)
            print_value(dump, "input", g->inputs.items[i], indent);
    for (size_t i = 0; i < g->initializers.count; i++)
        print_value(dump, "weight", g->initializers.items[i], indent);
    for (size_t i = 0; i < g->nodes.count; i++)
        print_node(dump, g->nodes.items[i], indent);
    for (size_t i = 0; i < g->outputs.count; i++)
        print_value(dump, "output", g->outputs.items[i], indent);
}

void amp_model_dump(FILE *file, const struct amp_model *model, amp_dump_note *note,
                    const void *context)
{
    struct dump dump = {file, model, note, context};
    amp_print(file, "ir %lld", (long long)model->ir_version);
    for (size_t i = 0; i < model->n_opsets; i++)
        amp_print(file, ", opset %s%s%lld", model->opsets[i].domain,
                  model->opsets[i].domain[0] ? " " : "", (long long)model->opsets[i].version);
    fputc('\n', file);
    print_graph(&dump, 0, 0);
}
