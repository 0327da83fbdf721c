#ifndef AMP_AUTOCAST_APART_H
#define AMP_AUTOCAST_APART_H

#include "autocast/rules/torch_map.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

/* Private to autocast/: functions that the exporter for torch.export took apart, known by the
   operators of ATen's that it notes. */

/* Nodes that follow each other in a graph and are for one call of ATen's. */
struct amp_noted_call {
    struct amp_str op, overload, args; /* "sum", "dim_IntList", "%mul, [1]), kwargs = {})" */
    size_t begin, end;                 /* of its nodes in the graph's list; others may be between */
};

struct amp_noted_calls {
    struct amp_noted_call *items;
    size_t count, capacity;
};

/* The calls that the nodes of GRAPH are noted for, in order, into MODEL's arena. */
struct amp_noted_calls amp_noted_calls_read(const struct amp_model *model, uint32_t graph);

/* Where functions are looked for. */
struct amp_apart_search {
    const struct amp_model *model;
    const struct amp_uses *uses;
    const uint32_t *place_of; /* per node id: when it is decided on, bodies before their node */
    const struct amp_torch_map *map;
};

/* How many of CALLS, of GRAPH, are what APART says, from the one at AT on, with constants of the
   table's between them. They have one stack trace, whose line calls none of them, and what all but
   the last give is taken by none but them. 0: they are not. */
size_t amp_apart_match(const struct amp_apart_search *search, const struct amp_torch_apart *apart,
                       uint32_t graph, const struct amp_noted_calls *calls, size_t at);

#endif
