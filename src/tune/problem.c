/*
 * Problems: takes one and a choice of units, says what the choice costs and what noise stays. It
 * decides nothing.
 */
#include "tune/problem.h"

#include "core/hash.h"

double amp_problem_loss(const struct amp_problem *problem, const bool *keeps)
{
    double loss = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        if (keeps[i])
            loss += problem->units[i].loss;
    for (size_t i = 0; i < problem->n_edges; i++)
        if (keeps[problem->edges[i].a] != keeps[problem->edges[i].b])
            loss += problem->edges[i].cost;
    return loss;
}

double amp_problem_power(const struct amp_problem *problem, const bool *keeps)
{
    double power = problem->floor;
    for (size_t i = 0; i < problem->n_noises; i++)
        if (!keeps[problem->noises[i].a] || !keeps[problem->noises[i].b])
            power += problem->noises[i].power;
    return power;
}

size_t amp_problem_kept(const struct amp_problem *problem, const bool *keeps)
{
    size_t n = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        n += keeps[i];
    return n;
}

size_t amp_problem_kept_nodes(const struct amp_problem *problem, const bool *keeps)
{
    size_t n = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        n += keeps[i] ? problem->units[i].n_nodes : 0;
    return n;
}

uint64_t amp_problem_hash(const bool *keeps, size_t n)
{
    return (uint64_t)amp_hash_fnv(keeps, n * sizeof *keeps, 0) << 32 |
           amp_hash_fnv(keeps, n * sizeof *keeps, 1);
}
