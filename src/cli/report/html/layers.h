#ifndef AMP_CLI_REPORT_HTML_LAYERS_H
#define AMP_CLI_REPORT_HTML_LAYERS_H

#include "cli/report/html/document.h"
#include "core/graph/graph.h"

struct amp_layers;  /* check/layers.h */
struct amp_metrics; /* check/metrics.h */

/* The signal to noise of METRICS, in dB; infinity where all is equal, NaN where nothing finite can
   be compared. */
double amp_html_decibels(const struct amp_metrics *metrics);

/* Draws the error along the graph: accumulated and local by value, where casts are, what stands
   out, and tables of the worst values. CONVERTED: the model of LAYERS. BOUND: the least signal to
   noise allowed, NaN: none. */
void amp_html_layers(struct amp_html *html, const struct amp_layers *layers,
                     const struct amp_model *converted, double bound);

/* The values that stand out in LAYERS, at most AMP_HTML_MARKS of them, for texts and marks. */
enum { AMP_HTML_MARKS = 4 };
struct amp_html_mark {
    size_t item;       /* in LAYERS */
    const char *label; /* "first infinity" */
};
size_t amp_html_layer_marks(const struct amp_layers *layers,
                            struct amp_html_mark marks[AMP_HTML_MARKS]);

/* The values of LAYERS with the largest magnitudes, as bars against what float16 and bfloat16
   hold. */
void amp_html_layer_ranges(struct amp_html *html, const struct amp_layers *layers);

/* Draws CONVERTED as amp_html_graph does, with what LAYERS, which may be NULL, say of its nodes. */
void amp_html_compared_graph(struct amp_html *html, const struct amp_model *converted,
                             const struct amp_layers *layers);

#endif
