/*
 * Pad and CenterCropPad, which add elements around a tensor or take them off, all versions up to
 * ONNX
 * 25. What was an attribute in one version and is an input in another is taken from where the node
 * has it.
 */
#include "core/convert.h"
#include "ops/kernel/data_movement.h"

#include <stdlib.h>
#include <string.h>

/* How many elements are added to each dim; negative ones are taken off. */
struct pads {
    int64_t begin[AMP_RANK_MAX], end[AMP_RANK_MAX];
};

/* Copies what the input and the output, of whole bytes, have in common to where it belongs; the
   rest of the output is as ELEMENT (NULL: 0). */
static void pad_constant(const struct amp_tensor *in, const struct amp_tensor *out,
                         const struct pads *pads, const void *element)
{
    size_t size = amp_dtype_bits(in->dtype) / 8;
    int64_t from[AMP_RANK_MAX], to[AMP_RANK_MAX], dims[AMP_RANK_MAX];
    int64_t from_offset = 0, to_offset = 0;
    struct amp_loop loop;
    amp_fill(out->data, element, size, amp_tensor_count(out));
    amp_strides(&in->shape, from);
    amp_strides(&out->shape, to);
    for (int d = 0; d < in->shape.rank; d++) {
        int64_t first = pads->begin[d] < 0 ? -pads->begin[d] : 0; /* of the input */
        int64_t last = in->shape.dims[d] + (pads->end[d] < 0 ? pads->end[d] : 0);
        if (last <= first)
            return;
        dims[d] = last - first;
        from_offset += first * from[d];
        to_offset += (first + pads->begin[d]) * to[d];
    }
    amp_loop_init(&loop, in->shape.rank, dims);
    amp_loop_view(&loop, (char *)out->data + (size_t)to_offset * size, size, to);
    amp_loop_view(&loop, (char *)in->data + (size_t)from_offset * size, size, from);
    amp_loop_run(&loop, amp_loop_copy(in->dtype), NULL);
}

/* ---- Pad ---- */

/* The index, in 0 to N-1, of the element that stands at AT, which may be outside. */
typedef int64_t pad_map(int64_t at, int64_t n);

static int64_t map_edge(int64_t at, int64_t n)
{
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static int64_t map_wrap(int64_t at, int64_t n)
{
    return at % n < 0 ? at % n + n : at % n;
}

static int64_t map_reflect(int64_t at, int64_t n)
{
    if (n == 1)
        return 0;
    int64_t wrapped = map_wrap(at, 2 * n - 2);
    return wrapped < n ? wrapped : 2 * n - 2 - wrapped;
}

/* *MAP: NULL for constant mode. */
static enum amp_status pad_mode(struct amp_ctx *ctx, pad_map **map)
{
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap", NULL};
    static pad_map *const maps[] = {NULL, map_edge, map_reflect, map_wrap};
    int mode = 0;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    *map = maps[mode];
    return AMP_OK;
}

#define PAD_MAX (INT64_C(1) << 60) /* sums of pads and dims below it do not overflow */

/* *IS_KNOWN: whether the values of pads and axes are. */
static enum amp_status read_pads(struct amp_ctx *ctx, int rank, struct pads *pads, bool *is_known)
{
    const char *name = ctx->node->since_version == 1 ? "paddings" : "pads";
    int64_t values[2 * AMP_RANK_MAX];
    int axes[AMP_RANK_MAX], count, n_axes;
    *pads = (struct pads){0};
    AMP_TRY(
        amp_ctx_ints_attr(ctx, (struct amp_ints_place){name, 1}, values, 2 * AMP_RANK_MAX, &count));
    *is_known = count >= 0;
    if (count < 0)
        return AMP_OK;
    if (count % 2 != 0)
        return AMP_CTX_FAIL(ctx, "%s has %d values; two for each axis are needed", name, count);
    AMP_TRY(amp_ctx_axes(ctx, (struct amp_axes_wanted){.input = 3, .rank = rank, .n = count / 2},
                         axes, &n_axes));
    *is_known = n_axes >= 0;
    if (!amp_has_in(ctx, 3) && n_axes != rank)
        return AMP_CTX_FAIL(ctx, "%s has %d values; the input has %d dims", name, count, rank);
    for (int i = 0; i < count; i++)
        if (values[i] < -PAD_MAX || values[i] > PAD_MAX)
            return AMP_CTX_FAIL(ctx, "%s[%d] is %lld, which is out of range", name, i,
                                (long long)values[i]);
    for (int i = 0; i < n_axes; i++) {
        pads->begin[axes[i]] = values[i];
        pads->end[axes[i]] = values[n_axes + i];
    }
    return AMP_OK;
}

/* *PADDED = the dim AXIS of input 0 with the elements of PADS more, or fewer. */
static enum amp_status pad_dim(struct amp_ctx *ctx, int axis, const struct pads *pads,
                               int64_t *padded)
{
    int64_t dim = ctx->in[0]->shape.dims[axis], begin = pads->begin[axis], end = pads->end[axis];
    if (dim < 0) {
        *padded = begin == 0 && end == 0 ? dim : AMP_DIM_UNKNOWN;
        return AMP_OK;
    }
    if (__builtin_add_overflow(dim, begin + end, padded) || *padded < 0)
        return AMP_CTX_FAIL(ctx, "axis %d of size %lld cannot be padded by %lld and %lld", axis,
                            (long long)dim, (long long)begin, (long long)end);
    return AMP_OK;
}

static enum amp_status pad_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    struct pads pads;
    bool is_known;
    amp_shape_unknown(out, in->rank);
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(read_pads(ctx, in->rank, &pads, &is_known));
    for (int d = 0; d < in->rank && is_known; d++)
        AMP_TRY(pad_dim(ctx, d, &pads, &out->dims[d]));
    return AMP_OK;
}

/* For each element of dim AXIS of the output, the offset of its source in the input. */
static enum amp_status map_dim(struct amp_ctx *ctx, int axis, const struct pads *pads, pad_map *map,
                               int64_t *offsets)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    int64_t stride = amp_shape_product(in, axis + 1, in->rank);
    int64_t dim = ctx->in[0]->shape.dims[axis], count = ctx->out[0]->shape.dims[axis];
    int64_t begin = pads->begin[axis], end = pads->end[axis];
    int64_t first = begin < 0 ? -begin : 0, n = dim - first + (end < 0 ? end : 0);
    if (n <= 0)
        return AMP_CTX_FAIL(ctx, "axis %d of size %lld has nothing left to pad with", axis,
                            (long long)dim);
    for (int64_t i = 0; i < count; i++)
        offsets[i] = (first + map(i - (begin > 0 ? begin : 0), n)) * stride;
    return AMP_OK;
}

/* OUT from IN of elements of SIZE bytes, the sources in OFFSETS, dim after dim. Rows are copied in
   one piece as far as their offsets follow each other. */
static void copy_mapped(const struct amp_tensor *in, const struct amp_tensor *out, size_t size,
                        const int64_t *offsets)
{
    const int64_t *dims = out->shape.dims, *row_offsets = offsets;
    int last = out->shape.rank - 1;
    int64_t rows = amp_shape_product(&out->shape, 0, last), row = dims[last];
    for (int d = 0; d < last; d++)
        row_offsets += dims[d];
#pragma omp parallel for if (rows * row >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < rows; i++) {
        int64_t at[AMP_RANK_MAX], from = 0;
        const int64_t *dim_offsets = offsets;
        char *to = (char *)out->data + (size_t)(i * row) * size;
        amp_index_at(last, dims, i, at);
        for (int d = 0; d < last; dim_offsets += dims[d++])
            from += dim_offsets[at[d]];
        for (int64_t k = 0, n; k < row; k += n) {
            for (n = 1; k + n < row && row_offsets[k + n] == row_offsets[k] + n; n++)
                continue;
            memcpy(to + (size_t)k * size,
                   (const char *)in->data + (size_t)(from + row_offsets[k]) * size,
                   (size_t)n * size);
        }
    }
}

/* Pads IN to OUT, of whole bytes, by what MAP gives. */
static enum amp_status pad_mapped(struct amp_ctx *ctx, const struct amp_tensor *in,
                                  const struct amp_tensor *out, const struct pads *pads,
                                  pad_map *map)
{
    int64_t total = 0;
    if (amp_tensor_count(out) == 0)
        return AMP_OK;
    for (int d = 0; d < out->shape.rank; d++)
        total += out->shape.dims[d];
    struct amp_buffer *buffer =
        amp_scratch(ctx, "a list of places", (size_t)total, sizeof(int64_t));
    if (buffer == NULL)
        return ctx->err->status;
    int64_t *offsets = buffer->data, *next = offsets;
    enum amp_status status = AMP_OK;
    for (int d = 0; d < out->shape.rank && status == AMP_OK; next += out->shape.dims[d++])
        status = map_dim(ctx, d, pads, map, next);
    if (status == AMP_OK)
        copy_mapped(in, out, amp_dtype_bits(in->dtype) / 8, offsets);
    amp_buffer_unref(buffer);
    return status;
}

/* The bytes of one element of any dtype. */
union element {
    char bytes[16];
    uint8_t byte;
    uint16_t half;
    float single;
    double wide;
};

/* Attribute value of the versions before 11, which take float types only. */
static void float_element(enum amp_dtype dtype, float value, union element *element)
{
    if (dtype == AMP_DOUBLE)
        element->wide = (double)value;
    else if (dtype == AMP_FLOAT)
        element->single = value;
    else
        amp_dtype_convert(AMP_FLOAT, &value, dtype, &element->half, 1);
}

/* What constant mode pads with: input constant_value, attribute value or 0. One byte for dtypes
   below that. */
static enum amp_status pad_element(struct amp_ctx *ctx, enum amp_dtype dtype,
                                   union element *element)
{
    memset(element, 0, sizeof *element);
    if (amp_has_in(ctx, 2)) {
        const struct amp_tensor *value = ctx->in[2];
        if (amp_tensor_count(value) != 1)
            return AMP_CTX_FAIL(ctx, "constant_value has %zu elements; one is needed",
                                amp_tensor_count(value));
        if (amp_is_packed(dtype))
            amp_bits_unpack(dtype, value->data, &element->byte, 1);
        else
            memcpy(element, value->data, amp_dtype_bits(dtype) / 8);
    } else if (ctx->node->since_version < 11) {
        float_element(dtype, amp_node_float(ctx->node, "value", 0), element);
    }
    return AMP_OK;
}

/* Pads IN to OUT, both of whole bytes. */
static enum amp_status pad(struct amp_ctx *ctx, const struct amp_tensor *in,
                           const struct amp_tensor *out)
{
    struct pads pads;
    pad_map *map = NULL;
    bool is_known;
    union element element;
    AMP_TRY(read_pads(ctx, in->shape.rank, &pads, &is_known));
    AMP_TRY(pad_mode(ctx, &map));
    if (map != NULL && in->shape.rank > 0)
        return pad_mapped(ctx, in, out, &pads, map);
    AMP_TRY(pad_element(ctx, ctx->in[0]->dtype, &element));
    pad_constant(in, out, &pads, &element);
    return AMP_OK;
}

static enum amp_status pad_packed(struct amp_ctx *ctx)
{
    struct amp_tensor from = {0}, to = {.dtype = AMP_UINT8, .shape = ctx->out[0]->shape};
    enum amp_status status = amp_bytes_unpack(ctx->in[0], &from, ctx->err);
    if (status == AMP_OK)
        status = amp_tensor_alloc(&to, ctx->err);
    if (status == AMP_OK)
        status = pad(ctx, &from, &to);
    if (status == AMP_OK)
        amp_bytes_pack(&to, ctx->out[0]);
    amp_tensor_release(&from);
    amp_tensor_release(&to);
    return status;
}

static enum amp_status pad_run(struct amp_ctx *ctx)
{
    if (amp_is_packed(ctx->in[0]->dtype))
        return pad_packed(ctx);
    AMP_TRY(pad(ctx, ctx->in[0], ctx->out[0]));
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_pad = {
    .name = "Pad",
    .newest = 25,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .guard_use = AMP_GUARD_BOUNDS,
    .gradient = AMP_GRADIENT(
        {.when = "since=2 mode=constant",
         .term =
             "Choose(d, Pad(g, Neg(b), 0, d), Choose(b, Pad(g, Neg(b)), Pad(g, Neg([*pads=0]))))"},
        {.when = "since=11", .term = "Picked(Same(positions))"}),
    .shape = pad_shape,
    .run = pad_run,
};

/* ---- CenterCropPad ---- */

static enum amp_status center_crop_pad_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t sizes[AMP_RANK_MAX];
    int axes[AMP_RANK_MAX], count, n_axes;
    amp_shape_unknown(out, in->rank);
    AMP_TRY(amp_ctx_ints(ctx, 1, sizes, AMP_RANK_MAX, &count));
    if (in->rank < 0 || count < 0)
        return AMP_OK;
    AMP_TRY(amp_ctx_axes(ctx, (struct amp_axes_wanted){.input = 2, .rank = in->rank, .n = count},
                         axes, &n_axes));
    *out = *in;
    for (int i = 0; i < n_axes; i++) {
        if (sizes[i] < 0)
            return AMP_CTX_FAIL(ctx, "shape[%d] is %lld; at least 0 is needed", i,
                                (long long)sizes[i]);
        out->dims[axes[i]] = sizes[i];
    }
    return AMP_OK;
}

/* The odd element goes to the end, be it added or taken off. */
static enum amp_status center_crop_pad_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    struct pads pads;
    for (int d = 0; d < in->shape.rank; d++) {
        int64_t more = out->shape.dims[d] - in->shape.dims[d];
        pads.begin[d] = more / 2;
        pads.end[d] = more - more / 2;
    }
    pad_constant(in, out, &pads, NULL);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_center_crop_pad = {
    .name = "CenterCropPad",
    .newest = 18,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = center_crop_pad_shape,
    .run = center_crop_pad_run,
};
