#ifndef AMP_TUNE_ENUMERATION_H
#define AMP_TUNE_ENUMERATION_H

#include "tune/ties.h"

/* All choices of some units, the others staying as they are. */
struct amp_enumeration {
    const struct amp_problem *problem;
    const struct amp_ties *ties; /* of PROBLEM */
    const uint32_t *units;       /* that are chosen */
    size_t n_units;              /* time doubles with each */
    double budget;
};

/*
 * Sets the units in KEEPS to the choice of least loss whose power is at most the budget, of several
 * the one of least power. Returns false, KEEPS being as before, when none meets the budget.
 */
bool amp_enumeration_solve(const struct amp_enumeration *enumeration, bool *keeps);

#endif
