#ifndef AMP_OPS_DNNL_DNNL_H
#define AMP_OPS_DNNL_DNNL_H

#include "ops/op.h"

#include <oneapi/dnnl/dnnl.h>

struct amp_layouts;
struct amp_own_kernel;

/* oneDNN as a session uses it; ops/dnnl/engine.h makes it. */
struct amp_dnnl {
    dnnl_engine_t engine; /* of the CPU */
    dnnl_stream_t stream;
    struct amp_layouts *layouts; /* of tensors between primitives: ops/dnnl/layout.h */
    /* Kernels that may run in place of primitives, NULL behind the last: ops/dnnl/own_kernel.h. */
    const struct amp_own_kernel *const *own;
};

/* oneDNN's version, "3.7.2". */
const char *amp_dnnl_version(char *text, size_t size);
/* oneDNN's name of DTYPE; dnnl_data_type_undef when it has none. */
dnnl_data_type_t amp_dnnl_dtype(enum amp_dtype dtype);

/* Whether oneDNN's sums of K products of uint8 with int8 are exact: without VNNI pairs of products
   saturate at 16 bits. With zero points of its own they never are: those go through float32. */
bool amp_dnnl_adds_bytes(int64_t k);

/* AMP_OK for dnnl_success; AMP_UNSUPPORTED when oneDNN has no implementation or does not take the
   arguments, which are right by ONNX when they get here, so that another dtype or kernel can be
   tried; AMP_IO when memory is short; AMP_KERNEL otherwise. WHAT names the call. */
enum amp_status amp_dnnl_check(struct amp_error *err, dnnl_status_t status, const char *what);

/* Runs PRIMITIVE with N arguments for the node of CTX, and notes it in the profile. */
enum amp_status amp_dnnl_execute(const struct amp_ctx *ctx, dnnl_primitive_t primitive, int n,
                                 const dnnl_exec_arg_t *args);

#endif
