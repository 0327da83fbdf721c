/*
 * The names that a graph defines and those that it leaves to the graph that it is combined with:
 * takes a message, whose nodes need not be right, and gives names. Says nothing of what they mean.
 */
#include "onnx/training/references.h"

#include <string.h>

void amp_name_list_add(struct amp_name_list *list, struct amp_arena *arena, const char *name)
{
    if (name == NULL || name[0] == '\0' || amp_strmap_get(&list->known, name, NULL))
        return;
    const char **slot =
        amp_arena_push(arena, &list->items, &list->count, &list->capacity, sizeof *slot);
    *slot = name;
    amp_strmap_put(&list->known, arena, name, 1);
}

/* A graph while it is looked through. */
struct scope {
    struct amp_strmap defined;
    const struct scope *outer; /* the graph around it; NULL: none */
};

struct finder {
    struct amp_arena *arena;
    struct amp_graph_names *names;
};

static void look_through(const struct finder *finder, const Onnx__GraphProto *graph,
                         const struct scope *outer);

static void define(const struct finder *finder, struct scope *scope, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return;
    amp_strmap_put(&scope->defined, finder->arena, name, 1);
    amp_name_list_add(&finder->names->own, finder->arena, name);
}

static void define_all(const struct finder *finder, const Onnx__GraphProto *graph,
                       struct scope *scope)
{
    for (size_t i = 0; i < graph->n_input; i++)
        define(finder, scope, graph->input[i]->name);
    for (size_t i = 0; i < graph->n_initializer; i++)
        define(finder, scope, graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        if (graph->sparse_initializer[i]->values != NULL)
            define(finder, scope, graph->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            define(finder, scope, graph->node[i]->output[k]);
}

static void use(const struct finder *finder, const struct scope *scope, const char *name)
{
    if (name == NULL)
        return;
    while (scope != NULL && !amp_strmap_get(&scope->defined, name, NULL))
        scope = scope->outer;
    if (scope == NULL)
        amp_name_list_add(&finder->names->foreign, finder->arena, name);
}

/* TEXT, a string of an attribute, is the name of a value, which is returned. */
static const char *use_text(const struct finder *finder, const struct scope *scope,
                            const ProtobufCBinaryData *text)
{
    if (text->len == 0)
        return NULL;
    const char *name = amp_arena_strndup(finder->arena, (const char *)text->data, text->len);
    use(finder, scope, name);
    return name;
}

/* The names that ATTR of a node of ai.onnx.preview.training holds: what gradients are taken of, by
   and at. */
static void use_names(const struct finder *finder, const struct scope *scope,
                      const Onnx__AttributeProto *attr)
{
    const char *name = attr->name != NULL ? attr->name : "";
    bool is_list = strcmp(name, "xs") == 0 || strcmp(name, "zs") == 0;
    for (size_t i = 0; i < attr->n_strings && is_list; i++)
        amp_name_list_add(&finder->names->points, finder->arena,
                          use_text(finder, scope, &attr->strings[i]));
    if (strcmp(name, "y") == 0)
        use_text(finder, scope, &attr->s);
}

static void look_at(const struct finder *finder, const struct scope *scope,
                    const Onnx__NodeProto *node)
{
    bool names_values =
        node->domain != NULL && strcmp(node->domain, "ai.onnx.preview.training") == 0;
    amp_name_list_add(&finder->names->own, finder->arena, node->name);
    for (size_t i = 0; i < node->n_input; i++)
        use(finder, scope, node->input[i]);
    for (size_t a = 0; a < node->n_attribute; a++) {
        const Onnx__AttributeProto *attr = node->attribute[a];
        if (names_values)
            use_names(finder, scope, attr);
        if (attr->g != NULL)
            look_through(finder, attr->g, scope);
        for (size_t g = 0; g < attr->n_graphs; g++)
            look_through(finder, attr->graphs[g], scope);
    }
}

static void look_through(const struct finder *finder, const Onnx__GraphProto *graph,
                         const struct scope *outer)
{
    struct scope scope = {.outer = outer};
    define_all(finder, graph, &scope);
    for (size_t i = 0; i < graph->n_node; i++)
        look_at(finder, &scope, graph->node[i]);
    for (size_t i = 0; i < graph->n_output; i++)
        use(finder, &scope, graph->output[i]->name);
}

void amp_graph_find_names(const Onnx__GraphProto *graph, struct amp_arena *arena,
                          struct amp_graph_names *names)
{
    const struct finder finder = {.arena = arena, .names = names};
    look_through(&finder, graph, NULL);
}
