#ifndef AMP_RUN_PLAN_PLAN_H
#define AMP_RUN_PLAN_PLAN_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * How a model is executed: its graphs, rewritten so that they compute the same with fewer nodes,
 * and the steps that run, in order. A plan does not change once it is made: sessions
 * (run/exec/session.h) in several threads may share it. The model must outlive it and stay
 * unchanged.
 */
struct amp_plan {
    struct amp_arena *arena;       /* of the plan's own */
    const struct amp_model *model; /* the rewritten one */
    struct amp_plan_graph *graphs; /* one for each graph of the model */
    bool blocks_channels;          /* amp_host.blocks_channels */
    size_t n_squeezed;             /* nodes, onnx/schema/slices.h */
    size_t n_integer;              /* nodes, run/rewrite/integer_nodes.h */
};

/* The steps of one graph, sorted; constant nodes, whose results the model holds, have none. */
struct amp_plan_graph {
    struct amp_step *steps; /* run/plan/step.h */
    size_t n_steps;
};

/* How closely a run keeps to what the model says. */
enum amp_strictness {
    AMP_FREE, /* nodes are computed together where one primitive can: what lies between them is not
                 rounded to its dtype */
    AMP_ROUNDED, /* node by node, as other runtimes do */
    AMP_LITERAL  /* node by node, and where other runtimes do not follow ONNX's definition of an
                    operator, by the definition (onnx/schema/slices.h) */
};

/* Plans MODEL, whose types are inferred. AMP_UNSUPPORTED with operator and node when there is no
   kernel for one; AMP_MODEL for a type that is not known. */
enum amp_status amp_plan_create(const struct amp_model *model, enum amp_strictness strictness,
                                const struct amp_plan **plan, struct amp_error *err);

/* After all sessions of PLAN; NULL is fine. */
void amp_plan_destroy(const struct amp_plan *plan);

/* The first node of MODEL that there is no kernel for; AMP_NONE: there is one for each. */
uint32_t amp_plan_find_unsupported(const struct amp_model *model);

#endif
