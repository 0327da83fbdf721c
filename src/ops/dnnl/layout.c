/*
 * Keeps the layouts in which tensors go between oneDNN's primitives, each once, derives others from
 * them (a permutation, a part), and reorders tensors to row-major. It computes nothing.
 */
#include "ops/dnnl/layout.h"

#include "core/array.h"
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

/* A tensor that was permuted or reshaped, and what layout came of it: a run should not ask oneDNN
   again. */
struct derived {
    struct derived *next;
    enum amp_dtype dtype;
    struct amp_shape shape;
    const struct amp_layout *from, *to; /* NULL: row-major */
    struct amp_shape by; /* the permutation, which has a 0, or the new shape, which has none */
};

struct amp_layouts {
    dnnl_engine_t engine;
    struct amp_layout *first;
    struct derived *derived;
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
    struct derived *derived = layouts != NULL ? layouts->derived : NULL;
    while (derived != NULL) {
        struct derived *next = derived->next;
        free(derived);
        derived = next;
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

/* The layout that came of IN before; NULL: not known. */
static const struct derived *find_derived(const struct amp_layouts *layouts,
                                          const struct amp_tensor *in, const struct amp_shape *by)
{
    const struct derived *known = layouts->derived;
    while (known != NULL &&
           (known->from != in->layout || known->dtype != in->dtype ||
            !amp_shape_equal(&known->by, by) || !amp_shape_equal(&known->shape, &in->shape)))
        known = known->next;
    return known;
}

static void keep_derived(struct amp_layouts *layouts, const struct amp_tensor *in,
                         const struct amp_shape *by, const struct amp_layout *to)
{
    struct derived *derived = amp_xmalloc(1, sizeof *derived);
    *derived = (struct derived){layouts->derived, in->dtype, in->shape, in->layout, to, *by};
    layouts->derived = derived;
}

static bool ask_permuted(struct amp_layouts *layouts, const struct amp_tensor *in, const int *perm,
                         const struct amp_layout **permuted)
{
    int places[AMP_RANK_MAX]; /* of the dims of IN in the result */
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
    struct amp_shape by = {.rank = in->shape.rank};
    if (amp_shape_count(&in->shape) == 0)
        return false;
    for (int i = 0; i < by.rank; i++)
        by.dims[i] = perm[i];
    const struct derived *known = find_derived(layouts, in, &by);
    if (known != NULL) {
        *permuted = known->to;
        return true;
    }
    if (!ask_permuted(layouts, in, perm, permuted))
        return false;
    keep_derived(layouts, in, &by, *permuted);
    return true;
}

/* ---- other shapes ---- */

/* Neighbouring dims of a tensor, those before FROM_END, that have as many elements as neighbouring
   dims of another shape, those before TO_END. */
struct dim_group {
    int from, from_end, to, to_end;
    int64_t size, stride; /* its elements; the smallest distance of neighbours in the tensor */
};

/* Divides the dims of FROM and TO, of as many elements, into the smallest groups; returns how many.
 */
static int group_dims(const struct amp_shape *from, const struct amp_shape *to,
                      struct dim_group *groups)
{
    int n = 0;
    for (int i = 0, k = 0; i < from->rank || k < to->rank; n++) {
        int64_t left = 1, right = 1;
        struct dim_group *group = &groups[n];
        *group = (struct dim_group){.from = i, .to = k};
        if (i < from->rank)
            left = from->dims[i++];
        if (k < to->rank)
            right = to->dims[k++];
        while (left != right)
            if (left < right)
                left *= from->dims[i++];
            else
                right *= to->dims[k++];
        group->from_end = i;
        group->to_end = k;
        group->size = left;
    }
    return n;
}

/* Sets the distances of dims FIRST to END - 1 of SHAPE to those of elements in their order, STRIDE
   apart. */
static void set_strides(const struct amp_shape *shape, int first, int end, int64_t stride,
                        int64_t *strides)
{
    for (int d = end; d-- > first; stride *= shape->dims[d])
        strides[d] = stride;
}

/* Sets the stride of GROUP; returns whether its elements lie in their order, that far apart. */
static bool find_stride(const struct amp_shape *shape, const int64_t *strides,
                        struct dim_group *group)
{
    int64_t next = 0;
    bool is_even = true;
    group->stride = 0;
    for (int d = group->from_end; d-- > group->from;) {
        if (shape->dims[d] == 1)
            continue;
        is_even &= next == 0 || strides[d] == next;
        next = strides[d] * shape->dims[d];
        if (group->stride == 0 || strides[d] < group->stride)
            group->stride = strides[d];
    }
    if (group->stride == 0)
        group->stride = 1; /* dims of 1 alone */
    return is_even;
}

/* The elements of SHAPE that lie between neighbours along dim D where dims are in the order of
   STRIDES. */
static int64_t stride_in_order(const struct amp_shape *shape, const int64_t *strides, int d)
{
    int64_t stride = 1;
    for (int i = 0; i < shape->rank; i++)
        if (strides[i] < strides[d] || (strides[i] == strides[d] && i > d))
            stride *= shape->dims[i];
    return stride;
}

/* Gives the N groups the strides of elements without gaps, in the order that they have. */
static void close_gaps(struct dim_group *groups, int n)
{
    struct amp_shape sizes = {.rank = n};
    int64_t strides[AMP_RANK_MAX];
    for (int i = 0; i < n; i++) {
        sizes.dims[i] = groups[i].size;
        strides[i] = groups[i].stride;
    }
    for (int i = 0; i < n; i++)
        groups[i].stride = stride_in_order(&sizes, strides, i);
}

/* Sets *RESHAPED to the layout of a tensor of SHAPE, of the dtype of IN, whose elements lie by
   STRIDES. */
static bool ask_strided(struct amp_layouts *layouts, const struct amp_tensor *in,
                        const struct amp_shape *shape, const int64_t *strides,
                        const struct amp_layout **reshaped)
{
    dnnl_memory_desc_t desc = NULL;
    if (dnnl_memory_desc_create_with_strides(&desc, shape->rank, shape->dims,
                                             amp_dnnl_dtype(in->dtype), strides) != dnnl_success)
        return false;
    *reshaped = amp_layout_of(layouts, desc);
    dnnl_memory_desc_destroy(desc);
    return true;
}

bool amp_layout_reshape(struct amp_layouts *layouts, const struct amp_tensor *in,
                        const struct amp_shape *shape, struct amp_reshaped *reshaped)
{
    const int64_t *strides = amp_layout_strides(in->layout);
    struct dim_group groups[AMP_RANK_MAX];
    int64_t to[AMP_RANK_MAX];
    if (strides == NULL || amp_shape_count(shape) == 0)
        return false;
    int n = group_dims(&in->shape, shape, groups);
    reshaped->is_moved = false;
    for (int i = 0; i < n; i++)
        reshaped->is_moved |= !find_stride(&in->shape, strides, &groups[i]);
    if (reshaped->is_moved)
        close_gaps(groups, n);
    for (int i = 0; i < n; i++) {
        const struct dim_group *group = &groups[i];
        set_strides(shape, group->to, group->to_end, group->stride, to);
        set_strides(&in->shape, group->from, group->from_end, group->stride, reshaped->strides);
    }
    const struct derived *known = find_derived(layouts, in, shape);
    if (known != NULL) {
        reshaped->layout = known->to;
        return true;
    }
    if (!ask_strided(layouts, in, shape, to, &reshaped->layout))
        return false;
    keep_derived(layouts, in, shape, reshaped->layout);
    return true;
}

bool amp_layout_like(struct amp_layouts *layouts, const struct amp_tensor *model,
                     const struct amp_shape *shape, const struct amp_layout **layout)
{
    const int64_t *strides = amp_layout_strides(model->layout);
    int64_t own[AMP_RANK_MAX];
    *layout = model->layout;
    if (amp_shape_equal(shape, &model->shape))
        return true;
    if (strides == NULL || amp_shape_count(shape) == 0)
        return false;
    for (int d = 0; d < shape->rank; d++)
        own[d] = stride_in_order(shape, strides, d);
    return ask_strided(layouts, model, shape, own, layout);
}

/* ---- parts and other dtypes ---- */

bool amp_layout_part(struct amp_layouts *layouts, const struct amp_tensor *tensor,
                     const struct amp_shape *shape, const struct amp_layout **part)
{
    return ask_strided(layouts, tensor, shape, amp_layout_strides(tensor->layout), part);
}

/* Formats of activations in blocks of channels. */
static const struct {
    int rank;
    int64_t block;
    dnnl_format_tag_t tag;
} channel_blocks[] = {{3, 8, dnnl_aBc8b},   {3, 16, dnnl_aBc16b},   {3, 32, dnnl_aBc32b},
                      {4, 8, dnnl_aBcd8b},  {4, 16, dnnl_aBcd16b},  {4, 32, dnnl_aBcd32b},
                      {5, 8, dnnl_aBcde8b}, {5, 16, dnnl_aBcde16b}, {5, 32, dnnl_aBcde32b}};

/* The format whose blocks are the outermost of BLOCKS, of which only those of channels are known;
   dnnl_format_tag_undef: another. */
static dnnl_format_tag_t tag_of(const struct amp_blocks *blocks)
{
    for (size_t i = 0; i < AMP_COUNT(channel_blocks); i++)
        if (channel_blocks[i].rank == blocks->rank && (*blocks->inner_dims)[0] == 1 &&
            channel_blocks[i].block == (*blocks->inner)[0])
            return channel_blocks[i].tag;
    return dnnl_format_tag_undef;
}

/* The same with other strides, as with blocks in its blocks, is no such format. */
static bool has_strides_of(const_dnnl_memory_desc_t desc, const struct amp_blocks *other)
{
    struct amp_blocks blocks;
    return amp_blocks_read(desc, &blocks) &&
           memcmp(*blocks.strides, *other->strides,
                  (size_t)blocks.rank * sizeof **blocks.strides) == 0;
}

/* Sets *SAME to what LAYOUT, in blocks of channels, is of DTYPE. */
static bool ask_blocked(struct amp_layouts *layouts, const struct amp_layout *layout,
                        enum amp_dtype dtype, const struct amp_layout **same)
{
    struct amp_blocks blocks;
    dnnl_memory_desc_t desc = NULL;
    bool is_known =
        amp_blocks_read(layout->desc, &blocks) &&
        dnnl_memory_desc_create_with_tag(&desc, blocks.rank, *blocks.dims, amp_dnnl_dtype(dtype),
                                         tag_of(&blocks)) == dnnl_success &&
        has_strides_of(desc, &blocks);
    if (is_known)
        *same = amp_layout_of(layouts, desc);
    dnnl_memory_desc_destroy(desc);
    return is_known;
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
            amp_layout_strides(layout) != NULL
                ? amp_layout_part(layouts, &other, &tensor->shape, &layout->others[dtype].layout)
                : ask_blocked(layouts, layout, dtype, &layout->others[dtype].layout);
    *same = layout->others[dtype].layout;
    return layout->others[dtype].is_known;
}

bool amp_layout_is_full(const struct amp_tensor *tensor)
{
    return dnnl_memory_desc_get_size(tensor->layout->desc) == amp_tensor_size(tensor);
}

bool amp_layout_is_dense(const struct amp_tensor *tensor)
{
    return amp_layout_strides(tensor->layout) != NULL && amp_layout_is_full(tensor);
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

/* How many blocks there are along dim D, the last one maybe not full. */
static int64_t blocks_along(const struct amp_blocks *blocks, int d)
{
    int64_t block = block_of(blocks, d);
    return ((*blocks->dims)[d] + block - 1) / block;
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
static void put_first(struct amp_shape *view, int *of, int64_t size, int dim)
{
    memmove(view->dims + 1, view->dims, (size_t)view->rank * sizeof *view->dims);
    memmove(of + 1, of, (size_t)view->rank * sizeof *of);
    view->dims[0] = size;
    of[0] = dim;
    view->rank++;
}

bool amp_layout_view(const struct amp_layout *layout, struct amp_shape *view, int *of)
{
    struct amp_blocks blocks;
    int64_t stride = 1, count = 1;
    if (!amp_blocks_read(layout->desc, &blocks) || blocks.rank + blocks.n_inner > AMP_RANK_MAX)
        return false;
    view->rank = 0;
    for (int i = blocks.n_inner; i-- > 0; stride *= (*blocks.inner)[i])
        put_first(view, of, (*blocks.inner)[i], (int)(*blocks.inner_dims)[i]);
    for (int d = dim_at(&blocks, stride); d >= 0; d = dim_at(&blocks, stride)) {
        int64_t size = blocks_along(&blocks, d);
        put_first(view, of, size, d);
        stride *= size;
    }
    for (int d = 0; d < blocks.rank; d++)
        count *= blocks_along(&blocks, d) * block_of(&blocks, d);
    return count == stride;
}

/* Sets to 0 SIZE bytes at each place that the dims from D on, but for dim BLOCKED, have in DATA. */
static void clear_places(const struct amp_blocks *blocks, int d, int blocked, size_t element,
                         char *data, size_t size)
{
    if (d == blocks->rank) {
        memset(data, 0, size);
        return;
    }
    int64_t count = d == blocked ? 1 : (*blocks->dims)[d];
    for (int64_t i = 0; i < count; i++)
        clear_places(blocks, d + 1, blocked, element,
                     data + (size_t)(i * (*blocks->strides)[d]) * element, size);
}

void amp_layout_clear_rest(const struct amp_layout *layout, size_t size, void *data)
{
    struct amp_blocks blocks;
    if (!amp_blocks_read(layout->desc, &blocks) || blocks.n_inner != 1)
        return;
    int d = (int)(*blocks.inner_dims)[0];
    int64_t block = (*blocks.inner)[0], full = (*blocks.dims)[d] / block;
    int64_t in_last = (*blocks.dims)[d] % block;
    if (in_last > 0)
        clear_places(&blocks, 0, d, size,
                     (char *)data + (size_t)(full * (*blocks.strides)[d] + in_last) * size,
                     (size_t)(block - in_last) * size);
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

enum amp_status amp_layout_undo_to(struct amp_ctx *ctx, const struct amp_tensor *from, uint32_t i)
{
    struct amp_tensor plain;
    enum amp_status status = amp_layout_undo(ctx, from, &plain);
    if (status == AMP_OK)
        amp_tensor_share(ctx->out[i], &plain);
    amp_tensor_release(&plain);
    return status;
}

enum amp_status amp_layout_undo_output(struct amp_ctx *ctx, uint32_t i)
{
    return ctx->out[i]->layout == NULL ? AMP_OK : amp_layout_undo_to(ctx, ctx->out[i], i);
}
