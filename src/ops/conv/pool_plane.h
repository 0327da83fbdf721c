#ifndef AMP_OPS_CONV_POOL_PLANE_H
#define AMP_OPS_CONV_POOL_PLANE_H

#include "ops/conv/window.h"

struct amp_pool {
    struct amp_window window;
    double p;               /* of a norm */
    const double *divisors; /* of an average, one per step */
};

/* One plane: IMAGE to STEPS; INDEX, where not NULL, gets the place of each maximum. */
typedef void amp_plane_fn(const struct amp_pool *pool, const void *image, void *steps,
                          int64_t *index);

enum amp_pool_kind {
    AMP_POOL_MAX, /* the one that gives indices */
    AMP_POOL_AVERAGE,
    AMP_POOL_NORM,
    AMP_POOL_GLOBAL_MAX, /* GLOBAL: a whole plane to one value, summed in double */
    AMP_POOL_GLOBAL_AVERAGE,
    AMP_POOL_GLOBAL_NORM
};

/* The kernels of KIND by dtype, NULL where there is none; P is that of a norm. */
amp_plane_fn *const *amp_pool_planes(enum amp_pool_kind kind, double p);

#endif
