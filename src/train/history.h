#ifndef AMP_TRAIN_HISTORY_H
#define AMP_TRAIN_HISTORY_H

#include <stddef.h>

struct amp_trainer;

/* A number that each step gives out. */
struct amp_train_series {
    const char *name; /* as logs call it: amp_grad_scaler_word */
    size_t output;    /* of the step */
    double *values;   /* per step */
};

/* What steps of training gave out: the outputs of the algorithm that are single numbers of a float
   type, as the first step has them. Begins zeroed. */
struct amp_train_history {
    struct amp_train_series *series;
    size_t n_series;
    size_t n_steps, capacity;
    double seconds;    /* of the steps alone */
    size_t peak_bytes; /* the most that was claimed in a step, beyond what was before the first */
};

/* Adds the step that TRAINER ran last, which took SECONDS. A value that is no single number any
   more is NaN. */
void amp_train_history_add(struct amp_train_history *history, const struct amp_trainer *trainer,
                           double seconds);
void amp_train_history_free(struct amp_train_history *history);

/* Value of SERIES at the last step, of which there must be one. */
double amp_train_history_last(const struct amp_train_history *history, size_t series);

/* The series called NAME; NULL: there is none. */
const struct amp_train_series *amp_train_history_find(const struct amp_train_history *history,
                                                      const char *name);

#endif
