#ifndef AMP_RUN_REWRITE_FOLD_SCALES_H
#define AMP_RUN_REWRITE_FOLD_SCALES_H

#include "core/graph/graph.h"

/*
 * Private to run/: BatchNormalization and Mul, Div, Add and Sub with constants of one value, or of
 * one for each channel, become part of the operator before them, whose result they are the only use
 * of: y = W x + b times f plus s is an operator of the same kind with f W and f b + s. So it is for
 * Conv, ConvTranspose, Gemm and BatchNormalization itself; MatMul, which has no b, is followed by
 * an Add. A chain of such nodes is computed in double; each weight and sum is rounded once. Where
 * its dtype lacks the range for that, everything stays as it is.
 */
void amp_fold_channels(struct amp_model *model);

/* Makes NODE of MODEL one of OP_TYPE of ai.onnx, the newest that the executor has, without
   attributes. */
void amp_node_become(struct amp_model *model, uint32_t node, const char *op_type);

#endif
