#ifndef AMP_OPS_KERNEL_GATHER_BLOCKS_H
#define AMP_OPS_KERNEL_GATHER_BLOCKS_H

#include "ops/kernel/index_offsets.h"

/*
 * Copies of blocks by index: FROM is [outer, dim, block], TO is [outer, n, block], both row-major;
 * to[o][k] = from[o][indices[k]]. Indices are in 0 to dim-1.
 */
struct amp_gather {
    const void *from;
    void *to;
    size_t block; /* bytes */
    int64_t outer, dim;
    const int64_t *indices;
    int64_t n;
};

void amp_gather_run(const struct amp_gather *gather);

/* TO = the blocks of BLOCK bytes at OFFSETS of FROM, one behind the other. Fails as
   amp_offsets_fail does. */
enum amp_status amp_gather_offsets(struct amp_ctx *ctx, const struct amp_offsets *offsets,
                                   const void *from, void *to, size_t block);

#endif
