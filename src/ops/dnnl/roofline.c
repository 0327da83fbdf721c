/*
 * Measures the machine's matrix product in one dtype: oneDNN's primitive, with the weights in the
 * layout that it asks for, on made-up values.
 */
#include "ops/dnnl/roofline.h"

#include "core/buffer.h"
#include "core/clock.h"
#include "core/convert.h"
#include "core/memory.h"
#include "core/tensor.h"
#include "ops/dnnl/engine.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024, N_MEMORIES = 3 };

struct amp_roofline {
    struct amp_dnnl *dnnl;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;
    struct {
        dnnl_memory_t memory;
        struct amp_buffer *buffer;
    } memories[N_MEMORIES];
};

static const struct {
    int arg;
    dnnl_query_t query;
    dnnl_format_tag_t layout;
} arguments[N_MEMORIES] = {{DNNL_ARG_SRC, dnnl_query_src_md, dnnl_ab},
                           {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, dnnl_format_tag_any},
                           {DNNL_ARG_DST, dnnl_query_dst_md, dnnl_ab}};

static enum amp_status create_pd(struct amp_roofline *roofline, enum amp_dtype dtype,
                                 struct amp_error *err)
{
    static const dnnl_dims_t dims = {SIDE, SIDE};
    dnnl_memory_desc_t descs[N_MEMORIES] = {NULL};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < N_MEMORIES && status == dnnl_success; i++)
        status = dnnl_memory_desc_create_with_tag(&descs[i], 2, dims, amp_dnnl_dtype(dtype),
                                                  arguments[i].layout);
    if (status == dnnl_success)
        status = dnnl_matmul_primitive_desc_create(&roofline->pd, roofline->dnnl->engine, descs[0],
                                                   descs[1], NULL, descs[2], NULL);
    for (int i = 0; i < N_MEMORIES; i++)
        dnnl_memory_desc_destroy(descs[i]);
    return amp_dnnl_check(err, status, "product");
}

/* Values in [-1, 1) without a pattern, as those of models. */
static void fill(enum amp_dtype dtype, struct amp_buffer *buffer)
{
    uint32_t state = 1;
    size_t size = amp_dtype_bits(dtype) / 8;
    for (size_t i = 0; i < buffer->size / size; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes, ranqd1 */
        float value = (float)(int32_t)state * 0x1p-31f;
        amp_dtype_convert(AMP_FLOAT, &value, dtype, (char *)buffer->data + i * size, 1);
    }
}

static enum amp_status create_memory(struct amp_roofline *roofline, enum amp_dtype dtype, int i,
                                     struct amp_error *err)
{
    const_dnnl_memory_desc_t desc =
        dnnl_primitive_desc_query_md(roofline->pd, arguments[i].query, 0);
    size_t size = dnnl_memory_desc_get_size(desc);
    struct amp_buffer *buffer = amp_buffer_create(size);
    if (buffer == NULL)
        return amp_memory_fail(err, "a matrix", size);
    roofline->memories[i].buffer = buffer;
    fill(dtype, buffer);
    return amp_dnnl_check(err,
                          dnnl_memory_create(&roofline->memories[i].memory, desc,
                                             roofline->dnnl->engine, buffer->data),
                          "memory");
}

static enum amp_status create(struct amp_roofline *roofline, enum amp_dtype dtype,
                              struct amp_error *err)
{
    AMP_TRY(amp_dnnl_create(NULL, &roofline->dnnl, err));
    AMP_TRY(create_pd(roofline, dtype, err));
    for (int i = 0; i < N_MEMORIES; i++)
        AMP_TRY(create_memory(roofline, dtype, i, err));
    return amp_dnnl_check(err, dnnl_primitive_create(&roofline->primitive, roofline->pd),
                          "product");
}

enum amp_status amp_roofline_create(enum amp_dtype dtype, struct amp_roofline **roofline,
                                    struct amp_error *err)
{
    struct amp_roofline *made = amp_xcalloc(1, sizeof *made);
    enum amp_status status = create(made, dtype, err);
    if (status == AMP_OK)
        *roofline = made;
    else
        amp_roofline_destroy(made);
    return status;
}

void amp_roofline_destroy(struct amp_roofline *roofline)
{
    if (roofline == NULL)
        return;
    for (int i = 0; i < N_MEMORIES; i++) {
        dnnl_memory_destroy(roofline->memories[i].memory);
        amp_buffer_unref(roofline->memories[i].buffer);
    }
    dnnl_primitive_destroy(roofline->primitive);
    dnnl_primitive_desc_destroy(roofline->pd);
    amp_dnnl_destroy(roofline->dnnl);
    free(roofline);
}

enum amp_status amp_roofline_run(struct amp_roofline *roofline, double *seconds,
                                 struct amp_error *err)
{
    dnnl_exec_arg_t args[N_MEMORIES];
    for (int i = 0; i < N_MEMORIES; i++)
        args[i] = (dnnl_exec_arg_t){arguments[i].arg, roofline->memories[i].memory};
    double start = amp_clock_seconds();
    dnnl_status_t status =
        dnnl_primitive_execute(roofline->primitive, roofline->dnnl->stream, N_MEMORIES, args);
    if (status == dnnl_success)
        status = dnnl_stream_wait(roofline->dnnl->stream);
    *seconds = amp_clock_seconds() - start;
    return amp_dnnl_check(err, status, "product");
}
