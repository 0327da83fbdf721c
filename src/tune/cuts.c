/*
 * Cuts of a problem: takes a price and what is decided already, gives the best choice of the rest.
 * Here the numbers of a problem become whole ones.
 */
#include "tune/cuts.h"

#include "tune/min_cut.h"

#include <math.h>
#include <string.h>

struct amp_cuts {
    const struct amp_ties *ties;
    int exponent;    /* losses are multiples of 2^-EXPONENT */
    int64_t *losses; /* per unit */
    int64_t most;    /* more than keeping all units loses: worth it at any price, or at none */

    /* Room for a cut of the units that are open. */
    uint32_t *nodes, *units; /* of a unit its node, and back */
    int64_t *gains;          /* per node */
    struct amp_cut_edge *edges;
    bool *is_source; /* per node */
};

/* ---- whole numbers --------------------------------------------------------------------------- */

/* Away from 0, so that nothing comes for free that does not. */
static int64_t whole(const struct amp_cuts *cuts, double x)
{
    double scaled = ldexp(x, cuts->exponent);
    return (int64_t)(scaled < 0 ? floor(scaled) : ceil(scaled));
}

/* The cost of casts; at MOST no choice that is the best parts the units. */
static int64_t whole_cost(const struct amp_cuts *cuts, double cost)
{
    double scaled = ceil(ldexp(cost, cuts->exponent));
    return scaled < (double)cuts->most ? (int64_t)scaled : cuts->most;
}

/* Half of what noise of POWER is worth at PRICE; at MOST every choice that is the best is without
   it. */
static int64_t half_worth(const struct amp_cuts *cuts, double price, double power)
{
    if (!(price > 0 && power > 0))
        return 0;
    double scaled = ceil(ldexp(price * power, cuts->exponent - 1));
    if (scaled < (double)cuts->most)
        return scaled > 1 ? (int64_t)scaled : 1;
    return cuts->most;
}

/* Chooses the unit of losses so that no sum overflows a minimum cut. */
static void scale(struct amp_cuts *cuts)
{
    const struct amp_ties *ties = cuts->ties;
    double magnitude = 0;
    int bits, exponent;
    for (size_t i = 0; i < ties->n_units; i++)
        magnitude += fabs(ties->loss[i]);
    frexp(magnitude, &exponent);
    frexp(8.0 * (double)ties->first[ties->n_units] + 8.0 * (double)ties->n_units + 8, &bits);
    cuts->exponent = 60 - bits - exponent;
    cuts->most = 1;
    for (size_t i = 0; i < ties->n_units; i++) {
        cuts->losses[i] = whole(cuts, ties->loss[i]);
        cuts->most += cuts->losses[i] > 0 ? cuts->losses[i] : 0;
    }
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static bool is_open(struct amp_cut_bounds bounds, uint32_t unit)
{
    return bounds.high[unit] && !bounds.low[unit];
}

/* Adds the gain of an open UNIT, and its edges to open ones of higher numbers. */
static void add_unit(struct amp_cuts *cuts, struct amp_cut_bounds bounds, double price,
                     uint32_t unit, struct amp_min_cut *cut)
{
    const struct amp_ties *ties = cuts->ties;
    int64_t gain = 2 * half_worth(cuts, price, ties->power[unit]) - cuts->losses[unit];
    for (size_t i = ties->first[unit]; i < ties->first[unit + 1]; i++) {
        const struct amp_tie *tie = &ties->all[i];
        int64_t half = half_worth(cuts, price, tie->power), cost = whole_cost(cuts, tie->cost);
        if (!is_open(bounds, tie->other))
            gain += bounds.low[tie->other] ? 2 * half + cost : -cost;
        else if (unit < tie->other)
            cuts->edges[cut->n_edges++] =
                (struct amp_cut_edge){cuts->nodes[unit], cuts->nodes[tie->other], half + cost};
        gain += is_open(bounds, tie->other) ? half : 0;
    }
    cuts->gains[cuts->nodes[unit]] = gain;
}

struct amp_cuts *amp_cuts_create(struct amp_arena *arena, const struct amp_ties *ties)
{
    struct amp_cuts *cuts = amp_arena_alloc(arena, sizeof *cuts);
    size_t n = ties->n_units;
    cuts->ties = ties;
    cuts->losses = amp_arena_array(arena, n, sizeof *cuts->losses);
    cuts->nodes = amp_arena_array(arena, n, sizeof *cuts->nodes);
    cuts->units = amp_arena_array(arena, n, sizeof *cuts->units);
    cuts->gains = amp_arena_array(arena, n, sizeof *cuts->gains);
    cuts->edges = amp_arena_array(arena, ties->first[n] / 2, sizeof *cuts->edges);
    cuts->is_source = amp_arena_array(arena, n, sizeof *cuts->is_source);
    scale(cuts);
    return cuts;
}

size_t amp_cuts_solve(struct amp_cuts *cuts, struct amp_cut_bounds bounds, double price,
                      bool *keeps)
{
    struct amp_min_cut cut = {.gains = cuts->gains, .edges = cuts->edges};
    for (uint32_t unit = 0; unit < cuts->ties->n_units; unit++)
        if (is_open(bounds, unit)) {
            cuts->nodes[unit] = (uint32_t)cut.n_nodes;
            cuts->units[cut.n_nodes++] = unit;
        }
    for (size_t i = 0; i < cut.n_nodes; i++)
        add_unit(cuts, bounds, price, cuts->units[i], &cut);
    size_t work = amp_min_cut_solve(&cut, cuts->is_source);
    memmove(keeps, bounds.low, cuts->ties->n_units * sizeof *keeps);
    for (size_t i = 0; i < cut.n_nodes; i++)
        keeps[cuts->units[i]] = cuts->is_source[i];
    return work;
}
