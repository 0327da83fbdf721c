/*
 * The search along a path: takes a path of choices and the trial of its beginning, runs those
 * choices that tell most of where the criterion begins to hold. A choice is asked for by a budget
 * of predicted power, in dB; where runs tell powers, what they differ from their prediction
 * corrects the next budget; where they do not, budgets halve what the choices differ in loss.
 */
#include "tune/strategy/bracket.h"

#include "tune/strategy/batch.h"
#include "tune/strategy/refine.h"

#include <math.h>

static const double narrow = 0.01;   /* dB: budgets that are taken for the same */
static const double loss_gap = 0.02; /* of the loss: what is not worth an evaluation */
static const double error_most = 20; /* dB that a prediction is believed to be off */
static const double step_most = 30;  /* dB of a step where nothing is known */
static const double span = 4;        /* dB around a guess in which others are tried beside it */

struct bracket {
    struct amp_search *search;
    struct amp_path *path;
    struct amp_batch batch;
    double *asked;              /* the budgets of the batch, dB */
    double low, high;           /* dB: at LOW it holds, or the path ends; at HIGH it does not */
    double low_loss, high_loss; /* of the choices there */
    const struct amp_trial *met, *missed; /* their trials; MET NULL: none has met */
    size_t n_misses;                      /* since the beginning, or the last that met */
    bool *keeps;                          /* of the last choice */
};

double amp_power_db(double power)
{
    return 10 * log10(power);
}

/* Sets KEEPS to the choice at the budget DB; returns its loss. */
static double choose(struct bracket *bracket, double db)
{
    amp_path_within(bracket->path, pow(10, db / 10), bracket->keeps);
    return amp_problem_loss(bracket->search->problem, bracket->keeps);
}

/* Takes in what TRIAL says of the budget ASKED. */
static void learn(struct bracket *bracket, double asked, const struct amp_trial *trial)
{
    double power = amp_power_db(trial->power);
    if (trial->verdict == AMP_TRIAL_MET) {
        if (asked < bracket->low)
            return;
        bracket->low = asked;
        bracket->low_loss = trial->loss;
        bracket->met = trial;
        bracket->n_misses = 0;
        return;
    }
    bracket->n_misses++;
    double edge = power > bracket->low ? power : asked;
    if (edge < bracket->low || edge >= bracket->high)
        return;
    bracket->high = edge;
    bracket->high_loss = trial->loss;
    bracket->missed = trial;
}

/* ---- what to ask for ------------------------------------------------------------------------- */

/* By how many dB TRIAL came out above its prediction; NaN: no power tells. */
static double error_of(const struct amp_trial *trial)
{
    double error = amp_power_db(trial->measured) - amp_power_db(trial->power);
    return isfinite(error) ? fmin(fmax(error, -error_most), error_most) : NAN;
}

/* The budget that the powers of the trials speak for; NaN: they do not. Each miss in a row takes a
   larger step towards the end of the path. */
static double guess(const struct bracket *bracket)
{
    double target = amp_power_db(bracket->search->budget), error = error_of(bracket->missed);
    if (bracket->met != NULL) /* from one that met on, refining is nearer */
        return NAN;
    if (isnan(error) && bracket->n_misses > 0)
        return NAN;
    double wanted = target - (isnan(error) ? 0 : error);
    if (bracket->n_misses > 0)
        wanted -= ldexp(1, (int)fmin((double)bracket->n_misses, 10) - 1);
    return wanted < bracket->high ? fmax(wanted, bracket->low) : NAN;
}

/* The budget whose choice lies in the middle of the bracket: of its losses, and at the beginning,
   when even the order of what is wanted is unknown, of its powers. */
static double middle(struct bracket *bracket)
{
    double low = bracket->low, high = bracket->high;
    double wanted = (bracket->low_loss + bracket->high_loss) / 2;
    double near = fabs(bracket->low_loss - bracket->high_loss) / 10;
    if (bracket->met == NULL && bracket->n_misses == 0)
        return fmax((low + high) / 2, high - step_most);
    for (int i = 0; i < 12; i++) {
        double db = (low + high) / 2, loss = choose(bracket, db);
        if (fabs(loss - wanted) <= near)
            return db;
        if (loss > wanted)
            low = db;
        else
            high = db;
    }
    return (low + high) / 2;
}

/* Adds the choice at the budget DB to the batch, unless it is there or has been run; what is known
   of it narrows the bracket. */
static void ask(struct bracket *bracket, double db)
{
    struct amp_batch *batch = &bracket->batch;
    choose(bracket, db);
    const struct amp_trial *trial = amp_trials_find(bracket->search->trials, bracket->keeps);
    if (trial != NULL)
        learn(bracket, db, trial);
    else if (!amp_batch_has(batch, bracket->keeps)) {
        bracket->asked[batch->n] = db;
        amp_batch_add(batch, bracket->keeps);
    }
}

/* Fills the batch: with the best guess, then with budgets around it. It stays empty when there is
   no choice left in the bracket that has not been run. */
static void plan(struct bracket *bracket)
{
    struct amp_batch *batch = &bracket->batch;
    double first = guess(bracket), from = bracket->low, to = bracket->high;
    size_t n = batch->most;
    batch->n = 0;
    if (!isnan(first)) {
        from = fmax(from, first - span);
        to = fmin(to, first + span);
    }
    ask(bracket, isnan(first) ? middle(bracket) : first);
    for (size_t i = 1; i < n && batch->n < n; i++)
        ask(bracket, from + (to - from) * (double)i / (double)n);
    while (batch->n == 0 && bracket->high - bracket->low > narrow)
        ask(bracket, (bracket->low + bracket->high) / 2);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Whether another evaluation along the path is not worth while. */
static bool is_closed(const struct bracket *bracket)
{
    const struct amp_trials *trials = bracket->search->trials;
    double gap = bracket->low_loss - bracket->high_loss;
    if (!(bracket->high - bracket->low > narrow))
        return true;
    if (bracket->met == NULL)
        return trials->most > 0 && trials->count + 2 >= trials->most;
    return amp_refine_applies(bracket->search) || gap <= loss_gap * fabs(bracket->low_loss) ||
           (trials->most > 0 && 2 * trials->count >= trials->most);
}

/* Takes in what the batch came to: what met first, so that a miss at a smaller budget says nothing
   where the criterion does not follow the power. */
static void learn_all(struct bracket *bracket)
{
    for (int is_met = 1; is_met >= 0; is_met--)
        for (size_t i = 0; i < bracket->batch.n; i++) {
            const struct amp_trial *trial = bracket->batch.found[i];
            if (trial != NULL && amp_trial_is_met(trial) == is_met)
                learn(bracket, bracket->asked[i], trial);
        }
}

/* The least power above 0 that a choice can have, about: what the path's end may leave. */
static double least_power(const struct amp_problem *problem, const bool *keeps)
{
    double least = amp_problem_power(problem, keeps);
    if (least > 0)
        return least;
    least = INFINITY;
    for (size_t i = 0; i < problem->n_noises; i++)
        if (problem->noises[i].power > 0)
            least = fmin(least, problem->noises[i].power);
    return least / 2;
}

enum amp_status amp_bracket_close(struct amp_search *search, struct amp_path *path,
                                  const struct amp_trial *low, struct amp_error *err)
{
    struct amp_arena *arena = search->trials->arena;
    struct bracket bracket = {
        .search = search,
        .path = path,
        .batch = amp_batch_create(search),
        .high = amp_power_db(low->power),
        .high_loss = low->loss,
        .missed = low,
        .keeps = amp_arena_array(arena, search->problem->n_units, sizeof *bracket.keeps),
    };
    bracket.asked = amp_arena_array(arena, bracket.batch.most, sizeof *bracket.asked);
    amp_path_at(path, INFINITY, bracket.keeps);
    bracket.low = amp_power_db(least_power(search->problem, bracket.keeps));
    bracket.low_loss = amp_problem_loss(search->problem, bracket.keeps);
    while (!is_closed(&bracket)) {
        bool is_over;
        plan(&bracket);
        if (bracket.batch.n == 0)
            break;
        AMP_TRY(amp_batch_run(&bracket.batch, "bracket", &is_over, err));
        learn_all(&bracket);
        if (is_over)
            break;
    }
    return AMP_OK;
}
