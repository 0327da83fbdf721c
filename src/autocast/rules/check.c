/*
 * Lint for rule files: takes a list of rules, says which of them can have no effect. What it says
 * is sure; it does not find all: patterns over names are compared as texts, and several later rules
 * together count only where each takes whole operators. What it compares is counted, and bounded.
 */
#include "autocast/rules/check.h"

#include "autocast/rules/name_pattern.h"
#include "core/arena.h"
#include "core/hash.h"
#include "onnx/schema/schema.h"

#include <string.h>

enum { STEPS_OF_RULE = 4 /* that two rules take to compare, apart from lists */ };

static void count(const struct amp_rules *rules, size_t steps)
{
    rules->work->matcher.steps += steps;
}

/* ---- conditions ---- */

static const struct amp_rule_condition always;

static bool is_among(int64_t rank, const struct amp_rule_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (ranks->items[i] == rank)
            return true;
    return ranks->count == 0;
}

/* Whether no rank fits both. */
static bool exclude_each_other(const struct amp_rule_ranks *a, const struct amp_rule_ranks *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (is_among(a->items[i], b))
            return false;
    return a->count > 0;
}

/* Whether each rank that fits both A and B fits C. */
static bool ranks_imply(const struct amp_rule_ranks *a, const struct amp_rule_ranks *b,
                        const struct amp_rule_ranks *c)
{
    const struct amp_rule_ranks *narrow = a->count > 0 ? a : b;
    if (c->count == 0)
        return true;
    for (size_t i = 0; i < narrow->count; i++)
        if (is_among(narrow->items[i], b) && !is_among(narrow->items[i], c))
            return false;
    return narrow->count > 0;
}

static bool equal_tuples(const struct amp_rule_tuple *a, const struct amp_rule_tuple *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].text, b->items[i].text) != 0)
            return false;
    return true;
}

static bool equal_when(const struct amp_rule_when *a, const struct amp_rule_when *b)
{
    if (strcmp(a->attr, b->attr) != 0 || a->is_nested != b->is_nested || a->n_tuples != b->n_tuples)
        return false;
    for (size_t i = 0; i < a->n_tuples; i++)
        if (!equal_tuples(&a->tuples[i], &b->tuples[i]))
            return false;
    return true;
}

static bool asks(const struct amp_rule_condition *condition, const struct amp_rule_when *when)
{
    for (size_t i = 0; i < condition->n_when; i++)
        if (equal_when(&condition->when[i], when))
            return true;
    return false;
}

/* Whether what fits A and B fits C. */
static bool implies(const struct amp_rule_condition *a, const struct amp_rule_condition *b,
                    const struct amp_rule_condition *c)
{
    if (c->contracts && !a->contracts && !b->contracts)
        return false;
    for (size_t i = 0; i < c->n_when; i++)
        if (!asks(a, &c->when[i]) && !asks(b, &c->when[i]))
            return false;
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        if (!ranks_imply(&a->ranks[i], &b->ranks[i], &c->ranks[i]))
            return false;
    return true;
}

static const struct amp_rule_condition *condition_of(const struct amp_rule_op *op)
{
    return op != NULL && op->condition != NULL ? op->condition : &always;
}

/* ---- rules that no node can match ---- */

static bool is_composite(const struct amp_rule_op *op)
{
    return strcmp(op->domain, AMP_RULES_COMPOSITE) == 0;
}

/* Whether a node of the operator may have attribute NAME: true where the table does not know. */
static bool may_have(const struct amp_rules *rules, const struct amp_rule_op *op, const char *name)
{
    bool is_known = false;
    const struct amp_schema *schema;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
        count(rules, 1);
        if (strcmp(schema->name, op->name) != 0 || strcmp(schema->domain, op->domain) != 0)
            continue;
        if (amp_schema_attr(schema, name) != NULL)
            return true;
        is_known = !amp_schema_is_partial(op->domain);
    }
    return !is_known && !is_composite(op);
}

/* Why no node that is OP matches RULE; NULL: some may. */
static const char *why_never(const struct amp_rules *rules, const struct amp_rule *rule,
                             const struct amp_rule_op *op)
{
    count(rules, 1);
    if (op->name == NULL)
        return op->reason;
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        if (exclude_each_other(&rule->condition.ranks[i], &condition_of(op)->ranks[i]))
            return "the name stands for other ranks than the rule asks for";
    for (size_t i = 0; i < rule->condition.n_when && !amp_rule_work_is_over(rules->work); i++)
        if (!may_have(rules, op, rule->condition.when[i].attr))
            return "it has no attribute that the rule asks for";
    return NULL;
}

/* Why no node matches RULE; NULL: some may. */
static const char *why_dead(const struct amp_rules *rules, const struct amp_rule *rule)
{
    const char *why = NULL;
    for (size_t i = 0; i < rule->n_ops; i++) {
        const char *reason = why_never(rules, rule, &rule->ops[i]);
        if (reason == NULL)
            return NULL;
        why = why == NULL ? reason : why;
    }
    return why;
}

/* ---- rules behind which a later one decides ---- */

/* Whether the patterns LATER match all that PATTERNS match; ALL is the one that matches any name.
 */
static bool cover_patterns(const struct amp_rules *rules, const struct amp_rule_patterns *later,
                           const struct amp_rule_patterns *patterns, const char *all)
{
    if (later->count == 0 ||
        amp_rule_patterns_have(later, all, amp_hash_keyed(all, strlen(all)), rules->work))
        return true;
    for (size_t i = 0; i < patterns->count; i++)
        if (!amp_rule_patterns_have(later, patterns->items[i].text, patterns->items[i].hash,
                                    rules->work))
            return false;
    return patterns->count > 0;
}

/* Whether LATER matches what RULE matches, apart from operators and conditions. */
static bool covers_names(const struct amp_rules *rules, const struct amp_rule *later,
                         const struct amp_rule *rule)
{
    if (later->dtypes != 0 && (rule->dtypes == 0 || (rule->dtypes & ~later->dtypes) != 0))
        return false;
    return cover_patterns(rules, &later->nodes, &rule->nodes, "*") &&
           cover_patterns(rules, &later->nodes_regex, &rule->nodes_regex, ".*") &&
           cover_patterns(rules, &later->tensors, &rule->tensors, "*");
}

static bool is_same_op(const struct amp_rule_op *later, const struct amp_rule_op *op)
{
    return later->name != NULL && strcmp(later->name, op->name) == 0 &&
           (strcmp(later->domain, op->domain) == 0 ||
            (later->domain[0] == '\0' && is_composite(op)));
}

/* Whether LATER matches each node that is OP (NULL: of any operator) and matches RULE. */
static bool covers(const struct amp_rules *rules, const struct amp_rule *later,
                   const struct amp_rule *rule, const struct amp_rule_op *op)
{
    count(rules, STEPS_OF_RULE + later->n_ops);
    if (!covers_names(rules, later, rule) ||
        !implies(&rule->condition, condition_of(op), &later->condition))
        return false;
    for (size_t i = 0; op != NULL && i < later->n_ops; i++)
        if (is_same_op(&later->ops[i], op) &&
            implies(&rule->condition, condition_of(op), condition_of(&later->ops[i])))
            return true;
    return later->n_ops == 0;
}

/* The first rule behind RULE that covers it for OP; NULL: none. */
static const struct amp_rule *coverer(const struct amp_rules *rules, const struct amp_rule *rule,
                                      const struct amp_rule_op *op)
{
    const struct amp_rule *end = rules->items + rules->count;
    for (const struct amp_rule *later = rule + 1;
         later < end && !amp_rule_work_is_over(rules->work); later++)
        if (covers(rules, later, rule, op))
            return later;
    return NULL;
}

/* A later rule behind which RULE has no effect; where there are several, the first. */
static const struct amp_rule *shadow_of(const struct amp_rules *rules, const struct amp_rule *rule)
{
    if (rule->n_ops == 0)
        return coverer(rules, rule, NULL);
    const struct amp_rule *first = NULL;
    for (size_t i = 0; i < rule->n_ops; i++) {
        if (why_never(rules, rule, &rule->ops[i]) != NULL)
            continue;
        const struct amp_rule *later = coverer(rules, rule, &rule->ops[i]);
        if (later == NULL)
            return NULL;
        first = first == NULL || later < first ? later : first;
    }
    return first;
}

/* ---- the list ---- */

struct findings {
    struct amp_rule_finding *items;
    size_t count, capacity;
};

static void find(struct amp_arena *arena, struct findings *findings,
                 struct amp_rule_finding finding)
{
    struct amp_rule_finding *slot = amp_arena_push(arena, &findings->items, &findings->count,
                                                   &findings->capacity, sizeof *slot);
    *slot = finding;
}

/* Operators that cannot match in a rule whose others can. */
static void note_ops(struct amp_arena *arena, const struct amp_rule *rule,
                     struct findings *findings)
{
    for (size_t i = 0; i < rule->n_ops; i++) {
        const struct amp_rule_op *op = &rule->ops[i];
        if (op->name == NULL)
            find(arena, findings,
                 (struct amp_rule_finding){
                     rule,
                     amp_arena_printf(arena, "'%s' matches nothing: %s", op->word, op->reason),
                     op->line, true});
    }
}

static void check_rule(const struct amp_rules *rules, const struct amp_rule *rule,
                       struct findings *findings)
{
    struct amp_arena *arena = rules->arena;
    const char *dead = why_dead(rules, rule);
    const struct amp_rule *shadow = dead == NULL ? shadow_of(rules, rule) : NULL;
    const char *text = NULL;
    if (dead != NULL)
        text = amp_arena_printf(arena, "the rule can never match: %s", dead);
    else if (shadow != NULL)
        text = amp_arena_printf(arena,
                                "the rule never decides: that of line %d matches all that "
                                "it matches, and comes later",
                                shadow->source.line);
    if (text != NULL)
        find(arena, findings, (struct amp_rule_finding){rule, text, rule->source.line, false});
    if (dead == NULL)
        note_ops(arena, rule, findings);
}

enum amp_status amp_rules_check(const struct amp_rules *rules, struct amp_rule_finding **findings,
                                size_t *n_findings, struct amp_error *err)
{
    struct findings found = {.items = NULL};
    const char *file = rules->n_sets > 0 ? rules->sets[rules->n_sets - 1].file : "";
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->items[i].source.file, file) == 0)
            check_rule(rules, &rules->items[i], &found);
    *findings = found.items;
    *n_findings = found.count;
    if (amp_rule_work_is_over(rules->work))
        return amp_fail(err, AMP_RULES,
                        "%s: too much to compare: %d steps were used up; accepted: fewer rules, "
                        "operators and values",
                        file, AMP_RULE_STEPS_MAX);
    return AMP_OK;
}
