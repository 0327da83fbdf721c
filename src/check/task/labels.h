#ifndef AMP_CHECK_TASK_LABELS_H
#define AMP_CHECK_TASK_LABELS_H

#include "check/task/task_metrics.h"
#include "core/tensor.h"

/* What the samples should give, row by row over all of them, for one output: class numbers
   (integers of any shape) for rows of class scores, or targets (floats, [rows, ...]) for
   elements. */
struct amp_labels {
    const char *path;   /* where they are from, for messages */
    const char *output; /* the output that they are for; NULL: the first that they fit */
    struct amp_tensor tensor;
};

/* Whether LABELS are class numbers. */
bool amp_labels_are_classes(const struct amp_labels *labels);

/* The work of one model or two on labelled samples. Index 0: reference, 1: converted. */
struct amp_task {
    const struct amp_labels *labels; /* borrowed, while samples come */
    const char *path;                /* where they are from */
    const char *name;                /* the output; NULL: not known yet */
    uint32_t output;                 /* its position */
    struct amp_task_score scores[2];
    uint64_t used[2]; /* rows of labels whose scores came */
    bool is_outside;  /* of the bounds on task metrics */
    char reason[256];
};

/* Begins *TASK with LABELS, which must stay while samples come. AMP_MODEL for targets that are not
 * finite. */
enum amp_status amp_task_begin(struct amp_task *task, const struct amp_labels *labels,
                               struct amp_error *err);

/* What a model gave for a sample. */
struct amp_task_outputs {
    const struct amp_tensor *items;
    size_t count;
    const char *(*name_at)(const void *context, size_t i);
    const void *context;
};

/* Finds out which of OUTPUTS the labels are for, by its name or by fit: the first that looks like
   class scores, or whose shape targets have. AMP_MODEL when there is none. */
enum amp_status amp_task_choose(struct amp_task *task, const struct amp_task_outputs *outputs,
                                struct amp_error *err);

/* Adds the rows of the output in one sample of model SIDE. AMP_MODEL when it is not what the labels
   are for, or there are more rows than labels. */
enum amp_status amp_task_add(struct amp_task *task, int side, const struct amp_tensor *tensor,
                             struct amp_error *err);

/* AMP_MODEL unless every label had its row in model SIDE. */
enum amp_status amp_task_check(const struct amp_task *task, int side, struct amp_error *err);

#endif
