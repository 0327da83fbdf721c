/*
 * Operators that put elements or blocks where indices say: Scatter, ScatterElements, ScatterND, the
 * latter two with reductions. All versions up to ONNX 18. Updates are applied in the order of their
 * indices, so that the last of several for one place wins; the standard leaves that open.
 */
#include "core/array.h"
#include "ops/move.h"
#include "ops/take.h"

#include <stdlib.h>
#include <string.h>

/* N blocks of BLOCK elements from FROM to TO, block OFFSETS[i] for the i-th. */
struct scatter {
    const void *from;
    void *to;
    int64_t block;
    const int64_t *offsets;
    int64_t n;
};

typedef void reduce_fn(const struct scatter *scatter);

/* Integers wrap. A NaN among the operands of max and min stays. */
#define ADD_INT(T, a, b) (T)((uint64_t)(a) + (uint64_t)(b))
#define MUL_INT(T, a, b) (T)((uint64_t)(a) * (uint64_t)(b))
#define ADD_FLOAT(T, a, b) ((a) + (b))
#define MUL_FLOAT(T, a, b) ((a) * (b))
#define MAX(T, a, b) ((a) >= (b) ? (a) : (a) < (b) ? (b) : (T)((a) + (b)))
#define MIN(T, a, b) ((a) <= (b) ? (a) : (a) > (b) ? (b) : (T)((a) + (b)))
#define OR(T, a, b) (T)((a) || (b))
#define AND(T, a, b) (T)((a) && (b))

#define REDUCE(DTYPE, T, name, OPERATION)                                    \
    static void name##_##DTYPE(const struct scatter *scatter)                \
    {                                                                        \
        const T *from = scatter->from;                                       \
        for (int64_t i = 0; i < scatter->n; i++, from += scatter->block) {   \
            T *to = (T *)scatter->to + scatter->offsets[i] * scatter->block; \
            for (int64_t k = 0; k < scatter->block; k++)                     \
                to[k] = OPERATION(T, to[k], from[k]);                        \
        }                                                                    \
    }
AMP_INTEGER_TYPES(REDUCE, add, ADD_INT)
AMP_INTEGER_TYPES(REDUCE, mul, MUL_INT)
AMP_FLOAT_TYPES(REDUCE, add, ADD_FLOAT)
AMP_FLOAT_TYPES(REDUCE, mul, MUL_FLOAT)
AMP_REAL_TYPES(REDUCE, max, MAX)
AMP_REAL_TYPES(REDUCE, min, MIN)
AMP_BOOL_TYPE(REDUCE, add, OR)
AMP_BOOL_TYPE(REDUCE, mul, AND)
AMP_BOOL_TYPE(REDUCE, max, OR)
AMP_BOOL_TYPE(REDUCE, min, AND)

static const struct reduction {
    const char *name;
    int since; /* version of ScatterElements and ScatterND */
    reduce_fn *kernels[AMP_DTYPE_COUNT];
} reductions[] = {
    {"none", 1, {NULL}},
    {"add", 16, {AMP_REAL_TYPES(AMP_ROW, add) AMP_BOOL_TYPE(AMP_ROW, add)}},
    {"mul", 16, {AMP_REAL_TYPES(AMP_ROW, mul) AMP_BOOL_TYPE(AMP_ROW, mul)}},
    {"max", 18, {AMP_REAL_TYPES(AMP_ROW, max) AMP_BOOL_TYPE(AMP_ROW, max)}},
    {"min", 18, {AMP_REAL_TYPES(AMP_ROW, min) AMP_BOOL_TYPE(AMP_ROW, min)}},
};

static enum amp_status find_reduction(struct amp_ctx *ctx, const struct reduction **reduction)
{
    const char *name = amp_node_string(ctx->node, "reduction", "none");
    for (size_t i = 0; i < AMP_COUNT(reductions); i++) {
        *reduction = &reductions[i];
        if (strcmp(name, reductions[i].name) == 0 &&
            ctx->node->since_version >= reductions[i].since)
            return AMP_OK;
    }
    return AMP_CTX_FAIL(ctx,
                        "reduction is '%s'; none, add, mul, max and min are possible (add and "
                        "mul since version 16, max and min since 18)",
                        name);
}

static void put_blocks(const struct scatter *scatter, size_t element_size)
{
    size_t size = (size_t)scatter->block * element_size;
    const char *from = scatter->from;
    for (int64_t i = 0; i < scatter->n; i++)
        memcpy((char *)scatter->to + (size_t)scatter->offsets[i] * size, from + (size_t)i * size,
               size);
}

/* The output becomes the data with the updates put to OFFSETS, N blocks of BLOCK elements. */
static enum amp_status scatter_blocks(struct amp_ctx *ctx, const int64_t *offsets, int64_t n,
                                      int64_t block)
{
    const struct amp_tensor *data = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    struct scatter scatter = {ctx->in[2]->data, out->data, block, offsets, n};
    const struct reduction *reduction;
    reduce_fn *reduce = NULL;
    AMP_TRY(find_reduction(ctx, &reduction));
    if (reduction != &reductions[0])
        AMP_PICK(ctx, reduce, reduction->kernels, data->dtype);
    if (amp_tensor_size(data) > 0)
        memcpy(out->data, data->data, amp_tensor_size(data));
    if (block == 0)
        return AMP_OK;
    if (reduce != NULL)
        reduce(&scatter);
    else
        put_blocks(&scatter, amp_dtype_bits(data->dtype) / 8);
    return amp_move_done(ctx, 0);
}

/* ---- Scatter, ScatterElements ---- */

static enum amp_status scatter_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), ctx->in[0]->shape.rank, axis);
}

/* Updates must have the shape EXPECTED. */
static enum amp_status check_updates(struct amp_ctx *ctx, const struct amp_shape *expected)
{
    const struct amp_shape *updates = &ctx->in[2]->shape;
    char text[200], wanted[200];
    int64_t merged;
    if (updates->rank < 0)
        return AMP_OK;
    bool fits = updates->rank == expected->rank;
    for (int d = 0; fits && d < updates->rank; d++)
        fits = amp_dim_merge(updates->dims[d], expected->dims[d], &merged);
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "updates have shape %s; %s is needed",
                        amp_shape_text(updates, text, sizeof text),
                        amp_shape_text(expected, wanted, sizeof wanted));
}

static enum amp_status scatter_elements_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    int axis;
    ctx->out[0]->shape = *data;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(scatter_axis(ctx, &axis));
    AMP_TRY(amp_check_elements(ctx, data, axis, indices));
    return check_updates(ctx, indices);
}

static enum amp_status scatter_elements_run(struct amp_ctx *ctx)
{
    int64_t *offsets;
    int axis;
    AMP_TRY(scatter_axis(ctx, &axis));
    AMP_TRY(amp_offsets_elements(ctx, &ctx->in[0]->shape, axis, ctx->in[1], &offsets));
    enum amp_status status = scatter_blocks(ctx, offsets, amp_shape_count(&ctx->in[1]->shape), 1);
    free(offsets);
    return status;
}

const struct amp_op amp_op_scatter = {
    .name = "Scatter",
    .newest = 11,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ANY,
    .shape = scatter_elements_shape,
    .run = scatter_elements_run,
};

/* With a reduction they compute, which for 16-bit floats is left to the executor's float32. */
const struct amp_op amp_op_scatter_elements = {
    .name = "ScatterElements",
    .newest = 18,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ANY,
    .shape = scatter_elements_shape,
    .run = scatter_elements_run,
};

/* ---- ScatterND ---- */

static enum amp_status scatter_nd_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    ctx->out[0]->shape = *data;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(amp_check_tuples(ctx, data, 0, indices));
    int64_t depth = indices->dims[indices->rank - 1];
    struct amp_shape expected = {.rank = indices->rank - 1};
    if (depth < 0 || expected.rank + data->rank - depth > AMP_RANK_MAX)
        return AMP_OK;
    memcpy(expected.dims, indices->dims, (size_t)expected.rank * sizeof expected.dims[0]);
    for (int d = (int)depth; d < data->rank; d++)
        expected.dims[expected.rank++] = data->dims[d];
    return check_updates(ctx, &expected);
}

static enum amp_status scatter_nd_run(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    int64_t *offsets;
    AMP_TRY(amp_offsets_nd(ctx, data, 0, ctx->in[1], &offsets));
    int depth = (int)indices->dims[indices->rank - 1];
    enum amp_status status =
        scatter_blocks(ctx, offsets, amp_shape_product(indices, 0, indices->rank - 1),
                       amp_shape_product(data, depth, data->rank));
    free(offsets);
    return status;
}

const struct amp_op amp_op_scatter_nd = {
    .name = "ScatterND",
    .newest = 18,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ANY,
    .shape = scatter_nd_shape,
    .run = scatter_nd_run,
};
