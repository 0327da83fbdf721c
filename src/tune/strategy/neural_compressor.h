#ifndef AMP_TUNE_STRATEGY_NEURAL_COMPRESSOR_H
#define AMP_TUNE_STRATEGY_NEURAL_COMPRESSOR_H

#include "tune/search.h"

/* Goes as auto_mixed_precision of Intel Neural Compressor 2 does: every unit low; each operator
   back in float32; each unit; then units together, the best first, until the criterion holds. */
extern const struct amp_strategy amp_strategy_neural_compressor;

#endif
