#ifndef AMP_CORE_MATCH_BRACKET_H
#define AMP_CORE_MATCH_BRACKET_H

struct amp_arena;
struct amp_automaton;

enum amp_bracket_problem {
    AMP_BRACKET_FINE,
    AMP_BRACKET_OPEN,    /* no ] */
    AMP_BRACKET_CLASS,   /* [: :] around what is no class */
    AMP_BRACKET_ELEMENT, /* [. .] or [= =] around what is not one character */
    AMP_BRACKET_RANGE    /* that ends before it begins or has a class for an end, or a stray - */
};

enum amp_bracket_syntax { AMP_BRACKET_ERE, AMP_BRACKET_GLOB };

/*
 * Appends the bracket expression whose [ is behind *AT and steps *AT behind its ]. Characters stand
 * in the order of their code points; classes are those of ASCII. In a glob, ! negates as ^ does, \
 * takes the meaning from the character after it, and a range that ends before it begins is empty;
 * in an expression \ is a character and such a range a problem.
 */
enum amp_bracket_problem amp_bracket_read(struct amp_arena *arena, struct amp_automaton *automaton,
                                          const char **at, const char *end,
                                          enum amp_bracket_syntax syntax);

#endif
