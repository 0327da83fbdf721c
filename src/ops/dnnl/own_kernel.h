#ifndef AMP_OPS_DNNL_OWN_KERNEL_H
#define AMP_OPS_DNNL_OWN_KERNEL_H

#include "core/dtype.h"

#include <oneapi/dnnl/dnnl.h>

/*
 * The hook for kernels of this program's own. A session installs a list of them (amp_dnnl.own;
 * ops/own/kernels.h has it); this room knows no kernel by name.
 */

/* Computes what primitives of oneDNN describe, in their place and on their memories. */
struct amp_own_primitive {
    /* What run and destroy take, for the primitive that PD describes. NULL: the kernel does not
       compute that, is not faster than oneDNN there, or lacks instructions or memory. */
    void *(*create)(const_dnnl_primitive_desc_t pd);
    /* Computes with the primitive's N arguments, whose memories have the layouts that PD has. */
    void (*run)(const void *state, int n, const dnnl_exec_arg_t *args);
    void (*destroy)(void *state); /* NULL is fine */
};

/* One kernel, by what it computes: one of the three is set. Families ask for the second and the
   third themselves, before they make a primitive. */
struct amp_own_kernel {
    const char *name;     /* for profiles, in the place of oneDNN's implementation */
    enum amp_dtype dtype; /* that it reads */
    const struct amp_own_primitive *primitive;
    const struct amp_softmax_kernel *softmax; /* ops/own/softmax_512.h */
    const struct amp_rnn_kernel *rnn;         /* ops/own/rnn_kernel.h */
};

#endif
