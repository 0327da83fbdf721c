#ifndef AMP_CORE_GRAPH_USES_H
#define AMP_CORE_GRAPH_USES_H

#include <stdbool.h>
#include <stdint.h>

struct amp_model; /* core/graph/graph.h */

/* Input SLOT of node NODE. */
struct amp_use {
    uint32_t node, slot;
};

/*
 * The uses of every value: nodes of all graphs that take it, in the order of their ids. A graph's
 * outputs are not uses; amp_value.is_output tells them.
 */
struct amp_uses {
    uint32_t *first; /* uses of value v: items[first[v]] .. items[first[v + 1] - 1] */
    struct amp_use *items;
};

/* The uses of all values of MODEL as it is; to be destroyed. */
struct amp_uses amp_uses_create(const struct amp_model *model);
void amp_uses_destroy(struct amp_uses *uses);

/* Per value of MODEL, how often graphs give it out: to be freed. */
uint32_t *amp_uses_count_outputs(const struct amp_model *model);

/* Per value of MODEL, how often nodes take it and graphs give it out: to be freed. */
uint32_t *amp_uses_count(const struct amp_model *model);

/* Sets *USE to the one use of VALUE, by a node of VALUE's graph. False when there are others, or
   VALUE is an output of its graph. */
bool amp_uses_only(const struct amp_model *model, const struct amp_uses *uses, uint32_t value,
                   struct amp_use *use);

#endif
