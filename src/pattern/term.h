#ifndef AMP_PATTERN_TERM_H
#define AMP_PATTERN_TERM_H

#include "pattern/pattern.h"

/* Private to onnx/pattern*.c: compiled patterns. */

enum amp_term_kind { AMP_TERM_VALUE, AMP_TERM_NUMBER, AMP_TERM_NODE, AMP_TERM_ALTERNATIVES };

/* The most arguments, alternatives, conditions and items of a list in a pattern. */
enum { AMP_TERM_ITEMS = 8 };

/* Letters of axes. */
enum { AMP_AXES_LETTERS = 26 };

struct amp_model_place {
    const struct amp_model *model;
    uint32_t node; /* that uses the value */
};

/* Whether VALUE, an input of the node, is of a kind. */
typedef bool amp_kind_test(const struct amp_model_place *place, uint32_t value);
amp_kind_test *amp_kind_find(const char *name); /* NULL: no such kind */

/* Axes as a set: sorted, from the front where the rank is known. */
struct amp_axes {
    int count;
    int64_t items[AMP_RANK_MAX];
};

enum amp_condition_kind {
    AMP_CONDITION_LAST,
    AMP_CONDITION_TRAILING,
    AMP_CONDITION_INNER,
    AMP_CONDITION_ALL,
    AMP_CONDITION_SWAPPED,
    AMP_CONDITION_EPS,
    AMP_CONDITION_LETTER,
    AMP_CONDITION_NUMBERS,
    AMP_CONDITION_TEXT
};

struct amp_condition {
    const char *name;
    enum amp_condition_kind kind;
    int letter;
    const char *text;
    size_t n_numbers;
    double numbers[AMP_TERM_ITEMS];
};

struct amp_term {
    enum amp_term_kind kind;
    const char *op;      /* AMP_TERM_NODE */
    double number;       /* AMP_TERM_NUMBER */
    int slot;            /* AMP_TERM_VALUE; -1: unnamed */
    amp_kind_test *test; /* AMP_TERM_VALUE; NULL: any */
    bool repeats;        /* AMP_TERM_NODE: the last argument stands for one or more inputs */
    size_t n_items, n_conditions;
    struct amp_term *items[AMP_TERM_ITEMS]; /* arguments or alternatives */
    struct amp_condition conditions[AMP_TERM_ITEMS];
};

struct amp_pattern {
    const struct amp_term *root;
    const char *names[AMP_PATTERN_VALUES];
    const struct amp_term *definitions[AMP_PATTERN_VALUES]; /* NULL: a name without one */
    int n_names;
    const char *roots[AMP_TERM_ITEMS];
    size_t n_roots;
};

/* The constant behind value ID, also through Cast, CastLike and Identity; NULL when there is none
   or its data are not known. */
const struct amp_tensor *amp_pattern_constant(const struct amp_model *model, uint32_t id);

/* Whether CONDITION holds for NODE. AXES are the letters' axes, BOUND the mask of those that are
   known, to which the condition may add its own. */
bool amp_condition_holds(const struct amp_model *model, uint32_t node,
                         const struct amp_condition *condition, struct amp_axes *axes,
                         uint32_t *bound);

/* Whether a constant, which may be NULL, is one element: *NUMBER; and EXPECTED, to four digits. */
bool amp_pattern_number(const struct amp_tensor *constant, double *number);
bool amp_pattern_is_number(const struct amp_tensor *constant, double expected);

#endif
