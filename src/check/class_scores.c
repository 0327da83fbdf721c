/*
 * Outputs of classifiers. Takes a tensor, tells by its type and shape whether it may hold a row of
 * scores per sample, by what made it whether it does, and finds the class with the greatest score
 * in a row.
 */
#include "check/class_scores.h"

#include "ops/op.h"

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

/* The input of NODE that its output is but for the order of elements, a cast or the addition of a
   constant; AMP_NONE when it has none. */
static uint32_t passed_on(const struct amp_model *model, const struct amp_node *node,
                          const struct amp_op *op)
{
    bool adds = op->role == AMP_ROLE_ADD;
    if (op->effect == AMP_PRESERVES_VALUES || op->role == AMP_ROLE_CAST)
        return node->n_inputs > 0 ? node->inputs[0] : AMP_NONE;
    for (uint32_t i = 0; adds && i < 2; i++)
        if (amp_value_at(model, node->inputs[i])->constant != NULL ||
            amp_value_at(model, node->inputs[i])->initial != NULL)
            return node->inputs[1 - i];
    return AMP_NONE;
}

/* Whether VALUE comes out of a product with weights. */
static bool is_product(const struct amp_model *model, uint32_t value)
{
    while (value != AMP_NONE && amp_value_at(model, value)->producer != AMP_NONE) {
        const struct amp_node *node = amp_node_at(model, amp_value_at(model, value)->producer);
        const struct amp_op *op = amp_op_of(node);
        if (op == NULL)
            return false;
        if (op->linear != NULL && op->flops.count != NULL)
            return true;
        value = passed_on(model, node, op);
    }
    return false;
}

/* Whether the first row of OUTPUT are probabilities, or their logarithms. */
static bool are_probabilities(const struct amp_tensor *output, size_t n_classes)
{
    static const double nearly = 0.02; /* what rounding to bfloat16 may come to */
    double sum = 0, sum_exp = 0, least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n_classes; i++) {
        double score = amp_tensor_double(output, i);
        sum += score;
        sum_exp += exp(score);
        least = fmin(least, score);
        most = fmax(most, score);
    }
    return (least >= 0 && fabs(sum - 1) < nearly) || (most <= 0 && fabs(sum_exp - 1) < nearly);
}

bool amp_class_scores_are(const struct amp_model *model, uint32_t value,
                          const struct amp_tensor *output)
{
    struct amp_class_scores scores;
    if (amp_tensor_is_list(output) || !amp_class_scores_view(output, &scores))
        return false;
    return is_product(model, value) ||
           (scores.rows > 0 && are_probabilities(output, scores.n_classes));
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
    bool is_there = (uint64_t) class < scores->n_classes; /* none below 0 is */
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
