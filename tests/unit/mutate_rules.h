#ifndef AMP_TESTS_MUTATE_RULES_H
#define AMP_TESTS_MUTATE_RULES_H

/* Edits of rule files that know what YAML and its lines, keys, values and indentation are. */

#include "mutate_bytes.h"

/* About how large a mutant gets: beyond the program's own bound one is like another. */
enum { RULES_SIZE_MAX = 2 << 20 };

static const char yaml_special[] = "[]{}:,-&*!|>'\"%@`#\n\t \\?~\0\xc3\xff\x1b";

/* A line of TEXT without its end. */
struct line {
    size_t at, size, indent;
};

static inline struct line pick_line(const struct bytes *text, uint64_t *state)
{
    struct line line = {.at = below(state, text->size + 1)};
    while (line.at > 0 && text->data[line.at - 1] != '\n')
        line.at--;
    while (line.at + line.size < text->size && text->data[line.at + line.size] != '\n')
        line.size++;
    while (line.indent < line.size && text->data[line.at + line.indent] == ' ')
        line.indent++;
    return line;
}

/* One of the words or, now and then, one made up of signs. */
static inline const char *pick_word(const char *const *words, size_t count, uint64_t *state)
{
    return words[below(state, count)];
}
#define PICK_WORD(words, state) pick_word(words, sizeof(words) / sizeof *(words), state)

static inline const char *odd_key(uint64_t *state)
{
    static const char *const keys[] = {
        "version",    "name",       "description", "dtypes", "extends", "unlisted", "rules",
        "limits",     "precision",  "ops",         "nodes",  "tensors", "when",     "nodes_regex",
        "weight_max", "fp16",       "bf16",        "axis",   "alpha",   "mode",     "input_rank",
        "<<",         "? [a, b]\n", "''",          "~",      "*a",      "&a x",     "kernel_shape"};
    return PICK_WORD(keys, state);
}

static inline const char *odd_word(uint64_t *state)
{
    static const char *const words[] = {"1",
                                        "-1",
                                        "0x7fffffffffffffff",
                                        "9223372036854775808",
                                        "1e400",
                                        ".nan",
                                        ".inf",
                                        "-0.0",
                                        "1e-320",
                                        "0o17",
                                        "1_000",
                                        "2001-12-14",
                                        "~",
                                        "null",
                                        "yes",
                                        "lower",
                                        "fp32",
                                        "widest",
                                        "follow",
                                        "infer",
                                        "clear",
                                        "bf16",
                                        "fp16",
                                        "[]",
                                        "{}",
                                        "''",
                                        "\"\\0\"",
                                        "\"\\ud800\"",
                                        "\"\\x1b[2J\"",
                                        "'%s%n'",
                                        "'*'",
                                        "'**/*'",
                                        "'[a-'",
                                        "'[!]]'",
                                        "'\\'",
                                        "'(a*)*b'",
                                        "'(a|a)*$'",
                                        "'[[:alpha:]]+'",
                                        "'a{1,4}{1,4}{1,4}'",
                                        "'(((('",
                                        "'a{99999}'",
                                        "'[[.x.]]'",
                                        "'^$'",
                                        "'\xff'",
                                        "Conv",
                                        "conv2d",
                                        "MatMul",
                                        "addmm_",
                                        "'a::b::c'",
                                        "'::'",
                                        "'ai.onnx::'",
                                        "*a",
                                        "&a [*a]",
                                        "!!binary AAA=",
                                        "!x y",
                                        "|\n",
                                        ">-\n  x",
                                        "- - - a",
                                        "torch-cpu",
                                        "./rules.yaml",
                                        "/",
                                        "composite::Gelu"};
    return PICK_WORD(words, state);
}

static inline void change_indent(struct bytes *text, uint64_t *state)
{
    static const char *const indents[] = {"",       " ",  "  ",         "    ",
                                          "      ", "\t", "          ", "- "};
    struct line line = pick_line(text, state);
    const char *indent = PICK_WORD(indents, state);
    replace_bytes(text, line.at, line.indent, indent, strlen(indent));
}

/* What stands before the line's colon, after its dash. */
static inline void change_key(struct bytes *text, uint64_t *state)
{
    struct line line = pick_line(text, state);
    const unsigned char *start = text->data + line.at + line.indent;
    const unsigned char *colon = memchr(start, ':', line.size - line.indent);
    const char *key = odd_key(state);
    if (colon == NULL)
        return;
    size_t dash = colon - start > 2 && start[0] == '-' ? 2 : 0;
    replace_bytes(text, line.at + line.indent + dash, (size_t)(colon - start) - dash, key,
                  strlen(key));
}

/* A word somewhere: up to the next sign that ends one. */
static inline void change_word(struct bytes *text, uint64_t *state)
{
    struct line line = pick_line(text, state);
    if (line.size == line.indent)
        return;
    size_t at = line.at + line.indent + below(state, line.size - line.indent), end = at;
    while (at > line.at && strchr(" [{,:", text->data[at - 1]) == NULL)
        at--;
    while (end < line.at + line.size && strchr(" ]},:", text->data[end]) == NULL)
        end++;
    const char *word = odd_word(state);
    replace_bytes(text, at, end - at, word, strlen(word));
}

/* Everything after the colon. */
static inline void change_line_value(struct bytes *text, uint64_t *state)
{
    struct line line = pick_line(text, state);
    const unsigned char *colon = memchr(text->data + line.at, ':', line.size);
    const char *word = odd_word(state);
    if (colon == NULL)
        return;
    size_t at = (size_t)(colon - text->data) + 1;
    replace_bytes(text, at, line.at + line.size - at, " ", 1);
    replace_bytes(text, at + 1, 0, word, strlen(word));
}

static inline void drop_line(struct bytes *text, uint64_t *state)
{
    struct line line = pick_line(text, state);
    bool has_end = line.at + line.size < text->size;
    replace_bytes(text, line.at, line.size + has_end, "", 0);
}

/* A line comes again, there or elsewhere, once or often. */
static inline void repeat_line(struct bytes *text, uint64_t *state)
{
    static const size_t numbers[] = {1, 1, 1, 2, 70, 3000};
    struct bytes copies = {.arena = text->arena};
    struct line line = pick_line(text, state),
                to = one_in(state, 2) ? line : pick_line(text, state);
    for (size_t n = numbers[below(state, 6)]; n > 0 && copies.size < RULES_SIZE_MAX; n--) {
        put(&copies, text->data + line.at, line.size);
        put_text(&copies, "\n");
    }
    replace_bytes(text, to.at, 0, copies.data, copies.size);
}

static inline void insert_at_line(struct bytes *text, const struct bytes *what, uint64_t *state)
{
    struct line line = pick_line(text, state);
    replace_bytes(text, line.at + (one_in(state, 2) ? line.indent : line.size), 0, what->data,
                  what->size);
}

/* Lists or mappings in each other, closed or not. */
static inline void nest_value(struct bytes *text, uint64_t *state)
{
    static const char *const opens[] = {"[", "{a: ", "- ", "{? ", "&a [", "!!seq ["};
    static const char *const closes[] = {"]", "}", "", "}", "]", "]"};
    static const size_t depths[] = {2, 31, 32, 33, 64, 3000};
    struct bytes nested = {.arena = text->arena};
    size_t kind = below(state, 6), depth = depths[below(state, 6)];
    bool is_closed = !one_in(state, 3);
    for (size_t n = depth; n > 0; n--)
        put_text(&nested, opens[kind]);
    put_text(&nested, odd_word(state));
    for (size_t n = depth; n > 0 && is_closed; n--)
        put_text(&nested, closes[kind]);
    insert_at_line(text, &nested, state);
}

/* Anchors whose aliases multiply: 10 to the power of LEVELS values. */
static inline void multiply_aliases(struct bytes *text, uint64_t *state)
{
    struct bytes bomb = {.arena = text->arena};
    size_t levels = 1 + below(state, 9);
    put_text(&bomb, "\nnodes: [");
    for (size_t level = 0; level < levels; level++) {
        put_text(&bomb, amp_arena_printf(text->arena, "%s&m%zu [", level > 0 ? ", " : "", level));
        for (int i = 0; i < 10; i++)
            put_text(&bomb,
                     level > 0 ? amp_arena_printf(text->arena, "*m%zu, ", level - 1) : "x, ");
        put_text(&bomb, "]");
    }
    put_text(&bomb, "]\n");
    insert_at_line(text, &bomb, state);
}

static inline void insert_sign(struct bytes *text, uint64_t *state)
{
    static const char *const signs[] = {
        "---\n",  "...\n",    "%YAML 1.1\n---\n", "%TAG ! x\n", "&a ",          "*a ",
        "!!map ", "? ",       "<<: *a\n",         "#",          "\xef\xbb\xbf", "\xff\xfe",
        "\r",     "\xc2\x85", "\xe2\x80\xa8",     "\t",         "\x7f",         "'"};
    struct bytes sign = {.arena = text->arena};
    put_text(&sign, PICK_WORD(signs, state));
    insert_at_line(text, &sign, state);
}

/* A pattern out of pieces, right or wrong as one. */
static inline void put_pattern(struct bytes *to, uint64_t *state)
{
    static const char *const pieces[] = {
        "a",    "/",    ".",   "*",     "+",           "?",    "(",    ")",       "|",  "[a-z]",
        "[^/]", "[",    "]",   "{1,3}", "{2}",         "{,5}", "{3,}", "\\1",     "\\", "^",
        "$",    "Conv", "onv", "(a|b)", "[[:digit:]]", "\\.",  ".*",   "\xc3\xb6"};
    for (size_t n = 1 + below(state, 8); n > 0; n--)
        put_text(to, PICK_WORD(pieces, state));
}

/* One more rule, right but for its patterns. */
static inline void insert_rule(struct bytes *text, uint64_t *state)
{
    static const char *const keys[] = {"nodes_regex", "nodes", "tensors"};
    static const char *const words[] = {"lower", "fp32", "widest", "follow", "infer", "clear"};
    static const char head[] = "\nrules:\n";
    const unsigned char *found = memmem(text->data, text->size, head, sizeof head - 1);
    struct bytes rule = {.arena = text->arena};
    if (found == NULL)
        return;
    put_text(&rule, amp_arena_printf(text->arena, "  - {precision: %s, %s: ['",
                                     PICK_WORD(words, state), PICK_WORD(keys, state)));
    put_pattern(&rule, state);
    put_text(&rule, "', '");
    put_pattern(&rule, state);
    put_text(&rule, "']}\n");
    replace_bytes(text, (size_t)(found - text->data) + sizeof head - 1, 0, rule.data, rule.size);
}

static inline void insert_long_word(struct bytes *text, uint64_t *state)
{
    static const size_t sizes[] = {256, 1024, 2001, 70000, 1100000};
    static const char letters[] = "a*?[(.\\";
    size_t size = sizes[below(state, 5)];
    struct bytes word = {.arena = text->arena};
    char *run = amp_arena_alloc(text->arena, size);
    memset(run, letters[below(state, sizeof letters - 1)], size);
    put_text(&word, "'");
    put(&word, run, size);
    put_text(&word, "', ");
    insert_at_line(text, &word, state);
}

static inline void mutate_any_bytes(struct bytes *text, uint64_t *state)
{
    mutate_bytes(text, yaml_special, sizeof yaml_special - 1, state);
}

/* Edits TEXT, a rule file. */
static inline void mutate_rules(struct bytes *text, uint64_t *state)
{
    enum { EDITS_MAX = 3 };
    static void (*const edits[])(struct bytes *, uint64_t *) = {
        change_indent,     change_key,  change_key,        change_word,      change_word,
        change_word,       change_word, change_line_value, drop_line,        repeat_line,
        change_line_value, nest_value,  multiply_aliases,  insert_sign,      insert_sign,
        insert_long_word,  insert_rule, insert_rule,       insert_rule,      insert_rule,
        insert_rule,       drop_line,   repeat_line,       mutate_any_bytes, mutate_any_bytes};
    for (size_t n = 1 + below(state, EDITS_MAX); n > 0 && text->size > 0; n--)
        edits[below(state, sizeof edits / sizeof edits[0])](text, state);
}

#endif
