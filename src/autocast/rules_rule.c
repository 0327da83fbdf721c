/*
 * What one rule says: takes a mapping of a rule file, gives a rule. Names of operators are
 * rules_op.c's matter, attributes in `when` rules_when.c's.
 */
#include "autocast/rules_parse.h"

#include "autocast/rules_bind.h"
#include "autocast/rules_op.h"
#include "autocast/rules_when.h"
#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum { WRITTEN_OUT_MAX = 2000 }; /* bytes of a regular expression */

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

struct patterns {
    struct amp_rule_pattern *items;
    size_t count;
};

typedef enum amp_status pattern_fn(const binder *b, const yaml_node *item,
                                   struct amp_rule_pattern *pattern);

/* A list of patterns, each made by MAKE. */
static enum amp_status bind_each(const binder *b, const char *name, const yaml_node *value,
                                 struct patterns *patterns, pattern_fn *make)
{
    AMP_TRY(amp_check_texts(b, name, value, 1));
    patterns->items = amp_arena_array(b->rules->arena, value->count, sizeof *patterns->items);
    for (; patterns->count < value->count; patterns->count++)
        AMP_TRY(make(b, value->items[patterns->count], &patterns->items[patterns->count]));
    return AMP_OK;
}

static enum amp_status keep_glob(const binder *b, const yaml_node *item,
                                 struct amp_rule_pattern *pattern)
{
    pattern->text = amp_arena_strdup(b->rules->arena, item->text);
    return AMP_OK;
}

static enum amp_status bind_globs(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    return bind_each(b, name, value, field, keep_glob);
}

/* The larger number of the repetition "{n}", "{n,}" or "{n,m}" that begins at TEXT; 1 when none
   does. */
static unsigned long repetition(const char *text)
{
    char *end;
    if (text[0] != '{' || text[1] < '0' || text[1] > '9')
        return 1;
    unsigned long least = strtoul(text + 1, &end, 10);
    unsigned long most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
    return most > least ? most : least;
}

/* Whether an expression with its repetitions written out is short: that bounds what it takes to
   compile it. */
static bool is_short(const char *text)
{
    size_t length = strlen(text);
    for (; *text != '\0' && length <= WRITTEN_OUT_MAX; text++) {
        unsigned long times = repetition(text);
        if (times > WRITTEN_OUT_MAX)
            return false;
        length *= times > 0 ? times : 1;
    }
    return length <= WRITTEN_OUT_MAX;
}

static enum amp_status compile_regex(const binder *b, const yaml_node *item,
                                     struct amp_rule_pattern *pattern)
{
    char reason[120];
    pattern->text = amp_arena_strdup(b->rules->arena, item->text);
    if (!is_short(item->text))
        return FAIL(b, item,
                    "too long a regular expression; accepted: %d bytes at most, repetitions "
                    "written out",
                    WRITTEN_OUT_MAX);
    struct amp_rule_regex *regex = amp_arena_alloc(b->rules->arena, sizeof *regex);
    int code = regcomp(&regex->compiled, item->text, REG_EXTENDED);
    if (code != 0) {
        regerror(code, &regex->compiled, reason, sizeof reason);
        return FAIL(b, item, "'%.60s': %s; accepted: a POSIX extended regular expression",
                    item->text, reason);
    }
    regex->next = b->rules->regexes;
    b->rules->regexes = regex;
    pattern->regex = regex;
    return AMP_OK;
}

static enum amp_status bind_regexes(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    return bind_each(b, name, value, field, compile_regex);
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
    struct patterns nodes, nodes_regex, tensors;
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
        .nodes = draft->nodes.items,
        .n_nodes = draft->nodes.count,
        .nodes_regex = draft->nodes_regex.items,
        .n_nodes_regex = draft->nodes_regex.count,
        .tensors = draft->tensors.items,
        .n_tensors = draft->tensors.count,
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
