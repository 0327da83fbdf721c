#ifndef AMP_CLI_REPORT_HTML_RANGES_H
#define AMP_CLI_REPORT_HTML_RANGES_H

#include "cli/report/html/document.h"
#include "core/dtype.h"
#include "core/number/range.h"

/* The range of a value. */
struct amp_html_range {
    const char *name, *op_type; /* OP_TYPE: of the node that gives it; "": none */
    enum amp_dtype dtype;       /* that it has in the converted model */
    struct amp_range range;     /* in the reference */
};

/* Draws COUNT RANGES, or those of them with the largest and the least magnitudes, as bars against
   what float16 and bfloat16 hold. */
void amp_html_ranges(struct amp_html *html, const struct amp_html_range *ranges, size_t count);

#endif
