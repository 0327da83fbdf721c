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

static bool when_matches(const struct amp_rule *rule, const struct amp_rule_subject *subject,
                         const struct amp_node *node)
{
    for (size_t i = 0; i < rule->n_when; i++) {
        const struct amp_attr *attr = amp_node_attr(node, rule->when[i].attr);
        if (!is_own_op(subject, node) || !(attr != NULL ? attr_matches(attr, &rule->when[i])
                                                        : default_matches(node, &rule->when[i])))
            return false;
    }
    return true;
}

static bool rank_matches(const struct amp_rule *rule, const struct amp_model *model,
                         const struct amp_node *node)
{
    if (rule->n_input_ranks == 0)
        return true;
    if (node->n_inputs == 0 || node->inputs[0] == AMP_NONE)
        return false;
    for (size_t i = 0; i < rule->n_input_ranks; i++)
        if (amp_value_at(model, node->inputs[0])->rank == rule->input_ranks[i])
            return true;
    return false;
}

static bool op_matches(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    for (size_t i = 0; i < rule->n_ops; i++)
        if (strcmp(rule->ops[i].name, subject->op_type) == 0 &&
            strcmp(rule->ops[i].domain, subject->domain) == 0)
            return true;
    return rule->n_ops == 0;
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

static bool rule_matches(const struct amp_rule *rule, const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    return op_matches(rule, subject) && rank_matches(rule, subject->model, node) &&
           (rule->n_nodes == 0 || any_pattern(rule->nodes, rule->n_nodes, node->name)) &&
           (rule->n_nodes_regex == 0 ||
            any_pattern(rule->nodes_regex, rule->n_nodes_regex, node->name)) &&
           output_matches(rule, subject->model, node) && when_matches(rule, subject, node);
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
