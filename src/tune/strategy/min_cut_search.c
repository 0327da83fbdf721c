/*
 * The default strategy: takes a search, ends with the cheapest choice that was seen to meet the
 * criterion. Cuts of the model of the noise say what to try; only what was run is an answer.
 */
#include "tune/search.h"

#include "tune/strategy/batch.h"
#include "tune/strategy/bracket.h"
#include "tune/strategy/cheaper.h"
#include "tune/strategy/preview.h"
#include "tune/strategy/refine.h"
#include "tune/strategy/shrink.h"

#include <math.h>
#include <string.h>

/* All low meets the criterion. Where float32 is the faster of both for some units, keeping those
   costs nothing and takes noise away. */
static enum amp_status take_least(struct amp_search *search, struct amp_path *path, bool *keeps,
                                  struct amp_error *err)
{
    struct amp_trial *trial;
    amp_path_at(path, 0, keeps);
    if (!(amp_problem_loss(search->problem, keeps) < search->trials->best->loss))
        return AMP_OK;
    return amp_trials_run(search->trials, keeps, "least loss", &trial, err);
}

/* Without an answer from previews: finds one by evaluations alone. */
static enum amp_status take_from_path(struct amp_search *search, struct amp_path *path,
                                      const struct amp_trial *low, struct amp_error *err)
{
    AMP_TRY(amp_bracket_close(search, path, low, err));
    return amp_refine_run(search, err);
}

/* Nothing on the path has met: tries its end, and all units when that is not enough or only one
   evaluation is left. */
static enum amp_status take_ends(struct amp_search *search, struct amp_path *path, bool *keeps,
                                 struct amp_error *err)
{
    struct amp_trial *trial;
    struct amp_trials *trials = search->trials;
    amp_path_at(path, INFINITY, keeps);
    if (trials->most == 0 || trials->count + 1 < trials->most)
        AMP_TRY(amp_trials_run(trials, keeps, "end of path", &trial, err));
    memset(keeps, true, search->problem->n_units * sizeof *keeps);
    return trials->best != NULL ? AMP_OK : amp_trials_run(trials, keeps, "all kept", &trial, err);
}

static enum amp_status find(struct amp_search *search, struct amp_path *path, struct amp_error *err)
{
    struct amp_trial *low;
    struct amp_trials *trials = search->trials;
    bool *keeps = amp_arena_array(trials->arena, search->problem->n_units, sizeof *keeps);
    AMP_TRY(amp_trials_run(trials, keeps, "all low", &low, err));
    if (low == NULL)
        return AMP_OK;
    if (amp_trial_is_met(low))
        return take_least(search, path, keeps, err);
    AMP_TRY(amp_preview_run(search, low, err));
    if (trials->best == NULL)
        AMP_TRY(take_from_path(search, path, low, err));
    if (trials->best == NULL)
        AMP_TRY(take_ends(search, path, keeps, err));
    if (trials->best == NULL)
        return AMP_OK;
    AMP_TRY(amp_shrink_chunks(search, err));
    AMP_TRY(amp_cheaper_run(search, path, err));
    return amp_shrink_singles(search, err);
}

static enum amp_status run(struct amp_search *search, struct amp_error *err)
{
    struct amp_path *path = amp_path_create(search->problem);
    enum amp_status status = find(search, path, err);
    amp_path_destroy(path);
    search->is_minimal = status == AMP_OK && amp_trials_best_is_minimal(search->trials);
    return status;
}

const struct amp_strategy amp_strategy_min_cut = {
    .name = "min-cut",
    .text = "minimum cuts of the noise, checked by runs, then shrunk [default]",
    .run = run,
};
