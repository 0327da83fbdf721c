/*
 * Tells constants that operators which the rules lower gave, before they were folded, by their
 * names. Takes a model of torch.onnx's; knows PyTorch's names from the table of the rules.
 */
#include "autocast/folded.h"

#include "autocast/notes.h"
#include "autocast/rules/rule.h"

#include <string.h>

/* The operator in NAME: "linear" of "linear_1"; empty for names with dots, which modules have. */
static struct amp_str operator_of(const char *name)
{
    size_t size = strlen(name), digits = size;
    if (strchr(name, '.') != NULL)
        return (struct amp_str){"", 0};
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    bool is_numbered = digits > 1 && digits < size && name[digits - 1] == '_';
    return (struct amp_str){name, is_numbered ? digits - 1 : size};
}

/* Whether the last rule for all nodes that names PyTorch's OP lowers it. */
static bool is_lowered(const struct amp_rules *rules, struct amp_str op)
{
    for (size_t r = rules->count; r > 0; r--)
        for (size_t i = 0; i < rules->items[r - 1].n_ops; i++) {
            const struct amp_rule_op *named = &rules->items[r - 1].ops[i];
            if (named->is_torch && strlen(named->word) == op.size &&
                memcmp(named->word, op.data, op.size) == 0)
                return rules->items[r - 1].precision == AMP_LOWER;
        }
    return false;
}

bool *amp_folded_find(const struct amp_model *model, const struct amp_rules *rules)
{
    bool *found = amp_xcalloc(model->n_values, sizeof *found);
    bool is_by_torch = amp_model_is_by_torch(model);
    for (uint32_t id = 0; id < model->n_values && is_by_torch && rules->torch != NULL; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (value->constant == NULL || value->dtype != AMP_FLOAT)
            continue;
        struct amp_str op = operator_of(value->name);
        found[id] = op.size > 0 && is_lowered(rules, op);
    }
    return found;
}
