#ifndef AMP_ONNX_TRAINING_REFERENCES_H
#define AMP_ONNX_TRAINING_REFERENCES_H

#include "core/arena.h"
#include "core/strmap.h"

#include "onnx.pb-c.h"

/* Private to onnx/training: names in a graph, each once, in the order in which they come. */
struct amp_name_list {
    const char **items;
    size_t count, capacity;
    struct amp_strmap known;
};

/* Adds NAME unless it is there. */
void amp_name_list_add(struct amp_name_list *list, struct amp_arena *arena, const char *name);

struct amp_graph_names {
    struct amp_name_list own, foreign, points;
};

/*
 * Finds the names in GRAPH, the graphs that its nodes hold included: own are those of its values
 * and nodes, foreign those of values that it reads, gives out or has gradients taken of and that
 * neither it nor a graph in it defines, points those that it has gradients taken by and at.
 */
void amp_graph_find_names(const Onnx__GraphProto *graph, struct amp_arena *arena,
                          struct amp_graph_names *names);

#endif
