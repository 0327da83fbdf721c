#ifndef AMP_CLI_REPORT_HTML_SVG_H
#define AMP_CLI_REPORT_HTML_SVG_H

#include "cli/report/html/document.h"

#include <stdint.h>

/* Values along a side of a drawing. */
struct amp_svg_axis {
    const char *title;
    bool is_log, is_whole; /* is_whole: counts, no numbers between */
    double low, high;      /* values at the ends: low < high, above 0 where is_log */
    double from, to;       /* the ends' coordinates in the drawing */
};

/* An axis over the values from LOW to HIGH, widened to round numbers; to whole decades where
   IS_LOG. Any finite numbers will do; of an axis that is logarithmic, HIGH is above 0. */
struct amp_svg_axis amp_svg_axis_over(const char *title, bool is_log, double low, double high);

/* Where VALUE lies; beyond the ends and NaN: at an end. */
double amp_svg_at(const struct amp_svg_axis *axis, double value);

/* Begins a drawing of WIDTH and HEIGHT that screen readers call TITLE; ends it. */
void amp_svg_begin(struct amp_html *html, double width, double height, const char *title);
void amp_svg_end(struct amp_html *html);

/* A drawing with an axis below and one at the left. */
struct amp_svg_plot {
    double width, height;            /* of all */
    double strip;                    /* room between the lower axis and its numbers */
    double left, right, top, bottom; /* of the field between the axes */
    struct amp_svg_axis x, y;        /* from and to are set by amp_svg_plot_begin */
};

/* Begins a drawing with the axes of PLOT, of which width, height, x and y are set. */
void amp_svg_plot_begin(struct amp_html *html, struct amp_svg_plot *plot, const char *title);

/* The grid lines and numbers of the axis below alone, for drawings that have no other. */
void amp_svg_put_x(struct amp_html *html, const struct amp_svg_plot *plot);

/* A line across the plot at Y with a text at its beginning. CLASS: of the style. */
void amp_svg_put_level(struct amp_html *html, const struct amp_svg_plot *plot, double y,
                       const char *class, const char *text);

/* A rectangle that says TITLE when it is pointed at. */
struct amp_svg_box {
    double x, y, width, height;
    const char *class;
    const char *title;
};
void amp_svg_put_box(struct amp_html *html, const struct amp_svg_box *box);

/* A sign that something is wrong: a triangle with its tip at X, Y, pointing up, that says TITLE. */
void amp_svg_put_warning(struct amp_html *html, double x, double y, const char *title);

/* Writes VALUE as a label: "0.25", "1e-12", "65504". Returns TEXT. */
const char *amp_svg_number(double value, char text[32]);

#endif
