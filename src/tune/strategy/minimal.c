/*
 * What is known of an answer: takes the trials of a search, says whether all neighbours of the
 * answer are among those that missed. Runs nothing.
 */
#include "tune/strategy/minimal.h"

#include <stdlib.h>
#include <string.h>

bool amp_minimal_is_known(const struct amp_search *search)
{
    size_t n = search->problem->n_units;
    const struct amp_trial *best = search->trials->best;
    if (best == NULL)
        return false;
    bool is_known = true, *keeps = amp_xmalloc(n, sizeof *keeps);
    memcpy(keeps, best->keeps, n * sizeof *keeps);
    for (uint32_t i = 0; i < n && is_known; i++) {
        if (!best->keeps[i] || amp_problem_is_implied(search->problem, best->keeps, i))
            continue;
        keeps[i] = false;
        const struct amp_trial *without = amp_trials_find(search->trials, keeps);
        is_known = without != NULL && without->verdict == AMP_TRIAL_MISSED;
        keeps[i] = true;
    }
    free(keeps);
    return is_known;
}
