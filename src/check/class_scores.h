#ifndef AMP_CHECK_CLASS_SCORES_H
#define AMP_CHECK_CLASS_SCORES_H

#include "core/graph/graph.h"

/* A tensor as rows of class scores; the N_CLASSES scores of a row lie next to each other. */
struct amp_class_scores {
    size_t rows, n_classes;
};

/* Whether TENSOR looks like class scores, which *SCORES describes then: a float type, and, without
   trailing dims of 1 beyond the second, rank 2 or 3 and a last dim of 2 to 100000. */
bool amp_class_scores_view(const struct amp_tensor *tensor, struct amp_class_scores *scores);

/*
 * Whether OUTPUT, which looks like class scores, holds some: what value VALUE of MODEL was in a
 * run. They are made by a product with weights, which a constant may be added to, and may have
 * become probabilities: the first row adds up to 1, or its exponentials do. What a normalization, a
 * recurrent layer or a pooling gives are features, which have the same form.
 */
bool amp_class_scores_are(const struct amp_model *model, uint32_t value,
                          const struct amp_tensor *output);

/* The index of the greatest score of ROW, the first of equals; a NaN is never the greatest; -1 when
   all are NaN. */
int64_t amp_class_scores_top(const struct amp_tensor *tensor, const struct amp_class_scores *scores,
                             size_t row);

/* How many classes of ROW come before CLASS when the greatest score is first, of equal ones the
   first: 0 where CLASS is the top. N_CLASSES for a class that is not there or whose score is NaN.
 */
size_t amp_class_scores_rank(const struct amp_tensor *tensor, const struct amp_class_scores *scores,
                             size_t row, int64_t class);

/* Whether the class that CONVERTED puts first in ROW is one of those that REFERENCE puts first, or
   both rows are all NaN. SCORES describes both tensors. */
bool amp_class_scores_agree(const struct amp_tensor *reference, const struct amp_tensor *converted,
                            const struct amp_class_scores *scores, size_t row);

#endif
