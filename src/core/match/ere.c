/*
 * POSIX extended regular expressions: takes the text of one, checks its syntax and gives a program
 * that matches names. All jumps within a program are relative, so that a part can be repeated by
 * copying it. Matching is automaton.c's matter.
 */
#include "core/match/ere.h"

#include "core/arena.h"
#include "core/match/automaton.h"
#include "core/match/bracket.h"

#include <string.h>

enum { COUNT_MAX = 10000 /* as good as any larger one: too long written out */ };

struct parser {
    struct amp_arena *arena;
    struct amp_automaton *made;
    const char *text, *at, *end;
    const char *problem; /* NULL: none so far */
    int depth;
};

static const char ANY_ERE[] = "a POSIX extended regular expression";

/* Records what is wrong at the place AT; always false. */
static bool fail(struct parser *p, const char *at, const char *what, const char *accepted)
{
    int number = 1;
    for (const char *c = p->text; c < at; number++)
        amp_automaton_next(&c, p->end);
    p->problem =
        amp_arena_printf(p->arena, "%s, at character %d; accepted: %s", what, number, accepted);
    return false;
}

static bool fail_long(struct parser *p)
{
    p->problem = amp_arena_printf(p->arena,
                                  "too long a regular expression; accepted: %d bytes, and %d "
                                  "characters and operators with repetitions written out",
                                  AMP_ERE_BYTES, AMP_ERE_CODE);
    return false;
}

static bool is_left(const struct parser *p, const char *among)
{
    return p->at < p->end && strchr(among, *p->at) != NULL;
}

static bool accept(struct parser *p, char c)
{
    bool is_so = *p->at == c; /* no C is the 0 at the end */
    p->at += is_so;
    return is_so;
}

static bool add(struct parser *p, enum amp_instruction_kind kind, int32_t a, int32_t b)
{
    if (p->made->count >= AMP_ERE_CODE)
        return fail_long(p);
    amp_automaton_add(p->arena, p->made, (struct amp_instruction){kind, a, b});
    return true;
}

/* An instruction is added behind it, which says where there are too many. */
static void insert_split(struct parser *p, size_t at, int32_t a, int32_t b)
{
    amp_automaton_insert(p->arena, p->made, at, (struct amp_instruction){AMP_MATCH_SPLIT, a, b});
}

/* ---- repetitions ---- */

struct repetition {
    int least, most; /* most -1: no bound */
};

/* The number here; -1: none. */
static int read_number(struct parser *p)
{
    int number = -1;
    for (; is_left(p, "0123456789"); p->at++)
        number = number >= COUNT_MAX ? COUNT_MAX : 10 * (number < 0 ? 0 : number) + (*p->at - '0');
    return number;
}

/* {n}, {n,}, {n,m} or {,m}, the { of which is behind. */
static bool read_counts(struct parser *p, struct repetition *repetition)
{
    const char *begin = p->at - 1;
    int least = read_number(p);
    bool has_comma = accept(p, ',');
    int most = has_comma ? read_number(p) : least;
    bool is_read = (has_comma || least >= 0) && accept(p, '}');
    *repetition = (struct repetition){least < 0 ? 0 : least, most};
    if (!is_read || (most >= 0 && least > most))
        return fail(p, begin, "a { that begins no repetition",
                    "{n}, {n,}, {n,m} or {,m} with n not above m, and \\{ for the character");
    return true;
}

static bool read_repetition(struct parser *p, struct repetition *repetition)
{
    char sign = *p->at++;
    *repetition = (struct repetition){sign == '+', sign == '?' ? 1 : -1};
    if (sign == '{' && !read_counts(p, repetition))
        return false;
    return !is_left(p, "*+?{") || fail(p, p->at, "a repetition of a repetition",
                                       "one of a group, as in (a+)?, or \\ before a character");
}

/* Appends the LENGTH instructions at FROM, which may be moved meanwhile. */
static void copy(struct parser *p, size_t from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        amp_automaton_add(p->arena, p->made, p->made->code[from + i]);
}

/* Appends COUNT copies of the LENGTH instructions at FROM, each of which may be where it ends. */
static void add_optional(struct parser *p, size_t from, size_t length, int count)
{
    for (; count > 0; count--) {
        int32_t over = (int32_t)(length + 1) * count;
        amp_automaton_add(p->arena, p->made, (struct amp_instruction){AMP_MATCH_SPLIT, 1, over});
        copy(p, from, length);
    }
}

/* Appends what a repetition without a bound adds to the LENGTH instructions of its item at START,
   the last of LEAST copies of which ends here. */
static bool repeat_on(struct parser *p, size_t start, size_t length, int least)
{
    if (least > 0)
        return add(p, AMP_MATCH_SPLIT, -(int32_t)length, 1);
    insert_split(p, start, 1, (int32_t)length + 2);
    return add(p, AMP_MATCH_JUMP, -(int32_t)length - 1, 0);
}

/* Makes the instructions from START on, which match one item, match a repetition of it. */
static bool repeat(struct parser *p, size_t start, struct repetition times)
{
    size_t length = p->made->count - start;
    int optional = times.most < 0 ? 0 : times.most - times.least;
    size_t copies = (size_t)times.least * length + (size_t)optional * (length + 1);
    if (length == 0)
        return true;
    if (start + copies + 2 > AMP_ERE_CODE)
        return fail_long(p);
    for (int i = 1; i < times.least; i++)
        copy(p, start, length);
    if (times.most < 0)
        return repeat_on(p, start, length, times.least);
    if (times.most == 0) {
        p->made->count = start;
        return true;
    }
    if (times.least > 0) {
        add_optional(p, start, length, optional);
        return true;
    }
    insert_split(p, start, 1, (int32_t)(length + 1) * optional);
    add_optional(p, start + 1, length, optional - 1);
    return true;
}

/* ---- items ---- */

static bool parse_alternatives(struct parser *p);

/* Reads a group, the ( of which is behind. */
static bool parse_group(struct parser *p)
{
    const char *begin = p->at - 1;
    if (p->depth == AMP_ERE_DEPTH)
        return fail(p, begin, "a group in 100 others", "100 levels of groups");
    p->depth++;
    if (!parse_alternatives(p))
        return false;
    p->depth--;
    return accept(p, ')') || fail(p, begin, "a ( without its )", ANY_ERE);
}

/* Reads a bracket expression, the [ of which is behind. */
static bool parse_bracket(struct parser *p)
{
    static const struct {
        const char *what, *accepted;
    } texts[] = {
        [AMP_BRACKET_OPEN] = {"a [ without its ]", ANY_ERE},
        [AMP_BRACKET_CLASS] = {"an unknown class of characters",
                               "[:alnum:], [:alpha:], [:blank:], [:cntrl:], [:digit:], [:graph:], "
                               "[:lower:], [:print:], [:punct:], [:space:], [:upper:], [:xdigit:]"},
        [AMP_BRACKET_ELEMENT] = {"a [. or [= around what is not one character", ANY_ERE},
        [AMP_BRACKET_RANGE] = {"a range without a first and a last character in this order",
                               "as in [a-z], and - as the first or the last in the brackets"},
    };
    const char *begin = p->at - 1;
    if (p->made->count >= AMP_ERE_CODE)
        return fail_long(p);
    enum amp_bracket_problem problem =
        amp_bracket_read(p->arena, p->made, &p->at, p->end, AMP_BRACKET_ERE);
    return problem == AMP_BRACKET_FINE ||
           fail(p, begin, texts[problem].what, texts[problem].accepted);
}

/* Reads the character behind a \. Letters and digits are refused: GNU's and Perl's expressions give
   them a meaning. */
static bool parse_escape(struct parser *p)
{
    const char *begin = p->at - 1;
    if (p->at == p->end)
        return fail(p, begin, "a \\ at the end", ANY_ERE);
    if (is_left(p, "0123456789"))
        return fail(p, begin, "a back-reference", ANY_ERE);
    if (!is_left(p, "!\"#$%&()*+,-./:;=?@[\\]^_{|}~ "))
        return fail(p, begin, "a \\ before a character that has no meaning",
                    "characters alone, and [[:digit:]], [[:space:]], [_[:alnum:]] for \\d, \\s, "
                    "\\w");
    return add(p, AMP_MATCH_CODE, (unsigned char)*p->at++, 0);
}

/* Reads what matches one character, a group, or an anchor, which cannot be repeated. */
static bool parse_item(struct parser *p, bool *is_anchor)
{
    *is_anchor = is_left(p, "^$");
    if (is_left(p, "*+?{"))
        return fail(p, p->at, "nothing to repeat", "\\ before * + ? { as characters");
    if (accept(p, '^'))
        return add(p, AMP_MATCH_START, 0, 0);
    if (accept(p, '$'))
        return add(p, AMP_MATCH_END, 0, 0);
    if (accept(p, '('))
        return parse_group(p);
    if (accept(p, '['))
        return parse_bracket(p);
    if (accept(p, '\\'))
        return parse_escape(p);
    if (accept(p, '.'))
        return add(p, AMP_MATCH_ANY, 0, 0);
    return add(p, AMP_MATCH_CODE, amp_automaton_next(&p->at, p->end), 0);
}

static bool parse_branch(struct parser *p)
{
    while (p->at < p->end && !is_left(p, "|)")) {
        size_t start = p->made->count;
        bool is_anchor;
        struct repetition times;
        if (!parse_item(p, &is_anchor))
            return false;
        if (!is_anchor && is_left(p, "*+?{") &&
            !(read_repetition(p, &times) && repeat(p, start, times)))
            return false;
    }
    return true;
}

/* Each alternative but the last begins with a split to the next one and ends with a jump behind
   them all; until that place is known, each jump has the place of the jump before it. */
static bool parse_alternatives(struct parser *p)
{
    int32_t last_jump = -1;
    for (;;) {
        size_t start = p->made->count;
        if (!parse_branch(p))
            return false;
        if (!accept(p, '|'))
            break;
        insert_split(p, start, 1, (int32_t)(p->made->count - start) + 2);
        if (!add(p, AMP_MATCH_JUMP, last_jump, 0))
            return false;
        last_jump = (int32_t)p->made->count - 1;
    }
    while (last_jump >= 0) {
        struct amp_instruction *jump = &p->made->code[last_jump];
        int32_t before = jump->a;
        jump->a = (int32_t)p->made->count - last_jump;
        last_jump = before;
    }
    return true;
}

const char *amp_ere_compile(struct amp_arena *arena, const char *text,
                            struct amp_automaton *automaton)
{
    struct parser p = {arena, automaton, text, text, text + strlen(text), NULL, 0};
    if (p.end - text > AMP_ERE_BYTES)
        fail_long(&p);
    else if (parse_alternatives(&p) && p.at < p.end)
        fail(&p, p.at, "a ) without its (", ANY_ERE);
    return p.problem;
}
