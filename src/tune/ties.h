#ifndef AMP_TUNE_TIES_H
#define AMP_TUNE_TIES_H

#include "tune/problem.h"

/*
 * A problem by unit: what each has alone and with each other unit, several noises and edges between
 * two units being one tie. What is 0 is left out.
 */
struct amp_tie {
    uint32_t other;
    double power, cost; /* sums over noises and edges of the two units */
};

struct amp_ties {
    size_t n_units;
    size_t *first;       /* per unit: its first tie; at n_units: the number of all */
    struct amp_tie *all; /* by unit, then by the other one; each is there from both ends */
    double *power;       /* per unit: noise that is there unless it is float32 */
    double *loss;        /* per unit: as in the problem */
};

/* The ties of PROBLEM, in ARENA. */
struct amp_ties *amp_ties_create(struct amp_arena *arena, const struct amp_problem *problem);

/* What it adds to loss and power when UNIT changes sides in the choice KEEPS. */
struct amp_change {
    double loss, power;
};
struct amp_change amp_ties_change(const struct amp_ties *ties, const bool *keeps, uint32_t unit);

#endif
