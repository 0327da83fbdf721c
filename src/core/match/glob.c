/*
 * Globs: takes a pattern as fnmatch does, gives a program that matches names. Every text is a glob,
 * so that nothing can fail.
 */
#include "core/match/glob.h"

#include "core/arena.h"
#include "core/match/automaton.h"
#include "core/match/bracket.h"

#include <ctype.h>
#include <string.h>

size_t amp_glob_prefix(const char *pattern)
{
    return strcspn(pattern, "*?[\\");
}

const char *amp_glob_escape(struct amp_arena *arena, const char *name)
{
    char *glob = amp_arena_array(arena, 2 * strlen(name) + 1, 1), *end = glob;
    for (const char *at = name; *at != '\0'; at++) {
        if (amp_glob_prefix((const char[]){*at, '\0'}) == 0)
            *end++ = '\\';
        *end++ = *at;
    }
    *end = '\0';
    return glob;
}

static void add(struct amp_arena *arena, struct amp_automaton *automaton,
                enum amp_instruction_kind kind, int32_t a, int32_t b)
{
    amp_automaton_add(arena, automaton, (struct amp_instruction){kind, a, b});
}

/* Appends an empty set, which no character is in. */
static void add_nothing(struct amp_arena *arena, struct amp_automaton *automaton)
{
    amp_automaton_add_set(arena, automaton);
}

static void add_star(struct amp_arena *arena, struct amp_automaton *automaton)
{
    add(arena, automaton, AMP_MATCH_SPLIT, 1, 3);
    add(arena, automaton, AMP_MATCH_ANY, 0, 0);
    add(arena, automaton, AMP_MATCH_JUMP, -2, 0);
}

/* Reads a bracket expression, the [ of which is behind. *HAS_END becomes false where no ] closes
   it. */
static void add_bracket(struct amp_arena *arena, struct amp_automaton *automaton, const char **at,
                        const char *end, bool *has_end)
{
    size_t count = automaton->count;
    enum amp_bracket_problem problem =
        *has_end ? amp_bracket_read(arena, automaton, at, end, AMP_BRACKET_GLOB) : AMP_BRACKET_OPEN;
    if (problem == AMP_BRACKET_FINE)
        return;
    automaton->count = count;
    *has_end = *has_end && problem != AMP_BRACKET_OPEN;
    if (problem == AMP_BRACKET_OPEN)
        add(arena, automaton, AMP_MATCH_CODE, '[', 0);
    else
        add_nothing(arena, automaton);
}

void amp_glob_compile(struct amp_arena *arena, const char *pattern, struct amp_automaton *automaton)
{
    const char *at = pattern, *end = pattern + strlen(pattern);
    bool has_end = true; /* brackets here may have one; where one has none, none behind it has */
    while (at < end) {
        int32_t code = amp_automaton_next(&at, end);
        if (code == '*') {
            at += strspn(at, "*");
            add_star(arena, automaton);
        } else if (code == '?') {
            add(arena, automaton, AMP_MATCH_ANY, 0, 0);
        } else if (code == '[') {
            add_bracket(arena, automaton, &at, end, &has_end);
        } else if (code == '\\' && at == end) {
            add_nothing(arena, automaton);
        } else {
            if (code == '\\')
                code = amp_automaton_next(&at, end);
            add(arena, automaton, AMP_MATCH_CODE, code, 0);
        }
    }
}

bool amp_glob_matches(const char *pattern, const char *name)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    struct amp_matcher matcher = {.limit = UINT64_MAX};
    amp_glob_compile(arena, pattern, &automaton);
    bool matches = amp_automaton_match(&automaton, name, strlen(name), &matcher);
    amp_matcher_free(&matcher);
    amp_arena_destroy(arena);
    return matches;
}

/* ---- what was meant -------------------------------------------------------------------------- */

enum {
    UNITS_MAX = 200,        /* of a pattern, and letters of a name */
    COMPARISONS = 10000000, /* of a unit with a letter, for all names */
    ANY = -1,               /* ? or a bracket: each letter is the one */
    STAR = -2
};

/* A pattern as a row of letters, ANY and STAR. */
struct units {
    int items[UNITS_MAX];
    size_t count, letters;
};

/* Reads PATTERN; false when it is too long. */
static bool read_units(const char *pattern, struct units *units)
{
    *units = (struct units){.count = 0};
    for (; *pattern != '\0'; pattern++) {
        int unit = tolower((unsigned char)*pattern);
        const char *end = *pattern == '[' ? strchr(pattern + 1, ']') : NULL;
        if (units->count == UNITS_MAX)
            return false;
        if (*pattern == '*')
            unit = STAR;
        else if (*pattern == '?' || end != NULL)
            unit = ANY;
        else if (*pattern == '\\' && pattern[1] != '\0')
            unit = tolower((unsigned char)*++pattern);
        pattern = end != NULL ? end : pattern;
        units->letters += unit >= 0;
        units->items[units->count++] = unit;
    }
    return true;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits between the N letters of NAME and the nearest text that UNITS match; ROW is for it to use.
 */
static size_t edits(const struct units *units, const char *name, size_t n, size_t *row)
{
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; i < units->count; i++) {
        int unit = units->items[i];
        size_t diagonal = row[0];
        row[0] += unit != STAR;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];
            size_t differs = unit >= 0 && unit != tolower((unsigned char)name[j - 1]);
            row[j] = unit == STAR ? lesser(above, row[j - 1])
                                  : lesser(lesser(above, row[j - 1]) + 1, diagonal + differs);
            diagonal = above;
        }
    }
    return row[n];
}

const char *amp_glob_nearest(const char *pattern, const char *const *names, size_t count)
{
    size_t row[UNITS_MAX + 1], work = 0;
    struct units units;
    const char *nearest = NULL;
    if (!read_units(pattern, &units))
        return NULL;
    size_t best = (units.letters + 2) / 3 + 1;
    for (size_t i = 0; i < count && work < COMPARISONS; i++) {
        size_t n = strnlen(names[i], UNITS_MAX + 1);
        if (n > UNITS_MAX)
            continue;
        size_t found = edits(&units, names[i], n, row);
        work += units.count * n;
        nearest = found < best ? names[i] : nearest;
        best = lesser(best, found);
    }
    return nearest;
}
