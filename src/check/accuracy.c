/*
 * Task accuracy: takes class scores and labels, row by row over any number of samples, counts the
 * rows whose greatest score is at the label. Assumes that the rows come in the order of the labels.
 */
#include "check/accuracy.h"

#include "check/class_scores.h"

enum amp_status amp_accuracy_add(struct amp_accuracy *accuracy, const struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    struct amp_class_scores scores;
    size_t n_labels = amp_tensor_count(accuracy->labels);
    if (!amp_class_scores_view(tensor, &scores))
        return amp_fail(err, AMP_MODEL, "not class scores: a float type, [..., classes] is needed");
    if (scores.rows > n_labels - accuracy->rows)
        return amp_fail(err, AMP_MODEL, "%zu labels; the samples have %llu rows of scores or more",
                        n_labels, (unsigned long long)accuracy->rows + scores.rows);
    for (size_t row = 0; row < scores.rows; row++) {
        int64_t label = amp_tensor_int(accuracy->labels, accuracy->rows + row);
        accuracy->right += amp_class_scores_top(tensor, &scores, row) == label;
    }
    accuracy->rows += scores.rows;
    return AMP_OK;
}

enum amp_status amp_accuracy_check(const struct amp_accuracy *accuracy, struct amp_error *err)
{
    size_t n_labels = amp_tensor_count(accuracy->labels);
    if (accuracy->rows == n_labels)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL, "%zu labels; the samples have %llu rows of scores", n_labels,
                    (unsigned long long)accuracy->rows);
}
