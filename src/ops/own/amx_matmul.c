/*
 * Computes matrix products and convolutions on the tiles of AMX, shared among threads: each takes
 * columns of its own, and so weights of its own. A convolution is a product of what its windows
 * hold, gathered row by row, with the weights. It takes the memories that oneDNN's primitive would.
 */
#include "ops/own/amx_matmul.h"

#include "core/buffer.h"
#include "ops/own/amx_kernel.h"
#include "ops/own/amx_read.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#if AMP_HAS_AMX

struct state {
    struct tile_matmul matmul;
    struct amp_buffer *gathered; /* A of a product with windows, else NULL */
};

static void destroy(void *data)
{
    struct state *state = data;
    if (state != NULL)
        amp_buffer_unref(state->gathered);
    free(state);
}

static void *create(const_dnnl_primitive_desc_t pd)
{
    struct tile_matmul matmul = {.has_windows = false};
    struct state *state = amp_amx_read(pd, &matmul) ? malloc(sizeof *state) : NULL;
    if (state == NULL)
        return NULL;
    *state = (struct state){.matmul = matmul};
    if (matmul.has_windows)
        state->gathered = amp_buffer_create((size_t)(matmul.product.m * matmul.product.k) * 2);
    if (!matmul.has_windows || state->gathered != NULL)
        return state;
    free(state);
    return NULL;
}

/* What the window of output pixel INDEX of X holds; 0 beyond the edges. */
static void gather(const struct tile_windows *w, const uint16_t *x, int64_t index, uint16_t *row)
{
    int64_t column = index % w->out_width, line = index / w->out_width % w->out_height;
    int64_t image = index / w->out_width / w->out_height;
    for (int64_t i = 0; i < w->size[0]; i++)
        for (int64_t j = 0; j < w->size[1]; j++, row += w->channels) {
            int64_t y = line * w->stride[0] - w->pad[0] + i * w->dilation[0];
            int64_t at = column * w->stride[1] - w->pad[1] + j * w->dilation[1];
            size_t size = (size_t)w->channels * sizeof *row;
            if (y < 0 || y >= w->height || at < 0 || at >= w->width)
                memset(row, 0, size);
            else
                memcpy(row, x + ((image * w->height + y) * w->width + at) * w->pixel, size);
        }
}

static void *data_of(int arg, int n, const dnnl_exec_arg_t *args)
{
    void *data = NULL;
    for (int i = 0; i < n; i++)
        if (args[i].arg == arg)
            dnnl_memory_get_data_handle(args[i].memory, &data);
    return data;
}

static void run(const void *data, int n, const dnnl_exec_arg_t *args)
{
    const struct state *state = data;
    const struct tile_matmul *matmul = &state->matmul;
    struct tile_product product = matmul->product;
    const uint16_t *source = data_of(DNNL_ARG_SRC, n, args);
    uint16_t *gathered = matmul->has_windows ? state->gathered->data : NULL;
    product.a = matmul->has_windows ? gathered : source;
    product.b = data_of(DNNL_ARG_WEIGHTS, n, args);
    product.y.data = data_of(DNNL_ARG_DST, n, args);
    for (int i = 0; i < product.n_posts; i++)
        if (product.posts[i].arg != 0)
            product.posts[i].operand.data = data_of(product.posts[i].arg, n, args);
    int64_t units = (product.n + UNIT - 1) / UNIT, rows = matmul->has_windows ? product.m : 0;
#    pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
#    pragma omp for
        for (int64_t i = 0; i < rows; i++)
            gather(&matmul->windows, source, i, gathered + i * product.k);
        amp_amx_multiply(&product, units * thread / threads, units * (thread + 1) / threads);
    }
}

#else

static void *create(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    return NULL;
}

static void run(const void *state, int n, const dnnl_exec_arg_t *args)
{
    (void)state, (void)n, (void)args;
}

static void destroy(void *state)
{
    (void)state;
}

#endif

const struct amp_own_primitive amp_amx_matmul = {.create = create, .run = run, .destroy = destroy};
