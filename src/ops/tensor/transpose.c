/*
 * Operators that permute dims: Transpose; DepthToSpace and SpaceToDepth, which permute a tensor
 * that is seen with more dims. All versions up to ONNX 25.
 */
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"
#include "ops/kernel/data_movement.h"

#include <string.h>

/* TO = FROM, of shape IN and a dtype of whole bytes, with dim i of TO being dim PERM[i] of FROM. */
static void permute(const struct amp_shape *in, const int *perm, enum amp_dtype dtype, void *from,
                    void *to)
{
    struct amp_shape out = {.rank = in->rank};
    int64_t in_strides[AMP_RANK_MAX], out_strides[AMP_RANK_MAX], strides[AMP_RANK_MAX];
    struct amp_loop loop;
    amp_strides(in, in_strides);
    for (int i = 0; i < in->rank; i++) {
        out.dims[i] = in->dims[perm[i]];
        strides[i] = in_strides[perm[i]];
    }
    if (amp_shape_count(&out) == 0)
        return;
    amp_strides(&out, out_strides);
    amp_loop_init(&loop, out.rank, out.dims);
    amp_loop_view(&loop, to, amp_dtype_bits(dtype) / 8, out_strides);
    amp_loop_view(&loop, from, amp_dtype_bits(dtype) / 8, strides);
    amp_loop_move(&loop);
}

/* Attribute perm, by default the dims in reverse order, for RANK dims. */
static enum amp_status read_perm(struct amp_ctx *ctx, int rank, int *perm)
{
    size_t n;
    bool seen[AMP_RANK_MAX] = {false};
    const int64_t *dims = amp_node_ints(ctx->node, "perm", &n);
    if (dims != NULL && n != (size_t)rank)
        return AMP_CTX_FAIL(ctx, "perm has %zu values; the input has %d dims", n, rank);
    for (int i = 0; i < rank; i++) {
        int64_t dim = dims != NULL ? dims[i] : rank - 1 - i;
        if (dim < 0 || dim >= rank)
            return AMP_CTX_FAIL(ctx, "perm[%d] is %lld; 0 to %d are possible", i, (long long)dim,
                                rank - 1);
        if (seen[dim])
            return AMP_CTX_FAIL(ctx, "perm has %lld twice", (long long)dim);
        seen[dim] = true;
        perm[i] = (int)dim;
    }
    return AMP_OK;
}

static enum amp_status transpose_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int perm[AMP_RANK_MAX] = {0};
    size_t n;
    if (in->rank < 0) {
        amp_shape_unknown(out, amp_node_ints(ctx->node, "perm", &n) != NULL ? (int64_t)n : -1);
        return AMP_OK;
    }
    AMP_TRY(read_perm(ctx, in->rank, perm));
    out->rank = in->rank;
    for (int i = 0; i < in->rank; i++)
        out->dims[i] = in->dims[perm[i]];
    return AMP_OK;
}

/* Whether only dims of 1 change their places, so that the elements stay in order. */
static bool keeps_order(const struct amp_shape *in, const int *perm)
{
    int before = -1;
    for (int i = 0; i < in->rank; i++) {
        if (in->dims[perm[i]] == 1)
            continue;
        if (perm[i] < before)
            return false;
        before = perm[i];
    }
    return true;
}

static enum amp_status permute_packed(struct amp_ctx *ctx, const int *perm)
{
    struct amp_tensor from = {0}, to = {.dtype = AMP_UINT8, .shape = ctx->out[0]->shape};
    enum amp_status status = amp_bytes_unpack(ctx->in[0], &from, ctx->err);
    if (status == AMP_OK)
        status = amp_tensor_alloc(&to, ctx->err);
    if (status == AMP_OK) {
        permute(&from.shape, perm, AMP_UINT8, from.data, to.data);
        amp_bytes_pack(&to, ctx->out[0]);
    }
    amp_tensor_release(&from);
    amp_tensor_release(&to);
    return status;
}

/* Lets output 0 be the elements of input 0 where they lie, in the layout that comes of that. */
static bool transpose_in_place(struct amp_ctx *ctx, const int *perm)
{
    const struct amp_layout *layout;
    bool may = ctx->layout_wish.any_layout || ctx->in[0]->layout != NULL;
    if (!may || !amp_layout_permute(ctx->host->dnnl->layouts, ctx->in[0], perm, &layout))
        return false;
    amp_tensor_share(ctx->out[0], ctx->in[0]);
    ctx->out[0]->layout = layout;
    return true;
}

static enum amp_status transpose_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    int perm[AMP_RANK_MAX] = {0};
    AMP_TRY(read_perm(ctx, in->shape.rank, perm));
    if (in->layout == NULL && keeps_order(&in->shape, perm))
        return amp_run_share(ctx);
    if (transpose_in_place(ctx, perm))
        return AMP_OK;
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    if (amp_is_packed(in->dtype))
        return permute_packed(ctx, perm);
    permute(&in->shape, perm, in->dtype, in->data, ctx->out[0]->data);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_transpose = {
    .name = "Transpose",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .has_layouts = true,
    .role = AMP_ROLE_TRANSPOSE,
    .gradient = AMP_GRADIENT({.term = "Transpose(g; perm=~perm)"}),
    .shape = transpose_shape,
    .run = transpose_run,
};

/* Attribute blocksize; checks the input's rank too. */
static enum amp_status read_block(struct amp_ctx *ctx, int64_t *block)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    *block = amp_node_int(ctx->node, "blocksize", 0);
    if (*block < 1 || *block > INT32_MAX)
        return AMP_CTX_FAIL(ctx, "blocksize is %lld; 1 to %d are possible", (long long)*block,
                            INT32_MAX);
    if (in->rank >= 0 && in->rank != 4)
        return AMP_CTX_FAIL(ctx, "the input has %d dims; 4 are needed", in->rank);
    return AMP_OK;
}

/* *RESULT = DIM of axis AXIS by DIVISOR, which must divide it. */
static enum amp_status divide_dim(struct amp_ctx *ctx, int axis, int64_t divisor, int64_t *result)
{
    int64_t dim = ctx->in[0]->shape.dims[axis];
    if (dim > 0 && dim % divisor != 0)
        return AMP_CTX_FAIL(ctx, "axis %d has size %lld; a multiple of %lld is needed", axis,
                            (long long)dim, (long long)divisor);
    *result = dim < 0 && divisor != 1 ? AMP_DIM_UNKNOWN : dim < 0 ? dim : dim / divisor;
    return AMP_OK;
}

static enum amp_status depth_to_space_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t block;
    AMP_TRY(read_block(ctx, &block));
    amp_shape_unknown(out, 4);
    if (in->rank < 0)
        return AMP_OK;
    out->dims[0] = in->dims[0];
    AMP_TRY(divide_dim(ctx, 1, block * block, &out->dims[1]));
    AMP_TRY(amp_dim_mul(in->dims[2], block, &out->dims[2], ctx->err));
    return amp_dim_mul(in->dims[3], block, &out->dims[3], ctx->err);
}

static enum amp_status depth_to_space_run(struct amp_ctx *ctx)
{
    static const int dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
    const struct amp_tensor *in = ctx->in[0];
    const int64_t *dims = in->shape.dims, *out = ctx->out[0]->shape.dims;
    static const char *const modes[] = {"DCR", "CRD", NULL};
    int is_crd = 0;
    int64_t block;
    AMP_TRY(read_block(ctx, &block));
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &is_crd));
    struct amp_shape split = {6, {dims[0], block, block, out[1], dims[2], dims[3]}};
    if (is_crd)
        split = (struct amp_shape){6, {dims[0], out[1], block, block, dims[2], dims[3]}};
    permute(&split, is_crd ? crd : dcr, in->dtype, in->data, ctx->out[0]->data);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_depth_to_space = {
    .name = "DepthToSpace",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.when = "mode=DCR", .term = "SpaceToDepth(g; blocksize=#blocksize)"},
                             {.term = "Picked(Same(positions))"}),
    .shape = depth_to_space_shape,
    .run = depth_to_space_run,
};

static enum amp_status space_to_depth_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t block;
    AMP_TRY(read_block(ctx, &block));
    amp_shape_unknown(out, 4);
    if (in->rank < 0)
        return AMP_OK;
    out->dims[0] = in->dims[0];
    AMP_TRY(amp_dim_mul(in->dims[1], block * block, &out->dims[1], ctx->err));
    AMP_TRY(divide_dim(ctx, 2, block, &out->dims[2]));
    return divide_dim(ctx, 3, block, &out->dims[3]);
}

static enum amp_status space_to_depth_run(struct amp_ctx *ctx)
{
    static const int perm[] = {0, 3, 5, 1, 2, 4};
    const struct amp_tensor *in = ctx->in[0];
    const int64_t *dims = in->shape.dims, *out = ctx->out[0]->shape.dims;
    int64_t block;
    AMP_TRY(read_block(ctx, &block));
    struct amp_shape split = {6, {dims[0], dims[1], out[2], block, out[3], block}};
    permute(&split, perm, in->dtype, in->data, ctx->out[0]->data);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_space_to_depth = {
    .name = "SpaceToDepth",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "DepthToSpace(g; blocksize=#blocksize)"}),
    .shape = space_to_depth_shape,
    .run = space_to_depth_run,
};
