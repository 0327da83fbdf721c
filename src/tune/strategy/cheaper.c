/*
 * What is cheaper than an answer: takes a search of few units with an answer, enumerates choices.
 * As each that is cheaper was run or is predicted to miss, the answer is the optimum as far as
 * predictions are off by no more than the margin.
 */
#include "tune/strategy/cheaper.h"

#include "tune/strategy/batch.h"

#include <math.h>
#include <stdlib.h>

enum { UNITS_MAX = 11 };

static const double margin = 1.2589254117941673; /* 1 dB */

/* A choice; bit I of BITS says whether the unit that matters as number I is kept. */
struct choice {
    uint32_t bits;
    double loss;
};

struct choices {
    const struct amp_search *search;
    size_t matters[UNITS_MAX],
        n_matter; /* units that one end of the path keeps and the other not */
    bool *keeps;  /* the choice at hand; the other units stay as they are */
    struct choice *items;
    size_t count;
};

static void unpack(const struct choices *choices, uint32_t bits)
{
    for (size_t i = 0; i < choices->n_matter; i++)
        choices->keeps[choices->matters[i]] = bits >> i & 1;
}

/* For qsort: the cheapest first. */
static int compare(const void *first, const void *second)
{
    const struct choice *a = first, *b = second;
    if (a->loss != b->loss)
        return a->loss < b->loss ? -1 : 1;
    return a->bits < b->bits ? -1 : 1;
}

/* The most predicted power that a choice is tried with. */
static double power_most(const struct amp_trials *trials)
{
    double most = 0;
    for (size_t i = 0; i < trials->count; i++)
        if (amp_trial_is_met(trials->items[i]))
            most = fmax(most, trials->items[i]->power);
    return most * margin;
}

static void find_matters(struct choices *choices, struct amp_path *path)
{
    struct amp_arena *arena = choices->search->trials->arena;
    size_t n_units = choices->search->problem->n_units;
    bool *end = amp_arena_array(arena, n_units, sizeof *end);
    choices->keeps = amp_arena_array(arena, n_units, sizeof *choices->keeps);
    amp_path_at(path, INFINITY, end);
    amp_path_at(path, 0, choices->keeps);
    for (size_t i = 0; i < n_units && choices->n_matter < UNITS_MAX; i++)
        if (end[i] != choices->keeps[i])
            choices->matters[choices->n_matter++] = i;
}

/* Lists what is to be tried. */
static void list(struct choices *choices)
{
    const struct amp_problem *problem = choices->search->problem;
    const struct amp_trials *trials = choices->search->trials;
    double most = power_most(trials);
    choices->items =
        amp_arena_array(trials->arena, (size_t)1 << choices->n_matter, sizeof *choices->items);
    for (uint32_t bits = 0; bits >> choices->n_matter == 0; bits++) {
        unpack(choices, bits);
        double loss = amp_problem_loss(problem, choices->keeps);
        if (loss < trials->best->loss && amp_problem_power(problem, choices->keeps) <= most)
            choices->items[choices->count++] = (struct choice){.bits = bits, .loss = loss};
    }
    qsort(choices->items, choices->count, sizeof *choices->items, compare);
}

enum amp_status amp_cheaper_run(struct amp_search *search, struct amp_path *path,
                                struct amp_error *err)
{
    const struct amp_trial *answer = search->trials->best;
    struct amp_batch batch = amp_batch_create(search);
    struct choices choices = {.search = search};
    bool is_over = false;
    if (!amp_path_is_exact(path))
        return AMP_OK;
    find_matters(&choices, path);
    list(&choices);
    for (size_t i = 0; i < choices.count && !is_over && search->trials->best == answer;) {
        batch.n = 0;
        for (; i < choices.count && batch.n < batch.most; i++) {
            unpack(&choices, choices.items[i].bits);
            amp_batch_add(&batch, choices.keeps);
        }
        AMP_TRY(amp_batch_run(&batch, "cheaper", &is_over, err));
    }
    return AMP_OK;
}
