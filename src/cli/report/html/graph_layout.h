#ifndef AMP_CLI_REPORT_HTML_GRAPH_LAYOUT_H
#define AMP_CLI_REPORT_HTML_GRAPH_LAYOUT_H

#include "cli/report/html/graph_fold.h"

/* Where a box is, or where an edge crosses a layer on its way further down. */
struct amp_layout_spot {
    uint32_t box;    /* AMP_NONE: a crossing */
    uint32_t source; /* of a crossing: the box from which the edges come; else the box */
    uint32_t layer;  /* 0: at the top */
    double x;        /* of its middle; the least is half its width */
};

/* A piece of an edge, from a layer to the next one. */
struct amp_layout_link {
    uint32_t from, to; /* spots */
    uint32_t edge;     /* of the fold: one of those that it is a piece of */
};

struct amp_layout {
    struct amp_layout_spot *spots; /* those of the boxes first, by their index */
    size_t n_spots;
    struct amp_layout_link *links;
    size_t n_links;
    uint32_t n_layers;
};

/* Lays FOLD out in layers, top to bottom, so that edges go down and cross little; boxes are WIDTH
   wide, GAP apart. In ARENA. */
struct amp_layout amp_layout_fold(const struct amp_fold *fold, double width, double gap,
                                  struct amp_arena *arena);

#endif
