/*
 * Lines that the reports of several commands have in common.
 */
#include "cli/report/text.h"

#include "core/graph/graph.h"
#include "core/print.h"
#include "onnx/schema/check.h"

void amp_report_widened(FILE *file, size_t widened)
{
    if (widened > 0)
        amp_print(file,
                  AMP_REPORT_LABEL "%zu node%s computed in float32 and rounded: no kernel for the "
                                   "lower dtype\n",
                  "widened", widened, widened == 1 ? "" : "s");
}

void amp_report_squeezed(FILE *file, size_t squeezed)
{
    if (squeezed > 0)
        amp_print(file,
                  AMP_REPORT_LABEL
                  "%zu node%s with split 1 and keepdims 0: without the dim, as ONNX "
                  "Runtime has it; ONNX keeps it, as --strict does\n",
                  "squeezed", squeezed, squeezed == 1 ? "" : "s");
}

void amp_report_integers(FILE *file, size_t integers)
{
    if (integers > 0)
        amp_print(file,
                  AMP_REPORT_LABEL
                  "%zu quantized node%s on the integers, as QLinear operators are defined; "
                  "--strict computes in floats between DequantizeLinear and QuantizeLinear\n",
                  "integers", integers, integers == 1 ? "" : "s");
}

void amp_report_newer_types(FILE *file, const struct amp_model *model)
{
    char text[1024];
    size_t count = amp_check_newer_types(model, text, sizeof text);
    if (count == 0)
        return;
    amp_print(file, "ampconv: warning: %s: %s", model->path, text);
    if (count > 1)
        amp_print(file, " (and %zu more node%s like it)", count - 1, count == 2 ? "" : "s");
    fputc('\n', file);
}
