/*
 * The strategy of the tools that rank by leaving one out (AIMET, NNCF): takes a search, runs each
 * unit in float32 alone, then units together, the best first, until the criterion holds.
 */
#include "tune/search.h"

#include "tune/strategy/batch.h"
#include "tune/strategy/singles.h"

static enum amp_status run(struct amp_search *search, struct amp_error *err)
{
    struct amp_trial *low;
    struct amp_singles singles;
    const bool *none =
        amp_arena_array(search->trials->arena, search->problem->n_units, sizeof *none);
    AMP_TRY(amp_trials_run(search->trials, none, "all low", &low, err));
    if (low != NULL && !amp_trial_is_met(low)) {
        AMP_TRY(amp_singles_rank(search, false, &singles, err));
        AMP_TRY(amp_singles_add_up(search, &singles, err));
    }
    search->is_minimal = amp_trials_best_is_minimal(search->trials);
    return AMP_OK;
}

const struct amp_strategy amp_strategy_greedy = {
    .name = "greedy",
    .text = "each unit alone, then together, the best first (as AIMET and NNCF do)",
    .run = run,
};
