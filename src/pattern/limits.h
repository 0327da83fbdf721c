#ifndef AMP_PATTERN_LIMITS_H
#define AMP_PATTERN_LIMITS_H

/* The most that a pattern may have of each; the parser refuses more. */
enum {
    AMP_PATTERN_VALUES = 16, /* named values */
    AMP_TERM_ITEMS = 8,      /* arguments, alternatives or conditions of one expression */
    AMP_CONDITION_ITEMS = 8  /* numbers in the list of a condition: axes=[2, 3] has two */
};

#endif
