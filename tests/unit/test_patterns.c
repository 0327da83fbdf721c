/* Globs and regular expressions over names: what matches, what is refused, and how the work grows.
   The C library's matchers are the second opinion. */
#include "core/arena.h"
#include "core/array.h"
#include "core/match/automaton.h"
#include "core/match/ere.h"
#include "core/match/glob.h"
#include "scratch.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

/* ---- matching ---- */

static uint64_t steps; /* of the last match */

/* Whether NAME has the parts that every match has. */
static bool has_parts(const struct amp_automaton *automaton, const char *name)
{
    struct amp_arena *arena = amp_arena_create();
    size_t count;
    const char *part = amp_automaton_parts(arena, automaton, &count);

    for (; count > 0 && name != NULL; count--, part += strlen(part) + 1) {
        name = strstr(name, part);
        name = name != NULL ? name + strlen(part) : NULL;
    }
    amp_arena_destroy(arena);
    return name != NULL;
}

static bool run(const struct amp_automaton *automaton, const char *name)
{
    struct amp_matcher matcher = {.limit = UINT64_MAX};
    bool matches = amp_automaton_match(automaton, name, strlen(name), &matcher);

    assert_true(!matches || has_parts(automaton, name));
    steps = matcher.steps;
    amp_matcher_free(&matcher);
    return matches;
}

static bool glob(const char *pattern, const char *name)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};

    amp_glob_compile(arena, pattern, &automaton);
    bool matches = run(&automaton, name);
    assert_true(steps % 16 != 0 || amp_glob_matches(pattern, name) == matches);
    amp_arena_destroy(arena);
    return matches;
}

static bool ere(const char *pattern, const char *name)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    const char *problem = amp_ere_compile(arena, pattern, &automaton);

    if (problem != NULL)
        fail_msg("%s: %s", pattern, problem);
    bool matches = run(&automaton, name);
    amp_arena_destroy(arena);
    return matches;
}

/* The same numbers everywhere (Knuth, MMIX). */
static unsigned next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

/* Up to MOST of PIECES, one after the other. */
static void make_text(char *text, const char *const *pieces, size_t n_pieces, unsigned most,
                      uint64_t *seed)
{
    *text = '\0';
    for (unsigned n = next_random(seed) % (most + 1); n > 0; n--)
        text = stpcpy(text, pieces[next_random(seed) % n_pieces]);
}

static const char *const letters[] = {"a", "b", "c", "-", "]", "/", "."};

/* ---- globs ---- */

static void globs_are_those_of_fnmatch(void **state)
{
    static const char *const pieces[] = {"a",
                                         "b",
                                         "c",
                                         "*",
                                         "*",
                                         "?",
                                         "/",
                                         ".",
                                         "[ab]",
                                         "[!a]",
                                         "[^b-c]",
                                         "[a-c]",
                                         "[]a]",
                                         "[!]a]",
                                         "[a-]",
                                         "[-a]",
                                         "\\a",
                                         "\\*",
                                         "\\[",
                                         "[\\]a]",
                                         "[[:alpha:]]",
                                         "[[:lower:]-]",
                                         "[c-a]",
                                         "[",
                                         "]",
                                         "[a",
                                         "-",
                                         "[[:a]",
                                         "[b",
                                         "[a-\\c]",
                                         "[[.a.]b]",
                                         "[^[=b=]]",
                                         "[[:digit:][:upper:]]"};
    uint64_t seed = 1;
    size_t n_matches = 0;

    (void)state;
    for (int i = 0; i < 60000; i++) {
        char pattern[128], name[64];
        make_text(pattern, pieces, AMP_COUNT(pieces), 6, &seed);
        make_text(name, letters, AMP_COUNT(letters), 6, &seed);
        bool expected = fnmatch(pattern, name, 0) == 0;
        if (glob(pattern, name) != expected)
            fail_msg("'%s' and '%s': %s expected", pattern, name, expected ? "a match" : "none");
        n_matches += expected;
    }
    assert_in_range(n_matches, 1000, 59000);
}

/* What ends and begins things in brackets, in globs, held against fnmatch character by character.
 */
static void brackets_of_globs_have_characters(void **state)
{
    static const char *const patterns[] = {
        "[\\[.a]", "[+-[:a]", "[a-c-e]",      "[[:{:]", "[[:digit:]-a]",
        "[^!a]",   "[!^a]",   "[[:digit:]-]", "[--0]",  "[[:upper:]b-d]"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(patterns); i++)
        for (char c = '!'; c < 127; c++) {
            const char name[] = {c, '\0'};
            if (glob(patterns[i], name) != (fnmatch(patterns[i], name, 0) == 0))
                fail_msg("%s: %s", patterns[i], name);
        }
}

static void globs_know_characters(void **state)
{
    (void)state;
    assert_true(glob("?", "\xc3\xb6"));
    assert_true(glob("a?", "a\xff")); /* a byte that is no UTF-8 counts as one, */
    assert_false(glob("a?", "a\xff\xff"));
    assert_false(glob("\xff", "\xc3\xbf")); /* and is no other character */
    assert_true(glob("[\xc3\xa4-\xc3\xb6]", "\xc3\xa5"));
    assert_false(glob("[!\xc3\xa4]", "\xc3\xa4"));
    assert_true(glob("*\xe2\x82\xac", "1\xe2\x82\xac"));
    assert_true(glob("", ""));
    assert_true(glob("**", ""));
    assert_false(glob("a\\", "a"));
    assert_false(glob("a\\", "a\\"));
    assert_false(glob("[[:nope:]]", "n"));
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    amp_glob_compile(arena, "[[[[[[", &automaton); /* that none ends is found once */
    assert_true(automaton.count == 6 && automaton.n_sets == 1);
    amp_arena_destroy(arena);
    assert_int_equal(amp_glob_prefix("/a/b"), 4);
    assert_int_equal(amp_glob_prefix("/a[b"), 2);
    assert_int_equal(amp_glob_prefix("\\a"), 0);
}

/* ---- regular expressions ---- */

static void expressions_are_those_of_regexec(void **state)
{
    static const char *const pieces[] = {
        "a",     "b",       "c",        ".",       "(a|b)",       "(ab)",         "(a|)",
        "()",    "[ab]",    "[^a]",     "[a-c]",   "[]a]",        "[^]a]",        "[a-]",
        "[-/]",  "[\\a]",   "\\.",      "\\*",     "[[:alpha:]]", "[^[:lower:]]", "^",
        "$",     "|",       "a*",       "b+",      "c?",          "(ab)*",        "(a|b)+",
        "(a*)*", "(a+|b)?", "a{2}",     "b{,2}",   "(ab){1,}",    ".{0,3}",       "(a{1,2}){2}",
        "a{0}",  "()*",     "(^a|b$)*", "[[.-.]]", "[[=a=]b]",    "((a)(b))?"};
    uint64_t seed = 1;
    size_t n_matches = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char pattern[256], whole[300], name[64];
        regex_t regex;
        make_text(pattern, pieces, AMP_COUNT(pieces), 5, &seed);
        make_text(name, letters, AMP_COUNT(letters), 6, &seed);
        snprintf(whole, sizeof whole, "^(%s)$", pattern);
        assert_int_equal(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB), 0);
        bool expected = regexec(&regex, name, 0, NULL, 0) == 0;
        regfree(&regex);
        if (ere(pattern, name) != expected)
            fail_msg("'%s' and '%s': %s expected", pattern, name, expected ? "a match" : "none");
        n_matches += expected;
    }
    assert_in_range(n_matches, 500, 19500);
}

static void expressions_know_characters(void **state)
{
    (void)state;
    assert_true(ere(".{2}", "\xc3\xb6\xff"));
    assert_true(ere("[^a]", "\xff"));
    assert_true(ere("(\xc3\xb6|x)+", "\xc3\xb6\xc3\xb6x"));
    assert_false(ere("[[:alpha:]]", "\xc3\xb6")); /* classes are ASCII's */
    assert_true(ere("[[.\xc3\xb6.]]", "\xc3\xb6"));
    assert_true(ere(".", "\n"));
    assert_true(ere("a|ab", "ab")); /* the longer one counts */
    assert_true(ere("x}", "x}"));
    assert_true(ere("\\{\\}\\(\\)\\[\\]\\\\\\|\\/\\-\\ ", "{}()[]\\|/- "));
    assert_true(ere("a{,}", "aaa"));
    assert_true(ere("[\\]", "\\")); /* in brackets \ and ! are characters as others are */
    assert_true(ere("[\\a]", "\\") && ere("[\\a]", "a"));
    assert_true(ere("[!a]", "!") && ere("[!a]", "a") && !ere("[!a]", "b"));
}

static void what_is_no_expression_is_refused(void **state)
{
#define ERE "; accepted: a POSIX extended regular expression"
#define TWICE "; accepted: one of a group, as in (a+)?, or \\ before a character"
#define NOTHING "nothing to repeat, at character 1; accepted: \\ before * + ? { as characters"
#define COUNTS "; accepted: {n}, {n,}, {n,m} or {,m} with n not above m, and \\{ for the character"
#define ESCAPE                                                                                \
    "; accepted: characters alone, and [[:digit:]], [[:space:]], [_[:alnum:]] for \\d, \\s, " \
    "\\w"
#define CLASSES                                                                                 \
    "; accepted: [:alnum:], [:alpha:], [:blank:], [:cntrl:], [:digit:], [:graph:], [:lower:], " \
    "[:print:], [:punct:], [:space:], [:upper:], [:xdigit:]"
#define RANGE "; accepted: as in [a-z], and - as the first or the last in the brackets"
    static const struct {
        const char *pattern, *problem;
    } cases[] = {
        {"/block(.*", "a ( without its ), at character 7" ERE},
        {"\xc3\xb6\xc3\xb6)", "a ) without its (, at character 3" ERE},
        {"a[b", "a [ without its ], at character 2" ERE},
        {"[]", "a [ without its ], at character 1" ERE},
        {"[[.ab.]]", "a [. or [= around what is not one character, at character 1" ERE},
        {"[[.a", "a [. or [= around what is not one character, at character 1" ERE},
        {"[[=a]", "a [. or [= around what is not one character, at character 1" ERE},
        {"[[.ab.]-c]", "a [. or [= around what is not one character, at character 1" ERE},
        {"[a-b-", "a [ without its ], at character 1" ERE},
        {"[[:alpha:]-", "a [ without its ], at character 1" ERE},
        {"[[..]]", "a [. or [= around what is not one character, at character 1" ERE},
        {"a[[:nope:]]", "an unknown class of characters, at character 2" CLASSES},
        {"[[:alph:]]", "an unknown class of characters, at character 1" CLASSES},
        {"[[:alphas:]]", "an unknown class of characters, at character 1" CLASSES},
        {"[[:ALPHA:]]", "an unknown class of characters, at character 1" CLASSES},
        {"[[::]]", "an unknown class of characters, at character 1" CLASSES},
        {"[[:alpha]]", "an unknown class of characters, at character 1" CLASSES},
        {"[z-a]",
         "a range without a first and a last character in this order, at character 1" RANGE},
        {"[a-c-e]",
         "a range without a first and a last character in this order, at character 1" RANGE},
        {"a\\", "a \\ at the end, at character 2" ERE},
        {"(a)\\1", "a back-reference, at character 4" ERE},
        {"a\\d", "a \\ before a character that has no meaning, at character 2" ESCAPE},
        {"\\<a", "a \\ before a character that has no meaning, at character 1" ESCAPE},
        {"\\Qa", "a \\ before a character that has no meaning, at character 1" ESCAPE},
        {"a+?", "a repetition of a repetition, at character 3" TWICE},
        {"a*+", "a repetition of a repetition, at character 3" TWICE},
        {"a{,5}{,5}", "a repetition of a repetition, at character 6" TWICE},
        {"*a", NOTHING},
        {"?", NOTHING},
        {"(?:a)", "nothing to repeat, at character 2; accepted: \\ before * + ? { as characters"},
        {"(?=a)", "nothing to repeat, at character 2; accepted: \\ before * + ? { as characters"},
        {"^*", "nothing to repeat, at character 2; accepted: \\ before * + ? { as characters"},
        {"a|{2}", "nothing to repeat, at character 3; accepted: \\ before * + ? { as characters"},
        {"a{b}", "a { that begins no repetition, at character 2" COUNTS},
        {"a{2", "a { that begins no repetition, at character 2" COUNTS},
        {"a{}", "a { that begins no repetition, at character 2" COUNTS},
        {"a{3,2}", "a { that begins no repetition, at character 2" COUNTS},
        {"(a{200}){200}", "too long a regular expression; accepted: 2000 bytes, and 8000 "
                          "characters and operators with repetitions written out"},
        {"a{99999999999999999999}", "too long a regular expression; accepted: 2000 bytes, and 8000 "
                                    "characters and operators with repetitions written out"},
    };

    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases); i++) {
        struct amp_arena *arena = amp_arena_create();
        struct amp_automaton automaton = {.count = 0};
        const char *problem = amp_ere_compile(arena, cases[i].pattern, &automaton);
        assert_string_equal(problem != NULL ? problem : cases[i].pattern, cases[i].problem);
        bool is_open =
            strstr(problem, " without ") != NULL || strstr(problem, "at the end") != NULL;
        const char *more = amp_arena_printf(arena, "%s|(*", cases[i].pattern);
        automaton.count = automaton.n_sets = 0;
        if (!is_open) /* the first problem counts */
            assert_string_equal(amp_ere_compile(arena, more, &automaton), cases[i].problem);
        amp_arena_destroy(arena);
    }
}

/* COUNT times PIECE, in ARENA. */
static char *times(struct amp_arena *arena, const char *piece, size_t count)
{
    size_t size = strlen(piece);
    char *text = amp_arena_alloc(arena, count * size + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * size, piece, size);
    return text;
}

static void sizes_are_bounded(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    const char *deep =
        amp_arena_printf(arena, "%sa%s", times(arena, "(", 101), times(arena, ")", 101));

    (void)state;
    assert_true(ere(amp_arena_printf(arena, "%.*s", 201, deep + 1), "a"));
    assert_string_equal(amp_ere_compile(arena, deep, &automaton),
                        "a group in 100 others, at character 101; accepted: 100 levels of groups");
    assert_non_null(amp_ere_compile(arena, times(arena, "a", 2001), &automaton));
    assert_true(ere(times(arena, "a", 2000), times(arena, "a", 2000)));
    assert_true(ere(times(arena, "a|", 1000), ""));
    assert_true(ere("(.{0,60}){0,60}", times(arena, "a", 3600)));
    assert_false(ere("(.{0,60}){0,60}", times(arena, "a", 3601)));
    amp_arena_destroy(arena);
}

/* Whether an expression is taken, or refused as too long. */
static bool is_short_enough(const char *pattern)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    const char *problem = amp_ere_compile(arena, pattern, &automaton);
    bool is_taken = problem == NULL;
    if (!is_taken)
        assert_string_equal(problem, "too long a regular expression; accepted: 2000 bytes, and "
                                     "8000 characters and operators with repetitions written out");
    assert_true(!is_taken || automaton.count <= AMP_ERE_CODE);
    amp_arena_destroy(arena);
    return is_taken;
}

/* a{7998} is as long as a repetition may be: two operators may belong to one. Each that may be left
   out has one of its own. */
static void each_instruction_counts(void **state)
{
    static const struct {
        const char *fits, *is_longer;
    } rows[] = {
        {"a{7998}", "a{7999}"},          {"ba{7997}", "ba{7998}"},
        {"(ab){3999}", "(ab){4000}"},    {"a{0,3999}", "a{0,4000}"},
        {"a{2,4000}", "a{2,4001}"},      {"(ab){0,2666}", "(ab){0,2667}"},
        {"a{7998}bb", "a{7998}bbb"},     {"a{7998}b.", "a{7998}bb."},
        {"a{7998}b[c]", "a{7998}bb[c]"}, {"a{7998}b^", "a{7998}bb^"},
        {"a{7998}b\\.", "a{7998}bb\\."}, {"a{7998}|", "a{7998}b|"},
        {"a{7998}|", "a{7998}b|)"},      {"a{7998}|", "a{7998}bb|"},
        {"a{7998,}", "a{7999,}"},        {"a{7998}()*", "a{7998}bb(b)"},
        {"a{7997}b*", "a{7998}b*"},      {"a{7997}b+", "a{7998}b+"},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        if (!is_short_enough(rows[i].fits))
            fail_msg("%s is refused", rows[i].fits);
        if (is_short_enough(rows[i].is_longer))
            fail_msg("%s is taken", rows[i].is_longer);
    }
}

/* ---- parts ---- */

/* The parts of a pattern, with a | behind each. */
static void parts_are(bool is_glob, const char *pattern, const char *wanted)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    char found[64] = "";
    size_t count;
    if (is_glob)
        amp_glob_compile(arena, pattern, &automaton);
    else
        assert_null(amp_ere_compile(arena, pattern, &automaton));
    const char *part = amp_automaton_parts(arena, &automaton, &count);
    for (; count > 0; count--, part += strlen(part) + 1) {
        strcat(found, part);
        strcat(found, "|");
    }
    assert_string_equal(found, wanted);
    amp_arena_destroy(arena);
}

static void what_every_match_has_is_told(void **state)
{
    (void)state;
    parts_are(true, "", "");
    parts_are(true, "abc", "abc|");
    parts_are(true, "a*bc?d", "a|bc|d|");
    parts_are(true, "*", "");
    parts_are(true, "[a]b\\*", "b*|");
    parts_are(true, "\xc3\xb6*\xff", "\xc3\xb6|\xff|");
    parts_are(false, "ab(cd)?ef", "ab|ef|");
    parts_are(false, "a(b|c)d", "a|d|");
    parts_are(false, "a|b", "");
    parts_are(false, "xa*y", "x|y|");
    parts_are(false, "xa+y", "xa|y|");
    parts_are(false, "x{3}", "xxx|");
    parts_are(false, "xa{1,2}y", "xa|y|");
    parts_are(false, "^ab$", "ab|");
    parts_are(false, "a.b", "a|b|");
    parts_are(false, "(a|b*)c|d", "");
}

/* ---- names ---- */

static void names_become_globs_of_themselves(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    const char *glob_of = amp_glob_escape(arena, "a*b?c[d]\\e");
    (void)state;
    assert_string_equal(glob_of, "a\\*b\\?c\\[d]\\\\e");
    assert_true(glob(glob_of, "a*b?c[d]\\e"));
    assert_false(glob(glob_of, "axb?c[d]\\e"));
    assert_string_equal(amp_glob_escape(arena, "****"), "\\*\\*\\*\\*");
    assert_string_equal(amp_glob_escape(arena, ""), "");
    amp_arena_destroy(arena);
}

/* As many letters of a glob may be wrong as a third of them, rounded up; what * stands for is never
   wrong, and ? and brackets want one letter, whichever. The first of equally near names counts. */
static void misspelled_globs(void **state)
{
    static const char *const names[] = {"conv1", "conv2", "relu", "block.weight",
                                        "a[0]",  "Gelu",  "x\\y"};
    static const char *const pairs[][2] = {{"conv3", "conv1"},
                                           {"conv2", "conv2"},
                                           {"CONV2", "conv2"},
                                           {"cnov2", "conv2"},
                                           {"xonx3", NULL},
                                           {"relu", "relu"},
                                           {"rel", "relu"},
                                           {"rxyz", NULL},
                                           {"?elu", "relu"},
                                           {"[Gx]elux", "relu"},
                                           {"ge?u", "Gelu"},
                                           {"relu?", "relu"},
                                           {"relu??", "relu"},
                                           {"relu???", NULL},
                                           {"*.weigth", "block.weight"},
                                           {"*.wxxxxt", NULL},
                                           {"blk*weight", "block.weight"},
                                           {"a[0", "a[0]"},
                                           {"a\\[0]", "a[0]"},
                                           {"x\\\\z", "x\\y"},
                                           {"x\\", "x\\y"},
                                           {"**", "conv1"},
                                           {"", NULL},
                                           {"zzzz", NULL}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(pairs); i++) {
        const char *found = amp_glob_nearest(pairs[i][0], names, AMP_COUNT(names));
        if (pairs[i][1] == NULL ? found != NULL : found == NULL || strcmp(found, pairs[i][1]) != 0)
            fail_msg("%s: %s", pairs[i][0], found != NULL ? found : "none");
    }
    assert_null(amp_glob_nearest("conv1", names, 0));
}

/* Two hundred letters, and ten million comparisons for all names. */
static void the_search_for_names_is_bounded(void **state)
{
    enum { LENGTH = 200, COUNT = 10000000 / (LENGTH * LENGTH) };
    struct amp_arena *arena = amp_arena_create();
    const char *a200 = times(arena, "a", LENGTH), *a201 = times(arena, "a", LENGTH + 1);
    const char *b200 = times(arena, "b", LENGTH), *names[COUNT + 1] = {a200, a201};
    (void)state;
    assert_ptr_equal(amp_glob_nearest(a200, names, 2), a200);
    assert_null(amp_glob_nearest(a200, names + 1, 1));
    assert_null(amp_glob_nearest(a201, names, 2));
    for (size_t i = 0; i < COUNT; i++)
        names[i] = b200;
    names[COUNT] = a200;
    assert_null(amp_glob_nearest(a200, names, COUNT + 1));
    assert_ptr_equal(amp_glob_nearest(a200, names + 1, COUNT), a200);
    amp_arena_destroy(arena);
}

/* ---- work ---- */

/* Twice the name, twice the work, whatever the pattern. */
static void work_grows_with_the_name(void **state)
{
    static const char *const patterns[] = {
        "(((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+b",
        "(.*)(.*)(.*)(.*)(.*)(.*)z",
        "((a{0,9}){0,9}){0,9}b",
        "(a|aa|aaa)*b",
        "(((a*)*)*)*b",
    };
    struct amp_arena *arena = amp_arena_create();

    (void)state;
    for (size_t i = 0; i < AMP_COUNT(patterns); i++) {
        assert_false(ere(patterns[i], times(arena, "a", 2000)));
        uint64_t once = steps;
        assert_false(ere(patterns[i], times(arena, "a", 4000)));
        assert_in_range(steps, once, 5 * once / 2);
    }
    assert_false(glob(times(arena, "*a", 500), times(arena, "b", 1000)));
    assert_false(glob(times(arena, "*a*b", 100), times(arena, "a", 1000)));
    assert_in_range(steps, 1000, 1000 * 4 * 100 * 4);
    amp_arena_destroy(arena);
}

/* A matcher counts rounds in 32 bits, and begins again behind the last. */
static void rounds_begin_again(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    (void)state;
    assert_null(amp_ere_compile(arena, "a(x|y)*b", &automaton));
    for (uint32_t left = 0; left < 8; left++) {
        struct amp_matcher matcher = {.limit = UINT64_MAX};
        assert_true(amp_automaton_match(&automaton, "axyxb", 5, &matcher));
        matcher.round = UINT32_MAX - left;
        for (int again = 0; again < 3; again++) {
            assert_true(amp_automaton_match(&automaton, "axyxb", 5, &matcher));
            assert_false(amp_automaton_match(&automaton, "axyxc", 5, &matcher));
            assert_true(amp_automaton_match(&automaton, "ab", 2, &matcher));
        }
        assert_true(matcher.round < 100);
        amp_matcher_free(&matcher);
    }
    amp_arena_destroy(arena);
}

static void work_has_a_limit(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    struct amp_matcher matcher = {.limit = 1000};

    (void)state;
    amp_glob_compile(arena, "*a*a*a*a*b", &automaton);
    const char *name = times(arena, "a", 1000000);
    assert_false(amp_automaton_match(&automaton, name, 1000000, &matcher));
    assert_in_range(matcher.steps, 1001, 1100);
    assert_false(amp_automaton_match(&automaton, "aaaab", 5, &matcher));
    matcher.steps = 0;
    assert_true(amp_automaton_match(&automaton, "aaaab", 5, &matcher));
    uint64_t needed = matcher.steps;
    for (matcher.limit = 0; matcher.limit <= needed; matcher.limit++) {
        matcher.steps = 0;
        assert_int_equal(amp_automaton_match(&automaton, "aaaab", 5, &matcher),
                         matcher.limit == needed);
    }
    amp_matcher_free(&matcher);
    amp_arena_destroy(arena);
}

/* Where no way is left, the rest of the name is not read: no round is begun for it. */
static void lost_names_are_left(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_automaton automaton = {.count = 0};
    struct amp_matcher matcher = {.limit = UINT64_MAX};

    (void)state;
    amp_glob_compile(arena, "ab", &automaton);
    assert_false(amp_automaton_match(&automaton, times(arena, "a", 1000), 1000, &matcher));
    assert_int_equal(matcher.round, 3); /* before the first, and for two characters */
    amp_matcher_free(&matcher);
    amp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_are_those_of_fnmatch),
        cmocka_unit_test(brackets_of_globs_have_characters),
        cmocka_unit_test(globs_know_characters),
        cmocka_unit_test(expressions_are_those_of_regexec),
        cmocka_unit_test(expressions_know_characters),
        cmocka_unit_test(what_is_no_expression_is_refused),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(each_instruction_counts),
        cmocka_unit_test(what_every_match_has_is_told),
        cmocka_unit_test(names_become_globs_of_themselves),
        cmocka_unit_test(misspelled_globs),
        cmocka_unit_test(the_search_for_names_is_bounded),
        cmocka_unit_test(work_grows_with_the_name),
        cmocka_unit_test(rounds_begin_again),
        cmocka_unit_test(work_has_a_limit),
        cmocka_unit_test(lost_names_are_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
