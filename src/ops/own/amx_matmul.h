#ifndef AMP_OPS_OWN_AMX_MATMUL_H
#define AMP_OPS_OWN_AMX_MATMUL_H

#include <oneapi/dnnl/dnnl.h>

/*
 * Products of bfloat16 matrices on the tiles of AMX: what oneDNN's primitives of matmul and of
 * convolution do, from the same packed weights, in two regards faster. With few rows the arithmetic
 * takes no longer than the weights take to come from memory; oneDNN does one after the other, these
 * kernels fetch the weights of the columns to come while they multiply. And where another program
 * runs on the other half of the core, which is common on shared machines, oneDNN's kernels, which
 * use all eight tiles, are three times slower; these use seven, and lose half as much.
 */
struct amp_tiles;

/* What executes PD, of a primitive with bfloat16 inputs, in the place of oneDNN's kernel. NULL:
   that is no slower, the CPU has no AMX, or PD holds what these kernels do not do. */
struct amp_tiles *amp_tiles_create(const_dnnl_primitive_desc_t pd);
void amp_tiles_destroy(struct amp_tiles *tiles); /* NULL is fine */

/* The name for profiles, beside the names of oneDNN's implementations. */
extern const char *const amp_tiles_name;

/* Executes, with the arguments that the primitive takes. */
void amp_tiles_run(const struct amp_tiles *tiles, int n, const dnnl_exec_arg_t *args);

#endif
