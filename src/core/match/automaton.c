/*
 * Programs that match whole names: puts them together and runs them as Thompson's simulation does,
 * with the set of all places that the name so far leads to. Nothing is ever tried twice at a place,
 * so that no pattern can make it backtrack; the work is counted. PCRE2's matcher without
 * backtracking will not do: it compares all places with each other, and its limits do not count
 * that (a pattern of 20 bytes takes it seconds for a name of 2000).
 */
#include "core/match/automaton.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTE = 0x110000 /* above all code points: stands for the byte 0 */ };

int32_t amp_automaton_next(const char **text, const char *end)
{
    unsigned char byte = (unsigned char)**text;
    int32_t code = amp_utf8_next(text, end);
    return code == AMP_UTF8_INVALID ? FIRST_BYTE + byte : code;
}

/* ---- making ---- */

void amp_automaton_add(struct amp_arena *arena, struct amp_automaton *automaton,
                       struct amp_instruction instruction)
{
    struct amp_instruction *slot = amp_arena_push(arena, &automaton->code, &automaton->count,
                                                  &automaton->capacity, sizeof *automaton->code);
    *slot = instruction;
}

void amp_automaton_insert(struct amp_arena *arena, struct amp_automaton *automaton, size_t at,
                          struct amp_instruction instruction)
{
    amp_automaton_add(arena, automaton, instruction);
    struct amp_instruction *place = automaton->code + at;
    memmove(place + 1, place, (automaton->count - 1 - at) * sizeof *place);
    *place = instruction;
}

struct amp_code_set *amp_automaton_add_set(struct amp_arena *arena, struct amp_automaton *automaton)
{
    int32_t index = (int32_t)automaton->n_sets;
    amp_automaton_add(arena, automaton, (struct amp_instruction){AMP_MATCH_SET, index, 0});
    struct amp_code_set *set = amp_arena_push(arena, &automaton->sets, &automaton->n_sets,
                                              &automaton->sets_capacity, sizeof *set);
    *set = (struct amp_code_set){.count = 0};
    return set;
}

void amp_code_set_add(struct amp_arena *arena, struct amp_code_set *set, int32_t first,
                      int32_t last)
{
    struct amp_code_range *slot =
        amp_arena_push(arena, &set->ranges, &set->count, &set->capacity, sizeof *set->ranges);
    *slot = (struct amp_code_range){first, last};
}

/* The classes of the POSIX locale; unused ranges are empty. */
static const struct {
    const char *name;
    struct amp_code_range ranges[4];
} classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {1, 0}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}, {1, 0}, {1, 0}}},
    {"blank", {{' ', ' '}, {'\t', '\t'}, {1, 0}, {1, 0}}},
    {"cntrl", {{0, 31}, {127, 127}, {1, 0}, {1, 0}}},
    {"digit", {{'0', '9'}, {1, 0}, {1, 0}, {1, 0}}},
    {"graph", {{'!', '~'}, {1, 0}, {1, 0}, {1, 0}}},
    {"lower", {{'a', 'z'}, {1, 0}, {1, 0}, {1, 0}}},
    {"print", {{' ', '~'}, {1, 0}, {1, 0}, {1, 0}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{' ', ' '}, {'\t', '\r'}, {1, 0}, {1, 0}}},
    {"upper", {{'A', 'Z'}, {1, 0}, {1, 0}, {1, 0}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}, {1, 0}}},
};

bool amp_code_set_add_class(struct amp_arena *arena, struct amp_code_set *set, const char *name,
                            size_t size)
{
    for (size_t i = 0; i < AMP_COUNT(classes); i++) {
        if (strlen(classes[i].name) != size || memcmp(classes[i].name, name, size) != 0)
            continue;
        for (size_t k = 0; k < AMP_COUNT(classes[i].ranges); k++)
            if (classes[i].ranges[k].first <= classes[i].ranges[k].last)
                amp_code_set_add(arena, set, classes[i].ranges[k].first, classes[i].ranges[k].last);
        return true;
    }
    return false;
}

/* Sets IS_PASSED_BY for the instructions that a way through CODE may leave out: those that a split
   or a jump leads over. */
static void find_passed_by(const struct amp_automaton *automaton, bool *is_passed_by)
{
    int64_t furthest = 0; /* that one so far leads to */
    for (size_t i = 0; i < automaton->count; i++) {
        const struct amp_instruction *at = &automaton->code[i];
        is_passed_by[i] = (int64_t)i < furthest;
        bool leads_on = at->kind == AMP_MATCH_SPLIT || at->kind == AMP_MATCH_JUMP;
        int64_t lead = at->b > at->a ? at->b : at->a; /* B of a jump is 0 */
        if (leads_on && (int64_t)i + lead > furthest)
            furthest = (int64_t)i + lead;
    }
}

static size_t put_character(int32_t code, char *text)
{
    if (code < FIRST_BYTE)
        return amp_utf8_put(code, text);
    *text = (char)(code - FIRST_BYTE);
    return 1;
}

/* An instruction that nothing leads over lies on all ways, so that characters which follow each
   other there are read one after the other. */
const char *amp_automaton_parts(struct amp_arena *arena, const struct amp_automaton *automaton,
                                size_t *count)
{
    bool *is_passed_by = amp_xcalloc(automaton->count, sizeof *is_passed_by);
    char *text = amp_arena_alloc(arena, automaton->count * AMP_UTF8_MAX + 1), *end = text;
    bool was_needed = false;
    find_passed_by(automaton, is_passed_by);
    *count = 0;
    for (size_t i = 0; i < automaton->count; i++) {
        bool is_needed = automaton->code[i].kind == AMP_MATCH_CODE && !is_passed_by[i];
        *count += is_needed && !was_needed;
        if (is_needed)
            end += put_character(automaton->code[i].a, end);
        else if (was_needed)
            *end++ = '\0';
        was_needed = is_needed;
    }
    free(is_passed_by);
    return text;
}

/* ---- matching ---- */

/* One name on its way through an automaton. */
struct run {
    const struct amp_automaton *automaton;
    struct amp_matcher *matcher;
    bool is_start, is_end; /* where in the name it is */
};

/* Each instruction is reached at most once in a round and puts at most two on the stack. The place
   behind the last instruction counts as one. */
static void reserve(struct amp_matcher *matcher, size_t count)
{
    if (count < matcher->capacity)
        return;
    amp_matcher_free(matcher);
    matcher->capacity = 2 * count + 64;
    matcher->seen = amp_xcalloc(matcher->capacity, sizeof *matcher->seen);
    matcher->stack = amp_xmalloc(2 * matcher->capacity, sizeof *matcher->stack);
    matcher->now = amp_xmalloc(matcher->capacity, sizeof *matcher->now);
    matcher->next = amp_xmalloc(matcher->capacity, sizeof *matcher->next);
}

void amp_matcher_free(struct amp_matcher *matcher)
{
    free(matcher->seen);
    free(matcher->stack);
    free(matcher->now);
    free(matcher->next);
    *matcher = (struct amp_matcher){.steps = matcher->steps, .limit = matcher->limit};
}

static void begin_round(struct amp_matcher *matcher)
{
    matcher->n_next = 0;
    if (++matcher->round != 0)
        return;
    memset(matcher->seen, 0, matcher->capacity * sizeof *matcher->seen);
    matcher->round = 1;
}

/* Puts the instructions on the stack to which the one at PC leads without a character; an
   instruction that wants a character, and the end, goes to the next places. */
static size_t step(struct run *run, uint32_t pc, size_t depth)
{
    struct amp_matcher *m = run->matcher;
    const struct amp_instruction *at = &run->automaton->code[pc];
    if (pc == run->automaton->count || at->kind <= AMP_MATCH_SET) {
        m->next[m->n_next++] = pc;
    } else if (at->kind == AMP_MATCH_SPLIT) {
        m->stack[depth++] = (uint32_t)((int32_t)pc + at->a);
        m->stack[depth++] = (uint32_t)((int32_t)pc + at->b);
    } else if (at->kind == AMP_MATCH_JUMP) {
        m->stack[depth++] = (uint32_t)((int32_t)pc + at->a);
    } else if (at->kind == AMP_MATCH_START ? run->is_start : run->is_end) {
        m->stack[depth++] = pc + 1;
    }
    return depth;
}

/* Adds the place PC, and all that it leads to without a character, to the next places. */
static void reach(struct run *run, uint32_t pc)
{
    struct amp_matcher *m = run->matcher;
    size_t depth = 0;
    m->stack[depth++] = pc;
    while (depth > 0) {
        uint32_t at = m->stack[--depth];
        m->steps++;
        if (m->seen[at] == m->round)
            continue;
        m->seen[at] = m->round;
        depth = step(run, at, depth);
    }
}

static bool is_in(const struct amp_code_set *set, int32_t code, struct amp_matcher *matcher)
{
    for (size_t i = 0; i < set->count; i++) {
        matcher->steps++;
        if (code >= set->ranges[i].first && code <= set->ranges[i].last)
            return !set->is_negated;
    }
    return set->is_negated;
}

static bool takes(const struct run *run, uint32_t pc, int32_t code)
{
    const struct amp_instruction *at = &run->automaton->code[pc];
    run->matcher->steps++;
    if (pc == run->automaton->count)
        return false;
    if (at->kind == AMP_MATCH_SET)
        return is_in(&run->automaton->sets[at->a], code, run->matcher);
    return at->kind == AMP_MATCH_ANY || at->a == code;
}

static void swap_places(struct amp_matcher *m)
{
    uint32_t *now = m->now;
    m->now = m->next;
    m->next = now;
    m->n_now = m->n_next;
}

bool amp_automaton_match(const struct amp_automaton *automaton, const char *name, size_t size,
                         struct amp_matcher *matcher)
{
    const char *at = name, *end = name + size;
    reserve(matcher, automaton->count + 1);
    struct run run = {automaton, matcher, true, size == 0};
    begin_round(matcher);
    reach(&run, 0);
    swap_places(matcher);
    while (at < end && matcher->n_now > 0 && matcher->steps <= matcher->limit) {
        int32_t code = amp_automaton_next(&at, end);
        run.is_start = false;
        run.is_end = at == end;
        begin_round(matcher);
        for (size_t i = 0; i < matcher->n_now; i++)
            if (takes(&run, matcher->now[i], code))
                reach(&run, matcher->now[i] + 1);
        swap_places(matcher);
    }
    /* Where no place was left before the end of the name, this one is none of the last round. */
    return matcher->steps <= matcher->limit && matcher->seen[automaton->count] == matcher->round;
}
