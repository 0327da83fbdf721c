#ifndef AMP_RUN_REWRITE_FUSE_COMPOSITES_H
#define AMP_RUN_REWRITE_FUSE_COMPOSITES_H

#include "core/graph/graph.h"

/*
 * Private to run/: a copy of MODEL, in ARENA, that computes the same with fewer nodes: composites
 * (pattern/composites.h) are the operators that they stand for, constants that a node only reshapes
 * are constants, a Sum of two is an Add, a BatchNormalization after a Conv is part of its weights,
 * and what stands between a product and a node that could be done with it has moved behind that.
 * Results differ by what is no longer rounded in between.
 */
struct amp_model *amp_fuse(const struct amp_model *model, struct amp_arena *arena);

#endif
