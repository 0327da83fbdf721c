#ifndef AMP_AUTOCAST_SEQUENCES_H
#define AMP_AUTOCAST_SEQUENCES_H

#include "core/graph/graph.h"

struct amp_uses; /* core/graph/uses.h */

/*
 * Sequences that are made of tensors and taken apart again within a graph (SplitToSequence,
 * SequenceConstruct; SequenceAt, ConcatFromSequence): they may carry another dtype than they were
 * declared with, as a tensor may. Cast does not take sequences, so what takes one apart runs in its
 * dtype.
 *
 * Returns per value of MODEL, whose types must be inferred, whether it is such a sequence of floats
 * that may be of each of LOWERS, a mask of dtypes: to be freed.
 */
bool *amp_sequences_find(const struct amp_model *model, const struct amp_uses *uses,
                         uint32_t lowers);

#endif
