/*
 * Names for what is copied out of functions. Takes the names that a model has, gives names that no
 * other value or node of it has, made of the call's name, the body's and a number where those are
 * taken. Bounds what all names and notes together take; knows nothing of scopes.
 */
#include "onnx/functions/names.h"

#include <string.h>

enum {
    PART_MAX = 1000,        /* bytes of one part of a new name */
    SHORT_PART_MAX = 60,    /* of one part once REPEATED_MAX bytes have been repeated */
    REPEATED_MAX = 64 << 20 /* bytes */
};

static void take_value(struct amp_names *names, const char *name)
{
    if (name != NULL && name[0] != '\0')
        amp_strmap_put(&names->values, names->arena, name, 0);
}

static void take_node(struct amp_names *names, const Onnx__NodeProto *node)
{
    if (node->name != NULL)
        amp_strmap_put(&names->nodes, names->arena, node->name, 0);
    for (size_t k = 0; k < node->n_output; k++)
        take_value(names, node->output[k]);
    for (size_t a = 0; a < node->n_attribute; a++) {
        if (node->attribute[a]->g != NULL)
            amp_names_take(names, node->attribute[a]->g);
        for (size_t g = 0; g < node->attribute[a]->n_graphs; g++)
            amp_names_take(names, node->attribute[a]->graphs[g]);
    }
}

void amp_names_take(struct amp_names *names, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_input; i++)
        take_value(names, graph->input[i]->name);
    for (size_t i = 0; i < graph->n_initializer; i++)
        take_value(names, graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        if (graph->sparse_initializer[i]->values != NULL)
            take_value(names, graph->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < graph->n_node; i++)
        take_node(names, graph->node[i]);
}

bool amp_names_is_short(const char *name)
{
    return strnlen(name, PART_MAX + 1) <= PART_MAX;
}

bool amp_names_may_repeat(struct amp_names *names, size_t size)
{
    if (names->n_repeated >= REPEATED_MAX || size > REPEATED_MAX - names->n_repeated)
        return false;
    names->n_repeated += size;
    return true;
}

/* The bytes of TEXT that go into a name: all, or as many whole characters of UTF-8 as fit. */
static size_t part_length(const struct amp_names *names, const char *text)
{
    size_t max = names->n_repeated < REPEATED_MAX ? PART_MAX : SHORT_PART_MAX;
    size_t length = strnlen(text, max + 1);
    if (length <= max)
        return length;
    for (length = max; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
        length--;
    return length;
}

static char *join(struct amp_names *names, const char *prefix, const char *name)
{
    size_t before = part_length(names, prefix), after = part_length(names, name);
    names->n_repeated += before + after;
    return amp_arena_printf(names->arena, "%.*s%s/%.*s%s", (int)before, prefix,
                            prefix[before] ? "..." : "", (int)after, name,
                            name[after] ? "..." : "");
}

/* BASE, with a number behind it when it is in TAKEN. */
static char *new_name(const struct amp_names *names, struct amp_strmap *taken, char *base)
{
    char *text = base;
    uint32_t number = 0;
    if (amp_strmap_get(taken, base, &number))
        do
            text = amp_arena_printf(names->arena, "%s_%u", base, ++number);
        while (amp_strmap_get(taken, text, NULL));
    amp_strmap_put(taken, names->arena, base, number);
    if (text != base)
        amp_strmap_put(taken, names->arena, text, 0);
    return text;
}

char *amp_names_new_value(struct amp_names *names, const char *prefix, const char *name)
{
    return new_name(names, &names->values, join(names, prefix, name));
}

char *amp_names_new_node(struct amp_names *names, const char *prefix, const char *name)
{
    return new_name(names, &names->nodes, join(names, prefix, name));
}
