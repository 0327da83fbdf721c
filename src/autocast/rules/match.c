/*
 * Matching: takes the list of rules and a node of a model, gives the rule that decides. Nothing is
 * changed but the count of steps: one for each rule, operator, pattern and value looked at, and
 * those that matching a name takes (core/match/automaton.h). When they are used up, nothing matches
 * any more.
 */
#include "autocast/rules/match.h"

#include "autocast/rules/name_pattern.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_OF_RULE = 2,
    STEPS_OF_OPERATOR = 2,
    STEPS_OF_RANK = 10,    /* to find one out */
    STEPS_OF_DEFAULT = 30, /* to read an attribute's */
    BYTES_A_STEP = 16      /* that are compared in the time of a step */
};

static void count(struct amp_rule_work *work, size_t steps)
{
    work->matcher.steps += steps;
}

/* ---- attributes ---- */

static bool equals_text(const struct amp_rule_scalar *scalar, struct amp_str text,
                        struct amp_rule_work *work)
{
    size_t size = strnlen(scalar->text, text.size + 1);
    count(work, size / BYTES_A_STEP);
    return size == text.size && memcmp(scalar->text, text.data, size) == 0;
}

/* Item I of an attribute that holds integers, floats or strings. Floats are compared as float32,
   which is what the model holds. */
static bool item_equals(const struct amp_attr *attr, size_t i, const struct amp_rule_scalar *scalar,
                        struct amp_rule_work *work)
{
    count(work, 1);
    if (attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_INTS)
        return scalar->is_integer && attr->ints[i] == scalar->integer;
    if (attr->type == AMP_ATTR_FLOAT || attr->type == AMP_ATTR_FLOATS)
        return scalar->is_number && attr->floats[i] == (float)scalar->number;
    if (attr->type == AMP_ATTR_STRING || attr->type == AMP_ATTR_STRINGS)
        return equals_text(scalar, attr->strings[i], work);
    return false;
}

static bool list_equals(const struct amp_attr *attr, const struct amp_rule_tuple *tuple,
                        struct amp_rule_work *work)
{
    count(work, 1);
    if (attr->count != tuple->count)
        return false;
    for (size_t i = 0; i < tuple->count; i++)
        if (!item_equals(attr, i, &tuple->items[i], work))
            return false;
    return true;
}

static bool holds_list(enum amp_attr_type type)
{
    return type == AMP_ATTR_INTS || type == AMP_ATTR_FLOATS || type == AMP_ATTR_STRINGS;
}

static bool attr_matches(const struct amp_attr *attr, const struct amp_rule_when *when,
                         struct amp_rule_work *work)
{
    if (holds_list(attr->type)) {
        for (size_t i = 0; i < when->n_tuples; i++)
            if (list_equals(attr, &when->tuples[i], work))
                return true;
        return false;
    }
    for (size_t i = 0; i < when->tuples[0].count && !when->is_nested && attr->count == 1; i++)
        if (item_equals(attr, 0, &when->tuples[0].items[i], work))
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

static bool default_matches(const struct amp_node *node, const struct amp_rule_when *when,
                            struct amp_rule_work *work)
{
    const struct amp_schema_attr *schema =
        node->schema != NULL ? amp_schema_attr(node->schema, when->attr) : NULL;
    struct default_attr made;
    count(work, STEPS_OF_DEFAULT);
    return schema != NULL && make_default(schema, &made) && attr_matches(&made.attr, when, work);
}

/* ---- rules ---- */

static bool attrs_match(const struct amp_rule_condition *condition,
                        const struct amp_rule_subject *subject, const struct amp_node *node,
                        struct amp_rule_work *work)
{
    count(work, condition->n_when * (1 + (size_t)node->n_attrs));
    for (size_t i = 0; i < condition->n_when; i++) {
        const struct amp_rule_when *when = &condition->when[i];
        const struct amp_attr *attr = amp_node_attr(node, when->attr);
        if (!amp_node_is(node, subject->domain, subject->op_type) ||
            !(attr != NULL ? attr_matches(attr, when, work) : default_matches(node, when, work)))
            return false;
    }
    return true;
}

/* The rank of input I; where it is not known, the operators with a kernel tell it: both inputs have
   the same rank, 2 more than the kernel's. -1: unknown. */
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
    return i == 0 ? input_rank(model, node, 1) : -1;
}

static bool ranks_match(const struct amp_rule_condition *condition, const struct amp_model *model,
                        const struct amp_node *node, struct amp_rule_work *work)
{
    for (uint32_t i = 0; i < AMP_RULE_RANKS; i++) {
        const struct amp_rule_ranks *ranks = &condition->ranks[i];
        count(work, ranks->count > 0 ? ranks->count + STEPS_OF_RANK : 0);
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
                            const struct amp_rule_subject *subject, const struct amp_node *node,
                            struct amp_rule_work *work)
{
    const struct amp_op *op = condition->contracts ? amp_op_of(node) : NULL;
    if (condition->contracts && (op == NULL || op->contracts == NULL || !op->contracts(node)))
        return false;
    return ranks_match(condition, subject->model, node, work) &&
           attrs_match(condition, subject, node, work);
}

static bool is_among(const char *text, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

/* Whether what the exporter noted is OP: by PyTorch's name, or as the composite that it is. */
static bool is_noted_op(const struct amp_rule_op *op, const struct amp_rule_subject *subject)
{
    if (op->is_torch)
        return is_among(op->word, subject->names, subject->n_names);
    return (op->domain[0] == '\0' || strcmp(op->domain, AMP_RULES_COMPOSITE) == 0) &&
           is_among(op->name, subject->composites, subject->n_composites);
}

/* Whether SUBJECT is OP. A composite counts as the operator of its name too. */
static bool is_op(const struct amp_rule_op *op, const struct amp_rule_subject *subject)
{
    if (subject->is_noted)
        return is_noted_op(op, subject);
    if (op->name == NULL || strcmp(op->name, subject->op_type) != 0)
        return false;
    return strcmp(op->domain, subject->domain) == 0 ||
           (op->domain[0] == '\0' && strcmp(subject->domain, AMP_RULES_COMPOSITE) == 0);
}

bool amp_rule_op_fits(const struct amp_rules *rules, const struct amp_rule_op *op,
                      const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    count(rules->work, STEPS_OF_OPERATOR + subject->n_names);
    return is_op(op, subject) && (subject->is_noted || op->condition == NULL ||
                                  condition_holds(op->condition, subject, node, rules->work));
}

const struct amp_rule_op *amp_rule_named_op(const struct amp_rules *rules,
                                            const struct amp_rule *rule,
                                            const struct amp_rule_subject *subject)
{
    for (size_t i = 0; i < rule->n_ops; i++)
        if (amp_rule_op_fits(rules, &rule->ops[i], subject))
            return &rule->ops[i];
    return NULL;
}

/* Reads the names of NODE and of its outputs, for all rules to come. */
static void read_names(const struct amp_rules *rules, const struct amp_model *model,
                       const struct amp_node *node)
{
    struct amp_rule_work *work = rules->work;
    if (node->n_outputs >= work->names_capacity) {
        work->names_capacity = (size_t)node->n_outputs + 1;
        work->names = amp_xrealloc(work->names, work->names_capacity, sizeof *work->names);
    }
    work->names[0] = amp_rule_name(node->name);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            work->names[i + 1] = amp_rule_name(amp_value_at(model, node->outputs[i])->name);
}

static bool output_matches(const struct amp_rule *rule, const struct amp_node *node,
                           struct amp_rule_work *work)
{
    for (uint32_t i = 0; i < node->n_outputs && rule->tensors.count > 0; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_rule_patterns_match(&rule->tensors, &work->names[i + 1], work))
            return true;
    return rule->tensors.count == 0;
}

static bool fits(const struct amp_rule_patterns *patterns, struct amp_rule_work *work)
{
    return patterns->count == 0 || amp_rule_patterns_match(patterns, &work->names[0], work);
}

/* Whether a rule that names nodes or tensors names this one, the names of which are read; a rule
   that names none is about all. */
static bool names_match(const struct amp_rules *rules, const struct amp_rule *rule,
                        const struct amp_rule_subject *subject)
{
    return fits(&rule->nodes, rules->work) && fits(&rule->nodes_regex, rules->work) &&
           output_matches(rule, amp_node_at(subject->model, subject->node), rules->work);
}

static bool operator_matches(const struct amp_rules *rules, const struct amp_rule *rule,
                             const struct amp_rule_subject *subject)
{
    const struct amp_node *node = amp_node_at(subject->model, subject->node);
    return (rule->n_ops == 0 || amp_rule_named_op(rules, rule, subject) != NULL) &&
           condition_holds(&rule->condition, subject, node, rules->work);
}

/* Names that are looked up come first: that is quickest. */
static bool rule_matches(const struct amp_rules *rules, const struct amp_rule *rule,
                         const struct amp_rule_subject *subject)
{
    bool is_looked_up = rule->nodes.count > 0 && rule->nodes.n_automata == 0;
    if (is_looked_up && !fits(&rule->nodes, rules->work))
        return false;
    return operator_matches(rules, rule, subject) && names_match(rules, rule, subject);
}

/* Counts RULE; whether the steps have been used up since the rule before it. */
static bool is_too_much(const struct amp_rules *rules, const struct amp_rule *rule)
{
    count(rules->work, STEPS_OF_RULE);
    if (amp_rule_work_is_over(rules->work))
        rules->work->rule = rule;
    return amp_rule_work_is_over(rules->work);
}

enum amp_status amp_rules_check_work(const struct amp_rules *rules, struct amp_error *err)
{
    const struct amp_rule *rule = rules->work->rule;
    char place[32] = "";
    if (rule == NULL)
        return AMP_OK;
    if (rule->source.line > 0)
        snprintf(place, sizeof place, ":%d:%d", rule->source.line, rule->source.column);
    return amp_fail(err, AMP_RULES,
                    "%s%s: too much to match: %d steps were used up at this rule; accepted: fewer "
                    "rules, operators, values and patterns, or shorter names in the model",
                    rule->source.file, place, AMP_RULE_STEPS_MAX);
}

struct amp_rule_subject amp_rule_subject(const struct amp_model *model, uint32_t node)
{
    const struct amp_node *at = amp_node_at(model, node);
    return (struct amp_rule_subject){
        .model = model, .node = node, .domain = at->domain, .op_type = at->op_type};
}

const struct amp_rule *amp_rules_match_subject(const struct amp_rules *rules,
                                               const struct amp_rule_subject *subject)
{
    if (rules->work->rule != NULL)
        return NULL;
    read_names(rules, subject->model, amp_node_at(subject->model, subject->node));
    for (size_t i = rules->count; i > 0; i--) {
        const struct amp_rule *rule = &rules->items[i - 1];
        bool matches = rule_matches(rules, rule, subject);
        if (is_too_much(rules, rule))
            return NULL;
        if (matches)
            return rule;
    }
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
static bool is_about_nodes(const struct amp_rules *rules, const struct amp_rule *rule,
                           const struct amp_rule_subject *subject)
{
    bool is_so = rule->n_ops == 0 || rule->nodes.count > 0 || rule->nodes_regex.count > 0 ||
                 rule->tensors.count > 0;
    for (size_t i = 0; i < rule->n_ops && !is_so; i++)
        is_so = !rule->ops[i].is_torch && is_op(&rule->ops[i], subject);
    return is_so && operator_matches(rules, rule, subject);
}

/* As what the rule matches the part; NULL: not at all. */
static const struct amp_rule_subject *matched_as(const struct amp_rules *rules,
                                                 const struct amp_rule *rule,
                                                 const struct amp_rule_part *part)
{
    if (!names_match(rules, rule, &part->self))
        return NULL;
    if (operator_matches(rules, rule, &part->whole))
        return &part->whole;
    if (part->has_head && operator_matches(rules, rule, &part->head))
        return &part->head;
    return is_about_nodes(rules, rule, &part->self) ? &part->self : NULL;
}

void amp_rules_note_matches(const struct amp_rules *rules, const struct amp_rule_part *part,
                            bool is_whole, bool *matches)
{
    if (rules->work->rule != NULL)
        return;
    read_names(rules, part->self.model, amp_node_at(part->self.model, part->self.node));
    for (size_t i = 0; i < rules->count; i++) {
        const struct amp_rule *rule = &rules->items[i];
        bool is_match = matches[i] || (is_whole ? rule_matches(rules, rule, &part->self)
                                                : matched_as(rules, rule, part) != NULL);
        if (is_too_much(rules, rule))
            return;
        matches[i] = is_match;
    }
}

const struct amp_rule *amp_rules_match_part(const struct amp_rules *rules,
                                            const struct amp_rule_part *part,
                                            const struct amp_rule_op **op)
{
    *op = NULL;
    if (rules->work->rule != NULL)
        return NULL;
    read_names(rules, part->self.model, amp_node_at(part->self.model, part->self.node));
    for (size_t i = rules->count; i > 0; i--) {
        const struct amp_rule *rule = &rules->items[i - 1];
        const struct amp_rule_subject *subject = matched_as(rules, rule, part);
        if (is_too_much(rules, rule))
            return NULL;
        if (subject == NULL)
            continue;
        *op = amp_rule_named_op(rules, rule, subject);
        return rule;
    }
    return NULL;
}
