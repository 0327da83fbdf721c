/*
 * Products on the tiles of AMX, shared among threads: each takes columns of its own, and so weights
 * of its own. A convolution is a product of what its windows hold, gathered row by row, with the
 * weights.
 */
#include "ops/own/amx_matmul.h"

#include "core/buffer.h"
#include "ops/own/amx_kernel.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *const amp_tiles_name = "ampconv:amx_prefetch";

#if AMP_HAS_TILES

struct amp_tiles *amp_tiles_create(const_dnnl_primitive_desc_t pd)
{
    struct amp_tiles read = {.has_windows = false};
    struct amp_tiles *tiles = amp_tiles_read(pd, &read) ? malloc(sizeof *tiles) : NULL;
    if (tiles == NULL)
        return NULL;
    *tiles = read;
    if (read.has_windows)
        tiles->gathered = amp_buffer_create((size_t)(read.product.m * read.product.k) * 2);
    if (!read.has_windows || tiles->gathered != NULL)
        return tiles;
    free(tiles);
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

void amp_tiles_run(const struct amp_tiles *tiles, int n, const dnnl_exec_arg_t *args)
{
    struct tile_product product = tiles->product;
    const uint16_t *source = data_of(DNNL_ARG_SRC, n, args);
    uint16_t *gathered = tiles->has_windows ? tiles->gathered->data : NULL;
    product.a = tiles->has_windows ? gathered : source;
    product.b = data_of(DNNL_ARG_WEIGHTS, n, args);
    product.y.data = data_of(DNNL_ARG_DST, n, args);
    for (int i = 0; i < product.n_posts; i++)
        if (product.posts[i].arg != 0)
            product.posts[i].operand.data = data_of(product.posts[i].arg, n, args);
    int64_t units = (product.n + UNIT - 1) / UNIT, rows = tiles->has_windows ? product.m : 0;
#    pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
#    pragma omp for
        for (int64_t i = 0; i < rows; i++)
            gather(&tiles->windows, source, i, gathered + i * product.k);
        amp_tiles_multiply(&product, units * thread / threads, units * (thread + 1) / threads);
    }
}

#else

struct amp_tiles *amp_tiles_create(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    return NULL;
}

void amp_tiles_run(const struct amp_tiles *tiles, int n, const dnnl_exec_arg_t *args)
{
    (void)tiles, (void)n, (void)args;
}

#endif

void amp_tiles_destroy(struct amp_tiles *tiles)
{
    if (tiles != NULL)
        amp_buffer_unref(tiles->gathered);
    free(tiles);
}
