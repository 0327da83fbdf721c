#ifndef AMP_CLI_REPORT_HTML_NODE_PRECISION_H
#define AMP_CLI_REPORT_HTML_NODE_PRECISION_H

#include "core/graph/graph.h"

/* The dtype that a node of MODEL, whose types are inferred, computes in: that of its first float
   output; AMP_UNDEFINED: it gives no floats. */
enum amp_dtype amp_html_precision(const struct amp_model *model, uint32_t node);

/* Whether NODE casts between float types: what a conversion inserts. */
bool amp_html_is_cast(const struct amp_model *model, uint32_t node);

/* The class of the page's style for DTYPE: "low", "full" (float32 and float64) or "other". */
const char *amp_html_dtype_class(enum amp_dtype dtype);

/* DTYPE for people: "bf16"; "no floats" for AMP_UNDEFINED. */
const char *amp_html_dtype_text(enum amp_dtype dtype);

#endif
