#ifndef AMP_ONNX_FUNCTIONS_INLINE_H
#define AMP_ONNX_FUNCTIONS_INLINE_H

#include "onnx/functions/table.h"

/* Private to onnx/functions. */

/*
 * Replaces the calls in GRAPH, the main graph of TABLE's model, and in the graphs within by the
 * bodies of those functions that are marked is_inlined. AMP_MODEL for values or arguments that do
 * not fit; AMP_UNSUPPORTED for an operator that is another one in the function's opset than in the
 * model's.
 */
enum amp_status amp_inline_calls(struct amp_function_table *table, Onnx__GraphProto *graph);

#endif
