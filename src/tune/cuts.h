#ifndef AMP_TUNE_CUTS_H
#define AMP_TUNE_CUTS_H

#include "tune/ties.h"

/*
 * The minimum cuts of a problem, one for each price of noise. Losses and noise are made whole
 * numbers, rounded so that none falls as the price grows: the choices then nest exactly.
 */
struct amp_cuts;

/* What is decided: units that are kept, and units that may be; an entry per unit. */
struct amp_cut_bounds {
    const bool *low, *high;
};

/* In ARENA; TIES must outlive them. */
struct amp_cuts *amp_cuts_create(struct amp_arena *arena, const struct amp_ties *ties);

/* Sets KEEPS to the least choice within BOUNDS of which loss plus PRICE times power is least.
   Infinite prices are fine: the least loss that removes all noise that can be. KEEPS may be one of
   the bounds. Returns a measure of the work, as minimum cuts have it. */
size_t amp_cuts_solve(struct amp_cuts *cuts, struct amp_cut_bounds bounds, double price,
                      bool *keeps);

#endif
