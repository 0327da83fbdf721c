#ifndef AMP_CORE_GRAPH_COPY_H
#define AMP_CORE_GRAPH_COPY_H

struct amp_arena; /* core/arena.h */
struct amp_model; /* core/graph/graph.h */

/* A copy of MODEL in ARENA that can be changed: graphs, nodes and values of its own; what they
   point to is MODEL's, which must outlive it. */
struct amp_model *amp_model_copy(const struct amp_model *model, struct amp_arena *arena);

#endif
