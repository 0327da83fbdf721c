/*
 * What a search came to: sums over it that reports show, and its end.
 */
#include "tune/tuning.h"

void amp_tuning_free(struct amp_tuning *tuning)
{
    amp_trials_close(&tuning->previews);
    amp_trials_close(&tuning->trials);
    amp_costs_free(&tuning->costs);
    if (tuning->arena != NULL)
        amp_arena_destroy(tuning->arena);
    *tuning = (struct amp_tuning){.arena = NULL};
}

double amp_tuning_most_loss(const struct amp_tuning *tuning)
{
    double loss = 0;
    for (size_t u = 0; u < tuning->problem->n_units; u++)
        loss += tuning->problem->units[u].loss;
    return loss;
}
