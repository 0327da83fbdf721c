#ifndef AMP_CLI_REPORT_HTML_GRAPH_DRAWING_H
#define AMP_CLI_REPORT_HTML_GRAPH_DRAWING_H

#include "cli/report/html/document.h"
#include "core/graph/graph.h"

/* What else is to be said of a node. */
struct amp_drawing_note {
    bool is_known;
    double decibels;     /* the less, the worse: of the nodes of a box the least is shown */
    const char *warning; /* NULL: none; else the node is marked, and this is why */
};

/* Draws the main graph of MODEL, whose types are inferred, top to bottom, nodes coloured by the
   dtype that they compute in. NOTES: per node id, shown as "local 34 dB"; NULL: none. */
void amp_html_graph(struct amp_html *html, const struct amp_model *model,
                    const struct amp_drawing_note *notes);

#endif
