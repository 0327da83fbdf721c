#ifndef AMP_PATTERN_CONDITION_H
#define AMP_PATTERN_CONDITION_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/* The most numbers in the list of a condition: axes=[2, 3] has two. */
enum { AMP_CONDITION_ITEMS = 8 };

/* What the word behind '=' stands for; pattern/pattern.h says what each means. */
enum amp_condition_kind {
    AMP_CONDITION_LAST,
    AMP_CONDITION_TRAILING,
    AMP_CONDITION_INNER,
    AMP_CONDITION_ALL,
    AMP_CONDITION_SWAPPED,
    AMP_CONDITION_SAME,
    AMP_CONDITION_EPS,
    AMP_CONDITION_LETTER,
    AMP_CONDITION_NUMBERS,
    AMP_CONDITION_TEXT
};

/* A condition on a node, "axes=last". */
struct amp_condition {
    const char *name; /* of the attribute, or of the input that has taken its place */
    enum amp_condition_kind kind;
    int letter;       /* AMP_CONDITION_LETTER: 0 for A, 25 for Z */
    const char *text; /* AMP_CONDITION_TEXT */
    size_t n_numbers; /* AMP_CONDITION_NUMBERS */
    double numbers[AMP_CONDITION_ITEMS];
};

/* A set of axes: sorted, counted from the front where the rank is known. */
struct amp_axes {
    int count;
    int64_t items[AMP_RANK_MAX];
};

/* The axes that the letters of a pattern stand for in the match so far. */
struct amp_axes_letters {
    struct amp_axes axes[26];
    uint32_t known; /* a bit per letter: its axes are known */
};

/* Whether CONDITION holds for node ID of MODEL. A letter that is not known in LETTERS yet gets the
   node's axes; one that is known must have the same. */
bool amp_condition_holds(const struct amp_model *model, uint32_t id,
                         const struct amp_condition *condition, struct amp_axes_letters *letters);

#endif
