#ifndef AMP_OPS_OWN_AMX_KERNEL_H
#define AMP_OPS_OWN_AMX_KERNEL_H

#include "ops/own/amx_product.h"

/* Computes units FIRST to END - 1 of the product's Y, UNIT columns each. The CPU has AMX. */
void amp_amx_multiply(const struct tile_product *product, int64_t first, int64_t end);

#endif
