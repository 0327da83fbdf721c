/*
 * `when`: takes the mapping of a rule, checks attributes and values against the definitions of the
 * rule's operators, and gives the conditions that match.c tests. Operators of domains that
 * ONNX does not define may have any attribute.
 */
#include "autocast/rules/when.h"

#include "autocast/rules/op.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/graph/graph.h"
#include "core/tensor.h"
#include "core/words.h"
#include "onnx/schema/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

const char *const amp_rule_rank_keys[AMP_RULE_RANKS] = {"input_rank", "second_rank"};

const char amp_rule_contracts_key[] = "contracts";

/* ---- scalars ---- */

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [-+]? digits */
static bool is_integer_text(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t digits = count_digits(text);
    return digits > 0 && text[digits] == '\0';
}

/* [-+]? digits [. digits] [e [-+]? digits], digits on one side of the point at least: YAML 1.2,
   10.3.2, without infinities and NaN */
static bool is_number_text(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t whole = count_digits(text), part = 0;
    text += whole;
    if (*text == '.') {
        part = count_digits(++text);
        text += part;
    }
    if (whole + part > 0 && (*text == 'e' || *text == 'E'))
        return is_integer_text(text + 1);
    return whole + part > 0 && *text == '\0';
}

struct amp_rule_scalar amp_rule_scalar_of(const yaml_node *node)
{
    struct amp_rule_scalar scalar = {.text = node->text};
    if (!node->is_plain || !is_number_text(node->text))
        return scalar;
    scalar.is_number = true;
    scalar.number = strtod(node->text, NULL);
    errno = 0;
    scalar.integer = strtoll(node->text, NULL, 10);
    scalar.is_integer = is_integer_text(node->text) && errno == 0;
    return scalar;
}

/* ---- what may be compared ---- */

enum item { INTEGER, NUMBER, TEXT };

/* The attribute types that can be compared with a value. */
static const struct comparable {
    enum amp_attr_type type;
    bool is_list;
    enum item item;
    const char *accepted;
} comparables[] = {
    {AMP_ATTR_INT, false, INTEGER, "an integer or a list of integers"},
    {AMP_ATTR_FLOAT, false, NUMBER, "a number or a list of numbers"},
    {AMP_ATTR_STRING, false, TEXT, "a text or a list of texts"},
    {AMP_ATTR_INTS, true, INTEGER, "a list of integers or a list of such lists"},
    {AMP_ATTR_FLOATS, true, NUMBER, "a list of numbers or a list of such lists"},
    {AMP_ATTR_STRINGS, true, TEXT, "a list of texts or a list of such lists"},
};

static bool concerns(const struct amp_rule_ops *ops, const struct amp_schema *schema)
{
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].name != NULL && strcmp(ops->items[i].name, schema->name) == 0 &&
            strcmp(ops->items[i].domain, schema->domain) == 0)
            return true;
    return ops->count == 0;
}

static bool has_custom_op(const struct amp_rule_ops *ops)
{
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].name != NULL && amp_rule_is_custom_domain(ops->items[i].domain))
            return true;
    return false;
}

/* The types that attribute NAME has in any version of the rule's operators: bits of
   enum amp_attr_type. */
static uint32_t attr_types(const struct amp_rule_ops *ops, const char *name)
{
    uint32_t types = 0;
    const struct amp_schema *schema;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
        const struct amp_schema_attr *attr = amp_schema_attr(schema, name);
        if (attr != NULL && concerns(ops, schema))
            types |= UINT32_C(1) << attr->type;
    }
    return types;
}

static bool contains(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* The names of all attributes of the rule's operators, and the keys for ranks before them. */
static const char *const *attr_names(struct amp_arena *arena, const struct amp_rule_ops *ops,
                                     size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;
    const struct amp_schema *schema;
    *count = 0;
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        *(const char **)amp_arena_push(arena, &names, count, &capacity, sizeof(char *)) =
            amp_rule_rank_keys[i];
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
        for (size_t j = 0; j < schema->n_attrs && concerns(ops, schema); j++)
            if (!contains(names, *count, schema->attrs[j].name))
                *(const char **)amp_arena_push(arena, &names, count, &capacity, sizeof(char *)) =
                    schema->attrs[j].name;
    return names;
}

static enum amp_status unknown_attr(const binder *b, const struct amp_rule_ops *ops,
                                    const yaml_node *key)
{
    struct amp_arena *arena = b->yaml->arena;
    size_t count;
    const char *const *names = attr_names(arena, ops, &count);
    const struct amp_word_list list = {"attribute", names, count};
    if (ops->count > 0)
        return FAIL(b, key, "%s",
                    amp_word_unknown(arena, &list, key->text, " of the rule's operators"));
    const char *nearest = amp_word_nearest(key->text, names, count);
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return FAIL(b, key,
                "unknown attribute '%.60s'%s; accepted: input_rank, second_rank, an attribute of "
                "an operator "
                "of ONNX",
                key->text, hint);
}

/* ---- values ---- */

static bool is_item(const yaml_node *node, enum item item)
{
    struct amp_rule_scalar scalar = amp_rule_scalar_of(node);
    if (item == INTEGER)
        return scalar.is_integer;
    if (item == NUMBER)
        return scalar.is_number;
    return node->kind == AMP_YAML_SCALAR && !amp_yaml_is_null(node);
}

static bool is_list_of(const yaml_node *node, enum item item)
{
    if (node->kind != AMP_YAML_LIST)
        return false;
    for (size_t i = 0; i < node->count; i++)
        if (!is_item(node->items[i], item))
            return false;
    return true;
}

static bool is_list_of_lists(const yaml_node *node, enum item item)
{
    if (node->kind != AMP_YAML_LIST || node->count == 0)
        return false;
    for (size_t i = 0; i < node->count; i++)
        if (!is_list_of(node->items[i], item))
            return false;
    return true;
}

/* Single values have to be there; a list may be compared with the empty list. */
static bool fits(const yaml_node *value, const struct comparable *comparable)
{
    if (comparable->is_list)
        return is_list_of(value, comparable->item) || is_list_of_lists(value, comparable->item);
    return is_item(value, comparable->item) ||
           (is_list_of(value, comparable->item) && value->count > 0);
}

static enum amp_status wrong_value(const binder *b, const yaml_node *key, const yaml_node *value,
                                   const char *accepted)
{
    char found[96];
    if (value->kind == AMP_YAML_LIST && value->count > 0)
        return FAIL(b, value, "%s: a list of something else; accepted: %s", key->text, accepted);
    return FAIL(b, value, "%s: %s; accepted: %s", key->text,
                amp_yaml_describe(value, found, sizeof found), accepted);
}

/* Checks VALUE against the comparable ones among TYPES: one that it fits is enough. */
static enum amp_status check_value(const binder *b, const yaml_node *key, const yaml_node *value,
                                   uint32_t types)
{
    const char *accepted = NULL;
    for (size_t i = 0; i < AMP_COUNT(comparables); i++) {
        const struct comparable *comparable = &comparables[i];
        if (!(types & UINT32_C(1) << comparable->type))
            continue;
        if (fits(value, comparable))
            return AMP_OK;
        accepted =
            accepted ? amp_arena_printf(b->yaml->arena, "%s, or %s", accepted, comparable->accepted)
                     : comparable->accepted;
    }
    if (accepted == NULL)
        return FAIL(b, key,
                    "'%s' holds no numbers or texts; accepted: input_rank, attributes that hold "
                    "integers, floats or strings",
                    key->text);
    return wrong_value(b, key, value, accepted);
}

/* Checks VALUE for an attribute of an operator that ONNX does not define. */
static enum amp_status check_shape(const binder *b, const yaml_node *key, const yaml_node *value)
{
    if (is_item(value, TEXT) || is_list_of(value, TEXT) || is_list_of_lists(value, TEXT))
        return AMP_OK;
    return wrong_value(b, key, value, "a value, a list of values or a list of such lists");
}

static struct amp_rule_scalar copy_scalar(struct amp_arena *arena, const yaml_node *node)
{
    struct amp_rule_scalar scalar = amp_rule_scalar_of(node);
    scalar.text = amp_arena_strdup(arena, node->text);
    return scalar;
}

static struct amp_rule_tuple copy_tuple(struct amp_arena *arena, const yaml_node *node)
{
    bool is_list = node->kind == AMP_YAML_LIST;
    struct amp_rule_tuple tuple = {.count = is_list ? node->count : 1};
    tuple.items = amp_arena_array(arena, tuple.count, sizeof *tuple.items);
    for (size_t i = 0; i < tuple.count; i++)
        tuple.items[i] = copy_scalar(arena, is_list ? node->items[i] : node);
    return tuple;
}

static void copy_value(struct amp_arena *arena, const yaml_node *value, struct amp_rule_when *when)
{
    when->is_nested =
        value->kind == AMP_YAML_LIST && value->count > 0 && value->items[0]->kind == AMP_YAML_LIST;
    when->n_tuples = when->is_nested ? value->count : 1;
    when->tuples = amp_arena_array(arena, when->n_tuples, sizeof *when->tuples);
    for (size_t i = 0; i < when->n_tuples; i++)
        when->tuples[i] = copy_tuple(arena, when->is_nested ? value->items[i] : value);
}

static enum amp_status bind_attr(const binder *b, const yaml_node *key, const yaml_node *value,
                                 const struct amp_rule_ops *ops,
                                 struct amp_rule_condition *condition)
{
    uint32_t types = attr_types(ops, key->text);
    if (has_custom_op(ops))
        AMP_TRY(check_shape(b, key, value));
    else if (types == 0)
        return unknown_attr(b, ops, key);
    else
        AMP_TRY(check_value(b, key, value, types));
    struct amp_rule_when *when = &condition->when[condition->n_when++];
    when->attr = amp_arena_strdup(b->arena, key->text);
    copy_value(b->arena, value, when);
    return AMP_OK;
}

/* Reads a list of ranks; a list of one may be written without brackets. */
static enum amp_status bind_ranks(const binder *b, const yaml_node *key, const yaml_node *value,
                                  struct amp_rule_ranks *ranks)
{
    bool is_list = value->kind == AMP_YAML_LIST;
    size_t count = is_list ? value->count : 1;
    if (count == 0)
        return FAIL(b, value, "%s: an empty list; accepted: one rank or more", key->text);
    ranks->items = amp_arena_array(b->arena, count, sizeof *ranks->items);
    for (; ranks->count < count; ranks->count++) {
        const yaml_node *item = is_list ? value->items[ranks->count] : value;
        struct amp_rule_scalar scalar = amp_rule_scalar_of(item);
        char found[96];
        if (!scalar.is_integer || scalar.integer < 0 || scalar.integer > AMP_RANK_MAX)
            return FAIL(b, item, "%s: %s; accepted: 0 to %d, or a list of such numbers", key->text,
                        amp_yaml_describe(item, found, sizeof found), AMP_RANK_MAX);
        ranks->items[ranks->count] = scalar.integer;
    }
    return AMP_OK;
}

static enum amp_status bind_contracts(const binder *b, const yaml_node *key, const yaml_node *value,
                                      struct amp_rule_condition *condition)
{
    struct amp_rule_scalar scalar = amp_rule_scalar_of(value);
    if (!scalar.is_integer || scalar.integer != 1)
        return amp_wrong_type(b, key->text, value, "1");
    condition->contracts = true;
    return AMP_OK;
}

static enum amp_status bind_condition(const binder *b, const yaml_node *key, const yaml_node *value,
                                      const struct amp_rule_ops *ops,
                                      struct amp_rule_condition *condition)
{
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        if (strcmp(key->text, amp_rule_rank_keys[i]) == 0)
            return bind_ranks(b, key, value, &condition->ranks[i]);
    if (strcmp(key->text, amp_rule_contracts_key) == 0)
        return bind_contracts(b, key, value, condition);
    return bind_attr(b, key, value, ops, condition);
}

enum amp_status amp_rules_bind_when(const binder *b, const yaml_node *when,
                                    const struct amp_rule_ops *ops,
                                    struct amp_rule_condition *condition)
{
    char found[96];
    if (when->kind != AMP_YAML_MAPPING)
        return FAIL(b, when, "when: %s; accepted: a mapping of attributes to values",
                    amp_yaml_describe(when, found, sizeof found));
    if (when->count == 0)
        return FAIL(b, when, "when: an empty mapping; accepted: one attribute or more");
    condition->when = amp_arena_array(b->arena, when->count / 2, sizeof *condition->when);
    for (size_t i = 0; i < when->count; i += 2)
        AMP_TRY(bind_condition(b, when->items[i], when->items[i + 1], ops, condition));
    return AMP_OK;
}
