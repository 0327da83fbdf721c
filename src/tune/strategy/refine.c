/*
 * The search with noise that is put right by trials: takes a search with an answer, gives it
 * cheaper ones.
 */
#include "tune/strategy/refine.h"

#include "tune/path.h"
#include "tune/strategy/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 40,      /* over trials, of a fit */
    VISITS = 800,     /* to trials, where there are more than so many sweeps allow */
    MISSES_MAX = 8,   /* rounds in a row without a better answer */
    RESERVED_PART = 5 /* of the evaluations: one in so many is left */
};

static const double unseen_part = 0.1; /* of the budget, over all units: what was not found */
static const double together = 0.05;   /* relative variance of a choice's power by its noise, */
static const double alone = 0.005;     /* and by what no other choice has in common with it */
static const double least_part = 0.05; /* of a noise that stays */
static const double relaxation = 0.5;  /* of each step of a fit */
static const double step_db = 0.2;     /* by which the budget shrinks with each miss */
static const double loss_gap = 0.005;  /* of the loss: what is not worth an evaluation */

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

/* Relative errors of the fit, by trial. */
struct errors {
    size_t n, n_noises;
    double *rows;     /* by trial, then by noise: how far that may be off, relative to the trial */
    double *products; /* of the rows, by two trials; then their root */
    double *weights;  /* by trial: the error; then what it comes to in each noise */
};

static struct errors begin_errors(size_t most, size_t n_noises)
{
    return (struct errors){.n_noises = n_noises,
                           .rows = amp_xcalloc(most + 1, (n_noises + 1) * sizeof(double)),
                           .products = amp_xcalloc(most + 1, (most + 1) * sizeof(double)),
                           .weights = amp_xcalloc(most + 1, sizeof(double))};
}

static void free_errors(struct errors *errors)
{
    free(errors->rows);
    free(errors->products);
    free(errors->weights);
}

/* By how much a noise may be off: small ones by more of themselves, as what is between two of them
   goes with the root of both. */
static double deviation(double power, double budget)
{
    return sqrt(together * power * budget);
}

static void add_error(struct errors *errors, const struct amp_problem *fitted,
                      const struct amp_trial *trial, double budget)
{
    double power = amp_problem_power(fitted, trial->keeps);
    double *row = errors->rows + errors->n * errors->n_noises;
    if (!tells(trial))
        return;
    for (size_t i = 0; i < fitted->n_noises; i++) {
        const struct amp_problem_noise *noise = &fitted->noises[i];
        bool is_there = !trial->keeps[noise->a] || !trial->keeps[noise->b];
        row[i] = is_there ? deviation(noise->power, budget) / trial->measured : 0;
    }
    errors->weights[errors->n++] = 1 - power / trial->measured;
}

static void multiply(struct errors *errors)
{
    for (size_t i = 0; i < errors->n; i++)
        for (size_t k = 0; k <= i; k++) {
            const double *a = errors->rows + i * errors->n_noises;
            const double *b = errors->rows + k * errors->n_noises;
            double sum = i == k ? alone : 0;
            for (size_t j = 0; j < errors->n_noises; j++)
                sum += a[j] * b[j];
            errors->products[i * errors->n + k] = sum;
        }
}

/* Makes PRODUCTS their lower triangular root (Cholesky). */
static void find_root(struct errors *errors)
{
    size_t n = errors->n;
    double *root = errors->products;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = root[i * n + k];
            for (size_t j = 0; j < k; j++)
                sum -= root[i * n + j] * root[k * n + j];
            root[i * n + k] = i == k ? sqrt(fmax(sum, alone)) : sum / root[k * n + k];
        }
}

/* Sets WEIGHTS to those by which the products come to them. */
static void solve(struct errors *errors)
{
    size_t n = errors->n;
    const double *root = errors->products;
    double *x = errors->weights;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= root[i * n + k] * x[k];
        x[i] /= root[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= root[k * n + i] * x[k];
        x[i] /= root[i * n + i];
    }
}

/* Moves each noise as far as the errors of all trials that have it in common speak for. */
static void correct(const struct amp_search *search, struct amp_problem *fitted)
{
    const struct amp_trials *trials = search->trials;
    struct errors errors = begin_errors(trials->count, fitted->n_noises);
    for (size_t i = 0; i < trials->count; i++)
        add_error(&errors, fitted, trials->items[i], search->budget);
    multiply(&errors);
    find_root(&errors);
    solve(&errors);
    for (size_t i = 0; i < fitted->n_noises; i++) {
        double *power = &fitted->noises[i].power, change = 0;
        for (size_t t = 0; t < errors.n; t++)
            change += errors.rows[t * errors.n_noises + i] * errors.weights[t];
        *power = fmax(*power + change * deviation(*power, search->budget), *power * least_part);
    }
    free_errors(&errors);
}

/* Sets the noise of FITTED to what was found, and a little of each unit by itself. */
static void begin_fit(const struct amp_search *search, struct amp_problem *fitted)
{
    const struct amp_problem *found = search->problem;
    double unseen = search->budget * unseen_part / (double)found->n_units;
    memcpy(fitted->noises, found->noises, found->n_noises * sizeof *found->noises);
    for (uint32_t unit = 0; unit < found->n_units; unit++)
        fitted->noises[found->n_noises + unit] = (struct amp_problem_noise){unit, unit, unseen};
    fitted->n_noises = found->n_noises + found->n_units;
}

void amp_refine_fit(const struct amp_search *search, struct amp_problem *fitted)
{
    const struct amp_trials *trials = search->trials;
    size_t sweeps = trials->count * SWEEPS <= VISITS ? SWEEPS : VISITS / trials->count + 1;
    begin_fit(search, fitted);
    for (size_t sweep = 0; sweep < sweeps; sweep++)
        for (size_t i = 0; i < trials->count; i++)
            fit_trial(fitted, trials->items[i]);
    correct(search, fitted);
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
    refine.problem.noises = amp_arena_array(
        arena, search->problem->n_noises + search->problem->n_units, sizeof *refine.problem.noises);
    for (int misses = 0; misses < MISSES_MAX && is_left(search->trials);) {
        bool is_over;
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
