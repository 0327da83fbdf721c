/*
 * Rule sets as text: takes a list of rules, prints YAML that loads to an equal list, each rule
 * below a comment that says where it was written. Prints to stdout, and warnings to stderr.
 */
#include "cli/report/rules.h"

#include "autocast/rules/op.h"
#include "autocast/rules/parse.h"
#include "autocast/rules/when.h"
#include "cli/progress.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/print.h"
#include "core/utf8.h"

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

/* A list whose line breaks before an item that would reach beyond LINE_WIDTH. */
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
        amp_print(stdout, ",\n%*s", flow->indent, "");
        flow->column = flow->indent;
    } else if (flow->has_items) {
        amp_print(stdout, ", ");
        flow->column += 2;
    }
    amp_print(stdout, "%s", text);
    flow->column += width;
    flow->has_items = true;
}

/* ---- scalars ---- */

/* Whether YAML reads TEXT as a string without quotes: letters, digits and "_-.", no word that
   stands for null or a boolean. */
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

/* Whether CODE may stand in YAML unescaped (YAML 1.2, 5.1), is no line break or byte order mark,
   and is shown as it is. */
static bool is_printable(int32_t code)
{
    return amp_print_is_shown(code) && code != '\t' && code != 0xfeff && code != 0xfffe &&
           code != 0xffff;
}

/* Writes TEXT in double quotes to OUT, which has room for 6 bytes for each byte of TEXT and 3
   more. */
static void quote(char *out, const char *text)
{
    const char *end = text + strlen(text);
    *out++ = '"';
    for (const char *at = text; at < end;) {
        const char *from = at;
        int32_t code = amp_utf8_next(&at, end);
        if (!is_printable(code)) {
            unsigned shown = code == AMP_UTF8_INVALID ? (unsigned char)*from : (unsigned)code;
            out += sprintf(out, shown > 0xff ? "\\u%04X" : "\\x%02X", shown);
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

/* Prints COUNT operators by the words of the rule or by their ONNX names. Operators that one of
   PyTorch's names stands for follow each other, so that the name is printed once. */
static void print_ops(struct amp_arena *arena, const struct amp_rule_op *ops, size_t count,
                      bool by_word)
{
    if (count == 0)
        return;
    int column = amp_print(stdout, "    ops: ");
    struct flow flow = open_list(column);
    for (size_t i = 0; i < count; i++)
        if (!by_word || i == 0 || strcmp(ops[i].word, ops[i - 1].word) != 0)
            put_item(&flow,
                     scalar(arena, by_word ? ops[i].word : amp_rule_op_text(arena, &ops[i])));
    fputs("]\n", stdout);
}

static void print_patterns(struct amp_arena *arena, const char *key,
                           const struct amp_rule_patterns *patterns)
{
    if (patterns->count == 0)
        return;
    int column = amp_print(stdout, "    %s: ", key);
    struct flow flow = open_list(column);
    for (size_t i = 0; i < patterns->count; i++)
        put_item(&flow, scalar(arena, patterns->items[i].text));
    fputs("]\n", stdout);
}

/* Prints a list of values; a number stays as it was written. */
static void print_tuple(struct amp_arena *arena, const struct amp_rule_tuple *tuple)
{
    putchar('[');
    for (size_t i = 0; i < tuple->count; i++) {
        const struct amp_rule_scalar *item = &tuple->items[i];
        amp_print(stdout, "%s%s", i > 0 ? ", " : "",
                  item->is_number ? item->text : scalar(arena, item->text));
    }
    putchar(']');
}

static void print_ranks(const char *key, const struct amp_rule_ranks *ranks)
{
    if (ranks->count == 0)
        return;
    amp_print(stdout, "      %s: [", key);
    for (size_t i = 0; i < ranks->count; i++)
        amp_print(stdout, "%s%lld", i > 0 ? ", " : "", (long long)ranks->items[i]);
    fputs("]\n", stdout);
}

static bool is_empty(const struct amp_rule_condition *condition)
{
    size_t count = condition->n_when;
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        count += condition->ranks[i].count;
    return count == 0 && !condition->contracts;
}

static void print_attrs(struct amp_arena *arena, const struct amp_rule_condition *condition)
{
    for (size_t i = 0; i < condition->n_when; i++) {
        const struct amp_rule_when *when = &condition->when[i];
        amp_print(stdout, "      %s: %s", scalar(arena, when->attr), when->is_nested ? "[" : "");
        for (size_t j = 0; j < when->n_tuples; j++) {
            fputs(j > 0 ? ", " : "", stdout);
            print_tuple(arena, &when->tuples[j]);
        }
        amp_print(stdout, "%s\n", when->is_nested ? "]" : "");
    }
}

/* Prints two conditions that both have to hold; they share no attribute and no input whose rank
   they ask for. */
static void print_conditions(struct amp_arena *arena, const struct amp_rule_condition *a,
                             const struct amp_rule_condition *b)
{
    if (is_empty(a) && is_empty(b))
        return;
    fputs("    when:\n", stdout);
    print_attrs(arena, a);
    print_attrs(arena, b);
    for (size_t i = 0; i < AMP_RULE_RANKS; i++) {
        print_ranks(amp_rule_rank_keys[i], &a->ranks[i]);
        print_ranks(amp_rule_rank_keys[i], &b->ranks[i]);
    }
    if (a->contracts || b->contracts)
        amp_print(stdout, "      %s: 1\n", amp_rule_contracts_key);
}

static const struct amp_rule_condition always;

static void print_precision(const struct amp_rule *rule)
{
    amp_print(stdout, "  - precision: %s\n", amp_precision_name(rule->precision));
    if (rule->dtypes != 0)
        amp_print(stdout, "    dtypes: [%s]\n", amp_rules_dtypes_text(rule->dtypes));
}

static void print_names(struct amp_arena *arena, const struct amp_rule *rule)
{
    print_patterns(arena, "nodes", &rule->nodes);
    print_patterns(arena, "nodes_regex", &rule->nodes_regex);
    print_patterns(arena, "tensors", &rule->tensors);
}

static void print_rule(struct amp_arena *arena, const struct amp_rule *rule)
{
    amp_print(stdout, "  # %s:%d\n", rule->source.file, rule->source.line);
    print_precision(rule);
    print_ops(arena, rule->ops, rule->n_ops, true);
    print_names(arena, rule);
    print_conditions(arena, &rule->condition, &always);
}

/* ---- a rule with the forms of PyTorch's names ---- */

static bool asks_the_same(const struct amp_rule_condition *a, const struct amp_rule_condition *b)
{
    if (a->contracts && b->contracts)
        return true;
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        if (a->ranks[i].count > 0 && b->ranks[i].count > 0)
            return true;
    for (size_t i = 0; i < a->n_when; i++)
        for (size_t j = 0; j < b->n_when; j++)
            if (strcmp(a->when[i].attr, b->when[j].attr) == 0)
                return true;
    return false;
}

/* Prints COUNT operators, which one of PyTorch's names stands for under one condition, as a rule of
   their own. Where RULE has a condition on something that the name asks for too, the name itself is
   printed. */
static void print_forms(struct amp_arena *arena, const struct amp_rule *rule,
                        const struct amp_rule_op *ops, size_t count)
{
    const struct amp_rule_condition *condition = ops->condition ? ops->condition : &always;
    bool by_word = asks_the_same(condition, &rule->condition);
    amp_print(stdout, "  # %s:%d %s", rule->source.file, ops->line, ops->word);
    if (ops->name == NULL) {
        amp_print(stdout, ": none; %s\n", ops->reason);
        return;
    }
    putchar('\n');
    print_precision(rule);
    print_ops(arena, ops, count, by_word);
    print_names(arena, rule);
    print_conditions(arena, &rule->condition, by_word ? &always : condition);
}

static void print_resolved(struct amp_arena *arena, const struct amp_rule *rule)
{
    if (rule->n_ops == 0)
        print_rule(arena, rule);
    for (size_t i = 0, end; i < rule->n_ops; i = end) {
        for (end = i + 1; end < rule->n_ops; end++)
            if (rule->ops[end].condition != rule->ops[i].condition ||
                strcmp(rule->ops[end].word, rule->ops[i].word) != 0)
                break;
        print_forms(arena, rule, &rule->ops[i], end - i);
    }
}

/* ---- a set ---- */

/* The shortest text that strtod reads as NUMBER. */
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
    fputs("limits:\n", stdout);
    for (size_t i = 0; i < N_LOWER; i++) {
        const struct amp_rule_limits *limits = amp_rules_limits(rules, lower_dtypes[i].dtype);
        amp_print(stdout, "  %s: {weight_max: %s, activation_max: %s, margin: %s",
                  lower_dtypes[i].name, number_text(arena, limits->weight_max),
                  number_text(arena, limits->activation_max), number_text(arena, limits->margin));
        if (lower_dtypes[i].dtype == AMP_FLOAT16)
            amp_print(stdout, ", flush_max: %s", number_text(arena, limits->flush_max));
        fputs(limits->guards == AMP_GUARDS_OFF ? ", guards: off}\n" : "}\n", stdout);
    }
}

/* Whether there is a rule to print. A resolved rule of names that stand for no operator is printed
   as a comment. */
static bool has_rules(const struct amp_rules *rules, bool is_resolved)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct amp_rule *rule = &rules->items[i];
        if (!is_resolved || rule->n_ops == 0)
            return true;
        for (size_t j = 0; j < rule->n_ops; j++)
            if (rule->ops[j].name != NULL)
                return true;
    }
    return false;
}

void amp_report_rules(struct amp_arena *arena, const struct amp_rules *rules, bool is_resolved)
{
    const struct amp_rule_set *set = &rules->sets[rules->n_sets - 1];
    amp_print(stdout, "version: 1\nname: %s\n", scalar(arena, set->name));
    if (set->description[0] != '\0')
        amp_print(stdout, "description: %s\n", scalar(arena, set->description));
    amp_print(stdout, "dtypes: [%s]\n", amp_rules_dtypes_text(set->dtypes));
    amp_print(stdout, "unlisted: %s\n", amp_precision_name(rules->unlisted));
    amp_print(stdout, "constants: %s\n", amp_rule_constants_names[rules->constants]);
    amp_print(stdout, "%s\n", has_rules(rules, is_resolved) ? "rules:" : "rules: []");
    for (size_t i = 0; i < rules->count; i++) {
        if (is_resolved)
            print_resolved(arena, &rules->items[i]);
        else
            print_rule(arena, &rules->items[i]);
    }
    print_limits(arena, rules);
}

void amp_report_rule_notes(const struct amp_rules *rules)
{
    for (size_t i = 0; i < rules->n_notes; i++)
        amp_report_rule_warning(rules->notes[i]);
}

void amp_report_rule_warning(const char *text)
{
    amp_progress_end();
    amp_print(stderr, "ampconv: warning: %s\n", text);
}

/* ---- the table of PyTorch's names ---- */

static const char *condition_text(struct amp_arena *arena,
                                  const struct amp_rule_condition *condition)
{
    const char *text = "";
    for (size_t i = 0; i < condition->n_when; i++)
        text =
            amp_arena_printf(arena, "%s%s%s=%s", text, *text ? ", " : "", condition->when[i].attr,
                             condition->when[i].tuples[0].items[0].text);
    for (size_t i = 0; i < AMP_RULE_RANKS; i++)
        for (size_t j = 0; j < condition->ranks[i].count; j++)
            text =
                amp_arena_printf(arena, "%s%s%lld", text,
                                 j > 0   ? "|"
                                 : *text ? amp_arena_printf(arena, ", %s=", amp_rule_rank_keys[i])
                                         : amp_arena_printf(arena, "%s=", amp_rule_rank_keys[i]),
                                 (long long)condition->ranks[i].items[j]);
    if (condition->contracts)
        text = amp_arena_printf(arena, "%s%s%s=1", text, *text ? ", " : "", amp_rule_contracts_key);
    return text;
}

static const char *form_text(struct amp_arena *arena, const struct amp_rule_op *form)
{
    const char *text = form->name != NULL ? amp_rule_op_text(arena, form) : form->reason;
    if (form->condition == NULL)
        return text;
    return amp_arena_printf(arena, "%s {%s}", text, condition_text(arena, form->condition));
}

void amp_report_torch_name(struct amp_arena *arena, const struct amp_torch_name *name)
{
    amp_print(stdout, "%-34s %-12s", name->name, amp_torch_kind_name(amp_torch_kind(name)));
    for (size_t i = 0; i < name->forms.count; i++)
        amp_print(stdout, "%s%s", i > 0 ? ", " : " ", form_text(arena, &name->forms.items[i]));
    putchar('\n');
}
