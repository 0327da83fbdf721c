/*
 * Outputs of classifiers. Takes a tensor, tells by its type and shape whether it holds a row of
 * scores per sample, and finds the class with the greatest score in a row. A tensor of that form
 * that holds something else is taken for scores.
 */
#include "check/class_scores.h"

#include "core/graph/graph.h"

#include <math.h>

bool amp_class_scores_view(const struct amp_tensor *tensor, struct amp_class_scores *scores)
{
    enum { CLASSES_MIN = 2, CLASSES_MAX = 100000 };
    int rank = tensor->shape.rank;
    while (rank > 2 && tensor->shape.dims[rank - 1] == 1)
        rank--;
    if (amp_dtype_class(tensor->dtype) != AMP_CLASS_FLOAT || rank < 2 || rank > 3)
        return false;
    int64_t n_classes = tensor->shape.dims[rank - 1];
    if (n_classes < CLASSES_MIN || n_classes > CLASSES_MAX)
        return false;
    scores->n_classes = (size_t)n_classes;
    scores->rows = amp_tensor_count(tensor) / scores->n_classes;
    return true;
}

uint32_t amp_class_scores_find(const struct amp_tensor *tensors, size_t count)
{
    struct amp_class_scores scores;
    for (uint32_t i = 0; i < count; i++)
        if (amp_class_scores_view(&tensors[i], &scores))
            return i;
    return AMP_NONE;
}

int64_t amp_class_scores_top(const struct amp_tensor *tensor, const struct amp_class_scores *scores,
                             size_t row)
{
    int64_t top = -1;
    double greatest = -INFINITY;
    for (size_t i = 0; i < scores->n_classes; i++) {
        double score = amp_tensor_double(tensor, row * scores->n_classes + i);
        if (score > greatest || (top < 0 && score == greatest)) {
            greatest = score;
            top = (int64_t)i;
        }
    }
    return top;
}

size_t amp_class_scores_rank(const struct amp_tensor *tensor, const struct amp_class_scores *scores,
                             size_t row, int64_t class)
{
    size_t first = row * scores->n_classes, rank = 0;
    bool is_there = class >= 0 && (uint64_t) class < scores->n_classes;
    double own = is_there ? amp_tensor_double(tensor, first + (size_t) class) : NAN;
    if (isnan(own))
        return scores->n_classes;
    for (size_t i = 0; i < scores->n_classes; i++) {
        double score = amp_tensor_double(tensor, first + i);
        rank += score > own || (score == own && (int64_t)i < class);
    }
    return rank;
}

bool amp_class_scores_agree(const struct amp_tensor *reference, const struct amp_tensor *converted,
                            const struct amp_class_scores *scores, size_t row)
{
    int64_t wanted = amp_class_scores_top(reference, scores, row);
    int64_t got = amp_class_scores_top(converted, scores, row);
    if (wanted < 0 || got < 0)
        return wanted == got;
    size_t first = row * scores->n_classes;
    return amp_tensor_double(reference, first + (size_t)wanted) ==
           amp_tensor_double(reference, first + (size_t)got);
}
