#ifndef AMP_AUTOCAST_FORMS_SEQUENCE_SPLIT_H
#define AMP_AUTOCAST_FORMS_SEQUENCE_SPLIT_H

#include "autocast/assign.h"

/*
 * Makes Split of those SplitToSequence nodes whose data ASSIGNMENT lowers to a dtype that sequences
 * cannot hold (bfloat16, at all opsets), and Identity or Squeeze of the SequenceAt nodes that take
 * the pieces out, so that nothing has to go through float32 on the way: where every reader of the
 * sequence takes a piece that is known, of a length that is known, at opsets from 13 on. Returns
 * how many there were; types and order of the graph are then to be found anew.
 */
size_t amp_sequences_split(struct amp_model *model, const struct amp_assignment *assignment);

#endif
