#ifndef AMP_PATTERN_TERM_H
#define AMP_PATTERN_TERM_H

#include "pattern/condition.h"
#include "pattern/kind.h"

/* The most that a pattern may have of each; the parser refuses more. */
enum {
    AMP_PATTERN_VALUES = 16, /* named values */
    AMP_TERM_ITEMS = 8       /* arguments, alternatives or conditions of one expression */
};

/* Private to pattern.c, which compiles patterns, and matcher.c, which matches them: the compiled
   form. */

enum amp_term_kind { AMP_TERM_VALUE, AMP_TERM_NUMBER, AMP_TERM_NODE, AMP_TERM_ALTERNATIVES };

/* One expression of a pattern. */
struct amp_term {
    enum amp_term_kind kind;
    const char *op;         /* AMP_TERM_NODE: the operator, of ai.onnx */
    double number;          /* AMP_TERM_NUMBER */
    int value;              /* AMP_TERM_VALUE: index in the pattern's names; -1: unnamed */
    amp_pattern_kind *test; /* AMP_TERM_VALUE; NULL: any kind */
    bool repeats;           /* AMP_TERM_NODE: the last argument stands for one or more inputs */
    size_t n_items, n_conditions;
    struct amp_term *items[AMP_TERM_ITEMS]; /* arguments or alternatives */
    struct amp_condition conditions[AMP_TERM_ITEMS];
};

struct amp_pattern {
    const struct amp_term *root; /* the expression of the output */
    const char *names[AMP_PATTERN_VALUES];
    const struct amp_term *definitions[AMP_PATTERN_VALUES]; /* per name; NULL: it has none */
    int n_names;
    const char *roots[AMP_TERM_ITEMS]; /* the operators that the output may be of */
    size_t n_roots;
};

#endif
