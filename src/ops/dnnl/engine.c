/*
 * Makes and destroys what a session needs of oneDNN: the CPU's engine, one stream, and the list of
 * layouts. It does not execute anything.
 */
#include "ops/dnnl/engine.h"

#include "core/arena.h"
#include "ops/dnnl/layout.h"

#include <stdlib.h>

enum amp_status amp_dnnl_create(const struct amp_own_kernel *const *own, struct amp_dnnl **dnnl,
                                struct amp_error *err)
{
    struct amp_dnnl *made = amp_xcalloc(1, sizeof *made);
    dnnl_status_t status = dnnl_engine_create(&made->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&made->stream, made->engine, dnnl_stream_default_flags);
    if (status != dnnl_success) {
        amp_dnnl_destroy(made);
        return status == dnnl_out_of_memory
                   ? amp_dnnl_check(err, status, "CPU engine")
                   : amp_fail(err, AMP_KERNEL, "oneDNN has no CPU engine on this machine");
    }
    made->layouts = amp_layouts_create(made->engine);
    made->own = own;
    *dnnl = made;
    return AMP_OK;
}

void amp_dnnl_destroy(struct amp_dnnl *dnnl)
{
    if (dnnl == NULL)
        return;
    amp_layouts_destroy(dnnl->layouts);
    dnnl_stream_destroy(dnnl->stream);
    dnnl_engine_destroy(dnnl->engine);
    free(dnnl);
}
