/*
 * Patterns over names: takes globs and regular expressions of rules, gives what matches names. A
 * pattern is compiled once; what all patterns of a list may come to, and what matching them may
 * take, is bounded. Names that are written out are looked up.
 */
#include "autocast/rules/name_pattern.h"

#include "core/arena.h"
#include "core/hash.h"
#include "core/match/ere.h"
#include "core/match/glob.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 8, /* patterns that are as well compared one by one */
    STEPS_OF_PATTERN = 2,
    STEPS_OF_PART = 5,
    BYTES_A_STEP = 16 /* that are compared in the time of a step */
};

struct amp_rule_name amp_rule_name(const char *text)
{
    size_t size = strlen(text);
    return (struct amp_rule_name){text, size, amp_hash_keyed(text, size)};
}

struct amp_rule_work *amp_rule_work_create(struct amp_arena *arena)
{
    struct amp_rule_work *work = amp_arena_alloc(arena, sizeof *work);
    work->matcher.limit = AMP_RULE_STEPS_MAX;
    return work;
}

void amp_rule_work_free(struct amp_rule_work *work)
{
    amp_matcher_free(&work->matcher);
    free(work->names);
    work->names = NULL;
    work->names_capacity = 0;
}

bool amp_rule_work_is_over(const struct amp_rule_work *work)
{
    return work->matcher.steps > work->matcher.limit;
}

/* ---- making ---- */

/* What the draft has come to, as an automaton of its own. */
static const struct amp_automaton *keep_draft(struct amp_arena *arena,
                                              const struct amp_automaton *draft)
{
    struct amp_automaton kept = {.count = draft->count, .n_sets = draft->n_sets};
    kept.code = amp_arena_memdup(arena, draft->code, draft->count * sizeof *draft->code);
    kept.sets = amp_arena_memdup(arena, draft->sets, draft->n_sets * sizeof *draft->sets);
    return amp_arena_memdup(arena, &kept, sizeof kept);
}

static const char *keep_pattern(struct amp_rules *rules, struct amp_rule_pattern *pattern)
{
    struct amp_rule_work *work = rules->work;
    work->n_code += work->draft.count;
    if (work->n_code > AMP_RULE_CODE_MAX)
        return amp_arena_printf(rules->arena,
                                "with this one, the patterns come to more than %d characters and "
                                "operators; accepted: fewer or shorter patterns",
                                AMP_RULE_CODE_MAX);
    pattern->automaton = keep_draft(rules->arena, &work->draft);
    pattern->parts = amp_automaton_parts(rules->arena, pattern->automaton, &pattern->n_parts);
    return NULL;
}

static void begin_draft(struct amp_rules *rules, const char *text, struct amp_rule_pattern *pattern)
{
    rules->work->draft.count = rules->work->draft.n_sets = 0;
    pattern->text = amp_arena_strdup(rules->arena, text);
    pattern->hash = amp_hash_keyed(text, strlen(text));
}

const char *amp_rule_pattern_glob(struct amp_rules *rules, const char *text,
                                  struct amp_rule_pattern *pattern)
{
    begin_draft(rules, text, pattern);
    pattern->is_glob = true;
    pattern->prefix = amp_glob_prefix(text);
    if (text[pattern->prefix] == '\0')
        return NULL;
    amp_glob_compile(rules->arena, text, &rules->work->draft);
    return keep_pattern(rules, pattern);
}

const char *amp_rule_pattern_regex(struct amp_rules *rules, const char *text,
                                   struct amp_rule_pattern *pattern)
{
    begin_draft(rules, text, pattern);
    const char *problem = amp_ere_compile(rules->arena, text, &rules->work->draft);
    if (problem != NULL)
        return amp_arena_printf(rules->arena, "'%.60s': %s", text, problem);
    return keep_pattern(rules, pattern);
}

struct amp_rule_patterns amp_rule_patterns_of(struct amp_arena *arena,
                                              struct amp_rule_pattern *items, size_t count)
{
    struct amp_rule_patterns patterns = {.items = items, .count = count};
    patterns.automata = amp_arena_array(arena, count, sizeof *patterns.automata);
    for (size_t i = 0; i < count; i++) {
        if (count > FEW)
            amp_strmap_put(&patterns.by_text, arena, items[i].text, (uint32_t)i);
        if (items[i].automaton != NULL)
            patterns.automata[patterns.n_automata++] = (uint32_t)i;
    }
    return patterns;
}

/* ---- matching ---- */

bool amp_rule_patterns_have(const struct amp_rule_patterns *patterns, const char *text,
                            uint32_t hash, struct amp_rule_work *work)
{
    work->matcher.steps += 1 + (patterns->by_text.capacity == 0 ? patterns->count : 0);
    if (patterns->by_text.capacity > 0)
        return amp_strmap_get_hashed(&patterns->by_text, text, hash, NULL);
    for (size_t i = 0; i < patterns->count; i++)
        if (patterns->items[i].hash == hash && strcmp(patterns->items[i].text, text) == 0)
            return true;
    return false;
}

/* Whether NAME has all parts that PATTERN asks for: most names that it does not match have not. */
static bool has_parts(const struct amp_rule_pattern *pattern, const struct amp_rule_name *name,
                      struct amp_rule_work *work)
{
    const char *at = name->text, *end = at + name->size, *part = pattern->parts;
    for (size_t i = 0; i < pattern->n_parts; i++) {
        size_t size = strlen(part);
        const char *found = memmem(at, (size_t)(end - at), part, size);
        work->matcher.steps += STEPS_OF_PART + (size_t)((found ? found : end) - at) / BYTES_A_STEP;
        if (found == NULL)
            return false;
        at = found + size;
        part += size + 1;
    }
    return true;
}

static bool pattern_matches(const struct amp_rule_pattern *pattern,
                            const struct amp_rule_name *name, struct amp_rule_work *work)
{
    work->matcher.steps += STEPS_OF_PATTERN + pattern->prefix / BYTES_A_STEP;
    if (pattern->prefix > name->size || memcmp(pattern->text, name->text, pattern->prefix) != 0)
        return false;
    return has_parts(pattern, name, work) &&
           amp_automaton_match(pattern->automaton, name->text, name->size, &work->matcher);
}

bool amp_rule_patterns_match(const struct amp_rule_patterns *patterns,
                             const struct amp_rule_name *name, struct amp_rule_work *work)
{
    if (patterns->count > 0 && patterns->items[0].is_glob &&
        amp_rule_patterns_have(patterns, name->text, name->hash, work))
        return true;
    for (size_t i = 0; i < patterns->n_automata && !amp_rule_work_is_over(work); i++)
        if (pattern_matches(&patterns->items[patterns->automata[i]], name, work))
            return true;
    return false;
}
