/*
 * Operators by ONNX's names: takes a word of a rule, gives the operator that it names. ONNX's
 * schema table says which there are, pattern/composites.h which composites; operators of domains
 * that ONNX does not define go by any name.
 */
#include "autocast/rules/op.h"

#include "core/arena.h"
#include "pattern/composites.h"
#include "onnx/schema/schema.h"

#include <limits.h>
#include <string.h>

bool amp_rule_is_custom_domain(const char *domain)
{
    return domain[0] != '\0' && strcmp(domain, "ai.onnx.ml") != 0;
}

const char *amp_rule_op_text(struct amp_arena *arena, const struct amp_rule_op *op)
{
    return op->domain[0] == '\0' ? op->name
                                 : amp_arena_printf(arena, "%s::%s", op->domain, op->name);
}

bool amp_rule_op_parse(struct amp_arena *arena, const char *word, struct amp_rule_op *op)
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

const char *amp_rule_op_nearest(struct amp_arena *arena, const char *word)
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

const char *amp_rule_op_unknown(struct amp_arena *arena, const char *word, const char *nearest,
                                const char *also)
{
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return amp_arena_printf(arena,
                            "unknown operator '%.60s'%s; accepted: an operator of ONNX%s, or "
                            "DOMAIN::NAME of another domain",
                            word, hint, also);
}

struct amp_rule_op *amp_rule_ops_push(struct amp_arena *arena, struct amp_rule_ops *ops,
                                      struct amp_rule_op op)
{
    struct amp_rule_op *slot =
        amp_arena_push(arena, &ops->items, &ops->count, &ops->capacity, sizeof *slot);
    *slot = op;
    return slot;
}
