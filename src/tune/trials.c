/*
 * Trials of a search: takes candidates, gives what came of running them. Remembers each, so that
 * none is run twice, counts them and keeps the best. What the log of an interrupted search says of
 * a candidate counts as if it had been run now, so that a search goes the same way to the same end.
 */
#include "tune/trials.h"

#include "tune/trial_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void begin(struct amp_trials *trials)
{
    trials->arena = amp_arena_create();
    trials->items = NULL;
    trials->count = trials->capacity = trials->n_replayed = 0;
    trials->best = NULL;
    trials->log = NULL;
}

enum amp_status amp_trials_open(struct amp_trials *trials, struct amp_error *err)
{
    begin(trials);
    if (trials->log_path == NULL)
        return AMP_OK;
    return amp_trial_log_open(trials, &trials->log, err);
}

void amp_trials_open_previews(struct amp_trials *previews, const struct amp_trials *trials)
{
    begin(previews);
    previews->are_previews = true;
    previews->log = trials->log;
}

void amp_trials_close(struct amp_trials *trials)
{
    if (!trials->are_previews)
        amp_trial_log_close(trials->log);
    amp_arena_destroy(trials->arena);
    trials->log = NULL;
    trials->arena = NULL;
    trials->items = NULL;
    trials->best = NULL;
    trials->count = trials->capacity = 0;
}

bool amp_trials_recall(const struct amp_trials *trials, struct amp_problem *problem)
{
    return trials->log != NULL && amp_trial_log_recall(trials->log, problem);
}

enum amp_status amp_trials_predict(struct amp_trials *trials, struct amp_error *err)
{
    for (size_t i = 0; i < trials->count; i++) {
        struct amp_trial *trial = trials->items[i];
        trial->loss = amp_problem_loss(trials->problem, trial->keeps);
        trial->power = amp_problem_power(trials->problem, trial->keeps);
    }
    return trials->log == NULL ? AMP_OK : amp_trial_log_remember(trials->log, trials->problem, err);
}

bool amp_trials_left(const struct amp_trials *trials)
{
    return trials->most == 0 || trials->count < trials->most;
}

/* ---- what was run ---------------------------------------------------------------------------- */

/* KEEPS with the first steps that second ones include. */
static const bool *settle(const struct amp_trials *trials, const bool *keeps)
{
    const struct amp_problem *problem = trials->problem;
    if (!amp_problem_has_steps(problem))
        return keeps;
    bool *settled = amp_arena_memdup(trials->arena, keeps, problem->n_units * sizeof *keeps);
    for (uint32_t i = 0; i < problem->n_units; i++)
        settled[i] |= amp_problem_is_implied(problem, keeps, i);
    return settled;
}

struct amp_trial *amp_trials_find(const struct amp_trials *trials, const bool *choice)
{
    size_t n = trials->problem->n_units;
    const bool *keeps = settle(trials, choice);
    uint64_t hash = amp_problem_hash(keeps, n);
    for (size_t i = 0; i < trials->count; i++)
        if (trials->items[i]->hash == hash &&
            memcmp(trials->items[i]->keeps, keeps, n * sizeof *keeps) == 0)
            return trials->items[i];
    return NULL;
}

/* A new trial behind the others, with what the log says of it. */
static struct amp_trial *add(struct amp_trials *trials, const bool *choice, const char *phase)
{
    size_t n = trials->problem->n_units;
    const bool *keeps = settle(trials, choice);
    struct amp_trial *trial = amp_arena_alloc(trials->arena, sizeof *trial);
    *trial = (struct amp_trial){
        .number = trials->count,
        .is_preview = trials->are_previews,
        .phase = amp_arena_strdup(trials->arena, phase),
        .keeps = amp_arena_memdup(trials->arena, keeps, n * sizeof *keeps),
        .hash = amp_problem_hash(keeps, n),
        .loss = amp_problem_loss(trials->problem, keeps),
        .power = amp_problem_power(trials->problem, keeps),
        .measured = NAN,
        .score = NAN,
    };
    if (trials->log != NULL && amp_trial_log_replay(trials->log, trial))
        trials->n_replayed++;
    *(struct amp_trial **)amp_arena_push(trials->arena, &trials->items, &trials->count,
                                         &trials->capacity, sizeof(struct amp_trial *)) = trial;
    return trial;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Takes the trials that were not run out of those from FIRST on. */
static void drop_unrun(struct amp_trials *trials, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < trials->count; i++)
        if (trials->items[i]->verdict != AMP_TRIAL_NONE) {
            trials->items[kept] = trials->items[i];
            trials->items[kept]->number = kept;
            kept++;
        }
    trials->count = kept;
}

/* The best becomes the one of less loss that met; of equal ones the first. */
static void find_best(struct amp_trials *trials, size_t first)
{
    for (size_t i = first; i < trials->count; i++) {
        struct amp_trial *trial = trials->items[i];
        if (trial->verdict == AMP_TRIAL_MET &&
            (trials->best == NULL || trial->loss < trials->best->loss))
            trials->best = trial;
    }
}

static enum amp_status log_all(struct amp_trials *trials, struct amp_trial *const *ran, size_t n,
                               struct amp_error *err)
{
    for (size_t i = 0; trials->log != NULL && i < n; i++)
        if (ran[i]->verdict != AMP_TRIAL_NONE)
            AMP_TRY(amp_trial_log_append(trials->log, ran[i], err));
    return AMP_OK;
}

/* Runs those of the trials from FIRST on of which the log said nothing. When some fail, those that
   were run before count. */
static enum amp_status run_from(struct amp_trials *trials, size_t first, struct amp_error *err)
{
    size_t n = 0;
    const struct amp_trial_runner *runner = &trials->runner;
    struct amp_trial **unrun = amp_xcalloc(trials->count - first, sizeof *unrun);
    for (size_t i = first; i < trials->count; i++)
        if (trials->items[i]->verdict == AMP_TRIAL_NONE)
            unrun[n++] = trials->items[i];
    enum amp_status status = n == 0 ? AMP_OK : runner->run(runner->context, unrun, n, err);
    enum amp_status logged = log_all(trials, unrun, n, err);
    free(unrun);
    drop_unrun(trials, first);
    find_best(trials, first);
    return status != AMP_OK ? status : logged;
}

enum amp_status amp_trials_run(struct amp_trials *trials, const bool *keeps, const char *phase,
                               struct amp_trial **trial, struct amp_error *err)
{
    size_t first = trials->count;
    *trial = amp_trials_find(trials, keeps);
    if (*trial != NULL || !amp_trials_left(trials))
        return AMP_OK;
    *trial = add(trials, keeps, phase);
    return run_from(trials, first, err);
}

enum amp_status amp_trials_run_all(struct amp_trials *trials,
                                   const struct amp_candidates *candidates, const char *phase,
                                   struct amp_error *err)
{
    size_t first = trials->count;
    for (size_t i = 0; i < candidates->n; i++) {
        struct amp_trial **found = &candidates->found[i];
        *found = amp_trials_find(trials, candidates->keeps[i]);
        if (*found == NULL && amp_trials_left(trials))
            *found = add(trials, candidates->keeps[i], phase);
    }
    return first == trials->count ? AMP_OK : run_from(trials, first, err);
}

bool amp_trials_best_is_minimal(const struct amp_trials *trials)
{
    size_t n = trials->problem->n_units;
    const struct amp_trial *best = trials->best;
    if (best == NULL)
        return false;
    bool is_minimal = true, *keeps = amp_xmalloc(n, sizeof *keeps);
    memcpy(keeps, best->keeps, n * sizeof *keeps);
    for (uint32_t i = 0; i < n && is_minimal; i++) {
        if (!best->keeps[i] || amp_problem_is_implied(trials->problem, best->keeps, i))
            continue;
        keeps[i] = false;
        const struct amp_trial *without = amp_trials_find(trials, keeps);
        is_minimal = without != NULL && without->verdict == AMP_TRIAL_MISSED;
        keeps[i] = true;
    }
    free(keeps);
    return is_minimal;
}
