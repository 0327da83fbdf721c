#ifndef AMP_TUNE_FORMULATE_H
#define AMP_TUNE_FORMULATE_H

#include "check/noise.h"
#include "tune/costs.h"
#include "tune/units.h"

/* What a problem is made of. */
struct amp_formulation {
    const struct amp_model *converted; /* with all units low */
    const struct amp_assignment *assignment;
    const struct amp_units *units;
    const struct amp_noise *noise; /* of CONVERTED; its sources name nodes and values of that */
    const struct amp_costs *costs; /* by the ids of the model before the conversion, which CONVERTED
                                      still has */
};

/* The problem of which of UNITS to keep in float32, in ARENA, without numbers. */
struct amp_problem *amp_problem_create(const struct amp_units *units, struct amp_arena *arena);

/*
 * Sets the numbers of PROBLEM, made of the units of FORMULATION, in ARENA. The noise of a source is
 * shared out evenly over who reads it, and each share is gone when the unit that rounds and the one
 * that reads are float32; what a reader in float32 anyway needs goes when the unit that rounds is.
 * The cost of casting a value is shared out evenly over the units that read it. Sources that make
 * elements NaN or infinite weigh more than all others together.
 */
void amp_problem_formulate(const struct amp_formulation *formulation, struct amp_problem *problem,
                           struct amp_arena *arena);

/*
 * Sets the numbers of PROBLEM, in ARENA, from those of two problems of the same units: COARSE with
 * all of them in the coarser lower dtype, FINE with all in the finer. What a source adds is taken
 * to be what the coarser dtype of who rounds and who reads adds, so that a first step takes the
 * difference away and a second one the rest: the levels of a unit are in a row, and one minimum cut
 * still finds the best choice (Ishikawa, 2003). Where the finer dtype adds more, as values do that
 * it cannot hold, those units do not stop at the first step. A cast between the two moves 4 bytes
 * where one to float32 moves 6; one from the coarser to float32 counts as both.
 */
void amp_problem_combine(const struct amp_problem *coarse, const struct amp_problem *fine,
                         struct amp_problem *problem, struct amp_arena *arena);

#endif
