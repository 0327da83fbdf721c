/*
 * Problems: takes one and a choice of units, says what the choice costs and what noise stays. It
 * decides nothing.
 */
#include "tune/problem.h"

#include "core/hash.h"

#include <math.h>

/* LOSS without what rounding made of the ties of steps, which cancel out. */
static double settle(const struct amp_problem *problem, double loss)
{
    enum { BITS = 40 };
    double most = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        most += fabs(problem->units[i].loss);
    if (!(most > 0))
        return loss;
    double quantum = ldexp(1, ilogb(most) - BITS);
    return rint(loss / quantum) * quantum + 0.0;
}

double amp_problem_loss(const struct amp_problem *problem, const bool *keeps)
{
    double loss = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        if (keeps[i])
            loss += problem->units[i].loss;
    for (size_t i = 0; i < problem->n_edges; i++)
        if (keeps[problem->edges[i].a] != keeps[problem->edges[i].b])
            loss += problem->edges[i].cost;
    return amp_problem_has_steps(problem) ? settle(problem, loss) : loss;
}

double amp_problem_power(const struct amp_problem *problem, const bool *keeps)
{
    double power = problem->floor;
    for (size_t i = 0; i < problem->n_noises; i++)
        if (!keeps[problem->noises[i].a] || !keeps[problem->noises[i].b])
            power += problem->noises[i].power;
    return power;
}

size_t amp_problem_units(const struct amp_problem *problem)
{
    size_t n = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        n += !problem->units[i].is_fine;
    return n;
}

size_t amp_problem_kept(const struct amp_problem *problem, const bool *keeps)
{
    size_t n = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        n += keeps[i] && !problem->units[i].is_fine;
    return n;
}

size_t amp_problem_kept_nodes(const struct amp_problem *problem, const bool *keeps)
{
    size_t n = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        n += keeps[i] && !problem->units[i].is_fine ? problem->units[i].n_nodes : 0;
    return n;
}

size_t amp_problem_fine_nodes(const struct amp_problem *problem, const bool *keeps)
{
    size_t n = 0;
    for (uint32_t i = 0; i < problem->n_units; i++)
        if (problem->units[i].is_fine && keeps[i] && !amp_problem_is_implied(problem, keeps, i))
            n += problem->units[i].n_nodes;
    return n;
}

double amp_problem_unit_loss(const struct amp_problem *problem, uint32_t unit)
{
    uint32_t step = amp_problem_step(problem, unit);
    return problem->units[unit].loss + (step != unit ? problem->units[step].loss : 0);
}

bool amp_problem_is_low(const struct amp_problem *problem, const bool *keeps)
{
    for (size_t i = 0; i < problem->n_units; i++)
        if (keeps[i])
            return false;
    return true;
}

bool amp_problem_has_steps(const struct amp_problem *problem)
{
    return amp_problem_units(problem) < problem->n_units;
}

uint32_t amp_problem_step(const struct amp_problem *problem, uint32_t unit)
{
    return unit > 0 && problem->units[unit - 1].is_fine ? unit - 1 : unit;
}

bool amp_problem_is_implied(const struct amp_problem *problem, const bool *keeps, uint32_t unit)
{
    return problem->units[unit].is_fine && keeps[unit + 1];
}

uint64_t amp_problem_hash(const bool *keeps, size_t n)
{
    return (uint64_t)amp_hash_fnv(keeps, n * sizeof *keeps, 0) << 32 |
           amp_hash_fnv(keeps, n * sizeof *keeps, 1);
}
