#ifndef AMP_AUTOCAST_CAST_INSERT_H
#define AMP_AUTOCAST_CAST_INSERT_H

#include "core/graph/graph.h"
#include "core/status.h"

struct amp_assignment; /* autocast/assign.h */

/* A Cast node that was inserted, and the node on whose account. */
struct amp_inserted_cast {
    uint32_t cast;
    uint32_t cause; /* the node that takes it, of several the first; of a graph output's cast the
                       node that gives it; AMP_NONE: a graph input that is an output too */
};

struct amp_inserted_casts {
    struct amp_inserted_cast *items; /* in the model's arena */
    size_t count, capacity;
};

/*
 * Carries ASSIGNMENT out on MODEL: gives values their new dtypes, Cast nodes to inputs that need
 * another one, offline conversions to constants, and casts to graph outputs, which keep their names
 * and, unless the assignment has them in its interface, their dtypes. If IS_SHARED, there is one
 * Cast per value and dtype for all consumers of all graphs, else one per use; a constant is
 * converted once in either case. Sorts the nodes. Constants that nothing uses any more are dropped.
 * The Cast nodes added go to *CASTS, empty before.
 */
enum amp_status amp_cast_insert(struct amp_model *model, const struct amp_assignment *assignment,
                                bool is_shared, struct amp_inserted_casts *casts,
                                struct amp_error *err);

#endif
