/*
 * Task accuracy: class scores against labels, row by row over any number of samples.
 */
#include "check/accuracy.h"

#include "check/metrics.h"
#include "core/graph/graph.h"

enum amp_status amp_accuracy_add(struct amp_accuracy *accuracy, const struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    struct amp_class_view view;
    size_t n_labels = amp_tensor_count(accuracy->labels);
    if (!amp_class_view(tensor, &view))
        return amp_fail(err, AMP_MODEL, "not class scores: a float type, [..., classes] is needed");
    if (view.rows > n_labels - accuracy->rows)
        return amp_fail(err, AMP_MODEL, "%zu labels; the samples have %llu rows of scores or more",
                        n_labels, (unsigned long long)accuracy->rows + view.rows);
    for (size_t row = 0; row < view.rows; row++) {
        int64_t label = amp_tensor_int(accuracy->labels, accuracy->rows + row);
        accuracy->right += amp_class_top(tensor, &view, row) == label;
    }
    accuracy->rows += view.rows;
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

uint32_t amp_find_scores(const struct amp_tensor *outputs, size_t count)
{
    struct amp_class_view view;
    for (uint32_t i = 0; i < count; i++)
        if (amp_class_view(&outputs[i], &view))
            return i;
    return AMP_NONE;
}
