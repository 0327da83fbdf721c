/*
 * Tables of keys that say which mapping takes what: takes the tree of a YAML file, checks every
 * value where it stands, and calls the functions that the tables name. What the values mean is
 * theirs to say.
 */
#include "autocast/rules/bind.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/dtype.h"

#include <string.h>

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

/* ---- texts ---- */

enum amp_status amp_wrong_type(const binder *b, const char *name, const yaml_node *value,
                               const char *accepted)
{
    char found[96];
    return FAIL(b, value, "%s: %s; accepted: %s", name,
                amp_yaml_describe(value, found, sizeof found), accepted);
}

bool amp_is_text(const yaml_node *node)
{
    return node->kind == AMP_YAML_SCALAR && !amp_yaml_is_null(node);
}

enum amp_status amp_bind_word(const binder *b, const char *name, const yaml_node *value,
                              const struct amp_word_list *list, size_t *index)
{
    struct amp_arena *arena = b->yaml->arena;
    if (!amp_is_text(value))
        return amp_wrong_type(b, name, value, amp_word_list_text(arena, list));
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(value->text, list->words[i]) == 0) {
            *index = i;
            return AMP_OK;
        }
    return FAIL(b, value, "%s: %s", name, amp_word_unknown(arena, list, value->text, ""));
}

/* ---- mappings ---- */

static const struct amp_key *find_key(const struct amp_mapping *mapping, const char *name)
{
    for (size_t i = 0; i < mapping->n_keys; i++)
        if (strcmp(mapping->keys[i].name, name) == 0)
            return &mapping->keys[i];
    return NULL;
}

static enum amp_status unknown_key(const binder *b, const struct amp_mapping *mapping,
                                   const yaml_node *key)
{
    struct amp_arena *arena = b->yaml->arena;
    const char **names = amp_arena_array(arena, mapping->n_keys, sizeof(char *));
    for (size_t i = 0; i < mapping->n_keys; i++)
        names[i] = mapping->keys[i].name;
    const char *where = amp_arena_printf(arena, " in %s", mapping->what);
    const struct amp_word_list list = {"key", names, mapping->n_keys};
    return FAIL(b, key, "%s", amp_word_unknown(arena, &list, key->text, where));
}

const yaml_node *amp_find_value(const yaml_node *mapping, const char *name)
{
    if (mapping->kind == AMP_YAML_MAPPING)
        for (size_t i = 0; i < mapping->count; i += 2)
            if (strcmp(mapping->items[i]->text, name) == 0)
                return mapping->items[i + 1];
    return NULL;
}

enum amp_status amp_bind_mapping(const binder *b, const char *name, const yaml_node *node,
                                 const struct amp_mapping *mapping, void *target)
{
    if (node->kind != AMP_YAML_MAPPING)
        return amp_wrong_type(b, name, node, "a mapping");
    for (size_t i = 0; i < node->count; i += 2) {
        const struct amp_key *key = find_key(mapping, node->items[i]->text);
        if (key == NULL)
            return unknown_key(b, mapping, node->items[i]);
        void *field = (unsigned char *)target + key->offset;
        AMP_TRY(key->bind(b, key->name, node->items[i + 1], field));
    }
    for (size_t i = 0; i < mapping->n_keys; i++)
        if (mapping->keys[i].is_required && amp_find_value(node, mapping->keys[i].name) == NULL)
            return FAIL(b, node, "%s without '%s'; accepted: %s with it", mapping->what,
                        mapping->keys[i].name, mapping->what);
    return AMP_OK;
}

enum amp_status amp_check_texts(const binder *b, const char *name, const yaml_node *value,
                                size_t min)
{
    if (value->kind != AMP_YAML_LIST)
        return amp_wrong_type(b, name, value, "a list of texts, as in [a, b]");
    if (value->count < min)
        return FAIL(b, value, "%s: an empty list; accepted: one text or more", name);
    for (size_t i = 0; i < value->count; i++)
        if (!amp_is_text(value->items[i]))
            return amp_wrong_type(b, name, value->items[i], "a text");
    return AMP_OK;
}

enum amp_status amp_bind_text(const binder *b, const char *name, const yaml_node *value,
                              void *field)
{
    if (!amp_is_text(value))
        return amp_wrong_type(b, name, value, "a text");
    *(const char **)field = amp_arena_strdup(b->arena, value->text);
    return AMP_OK;
}

enum amp_status amp_bind_dtypes(const binder *b, const char *name, const yaml_node *value,
                                void *field)
{
    static const char *const names[] = {"bf16", "fp16"};
    static const struct amp_word_list list = {"dtype", names, AMP_COUNT(names)};
    AMP_TRY(amp_check_texts(b, name, value, 1));
    for (size_t i = 0; i < value->count; i++) {
        size_t index = 0;
        AMP_TRY(amp_bind_word(b, name, value->items[i], &list, &index));
        *(uint32_t *)field |= AMP_DTYPE_BIT(amp_dtype_parse(names[index]));
    }
    return AMP_OK;
}
