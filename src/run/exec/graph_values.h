#ifndef AMP_RUN_EXEC_GRAPH_VALUES_H
#define AMP_RUN_EXEC_GRAPH_VALUES_H

#include "run/exec/state.h"

/* Private to run/exec: the inputs and outputs of a session's graphs. */

/* Gives the main graph of SESSION its INPUTS, as amp_session_run takes them. AMP_MODEL for one that
   is missing, or has another dtype or shape than the model declares. */
enum amp_status amp_graph_feed(struct amp_session *session, const struct amp_tensor *inputs,
                               struct amp_error *err);

/* Gives the outputs of GRAPH, row-major, to OUTPUTS. AMP_MODEL for one that has no value. */
enum amp_status amp_graph_collect(struct amp_session *session, uint32_t graph,
                                  struct amp_tensor *outputs, struct amp_error *err);

/* Drops what is left of GRAPH's values when its steps have run: inputs and outputs. */
void amp_graph_drop(struct amp_session *session, uint32_t graph);

#endif
