/*
 * Blocks taken by index, and the indices of the Gather and Scatter families made into positions.
 * Shapes have been checked by the operators; the values of indices are checked here.
 */
#include "ops/take.h"

#include "core/array.h"
#include "ops/kernel.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* N blocks of SIZE bytes from FROM to TO, where they lie one behind the other. */
typedef void take_fn(const void *from, void *to, const int64_t *indices, int64_t n, size_t size);

#define TAKE(SIZE, T)                                                                      \
    static void take_##SIZE(const void *from, void *to, const int64_t *indices, int64_t n, \
                            size_t size)                                                   \
    {                                                                                      \
        const T *blocks = from;                                                            \
        T *taken = to;                                                                     \
        (void)size;                                                                        \
        for (int64_t i = 0; i < n; i++)                                                    \
            taken[i] = blocks[indices[i]];                                                 \
    }
TAKE(1, uint8_t)
TAKE(2, uint16_t)
TAKE(4, uint32_t)
TAKE(8, uint64_t)

static void take_any(const void *from, void *to, const int64_t *indices, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)indices[i] * size, size);
}

static take_fn *take_for(size_t size)
{
    static take_fn *const table[] = {[1] = take_1, [2] = take_2, [4] = take_4, [8] = take_8};
    take_fn *fn = size < AMP_COUNT(table) ? table[size] : NULL;
    return fn != NULL ? fn : take_any;
}

/* Blocks BEGIN to END-1 of the result. */
static void take_range(const struct amp_take *take, int64_t begin, int64_t end)
{
    take_fn *fn = take_for(take->block);
    while (begin < end) {
        int64_t outer = begin / take->n, k = begin % take->n;
        int64_t n = take->n - k < end - begin ? take->n - k : end - begin;
        fn((const char *)take->from + (size_t)(outer * take->dim) * take->block,
           (char *)take->to + (size_t)begin * take->block, take->indices + k, n, take->block);
        begin += n;
    }
}

void amp_take_run(const struct amp_take *take)
{
    int64_t count = take->outer * take->n;
    if (take->block == 0)
        return;
#pragma omp parallel if (count > 1 && (size_t)count >= (size_t)4 * AMP_PARALLEL_MIN / take->block)
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t share = (count + threads - 1) / threads, begin = thread * share;
        take_range(take, begin, begin + share < count ? begin + share : count);
    }
}

enum amp_status amp_check_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                   const struct amp_shape *indices)
{
    if (indices->rank != data->rank)
        return AMP_CTX_FAIL(ctx, "indices have rank %d, data %d; they must be equal", indices->rank,
                            data->rank);
    for (int d = 0; d < data->rank; d++)
        if (d != axis && data->dims[d] >= 0 && indices->dims[d] > data->dims[d])
            return AMP_CTX_FAIL(ctx, "axis %d has size %lld in indices; data has %lld", d,
                                (long long)indices->dims[d], (long long)data->dims[d]);
    return AMP_OK;
}

enum amp_status amp_check_tuples(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                                 const struct amp_shape *indices)
{
    if (indices->rank < 1 || data->rank < 1)
        return AMP_CTX_FAIL(ctx, "data and indices have ranks %d and %d; at least 1 is needed",
                            data->rank, indices->rank);
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth == 0 || depth > data->rank - batch_dims)
        return AMP_CTX_FAIL(ctx, "the last dim of indices is %lld; 1 to %d are possible",
                            (long long)depth, data->rank - batch_dims);
    return AMP_OK;
}

/* *POSITION = element I of INDICES, counted from the start of dim AXIS of DATA. */
static enum amp_status read_index(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                  const struct amp_tensor *indices, size_t i, int64_t *position)
{
    int64_t index = amp_tensor_int(indices, i), dim = data->dims[axis];
    if (index < -dim || index >= dim)
        return AMP_CTX_FAIL(
            ctx, "indices: element %zu is %lld; axis %d of size %lld allows %lld to %lld", i,
            (long long)index, axis, (long long)dim, (long long)-dim, (long long)dim - 1);
    *position = index < 0 ? index + dim : index;
    return AMP_OK;
}

/* Fills OFFSETS; WHICH is the axis or the number of batch dims. */
typedef enum amp_status offsets_fn(struct amp_ctx *ctx, const struct amp_shape *data, int which,
                                   const struct amp_tensor *indices, int64_t *offsets);

static enum amp_status fill_axis(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                 const struct amp_tensor *indices, int64_t *offsets)
{
    size_t count = amp_tensor_count(indices);
    for (size_t i = 0; i < count; i++)
        AMP_TRY(read_index(ctx, data, axis, indices, i, &offsets[i]));
    return AMP_OK;
}

static enum amp_status fill_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                     const struct amp_tensor *indices, int64_t *offsets)
{
    const int64_t *dims = indices->shape.dims;
    int last = indices->shape.rank - 1;
    int64_t strides[AMP_RANK_MAX], at[AMP_RANK_MAX] = {0};
    size_t count = amp_tensor_count(indices), i = 0;
    amp_strides(data, strides);
    int64_t step = axis == last ? 0 : 1; /* from one element of a row to the next */
    while (i < count) {
        int64_t row = 0, position = 0;
        for (int d = 0; d < last; d++)
            row += d == axis ? 0 : at[d] * strides[d];
        for (int64_t j = 0; j < dims[last]; j++, i++) {
            AMP_TRY(read_index(ctx, data, axis, indices, i, &position));
            offsets[i] = row + j * step + position * strides[axis];
        }
        amp_index_next(last, dims, at);
    }
    return AMP_OK;
}

static enum amp_status fill_nd(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                               const struct amp_tensor *indices, int64_t *offsets)
{
    const struct amp_shape *shape = &indices->shape;
    int depth = (int)shape->dims[shape->rank - 1];
    int64_t batches = amp_shape_product(shape, 0, batch_dims);
    int64_t per_batch = amp_shape_product(shape, batch_dims, shape->rank - 1);
    size_t element = 0;
    for (int64_t i = 0; i < batches * per_batch; i++) {
        int64_t offset = i / per_batch, position = 0;
        for (int d = batch_dims; d < batch_dims + depth; d++) {
            AMP_TRY(read_index(ctx, data, d, indices, element++, &position));
            offset = offset * data->dims[d] + position;
        }
        offsets[i] = offset;
    }
    return AMP_OK;
}

static enum amp_status make_offsets(struct amp_ctx *ctx, const struct amp_shape *data, int which,
                                    const struct amp_tensor *indices, offsets_fn *fill,
                                    struct amp_buffer **offsets)
{
    *offsets = amp_scratch(ctx, "a list of places", amp_tensor_count(indices), sizeof(int64_t));
    if (*offsets == NULL)
        return ctx->err->status;
    enum amp_status status = fill(ctx, data, which, indices, (*offsets)->data);
    if (status != AMP_OK)
        amp_buffer_unref(*offsets);
    return status;
}

enum amp_status amp_offsets_axis(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                 const struct amp_tensor *indices, struct amp_buffer **offsets)
{
    return make_offsets(ctx, data, axis, indices, fill_axis, offsets);
}

enum amp_status amp_offsets_elements(struct amp_ctx *ctx, const struct amp_shape *data, int axis,
                                     const struct amp_tensor *indices, struct amp_buffer **offsets)
{
    return make_offsets(ctx, data, axis, indices, fill_elements, offsets);
}

enum amp_status amp_offsets_nd(struct amp_ctx *ctx, const struct amp_shape *data, int batch_dims,
                               const struct amp_tensor *indices, struct amp_buffer **offsets)
{
    return make_offsets(ctx, data, batch_dims, indices, fill_nd, offsets);
}
