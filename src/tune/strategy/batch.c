/*
 * Candidates side by side: takes choices, gives their trials. A runner that works on one candidate
 * after the other gets batches of one, so that each result can change what is tried next.
 */
#include "tune/strategy/batch.h"

#include <string.h>

struct amp_batch amp_batch_create(struct amp_search *search)
{
    struct amp_trials *trials = search->trials;
    size_t n_jobs = trials->runner.n_jobs, most = n_jobs > 1 ? n_jobs : 1;
    struct amp_batch batch = {
        .search = search,
        .most = most,
        .keeps = amp_arena_array(trials->arena, most, sizeof *batch.keeps),
        .found = amp_arena_array(trials->arena, most, sizeof *batch.found),
    };
    for (size_t i = 0; i < most; i++)
        batch.keeps[i] =
            amp_arena_array(trials->arena, search->problem->n_units, sizeof *batch.keeps[i]);
    return batch;
}

bool *amp_batch_add(struct amp_batch *batch, const bool *keeps)
{
    bool *copy = batch->keeps[batch->n++];
    memcpy(copy, keeps, batch->search->problem->n_units * sizeof *copy);
    return copy;
}

bool amp_batch_has(const struct amp_batch *batch, const bool *keeps)
{
    size_t size = batch->search->problem->n_units * sizeof *keeps;
    for (size_t i = 0; i < batch->n; i++)
        if (memcmp(batch->keeps[i], keeps, size) == 0)
            return true;
    return false;
}

enum amp_status amp_batch_run(struct amp_batch *batch, const char *phase, bool *is_over,
                              struct amp_error *err)
{
    *is_over = false;
    const struct amp_candidates candidates = {batch->keeps, batch->n, batch->found};
    AMP_TRY(amp_trials_run_all(batch->search->trials, &candidates, phase, err));
    for (size_t i = 0; i < batch->n; i++)
        *is_over |= batch->found[i] == NULL;
    return AMP_OK;
}

bool amp_trial_is_met(const struct amp_trial *trial)
{
    return trial != NULL && trial->verdict == AMP_TRIAL_MET;
}
