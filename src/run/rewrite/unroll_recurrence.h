#ifndef AMP_RUN_REWRITE_UNROLL_RECURRENCE_H
#define AMP_RUN_REWRITE_UNROLL_RECURRENCE_H

#include "core/graph/graph.h"

/*
 * Private to run/rewrite: takes recurrent nodes of GRAPH apart, whose steps are known by their
 * operator's descriptor (amp_op.recurrence) and whose number of steps by their types, into the
 * nodes of each step. Those that are not so stay. Whether any was taken apart: types of new values
 * are then still to be inferred.
 */
bool amp_recurrences_unroll(struct amp_model *model, uint32_t graph);

#endif
