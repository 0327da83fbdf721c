#ifndef AMP_TUNE_UNITS_H
#define AMP_TUNE_UNITS_H

#include "autocast/assign.h"
#include "tune/problem.h"

/*
 * The units of a conversion in which all that may be is low: the parts of a composite are one, what
 * only moves elements goes with what gives them or takes them, and all of the bodies of a node of
 * control flow with that node.
 */
struct amp_units {
    struct amp_unit *items; /* without losses; in the order of the graph */
    size_t count;
    uint32_t *of_node; /* per node id of the converted model: its unit; AMP_NONE: none */
};

/* Makes two units of each of UNITS that HAS_STEPS says, an entry per unit: a first step and a
   second one, which nodes belong to (tune/problem.h). */
void amp_units_split(struct amp_units *units, const bool *has_steps, struct amp_arena *arena);

/* The units of CONVERTED, which ASSIGNMENT was carried out in, in ARENA. */
struct amp_units amp_units_find(const struct amp_model *converted,
                                const struct amp_assignment *assignment, struct amp_arena *arena);

#endif
