/*
 * Compiles the text of a pattern into terms; pattern/pattern.h says how one is written. A parser by
 * recursive descent, one function per rule of the grammar, that stops at the first error. Knows the
 * names of kinds and conditions, but not which operators exist, and nothing of graphs.
 */
#include "pattern/pattern.h"

#include "core/array.h"
#include "pattern/term.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct amp_arena *arena;
    struct amp_pattern *pattern;
    const char *text, *at;
    struct amp_error *err;
};

static enum amp_status parse_expression(struct parser *parser, struct amp_term **term);

static enum amp_status fail(const struct parser *parser, const char *what)
{
    return amp_fail(parser->err, AMP_RULES, "pattern '%.40s...', at '%.20s': %s", parser->text,
                    parser->at, what);
}

static void skip_space(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

/* Goes past SIGN when it is next. */
static bool accept(struct parser *parser, const char *sign)
{
    skip_space(parser);
    size_t length = strlen(sign);
    if (strncmp(parser->at, sign, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static enum amp_status expect(struct parser *parser, const char *sign)
{
    return accept(parser, sign) ? AMP_OK : fail(parser, "a sign is missing");
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Goes past the word that is next and returns it; NULL when there is none. */
static const char *read_word(struct parser *parser)
{
    skip_space(parser);
    const char *start = parser->at;
    while (is_word_char(*parser->at))
        parser->at++;
    if (parser->at == start)
        return NULL;
    return amp_arena_strndup(parser->arena, start, (size_t)(parser->at - start));
}

/* Goes past the number that is next, which goes to *NUMBER; false when there is none. */
static bool read_number(struct parser *parser, double *number)
{
    skip_space(parser);
    if (*parser->at != '-' && !isdigit((unsigned char)*parser->at))
        return false;
    char *end;
    *number = strtod(parser->at, &end);
    parser->at = end;
    return true;
}

static struct amp_term *create(struct parser *parser, enum amp_term_kind kind)
{
    struct amp_term *term = amp_arena_alloc(parser->arena, sizeof *term);
    term->kind = kind;
    term->value = -1;
    return term;
}

/* ---- conditions ---- */

static enum amp_status parse_numbers(struct parser *parser, struct amp_condition *condition)
{
    condition->kind = AMP_CONDITION_NUMBERS;
    do {
        if (condition->n_numbers == AMP_CONDITION_ITEMS)
            return fail(parser, "too many numbers");
        if (!read_number(parser, &condition->numbers[condition->n_numbers++]))
            return fail(parser, "a number is missing");
    } while (accept(parser, ","));
    return expect(parser, "]");
}

static void parse_condition_word(const char *word, struct amp_condition *condition)
{
    static const struct {
        const char *word;
        enum amp_condition_kind kind;
    } words[] = {{"last", AMP_CONDITION_LAST},       {"trailing", AMP_CONDITION_TRAILING},
                 {"inner", AMP_CONDITION_INNER},     {"all", AMP_CONDITION_ALL},
                 {"swapped", AMP_CONDITION_SWAPPED}, {"same", AMP_CONDITION_SAME},
                 {"eps", AMP_CONDITION_EPS}};
    condition->kind = AMP_CONDITION_TEXT;
    condition->text = word;
    for (size_t i = 0; i < AMP_COUNT(words); i++)
        if (strcmp(word, words[i].word) == 0)
            condition->kind = words[i].kind;
    if (isupper((unsigned char)word[0]) && word[1] == '\0') {
        condition->kind = AMP_CONDITION_LETTER;
        condition->letter = word[0] - 'A';
    }
}

static enum amp_status parse_condition(struct parser *parser, struct amp_condition *condition)
{
    condition->name = read_word(parser);
    if (condition->name == NULL)
        return fail(parser, "the name of an attribute is missing");
    AMP_TRY(expect(parser, "="));
    if (accept(parser, "["))
        return parse_numbers(parser, condition);
    if (read_number(parser, &condition->numbers[0])) {
        condition->kind = AMP_CONDITION_NUMBERS;
        condition->n_numbers = 1;
        return AMP_OK;
    }
    const char *word = read_word(parser);
    if (word == NULL)
        return fail(parser, "the value of an attribute is missing");
    parse_condition_word(word, condition);
    return AMP_OK;
}

static enum amp_status parse_conditions(struct parser *parser, struct amp_term *term)
{
    if (!accept(parser, "{"))
        return AMP_OK;
    do {
        if (term->n_conditions == AMP_TERM_ITEMS)
            return fail(parser, "too many conditions");
        AMP_TRY(parse_condition(parser, &term->conditions[term->n_conditions++]));
    } while (accept(parser, ","));
    return expect(parser, "}");
}

/* ---- expressions ---- */

static enum amp_status parse_arguments(struct parser *parser, struct amp_term *term)
{
    do {
        if (term->n_items == AMP_TERM_ITEMS || term->repeats)
            return fail(parser, "too many arguments");
        AMP_TRY(parse_expression(parser, &term->items[term->n_items++]));
        term->repeats = accept(parser, "...");
    } while (accept(parser, ","));
    AMP_TRY(expect(parser, ")"));
    return parse_conditions(parser, term);
}

/* The index of the value NAME, which is added to the pattern's when it is new. */
static enum amp_status name_value(struct parser *parser, const char *name, int *index)
{
    struct amp_pattern *pattern = parser->pattern;
    *index = amp_pattern_value(pattern, name);
    if (*index >= 0)
        return AMP_OK;
    if (pattern->n_names == AMP_PATTERN_VALUES)
        return fail(parser, "too many names");
    *index = pattern->n_names++;
    pattern->names[*index] = name;
    return AMP_OK;
}

static enum amp_status parse_value(struct parser *parser, const char *name, struct amp_term *term)
{
    if (strcmp(name, "_") != 0)
        AMP_TRY(name_value(parser, name, &term->value));
    if (!accept(parser, ":"))
        return AMP_OK;
    const char *kind = read_word(parser);
    term->test = kind == NULL ? NULL : amp_pattern_kind_find(kind);
    return term->test != NULL ? AMP_OK : fail(parser, "unknown kind of value");
}

static enum amp_status parse_item(struct parser *parser, struct amp_term **term)
{
    double number;
    if (accept(parser, "(")) {
        AMP_TRY(parse_expression(parser, term));
        return expect(parser, ")");
    }
    if (read_number(parser, &number)) {
        *term = create(parser, AMP_TERM_NUMBER);
        (*term)->number = number;
        return AMP_OK;
    }
    const char *word = read_word(parser);
    if (word == NULL)
        return fail(parser, "an expression is missing");
    if (!isupper((unsigned char)word[0])) {
        *term = create(parser, AMP_TERM_VALUE);
        return parse_value(parser, word, *term);
    }
    *term = create(parser, AMP_TERM_NODE);
    (*term)->op = word;
    AMP_TRY(expect(parser, "("));
    return parse_arguments(parser, *term);
}

static enum amp_status parse_expression(struct parser *parser, struct amp_term **term)
{
    AMP_TRY(parse_item(parser, term));
    if (!accept(parser, "|"))
        return AMP_OK;
    struct amp_term *all = create(parser, AMP_TERM_ALTERNATIVES);
    all->items[all->n_items++] = *term;
    do {
        if (all->n_items == AMP_TERM_ITEMS)
            return fail(parser, "too many alternatives");
        AMP_TRY(parse_item(parser, &all->items[all->n_items++]));
    } while (accept(parser, "|"));
    *term = all;
    return AMP_OK;
}

/* "name =" begins a definition; an expression does not have that sign behind its first word. */
static bool is_definition(const struct parser *parser)
{
    const char *at = parser->at;
    while (isspace((unsigned char)*at))
        at++;
    const char *start = at;
    while (is_word_char(*at))
        at++;
    bool is_word = at > start;
    while (isspace((unsigned char)*at))
        at++;
    return is_word && *at == '=';
}

static enum amp_status parse_definition(struct parser *parser)
{
    struct amp_term *term;
    int value;
    AMP_TRY(name_value(parser, read_word(parser), &value));
    AMP_TRY(expect(parser, "="));
    AMP_TRY(parse_expression(parser, &term));
    parser->pattern->definitions[value] = term;
    return expect(parser, ";");
}

/* ---- the whole ---- */

/* Collects the operators that TERM, as the expression of the output, may begin with. */
static enum amp_status find_roots(struct parser *parser, const struct amp_term *term)
{
    struct amp_pattern *pattern = parser->pattern;
    if (term->kind == AMP_TERM_VALUE && term->value >= 0 &&
        pattern->definitions[term->value] != NULL)
        return find_roots(parser, pattern->definitions[term->value]);
    if (term->kind == AMP_TERM_ALTERNATIVES) {
        for (size_t i = 0; i < term->n_items; i++)
            AMP_TRY(find_roots(parser, term->items[i]));
        return AMP_OK;
    }
    if (term->kind != AMP_TERM_NODE)
        return fail(parser, "the output is not an operator's");
    for (size_t i = 0; i < pattern->n_roots; i++)
        if (strcmp(pattern->roots[i], term->op) == 0)
            return AMP_OK;
    if (pattern->n_roots == AMP_TERM_ITEMS)
        return fail(parser, "too many operators for the output");
    pattern->roots[pattern->n_roots++] = term->op;
    return AMP_OK;
}

static enum amp_status parse(struct parser *parser)
{
    struct amp_term *root;
    while (is_definition(parser))
        AMP_TRY(parse_definition(parser));
    AMP_TRY(parse_expression(parser, &root));
    skip_space(parser);
    if (*parser->at != '\0')
        return fail(parser, "more than an expression");
    parser->pattern->root = root;
    return find_roots(parser, root);
}

struct amp_pattern *amp_pattern_parse(struct amp_arena *arena, const char *text,
                                      struct amp_error *err)
{
    struct parser parser = {arena, amp_arena_alloc(arena, sizeof *parser.pattern), text, text, err};
    return parse(&parser) == AMP_OK ? parser.pattern : NULL;
}

const char *const *amp_pattern_roots(const struct amp_pattern *pattern, size_t *count)
{
    *count = pattern->n_roots;
    return pattern->roots;
}

int amp_pattern_value(const struct amp_pattern *pattern, const char *name)
{
    for (int i = 0; i < pattern->n_names; i++)
        if (strcmp(pattern->names[i], name) == 0)
            return i;
    return -1;
}
