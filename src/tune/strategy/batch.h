#ifndef AMP_TUNE_STRATEGY_BATCH_H
#define AMP_TUNE_STRATEGY_BATCH_H

#include "tune/search.h"

/* Candidates that are run together: as many as are worth while at once. */
struct amp_batch {
    struct amp_search *search;
    bool **keeps;             /* of the candidates */
    struct amp_trial **found; /* of those that were run; NULL where no evaluation was left */
    size_t n, most;
};

/* An empty batch for SEARCH, in the arena of its trials. */
struct amp_batch amp_batch_create(struct amp_search *search);

/* Adds a candidate, which is KEEPS; returns the batch's copy, for changes. There is room. */
bool *amp_batch_add(struct amp_batch *batch, const bool *keeps);

/* Whether KEEPS is in the batch. */
bool amp_batch_has(const struct amp_batch *batch, const bool *keeps);

/* Runs the candidates and sets FOUND; *IS_OVER gets whether there was an evaluation for each no
   more. The batch is full until N is set to 0. */
enum amp_status amp_batch_run(struct amp_batch *batch, const char *phase, bool *is_over,
                              struct amp_error *err);

/* Whether TRIAL, which may be NULL, met the criterion. */
bool amp_trial_is_met(const struct amp_trial *trial);

#endif
