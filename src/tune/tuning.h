#ifndef AMP_TUNE_TUNING_H
#define AMP_TUNE_TUNING_H

#include "tune/costs.h"
#include "tune/search.h"

/* What came of a search, for reports. */
struct amp_tuning {
    struct amp_arena *arena;
    struct amp_problem *problem;
    const struct amp_strategy *strategy;
    struct amp_trials trials;   /* the first has all units low */
    struct amp_trials previews; /* none where the strategy has no use for them */
    struct amp_costs costs;
    double *removes;           /* per unit: the power of the noise that hangs on it */
    struct amp_trial *answer;  /* NULL: nothing met the criterion */
    struct amp_trial *nearest; /* where nothing did, the trial of the least error */
    double budget;     /* the power that the criterion comes to; NaN: it is on something else */
    bool is_minimal;   /* as in amp_search */
    size_t n_nodes;    /* of the main graph */
    double plain_runs; /* what finding the noise and previews cost, on one sample each */
    size_t n_preview_samples; /* that each preview ran on */
    double seconds;
};

void amp_tuning_free(struct amp_tuning *tuning); /* a zeroed one is fine */

/* What keeping all units in float32 would lose, in the unit of the costs. */
double amp_tuning_most_loss(const struct amp_tuning *tuning);

#endif
