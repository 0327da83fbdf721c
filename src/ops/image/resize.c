/*
 * Resize and its forerunner Upsample, all versions. Samples one dim after the other: nearest,
 * linear or cubic. oneDNN does linear half-pixel resizing of spatial dims; C does all else, and
 * nearest for any dtype, where elements are copied.
 */
#include "core/simd.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/data_movement.h"
#include "ops/image/resize_read.h"

#include <math.h>
#include <string.h>

static enum amp_status resize_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct amp_resize resize;
    *out = ctx->in[0]->shape;
    if (out->rank < 0)
        return AMP_OK;
    AMP_TRY(amp_resize_read(ctx, &resize));
    for (int d = 0; d < out->rank; d++)
        out->dims[d] = resize.dims[d].out;
    return AMP_OK;
}

/* ---- nearest: a copy of the elements that the taps name ---- */

struct taps_of {
    int rank;
    struct amp_taps dims[AMP_RANK_MAX];
};

static void destroy_taps(struct taps_of *taps)
{
    for (int d = 0; d < taps->rank; d++)
        amp_taps_destroy(&taps->dims[d]);
}

/* The element of DTYPE that stands for what is outside: VALUE, or nothing where it is no number. */
static enum amp_status extrapolated(enum amp_dtype dtype, float value, unsigned char element[16],
                                    struct amp_error *err)
{
    struct amp_tensor from = {.dtype = AMP_FLOAT, .data = &value};
    struct amp_tensor to = {.dtype = dtype, .data = element};
    enum amp_dtype_class class = amp_dtype_class(dtype);
    memset(element, 0, 16);
    if (class == AMP_CLASS_STRING || class == AMP_CLASS_COMPLEX)
        return AMP_OK;
    return amp_tensor_cast(&from, &to, NULL, err);
}

/* Row ROW of the output: where it comes from in the input; false when it is outside. */
static bool find_row(const struct taps_of *taps, const struct amp_tensor *in, int64_t row,
                     const char **from)
{
    int last = taps->rank - 1;
    int64_t offset = 0, stride = in->shape.dims[last];
    for (int d = last - 1; d >= 0; d--) {
        const struct amp_taps *dim = &taps->dims[d];
        int64_t at = row % dim->out;
        row /= dim->out;
        if (dim->is_outside[at])
            return false;
        offset += dim->index[at] * stride;
        stride *= in->shape.dims[d];
    }
    *from = (const char *)in->data + (size_t)offset * (amp_dtype_bits(in->dtype) / 8);
    return true;
}

static void gather(const struct amp_taps *taps, const char *from, char *to, size_t size,
                   const unsigned char *outside)
{
    for (int64_t i = 0; i < taps->out; i++, to += size) {
        const void *element = from + (size_t)taps->index[i] * size;
        memcpy(to, taps->is_outside[i] ? outside : element, size);
    }
}

static bool has_outside(const struct amp_taps *taps)
{
    bool has = false;
    for (int64_t i = 0; i < taps->out; i++)
        has |= taps->is_outside[i];
    return has;
}

/* Elements of 4 bytes, none of them outside. */
AMP_CLONES(void, gather_words, (const struct amp_taps *taps, const uint32_t *from, uint32_t *to),
           (taps, from, to))
{
    const int64_t *index = taps->index, n = taps->out;
    AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] = from[index[i]];
}

/* The same where each element comes twice. */
AMP_CLONES(void, double_words, (int64_t n, const uint32_t *from, uint32_t *to), (n, from, to))
{
    AMP_SIMD for (int64_t i = 0; i < n; i++)
    {
        to[2 * i] = from[i];
        to[2 * i + 1] = from[i];
    }
}

static bool is_doubled(const struct amp_taps *taps)
{
    bool is = taps->out % 2 == 0;
    for (int64_t i = 0; i < taps->out && is; i++)
        is = taps->index[i] == i / 2;
    return is;
}

/* What all rows of the output are made by. */
struct rows {
    const struct taps_of *taps;
    const struct amp_taps *last; /* of the last dim */
    const struct amp_tensor *in;
    size_t size;               /* bytes of an element */
    bool are_words, are_whole; /* rows of 4 bytes an element; rows that stay as they are */
    bool are_doubled;          /* rows of which each element comes twice */
    _Alignas(16) unsigned char outside[16]; /* an element of any type */
};

/* Makes row ROW of the output, at TO, and returns where it comes from, NULL when from nowhere:
   where that is BEFORE, it is the row that is there already. */
static const char *make_row(const struct rows *rows, int64_t row, char *to, const char *before)
{
    const struct amp_taps *last = rows->last;
    const size_t size = rows->size, row_size = (size_t)last->out * size;
    const char *from;
    if (!find_row(rows->taps, rows->in, row, &from)) {
        amp_fill(to, rows->outside, size, (size_t)last->out);
        return NULL;
    }
    if (from == before)
        memcpy(to, to - row_size, row_size);
    else if (rows->are_whole)
        memcpy(to, from, row_size);
    else if (rows->are_doubled && (uintptr_t)from % sizeof(uint32_t) == 0)
        double_words(last->out / 2, (const uint32_t *)(const void *)from, (uint32_t *)(void *)to);
    else if (rows->are_words && (uintptr_t)from % sizeof(uint32_t) == 0)
        gather_words(last, (const uint32_t *)(const void *)from, (uint32_t *)(void *)to);
    else
        gather(last, from, to, size, rows->outside);
    return from;
}

static enum amp_status copy_nearest(const struct amp_ctx *ctx, const struct amp_resize *resize,
                                    const struct taps_of *taps)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    const struct amp_taps *last = &taps->dims[taps->rank - 1];
    struct rows rows = {
        .taps = taps, .last = last, .in = in, .size = amp_dtype_bits(in->dtype) / 8};
    AMP_TRY(extrapolated(in->dtype, resize->extrapolation, rows.outside, ctx->err));
    rows.are_words = rows.size == sizeof(uint32_t) && !has_outside(last);
    rows.are_doubled = rows.are_words && is_doubled(last);
    rows.are_whole = amp_resample_is_identity(&resize->how, &resize->dims[taps->rank - 1]);
    const int64_t count = amp_shape_product(&out->shape, 0, taps->rank - 1);
    const size_t row_size = (size_t)last->out * rows.size;
#pragma omp parallel
    {
        const char *before = NULL; /* of this thread, whose rows are neighbours */
#pragma omp for schedule(static)
        for (int64_t row = 0; row < count; row++)
            before = make_row(&rows, row, (char *)out->data + (size_t)row * row_size, before);
    }
    return AMP_OK;
}

static enum amp_status run_nearest(struct amp_ctx *ctx, const struct amp_resize *resize)
{
    struct taps_of taps = {.rank = 0};
    enum amp_status status = AMP_OK;
    for (int d = 0; d < resize->rank && status == AMP_OK; d++) {
        status = amp_taps_create(&resize->how, &resize->dims[d], &taps.dims[d], ctx->err);
        taps.rank++;
    }
    if (status == AMP_OK)
        status = copy_nearest(ctx, resize, &taps);
    destroy_taps(&taps);
    return status == AMP_OK ? amp_move_done(ctx, 0) : status;
}

/* Whether channels, dim 1 of input 0, lie last, the other dims before them in their order, and stay
   as they are. */
static bool keeps_channels_last(const struct amp_ctx *ctx, const struct amp_resize *resize)
{
    const struct amp_tensor *in = ctx->in[0];
    const int64_t *strides = in->layout == NULL ? NULL : amp_layout_strides(in->layout);
    bool does = strides != NULL && resize->rank >= 3 && strides[1] == 1 &&
                amp_layout_is_dense(in) && ctx->layout_wish.any_layout;
    int64_t step = does ? in->shape.dims[1] : 0;
    for (int d = resize->rank - 1; d >= 0 && does; d--) {
        if (d == 1)
            continue;
        does = in->shape.dims[d] == 1 || strides[d] == step;
        step *= in->shape.dims[d];
    }
    return does && amp_resample_is_identity(&resize->how, &resize->dims[0]) &&
           amp_resample_is_identity(&resize->how, &resize->dims[1]);
}

/* Rows of channels are copied whole; output 0 lies as input 0 does. */
static enum amp_status run_channels_last(struct amp_ctx *ctx, const struct amp_resize *resize)
{
    int rank = resize->rank, back[AMP_RANK_MAX];
    struct amp_resize seen = *resize;
    struct amp_tensor in = *ctx->in[0], out = {.dtype = ctx->out[0]->dtype, .shape.rank = rank};
    const struct amp_tensor *ins[] = {&in};
    struct amp_tensor *outs[] = {&out};
    struct amp_ctx inner = *ctx;
    const struct amp_layout *layout;
    for (int i = 0; i < rank; i++) {
        int from = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
        in.shape.dims[i] = ctx->in[0]->shape.dims[from];
        seen.dims[i] = resize->dims[from];
        out.shape.dims[i] = ctx->out[0]->shape.dims[from];
        back[from] = i;
    }
    in.layout = NULL;
    if (!amp_layout_permute(ctx->host->dnnl->layouts, &out, back, &layout))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no such layout");
    inner.in = ins;
    inner.out = outs;
    inner.n_in = inner.n_out = 1;
    AMP_TRY(amp_tensor_alloc(&out, ctx->err));
    enum amp_status status = run_nearest(&inner, &seen);
    amp_tensor_share(ctx->out[0], &out);
    ctx->out[0]->layout = layout;
    amp_tensor_release(&out);
    return status;
}

/* ---- linear and cubic: weighted sums along one dim after the other ---- */

enum { ROWS = 64 }; /* that a thread does at a time */

/* Rows FIRST to LAST-1 of TO [taps->out, inner] from FROM [in, inner]. */
typedef void rows_fn(const struct amp_taps *taps, int64_t first, int64_t last, int64_t inner,
                     float outside, const void *from, void *to);

#define SAMPLE_ROWS(DTYPE, T)                                                                 \
    AMP_CLONES(void, elements_##DTYPE,                                                        \
               (const struct amp_taps *taps, int64_t first, int64_t last, float outside,      \
                const T *from, T *to),                                                        \
               (taps, first, last, outside, from, to))                                        \
    {                                                                                         \
        int64_t k = first * taps->count;                                                      \
        for (int64_t i = first; i < last; i++) {                                              \
            T sum = 0;                                                                        \
            for (int64_t end = k + taps->count; k < end; k++)                                 \
                sum += (T)taps->weight[k] * from[taps->index[k]];                             \
            to[i] = taps->is_outside[i] ? (T)outside : sum;                                   \
        }                                                                                     \
    }                                                                                         \
    AMP_CLONES(void, add_row_##DTYPE, (T weight, const T *from, int64_t n, T *to),            \
               (weight, from, n, to))                                                         \
    {                                                                                         \
        AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] += weight * from[i];                   \
    }                                                                                         \
    static void rows_##DTYPE(const struct amp_taps *taps, int64_t first, int64_t last,        \
                             int64_t inner, float outside, const void *from, void *to)        \
    {                                                                                         \
        if (inner == 1)                                                                       \
            elements_##DTYPE(taps, first, last, outside, from, to);                           \
        for (int64_t i = first; i < last && inner > 1; i++) {                                 \
            T *row = (T *)to + i * inner;                                                     \
            T start = taps->is_outside[i] ? (T)outside : 0;                                   \
            int64_t count = taps->is_outside[i] ? 0 : taps->count;                            \
            for (int64_t j = 0; j < inner; j++)                                               \
                row[j] = start;                                                               \
            for (int64_t k = i * taps->count; k < i * taps->count + count; k++)               \
                add_row_##DTYPE((T)taps->weight[k], (const T *)from + taps->index[k] * inner, \
                                inner, row);                                                  \
        }                                                                                     \
    }
AMP_FLOAT_TYPES(SAMPLE_ROWS)

static rows_fn *const rows_of[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, rows)};

/* TO from FROM, of the same float dtype, which differ in dim D. */
static void sample_dim(const struct amp_taps *taps, float outside, int d,
                       const struct amp_tensor *from, const struct amp_tensor *to)
{
    rows_fn *rows = rows_of[from->dtype];
    int64_t outer = amp_shape_product(&from->shape, 0, d);
    int64_t inner = amp_shape_product(&from->shape, d + 1, from->shape.rank);
    int64_t size = inner * amp_dtype_bits(from->dtype) / 8;
    int64_t in_size = from->shape.dims[d] * size, out_size = taps->out * size;
#pragma omp parallel for collapse(2)
    for (int64_t o = 0; o < outer; o++)
        for (int64_t first = 0; first < taps->out; first += ROWS)
            rows(taps, first, first + ROWS < taps->out ? first + ROWS : taps->out, inner, outside,
                 (const char *)from->data + o * in_size, (char *)to->data + o * out_size);
}

/* Resizes dim D of TENSOR, which is float32 or float64 and is replaced. */
static enum amp_status run_dim(struct amp_ctx *ctx, const struct amp_resize *resize, int d,
                               struct amp_tensor *tensor)
{
    struct amp_tensor next = {.dtype = tensor->dtype, .shape = tensor->shape};
    struct amp_taps taps;
    next.shape.dims[d] = resize->dims[d].out;
    enum amp_status status = amp_taps_create(&resize->how, &resize->dims[d], &taps, ctx->err);
    if (status == AMP_OK)
        status = amp_tensor_alloc(&next, ctx->err);
    if (status == AMP_OK) {
        sample_dim(&taps, resize->extrapolation, d, tensor, &next);
        amp_tensor_release(tensor);
        *tensor = next;
    }
    amp_taps_destroy(&taps);
    return status;
}

/* RESULT to output 0; integers are rounded, ties to even, and kept in range. */
static enum amp_status store(struct amp_ctx *ctx, const struct amp_tensor *result)
{
    struct amp_tensor *out = ctx->out[0];
    if (result->dtype == out->dtype) {
        amp_tensor_share(out, result);
        return AMP_OK;
    }
    double *values = result->data;
    for (size_t i = 0; i < amp_tensor_count(result); i++)
        values[i] = nearbyint(values[i]);
    return amp_tensor_cast(result, out, NULL, ctx->err);
}

static enum amp_status run_weighted(struct amp_ctx *ctx, const struct amp_resize *resize)
{
    const struct amp_tensor *in = ctx->in[0];
    enum amp_dtype_class class = amp_dtype_class(in->dtype);
    bool is_integer = class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
    struct amp_tensor work;
    if (!is_integer && rows_of[in->dtype] == NULL)
        return amp_no_kernel(ctx, in->dtype);
    AMP_TRY(amp_tensor_cast_copy(in, is_integer ? AMP_DOUBLE : in->dtype, &work, ctx->err));
    enum amp_status status = AMP_OK;
    /* The last dim first, as long as its rows are few: it is the slow one. */
    for (int d = resize->rank - 1; d >= 0 && status == AMP_OK; d--)
        if (!amp_resample_is_identity(&resize->how, &resize->dims[d]))
            status = run_dim(ctx, resize, d, &work);
    if (status == AMP_OK)
        status = store(ctx, &work);
    amp_tensor_release(&work);
    return status;
}

static enum amp_status run_plain(struct amp_ctx *ctx)
{
    struct amp_resize resize;
    AMP_TRY(amp_resize_read(ctx, &resize));
    if (resize.rank == 0)
        return amp_run_share(ctx);
    if (resize.how.mode == AMP_RESAMPLE_NEAREST)
        return run_nearest(ctx, &resize);
    return run_weighted(ctx, &resize);
}

/* ---- oneDNN's resampling is linear, with half-pixel coordinates ---- */

/* Where one element becomes many, its kernels write beyond the output (version 3.7). */
static bool suits_dnnl(const struct amp_resize *resize, int d)
{
    const struct amp_resample_dim *dim = &resize->dims[d];
    enum amp_coordinates place = resize->how.coordinates;
    bool is_half_pixel = place == AMP_HALF_PIXEL || place == AMP_HALF_PIXEL_SYMMETRIC ||
                         (place == AMP_PYTORCH_HALF_PIXEL && dim->out > 1);
    if (amp_resample_is_identity(&resize->how, dim))
        return true;
    return d >= 2 && is_half_pixel && dim->in > 1 &&
           fabs((double)dim->in * dim->scale / (double)dim->out - 1) < 1e-6 &&
           !(resize->how.is_antialiased && dim->scale < 1);
}

static bool has_dnnl(const struct amp_ctx *ctx, const struct amp_resize *resize)
{
    if (resize->how.mode != AMP_RESAMPLE_LINEAR || !amp_dtype_is_autocast(ctx->in[0]->dtype) ||
        resize->rank < 3 || resize->rank > 5)
        return false;
    for (int d = 0; d < resize->rank; d++)
        if (!suits_dnnl(resize, d))
            return false;
    return true;
}

static enum amp_status resize_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    dnnl_memory_desc_t src, dst;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &src));
    AMP_TRY(amp_prim_desc(prim, ctx->err,
                          amp_form_tagged(ctx->out[0]->dtype, ctx->out[0]->shape.rank,
                                          ctx->out[0]->shape.dims, dnnl_format_tag_any),
                          &dst));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_resampling_forward_primitive_desc_create(
                               &pd, ctx->host->dnnl->engine, dnnl_forward_inference,
                               dnnl_resampling_linear, NULL, src, dst, attr),
                           "resampling"));
    AMP_TRY(amp_prim_create(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, src));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST);
}

static enum amp_status resize_run(struct amp_ctx *ctx)
{
    struct amp_resize resize;
    AMP_TRY(amp_resize_read(ctx, &resize));
    if (amp_shape_count(&ctx->out[0]->shape) == 0)
        return amp_ctx_alloc(ctx, 0);
    if (resize.how.mode == AMP_RESAMPLE_NEAREST && keeps_channels_last(ctx, &resize))
        return run_channels_last(ctx, &resize);
    if (has_dnnl(ctx, &resize))
        return amp_prim_run_or(ctx, resize_make, run_plain);
    return amp_prim_run_plain(ctx, run_plain);
}

/* What derivatives begin with: what the elements along an axis come to, a row for each, from an
   identity that is interpolated along one axis. */
#define STRETCHED(name, axis)                                                                    \
    "n" name " = Gather(Shape(a), [" axis "]);" name " = Resize(EyeLike(Expand(0, Concat(n" name \
    ", n" name "; axis=0))), _, "                                                                \
    "Choose(d, _, Concat(CastLike([1], c), Gather(c, [" axis "]); axis=0)), "                    \
    "Choose(d, Concat(n" name ", Gather(d, [" axis "]); axis=0), _); mode=*mode, "               \
    "coordinate_transformation_mode=*coordinate_transformation_mode, "                           \
    "cubic_coeff_a=*cubic_coeff_a, exclude_outside=*exclude_outside, antialias=*antialias);"
#define IS_PLAIN "since=11 !has:axes !coordinate_transformation_mode=tf_crop_and_resize "

const struct amp_op amp_op_resize = {
    .name = "Resize",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}, {AMP_MEANS_SIZES, 2, NULL}),
    .newest = 19,
    .effect = AMP_COMPUTES,
    .native = AMP_BY_DNNL | AMP_NATIVE_ALL,
    .has_layouts = true,
    .changes = AMP_CHANGES(
        {13, "tf_half_pixel_for_nn is gone and scales must be left out when sizes are given"}),
    .gradient = AMP_GRADIENT(
        {.when = IS_PLAIN "mode=nearest", .term = "Picked(Same(positions))"},
        {.when = IS_PLAIN "a=3", .term = STRETCHED("columns", "2") "MatMul(g, Transpose(columns))"},
        {.when = IS_PLAIN "a=4",
         .term = STRETCHED("rows", "2")
             STRETCHED("columns", "3") "MatMul(rows, MatMul(g, Transpose(columns)))"}),
    .shape = resize_shape,
    .run = resize_run,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_upsample = {
    .name = "Upsample",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}),
    .newest = 9,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .has_layouts = true,
    .shape = resize_shape,
    .run = resize_run,
    .destroy = amp_prim_destroy,
};
