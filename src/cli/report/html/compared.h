#ifndef AMP_CLI_REPORT_HTML_COMPARED_H
#define AMP_CLI_REPORT_HTML_COMPARED_H

#include "cli/report/html/models.h"

struct amp_input_notes; /* cli/report/inputs.h */
struct amp_layers;      /* check/layers.h */
struct amp_noise;       /* check/noise.h */
struct amp_validation;  /* check/validate.h */

/*
 * Two models that ran on the same inputs: what the reports of a conversion and of a comparison have
 * in common. It is the first member of what their sections take, so that those of both can be the
 * functions below.
 */
struct amp_html_compared {
    struct amp_html_model models[2]; /* the reference, the other */
    /* NULL where there is none. */
    const struct amp_input_notes *inputs;
    const struct amp_validation *validation;
    const struct amp_layers *layers;
    const struct amp_noise *noise;
};

/* Sections, and whether there is something for them (struct amp_html_section). DATA: a struct
   amp_html_compared. */
bool amp_html_has_layers(const void *data);
bool amp_html_has_noise(const void *data);
bool amp_html_has_findings(const void *data);
bool amp_html_has_pictures(const void *data);
void amp_html_write_findings(struct amp_html *html, const void *data);
void amp_html_write_layers(struct amp_html *html, const void *data);
void amp_html_write_noise(struct amp_html *html, const void *data);
void amp_html_write_ranges(struct amp_html *html, const void *data);
void amp_html_write_outputs(struct amp_html *html, const void *data);
void amp_html_write_models(struct amp_html *html, const void *data);
void amp_html_write_operators(struct amp_html *html, const void *data);
void amp_html_write_graph(struct amp_html *html, const void *data);

#endif
