/*
 * The search by previews: takes a search whose first trial missed, gives it an answer where it can.
 * A preview is a run with all roundings of a choice at once: errors add up otherwise in each, and
 * the sum of the sources does not say how. Only evaluations make answers.
 */
#include "tune/strategy/preview.h"

#include "tune/strategy/bracket.h"
#include "tune/strategy/refine.h"
#include "tune/ties.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 3,     /* that the previews are shared out to, with evaluations behind each */
    PATH_MAX = 20,  /* choices along the path in a round */
    MISSES_MAX = 8, /* of them in a row without a better one */
    WRONG_MAX = 4,  /* evaluations that missed, altogether */
    MET_MAX = 4,    /* choices that met the criterion, and others, that are changed */
    MISSED_MAX = 8,
    NEAR = 10, /* units of either kind that changes of several units are made of */
    UNITS_MAX = 3
};

static const double step_db = 0.2;         /* between choices along the path */
static const double first_spread = 0.7;    /* dB by which predictions stray, before it is known */
static const double first_count = 4;       /* predictions that this guess counts for */
static const double least_gain = 1e-6;     /* of the loss */
static const double least_power = 1e-300;  /* beside what any model has */
static const double power_is_not_it = 0.9; /* of the power, where another bound missed */

/* Units of a choice that was seen, to be changed. */
struct change {
    const struct amp_trial *from;
    uint32_t units[UNITS_MAX];
    size_t n;         /* 0: none */
    double db, worth; /* the power as predicted; the loss that may be expected to be saved */
};

struct ranked {
    uint32_t unit;
    double rank; /* the higher, the sooner */
};

struct ranking {
    struct ranked *items; /* room for all units */
    size_t n;
};

struct preview {
    struct amp_search *search, seen; /* seen: the search that the previews are of */
    struct amp_problem problem;      /* with the noise that was fitted to them */
    struct amp_ties *ties;           /* of that */
    double limit;                    /* power that may be seen where the criterion holds */
    const struct amp_trial *best;    /* the cheapest within LIMIT; NULL: none is */
    double errors, squares, count;   /* of predictions of changes, dB */
    struct ranking removed, added;   /* units of the choice that is changed, by what it is worth */
    bool *keeps;                     /* of the choice at hand */
    bool is_over;                    /* no preview is left */
    size_t n_wrong;
};

/* Whether TRIAL, a preview, speaks for its choice: a bound on the power may be another there. */
static bool is_within(const struct preview *preview, const struct amp_trial *trial)
{
    bool is_bound = trial->verdict == AMP_TRIAL_MET || trial->measured > preview->search->budget;
    return is_bound && trial->measured <= preview->limit;
}

static void find_best(struct preview *preview)
{
    const struct amp_trials *previews = preview->search->previews;
    preview->best = NULL;
    for (size_t i = 0; i < previews->count; i++)
        if (is_within(preview, previews->items[i]) &&
            (preview->best == NULL || previews->items[i]->loss < preview->best->loss))
            preview->best = previews->items[i];
}

/* Looks at the choice at hand. */
static enum amp_status look(struct preview *preview, const char *phase, struct amp_trial **trial,
                            struct amp_error *err)
{
    AMP_TRY(amp_trials_run(preview->search->previews, preview->keeps, phase, trial, err));
    preview->is_over = *trial == NULL;
    amp_refine_fit(&preview->seen, &preview->problem);
    find_best(preview);
    return AMP_OK;
}

/* ---- along the path -------------------------------------------------------------------------- */

/* Sets the choice at hand to one that was not seen on the path of the fitted noise, MARGIN dB and
   more below the limit. Returns whether there is one that is cheaper than the best. */
static bool propose(struct preview *preview, double margin)
{
    enum { STEPS = 16 };
    static const double growth = 1.5;
    struct amp_path *path = amp_path_create(&preview->problem);
    double most = preview->best != NULL ? preview->best->loss : INFINITY, step = step_db;
    bool is_new = false, is_end = false;
    for (int i = 0; i < STEPS && !is_new && !is_end; i++) {
        is_end = !amp_path_within(path, preview->limit * pow(10, -margin / 10), preview->keeps);
        if (amp_problem_loss(&preview->problem, preview->keeps) >= most)
            break;
        is_new = amp_trials_find(preview->search->previews, preview->keeps) == NULL;
        margin += step;
        step *= growth;
    }
    amp_path_destroy(path);
    return is_new;
}

/* Steps are small where the noise is known so well that a choice is within the limit, and double
   before that. */
static enum amp_status follow_path(struct preview *preview, struct amp_error *err)
{
    int misses = 0;
    for (int n = 0; n < PATH_MAX && misses < MISSES_MAX && !preview->is_over; n++) {
        const struct amp_trial *best = preview->best;
        struct amp_trial *trial;
        if (!propose(preview, step_db * (best != NULL ? misses : (1 << misses) - 1)))
            break;
        AMP_TRY(look(preview, "path", &trial, err));
        misses = preview->best != best ? 0 : misses + 1;
    }
    return AMP_OK;
}

/* ---- around what was seen -------------------------------------------------------------------- */

/* The chance that a normal deviate is below X. */
static double chance_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Rates CHANGE by what it saves and by how likely it is to be within the limit; it becomes *FOUND
   if it is worth more and was not seen. POWER: of what is changed, as fitted. */
static void rate(struct preview *preview, struct change *change, double power, struct change *found)
{
    double loss = change->from->loss, most = preview->best->loss;
    double bias = preview->errors / preview->count;
    bool *keeps = preview->keeps;
    memcpy(keeps, change->from->keeps, preview->problem.n_units * sizeof *keeps);
    for (size_t i = 0; i < change->n; i++) {
        struct amp_change one = amp_ties_change(preview->ties, keeps, change->units[i]);
        power += one.power;
        loss += one.loss;
        keeps[change->units[i]] = !keeps[change->units[i]];
    }
    if (!(loss < most - least_gain * fabs(most)))
        return;
    change->db = amp_power_db(fmax(power, least_power));
    double room = amp_power_db(preview->limit) - change->db - bias;
    change->worth = (most - loss) * chance_below(room / sqrt(preview->squares / preview->count));
    if (change->worth > found->worth && amp_trials_find(preview->search->previews, keeps) == NULL)
        *found = *change;
}

/* For qsort: the highest rank first, then the order of the graph. */
static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static void add(struct ranking *ranking, uint32_t unit, double gain, double price)
{
    ranking->items[ranking->n++] = (struct ranked){unit, gain / fmax(price, least_power)};
}

static void cut(struct ranking *ranking)
{
    if (ranking->n > 0)
        qsort(ranking->items, ranking->n, sizeof *ranking->items, compare);
    ranking->n = ranking->n < NEAR ? ranking->n : NEAR;
}

/* Rates the change of each unit of TRIAL by itself, and ranks the units. */
static void try_singles(struct preview *preview, struct change *change, double power,
                        struct change *found)
{
    preview->removed.n = preview->added.n = 0;
    change->n = 1;
    for (uint32_t unit = 0; unit < preview->problem.n_units; unit++) {
        struct amp_change one = amp_ties_change(preview->ties, change->from->keeps, unit);
        change->units[0] = unit;
        rate(preview, change, power, found);
        if (change->from->keeps[unit])
            add(&preview->removed, unit, -one.loss, one.power);
        else
            add(&preview->added, unit, -one.power, one.loss);
    }
    cut(&preview->removed);
    cut(&preview->added);
}

/* Rates CHANGE as it is and with each of the units that rank highest added. */
static void try_added(struct preview *preview, struct change *change, double power,
                      struct change *found)
{
    size_t n = change->n;
    rate(preview, change, power, found);
    change->n = n + 1;
    for (size_t i = 0; i < preview->added.n; i++) {
        change->units[n] = preview->added.items[i].unit;
        rate(preview, change, power, found);
    }
    change->n = n;
}

/* Rates the changes of TRIAL: of one unit, two that go, and one that comes for one or two. */
static void try_around(struct preview *preview, const struct amp_trial *trial, struct change *found)
{
    struct change change = {.from = trial};
    const struct ranking *removed = &preview->removed;
    double fitted = amp_problem_power(&preview->problem, trial->keeps);
    try_singles(preview, &change, fitted, found);
    for (size_t i = 0; i < removed->n; i++) {
        change.units[0] = removed->items[i].unit;
        change.n = 1;
        try_added(preview, &change, fitted, found);
        change.n = 2;
        for (size_t k = 0; k < i; k++) {
            change.units[1] = removed->items[k].unit;
            try_added(preview, &change, fitted, found);
        }
    }
}

/* What is worth being changed: of those within the limit the cheapest, of the others, which are
   cheaper, those that come nearest to it. */
static double rank_of(const struct preview *preview, const struct amp_trial *trial, bool is_met)
{
    if (is_within(preview, trial) != is_met || !isfinite(trial->measured))
        return -INFINITY;
    if (is_met)
        return -trial->loss;
    return trial->loss < preview->best->loss ? -trial->measured : -INFINITY;
}

/* Rates the changes of those MOST previews that rank highest. */
static void try_ranked(struct preview *preview, bool is_met, size_t most, struct change *found)
{
    const struct amp_trials *previews = preview->search->previews;
    struct ranked *order = amp_xmalloc(previews->count, sizeof *order);
    for (uint32_t i = 0; i < previews->count; i++)
        order[i] = (struct ranked){i, rank_of(preview, previews->items[i], is_met)};
    qsort(order, previews->count, sizeof *order, compare);
    for (size_t i = 0; i < previews->count && i < most && order[i].rank > -INFINITY; i++)
        try_around(preview, previews->items[order[i].unit], found);
    free(order);
}

static struct change choose_change(struct preview *preview)
{
    struct change found = {.n = 0};
    struct amp_arena *arena = amp_arena_create();
    preview->ties = amp_ties_create(arena, &preview->problem);
    try_ranked(preview, true, MET_MAX, &found);
    try_ranked(preview, false, MISSED_MAX, &found);
    amp_arena_destroy(arena);
    return found;
}

/* Learns how far predictions stray: of what looks best, it is to one side on the whole. */
static void learn(struct preview *preview, const struct change *change,
                  const struct amp_trial *trial)
{
    double error = amp_power_db(trial->measured) - change->db;
    if (!isfinite(error))
        return;
    preview->errors += error;
    preview->squares += error * error;
    preview->count++;
}

/* Changes what was seen until MOST previews are used, or no change saves anything. */
static enum amp_status wander(struct preview *preview, size_t most, struct amp_error *err)
{
    while (preview->search->previews->count < most) {
        struct amp_trial *trial;
        struct change change = choose_change(preview);
        if (change.n == 0)
            break;
        memcpy(preview->keeps, change.from->keeps,
               preview->problem.n_units * sizeof *preview->keeps);
        for (size_t i = 0; i < change.n; i++)
            preview->keeps[change.units[i]] = !preview->keeps[change.units[i]];
        AMP_TRY(look(preview, "around", &trial, err));
        if (trial != NULL)
            learn(preview, &change, trial);
    }
    return AMP_OK;
}

/* ---- evaluations ----------------------------------------------------------------------------- */

/* The cheapest choice that looks good enough, better than the answer, and was not evaluated. */
static const struct amp_trial *next_to_evaluate(const struct preview *preview)
{
    const struct amp_trials *previews = preview->search->previews,
                            *trials = preview->search->trials;
    const struct amp_trial *next = NULL;
    for (size_t i = 0; i < previews->count; i++) {
        const struct amp_trial *seen = previews->items[i];
        if (is_within(preview, seen) && (next == NULL || seen->loss < next->loss) &&
            (trials->best == NULL || seen->loss < trials->best->loss) &&
            amp_trials_find(trials, seen->keeps) == NULL)
            next = seen;
    }
    return next;
}

/* Takes in by how much the evaluation TRIAL differs from what was SEEN of the same choice, on other
   samples. Where it missed for something else than power, that asks for less power all the same. */
static void calibrate(struct preview *preview, const struct amp_trial *seen,
                      const struct amp_trial *trial)
{
    double budget = preview->search->budget, ratio = seen->measured / trial->measured;
    if (isfinite(ratio) && ratio > 0)
        preview->limit = budget * ratio;
    if (trial->verdict != AMP_TRIAL_MET)
        preview->limit =
            fmin(preview->limit, seen->measured * (trial->measured > budget ? 1 : power_is_not_it));
    find_best(preview);
}

/* Whether an evaluation is left beside the last, which is for all kept where nothing has met. */
static bool is_left(const struct amp_trials *trials)
{
    size_t reserved = trials->best == NULL;
    return trials->most == 0 || trials->count + reserved < trials->most;
}

static enum amp_status evaluate(struct preview *preview, struct amp_error *err)
{
    struct amp_trials *trials = preview->search->trials;
    const struct amp_trial *seen;
    while (preview->n_wrong < WRONG_MAX && is_left(trials) &&
           (seen = next_to_evaluate(preview)) != NULL) {
        struct amp_trial *trial;
        AMP_TRY(amp_trials_run(trials, seen->keeps, "preview", &trial, err));
        if (trial == NULL)
            break;
        calibrate(preview, seen, trial);
        preview->n_wrong += trial->verdict != AMP_TRIAL_MET;
    }
    return AMP_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Finds choices within the limit with previews up to number MOST, and has the cheapest evaluated.
 */
static enum amp_status run_round(struct preview *preview, size_t most, struct amp_error *err)
{
    struct amp_trial *trial;
    AMP_TRY(follow_path(preview, err));
    if (preview->best == NULL) {
        memset(preview->keeps, true, preview->problem.n_units * sizeof *preview->keeps);
        AMP_TRY(look(preview, "all kept", &trial, err));
    }
    if (preview->best == NULL)
        return AMP_OK;
    AMP_TRY(wander(preview, most, err));
    return evaluate(preview, err);
}

static enum amp_status run(struct preview *preview, const struct amp_trial *low,
                           struct amp_error *err)
{
    struct amp_trial *seen;
    size_t most = preview->search->previews->most;
    AMP_TRY(look(preview, "all low", &seen, err));
    double ratio = seen != NULL ? seen->measured / low->measured : NAN;
    if (isfinite(ratio) && ratio > 0) /* neither lost elements */
        preview->limit *= ratio;
    find_best(preview); /* all low, which missed, is none by that limit */
    for (size_t i = 1; i <= ROUNDS && !preview->is_over && preview->n_wrong < WRONG_MAX; i++)
        AMP_TRY(run_round(preview, most * i / ROUNDS, err));
    return AMP_OK;
}

enum amp_status amp_preview_run(struct amp_search *search, const struct amp_trial *low,
                                struct amp_error *err)
{
    struct amp_arena *arena = search->trials->arena;
    size_t n = search->problem->n_units;
    struct preview preview = {
        .search = search,
        .seen = {.problem = search->problem, .trials = search->previews, .budget = search->budget},
        .problem = *search->problem,
        .limit = search->budget,
        .squares = first_count * first_spread * first_spread,
        .count = first_count};
    if (search->previews == NULL || !is_left(search->trials))
        return AMP_OK;
    preview.keeps = amp_arena_array(arena, n, sizeof *preview.keeps);
    preview.removed.items = amp_arena_array(arena, n, sizeof *preview.removed.items);
    preview.added.items = amp_arena_array(arena, n, sizeof *preview.added.items);
    preview.problem.noises =
        amp_arena_array(arena, search->problem->n_noises + n, sizeof *preview.problem.noises);
    return run(&preview, low, err);
}
