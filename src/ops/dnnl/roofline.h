#ifndef AMP_OPS_DNNL_ROOFLINE_H
#define AMP_OPS_DNNL_ROOFLINE_H

#include "core/dtype.h"
#include "core/status.h"

/*
 * What this machine reaches in one dtype: oneDNN's product of two matrices of 1024 x 1024, large
 * enough to keep all cores busy and small enough to stay in the caches, as an upper bound for
 * the arithmetic of models.
 */
#define AMP_ROOFLINE_FLOPS (2.0 * 1024 * 1024 * 1024)

struct amp_roofline;

/* AMP_UNSUPPORTED when oneDNN has no product in DTYPE on this machine. */
enum amp_status amp_roofline_create(enum amp_dtype dtype, struct amp_roofline **roofline,
                                    struct amp_error *err);
void amp_roofline_destroy(struct amp_roofline *roofline); /* NULL is fine */

/* Computes the product once, in *SECONDS. */
enum amp_status amp_roofline_run(struct amp_roofline *roofline, double *seconds,
                                 struct amp_error *err);

#endif
