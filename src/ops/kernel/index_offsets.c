/*
 * Turns indices into offsets, a stretch at a time, so that threads can each read some. Shapes have
 * been checked by the operators; the values of indices are checked here.
 */
#include "ops/kernel/index_offsets.h"

#include "ops/kernel/kernel.h"

enum amp_status amp_offsets_check_elements(struct amp_ctx *ctx, const struct amp_shape *data,
                                           int axis, const struct amp_shape *indices)
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

enum amp_status amp_offsets_check_tuples(struct amp_ctx *ctx, const struct amp_shape *data,
                                         int batch_dims, const struct amp_shape *indices)
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

/* ---- reading ------------------------------------------------------------------------------- */

/* A dim that N indices are for, STEP elements apart: offset = offset * keep + position * scale. */
struct dim {
    int64_t size, keep, scale, step;
};

typedef bool add_fn(const struct dim *dim, const void *indices, int64_t first, int64_t n,
                    int64_t *to);

/* Wrong indices make wrong offsets and no overflow. */
#define ADD_LOOP(pragma, element)                                                         \
    pragma for (int64_t i = 0; i < n; i++)                                                \
    {                                                                                     \
        const int64_t index = element;                                                    \
        const uint64_t position = (uint64_t)(index + (index < 0 ? size : 0));             \
        wrong |= position >= (uint64_t)size;                                              \
        to[i] = (int64_t)((uint64_t)to[i] * (uint64_t)keep + position * (uint64_t)scale); \
    }
#define ADD(DTYPE, T)                                                                        \
    AMP_CLONES(                                                                              \
        bool, add_##DTYPE,                                                                   \
        (const struct dim *dim, const void *indices, int64_t first, int64_t n, int64_t *to), \
        (dim, indices, first, n, to))                                                        \
    {                                                                                        \
        const T *from = (const T *)indices + first;                                          \
        const int64_t size = dim->size, keep = dim->keep, scale = dim->scale;                \
        uint64_t wrong = 0;                                                                  \
        if (dim->step == 1)                                                                  \
            ADD_LOOP(_Pragma("omp simd reduction(| : wrong)"), from[i])                      \
        else                                                                                 \
            ADD_LOOP(, from[i * dim->step])                                                  \
        return wrong == 0;                                                                   \
    }
ADD(INT32, int32_t)
ADD(INT64, int64_t)

static bool add(const struct amp_tensor *indices, const struct dim *dim, int64_t first, int64_t n,
                int64_t *to)
{
    static add_fn *const table[AMP_DTYPE_COUNT] = {
        [AMP_INT32] = add_INT32, [AMP_INT64] = add_INT64};
    add_fn *fn = table[indices->dtype];
    return fn != NULL && fn(dim, indices->data, first, n, to);
}

static bool read_axis(const struct amp_offsets *offsets, int64_t first, int64_t n, int64_t *to)
{
    const struct dim dim = {offsets->data->dims[offsets->axis], 0, 1, 1};
    for (int64_t i = 0; i < n; i++)
        to[i] = 0;
    return add(offsets->indices, &dim, first, n, to);
}

/* Row by row of the indices. */
static bool read_elements(const struct amp_offsets *offsets, int64_t first, int64_t n, int64_t *to)
{
    const struct amp_shape *shape = &offsets->indices->shape;
    int last = shape->rank - 1, axis = offsets->axis;
    int64_t strides[AMP_RANK_MAX], at[AMP_RANK_MAX];
    bool is_right = true;
    amp_strides(offsets->data, strides);
    amp_index_at(shape->rank, shape->dims, first, at);
    const struct dim dim = {offsets->data->dims[axis], 1, strides[axis], 1};
    int64_t step = axis == last ? 0 : 1; /* from one element of a row to the next */
    for (int64_t done = 0; done < n;) {
        int64_t left = shape->dims[last] - at[last], row = at[last] * step;
        int64_t count = left < n - done ? left : n - done;
        for (int d = 0; d < last; d++)
            row += d == axis ? 0 : at[d] * strides[d];
        for (int64_t j = 0; j < count; j++)
            to[done + j] = row + j * step;
        is_right &= add(offsets->indices, &dim, first + done, count, to + done);
        done += count;
        at[last] = 0;
        amp_index_next(last, shape->dims, at);
    }
    return is_right;
}

/* The first of the tuple's dims goes on from the batch, which the offset's own number tells. */
static bool read_tuples(const struct amp_offsets *offsets, int64_t first, int64_t n, int64_t *to)
{
    const struct amp_shape *shape = &offsets->indices->shape;
    int64_t per_batch = amp_shape_product(shape, offsets->axis, shape->rank - 1);
    bool is_right = true;
    for (int64_t i = 0; i < n; i++)
        to[i] = offsets->axis > 0 ? (first + i) / per_batch : 0;
    for (int d = 0; d < offsets->depth; d++) {
        int64_t size = offsets->data->dims[offsets->axis + d];
        const struct dim dim = {size, size, 1, offsets->depth};
        is_right &= add(offsets->indices, &dim, first * offsets->depth + d, n, to);
    }
    return is_right;
}

struct amp_offsets amp_offsets_axis(const struct amp_shape *data, int axis,
                                    const struct amp_tensor *indices)
{
    return (struct amp_offsets){.indices = indices,
                                .data = data,
                                .read = read_axis,
                                .axis = axis,
                                .depth = 1,
                                .count = amp_shape_count(&indices->shape)};
}

struct amp_offsets amp_offsets_elements(const struct amp_shape *data, int axis,
                                        const struct amp_tensor *indices)
{
    struct amp_offsets offsets = amp_offsets_axis(data, axis, indices);
    offsets.read = read_elements;
    return offsets;
}

struct amp_offsets amp_offsets_tuples(const struct amp_shape *data, int batch_dims,
                                      const struct amp_tensor *indices)
{
    int last = indices->shape.rank - 1;
    return (struct amp_offsets){.indices = indices,
                                .data = data,
                                .read = read_tuples,
                                .axis = batch_dims,
                                .depth = (int)indices->shape.dims[last],
                                .count = amp_shape_product(&indices->shape, 0, last)};
}

enum amp_status amp_offsets_fail(struct amp_ctx *ctx, const struct amp_offsets *offsets)
{
    const struct amp_tensor *indices = offsets->indices;
    size_t count = amp_tensor_count(indices), depth = (size_t)offsets->depth;
    if (indices->dtype != AMP_INT32 && indices->dtype != AMP_INT64)
        return amp_no_kernel(ctx, indices->dtype);
    for (size_t i = 0; i < count; i++) {
        int axis = offsets->axis + (int)(i % depth);
        int64_t index = amp_tensor_int(indices, i), dim = offsets->data->dims[axis];
        if (index < -dim || index >= dim)
            return AMP_CTX_FAIL(
                ctx, "indices: element %zu is %lld; axis %d of size %lld allows %lld to %lld", i,
                (long long)index, axis, (long long)dim, (long long)-dim, (long long)dim - 1);
    }
    return AMP_OK;
}

enum amp_status amp_offsets_list(struct amp_ctx *ctx, const struct amp_offsets *offsets,
                                 struct amp_buffer **buffer)
{
    enum { STRETCH = 4096 };
    int64_t count = offsets->count;
    bool is_right = true;
    *buffer = amp_scratch(ctx, "a list of places", (size_t)count, sizeof(int64_t));
    if (*buffer == NULL)
        return ctx->err->status;
    int64_t *list = (*buffer)->data;
#pragma omp parallel for reduction(&& : is_right) if (count >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < count; i += STRETCH)
        is_right = offsets->read(offsets, i, count - i < STRETCH ? count - i : STRETCH, list + i) &&
                   is_right;
    if (is_right)
        return AMP_OK;
    amp_buffer_unref(*buffer);
    return amp_offsets_fail(ctx, offsets);
}
