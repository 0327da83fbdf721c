#ifndef AMP_TUNE_STRATEGY_BISECT_H
#define AMP_TUNE_STRATEGY_BISECT_H

#include "tune/search.h"

/* Goes as auto_mixed_precision of onnxconverter-common does: the longest stretch of units that
   nothing is known of goes low, beside those that may; where the criterion does not hold then, it
   is halved. */
extern const struct amp_strategy amp_strategy_bisect;

#endif
