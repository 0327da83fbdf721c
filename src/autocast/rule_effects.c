/*
 * The effect of rules on one model: takes rules and a model, says which of them match a node and
 * which decide on one, and what was probably meant where none does. That is no judgement: whether a
 * rule without effect is a mistake, the caller says.
 */
#include "autocast/rule_effects.h"

#include "autocast/policy.h"
#include "autocast/rules/match.h"
#include "autocast/rules/name_pattern.h"
#include "autocast/rules/rules.h"
#include "autocast/settle.h"
#include "autocast/wholes.h"
#include "core/arena.h"
#include "core/match/glob.h"
#include "core/words.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"

#include <string.h>

/* ---- effects --------------------------------------------------------------------------------- */

static void trace(const struct amp_model *model, const struct amp_rules *rules,
                  struct amp_rule_effects *effects)
{
    amp_policies_trace(model, rules, amp_wholes_find(model, rules), effects->matches,
                       effects->decides);
}

/* Whether each of the user's own rules matches, as far as that was looked at. */
static bool all_match(const struct amp_rules *rules, const struct amp_rule_effects *effects)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].place != NULL && !effects->matches[i])
            return false;
    return true;
}

/* Traces RULES, a list of the caller's own, on MODEL and, where that is not enough, once more when
   it is raised. */
static enum amp_status trace_twice(struct amp_model *model, const struct amp_rules *rules,
                                   enum amp_dtype lower, struct amp_rule_effects *effects,
                                   struct amp_error *err)
{
    struct amp_assign_options options = {
        .rules = rules, .lower = lower, .cap = amp_schema_released_opset()};
    struct amp_assignment assignment;
    const char *obstacle = NULL;
    AMP_TRY(amp_infer(model, err));
    trace(model, rules, effects);
    if (effects->decides == NULL && all_match(rules, effects))
        return AMP_OK;
    AMP_TRY(amp_settle(model, options, &assignment, &obstacle, err));
    AMP_TRY(amp_infer(model, err));
    trace(model, rules, effects);
    return AMP_OK;
}

static enum amp_status find(struct amp_model *model, const struct amp_rules *rules,
                            enum amp_dtype lower, struct amp_rule_effects *effects,
                            struct amp_error *err)
{
    struct amp_rules *copy = amp_rules_copy(rules, model->arena);
    enum amp_status status = trace_twice(model, copy, lower, effects, err);
    effects->is_known = status == AMP_OK && !amp_rule_work_is_over(copy->work);
    amp_rules_destroy(copy);
    return status;
}

enum amp_status amp_rule_effects_find(struct amp_model *model, const struct amp_rules *rules,
                                      enum amp_dtype lower, struct amp_rule_effects *effects,
                                      struct amp_error *err)
{
    *effects = (struct amp_rule_effects){
        .matches = amp_arena_array(model->arena, rules->count, sizeof(bool))};
    return find(model, rules, lower, effects, err);
}

enum amp_status amp_rule_decisions_find(struct amp_model *model, const struct amp_rules *rules,
                                        enum amp_dtype lower, struct amp_rule_effects *effects,
                                        struct amp_error *err)
{
    *effects = (struct amp_rule_effects){
        .matches = amp_arena_array(model->arena, rules->count, sizeof(bool)),
        .decides = amp_arena_array(model->arena, rules->count, sizeof(bool))};
    return find(model, rules, lower, effects, err);
}

/* ---- what was meant -------------------------------------------------------------------------- */

struct names {
    const char **items;
    size_t count, capacity;
};

static void add_name(struct names *names, const struct amp_model *model, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return;
    const char **slot =
        amp_arena_push(model->arena, &names->items, &names->count, &names->capacity, sizeof *slot);
    *slot = name;
}

static struct names node_names(const struct amp_model *model)
{
    struct names names = {.items = NULL};
    for (uint32_t id = 0; id < model->n_nodes; id++)
        add_name(&names, model, amp_node_at(model, id)->name);
    return names;
}

static struct names output_names(const struct amp_model *model)
{
    struct names names = {.items = NULL};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i] != AMP_NONE)
                add_name(&names, model, amp_value_at(model, node->outputs[i])->name);
    }
    return names;
}

static struct names op_names(const struct amp_model *model)
{
    struct names names = {.items = NULL};
    for (uint32_t id = 0; id < model->n_nodes; id++)
        add_name(&names, model, amp_node_at(model, id)->op_type);
    return names;
}

static bool is_among(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

/* "; the nearest name is 'x'": as a whole or else, since names are often paths, in a part; "". */
static const char *nearest_name(const struct amp_model *model, const struct names *names,
                                const char *glob)
{
    const char *nearest = amp_glob_nearest(glob, names->items, names->count);
    if (nearest == NULL)
        nearest = amp_glob_nearest(amp_arena_printf(model->arena, "*%s*", glob), names->items,
                                   names->count);
    return nearest == NULL ? ""
                           : amp_arena_printf(model->arena, "; the nearest name is '%s'", nearest);
}

static const char *nearest_node(const struct amp_model *model, const char *glob)
{
    struct names nodes = node_names(model), outputs = output_names(model);
    return is_among(&outputs, glob)
               ? "; a value has that name, which 'tensors' of a rule file takes"
               : nearest_name(model, &nodes, glob);
}

static const char *nearest_output(const struct amp_model *model, const char *glob)
{
    struct names outputs = output_names(model);
    return nearest_name(model, &outputs, glob);
}

static const char *nearest_op(const struct amp_model *model, const char *word)
{
    struct names ops = op_names(model);
    const char *nearest =
        is_among(&ops, word) ? NULL : amp_word_nearest(word, ops.items, ops.count);
    return nearest == NULL
               ? ""
               : amp_arena_printf(model->arena, "; the nearest operator there is '%s'", nearest);
}

const char *amp_rule_nearest_text(const struct amp_model *model, const struct amp_rule *rule)
{
    if (rule->nodes.count > 0)
        return nearest_node(model, rule->nodes.items[0].text);
    if (rule->tensors.count > 0)
        return nearest_output(model, rule->tensors.items[0].text);
    return rule->n_ops > 0 ? nearest_op(model, rule->ops[0].word) : "";
}
