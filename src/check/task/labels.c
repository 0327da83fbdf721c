/*
 * Labelled samples: takes what an output should be, row by row, and what a model gave, sample by
 * sample, and adds up what task metrics are computed from. Assumes that the rows come in the order
 * of the labels. Loads and judges nothing.
 */
#include "check/task/labels.h"

#include "check/class_scores.h"
#include "core/arena.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool amp_labels_are_classes(const struct amp_labels *labels)
{
    return amp_dtype_class(labels->tensor.dtype) != AMP_CLASS_FLOAT;
}

/* ---- targets --------------------------------------------------------------------------------- */

/* Elements in a row of targets: those that have the same first index. */
static size_t row_size(const struct amp_tensor *targets)
{
    size_t count = amp_tensor_count(targets);
    return count == 0 ? 1 : count / (size_t)targets->shape.dims[0];
}

/* The sum of (t - m)^2 over all targets t, m being the mean of their column. The mean is counted
   from the first row, so that it is exact where all are equal. */
static double spread_of(const struct amp_tensor *targets)
{
    size_t count = amp_tensor_count(targets), width = row_size(targets);
    size_t n_rows = count / width;
    double spread = 0, rows = (double)n_rows;
    double *means = amp_xcalloc(width, sizeof *means);
    for (size_t i = 0; i < count; i++)
        means[i % width] +=
            (amp_tensor_double(targets, i) - amp_tensor_double(targets, i % width)) / rows;
    for (size_t i = 0; i < count; i++) {
        double m = amp_tensor_double(targets, i % width) + means[i % width];
        double d = amp_tensor_double(targets, i) - m;
        spread += d * d;
    }
    free(means);
    return spread;
}

static enum amp_status check_targets(const struct amp_labels *labels, struct amp_error *err)
{
    if (labels->tensor.shape.rank < 1)
        return amp_fail(err, AMP_MODEL, "%s: targets of no dims; [rows, ...] is needed",
                        labels->path);
    for (size_t i = 0; i < amp_tensor_count(&labels->tensor); i++)
        if (!isfinite(amp_tensor_double(&labels->tensor, i)))
            return amp_fail(err, AMP_MODEL, "%s: target %zu is %g; finite numbers are needed",
                            labels->path, i, amp_tensor_double(&labels->tensor, i));
    return AMP_OK;
}

enum amp_status amp_task_begin(struct amp_task *task, const struct amp_labels *labels,
                               struct amp_error *err)
{
    *task = (struct amp_task){.labels = labels, .path = labels->path};
    if (amp_labels_are_classes(labels))
        return AMP_OK;
    AMP_TRY(check_targets(labels, err));
    task->scores[0].spread = task->scores[1].spread = spread_of(&labels->tensor);
    return AMP_OK;
}

/* Copies the dims of SHAPE from FROM on that are not 1 to TO; returns how many these are. */
static int dims_that_count(const struct amp_shape *shape, int from, int64_t *to)
{
    int count = 0;
    for (int i = from; i < shape->rank; i++)
        if (shape->dims[i] != 1)
            to[count++] = shape->dims[i];
    return count;
}

/* Whether a row of TARGETS is what OUTPUT has behind its dim FROM, dims of 1 apart. */
static bool has_rows_like(const struct amp_tensor *targets, const struct amp_tensor *output,
                          int from)
{
    int64_t a[AMP_RANK_MAX], b[AMP_RANK_MAX];
    int n = dims_that_count(&targets->shape, 1, a);
    return n == dims_that_count(&output->shape, from, b) &&
           memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Whether OUTPUT holds rows like those of TARGETS, or is one itself. */
static bool fits_targets(const struct amp_tensor *targets, const struct amp_tensor *output)
{
    if (amp_tensor_is_list(output) || amp_dtype_class(output->dtype) != AMP_CLASS_FLOAT)
        return false;
    return (output->shape.rank > 0 && has_rows_like(targets, output, 1)) ||
           has_rows_like(targets, output, 0);
}

/* ---- which output ---------------------------------------------------------------------------- */

static bool fits(const struct amp_labels *labels, const struct amp_tensor *output)
{
    struct amp_class_scores scores;
    if (!amp_labels_are_classes(labels))
        return fits_targets(&labels->tensor, output);
    return !amp_tensor_is_list(output) && amp_class_scores_view(output, &scores);
}

enum amp_status amp_task_choose(struct amp_task *task, const struct amp_task_outputs *outputs,
                                struct amp_error *err)
{
    const struct amp_labels *labels = task->labels;
    char shape[256];
    for (size_t i = 0; i < outputs->count && task->name == NULL; i++) {
        const char *name = outputs->name_at(outputs->context, i);
        bool is_meant = labels->output == NULL ? fits(labels, &outputs->items[i])
                                               : strcmp(labels->output, name) == 0;
        task->name = is_meant ? name : NULL;
        task->output = (uint32_t)i;
    }
    if (task->name != NULL)
        return AMP_OK;
    if (labels->output != NULL)
        return amp_fail(err, AMP_MODEL, "%s: no output '%s'", labels->path, labels->output);
    if (amp_labels_are_classes(labels))
        return amp_fail(err, AMP_MODEL, "no output looks like class scores for --labels");
    return amp_fail(err, AMP_MODEL,
                    "no output has rows like those of --labels %s, shape %s (class "
                    "numbers are integers)",
                    labels->path, amp_shape_text(&labels->tensor.shape, shape, sizeof shape));
}

/* ---- adding up ------------------------------------------------------------------------------- */

static enum amp_status add_classes(struct amp_task *task, int side, const struct amp_tensor *tensor,
                                   struct amp_error *err)
{
    enum { MANY = 5 };
    struct amp_class_scores scores;
    const struct amp_tensor *labels = &task->labels->tensor;
    struct amp_task_score *sum = &task->scores[side];
    size_t n_labels = amp_tensor_count(labels);
    if (amp_tensor_is_list(tensor) || !amp_class_scores_view(tensor, &scores))
        return amp_fail(err, AMP_MODEL,
                        "%s: output '%s' is not class scores: a float type, [..., classes] is "
                        "needed",
                        task->path, task->name);
    if (scores.rows > n_labels - task->used[side])
        return amp_fail(err, AMP_MODEL,
                        "%zu labels; the samples have %" PRIu64 " rows of scores "
                        "or more",
                        n_labels, task->used[side] + scores.rows);
    for (size_t row = 0; row < scores.rows; row++) {
        int64_t label = amp_tensor_int(labels, task->used[side] + row);
        size_t rank = amp_class_scores_rank(tensor, &scores, row, label);
        sum->right += rank == 0;
        sum->right_of_5 += scores.n_classes > MANY && rank < MANY;
    }
    sum->rows += scores.rows;
    sum->rows_of_many += scores.n_classes > MANY ? scores.rows : 0;
    task->used[side] += scores.rows;
    return AMP_OK;
}

static enum amp_status add_targets(struct amp_task *task, int side, const struct amp_tensor *tensor,
                                   struct amp_error *err)
{
    char text[256];
    const struct amp_tensor *targets = &task->labels->tensor;
    struct amp_task_score *sum = &task->scores[side];
    if (!fits_targets(targets, tensor))
        return amp_fail(err, AMP_MODEL, "%s: rows of another shape than those of output '%s', %s",
                        task->labels->path, task->name,
                        amp_shape_text(&tensor->shape, text, sizeof text));
    size_t count = amp_tensor_count(tensor), width = row_size(targets);
    size_t first = task->used[side] * width;
    if (count > amp_tensor_count(targets) - first)
        return amp_fail(err, AMP_MODEL, "%" PRId64 " rows of targets; the samples have %zu or more",
                        targets->shape.dims[0], (first + count) / width);
    for (size_t i = 0; i < count; i++) {
        double d = amp_tensor_double(tensor, i) - amp_tensor_double(targets, first + i);
        sum->squared += d * d;
        sum->absolute += fabs(d);
    }
    sum->count += count;
    task->used[side] += count / width;
    return AMP_OK;
}

enum amp_status amp_task_add(struct amp_task *task, int side, const struct amp_tensor *tensor,
                             struct amp_error *err)
{
    return amp_labels_are_classes(task->labels) ? add_classes(task, side, tensor, err)
                                                : add_targets(task, side, tensor, err);
}

enum amp_status amp_task_check(const struct amp_task *task, int side, struct amp_error *err)
{
    const struct amp_tensor *labels = &task->labels->tensor;
    size_t count = amp_tensor_count(labels);
    bool has_targets = !amp_labels_are_classes(task->labels);
    if (has_targets)
        count /= row_size(labels);
    if (task->used[side] == count)
        return AMP_OK;
    if (has_targets)
        return amp_fail(err, AMP_MODEL, "%zu rows of targets; the samples have %" PRIu64, count,
                        task->used[side]);
    return amp_fail(err, AMP_MODEL, "%zu labels; the samples have %" PRIu64 " rows of scores",
                    count, task->used[side]);
}
