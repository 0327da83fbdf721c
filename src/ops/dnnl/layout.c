/*
 * Keeps the layouts in which tensors go between oneDNN's primitives, each once, derives others from
 * them (a permutation, a part), and reorders tensors to row-major. It computes nothing.
 */
#include "ops/dnnl/layout.h"

#include "core/memory.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/reorder.h"
#include "ops/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

struct amp_layout {
    struct amp_layout *next;
    dnnl_memory_desc_t desc;
    struct amp_reorder *undo; /* to row-major; NULL: not needed so far */
    struct {                  /* the same of another dtype, as far as was asked */
        bool is_known;
        const struct amp_layout *layout;
    } others[AMP_DTYPE_COUNT];
};

/* A tensor that was permuted, and what layout came of it: a run should not ask oneDNN again. */
struct permutation {
    struct permutation *next;
    enum amp_dtype dtype;
    struct amp_shape shape;
    const struct amp_layout *from, *to; /* NULL: row-major */
    int perm[DNNL_MAX_NDIMS];
};

struct amp_layouts {
    dnnl_engine_t engine;
    struct amp_layout *first;
    struct permutation *permutations;
};

struct amp_layouts *amp_layouts_create(dnnl_engine_t engine)
{
    struct amp_layouts *layouts = amp_xcalloc(1, sizeof *layouts);
    layouts->engine = engine;
    return layouts;
}

void amp_layouts_destroy(struct amp_layouts *layouts)
{
    struct amp_layout *layout = layouts != NULL ? layouts->first : NULL;
    while (layout != NULL) {
        struct amp_layout *next = layout->next;
        amp_reorder_destroy(layout->undo);
        dnnl_memory_desc_destroy(layout->desc);
        free(layout);
        layout = next;
    }
    struct permutation *permutation = layouts != NULL ? layouts->permutations : NULL;
    while (permutation != NULL) {
        struct permutation *next = permutation->next;
        free(permutation);
        permutation = next;
    }
    free(layouts);
}

/* Whether elements lie as they would row by row; strides of dims of 1 do not matter. */
static bool is_plain(const_dnnl_memory_desc_t desc)
{
    struct amp_blocks blocks;
    if (!amp_blocks_read(desc, &blocks) || blocks.n_inner > 0)
        return false;
    int64_t stride = 1;
    for (int i = blocks.rank - 1; i >= 0; i--) {
        if ((*blocks.dims)[i] != 1 && (*blocks.strides)[i] != stride)
            return false;
        stride *= (*blocks.dims)[i];
    }
    return true;
}

const struct amp_layout *amp_layout_of(struct amp_layouts *layouts, const_dnnl_memory_desc_t desc)
{
    struct amp_layout *layout = layouts->first;
    if (is_plain(desc))
        return NULL;
    while (layout != NULL && !dnnl_memory_desc_equal(layout->desc, desc))
        layout = layout->next;
    if (layout != NULL)
        return layout;
    layout = amp_xcalloc(1, sizeof *layout);
    layout->next = layouts->first;
    layouts->first = layout;
    dnnl_memory_desc_clone(&layout->desc, desc);
    return layout;
}

const_dnnl_memory_desc_t amp_layout_desc(const struct amp_layout *layout)
{
    return layout->desc;
}

const int64_t *amp_layout_strides(const struct amp_layout *layout)
{
    struct amp_blocks blocks;
    return amp_blocks_read(layout->desc, &blocks) && blocks.n_inner == 0 ? *blocks.strides : NULL;
}

/* The layout of TENSOR as a descriptor of its own. */
static dnnl_status_t describe(const struct amp_tensor *tensor, dnnl_memory_desc_t *desc)
{
    dnnl_dims_t strides = {0};
    if (tensor->layout != NULL)
        return dnnl_memory_desc_clone(desc, tensor->layout->desc);
    amp_strides(&tensor->shape, strides);
    return dnnl_memory_desc_create_with_strides(desc, tensor->shape.rank, tensor->shape.dims,
                                                amp_dnnl_dtype(tensor->dtype), strides);
}

static bool is_of(const struct permutation *known, const struct amp_tensor *in, const int *perm)
{
    return known->dtype == in->dtype && known->from == in->layout &&
           amp_shape_equal(&known->shape, &in->shape) &&
           memcmp(known->perm, perm, (size_t)in->shape.rank * sizeof *perm) == 0;
}

static bool ask_permuted(struct amp_layouts *layouts, const struct amp_tensor *in, const int *perm,
                         const struct amp_layout **permuted)
{
    int places[DNNL_MAX_NDIMS]; /* of the dims of IN in the result */
    dnnl_memory_desc_t from = NULL, to = NULL;
    for (int i = 0; i < in->shape.rank; i++)
        places[perm[i]] = i;
    bool is_made = describe(in, &from) == dnnl_success &&
                   dnnl_memory_desc_permute_axes(&to, from, places) == dnnl_success;
    if (is_made)
        *permuted = amp_layout_of(layouts, to);
    dnnl_memory_desc_destroy(from);
    dnnl_memory_desc_destroy(to);
    return is_made;
}

bool amp_layout_permute(struct amp_layouts *layouts, const struct amp_tensor *in, const int *perm,
                        const struct amp_layout **permuted)
{
    int rank = in->shape.rank;
    if (rank < 1 || rank > DNNL_MAX_NDIMS || amp_dnnl_dtype(in->dtype) == dnnl_data_type_undef ||
        amp_shape_count(&in->shape) == 0)
        return false;
    struct permutation *known = layouts->permutations;
    while (known != NULL && !is_of(known, in, perm))
        known = known->next;
    if (known == NULL) {
        if (!ask_permuted(layouts, in, perm, permuted))
            return false;
        known = amp_xmalloc(1, sizeof *known);
        *known = (struct permutation){.next = layouts->permutations,
                                      .dtype = in->dtype,
                                      .shape = in->shape,
                                      .from = in->layout,
                                      .to = *permuted};
        memcpy(known->perm, perm, (size_t)rank * sizeof *perm);
        layouts->permutations = known;
    }
    *permuted = known->to;
    return true;
}

bool amp_layout_part(struct amp_layouts *layouts, const struct amp_tensor *tensor,
                     const struct amp_shape *shape, const struct amp_layout **part)
{
    dnnl_memory_desc_t desc = NULL;
    if (dnnl_memory_desc_create_with_strides(&desc, shape->rank, shape->dims,
                                             amp_dnnl_dtype(tensor->dtype),
                                             amp_layout_strides(tensor->layout)) != dnnl_success)
        return false;
    *part = amp_layout_of(layouts, desc);
    dnnl_memory_desc_destroy(desc);
    return true;
}

bool amp_layout_in_dtype(struct amp_layouts *layouts, const struct amp_tensor *tensor,
                         enum amp_dtype dtype, const struct amp_layout **same)
{
    /* The list owns it; only what is known of it grows. */
    struct amp_layout *layout = (struct amp_layout *)(uintptr_t)tensor->layout;
    struct amp_tensor other = *tensor;
    other.dtype = dtype;
    if (!layout->others[dtype].is_known)
        layout->others[dtype].is_known =
            amp_layout_part(layouts, &other, &tensor->shape, &layout->others[dtype].layout);
    *same = layout->others[dtype].layout;
    return layout->others[dtype].is_known;
}

bool amp_layout_is_dense(const struct amp_tensor *tensor)
{
    return amp_layout_strides(tensor->layout) != NULL &&
           dnnl_memory_desc_get_size(tensor->layout->desc) == amp_tensor_size(tensor);
}

/* The elements of dim D in one block. */
static int64_t block_of(const struct amp_blocks *blocks, int d)
{
    int64_t size = 1;
    for (int i = 0; i < blocks->n_inner; i++)
        if ((*blocks->inner_dims)[i] == d)
            size *= (*blocks->inner)[i];
    return size;
}

/* The dim outside blocks whose neighbours have distance STRIDE, but those with one block. */
static int dim_at(const struct amp_blocks *blocks, int64_t stride)
{
    for (int d = 0; d < blocks->rank; d++)
        if ((*blocks->strides)[d] == stride && (*blocks->dims)[d] > block_of(blocks, d))
            return d;
    return -1;
}

/* Puts a dim before those that VIEW has. */
static bool put_first(struct amp_shape *view, int *of, int64_t size, int dim)
{
    if (view->rank == AMP_RANK_MAX)
        return false;
    memmove(view->dims + 1, view->dims, (size_t)view->rank * sizeof *view->dims);
    memmove(of + 1, of, (size_t)view->rank * sizeof *of);
    view->dims[0] = size;
    of[0] = dim;
    view->rank++;
    return true;
}

bool amp_layout_view(const struct amp_layout *layout, struct amp_shape *view, int *of)
{
    struct amp_blocks blocks;
    int64_t stride = 1, count = 1;
    if (!amp_blocks_read(layout->desc, &blocks))
        return false;
    view->rank = 0;
    for (int i = blocks.n_inner; i-- > 0; stride *= (*blocks.inner)[i])
        if (!put_first(view, of, (*blocks.inner)[i], (int)(*blocks.inner_dims)[i]))
            return false;
    for (int d = dim_at(&blocks, stride); d >= 0; d = dim_at(&blocks, stride)) {
        int64_t size = (*blocks.dims)[d] / block_of(&blocks, d);
        if ((*blocks.dims)[d] % block_of(&blocks, d) != 0 || !put_first(view, of, size, d))
            return false;
        stride *= size;
    }
    for (int d = 0; d < blocks.rank; d++)
        count *= (*blocks.dims)[d];
    return count == stride;
}

static dnnl_status_t make_undo(struct amp_layout *layout, dnnl_engine_t engine,
                               const struct amp_tensor *tensor)
{
    const struct amp_tensor plain = {.dtype = tensor->dtype, .shape = tensor->shape};
    dnnl_memory_desc_t to = NULL;
    dnnl_status_t status = describe(&plain, &to);
    if (status == dnnl_success)
        status = amp_reorder_create(engine, layout->desc, to, &layout->undo);
    dnnl_memory_desc_destroy(to);
    return status;
}

enum amp_status amp_layout_undo(const struct amp_ctx *ctx, const struct amp_tensor *from,
                                struct amp_tensor *to)
{
    /* The list owns it; only its reorder is made later. */
    struct amp_layout *layout = (struct amp_layout *)(uintptr_t)from->layout;
    *to = (struct amp_tensor){.dtype = from->dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(to, ctx->err));
    if (layout->undo == NULL)
        AMP_TRY(amp_dnnl_check(ctx->err, make_undo(layout, ctx->host->dnnl->engine, from),
                               "reorder to row-major"));
    return amp_reorder_run(ctx, layout->undo, from->data, to->data);
}

enum amp_status amp_layout_undo_output(struct amp_ctx *ctx, uint32_t i)
{
    struct amp_tensor plain;
    if (ctx->out[i]->layout == NULL)
        return AMP_OK;
    enum amp_status status = amp_layout_undo(ctx, ctx->out[i], &plain);
    if (status == AMP_OK)
        amp_tensor_share(ctx->out[i], &plain);
    amp_tensor_release(&plain);
    return status;
}
