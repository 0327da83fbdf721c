#ifndef AMP_ONNX_FUNCTIONS_FUNCTIONS_H
#define AMP_ONNX_FUNCTIONS_FUNCTIONS_H

#include "core/arena.h"
#include "core/status.h"

#include "onnx.pb-c.h"

#include <stdbool.h>

/* Private to onnx/. Bounds on what is inlined. */
enum {
    AMP_FUNCTION_DEPTH_MAX = 64,      /* calls within calls */
    AMP_FUNCTION_NODES_MAX = 1000000, /* nodes that all calls together become */
    AMP_FUNCTION_PARTS_MAX = 8000000  /* inputs, outputs and attributes of these */
};

/*
 * Replaces calls of model-local functions in MODEL by the functions' bodies, nested calls too. With
 * ALL every call goes; without it a function stays, with its calls, when no operator that it holds
 * (nor one in the functions that it calls) takes or gives float tensors by its definition, and none
 * is defined anew in a later opset: there is nothing in it to convert or to raise. A name that
 * stands for an operator of ONNX is that operator and no call, as in ONNX Runtime. Functions that
 * were inlined and that no function left in the model calls are dropped; all others stay untouched.
 * Constants of some size that do not depend on the call come into the main graph once, for all
 * calls. Names and notes of nodes become shorter where calls would repeat them beyond measure.
 *
 * Memory comes from ARENA. AMP_MODEL: a function that calls itself, calls nested too deep, values
 * or arguments that do not fit. AMP_UNSUPPORTED: an operator that is another one in the function's
 * opset than in the model's; more than the bounds above; an attribute parameter that holds a graph.
 * The model is then unusable. Source: ONNX, docs/IR.md, Functions.
 */
enum amp_status amp_functions_inline(Onnx__ModelProto *model, bool all, struct amp_arena *arena,
                                     struct amp_error *err);

/*
 * Drops what raising the opset made invalid, once MODEL's opset imports and nodes are final: ONNX
 * lets a function import another opset than the model only as long as its operators are the same in
 * both. Where that is broken, all functions that the graph does not call, directly or not, are
 * dropped; those that it calls hold nothing that could change. Fails as amp_functions_inline does.
 */
enum amp_status amp_functions_drop_invalid(Onnx__ModelProto *model, struct amp_arena *arena,
                                           struct amp_error *err);

#endif
