/*
 * Compress and Unique, which choose elements by value. All versions up to ONNX 13.
 */
#include "ops/kernel/data_movement.h"
#include "ops/kernel/gather_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A tensor seen along one axis ---- */

/* Blocks of BLOCK bytes, [outer, dim]; without an axis the elements are the blocks. */
struct view {
    bool has_axis;
    int axis;
    int64_t outer, dim;
    size_t block;
};

/* Attribute axis of the operator and what it makes of input 0; OUTER, DIM and BLOCK are only set
   when its shape is known. */
static enum amp_status view_axis(struct amp_ctx *ctx, struct view *view)
{
    const struct amp_tensor *in = ctx->in[0];
    const struct amp_attr *attr = amp_node_attr(ctx->node, "axis");
    size_t size = amp_dtype_bits(in->dtype) / 8;
    *view = (struct view){.has_axis = attr != NULL, .outer = 1, .block = size};
    if (in->shape.rank < 0)
        return AMP_OK;
    if (attr != NULL)
        AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), in->shape.rank, &view->axis));
    if (!amp_shape_is_known(&in->shape))
        return AMP_OK;
    view->dim = amp_shape_count(&in->shape);
    if (attr == NULL)
        return AMP_OK;
    view->outer = amp_shape_product(&in->shape, 0, view->axis);
    view->dim = in->shape.dims[view->axis];
    view->block = (size_t)amp_shape_product(&in->shape, view->axis + 1, in->shape.rank) * size;
    return AMP_OK;
}

/* The shape of input 0 with COUNT in place of the axis; a vector without one. */
static void view_shape(const struct amp_ctx *ctx, const struct view *view, int64_t count,
                       struct amp_shape *out)
{
    *out = ctx->in[0]->shape;
    if (view->has_axis)
        out->dims[view->axis] = count;
    else
        *out = (struct amp_shape){1, {count}};
}

/* Output 0 gets memory for N blocks of input 0: those in INDICES. */
static enum amp_status take_view(struct amp_ctx *ctx, const struct view *view,
                                 const int64_t *indices, int64_t n)
{
    struct amp_tensor *out = ctx->out[0];
    view_shape(ctx, view, n, &out->shape);
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    struct amp_gather take = {.from = ctx->in[0]->data,
                              .to = out->data,
                              .block = view->block,
                              .outer = view->outer,
                              .dim = view->dim,
                              .indices = indices,
                              .n = n};
    amp_gather_run(&take);
    return amp_move_done(ctx, 0);
}

/* ---- Compress ---- */

static enum amp_status compress_shape(struct amp_ctx *ctx)
{
    struct view view;
    AMP_TRY(view_axis(ctx, &view));
    view_shape(ctx, &view, AMP_DIM_UNKNOWN, &ctx->out[0]->shape);
    return AMP_OK;
}

static enum amp_status compress_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *condition = ctx->in[1];
    int64_t length = amp_shape_count(&condition->shape), n = 0;
    struct view view;
    AMP_TRY(view_axis(ctx, &view));
    struct amp_buffer *buffer =
        amp_scratch(ctx, "a list of places", (size_t)length, sizeof(int64_t));
    if (buffer == NULL)
        return ctx->err->status;
    int64_t *indices = buffer->data;
    const uint8_t *flags = condition->data;
    for (int64_t i = 0; i < length && i < view.dim; i++) { /* no branch to be guessed */
        indices[n] = i;
        n += flags[i] != 0;
    }
    enum amp_status status = take_view(ctx, &view, indices, n);
    amp_buffer_unref(buffer);
    return status;
}

const struct amp_op amp_op_compress = {
    .name = "Compress",
    .selects = {.items = AMP_ITEMS_TRUE, .outputs = AMP_INPUT(0), .by = 1},
    .newest = 11,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = compress_shape,
    .run = compress_run,
};

/* ---- Unique ---- */

static enum amp_status unique_shape(struct amp_ctx *ctx)
{
    struct view view;
    AMP_TRY(view_axis(ctx, &view));
    view_shape(ctx, &view, AMP_DIM_UNKNOWN, &ctx->out[0]->shape);
    for (uint32_t i = 1; i < ctx->n_out; i++)
        amp_shape_unknown(&ctx->out[i]->shape, 1);
    return AMP_OK;
}

/* Compares N elements, the first that differ decide: below, at or above 0. */
typedef int compare_fn(const void *a, const void *b, size_t n);

/* A NaN is above every number and equal to another one. */
#define COMPARE(DTYPE, T)                                                              \
    static int compare_##DTYPE(const void *a, const void *b, size_t n)                 \
    {                                                                                  \
        const T *x = a, *y = b;                                                        \
        for (size_t i = 0; i < n; i++) {                                               \
            bool below = x[i] < y[i] || (isnan((double)y[i]) && !isnan((double)x[i])); \
            bool above = x[i] > y[i] || (isnan((double)x[i]) && !isnan((double)y[i])); \
            if (below || above)                                                        \
                return above ? 1 : -1;                                                 \
        }                                                                              \
        return 0;                                                                      \
    }
AMP_REAL_TYPES(COMPARE)

static int compare_BOOL(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if ((x[i] != 0) != (y[i] != 0))
            return x[i] != 0 ? 1 : -1;
    return 0;
}

/* Real part, then imaginary part. */
static int compare_COMPLEX64(const void *a, const void *b, size_t n)
{
    return compare_FLOAT(a, b, 2 * n);
}

static int compare_COMPLEX128(const void *a, const void *b, size_t n)
{
    return compare_DOUBLE(a, b, 2 * n);
}

static int compare_STRING(const void *a, const void *b, size_t n)
{
    const struct amp_str *x = a, *y = b;
    for (size_t i = 0; i < n; i++) {
        size_t shorter = x[i].size < y[i].size ? x[i].size : y[i].size;
        int order = shorter > 0 ? memcmp(x[i].data, y[i].data, shorter) : 0;
        if (order != 0)
            return order;
        if (x[i].size != y[i].size)
            return x[i].size > y[i].size ? 1 : -1;
    }
    return 0;
}

/* The blocks of a view in order. */
struct sorting {
    const char *data;
    struct view view;
    size_t n; /* elements of a block */
    compare_fn *compare;
};

/* Compares blocks A and B of all outer indices. */
static int compare_blocks(const struct sorting *sorting, int64_t a, int64_t b)
{
    const struct view *view = &sorting->view;
    for (int64_t o = 0; o < view->outer; o++) {
        const char *row = sorting->data + (size_t)(o * view->dim) * view->block;
        int order = sorting->compare(row + (size_t)a * view->block, row + (size_t)b * view->block,
                                     sorting->n);
        if (order != 0)
            return order;
    }
    return 0;
}

/* For qsort_r: equal blocks in the order of their positions. */
static int compare_positions(const void *a, const void *b, void *param)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int order = compare_blocks(param, x, y);
    return order != 0 ? order : x < y ? -1 : x > y;
}

/* What Unique tells besides the values: per unique block its first position and how often it is
   there, per block which unique one it is. */
struct unique {
    int64_t *first, *counts, *inverse;
    int64_t n;
};

/* Collects runs of equal blocks in ORDER, the sorted positions. */
static void collect_runs(const struct sorting *sorting, const int64_t *order, struct unique *unique)
{
    unique->n = 0;
    for (int64_t i = 0; i < sorting->view.dim; i++) {
        if (i == 0 || compare_blocks(sorting, order[i - 1], order[i]) != 0) {
            unique->first[unique->n] = order[i];
            unique->counts[unique->n++] = 0;
        }
        unique->counts[unique->n - 1]++;
        unique->inverse[order[i]] = unique->n - 1;
    }
}

/* Puts the unique blocks into the order of their first positions. PLACES has room for as many. */
static void order_by_first(struct unique *unique, int64_t dim, int64_t *places)
{
    int64_t n = 0;
    for (int64_t i = 0; i < dim; i++) {
        int64_t sorted = unique->inverse[i];
        if (unique->first[sorted] == i)
            places[sorted] = n++;
        unique->inverse[i] = places[sorted];
    }
    memset(unique->counts, 0, (size_t)n * sizeof *unique->counts);
    for (int64_t i = dim - 1; i >= 0; i--) { /* backwards: the first position is set last */
        unique->counts[unique->inverse[i]]++;
        unique->first[unique->inverse[i]] = i;
    }
}

static enum amp_status give_vector(struct amp_ctx *ctx, uint32_t i, const int64_t *values,
                                   int64_t n)
{
    if (!amp_has_out(ctx, i))
        return AMP_OK;
    ctx->out[i]->shape = (struct amp_shape){1, {n}};
    AMP_TRY(amp_ctx_alloc(ctx, i));
    memcpy(ctx->out[i]->data, values, (size_t)n * sizeof *values);
    return AMP_OK;
}

static enum amp_status give_unique(struct amp_ctx *ctx, const struct view *view,
                                   const struct unique *unique)
{
    if (amp_has_out(ctx, 0))
        AMP_TRY(take_view(ctx, view, unique->first, unique->n));
    AMP_TRY(give_vector(ctx, 1, unique->first, unique->n));
    AMP_TRY(give_vector(ctx, 2, unique->inverse, view->dim));
    return give_vector(ctx, 3, unique->counts, unique->n);
}

static enum amp_status unique_run(struct amp_ctx *ctx)
{
    static compare_fn *const compare[AMP_DTYPE_COUNT] = {
        AMP_REAL_TYPES(AMP_ROW, compare) AMP_BOOL_TYPE(AMP_ROW, compare)[AMP_COMPLEX64] =
            compare_COMPLEX64,
        [AMP_COMPLEX128] = compare_COMPLEX128, [AMP_STRING] = compare_STRING};
    const struct amp_tensor *in = ctx->in[0];
    struct sorting sorting = {.data = in->data};
    AMP_PICK(ctx, sorting.compare, compare, in->dtype);
    AMP_TRY(view_axis(ctx, &sorting.view));
    sorting.n = sorting.view.block / (amp_dtype_bits(in->dtype) / 8);
    size_t dim = (size_t)sorting.view.dim;
    struct amp_buffer *buffer = amp_scratch(ctx, "an order", dim, 4 * sizeof(int64_t));
    if (buffer == NULL)
        return ctx->err->status;
    int64_t *order = buffer->data;
    struct unique unique = {
        .first = order + dim, .counts = order + 2 * dim, .inverse = order + 3 * dim};
    for (size_t i = 0; i < dim; i++)
        order[i] = (int64_t)i;
    qsort_r(order, dim, sizeof *order, compare_positions, &sorting);
    collect_runs(&sorting, order, &unique);
    if (amp_node_int(ctx->node, "sorted", 1) == 0)
        order_by_first(&unique, sorting.view.dim, order);
    enum amp_status status = give_unique(ctx, &sorting.view, &unique);
    amp_buffer_unref(buffer);
    return status;
}

const struct amp_op amp_op_unique = {
    .name = "Unique",
    .selects = {.items = AMP_ITEMS_ENTRIES, .outputs = AMP_INPUTS_ALL},
    .newest = 11,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = unique_shape,
    .run = unique_run,
};
