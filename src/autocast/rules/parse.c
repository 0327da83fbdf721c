/*
 * What a rule file says: takes the tree of a YAML file, gives the document's fields and its rules.
 * Files that the document extends are rules.c's matter, names of operators op_name.c's, attributes
 * in `when` when.c's, lists that environment variables put in the place of operators ops_from.c's.
 */
#include "autocast/rules/parse.h"

#include "autocast/rules/bind.h"
#include "autocast/rules/name_pattern.h"
#include "autocast/rules/op_name.h"
#include "autocast/rules/ops_from.h"
#include "autocast/rules/when.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/strmap.h"

#include <stdio.h>
#include <string.h>

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

/* ---- fields of a rule ---- */

static enum amp_status bind_precision(const binder *b, const char *name, const yaml_node *value,
                                      void *field)
{
    const char *names[AMP_PRECISION_COUNT];
    const struct amp_word_list list = {"precision", names, AMP_PRECISION_COUNT};
    size_t index = 0;
    for (int i = 0; i < AMP_PRECISION_COUNT; i++)
        names[i] = amp_precision_name((enum amp_precision)i);
    AMP_TRY(amp_bind_word(b, name, value, &list, &index));
    *(enum amp_precision *)field = (enum amp_precision)index;
    return AMP_OK;
}

static enum amp_status bind_ops(const binder *b, const char *name, const yaml_node *value,
                                void *field)
{
    AMP_TRY(amp_check_texts(b, name, value, 1));
    for (size_t i = 0; i < value->count; i++)
        AMP_TRY(amp_op_name_bind(b, value->items[i], field));
    return AMP_OK;
}

/* Reads a list of patterns, each made by MAKE. */
static enum amp_status bind_patterns(const binder *b, const char *name, const yaml_node *value,
                                     struct amp_rule_patterns *patterns,
                                     amp_rule_pattern_maker *make)
{
    AMP_TRY(amp_check_texts(b, name, value, 1));
    struct amp_rule_pattern *items = amp_arena_array(b->arena, value->count, sizeof *items);
    for (size_t i = 0; i < value->count; i++) {
        const char *problem = make(b->rules, value->items[i]->text, &items[i]);
        if (problem != NULL)
            return FAIL(b, value->items[i], "%s", problem);
    }
    *patterns = amp_rule_patterns_of(b->arena, items, value->count);
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

/* Keeps the node for later: the operators must be known to check it. */
static enum amp_status keep_node(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    (void)b, (void)name;
    *(const yaml_node **)field = value;
    return AMP_OK;
}

/* Checks that it names an operator; what that one's precision is, only the other rules say. */
static enum amp_status bind_like(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    struct amp_rule_ops ops = {.items = NULL};
    if (!amp_is_text(value))
        return amp_wrong_type(b, name, value, "a text");
    AMP_TRY(amp_op_name_bind(b, value, &ops));
    *(const char **)field = ops.count > 0 ? ops.items[0].word : value->text;
    return AMP_OK;
}

static enum amp_status bind_variables(const binder *b, const char *name, const yaml_node *value,
                                      void *field)
{
    *(const yaml_node **)field = value;
    return amp_check_texts(b, name, value, 1);
}

/* ---- a rule ---- */

struct draft {
    enum amp_precision precision;
    const char *like; /* the operator whose precision it is; NULL: PRECISION says it */
    uint32_t dtypes;
    struct amp_rule_ops ops;
    const yaml_node *ops_from;
    struct amp_rule_patterns nodes, nodes_regex, tensors;
    const yaml_node *when;
    struct amp_rule rule; /* what comes of it */
    bool is_void;         /* it is about no node */
};

static const struct amp_key rule_keys[] = {
    {"precision", bind_precision, offsetof(struct draft, precision), false},
    {"like", bind_like, offsetof(struct draft, like), false},
    {"dtypes", amp_bind_dtypes, offsetof(struct draft, dtypes), false},
    {"ops", bind_ops, offsetof(struct draft, ops), false},
    {"ops_from", bind_variables, offsetof(struct draft, ops_from), false},
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

static enum amp_status check_draft(const binder *b, const yaml_node *node,
                                   const struct draft *draft)
{
    bool has_precision = draft->precision != AMP_PRECISION_COUNT;
    if (!has_precision && draft->like == NULL)
        return FAIL(b, node,
                    "a rule without 'precision'; accepted: a rule with it, or with 'like'");
    if (has_precision && draft->like != NULL)
        return FAIL(b, node, "a rule with 'precision' and 'like'; accepted: one of them");
    if (draft->ops_from != NULL && draft->ops.count == 0)
        return FAIL(b, draft->ops_from,
                    "ops_from without 'ops'; accepted: ops_from beside the operators that it may "
                    "replace");
    if (draft->when == NULL &&
        draft->ops.count + draft->nodes.count + draft->nodes_regex.count + draft->tensors.count ==
            0)
        return FAIL(b, node,
                    "a rule for no node; accepted: one of ops, nodes, nodes_regex, tensors, when, "
                    "and nodes: [\"*\"] for all nodes");
    return AMP_OK;
}

/* Puts the operators of a list that the environment names in the place of the rule's. */
static enum amp_status replace_ops(const binder *b, struct draft *draft)
{
    struct amp_op_list list;
    bool is_given = false;
    if (draft->ops_from != NULL)
        AMP_TRY(amp_rules_read_ops_from(b, draft->ops_from, &is_given, &list));
    if (!is_given)
        return AMP_OK;
    draft->ops = list.ops;
    draft->rule.ops = list.ops.items;
    draft->rule.n_ops = list.ops.count;
    draft->rule.source = list.source;
    draft->is_void = list.ops.count == 0;
    return AMP_OK;
}

static enum amp_status bind_rule(const binder *b, const yaml_node *node, struct draft *draft)
{
    *draft = (struct draft){.precision = AMP_PRECISION_COUNT};
    AMP_TRY(amp_bind_mapping(b, "rules", node, &rule_mapping, draft));
    AMP_TRY(check_draft(b, node, draft));
    draft->rule = rule_of(b, node, draft);
    AMP_TRY(replace_ops(b, draft));
    return draft->when != NULL && !draft->is_void
               ? amp_rules_bind_when(b, draft->when, &draft->ops, &draft->rule.condition)
               : AMP_OK;
}

/* ---- rules like those for another operator ---- */

/* Whether the rule decides on all nodes of the operators that it names, as a list does. */
static bool is_list(const struct draft *draft)
{
    return draft->like == NULL && draft->when == NULL && draft->dtypes == 0 &&
           draft->nodes.count + draft->nodes_regex.count + draft->tensors.count == 0;
}

/* Notes in MAP the precision for each operator that one of the COUNT rules at DRAFTS lists: the
   last one counts. */
static void map_lists(struct amp_arena *arena, const struct draft *drafts, size_t count,
                      struct amp_strmap *map)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < drafts[i].rule.n_ops && is_list(&drafts[i]); k++)
            amp_strmap_put(map, arena, drafts[i].rule.ops[k].word,
                           (uint32_t)drafts[i].rule.precision);
}

/* Gives the rules among the COUNT at DRAFTS that are like those for an operator their precision;
   without a rule that lists it they are about no node. */
static void settle_likes(struct amp_arena *arena, struct draft *drafts, size_t count)
{
    struct amp_strmap map = {.count = 0};
    uint32_t precision = AMP_FOLLOW;
    map_lists(arena, drafts, count, &map);
    for (size_t i = 0; i < count; i++) {
        if (drafts[i].like == NULL)
            continue;
        drafts[i].is_void |= !amp_strmap_get(&map, drafts[i].like, &precision);
        drafts[i].rule.precision = (enum amp_precision)precision;
    }
}

/* ---- fields of the document ---- */

static enum amp_status bind_version(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    (void)field;
    if (!value->is_plain || strcmp(value->text, "1") != 0)
        return amp_wrong_type(b, name, value, "1");
    return AMP_OK;
}

static enum amp_status bind_extends(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    AMP_TRY(amp_check_texts(b, name, value, 0));
    *(const yaml_node **)field = value;
    return AMP_OK;
}

static enum amp_status bind_unlisted(const binder *b, const char *name, const yaml_node *value,
                                     void *field)
{
    static const char *const names[] = {"follow", "fp32", "lower"};
    static const struct amp_word_list list = {"precision", names, AMP_COUNT(names)};
    static const enum amp_precision precisions[] = {AMP_FOLLOW, AMP_FP32, AMP_LOWER};
    struct amp_rules_document *document = field;
    size_t index = 0;
    AMP_TRY(amp_bind_word(b, name, value, &list, &index));
    document->has_unlisted = true;
    document->unlisted = precisions[index];
    return AMP_OK;
}

static void push_rule(const binder *b, struct amp_rules_document *document,
                      const struct amp_rule *rule)
{
    struct amp_rule *slot = amp_arena_push(b->arena, &document->rules, &document->n_rules,
                                           &document->rules_capacity, sizeof *slot);
    *slot = *rule;
}

const char *const amp_rule_constants_names[AMP_CONSTANTS_COUNT] = {"follow", "promote"};

static enum amp_status bind_constants(const binder *b, const char *name, const yaml_node *value,
                                      void *field)
{
    static const struct amp_word_list list = {"way of constants", amp_rule_constants_names,
                                              AMP_CONSTANTS_COUNT};
    struct amp_rules_document *document = field;
    size_t index = 0;
    AMP_TRY(amp_bind_word(b, name, value, &list, &index));
    document->has_constants = true;
    document->constants = (enum amp_constants)index;
    return AMP_OK;
}

static enum amp_status bind_rules(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    if (value->kind != AMP_YAML_LIST)
        return amp_wrong_type(b, name, value, "a list of rules");
    struct draft *drafts = amp_arena_array(b->yaml->arena, value->count, sizeof *drafts);
    for (size_t i = 0; i < value->count; i++)
        AMP_TRY(bind_rule(b, value->items[i], &drafts[i]));
    settle_likes(b->yaml->arena, drafts, value->count);
    for (size_t i = 0; i < value->count; i++)
        if (!drafts[i].is_void)
            push_rule(b, field, &drafts[i].rule);
    return AMP_OK;
}

enum { MARGIN_MAX = 1000 };

/* Numbers from LEAST, or above it where it is 0, to MOST. */
struct bounds {
    double least, most;
};

static enum amp_status bind_limit(const binder *b, const char *name, const yaml_node *value,
                                  struct bounds bounds, double *limit)
{
    struct amp_rule_scalar scalar = amp_rule_scalar_of(value);
    /* What is no number has 0, which is never accepted. */
    bool is_enough = bounds.least > 0 ? scalar.number >= bounds.least : scalar.number > 0;
    if (!is_enough || scalar.number > bounds.most) {
        char accepted[80];
        if (bounds.least > 0)
            snprintf(accepted, sizeof accepted, "a number from %g to %g", bounds.least,
                     bounds.most);
        else
            snprintf(accepted, sizeof accepted, "a number above 0 and at most %.17g", bounds.most);
        return amp_wrong_type(b, name, value, accepted);
    }
    *limit = scalar.number;
    return AMP_OK;
}

static enum amp_status bind_bf16_limit(const binder *b, const char *name, const yaml_node *value,
                                       void *field)
{
    return bind_limit(b, name, value, (struct bounds){0, amp_dtype_max(AMP_BFLOAT16)}, field);
}

static enum amp_status bind_fp16_limit(const binder *b, const char *name, const yaml_node *value,
                                       void *field)
{
    return bind_limit(b, name, value, (struct bounds){0, amp_dtype_max(AMP_FLOAT16)}, field);
}

static enum amp_status bind_margin(const binder *b, const char *name, const yaml_node *value,
                                   void *field)
{
    return bind_limit(b, name, value, (struct bounds){1, MARGIN_MAX}, field);
}

static enum amp_status bind_share(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    return bind_limit(b, name, value, (struct bounds){0, 1}, field);
}

static enum amp_status bind_guards(const binder *b, const char *name, const yaml_node *value,
                                   void *field)
{
    static const char *const words[] = {"on", "off"};
    static const struct amp_word_list list = {"word", words, AMP_COUNT(words)};
    size_t index = 0;
    AMP_TRY(amp_bind_word(b, name, value, &list, &index));
    *(enum amp_rule_guards *)field = index == 1 ? AMP_GUARDS_OFF : AMP_GUARDS_ON;
    return AMP_OK;
}

#define GUARDS                                                                 \
    {                                                                          \
        "guards", bind_guards, offsetof(struct amp_rule_limits, guards), false \
    }

#define LIMIT(name, bind)                                          \
    {                                                              \
#        name, bind, offsetof(struct amp_rule_limits, name), false \
    }

static enum amp_status bind_bf16_limits(const binder *b, const char *name, const yaml_node *value,
                                        void *field)
{
    static const struct amp_key keys[] = {LIMIT(weight_max, bind_bf16_limit),
                                          LIMIT(activation_max, bind_bf16_limit),
                                          LIMIT(margin, bind_margin), GUARDS};
    static const struct amp_mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return amp_bind_mapping(b, name, value, &mapping, field);
}

static enum amp_status bind_fp16_limits(const binder *b, const char *name, const yaml_node *value,
                                        void *field)
{
    static const struct amp_key keys[] = {
        LIMIT(weight_max, bind_fp16_limit), LIMIT(activation_max, bind_fp16_limit),
        LIMIT(margin, bind_margin), LIMIT(flush_max, bind_share), GUARDS};
    static const struct amp_mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return amp_bind_mapping(b, name, value, &mapping, field);
}

static enum amp_status bind_limits(const binder *b, const char *name, const yaml_node *value,
                                   void *field)
{
    static const struct amp_key keys[] = {
        {"bf16", bind_bf16_limits, offsetof(struct amp_rules_document, bf16), false},
        {"fp16", bind_fp16_limits, offsetof(struct amp_rules_document, fp16), false},
    };
    static const struct amp_mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return amp_bind_mapping(b, name, value, &mapping, field);
}

/* ---- the document ---- */

#define FIELD(name) offsetof(struct amp_rules_document, name)

static const struct amp_key document_keys[] = {
    {"version", bind_version, 0, true},
    {"name", amp_bind_text, FIELD(name), true},
    {"description", amp_bind_text, FIELD(description), false},
    {"dtypes", amp_bind_dtypes, FIELD(dtypes), false},
    {"extends", bind_extends, FIELD(extends), false},
    {"unlisted", bind_unlisted, 0, false},
    {"constants", bind_constants, 0, false},
    {"rules", bind_rules, 0, false},
    {"limits", bind_limits, 0, false},
};
static const struct amp_mapping document_mapping = {"a rule file", document_keys,
                                                    AMP_COUNT(document_keys)};

enum amp_status amp_rules_parse(struct amp_rules *rules, const struct amp_yaml *yaml,
                                const char *label, struct amp_rules_document *document,
                                struct amp_error *err)
{
    const binder b = {rules->arena, rules, yaml, label, err};
    const yaml_node *version = amp_find_value(yaml->root, "version");
    *document = (struct amp_rules_document){.name = ""};
    if (version != NULL) /* before all else: another version may have other keys */
        AMP_TRY(bind_version(&b, "version", version, NULL));
    return amp_bind_mapping(&b, "the file", yaml->root, &document_mapping, document);
}
