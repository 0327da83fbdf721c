#ifndef AMP_CORE_MATCH_ERE_H
#define AMP_CORE_MATCH_ERE_H

struct amp_arena;
struct amp_automaton;

enum {
    AMP_ERE_BYTES = 2000, /* of an expression */
    AMP_ERE_CODE = 8000,  /* instructions, with its repetitions written out */
    AMP_ERE_DEPTH = 100   /* groups in groups */
};

/*
 * Makes *AUTOMATON, in ARENA, of a POSIX extended regular expression, which is to match names as a
 * whole. Returns NULL, or in ARENA what is wrong with TEXT: "a ( without its ), at character 3;
 * accepted: ...". What POSIX leaves undefined is refused (\d, +?, { as a character,
 * back-references), but for empty groups and alternatives, which match nothing's width, and {,n},
 * which is {0,n}.
 */
const char *amp_ere_compile(struct amp_arena *arena, const char *text,
                            struct amp_automaton *automaton);

#endif
