#ifndef AMP_CHECK_NOISE_TWIN_H
#define AMP_CHECK_NOISE_TWIN_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Models of the same graph as a converted one, with the same ids, that compute in float32 what it
 * computes in a lower dtype. All are made in ARENA and share with the models they are made from,
 * which must outlive them and stay unchanged.
 */

/* CONVERTED in float32: values, constants (as they were before the conversion where they are still
   known) and the dtypes that nodes name. Its casts cast float32 to float32. */
struct amp_model *amp_twin_create(const struct amp_model *converted, struct amp_arena *arena);

/* TWIN, of which the N VALUES of the main graph, constants or what nodes give, are no more than
   values: whoever runs it sets them. */
struct amp_model *amp_twin_open(const struct amp_model *twin, const uint32_t *values, size_t n,
                                struct amp_arena *arena);

/* A twin with what a conversion rounds in the bodies of control flow rounded there. */
struct amp_twin_bodies {
    struct amp_model *model; /* NULL: no body rounds anything */
    bool *found;             /* per node of the main graph: whether its bodies round anything */
};

/* TWIN, with all that CONVERTED rounds in bodies rounded there, and nothing in the main graph, in
   ARENA. AMP_MODEL as amp_graph_sort. */
enum amp_status amp_twin_round_bodies(const struct amp_model *twin,
                                      const struct amp_model *converted, struct amp_arena *arena,
                                      struct amp_twin_bodies *bodies, struct amp_error *err);

/* Whether node ID of CONVERTED rounds output VALUE, or makes it in a lower dtype of what is not
   exact in that. Whether its arithmetic comes out even is not known here. */
bool amp_twin_rounds(const struct amp_model *converted, uint32_t id, uint32_t value);

#endif
