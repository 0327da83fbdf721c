#ifndef AMP_TUNE_STRATEGY_GREEDY_H
#define AMP_TUNE_STRATEGY_GREEDY_H

#include "tune/search.h"

/* Goes as the tools do that rank by leaving one out (AIMET, NNCF): each unit in float32 alone, then
   units together, the best first, until the criterion holds. */
extern const struct amp_strategy amp_strategy_greedy;

#endif
