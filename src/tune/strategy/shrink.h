#ifndef AMP_TUNE_STRATEGY_SHRINK_H
#define AMP_TUNE_STRATEGY_SHRINK_H

#include "tune/search.h"

/*
 * Gives units of the answer, which there is, back to the lower dtype while the criterion holds and
 * the loss falls: connected ones together first, then halves of what cannot go as a whole (Zeller
 * and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). What the measured
 * powers speak against is halved without a run.
 */
enum amp_status amp_shrink_chunks(struct amp_search *search, struct amp_error *err);

/* The same with each unit by itself, until none that would save anything may go. */
enum amp_status amp_shrink_singles(struct amp_search *search, struct amp_error *err);

#endif
