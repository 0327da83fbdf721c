/*
 * The strategy of Neural Compressor (strategy/auto_mixed_precision.py of its releases 2.x): takes a
 * search, ends with the first candidate that meets the criterion. The units that are added up begin
 * with the best single one.
 */
#include "tune/search.h"

#include "tune/strategy/batch.h"
#include "tune/strategy/singles.h"

#include <string.h>

/* Whether an earlier unit has the operator of unit I. */
static bool is_repeated(const struct amp_problem *problem, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(problem->units[j].op, problem->units[i].op) == 0)
            return true;
    return false;
}

static void add_operator(struct amp_batch *batch, const bool *none, const char *op)
{
    const struct amp_problem *problem = batch->search->problem;
    bool *keeps = amp_batch_add(batch, none);
    for (size_t i = 0; i < problem->n_units; i++)
        keeps[i] = strcmp(problem->units[i].op, op) == 0;
}

/* Keeps the units of each operator, until that is enough. */
static enum amp_status run_operators(struct amp_search *search, const bool *none,
                                     struct amp_error *err)
{
    const struct amp_problem *problem = search->problem;
    struct amp_batch batch = amp_batch_create(search);
    bool is_over = false;
    for (size_t i = 0; i < problem->n_units && !is_over && search->trials->best == NULL;) {
        batch.n = 0;
        for (; i < problem->n_units && batch.n < batch.most; i++)
            if (!is_repeated(problem, i))
                add_operator(&batch, none, problem->units[i].op);
        AMP_TRY(amp_batch_run(&batch, "operator", &is_over, err));
    }
    return AMP_OK;
}

static enum amp_status run(struct amp_search *search, struct amp_error *err)
{
    struct amp_trial *low;
    struct amp_singles singles = {.n = 0};
    struct amp_trials *trials = search->trials;
    const bool *none = amp_arena_array(trials->arena, search->problem->n_units, sizeof *none);
    AMP_TRY(amp_trials_run(trials, none, "all low", &low, err));
    if (trials->best == NULL)
        AMP_TRY(run_operators(search, none, err));
    if (trials->best == NULL)
        AMP_TRY(amp_singles_rank(search, true, &singles, err));
    if (trials->best == NULL)
        AMP_TRY(amp_singles_add_up(search, &singles, err));
    search->is_minimal = amp_trials_best_is_minimal(search->trials);
    return AMP_OK;
}

const struct amp_strategy amp_strategy_neural_compressor = {
    .name = "neural-compressor",
    .text = "each operator, each unit, then units together (as Neural Compressor 2 does)",
    .run = run,
};
