/*
 * What a rule file says: takes the tree of a YAML file, gives the document's fields and its rules.
 * Tables of keys say which mapping takes what; every value is checked where it stands. Files that
 * the document extends are rules.c's matter, attributes in `when` rules_when.c's.
 */
#include "autocast/rules_parse.h"

#include "autocast/rules_when.h"
#include "core/array.h"
#include "core/words.h"
#include "onnx/schema.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITTEN_OUT_MAX = 2000 }; /* bytes of a regular expression */

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

/* One key of a mapping: BIND checks the value and writes it OFFSET bytes into the mapping's
   target. */
struct key {
    const char *name;
    enum amp_status (*bind)(const binder *b, const char *name, const yaml_node *value, void *field);
    size_t offset;
    bool is_required;
};

struct mapping {
    const char *what; /* for messages: "a rule" */
    const struct key *keys;
    size_t n_keys;
};

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

/* ---- words ---- */

/* "a, b, c" */
static const char *join(struct amp_arena *arena, const char *const *words, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = amp_arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", words[i]);
    return text;
}

const char *amp_unknown_word(struct amp_arena *arena, const char *what, const char *word,
                             const char *where, const char *const *words, size_t count)
{
    const char *nearest = amp_nearest_of(word, words, count);
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return amp_arena_printf(arena, "unknown %s '%.60s'%s%s; accepted: %s", what, word, where, hint,
                            join(arena, words, count));
}

static enum amp_status wrong_type(const binder *b, const char *name, const yaml_node *value,
                                  const char *accepted)
{
    char found[96];
    return FAIL(b, value, "%s: %s; accepted: %s", name,
                amp_yaml_describe(value, found, sizeof found), accepted);
}

static bool is_text(const yaml_node *node)
{
    return node->kind == AMP_YAML_SCALAR && !amp_yaml_is_null(node);
}

/* Writes the index of VALUE among COUNT words to *INDEX; messages call it WHAT. */
static enum amp_status bind_word(const binder *b, const char *name, const char *what,
                                 const yaml_node *value, const char *const *words, size_t count,
                                 size_t *index)
{
    struct amp_arena *arena = b->yaml->arena;
    if (!is_text(value))
        return wrong_type(b, name, value, join(arena, words, count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(value->text, words[i]) == 0) {
            *index = i;
            return AMP_OK;
        }
    return FAIL(b, value, "%s: %s", name,
                amp_unknown_word(arena, what, value->text, "", words, count));
}

/* ---- mappings ---- */

static const struct key *find_key(const struct mapping *mapping, const char *name)
{
    for (size_t i = 0; i < mapping->n_keys; i++)
        if (strcmp(mapping->keys[i].name, name) == 0)
            return &mapping->keys[i];
    return NULL;
}

static enum amp_status unknown_key(const binder *b, const struct mapping *mapping,
                                   const yaml_node *key)
{
    struct amp_arena *arena = b->yaml->arena;
    const char **names = amp_arena_array(arena, mapping->n_keys, sizeof(char *));
    for (size_t i = 0; i < mapping->n_keys; i++)
        names[i] = mapping->keys[i].name;
    const char *where = amp_arena_printf(arena, " in %s", mapping->what);
    return FAIL(b, key, "%s",
                amp_unknown_word(arena, "key", key->text, where, names, mapping->n_keys));
}

/* NULL when MAPPING, which may be no mapping, has no such key. */
static const yaml_node *find_value(const yaml_node *mapping, const char *name)
{
    if (mapping->kind == AMP_YAML_MAPPING)
        for (size_t i = 0; i < mapping->count; i += 2)
            if (strcmp(mapping->items[i]->text, name) == 0)
                return mapping->items[i + 1];
    return NULL;
}

static enum amp_status bind_mapping(const binder *b, const char *name, const yaml_node *node,
                                    const struct mapping *mapping, void *target)
{
    if (node->kind != AMP_YAML_MAPPING)
        return wrong_type(b, name, node, "a mapping");
    for (size_t i = 0; i < node->count; i += 2) {
        const struct key *key = find_key(mapping, node->items[i]->text);
        if (key == NULL)
            return unknown_key(b, mapping, node->items[i]);
        void *field = (unsigned char *)target + key->offset;
        AMP_TRY(key->bind(b, key->name, node->items[i + 1], field));
    }
    for (size_t i = 0; i < mapping->n_keys; i++)
        if (mapping->keys[i].is_required && find_value(node, mapping->keys[i].name) == NULL)
            return FAIL(b, node, "%s without '%s'; accepted: %s with it", mapping->what,
                        mapping->keys[i].name, mapping->what);
    return AMP_OK;
}

/* Checks that VALUE is a list of at least MIN texts. */
static enum amp_status check_texts(const binder *b, const char *name, const yaml_node *value,
                                   size_t min)
{
    if (value->kind != AMP_YAML_LIST)
        return wrong_type(b, name, value, "a list of texts, as in [a, b]");
    if (value->count < min)
        return FAIL(b, value, "%s: an empty list; accepted: one text or more", name);
    for (size_t i = 0; i < value->count; i++)
        if (!is_text(value->items[i]))
            return wrong_type(b, name, value->items[i], "a text");
    return AMP_OK;
}

/* ---- fields of a rule ---- */

static const char *const precision_names[AMP_PRECISION_COUNT] = {
    [AMP_FOLLOW] = "follow", [AMP_LOWER] = "lower", [AMP_FP32] = "fp32", [AMP_WIDEST] = "widest"};

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
    AMP_TRY(bind_word(b, name, "precision", value, precision_names, AMP_PRECISION_COUNT, &index));
    *(enum amp_precision *)field = (enum amp_precision)index;
    return AMP_OK;
}

/* The nearest operator, written as a rule file would have it; NULL when none is near. */
static const char *nearest_op(struct amp_arena *arena, const char *name)
{
    const char *nearest = amp_schema_nearest(name);
    if (nearest == NULL || amp_schema_find("", nearest, INT_MAX) != NULL)
        return nearest;
    for (size_t i = 0; amp_schema_at(i) != NULL; i++)
        if (strcmp(amp_schema_at(i)->name, nearest) == 0)
            return amp_arena_printf(arena, "%s::%s", amp_schema_at(i)->domain, nearest);
    return NULL;
}

const char *amp_rule_op_parse(struct amp_arena *arena, const char *text, struct amp_rule_op *op)
{
    const char *colons = strstr(text, "::");
    op->domain = colons ? amp_arena_strndup(arena, text, (size_t)(colons - text)) : "";
    op->name = amp_arena_strdup(arena, colons ? colons + 2 : text);
    if (strcmp(op->domain, "ai.onnx") == 0)
        op->domain = "";
    bool is_custom = amp_schema_newest_opset(op->domain) == 0;
    if (op->name[0] != '\0' &&
        (is_custom || amp_schema_find(op->domain, op->name, INT_MAX) != NULL))
        return NULL;
    const char *nearest = nearest_op(arena, op->name);
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return amp_arena_printf(arena,
                            "unknown operator '%.60s'%s; accepted: an operator of ONNX, or "
                            "DOMAIN::NAME of another domain",
                            text, hint);
}

struct ops {
    struct amp_rule_op *items;
    size_t count;
};

static enum amp_status bind_ops(const binder *b, const char *name, const yaml_node *value,
                                void *field)
{
    struct ops *ops = field;
    AMP_TRY(check_texts(b, name, value, 1));
    ops->items = amp_arena_array(b->rules->arena, value->count, sizeof *ops->items);
    for (; ops->count < value->count; ops->count++) {
        const yaml_node *item = value->items[ops->count];
        const char *problem =
            amp_rule_op_parse(b->rules->arena, item->text, &ops->items[ops->count]);
        if (problem != NULL)
            return FAIL(b, item, "%s", problem);
    }
    return AMP_OK;
}

struct patterns {
    struct amp_rule_pattern *items;
    size_t count;
};

static enum amp_status bind_patterns(const binder *b, const char *name, const yaml_node *value,
                                     void *field)
{
    struct patterns *patterns = field;
    AMP_TRY(check_texts(b, name, value, 1));
    patterns->items = amp_arena_array(b->rules->arena, value->count, sizeof *patterns->items);
    for (; patterns->count < value->count; patterns->count++)
        patterns->items[patterns->count].text =
            amp_arena_strdup(b->rules->arena, value->items[patterns->count]->text);
    return AMP_OK;
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
    struct patterns *patterns = field;
    AMP_TRY(check_texts(b, name, value, 1));
    patterns->items = amp_arena_array(b->rules->arena, value->count, sizeof *patterns->items);
    for (; patterns->count < value->count; patterns->count++)
        AMP_TRY(compile_regex(b, value->items[patterns->count], &patterns->items[patterns->count]));
    return AMP_OK;
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
    struct ops ops;
    struct patterns nodes, nodes_regex, tensors;
    const yaml_node *when;
};

static const struct key rule_keys[] = {
    {"precision", bind_precision, offsetof(struct draft, precision), true},
    {"ops", bind_ops, offsetof(struct draft, ops), false},
    {"nodes", bind_patterns, offsetof(struct draft, nodes), false},
    {"nodes_regex", bind_regexes, offsetof(struct draft, nodes_regex), false},
    {"tensors", bind_patterns, offsetof(struct draft, tensors), false},
    {"when", keep_node, offsetof(struct draft, when), false},
};
static const struct mapping rule_mapping = {"a rule", rule_keys, AMP_COUNT(rule_keys)};

static struct amp_rule rule_of(const binder *b, const yaml_node *node, const struct draft *draft)
{
    return (struct amp_rule){
        .precision = draft->precision,
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

static enum amp_status bind_rule(const binder *b, const yaml_node *node, struct amp_rule *rule)
{
    struct draft draft = {.when = NULL};
    AMP_TRY(bind_mapping(b, "rules", node, &rule_mapping, &draft));
    if (node->count == 2)
        return FAIL(b, node,
                    "a rule for no node; accepted: one of ops, nodes, nodes_regex, tensors, when, "
                    "and nodes: [\"*\"] for all nodes");
    *rule = rule_of(b, node, &draft);
    return draft.when != NULL ? amp_rules_bind_when(b, draft.when, rule) : AMP_OK;
}

/* ---- fields of the document ---- */

static enum amp_status bind_version(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    (void)field;
    if (value->kind != AMP_YAML_SCALAR || !value->is_plain || strcmp(value->text, "1") != 0)
        return wrong_type(b, name, value, "1");
    return AMP_OK;
}

static enum amp_status bind_text(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    if (!is_text(value))
        return wrong_type(b, name, value, "a text");
    *(const char **)field = amp_arena_strdup(b->rules->arena, value->text);
    return AMP_OK;
}

static enum amp_status bind_dtypes(const binder *b, const char *name, const yaml_node *value,
                                   void *field)
{
    static const char *const names[] = {"bf16", "fp16"};
    AMP_TRY(check_texts(b, name, value, 1));
    for (size_t i = 0; i < value->count; i++) {
        size_t index = 0;
        AMP_TRY(bind_word(b, name, "dtype", value->items[i], names, AMP_COUNT(names), &index));
        *(uint32_t *)field |= AMP_DTYPE_BIT(amp_dtype_parse(names[index]));
    }
    return AMP_OK;
}

static enum amp_status bind_extends(const binder *b, const char *name, const yaml_node *value,
                                    void *field)
{
    AMP_TRY(check_texts(b, name, value, 0));
    *(const yaml_node **)field = value;
    return AMP_OK;
}

static enum amp_status bind_unlisted(const binder *b, const char *name, const yaml_node *value,
                                     void *field)
{
    static const char *const names[] = {"follow", "fp32", "lower"};
    static const enum amp_precision precisions[] = {AMP_FOLLOW, AMP_FP32, AMP_LOWER};
    struct amp_rules_document *document = field;
    size_t index = 0;
    AMP_TRY(bind_word(b, name, "precision", value, names, AMP_COUNT(names), &index));
    document->has_unlisted = true;
    document->unlisted = precisions[index];
    return AMP_OK;
}

static enum amp_status bind_rules(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    struct amp_rules_document *document = field;
    if (value->kind != AMP_YAML_LIST)
        return wrong_type(b, name, value, "a list of rules");
    for (size_t i = 0; i < value->count; i++) {
        struct amp_rule *rule =
            amp_arena_push(b->rules->arena, &document->rules, &document->n_rules,
                           &document->rules_capacity, sizeof *rule);
        AMP_TRY(bind_rule(b, value->items[i], rule));
    }
    return AMP_OK;
}

static enum amp_status bind_limit(const binder *b, const char *name, const yaml_node *value,
                                  double most, double *limit)
{
    struct amp_rule_scalar scalar = amp_rule_scalar_of(value);
    if (!scalar.is_number || !(scalar.number > 0) || !(scalar.number <= most)) {
        char accepted[80];
        snprintf(accepted, sizeof accepted, "a number above 0 and at most %.17g", most);
        return wrong_type(b, name, value, accepted);
    }
    *limit = scalar.number;
    return AMP_OK;
}

static enum amp_status bind_bf16_limit(const binder *b, const char *name, const yaml_node *value,
                                       void *field)
{
    return bind_limit(b, name, value, amp_dtype_max(AMP_BFLOAT16), field);
}

static enum amp_status bind_fp16_limit(const binder *b, const char *name, const yaml_node *value,
                                       void *field)
{
    return bind_limit(b, name, value, amp_dtype_max(AMP_FLOAT16), field);
}

#define LIMIT_KEYS(bind)                                                                    \
    {                                                                                       \
        {"weight_max", bind, offsetof(struct amp_rule_limits, weight_max), false},          \
        {                                                                                   \
            "activation_max", bind, offsetof(struct amp_rule_limits, activation_max), false \
        }                                                                                   \
    }

static enum amp_status bind_bf16_limits(const binder *b, const char *name, const yaml_node *value,
                                        void *field)
{
    static const struct key keys[] = LIMIT_KEYS(bind_bf16_limit);
    static const struct mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return bind_mapping(b, name, value, &mapping, field);
}

static enum amp_status bind_fp16_limits(const binder *b, const char *name, const yaml_node *value,
                                        void *field)
{
    static const struct key keys[] = LIMIT_KEYS(bind_fp16_limit);
    static const struct mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return bind_mapping(b, name, value, &mapping, field);
}

static enum amp_status bind_limits(const binder *b, const char *name, const yaml_node *value,
                                   void *field)
{
    static const struct key keys[] = {
        {"bf16", bind_bf16_limits, offsetof(struct amp_rules_document, bf16), false},
        {"fp16", bind_fp16_limits, offsetof(struct amp_rules_document, fp16), false},
    };
    static const struct mapping mapping = {"limits", keys, AMP_COUNT(keys)};
    return bind_mapping(b, name, value, &mapping, field);
}

/* ---- the document ---- */

#define FIELD(name) offsetof(struct amp_rules_document, name)

static const struct key document_keys[] = {
    {"version", bind_version, 0, true},
    {"name", bind_text, FIELD(name), true},
    {"description", bind_text, FIELD(description), false},
    {"dtypes", bind_dtypes, FIELD(dtypes), false},
    {"extends", bind_extends, FIELD(extends), false},
    {"unlisted", bind_unlisted, 0, false},
    {"rules", bind_rules, 0, false},
    {"limits", bind_limits, 0, false},
};
static const struct mapping document_mapping = {"a rule file", document_keys,
                                                AMP_COUNT(document_keys)};

enum amp_status amp_rules_parse(struct amp_rules *rules, const struct amp_yaml *yaml,
                                const char *label, struct amp_rules_document *document,
                                struct amp_error *err)
{
    const binder b = {rules, yaml, label, err};
    const yaml_node *version = find_value(yaml->root, "version");
    *document = (struct amp_rules_document){.name = ""};
    if (version != NULL) /* before all else: another version may have other keys */
        AMP_TRY(bind_version(&b, "version", version, NULL));
    return bind_mapping(&b, "the file", yaml->root, &document_mapping, document);
}
