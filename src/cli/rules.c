/*
 * `ampconv rules`: lists the rule sets that come with the program, or prints one as it is resolved:
 * YAML that loads again to the same rules, each below a comment that says where it was written.
 */
#include "autocast/rules.h"
#include "cli/commands.h"
#include "core/array.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 100 };

static const struct {
    enum amp_dtype dtype;
    const char *name;
} lower_dtypes[] = {{AMP_BFLOAT16, "bf16"}, {AMP_FLOAT16, "fp16"}};

enum { N_LOWER = AMP_COUNT(lower_dtypes) };

/* ---- a list in brackets ---- */

/* Breaks the line before an item that would not fit. */
struct flow {
    int indent, column; /* spaces before a continued line; where the next character goes */
    bool has_items;
};

static struct flow open_list(int column)
{
    putchar('[');
    return (struct flow){column + 1, column + 1, false};
}

static void put_item(struct flow *flow, const char *text)
{
    int width = (int)strlen(text);
    if (flow->has_items && flow->column + width + 3 > LINE_WIDTH) {
        printf(",\n%*s", flow->indent, "");
        flow->column = flow->indent;
    } else if (flow->has_items) {
        printf(", ");
        flow->column += 2;
    }
    fputs(text, stdout);
    flow->column += width;
    flow->has_items = true;
}

/* ---- scalars ---- */

/* Words that YAML reads as text wherever they stand; "null", "true" and the like are none. */
static bool is_plain_word(const char *text)
{
    static const char *const reserved[] = {"null", "true", "false", "yes", "no",
                                           "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < AMP_COUNT(reserved); i++)
        if (strcasecmp(text, reserved[i]) == 0)
            return false;
    if (!isalpha((unsigned char)text[0]))
        return false;
    for (const char *at = text; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("_-.", *at) == NULL)
            return false;
    return true;
}

/* Takes the code point at *AT, which is well-formed UTF-8. */
static unsigned long decode(const unsigned char **at)
{
    unsigned char first = *(*at)++;
    int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    unsigned long code = more > 0 ? first & (0x3fu >> more) : first;
    for (; more > 0; more--)
        code = code << 6 | (*(*at)++ & 0x3fu);
    return code;
}

/* What may stand in YAML as it is (1.2, 5.1), without line breaks and byte order marks. */
static bool is_printable(unsigned long code)
{
    return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x2028) ||
           (code > 0x2029 && code < 0xd800) ||
           (code >= 0xe000 && code < 0xfffe && code != 0xfeff) || code > 0xffff;
}

/* OUT has room for 6 bytes for each byte of TEXT, and 3 more. */
static void quote(char *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    *out++ = '"';
    while (*at != '\0') {
        const unsigned char *from = at;
        unsigned long code = decode(&at);
        if (!is_printable(code)) {
            out += sprintf(out, code > 0xff ? "\\u%04lX" : "\\x%02lX", code);
            continue;
        }
        if (code == '"' || code == '\\')
            *out++ = '\\';
        memcpy(out, from, (size_t)(at - from));
        out += at - from;
    }
    memcpy(out, "\"", 2);
}

/* TEXT as YAML, in ARENA. */
static const char *scalar(struct amp_arena *arena, const char *text)
{
    if (is_plain_word(text))
        return text;
    char *quoted = amp_arena_alloc(arena, 6 * strlen(text) + 3);
    quote(quoted, text);
    return quoted;
}

/* ---- a rule ---- */

static void print_ops(struct amp_arena *arena, const struct amp_rule *rule)
{
    if (rule->n_ops == 0)
        return;
    int column = printf("    ops: ");
    struct flow flow = open_list(column);
    for (size_t i = 0; i < rule->n_ops; i++) {
        const struct amp_rule_op *op = &rule->ops[i];
        const char *text = op->domain[0] == '\0'
                               ? op->name
                               : amp_arena_printf(arena, "%s::%s", op->domain, op->name);
        put_item(&flow, scalar(arena, text));
    }
    puts("]");
}

static void print_patterns(struct amp_arena *arena, const char *key,
                           const struct amp_rule_pattern *patterns, size_t count)
{
    if (count == 0)
        return;
    int column = printf("    %s: ", key);
    struct flow flow = open_list(column);
    for (size_t i = 0; i < count; i++)
        put_item(&flow, scalar(arena, patterns[i].text));
    puts("]");
}

/* A number stays as it was written. */
static void print_tuple(struct amp_arena *arena, const struct amp_rule_tuple *tuple)
{
    putchar('[');
    for (size_t i = 0; i < tuple->count; i++) {
        const struct amp_rule_scalar *item = &tuple->items[i];
        printf("%s%s", i > 0 ? ", " : "", item->is_number ? item->text : scalar(arena, item->text));
    }
    putchar(']');
}

static void print_when(struct amp_arena *arena, const struct amp_rule *rule)
{
    if (rule->n_when + rule->n_input_ranks > 0)
        puts("    when:");
    for (size_t i = 0; i < rule->n_when; i++) {
        const struct amp_rule_when *when = &rule->when[i];
        printf("      %s: %s", scalar(arena, when->attr), when->is_nested ? "[" : "");
        for (size_t j = 0; j < when->n_tuples; j++) {
            fputs(j > 0 ? ", " : "", stdout);
            print_tuple(arena, &when->tuples[j]);
        }
        puts(when->is_nested ? "]" : "");
    }
    for (size_t i = 0; i < rule->n_input_ranks; i++)
        printf("%s%lld%s", i > 0 ? ", " : "      input_rank: [", (long long)rule->input_ranks[i],
               i + 1 == rule->n_input_ranks ? "]\n" : "");
}

static void print_rule(struct amp_arena *arena, const struct amp_rule *rule)
{
    printf("  # %s:%d\n", rule->source.file, rule->source.line);
    printf("  - precision: %s\n", amp_precision_name(rule->precision));
    print_ops(arena, rule);
    print_patterns(arena, "nodes", rule->nodes, rule->n_nodes);
    print_patterns(arena, "nodes_regex", rule->nodes_regex, rule->n_nodes_regex);
    print_patterns(arena, "tensors", rule->tensors, rule->n_tensors);
    print_when(arena, rule);
}

/* ---- a set ---- */

/* The shortest text that is read as the same number. */
static const char *number_text(struct amp_arena *arena, double number)
{
    char *text = NULL;
    for (int digits = 6; digits <= 17; digits++) {
        text = amp_arena_printf(arena, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}

static void print_limits(struct amp_arena *arena, const struct amp_rules *rules)
{
    puts("limits:");
    for (size_t i = 0; i < N_LOWER; i++) {
        const struct amp_rule_limits *limits = amp_rules_limits(rules, lower_dtypes[i].dtype);
        printf("  %s: {weight_max: %s, activation_max: %s}\n", lower_dtypes[i].name,
               number_text(arena, limits->weight_max), number_text(arena, limits->activation_max));
    }
}

static void print_set(struct amp_arena *arena, const struct amp_rules *rules)
{
    const struct amp_rule_set *set = &rules->sets[rules->n_sets - 1];
    printf("version: 1\nname: %s\n", scalar(arena, set->name));
    if (set->description[0] != '\0')
        printf("description: %s\n", scalar(arena, set->description));
    printf("dtypes: [%s]\n", amp_rules_dtypes_text(set->dtypes));
    printf("unlisted: %s\n", amp_precision_name(rules->unlisted));
    puts(rules->count > 0 ? "rules:" : "rules: []");
    for (size_t i = 0; i < rules->count; i++)
        print_rule(arena, &rules->items[i]);
    print_limits(arena, rules);
}

static enum amp_status print_one(struct amp_arena *arena, const char *name, struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = amp_rules_load(rules, name, err);
    if (status == AMP_OK)
        print_set(arena, rules);
    amp_rules_destroy(rules);
    return status;
}

/* ---- the list of sets ---- */

/* A line per set. A control character in a description must not reach the terminal. */
static enum amp_status list_one(struct amp_arena *arena, const char *name, int width,
                                struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = amp_rules_load(rules, name, err);
    if (status == AMP_OK) {
        const struct amp_rule_set *set = &rules->sets[0];
        char *description = amp_arena_strdup(arena, set->description);
        for (char *at = description; *at != '\0'; at++)
            if (iscntrl((unsigned char)*at))
                *at = ' ';
        printf("%-*s  %-10s  %s\n", width, name, amp_rules_dtypes_text(set->dtypes), description);
    }
    amp_rules_destroy(rules);
    return status;
}

/* One that is wrong does not hide the others. */
static enum amp_status list_all(struct amp_arena *arena, struct amp_error *err)
{
    const char *const *names;
    size_t count, width = 0;
    AMP_TRY(amp_rules_names(arena, &names, &count, err));
    for (size_t i = 0; i < count; i++)
        width = strlen(names[i]) > width ? strlen(names[i]) : width;
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < count; i++) {
        enum amp_status one = list_one(arena, names[i], (int)width, err);
        status = status == AMP_OK ? one : status;
    }
    return status;
}

enum amp_status amp_command_rules(const struct amp_options *options, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = options->operands.count > 0
                                 ? print_one(arena, options->operands.items[0], err)
                                 : list_all(arena, err);
    amp_arena_destroy(arena);
    return status;
}
