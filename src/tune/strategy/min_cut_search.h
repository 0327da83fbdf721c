#ifndef AMP_TUNE_STRATEGY_MIN_CUT_SEARCH_H
#define AMP_TUNE_STRATEGY_MIN_CUT_SEARCH_H

#include "tune/search.h"

/* Follows the path of minimum cuts to where the criterion begins to hold, then gives back what was
   not needed. Evaluations check what the model of the noise predicts. */
extern const struct amp_strategy amp_strategy_min_cut;

#endif
