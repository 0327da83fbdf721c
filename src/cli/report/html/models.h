#ifndef AMP_CLI_REPORT_HTML_MODELS_H
#define AMP_CLI_REPORT_HTML_MODELS_H

#include "cli/report/html/document.h"
#include "core/graph/graph.h"

/* A model of a report, with types inferred. */
struct amp_html_model {
    const char *role; /* "reference" */
    const char *path; /* "stdin" for - */
    const struct amp_model *model;
    size_t bytes; /* of its files; 0: not known */
};

/* Writes a table of what COUNT models are, side by side: nodes by dtype, casts, bytes, opset. */
void amp_html_models(struct amp_html *html, const struct amp_html_model *models, size_t count);

/* Writes a table of the operators of MODEL, how many nodes of each compute in which dtype, the most
   frequent first. */
void amp_html_operators(struct amp_html *html, const struct amp_model *model);

#endif
