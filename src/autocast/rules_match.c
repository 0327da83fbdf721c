/*
 * Matching: takes the list of rules and a node of a model, gives the rule that decides. Nothing is
 * changed and nothing can fail.
 */
#include "autocast/rules_parse.h"
#include "onnx/schema.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns over names ---- */

/* POSIX gives the leftmost and longest match: it is the whole name, or no match is. */
static bool is_whole_match(const regex_t *regex, const char *name)
{
    regmatch_t match;
    return regexec(regex, name, 1, &match, 0) == 0 && match.rm_so == 0 &&
           (size_t)match.rm_eo == strlen(name);
}

static bool pattern_matches(const struct amp_rule_pattern *pattern, const char *name)
{
    if (pattern->regex != NULL)
        return is_whole_match(&pattern->regex->compiled, name);
    return strcmp(pattern->text, name) == 0 || fnmatch(pattern->text, name, 0) == 0;
}

static bool any_pattern(const struct amp_rule_pattern *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(&patterns[i], name))
            return true;
    return false;
}

/* ---- attributes ---- */

static bool equals_text(const struct amp_rule_scalar *scalar, struct amp_str text)
{
    return strlen(scalar->text) == text.size && memcmp(scalar->text, text.data, text.size) == 0;
}

/* Item I of an attribute that holds integers, floats or strings. Floats are compared as float32,
   which is what the model holds. */
static bool item_equals(const struct amp_attr *attr, size_t i, const struct amp_rule_scalar *scalar)
{
    if (attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_INTS)
        return scalar->is_integer && attr->ints[i] == scalar->integer;
    if (attr->type == AMP_ATTR_FLOAT || attr->type == AMP_ATTR_FLOATS)
        return scalar->is_number && attr->floats[i] == (float)scalar->number;
    if (attr->type == AMP_ATTR_STRING || attr->type == AMP_ATTR_STRINGS)
        return equals_text(scalar, attr->strings[i]);
    return false;
}

static bool list_equals(const struct amp_attr *attr, const struct amp_rule_tuple *tuple)
{
    if (attr->count != tuple->count)
        return false;
    for (size_t i = 0; i < tuple->count; i++)
        if (!item_equals(attr, i, &tuple->items[i]))
            return false;
    return true;
}

static bool holds_list(enum amp_attr_type type)
{
    return type == AMP_ATTR_INTS || type == AMP_ATTR_FLOATS || type == AMP_ATTR_STRINGS;
}

static bool attr_matches(const struct amp_attr *attr, const struct amp_rule_when *when)
{
    if (holds_list(attr->type)) {
        for (size_t i = 0; i < when->n_tuples; i++)
            if (list_equals(attr, &when->tuples[i]))
                return true;
        return false;
    }
    for (size_t i = 0; i < when->tuples[0].count && !when->is_nested && attr->count == 1; i++)
        if (item_equals(attr, 0, &when->tuples[0].items[i]))
            return true;
    return false;
}

/* ---- the defaults of attributes ---- */

enum { DEFAULT_ITEMS = 16, DEFAULT_TEXT = 160 };

/* An attribute made from the text of the schema's default. */
struct default_attr {
    struct amp_attr attr;
    char text[DEFAULT_TEXT];
    union {
        int64_t ints[DEFAULT_ITEMS];
        float floats[DEFAULT_ITEMS];
        struct amp_str strings[DEFAULT_ITEMS];
    };
};

static bool add_default(struct default_attr *made, const char *word)
{
    enum amp_attr_type type = made->attr.type;
    size_t i = made->attr.count;
    if (i == DEFAULT_ITEMS)
        return false;
    if (type == AMP_ATTR_INT || type == AMP_ATTR_INTS)
        made->ints[i] = strtoll(word, NULL, 10);
    else if (type == AMP_ATTR_FLOAT || type == AMP_ATTR_FLOATS)
        made->floats[i] = strtof(word, NULL);
    else if (type == AMP_ATTR_STRING || type == AMP_ATTR_STRINGS)
        made->strings[i] = (struct amp_str){word, strlen(word)};
    else
        return false;
    made->attr.count++;
    return true;
}

/* "[1, 2]" for a list, the value alone otherwise. False for what cannot be compared. */
static bool make_default(const struct amp_schema_attr *schema, struct default_attr *made)
{
    *made = (struct default_attr){.attr = {.type = (enum amp_attr_type)schema->type}};
    if (schema->default_text == NULL || strlen(schema->default_text) >= DEFAULT_TEXT)
        return false;
    memcpy(made->text, schema->default_text, strlen(schema->default_text) + 1);
    made->attr.ints = made->ints; /* as good as floats or strings: all begin there */
    if (!holds_list(made->attr.type))
        return add_default(made, made->text);
    char *rest;
    for (char *word = strtok_r(made->text, "[], ", &rest); word != NULL;
         word = strtok_r(NULL, "[], ", &rest))
        if (!add_default(made, word))
            return false;
    return true;
}

static bool default_matches(const struct amp_node *node, const struct amp_rule_when *when)
{
    const struct amp_schema_attr *schema =
        node->schema != NULL ? amp_schema_attr(node->schema, when->attr) : NULL;
    struct default_attr made;
    return schema != NULL && make_default(schema, &made) && attr_matches(&made.attr, when);
}

/* ---- rules ---- */

static bool is_own_op(const struct amp_rule_subject *subject, const struct amp_node *node)
{
    return amp_node_is(node, subject->domain, subject->op_type);
}

static bool attrs_match(const struct amp_rule_condition *condition,
                        const struct amp_rule_subject *subject, const struct amp_node *node)
{
    for (size_t i = 0; i < condition->n_when; i++) {
        const struct amp_rule_when *when = &condition->when[i];
        const struct amp_attr *attr = amp_node_attr(node, when->attr);
        if (!is_own_op(subject, node) ||
            !(attr != NULL ? attr_matches(attr, when) : default_matches(node, when)))
            return false;
    }
    return true;
}

/* Of input I; where it is not known, the operators with a kernel tell it: both inputs have the same
   rank, 2 more than the kernel's. -1: unknown. */
static int input_rank(const struct amp_model *model, const struct amp_node *node, uint32_t i)
{
    if (i >= node->n_inputs || node->inputs[i] == AMP_NONE)
        return -1;
    int rank = amp_value_at(model, node->inputs[i])->rank;
    const struct amp_attr *kernel = amp_node_attr(node, "kernel_shape");
    if (rank >= 0 || node->schema == NULL || amp_schema_attr(node->schema, "kernel_shape") == NULL)
        return rank;
    if (kernel != NULL && kernel->type == AMP_ATTR_INTS)
        return (int)kernel->count + 2;
    return node->n_inputs > 1 && i == 0 ? input_rank(model, node, 1) : -1;
}

static bool ranks_match(const struct amp_rule_condition *condition, const struct amp_model *model,
                        const struct amp_node *node)
{
    for (uint32_t i = 0; i < AMP_RULE_RANKS; i++) {
        const struct amp_rule_ranks *ranks = &condition->ranks[i];
        int rank = ranks->count > 0 ? input_rank(model, node, i) : -1;
        size_t at = 0;
        while (at < ranks->count && ranks->items[at] != rank)
            at++;
        if (ranks->count > 0 && at == ranks->count)
            return false;
    }
    return true;
}

static bool condition_holds(const struct amp_rule_condition *condition,
                            const struct amp_rule_subject *subject, const struct amp_node *node)
{
    return ranks_match(condition, subject->model, node) && attrs_match(condition, subject, node);
}

/* A composite counts as the operator of its name too. */
static bool is_op(const struct amp_rule_op *op, const struct amp_rule_subject *subject)
{
    if (op->name == NULL || strcmp(op->name, subject->op_type) != 0)
        return false;
    return strcmp(op->domain, subject->domain) == 0 ||
           (op->domain[0] == '\0' && strcmp(subject->domain, AMP_RULES_COMPOSITE) == 0);
}

const struct amp_rule_op *amp_rule_named_op(const struct amp_rule *rule,
                                            const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    for (size_t i = 0; i < rule->n_ops; i++) {
        const struct amp_rule_op *op = &rule->ops[i];
        if (is_op(op, subject) &&
            (op->condition == NULL || condition_holds(op->condition, subject, node)))
            return op;
    }
    return NULL;
}

static bool output_matches(const struct amp_rule *rule, const struct amp_model *model,
                           const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            any_pattern(rule->tensors, rule->n_tensors,
                        amp_value_at(model, node->outputs[i])->name))
            return true;
    return rule->n_tensors == 0;
}

/* Whether a rule that names nodes or tensors names this one; a rule that names none is about all.
 */
static bool names_match(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    return (rule->n_nodes == 0 || any_pattern(rule->nodes, rule->n_nodes, node->name)) &&
           (rule->n_nodes_regex == 0 ||
            any_pattern(rule->nodes_regex, rule->n_nodes_regex, node->name)) &&
           output_matches(rule, subject->model, node);
}

static bool operator_matches(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    return (rule->n_ops == 0 || amp_rule_named_op(rule, subject) != NULL) &&
           condition_holds(&rule->condition, subject, node);
}

static bool rule_matches(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    return operator_matches(rule, subject) && names_match(rule, subject);
}

struct amp_rule_subject amp_rule_subject(const struct amp_model *model, uint32_t node)
{
    const struct amp_node *at = amp_node_at(model, node);
    return (struct amp_rule_subject){model, node, at->domain, at->op_type};
}

const struct amp_rule *amp_rules_match_subject(const struct amp_rules *rules,
                                               const struct amp_rule_subject *subject)
{
    for (size_t i = rules->count; i > 0; i--)
        if (rule_matches(&rules->items[i - 1], subject))
            return &rules->items[i - 1];
    return NULL;
}

const struct amp_rule *amp_rules_match(const struct amp_rules *rules, const struct amp_model *model,
                                       uint32_t node)
{
    struct amp_rule_subject subject = amp_rule_subject(model, node);
    return amp_rules_match_subject(rules, &subject);
}

/* Whether the rule speaks of nodes as they are in the graph: it names some, or an operator of
   ONNX's; an operator of PyTorch's is what PyTorch ran, which a part of a composite is not. */
static bool is_about_nodes(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    bool is_so =
        rule->n_ops == 0 || rule->n_nodes > 0 || rule->n_nodes_regex > 0 || rule->n_tensors > 0;
    for (size_t i = 0; i < rule->n_ops && !is_so; i++)
        is_so = !rule->ops[i].is_torch && is_op(&rule->ops[i], subject);
    return is_so && operator_matches(rule, subject);
}

/* As what the rule matches the part; NULL: not at all. */
static const struct amp_rule_subject *matched_as(const struct amp_rule *rule,
                                                 const struct amp_rule_part *part)
{
    if (!names_match(rule, &part->self))
        return NULL;
    if (operator_matches(rule, &part->whole))
        return &part->whole;
    if (part->has_head && operator_matches(rule, &part->head))
        return &part->head;
    return is_about_nodes(rule, &part->self) ? &part->self : NULL;
}

const struct amp_rule *amp_rules_match_part(const struct amp_rules *rules,
                                            const struct amp_rule_part *part,
                                            const struct amp_rule_op **op)
{
    *op = NULL;
    for (size_t i = rules->count; i > 0; i--) {
        const struct amp_rule *rule = &rules->items[i - 1];
        const struct amp_rule_subject *subject = matched_as(rule, part);
        if (subject == NULL)
            continue;
        *op = amp_rule_named_op(rule, subject);
        return rule;
    }
    return NULL;
}
