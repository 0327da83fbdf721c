#ifndef AMP_OPS_OWN_AMX_MATMUL_H
#define AMP_OPS_OWN_AMX_MATMUL_H

#include "ops/dnnl/own_kernel.h"

/*
 * Products of bfloat16 matrices on the tiles of AMX: what oneDNN's primitives of matmul and of
 * convolution do, from the same packed weights, in two regards faster. With few rows the arithmetic
 * takes no longer than the weights take to come from memory; oneDNN does one after the other, these
 * kernels fetch the weights of the columns to come while they multiply. And where another program
 * runs on the other half of the core, which is common on shared machines, oneDNN's kernels, which
 * use all eight tiles, are three times slower; these use seven, and lose half as much.
 */
extern const struct amp_own_primitive amp_amx_matmul;

#endif
