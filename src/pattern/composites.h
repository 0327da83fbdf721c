#ifndef AMP_PATTERN_COMPOSITES_H
#define AMP_PATTERN_COMPOSITES_H

#include "core/graph/graph.h"

/*
 * Composites: operators that exporters take apart into several nodes, LayerNormalization, Gelu and
 * so on. composites.inc lists their patterns. A composite is called what ONNX calls the whole,
 * whatever opset has it, else what PyTorch calls it.
 */
struct amp_composite {
    const char *name;
    const char *head; /* the operator among the parts that is the whole but for details: MatMul of
                         linear; NULL: none */
    const char *text; /* its pattern (pattern/pattern.h); the main input is called x */
    int torch_below;  /* torch.onnx writes it at opsets below this one; 0: at any; 1: at none */
};

/* The patterns, those of one composite together; NULL past the end. */
const struct amp_composite *amp_composite_at(size_t index);

/* The first pattern of composite NAME; NULL when there is none. */
const struct amp_composite *amp_composite_find(const char *name);

/* One composite found in a graph. */
struct amp_composite_match {
    const struct amp_composite *composite;
    uint32_t root;   /* the node whose first output is the whole's */
    uint32_t entry;  /* the node whose first input is the whole's: the composite's head where it has
                        one; else the first that takes x there, else the root */
    uint32_t *nodes; /* all parts, in the order of the graph */
    size_t n_nodes;
};

/* All composites of a model. */
struct amp_composites {
    struct amp_composite_match *matches; /* graph by graph, in the order of their roots */
    size_t n_matches;
    uint32_t *match_of; /* per node id: index in matches; AMP_NONE: part of none */
    size_t n_nodes;     /* of the model when it was searched */
};

/* Says which matches count. */
struct amp_composite_filter {
    bool (*accepts)(const void *context, const struct amp_composite *composite,
                    const uint32_t *nodes, size_t n_nodes);
    const void *context;
};

/*
 * Finds the composites in MODEL, whose types must be inferred, into its arena. No node is part of
 * two: of those that overlap the one of more nodes counts; of equal ones that whose pattern stands
 * first in the list; then the one whose root comes first. Matches that FILTER does not accept are
 * not there for that; NULL: it accepts all. The time is linear in the nodes.
 */
void amp_composites_find(const struct amp_model *model, const struct amp_composite_filter *filter,
                         struct amp_composites *composites);

#endif
