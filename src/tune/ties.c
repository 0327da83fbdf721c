/*
 * Ties: takes a problem as lists of noises and edges, gives it by unit. Entries are sorted by
 * counting, those of one unit by a short sort of their own.
 */
#include "tune/ties.h"

#include <stdlib.h>

static void count_end(struct amp_ties *ties, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    ties->first[a + 1]++;
    ties->first[b + 1]++;
}

/* Sets FIRST to where the entries of each unit begin. */
static void count(struct amp_ties *ties, const struct amp_problem *problem)
{
    for (size_t i = 0; i < problem->n_noises; i++)
        if (problem->noises[i].power > 0)
            count_end(ties, problem->noises[i].a, problem->noises[i].b);
    for (size_t i = 0; i < problem->n_edges; i++)
        if (problem->edges[i].cost > 0)
            count_end(ties, problem->edges[i].a, problem->edges[i].b);
    for (size_t i = 0; i < ties->n_units; i++)
        ties->first[i + 1] += ties->first[i];
}

static void add(struct amp_ties *ties, size_t *next, uint32_t a, struct amp_tie tie)
{
    uint32_t b = tie.other;
    ties->all[next[a]++] = tie;
    tie.other = a;
    ties->all[next[b]++] = tie;
}

static void fill(struct amp_ties *ties, const struct amp_problem *problem)
{
    size_t *next = amp_xcalloc(ties->n_units, sizeof *next);
    for (size_t i = 0; i < ties->n_units; i++)
        next[i] = ties->first[i];
    for (size_t i = 0; i < problem->n_noises; i++) {
        const struct amp_problem_noise *noise = &problem->noises[i];
        if (noise->a == noise->b)
            ties->power[noise->a] += noise->power;
        else if (noise->power > 0)
            add(ties, next, noise->a, (struct amp_tie){noise->b, noise->power, 0});
    }
    for (size_t i = 0; i < problem->n_edges; i++) {
        const struct amp_problem_edge *edge = &problem->edges[i];
        if (edge->a != edge->b && edge->cost > 0)
            add(ties, next, edge->a, (struct amp_tie){edge->b, 0, edge->cost});
    }
    free(next);
}

/* By the other unit, then by size: both ends of a tie add up in the same order. */
static int compare(const void *left, const void *right)
{
    const struct amp_tie *a = left, *b = right;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    if (a->power != b->power)
        return a->power < b->power ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* Makes the entries of each unit for the same other one one. */
static void merge(struct amp_ties *ties)
{
    size_t n = 0;
    for (size_t unit = 0; unit < ties->n_units; unit++) {
        size_t begin = ties->first[unit], end = ties->first[unit + 1];
        qsort(ties->all + begin, end - begin, sizeof *ties->all, compare);
        ties->first[unit] = n;
        for (size_t i = begin; i < end; i++) {
            struct amp_tie *last = n > ties->first[unit] ? &ties->all[n - 1] : NULL;
            if (last != NULL && last->other == ties->all[i].other) {
                last->power += ties->all[i].power;
                last->cost += ties->all[i].cost;
            } else {
                ties->all[n++] = ties->all[i];
            }
        }
    }
    ties->first[ties->n_units] = n;
}

struct amp_ties *amp_ties_create(struct amp_arena *arena, const struct amp_problem *problem)
{
    struct amp_ties *ties = amp_arena_alloc(arena, sizeof *ties);
    ties->n_units = problem->n_units;
    ties->first = amp_arena_array(arena, problem->n_units + 1, sizeof *ties->first);
    ties->power = amp_arena_array(arena, problem->n_units, sizeof *ties->power);
    ties->loss = amp_arena_array(arena, problem->n_units, sizeof *ties->loss);
    for (size_t i = 0; i < problem->n_units; i++)
        ties->loss[i] = problem->units[i].loss;
    count(ties, problem);
    ties->all = amp_arena_array(arena, ties->first[problem->n_units], sizeof *ties->all);
    fill(ties, problem);
    merge(ties);
    return ties;
}

struct amp_change amp_ties_change(const struct amp_ties *ties, const bool *keeps, uint32_t unit)
{
    struct amp_change change = {ties->loss[unit], -ties->power[unit]};
    for (size_t i = ties->first[unit]; i < ties->first[unit + 1]; i++) {
        const struct amp_tie *tie = &ties->all[i];
        change.loss += keeps[tie->other] ? -tie->cost : tie->cost;
        change.power -= keeps[tie->other] ? tie->power : 0;
    }
    if (keeps[unit])
        change = (struct amp_change){-change.loss, -change.power};
    return change;
}
