#ifndef AMP_TUNE_STRATEGY_REFINE_H
#define AMP_TUNE_STRATEGY_REFINE_H

#include "tune/search.h"

/* Whether the measured powers of trials tell how far from the criterion they are. */
bool amp_refine_applies(const struct amp_search *search);

/*
 * Sets the noise of FITTED, which has room for that of the search's problem and one for each unit,
 * to one by which all trials come to about what they were measured to. It is nearest to what was
 * found in relative entropy (multiplicative algebraic reconstruction: Gordon, Bender and Herman,
 * 1970), then put right by the errors that trials have in common (ridge regression). The search has
 * a budget.
 */
void amp_refine_fit(const struct amp_search *search, struct amp_problem *fitted);

/*
 * Where that is so: fits the noise to what all trials came to, and runs the best choice by that
 * until it is no better than the answer, which there is. What a minimum picks is predicted too low
 * on the whole, and what it passes over too high; only trials put that right. A fifth of the
 * evaluations is left.
 */
enum amp_status amp_refine_run(struct amp_search *search, struct amp_error *err);

#endif
