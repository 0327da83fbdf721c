#ifndef AMP_OPS_OWN_AMX_POST_H
#define AMP_OPS_OWN_AMX_POST_H

#include "ops/own/amx_product.h"

/* The post-op of oneDNN's ALG (dnnl_alg_kind_t), with one argument or with an operand; NULL: there
   is none here. */
tile_post_run *amp_amx_find_eltwise(int alg);
tile_post_run *amp_amx_find_binary(int alg);

/* Does the product's post-ops to RESULTS and stores them in its Y. */
void amp_amx_store(const struct tile_product *product, struct results *results);

#endif
