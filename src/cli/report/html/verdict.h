#ifndef AMP_CLI_REPORT_HTML_VERDICT_H
#define AMP_CLI_REPORT_HTML_VERDICT_H

#include "cli/report/html/document.h"

#include <stdint.h>

struct amp_input_notes; /* cli/report/inputs.h */
struct amp_metrics;     /* check/metrics.h */
struct amp_task;        /* check/task/labels.h */
struct amp_validation;  /* check/validate.h */

/* Writes whether the converted model is within tolerance, why not, and a table of its outputs with
   all metrics. NOTE: a sentence behind the verdict, as what was written; "": none. */
void amp_html_verdict(struct amp_html *html, const struct amp_validation *validation,
                      const char *note);

/* Writes a table of what COUNT labelled TASKS came to, of two models if IS_PAIR; nothing for none.
 */
void amp_html_tasks(struct amp_html *html, const struct amp_task *tasks, size_t count,
                    bool is_pair);

/* The bound on the signal to noise of VALIDATION's outputs; NaN: none. */
double amp_html_snr_bound(const struct amp_validation *validation);

/* Begins a table of settings: the program, the machine and what supplied the inputs, NULL: no run.
   More follow with amp_html_setting. */
void amp_html_settings_begin(struct amp_html *html, const struct amp_input_notes *inputs);
void amp_html_setting(struct amp_html *html, const char *name, const char *value);
void amp_html_settings_end(struct amp_html *html);

/* The metrics that a table of outputs shows, a bit for each by its place (amp_metric_shown_at):
   those that are defined for METRICS. */
uint32_t amp_html_metrics_defined(const struct amp_metrics *metrics);

/* Begins a table of outputs: of name, verdict if HAS_VERDICT, type, and the metrics SHOWN, whose
   cells the other function writes. */
void amp_html_metrics_head(struct amp_html *html, const char *caption, bool has_verdict,
                           uint32_t shown);
void amp_html_metrics_cells(struct amp_html *html, const struct amp_metrics *metrics,
                            uint32_t shown);

#endif
