#ifndef AMP_CORE_GRAPH_DUMP_H
#define AMP_CORE_GRAPH_DUMP_H

#include <stdint.h>
#include <stdio.h>

struct amp_model; /* core/graph/graph.h */

/* What a stage knows of a node, for the end of its line; prints nothing, or " ; ..." */
typedef void amp_dump_note(FILE *file, const void *context, uint32_t node);

/* Prints MODEL as text, a line per value and node, bodies indented below their owners. NOTE may be
   NULL. */
void amp_model_dump(FILE *file, const struct amp_model *model, amp_dump_note *note,
                    const void *context);

#endif
