/*
 * Translates regular expressions from RE2's syntax (github.com/google/re2/wiki/Syntax) to PCRE2's.
 * The two look alike but for details that would go unnoticed, so every item is read and written
 * anew: what RE2 does not have is refused, what both write alike and mean otherwise (\s, \v, {,2},
 * scripts) is spelled out.
 */
#include "ops/text/regex_syntax.h"

#include "core/array.h"
#include "core/arena.h"
#include "core/utf8.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_REPEATS = 1000, /* of nested repetitions, their counts multiplied */
    GROWTH = 24,         /* bytes written for one read, at most: \S in a class */
    FRAME = 16           /* bytes around the pattern */
};

struct translation {
    struct amp_str pattern;
    const char *at, *end;
    char *to;
    const char *item;    /* where what is being read began, for messages */
    char *atom;          /* what was last written if it is no group; NULL otherwise */
    bool was_repetition; /* the last item was one: RE2 takes no second */
    int last;            /* the count of the last item's repetitions; 0: there is no last item */
    struct level {
        int repeats;               /* the greatest count of an item */
        bool is_multiline;         /* $ stands before newlines, too */
    } levels[AMP_REGEX_DEPTH + 1]; /* of the open groups; 0: the pattern */
    int depth;
    struct amp_error *err;
};

static enum amp_status fail(const struct translation *t, const char *why)
{
    int length = (int)(t->at - t->item);
    return amp_fail(t->err, AMP_MODEL, "pattern '%.*s': '%.*s' at %td: %s",
                    t->pattern.size > 200 ? 200 : (int)t->pattern.size, t->pattern.data,
                    length > 40 ? 40 : length, t->item, t->item - t->pattern.data, why);
}

static bool is_left(const struct translation *t, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(t->end - t->at) >= size && memcmp(t->at, text, size) == 0;
}

static bool accept(struct translation *t, const char *text)
{
    if (!is_left(t, text))
        return false;
    t->at += strlen(text);
    return true;
}

static void put(struct translation *t, const char *text)
{
    t->to = stpcpy(t->to, text);
}

static void put_code(struct translation *t, int32_t code)
{
    t->to += sprintf(t->to, "\\x{%x}", (unsigned)code);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The digits in BASE at the place, up to MOST of them; what is no digit or goes beyond Unicode
   ends them. */
static int32_t read_number(struct translation *t, int base, int most)
{
    static const char digits[] = "0123456789abcdef";
    int32_t value = 0;
    for (int i = 0; i < most && t->at < t->end && value <= 0x10ffff; i++, t->at++) {
        char c = *t->at;
        const char *digit = memchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c, (size_t)base);
        if (digit == NULL)
            break;
        value = value * base + (int32_t)(digit - digits);
    }
    return value;
}

/* What follows \x: two digits, or any number in braces. */
static enum amp_status read_hex(struct translation *t, int32_t *code)
{
    bool has_brace = accept(t, "{");
    const char *digits = t->at;
    *code = read_number(t, 16, has_brace ? INT_MAX : 2);
    bool is_complete = has_brace ? t->at > digits && accept(t, "}") : t->at == digits + 2;
    if (!is_complete || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return fail(t, "not a code point");
    return AMP_OK;
}

/* The character of the escape sequence whose backslash is behind. */
static enum amp_status read_escape(struct translation *t, int32_t *code)
{
    static const char names[] = "aftnrv", codes[] = "\a\f\t\n\r\v";
    if (t->at == t->end)
        return fail(t, "a backslash at the end");
    char c = *t->at++;
    const char *name = memchr(names, c, sizeof names - 1);
    if (name != NULL) {
        *code = (unsigned char)codes[name - names];
    } else if (c == 'x') {
        return read_hex(t, code);
    } else if (c >= '0' && c <= '7') {
        bool is_octal = c == '0' || (t->at < t->end && *t->at >= '0' && *t->at <= '7');
        if (!is_octal)
            return fail(t, "RE2 has no backreferences");
        t->at--;
        *code = read_number(t, 8, 3);
    } else if (is_digit(c) || is_letter(c) || (unsigned char)c >= 0x80) {
        return fail(t, c == 'C' ? "single bytes cannot be matched" : "RE2 has no such escape");
    } else {
        *code = (unsigned char)c;
    }
    return AMP_OK;
}

static enum amp_status read_character(struct translation *t, int32_t *code)
{
    if (accept(t, "\\"))
        return read_escape(t, code);
    *code = amp_utf8_next(&t->at, t->end);
    return AMP_OK;
}

/* ---- classes */

/* \p or \P is behind: a name of one letter or in braces. Names of up to two letters are general
   categories; PCRE2 alone would take a script's name for its extensions too. */
static enum amp_status copy_property(struct translation *t)
{
    bool is_negated = t->at[-1] == 'P', has_braces = accept(t, "{");
    if (has_braces && accept(t, "^"))
        is_negated = !is_negated;
    const char *name = t->at;
    while (t->at < t->end && (is_letter(*t->at) || *t->at == '_') && (has_braces || t->at == name))
        t->at++;
    int length = (int)(t->at - name);
    if (length == 0 || (has_braces && !accept(t, "}")))
        return fail(t, "not a property of characters");
    bool is_script = length > 2 && !(length == 3 && memcmp(name, "Any", 3) == 0);
    t->to += sprintf(t->to, "\\%c{%s%.*s}", is_negated ? 'P' : 'p', is_script ? "sc:" : "", length,
                     name);
    return AMP_OK;
}

/* Classes that both have, as one item and among the items of a class in PCRE2. Its \s has the
   vertical tab, RE2's not; its \w without regard to case has no more than ASCII, RE2's two more. */
static const struct class
{
    const char *name, *alone, *among;
} classes[] = {{"\\d", "\\d", "\\d"},
               {"\\D", "\\D", "\\D"},
               {"\\w", "[0-9A-Za-z_]", "0-9A-Za-z_"},
               {"\\W", "[^0-9A-Za-z_]", "\\W"},
               {"\\s", "[\\t\\n\\f\\r\\x20]", "\\t\\n\\f\\r\\x20"},
               {"\\S", "[^\\t\\n\\f\\r\\x20]", "\\x00-\\x08\\x0b\\x0e-\\x1f\\x21-\\x{10ffff}"}};

static const struct class *find_class(struct translation *t)
{
    for (size_t i = 0; i < AMP_COUNT(classes); i++)
        if (accept(t, classes[i].name))
            return &classes[i];
    return NULL;
}

/* A named class such as [:alpha:], its "[" not read yet; false when there is none. */
static bool copy_named_class(struct translation *t)
{
    const char *close = is_left(t, "[:") ? memmem(t->at, (size_t)(t->end - t->at), ":]", 2) : NULL;
    if (close == NULL)
        return false;
    t->to = mempcpy(t->to, t->at, (size_t)(close + 2 - t->at));
    t->at = close + 2;
    return true;
}

static enum amp_status copy_range(struct translation *t)
{
    int32_t first, last;
    AMP_TRY(read_character(t, &first));
    last = first;
    if (is_left(t, "-") && !is_left(t, "-]") && t->end - t->at > 1) {
        t->at++;
        AMP_TRY(read_character(t, &last));
    }
    if (last < first)
        return fail(t, "a range that ends before it begins");
    put_code(t, first);
    if (last > first) {
        put(t, "-");
        put_code(t, last);
    }
    return AMP_OK;
}

/* A class in brackets, the first of which is behind. */
static enum amp_status copy_class(struct translation *t)
{
    put(t, accept(t, "^") ? "[^" : "[");
    for (bool is_first = true; is_first || !accept(t, "]"); is_first = false) {
        const struct class *class;
        if (t->at == t->end)
            return fail(t, "the class has no end");
        if (copy_named_class(t))
            continue;
        if (accept(t, "\\p") || accept(t, "\\P"))
            AMP_TRY(copy_property(t));
        else if ((class = find_class(t)) != NULL)
            put(t, class->among);
        else
            AMP_TRY(copy_range(t));
    }
    put(t, "]");
    return AMP_OK;
}

/* ---- groups */

static enum amp_status open_group(struct translation *t)
{
    if (t->depth == AMP_REGEX_DEPTH)
        return fail(t, "groups are nested too deep");
    t->depth++;
    t->levels[t->depth] = (struct level){1, t->levels[t->depth - 1].is_multiline};
    return AMP_OK;
}

/* Behind (?P< or (?<: a name, which nothing can refer to. */
static enum amp_status skip_name(struct translation *t)
{
    const char *name = t->at;
    while (t->at < t->end && (is_letter(*t->at) || is_digit(*t->at) || *t->at == '_'))
        t->at++;
    if (t->at == name || !accept(t, ">"))
        return fail(t, "RE2 has no look-around, and a name is letters, digits and _");
    put(t, "(");
    return open_group(t);
}

/* Behind (?: flags, for the rest of the group around or, before a colon, for a group of their own.
   U swaps greedy and lazy, which makes no difference to a whole match. */
static enum amp_status copy_flags(struct translation *t)
{
    bool is_negated = false, is_empty = false, is_multiline = t->levels[t->depth].is_multiline;
    put(t, "(?");
    for (; t->at < t->end; t->at++) {
        char flag[2] = {*t->at, '\0'};
        if (flag[0] != '\0' && strchr("imsU", flag[0]) != NULL) {
            is_empty = false;
            if (flag[0] == 'm')
                is_multiline = !is_negated;
            put(t, flag[0] == 'U' ? "" : flag);
        } else if (flag[0] == '-' && !is_negated) {
            is_negated = is_empty = true;
            put(t, flag);
        } else {
            break;
        }
    }
    bool is_group = is_left(t, ":");
    if (is_empty || (!accept(t, ":") && !accept(t, ")"))) {
        t->at += t->at < t->end;
        return fail(t,
                    "RE2 has groups ( (?: (?P<name> (?<name> and flags of i, m, s, U, no others");
    }
    put(t, is_group ? ":" : ")");
    if (is_group)
        AMP_TRY(open_group(t));
    t->levels[t->depth].is_multiline = is_multiline;
    return AMP_OK;
}

static enum amp_status copy_open(struct translation *t)
{
    if (accept(t, "?P<") || accept(t, "?<"))
        return skip_name(t);
    if (accept(t, "?"))
        return copy_flags(t);
    put(t, "(");
    return open_group(t);
}

static enum amp_status copy_close(struct translation *t)
{
    if (t->depth == 0)
        return fail(t, "no group is open");
    t->last = t->levels[t->depth--].repeats;
    if (t->last > t->levels[t->depth].repeats)
        t->levels[t->depth].repeats = t->last;
    put(t, ")");
    return AMP_OK;
}

/* ---- repetitions */

/* Ends a repetition: a question mark behind it makes it lazy, which makes no difference to a whole
   match. COUNT: how often the last item may stand there once it is written out. */
static enum amp_status repeat(struct translation *t, int count)
{
    accept(t, "?");
    if (t->was_repetition)
        return fail(t, "a repetition of a repetition");
    if (t->last == 0)
        return fail(t, "nothing to repeat");
    if (t->last * count > MOST_REPEATS)
        return fail(t, "more than 1000 repetitions");
    if (t->last * count > t->levels[t->depth].repeats)
        t->levels[t->depth].repeats = t->last * count;
    t->was_repetition = true;
    return AMP_OK;
}

/* A number that does not begin with a needless 0; above MOST_REPEATS any is as good. */
static bool read_count(struct translation *t, int *count)
{
    const char *begin = t->at;
    for (*count = 0; t->at < t->end && is_digit(*t->at); t->at++)
        *count = *count > MOST_REPEATS ? *count : 10 * *count + (*t->at - '0');
    return t->at > begin && (*begin != '0' || t->at == begin + 1);
}

/* Behind {: a count, a least count, or both; without them it is a character. *IS_COUNTED says
   which. */
static enum amp_status copy_counts(struct translation *t, bool *is_counted)
{
    const char *begin = t->at;
    int least, most;
    *is_counted = read_count(t, &least);
    bool has_comma = *is_counted && accept(t, ","), is_open = has_comma && is_left(t, "}");
    most = least;
    if (has_comma && !is_open)
        *is_counted = read_count(t, &most);
    *is_counted = *is_counted && accept(t, "}");
    if (!*is_counted) {
        t->at = begin;
        put_code(t, '{');
        return AMP_OK;
    }
    if (most < least)
        return fail(t, "counts out of order");
    t->to += is_open ? sprintf(t->to, "{%d,}", least) : sprintf(t->to, "{%d,%d}", least, most);
    return repeat(t, most > 0 ? most : 1);
}

/* A sign for a repetition. PCRE2's matcher counts the characters that "+" repeats, and follows each
   count as a way of its own; groups it does not count. */
static enum amp_status copy_sign(struct translation *t)
{
    char sign = *t->at++;
    if (sign == '+' && t->atom != NULL) {
        memmove(t->atom + 3, t->atom, (size_t)(t->to - t->atom));
        memcpy(t->atom, "(?:", 3);
        t->to += 3;
        *t->to++ = ')';
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a NULL atom says nothing of to */
    *t->to++ = sign;
    return repeat(t, 1);
}

/* ---- the whole */

/* Behind \Q: characters up to \E or the end. */
static void copy_quotation(struct translation *t)
{
    while (t->at < t->end && !accept(t, "\\E")) {
        t->atom = t->to;
        put_code(t, amp_utf8_next(&t->at, t->end));
    }
}

/* Assertions that both have; in groups, as PCRE2 lets only those be repeated. */
static bool copy_assertion(struct translation *t)
{
    static const char *const assertions[] = {"^", "\\A", "\\z", "\\b", "\\B"};
    if (accept(t, "$")) {
        put(t, t->levels[t->depth].is_multiline ? "(?:$)" : "(?:\\z)");
        return true;
    }
    for (size_t i = 0; i < AMP_COUNT(assertions); i++) {
        if (!accept(t, assertions[i]))
            continue;
        t->to += sprintf(t->to, "(?:%s)", assertions[i]);
        return true;
    }
    return false;
}

/* What matches one character, or none at all. */
static enum amp_status copy_atom(struct translation *t)
{
    const struct class *class;
    int32_t code;
    if (copy_assertion(t))
        return AMP_OK;
    if (accept(t, "."))
        put(t, ".");
    else if (accept(t, "["))
        return copy_class(t);
    else if (accept(t, "\\Q"))
        copy_quotation(t);
    else if (accept(t, "\\p") || accept(t, "\\P"))
        return copy_property(t);
    else if ((class = find_class(t)) != NULL)
        put(t, class->alone);
    else {
        AMP_TRY(read_character(t, &code));
        put_code(t, code);
    }
    return AMP_OK;
}

static enum amp_status copy_item(struct translation *t)
{
    t->item = t->at;
    if (is_left(t, "*") || is_left(t, "+") || is_left(t, "?"))
        return copy_sign(t);
    char *begin = t->to;
    if (accept(t, "{")) {
        bool is_counted;
        AMP_TRY(copy_counts(t, &is_counted));
        if (is_counted)
            return AMP_OK;
        t->last = 1;
        t->atom = begin;
    } else if (accept(t, "(")) {
        t->last = 0;
        AMP_TRY(copy_open(t));
    } else if (accept(t, ")")) {
        AMP_TRY(copy_close(t));
        t->atom = NULL;
    } else if (accept(t, "|")) {
        put(t, "|");
        t->last = 0;
    } else {
        t->atom = begin;
        t->last = 1;
        AMP_TRY(copy_atom(t));
    }
    t->was_repetition = false;
    return AMP_OK;
}

static enum amp_status copy_items(struct translation *t)
{
    put(t, "\\A(?:");
    while (t->at < t->end)
        AMP_TRY(copy_item(t));
    put(t, ")\\z");
    t->item = t->at;
    return t->depth > 0 ? fail(t, "a group has no end") : AMP_OK;
}

/* The position of the first byte that is no UTF-8; the pattern's length when there is none. */
static size_t find_invalid(const struct translation *t)
{
    for (const char *at = t->at; at < t->end;) {
        const char *begin = at;
        if (amp_utf8_next(&at, t->end) == AMP_UTF8_INVALID)
            return (size_t)(begin - t->at);
    }
    return t->pattern.size;
}

enum amp_status amp_regex_translate(struct amp_str pattern, char **translated,
                                    struct amp_error *err)
{
    const char *begin = pattern.size > 0 ? pattern.data : "";
    struct translation t = {.pattern = {begin, pattern.size},
                            .at = begin,
                            .end = begin + pattern.size,
                            .levels = {{.repeats = 1}},
                            .err = err};
    size_t valid = find_invalid(&t);
    if (valid < pattern.size)
        return amp_fail(err, AMP_MODEL, "the pattern is not UTF-8 at byte %zu", valid);
    *translated = amp_xmalloc(pattern.size * GROWTH + FRAME, 1);
    t.to = *translated;
    enum amp_status status = copy_items(&t);
    *t.to = '\0';
    if (status != AMP_OK) {
        free(*translated);
        *translated = NULL;
    }
    return status;
}
