/*
 * Bracket expressions, [a-z[:digit:]_], of globs and of regular expressions, as POSIX has them in
 * its own locale: takes the text behind a [, gives a set of characters, or says what is wrong.
 */
#include "core/match/bracket.h"

#include "core/match/automaton.h"

#include <string.h>

struct reader {
    struct amp_arena *arena;
    struct amp_code_set *set;
    const char *at, *end; /* the 0 that ends the text */
    bool is_glob;
};

static bool is_left(const struct reader *r, char c)
{
    return *r->at == c;
}

static bool accept(struct reader *r, char c)
{
    bool is_so = is_left(r, c);
    r->at += is_so;
    return is_so;
}

/* Whether "[" and KIND stand here. */
static bool opens(const struct reader *r, char kind)
{
    return r->at[0] == '[' && r->at[1] == kind;
}

/* What lies between "[" KIND, which is here, and KIND "]": goes to *TEXT, SIZE bytes. False when
   that has no end. */
static bool read_enclosed(struct reader *r, char kind, const char **text, size_t *size)
{
    const char closing[] = {kind, ']', '\0'};
    const char *begin = r->at + 2;
    const char *found = memmem(begin, (size_t)(r->end - begin), closing, 2);
    if (found == NULL)
        return false;
    *text = begin;
    *size = (size_t)(found - begin);
    r->at = found + 2;
    return true;
}

/* [:alpha:], the first two characters of which are here. In a glob, what cannot be the name of a
   class makes the [ a character. */
static enum amp_bracket_problem read_class(struct reader *r, bool *is_class)
{
    const char *name = r->at, *begin = r->at + 2;
    size_t size = 0;
    *is_class = true;
    while (begin[size] >= 'a' && begin[size] <= 'z')
        size++;
    bool is_name = strncmp(begin + size, ":]", 2) == 0;
    if (r->is_glob && !is_name) {
        *is_class = false;
        return AMP_BRACKET_FINE;
    }
    if (!read_enclosed(r, ':', &name, &size) ||
        !amp_code_set_add_class(r->arena, r->set, name, size))
        return AMP_BRACKET_CLASS;
    return AMP_BRACKET_FINE;
}

/* [.c.] or [=c=], the first two characters of which are here. */
static enum amp_bracket_problem read_element(struct reader *r, int32_t *code)
{
    const char *text;
    size_t size;
    if (!read_enclosed(r, r->at[1], &text, &size) || size == 0)
        return AMP_BRACKET_ELEMENT;
    const char *end = text + size;
    *code = amp_automaton_next(&text, end);
    return text == end ? AMP_BRACKET_FINE : AMP_BRACKET_ELEMENT;
}

static enum amp_bracket_problem read_character(struct reader *r, int32_t *code)
{
    bool is_escaped = r->is_glob && accept(r, '\\');
    if (!is_escaped && (opens(r, '.') || opens(r, '=')))
        return read_element(r, code);
    if (r->at == r->end)
        return AMP_BRACKET_OPEN;
    *code = amp_automaton_next(&r->at, r->end);
    return AMP_BRACKET_FINE;
}

/* Whether a - is here that joins two ends of a range. */
static bool joins(const struct reader *r)
{
    return r->end - r->at >= 2 && r->at[0] == '-' && r->at[1] != ']';
}

static enum amp_bracket_problem read_range(struct reader *r)
{
    int32_t first = 0, last;
    enum amp_bracket_problem problem = read_character(r, &first);
    last = first;
    if (problem == AMP_BRACKET_FINE && joins(r)) {
        r->at++;
        problem = !r->is_glob && opens(r, ':') ? AMP_BRACKET_RANGE : read_character(r, &last);
    }
    if (problem != AMP_BRACKET_FINE)
        return problem;
    if (first > last)
        return r->is_glob ? AMP_BRACKET_FINE : AMP_BRACKET_RANGE;
    amp_code_set_add(r->arena, r->set, first, last);
    return AMP_BRACKET_FINE;
}

/* Reads a class, a character or a range. In a regular expression, - is a character only where it is
   the first or the last. */
static enum amp_bracket_problem read_item(struct reader *r, bool is_first)
{
    bool is_class;
    if (opens(r, ':')) {
        enum amp_bracket_problem problem = read_class(r, &is_class);
        if (problem != AMP_BRACKET_FINE)
            return problem;
        if (is_class)
            return !r->is_glob && joins(r) ? AMP_BRACKET_RANGE : AMP_BRACKET_FINE;
    }
    if (!r->is_glob && !is_first && joins(r))
        return AMP_BRACKET_RANGE;
    return read_range(r);
}

enum amp_bracket_problem amp_bracket_read(struct amp_arena *arena, struct amp_automaton *automaton,
                                          const char **at, const char *end,
                                          enum amp_bracket_syntax syntax)
{
    struct reader r = {arena, amp_automaton_add_set(arena, automaton), *at, end,
                       syntax == AMP_BRACKET_GLOB};
    r.set->is_negated = accept(&r, '^') || (r.is_glob && accept(&r, '!'));
    for (bool is_first = true; is_first || !is_left(&r, ']'); is_first = false) {
        enum amp_bracket_problem problem = r.at == end ? AMP_BRACKET_OPEN : read_item(&r, is_first);
        if (problem != AMP_BRACKET_FINE)
            return problem;
    }
    *at = r.at + 1;
    return AMP_BRACKET_FINE;
}
