#ifndef AMP_OPS_OWN_AMX_READ_H
#define AMP_OPS_OWN_AMX_READ_H

#include "ops/own/amx_product.h"

#include <oneapi/dnnl/dnnl.h>

/* The windows of a convolution over images whose channels are last; lines before columns. */
struct tile_windows {
    int64_t height, width, channels, pixel; /* of the input; elements from pixel to pixel */
    int64_t out_height, out_width;
    int64_t size[2], stride[2], dilation[2], pad[2];
};

/* What a primitive computes, in terms of tiles. */
struct tile_matmul {
    struct tile_product product; /* without data */
    bool has_windows;            /* A is what the windows hold, a row for each */
    struct tile_windows windows;
};

/* Reads what PD, of oneDNN's matmul or convolution, computes into MATMUL, which holds zeros. False:
   no product of bfloat16 with weights packed for tiles, a post-op that there is none for here, a
   CPU without AMX, or a shape that oneDNN is as fast for. */
bool amp_amx_read(const_dnnl_primitive_desc_t pd, struct tile_matmul *matmul);

#endif
