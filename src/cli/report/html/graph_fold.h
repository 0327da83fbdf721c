#ifndef AMP_CLI_REPORT_HTML_GRAPH_FOLD_H
#define AMP_CLI_REPORT_HTML_GRAPH_FOLD_H

#include "core/graph/graph.h"

/*
 * A graph made small enough to be drawn: boxes that stand for nodes, for many nodes of one prefix
 * of names, or for an input or output of the graph, and edges between them. Casts between float
 * types are no boxes but marks on edges.
 */
enum amp_fold_kind { AMP_FOLD_NODES, AMP_FOLD_INPUT, AMP_FOLD_OUTPUT };

struct amp_fold_box {
    enum amp_fold_kind kind;
    const char *prefix;      /* of the names of several nodes: "/encoder/layer.0"; else NULL */
    uint32_t node;           /* the first of its nodes; AMP_NONE: an input or output */
    uint32_t value;          /* the input or output; AMP_NONE: nodes */
    size_t n_nodes, n_casts; /* casts are of values that its nodes take */
    size_t n_low, n_full;    /* nodes that compute in bf16 or fp16, in float32 or float64 */
};

struct amp_fold_edge {
    uint32_t from, to;    /* boxes; FROM begins before TO in the order of the graph */
    enum amp_dtype dtype; /* of a value that goes along, before casts */
    bool has_cast;
    bool is_back; /* the value goes from TO to FROM: their nodes are interleaved */
};

struct amp_fold {
    struct amp_fold_box *boxes; /* in the order of the graph, inputs first, outputs last */
    size_t n_boxes;
    struct amp_fold_edge *edges; /* by FROM, then TO: one for each pair */
    size_t n_edges;
    uint32_t *box_of;  /* per node id: its box; AMP_NONE: it has none */
    size_t n_left_out; /* nodes that give no floats, of a graph in which others do */
};

/* Folds the main graph of MODEL, whose types are inferred, to MOST boxes of nodes or fewer; in
   ARENA. */
struct amp_fold amp_fold_graph(const struct amp_model *model, size_t most, struct amp_arena *arena);

#endif
