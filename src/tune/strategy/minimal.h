#ifndef AMP_TUNE_STRATEGY_MINIMAL_H
#define AMP_TUNE_STRATEGY_MINIMAL_H

#include "tune/search.h"

/* Whether the trials say that the criterion does not hold when any one unit of the answer goes
   low. False without an answer. */
bool amp_minimal_is_known(const struct amp_search *search);

#endif
