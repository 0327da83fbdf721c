/*
 * The search with noise that is put right by trials: takes a search with an answer, gives it
 * cheaper ones.
 */
#include "tune/strategy/refine.h"

#include "tune/path.h"
#include "tune/strategy/batch.h"

#include <math.h>
#include <string.h>

enum {
    SWEEPS = 40,      /* over trials, of a fit */
    VISITS = 800,     /* to trials, where there are more than so many sweeps allow */
    MISSES_MAX = 8,   /* rounds in a row without a better answer */
    RESERVED_PART = 5 /* of the evaluations: one in so many is left */
};

static const double relaxation = 0.5; /* of each step of a fit */
static const double step_db = 0.2;    /* by which the budget shrinks with each miss */
static const double loss_gap = 0.005; /* of the loss: what is not worth an evaluation */

struct refine {
    struct amp_search *search;
    struct amp_problem problem; /* with the noise that was fitted */
    struct amp_batch batch;
    bool *keeps; /* of the candidate at hand */
};

static bool tells(const struct amp_trial *trial)
{
    return isfinite(trial->measured) && trial->measured > 0 && trial->verdict != AMP_TRIAL_UNSURE;
}

bool amp_refine_applies(const struct amp_search *search)
{
    const struct amp_trial *best = search->trials->best;
    return search->budget > 0 && isfinite(search->budget) && best != NULL && tells(best);
}

/* ---- the fit --------------------------------------------------------------------------------- */

/* Scales the noise that was there in TRIAL towards what it came to. */
static void fit_trial(struct amp_problem *problem, const struct amp_trial *trial)
{
    double power = amp_problem_power(problem, trial->keeps);
    if (!tells(trial) || !(power > 0))
        return;
    double factor = pow(trial->measured / power, relaxation);
    for (size_t i = 0; i < problem->n_noises; i++) {
        struct amp_problem_noise *noise = &problem->noises[i];
        if (!trial->keeps[noise->a] || !trial->keeps[noise->b])
            noise->power *= factor;
    }
}

void amp_refine_fit(const struct amp_search *search, struct amp_problem *fitted)
{
    const struct amp_problem *found = search->problem;
    const struct amp_trials *trials = search->trials;
    memcpy(fitted->noises, found->noises, found->n_noises * sizeof *found->noises);
    size_t sweeps = trials->count * SWEEPS <= VISITS ? SWEEPS : VISITS / trials->count + 1;
    for (size_t sweep = 0; sweep < sweeps; sweep++)
        for (size_t i = 0; i < trials->count; i++)
            fit_trial(fitted, trials->items[i]);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Fills the batch with new choices that are better than the answer by the fit, each MARGIN dB and
   more below the budget. */
static void propose(struct refine *refine, double margin)
{
    struct amp_search *search = refine->search;
    struct amp_path *path = amp_path_create(&refine->problem);
    double most = search->trials->best->loss;
    refine->batch.n = 0;
    most -= loss_gap * fabs(most);
    for (size_t i = 0; i < MISSES_MAX + refine->batch.most; i++) {
        double db = margin + step_db * (double)i;
        amp_path_within(path, search->budget * pow(10, -db / 10), refine->keeps);
        if (amp_problem_loss(search->problem, refine->keeps) > most ||
            refine->batch.n == refine->batch.most)
            break;
        if (amp_trials_find(search->trials, refine->keeps) == NULL &&
            !amp_batch_has(&refine->batch, refine->keeps))
            amp_batch_add(&refine->batch, refine->keeps);
    }
    amp_path_destroy(path);
}

static bool is_left(const struct amp_trials *trials)
{
    return trials->most == 0 || trials->count + trials->most / RESERVED_PART < trials->most;
}

enum amp_status amp_refine_run(struct amp_search *search, struct amp_error *err)
{
    struct amp_arena *arena = search->trials->arena;
    struct refine refine = {
        .search = search, .problem = *search->problem, .batch = amp_batch_create(search)};
    if (!amp_refine_applies(search))
        return AMP_OK;
    refine.keeps = amp_arena_array(arena, search->problem->n_units, sizeof *refine.keeps);
    refine.problem.noises =
        amp_arena_array(arena, search->problem->n_noises, sizeof *refine.problem.noises);
    bool is_over = false;
    for (int misses = 0; misses < MISSES_MAX && !is_over && is_left(search->trials);) {
        const struct amp_trial *best = search->trials->best;
        amp_refine_fit(search, &refine.problem);
        propose(&refine, step_db * misses);
        if (refine.batch.n == 0)
            break;
        AMP_TRY(amp_batch_run(&refine.batch, "refine", &is_over, err));
        misses = search->trials->best != best ? 0 : misses + 1;
    }
    return AMP_OK;
}
