/*
 * The names of operators: takes a word of a rule, gives the operators it stands for. ONNX's schema
 * table and the table of PyTorch's names (torch_map.c) say which there are.
 */
#include "autocast/rules/op.h"

#include "autocast/rules/torch_map.h"
#include "core/words.h"
#include "pattern/composites.h"
#include "onnx/schema/schema.h"

#include <limits.h>
#include <string.h>

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

bool amp_rule_is_custom_domain(const char *domain)
{
    return domain[0] != '\0' && strcmp(domain, "ai.onnx.ml") != 0;
}

const char *amp_rule_op_text(struct amp_arena *arena, const struct amp_rule_op *op)
{
    return op->domain[0] == '\0' ? op->name
                                 : amp_arena_printf(arena, "%s::%s", op->domain, op->name);
}

/* Whether WORD is an operator outside PyTorch's table, split into *OP. */
static bool parse_onnx(struct amp_arena *arena, const char *word, struct amp_rule_op *op)
{
    const char *colons = strstr(word, "::");
    *op = (struct amp_rule_op){.word = amp_arena_strdup(arena, word)};
    op->domain = colons ? amp_arena_strndup(arena, word, (size_t)(colons - word)) : "";
    op->name = colons ? op->word + (colons + 2 - word) : op->word;
    if (strcmp(op->domain, "ai.onnx") == 0)
        op->domain = "";
    if (op->domain[0] == '\0')
        op->word = op->name;
    if (strcmp(op->domain, AMP_RULES_COMPOSITE) == 0)
        return amp_composite_find(op->name) != NULL;
    return op->name[0] != '\0' && (amp_rule_is_custom_domain(op->domain) ||
                                   amp_schema_find(op->domain, op->name, INT_MAX) != NULL);
}

/* The nearest operator, written as a rule file would have it; NULL when none is near. */
static const char *nearest_onnx(struct amp_arena *arena, const char *word)
{
    const char *colons = strstr(word, "::");
    const char *nearest = amp_schema_nearest(colons ? colons + 2 : word);
    if (nearest == NULL || amp_schema_find("", nearest, INT_MAX) != NULL)
        return nearest;
    for (size_t i = 0; amp_schema_at(i) != NULL; i++)
        if (strcmp(amp_schema_at(i)->name, nearest) == 0)
            return amp_arena_printf(arena, "%s::%s", amp_schema_at(i)->domain, nearest);
    return NULL;
}

/* ONNX's unless PyTorch's is nearer; MAP may be NULL. */
static const char *nearest_op(struct amp_arena *arena, const struct amp_torch_map *map,
                              const char *word)
{
    const char *onnx = nearest_onnx(arena, word);
    const char *torch = map != NULL ? amp_torch_map_nearest(map, word) : NULL;
    if (onnx == NULL || torch == NULL)
        return onnx != NULL ? onnx : torch;
    const char *const both[] = {onnx, torch};
    return amp_word_nearest(word, both, 2);
}

static const char *unknown_op(struct amp_arena *arena, const struct amp_torch_map *map,
                              const char *word)
{
    const char *nearest = nearest_op(arena, map, word);
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return amp_arena_printf(arena,
                            "unknown operator '%.60s'%s; accepted: an operator of ONNX%s, or "
                            "DOMAIN::NAME of another domain",
                            word, hint, map != NULL ? " or PyTorch" : "");
}

static struct amp_rule_op *push_op(struct amp_arena *arena, struct amp_rule_ops *ops,
                                   struct amp_rule_op op)
{
    struct amp_rule_op *slot =
        amp_arena_push(arena, &ops->items, &ops->count, &ops->capacity, sizeof *slot);
    *slot = op;
    return slot;
}

enum amp_status amp_rule_ops_add(struct amp_rules *rules, const char *word, int line,
                                 struct amp_rule_ops *ops, const char **problem,
                                 struct amp_error *err)
{
    struct amp_rule_op op;
    const struct amp_torch_name *name;
    *problem = NULL;
    if (parse_onnx(rules->arena, word, &op)) {
        push_op(rules->arena, ops, op)->line = line;
        return AMP_OK;
    }
    AMP_TRY(amp_torch_map_get(rules, err));
    name = amp_torch_map_find(rules->torch, word);
    if (name == NULL)
        *problem = unknown_op(rules->arena, rules->torch, word);
    for (size_t i = 0; name != NULL && i < name->forms.count; i++) {
        struct amp_rule_op *added = push_op(rules->arena, ops, name->forms.items[i]);
        added->word = op.word;
        added->line = line;
    }
    return AMP_OK;
}

enum amp_status amp_rule_ops_bind(const binder *b, const yaml_node *node, struct amp_rule_ops *ops)
{
    const char *problem;
    AMP_TRY(amp_rule_ops_add(b->rules, node->text, node->line, ops, &problem, b->err));
    return problem != NULL ? FAIL(b, node, "%s", problem) : AMP_OK;
}

enum amp_status amp_rule_ops_bind_onnx(const binder *b, const yaml_node *node,
                                       struct amp_rule_ops *ops)
{
    struct amp_rule_op op;
    if (!parse_onnx(b->rules->arena, node->text, &op))
        return FAIL(b, node, "%s", unknown_op(b->yaml->arena, NULL, node->text));
    push_op(b->rules->arena, ops, op);
    return AMP_OK;
}
