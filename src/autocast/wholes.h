#ifndef AMP_AUTOCAST_WHOLES_H
#define AMP_AUTOCAST_WHOLES_H

#include "autocast/rules/match.h"

struct amp_composite; /* pattern/composites.h */

/*
 * Wholes: the nodes of a model that were one operator in PyTorch, on which autocast decides as one.
 * Some are known by name, because the exporter for torch.export notes it with each node; others,
 * composites, by a pattern.
 */
struct amp_whole {
    const struct amp_composite *composite; /* by a pattern; NULL: by the exporter's note */
    const char *name;                      /* the composite's, ATen's or the module's of torch.nn */
    struct amp_rule_subject subject;       /* as which rules see it */
    uint32_t root;                         /* the last node */
    uint32_t entry;  /* the node whose inputs the whole's are, of those that rules ask for */
    uint32_t *nodes; /* in the order of the graph */
    size_t n_nodes;
    bool asks_float32; /* its call has torch.float32 among its arguments: softmax(x, -1, dtype) */
    bool promotes; /* it takes part in the promotion of dtypes with its constants: its parts compute
                  element by element */
};

struct amp_wholes {
    struct amp_whole *items;
    size_t count, capacity;
    uint32_t *whole_of; /* per node id: index in items; AMP_NONE: part of none */
    size_t n_nodes;     /* of the model when it was searched */
};

/*
 * Finds the wholes in MODEL, whose types must be inferred, into its arena. A note counts before any
 * pattern, but for composites that the exporter takes apart into several operators of ATen's; which
 * those are, and which composites PyTorch itself runs part by part, the table of RULES says
 * (rules/pytorch.map); rules that name no operator of PyTorch's have none, then all patterns count
 * and no note does. No node is part of two.
 */
const struct amp_wholes *amp_wholes_find(const struct amp_model *model,
                                         const struct amp_rules *rules);

/* The whole that NODE is part of; NULL: none. */
const struct amp_whole *amp_wholes_of(const struct amp_wholes *wholes, uint32_t node);

/* Whether PyTorch promotes the dtypes of NODE's inputs to their widest: it computes element by
   element, or joins tensors (c10::promoteTypes in TensorIterator and in torch.cat). */
bool amp_node_promotes(const struct amp_node *node);

#endif
