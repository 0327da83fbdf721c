#ifndef AMP_RUN_REWRITE_FOLD_SCALES_H
#define AMP_RUN_REWRITE_FOLD_SCALES_H

#include "core/graph/graph.h"

/*
 * Private to run/: folds BatchNormalization, and Mul, Div, Add and Sub with constants of one value
 * or of one value per channel, into the linear operator before them, if they are the only use of
 * its result: (W x + b) f + s is an operator of the same kind with weights f W and bias f b + s.
 * This is done for Conv, ConvTranspose, Gemm and BatchNormalization; MatMul, which has no bias, is
 * followed by an Add. The factors and sums of a chain are computed in double, and each weight and
 * sum is rounded once. Where the dtype lacks the range or the digits for that, the chain stays as
 * it is.
 */
void amp_scales_fold(struct amp_model *model);

#endif
