/*
 * Operators that pick elements or blocks by index: Gather, GatherElements, GatherND and
 * ReverseSequence, all versions up to ONNX 13. Every index is checked; one that is out of range
 * fails with AMP_MODEL.
 */
#include "ops/kernel/data_movement.h"
#include "ops/kernel/gather_blocks.h"

static size_t element_size(const struct amp_tensor *tensor)
{
    return amp_dtype_bits(tensor->dtype) / 8;
}

/* Runs TAKE with the indices, which are then dropped. */
static enum amp_status take_and_drop(struct amp_ctx *ctx, struct amp_gather *take,
                                     struct amp_buffer *indices)
{
    take->indices = indices->data;
    amp_gather_run(take);
    amp_buffer_unref(indices);
    return amp_move_done(ctx, 0);
}

static enum amp_status append_dims(struct amp_ctx *ctx, const struct amp_shape *from, int first,
                                   int last, struct amp_shape *out)
{
    if (out->rank + last - first > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "the output would have rank %d; at most %d is supported",
                            out->rank + last - first, AMP_RANK_MAX);
    for (int d = first; d < last; d++)
        out->dims[out->rank++] = from->dims[d];
    return AMP_OK;
}

/* Attribute axis for the rank of input 0. */
static enum amp_status gather_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), ctx->in[0]->shape.rank, axis);
}

/* ---- Gather ---- */

static enum amp_status gather_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    struct amp_shape shape = {.rank = 0};
    int axis;
    ctx->out[0]->shape.rank = -1;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(gather_axis(ctx, &axis));
    AMP_TRY(append_dims(ctx, data, 0, axis, &shape));
    AMP_TRY(append_dims(ctx, indices, 0, indices->rank, &shape));
    AMP_TRY(append_dims(ctx, data, axis + 1, data->rank, &shape));
    ctx->out[0]->shape = shape;
    return AMP_OK;
}

static enum amp_status gather_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *data = ctx->in[0];
    const struct amp_shape *shape = &data->shape;
    struct amp_buffer *positions;
    int axis;
    AMP_TRY(gather_axis(ctx, &axis));
    const struct amp_offsets places = amp_offsets_axis(shape, axis, ctx->in[1]);
    AMP_TRY(amp_offsets_list(ctx, &places, &positions));
    struct amp_gather take = {.from = data->data,
                              .to = ctx->out[0]->data,
                              .block = (size_t)amp_shape_product(shape, axis + 1, shape->rank) *
                                       element_size(data),
                              .outer = amp_shape_product(shape, 0, axis),
                              .dim = shape->dims[axis],
                              .n = amp_shape_count(&ctx->in[1]->shape)};
    return take_and_drop(ctx, &take, positions);
}

const struct amp_op amp_op_gather = {
    .name = "Gather",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .indexing = AMP_INDEXES_AXIS,
    .reads_unaligned = 1u << 0,
    .gradient = AMP_GRADIENT(
        {.when = "axis=0",
         .term = "ScatterND(zeros, Unsqueeze(CastLike(b, 0L), [-1]), g; reduction=add)"},
        {.term = "Picked(Same(positions))"}),
    .shape = gather_shape,
    .run = gather_run,
};

/* ---- GatherElements ---- */

static enum amp_status gather_elements_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    int axis;
    ctx->out[0]->shape = *indices;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(gather_axis(ctx, &axis));
    return amp_offsets_check_elements(ctx, data, axis, indices);
}

static enum amp_status gather_elements_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *data = ctx->in[0];
    int axis;
    AMP_TRY(gather_axis(ctx, &axis));
    const struct amp_offsets places = amp_offsets_elements(&data->shape, axis, ctx->in[1]);
    AMP_TRY(amp_gather_offsets(ctx, &places, data->data, ctx->out[0]->data, element_size(data)));
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_gather_elements = {
    .name = "GatherElements",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .indexing = AMP_INDEXES_AXIS,
    .gradient = AMP_GRADIENT({.term = "ScatterElements(zeros, b, g; axis=#axis, reduction=add)"}),
    .shape = gather_elements_shape,
    .run = gather_elements_run,
};

/* ---- GatherND ---- */

/* Attribute batch_dims; the first dims of data and indices must be equal. */
static enum amp_status read_batch_dims(struct amp_ctx *ctx, int *batch_dims)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    int64_t batches = amp_node_int(ctx->node, "batch_dims", 0), merged;
    int limit = data->rank < indices->rank ? data->rank : indices->rank;
    if (batches < 0 || batches >= limit)
        return AMP_CTX_FAIL(ctx, "batch_dims is %lld; ranks %d and %d allow 0 to %d",
                            (long long)batches, data->rank, indices->rank, limit - 1);
    for (int d = 0; d < batches; d++)
        if (!amp_dim_merge(data->dims[d], indices->dims[d], &merged))
            return AMP_CTX_FAIL(ctx, "batch dim %d is %lld in data and %lld in indices", d,
                                (long long)data->dims[d], (long long)indices->dims[d]);
    *batch_dims = (int)batches;
    return AMP_OK;
}

static enum amp_status gather_nd_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    struct amp_shape shape = {.rank = 0};
    int batch_dims;
    ctx->out[0]->shape.rank = -1;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(amp_offsets_check_tuples(ctx, data, 0, indices));
    AMP_TRY(read_batch_dims(ctx, &batch_dims));
    AMP_TRY(amp_offsets_check_tuples(ctx, data, batch_dims, indices));
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth < 0)
        return AMP_OK;
    AMP_TRY(append_dims(ctx, indices, 0, indices->rank - 1, &shape));
    AMP_TRY(append_dims(ctx, data, batch_dims + (int)depth, data->rank, &shape));
    ctx->out[0]->shape = shape;
    return AMP_OK;
}

static enum amp_status gather_nd_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *data = ctx->in[0];
    int batch_dims;
    AMP_TRY(read_batch_dims(ctx, &batch_dims));
    const struct amp_offsets places = amp_offsets_tuples(&data->shape, batch_dims, ctx->in[1]);
    int64_t block = amp_shape_product(&data->shape, batch_dims + places.depth, data->shape.rank);
    AMP_TRY(amp_gather_offsets(ctx, &places, data->data, ctx->out[0]->data,
                               (size_t)block * element_size(data)));
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_gather_nd = {
    .name = "GatherND",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .indexing = AMP_INDEXES_DIMS,
    .gradient =
        AMP_GRADIENT({.when = "batch_dims=0", .term = "ScatterND(zeros, b, g; reduction=add)"},
                     {.term = "Picked(Same(positions))"}),
    .shape = gather_nd_shape,
    .run = gather_nd_run,
};

/* ---- ReverseSequence ---- */

/* Attribute NAME, which is 0 or 1. */
static enum amp_status read_bit(struct amp_ctx *ctx, const char *name, int64_t fallback, int *bit)
{
    int64_t value = amp_node_int(ctx->node, name, fallback);
    if (value != 0 && value != 1)
        return AMP_CTX_FAIL(ctx, "%s is %lld; 0 and 1 are possible", name, (long long)value);
    *bit = (int)value;
    return AMP_OK;
}

static enum amp_status reverse_sequence_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    int time = 0, batch = 0;
    int64_t lengths = amp_ctx_length(ctx, 1), merged;
    ctx->out[0]->shape = *in;
    AMP_TRY(read_bit(ctx, "time_axis", 0, &time));
    AMP_TRY(read_bit(ctx, "batch_axis", 1, &batch));
    if (time == batch)
        return AMP_CTX_FAIL(ctx, "time_axis and batch_axis are both %d", time);
    if (in->rank >= 0 && in->rank < 2)
        return AMP_CTX_FAIL(ctx, "the input has rank %d; at least 2 is needed", in->rank);
    if (ctx->in[1]->shape.rank >= 0 && ctx->in[1]->shape.rank != 1)
        return AMP_CTX_FAIL(ctx, "sequence_lens has rank %d; 1 is needed", ctx->in[1]->shape.rank);
    if (in->rank >= 0 && !amp_dim_merge(in->dims[batch], lengths, &merged))
        return AMP_CTX_FAIL(ctx, "sequence_lens has %lld values; the batch has %lld",
                            (long long)lengths, (long long)in->dims[batch]);
    return AMP_OK;
}

/* Where the block at [i][j] of the output comes from, for each of them. */
static enum amp_status fill_reversed(struct amp_ctx *ctx, int time_axis, int64_t *sources)
{
    const int64_t *dims = ctx->in[0]->shape.dims;
    for (int64_t i = 0; i < dims[0]; i++) {
        for (int64_t j = 0; j < dims[1]; j++) {
            int64_t time = time_axis == 0 ? i : j, batch = time_axis == 0 ? j : i;
            int64_t length = amp_tensor_int(ctx->in[1], (size_t)batch);
            if (length < 0 || length > dims[time_axis])
                return AMP_CTX_FAIL(ctx, "sequence_lens[%lld] is %lld; 0 to %lld are possible",
                                    (long long)batch, (long long)length,
                                    (long long)dims[time_axis]);
            int64_t source = time < length ? length - 1 - time : time;
            sources[i * dims[1] + j] =
                time_axis == 0 ? source * dims[1] + batch : batch * dims[1] + source;
        }
    }
    return AMP_OK;
}

static enum amp_status reverse_sequence_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    int64_t n = amp_shape_product(&in->shape, 0, 2);
    struct amp_buffer *sources = amp_scratch(ctx, "a list of places", (size_t)n, sizeof(int64_t));
    if (sources == NULL)
        return ctx->err->status;
    int time_axis = amp_node_int(ctx->node, "time_axis", 0) != 0;
    enum amp_status status = fill_reversed(ctx, time_axis, sources->data);
    if (status != AMP_OK) {
        amp_buffer_unref(sources);
        return status;
    }
    struct amp_gather take = {.from = in->data,
                              .to = ctx->out[0]->data,
                              .block = (size_t)amp_shape_product(&in->shape, 2, in->shape.rank) *
                                       element_size(in),
                              .outer = 1,
                              .n = n};
    return take_and_drop(ctx, &take, sources);
}

const struct amp_op amp_op_reverse_sequence = {
    .name = "ReverseSequence",
    .meanings = AMP_MEANINGS({AMP_MEANS_LENGTHS, 1, "time_axis"}),
    .newest = 10,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "Same(g)"}),
    .shape = reverse_sequence_shape,
    .run = reverse_sequence_run,
};
