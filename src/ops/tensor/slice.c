/*
 * Slice, all versions up to ONNX 13, its first form DynamicSlice, an experiment dropped in opset 10
 * that Slice became, and Crop, another, which cuts images. What was an attribute in one version and
 * is an input in another is taken from where the node has it.
 */
#include "ops/kernel/data_movement.h"

/* What is taken of one dim: elements start, start + step, ...; COUNT AMP_DIM_UNKNOWN or a symbol
   when that is not known. */
struct range {
    int64_t start, step, count;
};

/* START and END of a dim of size DIM as ONNX's Slice-13 clamps them for STEP. */
static struct range clamp_range(int64_t dim, int64_t start, int64_t end, int64_t step)
{
    int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? dim : dim - 1;
    start += start < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    if (start < 0)
        start = 0;
    if (start > highest)
        start = highest;
    if (end < lowest)
        end = lowest;
    if (end > highest)
        end = highest;
    struct range range = {start, step, 0};
    if (step > 0 && end > start)
        range.count = (end - start - 1) / step + 1;
    if (step < 0 && end < start) /* negated as unsigned: the lowest int64 has no opposite */
        range.count = (int64_t)((uint64_t)(start - end - 1) / (0 - (uint64_t)step)) + 1;
    return range;
}

/* The range of a dim whose size is not known: known only where all of it is taken whatever its
 * size.
 */
static struct range unknown_range(int64_t dim, int64_t start, int64_t end, int64_t step)
{
    bool is_all = (step == 1 && start == 0 && end >= INT32_MAX) ||
                  (step == -1 && start == -1 && end <= INT32_MIN);
    return (struct range){start, step, is_all ? dim : AMP_DIM_UNKNOWN};
}

struct slice {
    int64_t starts[AMP_RANK_MAX], ends[AMP_RANK_MAX], steps[AMP_RANK_MAX];
    int axes[AMP_RANK_MAX];
    int n_starts, n_ends, n_steps, n_axes; /* below 0: values not known */
};

static enum amp_status read_slice(struct amp_ctx *ctx, int rank, struct slice *slice)
{
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"starts", 1}, slice->starts,
                              AMP_RANK_MAX, &slice->n_starts));
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"ends", 2}, slice->ends, AMP_RANK_MAX,
                              &slice->n_ends));
    AMP_TRY(amp_ctx_ints(ctx, 4, slice->steps, AMP_RANK_MAX, &slice->n_steps));
    int64_t n = slice->n_starts < 0 ? amp_ctx_length(ctx, 1) : slice->n_starts;
    slice->n_axes = -1;
    if (n < 0 || n > rank)
        return n < 0 ? AMP_OK
                     : AMP_CTX_FAIL(ctx, "starts has %lld values; the input has %d dims",
                                    (long long)n, rank);
    if (slice->n_ends >= 0 && slice->n_ends != n)
        return AMP_CTX_FAIL(ctx, "starts has %lld values, ends %d", (long long)n, slice->n_ends);
    if (!amp_has_in(ctx, 4))
        for (slice->n_steps = 0; slice->n_steps < n; slice->n_steps++)
            slice->steps[slice->n_steps] = 1;
    if (slice->n_steps >= 0 && slice->n_steps != n)
        return AMP_CTX_FAIL(ctx, "starts has %lld values, steps %d", (long long)n, slice->n_steps);
    for (int i = 0; i < slice->n_steps; i++)
        if (slice->steps[i] == 0)
            return AMP_CTX_FAIL(ctx, "steps[%d] is 0", i);
    return amp_ctx_axes(ctx, (struct amp_axes_wanted){.input = 3, .rank = rank, .n = (int)n},
                        slice->axes, &slice->n_axes);
}

/* The range of every dim of the input, whose rank is known. */
static enum amp_status slice_ranges(struct amp_ctx *ctx, struct range *ranges)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct slice slice;
    AMP_TRY(read_slice(ctx, in->rank, &slice));
    for (int d = 0; d < in->rank; d++)
        ranges[d] = (struct range){0, 1, slice.n_axes < 0 ? AMP_DIM_UNKNOWN : in->dims[d]};
    bool has_values = slice.n_starts >= 0 && slice.n_ends >= 0 && slice.n_steps >= 0;
    for (int i = 0; i < slice.n_axes; i++) {
        int64_t dim = in->dims[slice.axes[i]];
        struct range *range = &ranges[slice.axes[i]];
        if (!has_values)
            range->count = AMP_DIM_UNKNOWN;
        else if (dim < 0)
            *range = unknown_range(dim, slice.starts[i], slice.ends[i], slice.steps[i]);
        else
            *range = clamp_range(dim, slice.starts[i], slice.ends[i], slice.steps[i]);
    }
    return AMP_OK;
}

static enum amp_status slice_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    struct range ranges[AMP_RANK_MAX];
    out->rank = -1;
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(slice_ranges(ctx, ranges));
    out->rank = in->rank;
    for (int d = 0; d < in->rank; d++)
        out->dims[d] = ranges[d].count;
    return AMP_OK;
}

static bool takes_all(const struct amp_shape *in, const struct range *ranges)
{
    for (int d = 0; d < in->rank; d++)
        if (ranges[d].count != in->dims[d] || (ranges[d].step < 0 && in->dims[d] > 1))
            return false;
    return true;
}

/* Copies RANGES of the input. */
static enum amp_status take_ranges(struct amp_ctx *ctx, const struct range *ranges)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    int64_t strides[AMP_RANK_MAX], offset = 0;
    size_t size = amp_dtype_bits(in->dtype) / 8;
    struct amp_loop loop;
    if (amp_tensor_count(out) == 0)
        return AMP_OK;
    if (takes_all(&in->shape, ranges))
        return amp_run_share(ctx);
    amp_strides(&in->shape, strides);
    for (int d = 0; d < in->shape.rank; d++) {
        offset += ranges[d].start * strides[d];
        if (ranges[d].count > 1) /* a step past the dim is no stride: it could overflow */
            strides[d] *= ranges[d].step;
    }
    amp_loop_init(&loop, out->shape.rank, out->shape.dims);
    amp_loop_tensor(&loop, out);
    amp_loop_view(&loop, (char *)in->data + (size_t)offset * size, size, strides);
    amp_loop_run(&loop, amp_loop_copy(in->dtype), NULL);
    return amp_move_done(ctx, 0);
}

static enum amp_status slice_run(struct amp_ctx *ctx)
{
    struct range ranges[AMP_RANK_MAX];
    AMP_TRY(slice_ranges(ctx, ranges));
    return take_ranges(ctx, ranges);
}

const struct amp_op amp_op_slice = {
    .name = "Slice",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT(
        {.when = "since=10 d !e",
         .term =
             "sizes = Gather(Shape(x), d); at = CastLike(b, 0L);"
             "first = Min(Max(Where(Less(at, 0L), Add(at, sizes), at), 0L), sizes);"
             "Pad(g, Concat(first, Sub(sizes, Add(first, Gather(Shape(g), d))); axis=0), 0, d)"},
        {.term = "Picked(Same(positions))"}),
    .shape = slice_shape,
    .run = slice_run,
};

const struct amp_op amp_op_dynamic_slice = {
    .name = "DynamicSlice",
    .newest = 1,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = slice_shape,
    .run = slice_run,
};

/* ---- Crop ------------------------------------------------------------------------------------ */

/* The range of dim D, of size SIZE, without BEFORE elements in front and AFTER behind, or of as
   many as attribute scale says for it, the first or second of two. */
static enum amp_status crop_range(struct amp_ctx *ctx, int d, int64_t before, int64_t after,
                                  struct range *range)
{
    int64_t size = ctx->in[0]->shape.dims[d];
    size_t n_scale;
    const int64_t *scale = amp_node_ints(ctx->node, "scale", &n_scale);
    *range = (struct range){before, 1, AMP_DIM_UNKNOWN};
    if (n_scale != 0 && n_scale != 2)
        return AMP_CTX_FAIL(ctx, "scale has %zu values; 2 are needed, height and width", n_scale);
    if (before < 0 || after < 0 || (n_scale == 2 && scale[d - 2] < 0))
        return AMP_CTX_FAIL(ctx, "border or scale is negative; 0 or more is needed");
    if (size < 0)
        return AMP_OK;
    bool fits = (n_scale == 2 ? scale[d - 2] : after) <= size - before;
    if (!fits)
        return AMP_CTX_FAIL(ctx, "dim %d is %lld, too small for the border and scale", d,
                            (long long)size);
    range->count = n_scale == 2 ? scale[d - 2] : size - before - after;
    return AMP_OK;
}

/* The ranges of an image [N, C, H, W]: attribute border has what is cut off to the left, at the
   top, to the right and at the bottom. */
static enum amp_status crop_ranges(struct amp_ctx *ctx, struct range *ranges)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    size_t count;
    const int64_t *border = amp_node_ints(ctx->node, "border", &count);
    if (count != 4)
        return AMP_CTX_FAIL(ctx, "border has %zu values; 4 are needed: left, top, right, bottom",
                            count);
    if (in->rank != 4)
        return AMP_CTX_FAIL(ctx, "input 0 has %d dims; 4 are needed", in->rank);
    for (int d = 0; d < 2; d++)
        ranges[d] = (struct range){0, 1, in->dims[d]};
    AMP_TRY(crop_range(ctx, 2, border[1], border[3], &ranges[2]));
    return crop_range(ctx, 3, border[0], border[2], &ranges[3]);
}

static enum amp_status crop_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct range ranges[AMP_RANK_MAX];
    out->rank = -1;
    if (ctx->in[0]->shape.rank < 0)
        return AMP_OK;
    AMP_TRY(crop_ranges(ctx, ranges));
    out->rank = 4;
    for (int d = 0; d < 4; d++)
        out->dims[d] = ranges[d].count;
    return AMP_OK;
}

static enum amp_status crop_run(struct amp_ctx *ctx)
{
    struct range ranges[AMP_RANK_MAX];
    AMP_TRY(crop_ranges(ctx, ranges));
    return take_ranges(ctx, ranges);
}

const struct amp_op amp_op_crop = {
    .name = "Crop",
    .newest = 1,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = crop_shape,
    .run = crop_run,
};
