/*
 * What one rule says: takes a mapping of a rule file, gives a rule. Names of operators are
 * rules_op.c's matter, attributes in `when` rules_when.c's.
 */
#include "autocast/rules/parse.h"

#include "autocast/rules/bind.h"
#include "autocast/rules/op.h"
#include "autocast/rules/name_pattern.h"
#include "autocast/rules/when.h"
#include "core/array.h"

#include <stdlib.h>
#include <string.h>

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

/* ---- precisions ---- */

static const char *const precision_names[AMP_PRECISION_COUNT] = {
    [AMP_FOLLOW] = "follow", [AMP_LOWER] = "lower", [AMP_FP32] = "fp32",
    [AMP_WIDEST] = "widest", [AMP_INFER] = "infer", [AMP_CLEAR] = "clear"};

const char *amp_precision_name(enum amp_precision precision)
{
    return precision_names[precision];
}

enum amp_status amp_precision_parse(const char *word, enum amp_precision *precision,
                                    struct amp_error *err)
{
    for (int i = 0; i < AMP_PRECISION_COUNT; i++)
        if (strcmp(word, precision_names[i]) == 0) {
            *precision = (enum amp_precision)i;
            return AMP_OK;
        }
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = amp_fail(
        err, AMP_USAGE, "%s",
        amp_unknown_word(arena, "precision", word, "", precision_names, AMP_PRECISION_COUNT));
    amp_arena_destroy(arena);
    return status;
}

static enum amp_status bind_precision(const binder *b, const char *name, const yaml_node *value,
                                      void *field)
{
    size_t index = 0;
    AMP_TRY(
        amp_bind_word(b, name, "precision", value, precision_names, AMP_PRECISION_COUNT, &index));
    *(enum amp_precision *)field = (enum amp_precision)index;
    return AMP_OK;
}

/* ---- fields of a rule ---- */

static enum amp_status bind_ops(const binder *b, const char *name, const yaml_node *value,
                                void *field)
{
    AMP_TRY(amp_check_texts(b, name, value, 1));
    for (size_t i = 0; i < value->count; i++)
        AMP_TRY(amp_rule_ops_bind(b, value->items[i], field));
    return AMP_OK;
}

/* A list of patterns, each made by MAKE. */
static enum amp_status bind_patterns(const binder *b, const char *name, const yaml_node *value,
                                     struct amp_rule_patterns *patterns,
                                     amp_rule_pattern_maker *make)
{
    AMP_TRY(amp_check_texts(b, name, value, 1));
    struct amp_rule_pattern *items = amp_arena_array(b->rules->arena, value->count, sizeof *items);
    for (size_t i = 0; i < value->count; i++) {
        const char *problem = make(b->rules, value->items[i]->text, &items[i]);
        if (problem != NULL)
            return FAIL(b, value->items[i], "%s", problem);
    }
    *patterns = amp_rule_patterns_of(b->rules->arena, items, value->count);
    return AMP_OK;
}

static enum amp_status bind_globs(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    return bind_patterns(b, name, value, field, amp_rule_pattern_glob);
}

static enum amp_status bind_regexes(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    return bind_patterns(b, name, value, field, amp_rule_pattern_regex);
}

/* For later: the operators must be known to check it. */
static enum amp_status keep_node(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    (void)b, (void)name;
    *(const yaml_node **)field = value;
    return AMP_OK;
}

/* ---- a rule ---- */

struct draft {
    enum amp_precision precision;
    uint32_t dtypes;
    struct amp_rule_ops ops;
    struct amp_rule_patterns nodes, nodes_regex, tensors;
    const yaml_node *when;
};

static const struct amp_key rule_keys[] = {
    {"precision", bind_precision, offsetof(struct draft, precision), true},
    {"dtypes", amp_bind_dtypes, offsetof(struct draft, dtypes), false},
    {"ops", bind_ops, offsetof(struct draft, ops), false},
    {"nodes", bind_globs, offsetof(struct draft, nodes), false},
    {"nodes_regex", bind_regexes, offsetof(struct draft, nodes_regex), false},
    {"tensors", bind_globs, offsetof(struct draft, tensors), false},
    {"when", keep_node, offsetof(struct draft, when), false},
};
static const struct amp_mapping rule_mapping = {"a rule", rule_keys, AMP_COUNT(rule_keys)};

static struct amp_rule rule_of(const binder *b, const yaml_node *node, const struct draft *draft)
{
    return (struct amp_rule){
        .precision = draft->precision,
        .dtypes = draft->dtypes,
        .source = {b->label, node->line, node->column},
        .ops = draft->ops.items,
        .n_ops = draft->ops.count,
        .nodes = draft->nodes,
        .nodes_regex = draft->nodes_regex,
        .tensors = draft->tensors,
    };
}

enum amp_status amp_rules_bind_rule(const binder *b, const yaml_node *node, struct amp_rule *rule)
{
    struct draft draft = {.when = NULL};
    AMP_TRY(amp_bind_mapping(b, "rules", node, &rule_mapping, &draft));
    if (node->count == (draft.dtypes != 0 ? 4 : 2))
        return FAIL(b, node,
                    "a rule for no node; accepted: one of ops, nodes, nodes_regex, tensors, when, "
                    "and nodes: [\"*\"] for all nodes");
    *rule = rule_of(b, node, &draft);
    return draft.when != NULL ? amp_rules_bind_when(b, draft.when, &draft.ops, &rule->condition)
                              : AMP_OK;
}
