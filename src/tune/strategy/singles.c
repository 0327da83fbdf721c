/*
 * Ranks by leaving one out: takes a search, gives its units in the order of what each gains alone.
 * All of it comes from evaluations, nothing from predictions.
 */
#include "tune/strategy/singles.h"

#include "tune/strategy/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A unit with the trial that kept it alone. */
struct single {
    uint32_t unit;
    const struct amp_trial *trial;
};

/* What nobody can tell anything of comes last. */
static double score_of(const struct amp_trial *trial)
{
    return trial->verdict == AMP_TRIAL_UNSURE || isnan(trial->score) ? -INFINITY : trial->score;
}

static double power_of(const struct amp_trial *trial)
{
    return trial->verdict == AMP_TRIAL_UNSURE || isnan(trial->measured) ? INFINITY
                                                                        : trial->measured;
}

/* For qsort: the best first. */
static int compare(const void *first, const void *second)
{
    const struct single *a = first, *b = second;
    double score_a = score_of(a->trial), score_b = score_of(b->trial);
    double power_a = power_of(a->trial), power_b = power_of(b->trial);
    if (score_a != score_b)
        return score_a > score_b ? -1 : 1;
    if (power_a != power_b)
        return power_a < power_b ? -1 : 1;
    return a->unit < b->unit ? -1 : 1;
}

/* Runs the next units, from FIRST on; adds what was found to FOUND, of *N. */
static enum amp_status run_next(struct amp_batch *batch, uint32_t first, struct single *found,
                                size_t *n, struct amp_error *err)
{
    bool is_over;
    size_t n_units = batch->search->problem->n_units;
    bool *none = amp_xcalloc(n_units, sizeof *none);
    batch->n = 0;
    for (uint32_t i = first; i < n_units && batch->n < batch->most; i++)
        amp_batch_add(batch, none)[i] = true;
    free(none);
    AMP_TRY(amp_batch_run(batch, "single", &is_over, err));
    for (uint32_t i = 0; i < batch->n; i++)
        if (batch->found[i] != NULL)
            found[(*n)++] = (struct single){.unit = first + i, .trial = batch->found[i]};
    return AMP_OK;
}

enum amp_status amp_singles_rank(struct amp_search *search, bool ends_when_met,
                                 struct amp_singles *singles, struct amp_error *err)
{
    struct amp_arena *arena = search->trials->arena;
    struct amp_batch batch = amp_batch_create(search);
    size_t n_units = search->problem->n_units, n = 0;
    struct single *found = amp_arena_array(arena, n_units, sizeof *found);
    *singles = (struct amp_singles){.units = amp_arena_array(arena, n_units, sizeof(uint32_t))};
    for (uint32_t first = 0; first < n_units && n == first;) {
        size_t old = n;
        AMP_TRY(run_next(&batch, first, found, &n, err));
        for (; old < n; old++)
            singles->has_met |= amp_trial_is_met(found[old].trial);
        if (ends_when_met && singles->has_met)
            break;
        first += (uint32_t)batch.n;
    }
    qsort(found, n, sizeof *found, compare);
    for (size_t i = 0; i < n; i++)
        singles->units[i] = found[i].unit;
    singles->n = n;
    return AMP_OK;
}

/* Whether one of the batch met. */
static bool has_met(const struct amp_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        if (amp_trial_is_met(batch->found[i]))
            return true;
    return false;
}

enum amp_status amp_singles_add_up(struct amp_search *search, const struct amp_singles *singles,
                                   struct amp_error *err)
{
    struct amp_batch batch = amp_batch_create(search);
    bool is_over = false;
    bool *keeps = amp_arena_array(search->trials->arena, search->problem->n_units, sizeof *keeps);
    for (size_t i = 0; i < singles->n && !is_over && !has_met(&batch);) {
        batch.n = 0;
        for (; i < singles->n && batch.n < batch.most; i++) {
            keeps[singles->units[i]] = true;
            amp_batch_add(&batch, keeps);
        }
        AMP_TRY(amp_batch_run(&batch, "accumulate", &is_over, err));
    }
    return AMP_OK;
}
