#ifndef AMP_CORE_MATCH_AUTOMATON_H
#define AMP_CORE_MATCH_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amp_arena;

/*
 * Programs that match whole names, made by core/match/glob.h and core/match/ere.h. A name is UTF-8,
 * whatever the user's locale is; a byte that is none counts as a character of its own. All ways
 * through a program are followed side by side, a character at a time, so that a match takes at most
 * the name's length times the program's, and no more memory than the program has instructions.
 */

enum amp_instruction_kind {
    AMP_MATCH_CODE,  /* the character A */
    AMP_MATCH_ANY,   /* any character */
    AMP_MATCH_SET,   /* one of the set of index A */
    AMP_MATCH_SPLIT, /* go on A and B instructions further */
    AMP_MATCH_JUMP,  /* go on A instructions further */
    AMP_MATCH_START, /* nothing, at the name's start */
    AMP_MATCH_END    /* nothing, at its end */
};

struct amp_instruction {
    enum amp_instruction_kind kind;
    int32_t a, b;
};

struct amp_code_range {
    int32_t first, last;
};

struct amp_code_set {
    bool is_negated;
    struct amp_code_range *ranges;
    size_t count, capacity;
};

/* Reaching the end of CODE at the end of the name is a match. The arrays of one with counts of 0
   are used again for the next. */
struct amp_automaton {
    struct amp_instruction *code;
    size_t count, capacity;
    struct amp_code_set *sets;
    size_t n_sets, sets_capacity;
};

/* Gives the character at *TEXT, which is before END, and steps behind it: a code point, or a number
   beyond all code points for a byte that is no UTF-8. */
int32_t amp_automaton_next(const char **text, const char *end);

/* ---- making */

/* Appends INSTRUCTION. ARENA must be the same in all calls for an automaton. */
void amp_automaton_add(struct amp_arena *arena, struct amp_automaton *automaton,
                       struct amp_instruction instruction);
/* Inserts INSTRUCTION before the one of index AT; no instruction before it may lead behind it. */
void amp_automaton_insert(struct amp_arena *arena, struct amp_automaton *automaton, size_t at,
                          struct amp_instruction instruction);
/* Appends the AMP_MATCH_SET of a new, empty set, which comes back; it may move when the next one is
   added. */
struct amp_code_set *amp_automaton_add_set(struct amp_arena *arena,
                                           struct amp_automaton *automaton);
/* Adds the characters FIRST to LAST to SET. */
void amp_code_set_add(struct amp_arena *arena, struct amp_code_set *set, int32_t first,
                      int32_t last);
/* Adds the members of POSIX's class of that name (alpha, digit, ...) among ASCII; false when there
   is none. */
bool amp_code_set_add_class(struct amp_arena *arena, struct amp_code_set *set, const char *name,
                            size_t size);

/* The texts that every name which AUTOMATON matches has in it, in this order, none overlapping:
   COUNT of them in ARENA, each terminated, one behind the other. */
const char *amp_automaton_parts(struct amp_arena *arena, const struct amp_automaton *automaton,
                                size_t *count);

/* ---- matching */

/* Working memory for any number of matches, and how much work they were. All zero is ready. */
struct amp_matcher {
    uint64_t steps; /* instructions and ranges looked at so far */
    uint64_t limit; /* beyond it, nothing matches any more */
    uint32_t *seen; /* per instruction: the number of the round that it was last reached in */
    uint32_t *stack, *now, *next; /* instructions */
    size_t capacity, n_now, n_next;
    uint32_t round;
};

/* Whether AUTOMATON matches the SIZE bytes at NAME as a whole. */
bool amp_automaton_match(const struct amp_automaton *automaton, const char *name, size_t size,
                         struct amp_matcher *matcher);
/* Frees the memory of MATCHER, which keeps its steps and its limit. */
void amp_matcher_free(struct amp_matcher *matcher);

#endif
