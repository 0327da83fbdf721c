/*
 * Operators that give the elements another shape and copy none: Reshape, Flatten, Squeeze,
 * Unsqueeze and Identity; and Shape and Size, which tell the shape. All versions up to ONNX 25.
 * What was an attribute in one version and is an input in another is taken from where the node has
 * it.
 */
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"
#include "ops/kernel/data_movement.h"

#include <string.h>

/* ---- elements ---- */

/* Copies the elements of input 0 to where RESHAPED has them. */
static enum amp_status move_elements(struct amp_ctx *ctx, const struct amp_reshaped *reshaped)
{
    const struct amp_tensor *in = ctx->in[0];
    size_t size = amp_dtype_bits(in->dtype) / 8;
    struct amp_loop loop;
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    ctx->out[0]->layout = reshaped->layout;
    amp_loop_init(&loop, in->shape.rank, in->shape.dims);
    amp_loop_view(&loop, ctx->out[0]->data, size, reshaped->strides);
    amp_loop_view(&loop, in->data, size, amp_layout_strides(in->layout));
    amp_loop_move(&loop);
    return AMP_OK;
}

/* What lies by strides, such as channels last, stays where it is if it can, and keeps the order of
   its dims if not. */
static enum amp_status reshape_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_reshaped reshaped;
    if (in->layout == NULL)
        return amp_run_share(ctx);
    if (!amp_layout_reshape(ctx->host->dnnl->layouts, in, &ctx->out[0]->shape, &reshaped) ||
        (reshaped.layout != NULL && !ctx->layout_wish.any_layout))
        return amp_layout_undo_to(ctx, in, 0);
    if (reshaped.is_moved)
        return move_elements(ctx, &reshaped);
    amp_tensor_share(ctx->out[0], in);
    ctx->out[0]->layout = reshaped.layout;
    return AMP_OK;
}

/* ---- Reshape ---- */

/* What Reshape asks for. */
struct target {
    int64_t dims[AMP_RANK_MAX]; /* 0: as in the input unless keeps_zero; -1: what remains */
    int rank;
    int inferred; /* which one is -1; -1: none */
    bool keeps_zero;
};

static bool is_copied(const struct target *target, int i)
{
    return target->dims[i] == 0 && !target->keeps_zero;
}

static enum amp_status check_target(struct amp_ctx *ctx, struct target *target)
{
    bool has_zero = false;
    target->inferred = -1;
    for (int i = 0; i < target->rank; i++) {
        int64_t dim = target->dims[i];
        has_zero |= dim == 0;
        if (dim < -1)
            return AMP_CTX_FAIL(ctx, "shape[%d] is %lld; -1, 0 and positive values are possible", i,
                                (long long)dim);
        if (dim == -1 && target->inferred >= 0)
            return AMP_CTX_FAIL(ctx,
                                "shape[%d] and shape[%d] are both -1; only one can be inferred",
                                target->inferred, i);
        if (dim == -1)
            target->inferred = i;
    }
    if (has_zero && target->keeps_zero && target->inferred >= 0)
        return AMP_CTX_FAIL(ctx, "shape has both 0 and -1, which allowzero forbids");
    return AMP_OK;
}

/* The dims of *OUT but for the inferred one, which is 1. */
static enum amp_status fill_target(struct amp_ctx *ctx, const struct target *target,
                                   struct amp_shape *out)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    out->rank = target->rank;
    for (int i = 0; i < target->rank; i++) {
        if (!is_copied(target, i))
            out->dims[i] = i == target->inferred ? 1 : target->dims[i];
        else if (in->rank < 0)
            out->dims[i] = AMP_DIM_UNKNOWN;
        else if (i < in->rank)
            out->dims[i] = in->dims[i];
        else
            return AMP_CTX_FAIL(ctx, "shape[%d] is 0, but the input has only %d dims", i, in->rank);
    }
    return AMP_OK;
}

/* The product of known dims goes to *KNOWN; returns how many are not known, *UNKNOWN is the last of
   them. */
static enum amp_status split_product(struct amp_ctx *ctx, const struct amp_shape *shape,
                                     int64_t *known, int64_t *unknown, int *n_unknown)
{
    *known = 1;
    *n_unknown = 0;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] >= 0) {
            AMP_TRY(amp_dim_mul(*known, shape->dims[i], known, ctx->err));
        } else {
            *unknown = shape->dims[i];
            ++*n_unknown;
        }
    }
    return AMP_OK;
}

static enum amp_status fail_count(struct amp_ctx *ctx, const struct target *target)
{
    struct amp_shape asked = {.rank = target->rank};
    char from[256], to[256];
    memcpy(asked.dims, target->dims, sizeof asked.dims);
    return AMP_CTX_FAIL(
        ctx, "%s cannot be reshaped to %s%s", amp_shape_text(&ctx->in[0]->shape, from, sizeof from),
        amp_shape_text(&asked, to, sizeof to), target->inferred >= 0 ? " (? is inferred)" : "");
}

/* Infers the dim that is -1 and checks the number of elements. Dims that are copied cancel out,
   known or not, so that [batch, 4, 8] becomes [batch, 32] by (0, -1) and by (-1, 32). */
static enum amp_status infer_dim(struct amp_ctx *ctx, const struct target *target,
                                 struct amp_shape *out)
{
    struct amp_shape have = ctx->in[0]->shape, want = *out;
    int64_t known, divisor, unknown;
    int n_unknown;
    if (have.rank < 0) {
        if (target->inferred >= 0)
            out->dims[target->inferred] = AMP_DIM_UNKNOWN;
        return AMP_OK;
    }
    for (int i = 0; i < target->rank; i++)
        if (is_copied(target, i))
            have.dims[i] = want.dims[i] = 1;
    AMP_TRY(amp_dim_product(&want, 0, want.rank, &divisor, ctx->err));
    AMP_TRY(split_product(ctx, &have, &known, &unknown, &n_unknown));
    if (target->inferred < 0)
        return n_unknown > 0 || known == divisor ? AMP_OK : fail_count(ctx, target);
    if (n_unknown == 0 && known % divisor != 0)
        return fail_count(ctx, target);
    int64_t *inferred = &out->dims[target->inferred];
    if (n_unknown == 0)
        *inferred = known / divisor;
    else
        *inferred = n_unknown == 1 && known == divisor ? unknown : AMP_DIM_UNKNOWN;
    return AMP_OK;
}

static enum amp_status reshape_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct target target = {.keeps_zero = amp_node_int(ctx->node, "allowzero", 0) != 0};
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"shape", 1}, target.dims, AMP_RANK_MAX,
                              &target.rank));
    if (target.rank < 0) {
        amp_shape_unknown(out, amp_ctx_length(ctx, 1));
        return AMP_OK;
    }
    AMP_TRY(check_target(ctx, &target));
    AMP_TRY(fill_target(ctx, &target, out));
    return infer_dim(ctx, &target, out);
}

const struct amp_op amp_op_reshape = {
    .name = "Reshape",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}),
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .has_strides = true,
    .role = AMP_ROLE_RESHAPE,
    .is_reshape = true,
    .gradient = AMP_GRADIENT({.term = "Reshape(g, Shape(x); allowzero=1)"}),
    .shape = reshape_shape,
    .run = reshape_run,
};

static enum amp_status flatten_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t axis = amp_node_int(ctx->node, "axis", 1);
    amp_shape_unknown(out, 2);
    if (in->rank < 0)
        return AMP_OK;
    if (axis < -in->rank || axis > in->rank)
        return AMP_CTX_FAIL(ctx, "axis %lld; rank %d allows %d to %d", (long long)axis, in->rank,
                            -in->rank, in->rank);
    int middle = (int)(axis < 0 ? axis + in->rank : axis);
    AMP_TRY(amp_dim_product(in, 0, middle, &out->dims[0], ctx->err));
    return amp_dim_product(in, middle, in->rank, &out->dims[1], ctx->err);
}

const struct amp_op amp_op_flatten = {
    .name = "Flatten",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .has_strides = true,
    .is_reshape = true,
    .gradient = AMP_GRADIENT({.term = "Reshape(g, Shape(x); allowzero=1)"}),
    .shape = flatten_shape,
    .run = reshape_run,
};

/* Sets MARKS at each of the N AXES of RANK. */
static enum amp_status mark_axes(struct amp_ctx *ctx, const int64_t *axes, int n, int rank,
                                 bool *marks)
{
    for (int i = 0; i < n; i++) {
        int axis;
        AMP_TRY(amp_ctx_axis(ctx, axes[i], rank, &axis));
        if (marks[axis])
            return AMP_CTX_FAIL(ctx, "axis %d is listed twice", axis);
        marks[axis] = true;
    }
    return AMP_OK;
}

/* Marks the dims that Squeeze drops when no axes are given: those of 1. False when a dim is not
   known. */
static bool mark_ones(const struct amp_shape *in, bool *marks)
{
    for (int i = 0; i < in->rank; i++)
        marks[i] = in->dims[i] == 1;
    return amp_shape_is_known(in);
}

static enum amp_status drop_marked(struct amp_ctx *ctx, const bool *marks)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    out->rank = 0;
    for (int i = 0; i < in->rank; i++) {
        if (marks[i] && in->dims[i] >= 0 && in->dims[i] != 1)
            return AMP_CTX_FAIL(ctx, "axis %d has size %lld; only 1 can be squeezed", i,
                                (long long)in->dims[i]);
        if (!marks[i])
            out->dims[out->rank++] = in->dims[i];
    }
    return AMP_OK;
}

static enum amp_status squeeze_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t axes[AMP_RANK_MAX];
    bool marks[AMP_RANK_MAX] = {false};
    int n;
    out->rank = -1;
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"axes", 1}, axes, AMP_RANK_MAX, &n));
    if (in->rank < 0)
        return AMP_OK;
    if (n < 0) {
        int64_t length = amp_ctx_length(ctx, 1);
        amp_shape_unknown(out, length < 0 ? -1 : in->rank - length);
        return AMP_OK;
    }
    bool has_axes = amp_has_in(ctx, 1) || amp_node_attr(ctx->node, "axes") != NULL;
    if (!has_axes && !mark_ones(in, marks))
        return AMP_OK;
    if (has_axes)
        AMP_TRY(mark_axes(ctx, axes, n, in->rank, marks));
    return drop_marked(ctx, marks);
}

const struct amp_op amp_op_squeeze = {
    .name = "Squeeze",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .has_strides = true,
    .is_reshape = true,
    .gradient = AMP_GRADIENT({.term = "Reshape(g, Shape(x); allowzero=1)"}),
    .shape = squeeze_shape,
    .run = reshape_run,
};

static enum amp_status unsqueeze_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t axes[AMP_RANK_MAX];
    bool marks[AMP_RANK_MAX] = {false};
    int n;
    out->rank = -1;
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"axes", 1}, axes, AMP_RANK_MAX, &n));
    if (in->rank < 0)
        return AMP_OK;
    if (n < 0) {
        int64_t length = amp_ctx_length(ctx, 1);
        amp_shape_unknown(out, length < 0 || length > AMP_RANK_MAX ? -1 : in->rank + length);
        return AMP_OK;
    }
    int rank = in->rank + n, taken = 0;
    if (rank > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "rank %d; at most %d is supported", rank, AMP_RANK_MAX);
    AMP_TRY(mark_axes(ctx, axes, n, rank, marks));
    out->rank = rank;
    for (int i = 0; i < rank; i++)
        out->dims[i] = marks[i] ? 1 : in->dims[taken++];
    return AMP_OK;
}

const struct amp_op amp_op_unsqueeze = {
    .name = "Unsqueeze",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .has_strides = true,
    .is_reshape = true,
    .has_output_axes = true,
    .gradient = AMP_GRADIENT({.term = "Reshape(g, Shape(x); allowzero=1)"}),
    .shape = unsqueeze_shape,
    .run = reshape_run,
};

const struct amp_op amp_op_identity = {
    .name = "Identity",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .has_strides = true,
    .role = AMP_ROLE_IDENTITY,
    .is_reshape = true,
    .gradient = AMP_GRADIENT({.term = "g"}),
    .shape = amp_shape_same,
    .run = reshape_run,
};

/* Attribute NAME, a position in a list of RANK: from the end when negative, clamped to 0 .. RANK.
 */
static int clamp_position(const struct amp_ctx *ctx, const char *name, int64_t fallback, int rank)
{
    int64_t position = amp_node_int(ctx->node, name, fallback);
    if (position < 0)
        position += rank;
    return position < 0 ? 0 : position > rank ? rank : (int)position;
}

/* The dims that Shape tells: *START to *START + *COUNT - 1. */
static void told_dims(const struct amp_ctx *ctx, int *start, int *count)
{
    int rank = ctx->in[0]->shape.rank;
    int end = clamp_position(ctx, "end", rank, rank);
    *start = clamp_position(ctx, "start", 0, rank);
    *count = end > *start ? end - *start : 0;
}

static enum amp_status shape_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    int start, count;
    amp_shape_unknown(out, 1);
    if (ctx->in[0]->shape.rank < 0)
        return AMP_OK;
    told_dims(ctx, &start, &count);
    out->dims[0] = count;
    return AMP_OK;
}

static enum amp_status shape_run(struct amp_ctx *ctx)
{
    int start, count;
    told_dims(ctx, &start, &count);
    if (count > 0) /* an empty output may have no memory */
        memcpy(ctx->out[0]->data, ctx->in[0]->shape.dims + start, (size_t)count * sizeof(int64_t));
    return AMP_OK;
}

/* Shape and Size compute: a cast of their input says nothing of their output, which is int64. */
const struct amp_op amp_op_shape = {
    .name = "Shape",
    .reads_shape = true,
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = shape_shape,
    .run = shape_run,
};

static enum amp_status size_shape(struct amp_ctx *ctx)
{
    ctx->out[0]->shape.rank = 0;
    return AMP_OK;
}

static enum amp_status size_run(struct amp_ctx *ctx)
{
    *(int64_t *)ctx->out[0]->data = amp_shape_count(&ctx->in[0]->shape);
    return AMP_OK;
}

const struct amp_op amp_op_size = {
    .name = "Size",
    .reads_shape = true,
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = size_shape,
    .run = size_run,
};
