/*
 * DFT and STFT, their windows, and MelWeightMatrix. A complex tensor has a last dim of 2, real and
 * imaginary part; a real one may have a last dim of 1.
 */
#include "ops/signal/fft.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/block.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Input I, one integer from 0 on; AMP_DIM_UNKNOWN when its value is not known, FALLBACK when the
   input is omitted. */
static enum amp_status read_int(const struct amp_ctx *ctx, uint32_t i, int64_t fallback,
                                int64_t *value)
{
    int count;
    AMP_TRY(amp_ctx_ints(ctx, i, value, 1, &count));
    if (!amp_has_in(ctx, i))
        *value = fallback;
    else if (count == 0)
        return AMP_CTX_FAIL(ctx, "input %u has no element; one integer is needed", i);
    else if (count < 0)
        *value = AMP_DIM_UNKNOWN;
    else if (*value < 0)
        return AMP_CTX_FAIL(ctx, "input %u is %lld; 0 is the least possible", i, (long long)*value);
    return AMP_OK;
}

/* ---- windows ---- */

/* a0 - a1 cos(2 pi k / n) + a2 cos(4 pi k / n), as in F. J. Harris, "On the use of windows for
   harmonic analysis with the discrete Fourier transform" (1978). */
struct window {
    double a0, a1, a2;
};

static enum amp_status window_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    *out = (struct amp_shape){.rank = 1};
    return read_int(ctx, 0, 0, &out->dims[0]);
}

static enum amp_status window_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *out = ctx->out[0];
    const struct window *window = amp_op_of(ctx->node)->own;
    int64_t size = out->shape.dims[0], period = size;
    AMP_TRY(amp_wide_check(ctx, out->dtype));
    if (amp_node_int(ctx->node, "periodic", 1) == 0)
        period = size > 1 ? size - 1 : 1;
    for (int64_t k = 0; k < size; k++) {
        double angle = 2 * 3.14159265358979323846 * (double)k / (double)period;
        union amp_wide value = {.f = window->a0 - window->a1 * cos(angle) +
                                     window->a2 * cos(2 * angle)};
        if (amp_wide_kind_of(out->dtype) != AMP_WIDE_FLOAT)
            amp_wide_from_float(amp_wide_kind_of(out->dtype), &value, 1);
        amp_wide_store(&value, (struct amp_stretch){out->dtype, out->data, k, 1, 1});
    }
    return AMP_OK;
}

/* ---- lines of complex numbers in tensors ---- */

/* What transforms of LENGTH elements need: FFT, and in BUFFER room for SHARED numbers and, for each
   thread, EACH of its own: a line and the work space. */
struct transform {
    struct amp_fft *fft;
    struct amp_buffer *buffer;
    int64_t shared, each, length;
};

static enum amp_status prepare(struct amp_ctx *ctx, int64_t length, int64_t shared,
                               struct transform *transform)
{
    *transform =
        (struct transform){.fft = amp_fft_create(length), .shared = shared, .length = length};
    if (transform->fft == NULL)
        return amp_fail(ctx->err, AMP_IO, "out of memory: a Fourier transform of length %lld",
                        (long long)length);
    transform->each = length + amp_fft_work(transform->fft);
    size_t count = (size_t)transform->each * (size_t)omp_get_max_threads() + (size_t)shared;
    transform->buffer =
        amp_scratch(ctx, "the lines of a Fourier transform", count, sizeof(struct amp_complex));
    if (transform->buffer != NULL)
        return AMP_OK;
    amp_fft_destroy(transform->fft);
    return ctx->err->status;
}

static void drop(struct transform *transform)
{
    amp_buffer_unref(transform->buffer);
    amp_fft_destroy(transform->fft);
}

/* The line of the calling thread. */
static struct amp_complex *own_line(const struct transform *transform)
{
    return (struct amp_complex *)transform->buffer->data + transform->shared +
           omp_get_thread_num() * transform->each;
}

static void run_line(const struct transform *transform, struct amp_complex *x, bool is_inverse)
{
    amp_fft_run(transform->fft, x, x + transform->length, is_inverse);
}

/* Whether COUNT transforms are enough work to be shared. */
static bool is_large(const struct transform *transform, int64_t count)
{
    return count * transform->each >= AMP_PARALLEL_MIN / 8;
}

/* Where a line is: the index of its first element and the steps to the next one, in elements; with
   PARTS 1 there is no imaginary part. */
struct line {
    const struct amp_tensor *tensor;
    int64_t first, step;
    int64_t parts;
};

static void load_line(struct line line, int64_t n, struct amp_complex *x)
{
    union amp_wide part[AMP_WIDE_BLOCK];
    for (int64_t i = 0; i < n; i += AMP_WIDE_BLOCK) {
        int64_t count = n - i < AMP_WIDE_BLOCK ? n - i : AMP_WIDE_BLOCK;
        int64_t first = line.first + i * line.step;
        const struct amp_tensor *from = line.tensor;
        amp_wide_load((struct amp_stretch){from->dtype, from->data, first, line.step, count}, part);
        for (int64_t k = 0; k < count; k++)
            x[i + k] = (struct amp_complex){part[k].f, 0};
        if (line.parts == 1)
            continue;
        amp_wide_load((struct amp_stretch){from->dtype, from->data, first + 1, line.step, count},
                      part);
        for (int64_t k = 0; k < count; k++)
            x[i + k].im = part[k].f;
    }
}

static void store_line(struct line line, int64_t n, const struct amp_complex *x)
{
    union amp_wide part[AMP_WIDE_BLOCK];
    for (int64_t i = 0; i < n; i += AMP_WIDE_BLOCK) {
        int64_t count = n - i < AMP_WIDE_BLOCK ? n - i : AMP_WIDE_BLOCK;
        int64_t first = line.first + i * line.step;
        const struct amp_tensor *to = line.tensor;
        for (int64_t k = 0; k < count; k++)
            part[k].f = x[i + k].re;
        amp_wide_store(part, (struct amp_stretch){to->dtype, to->data, first, line.step, count});
        for (int64_t k = 0; k < count; k++)
            part[k].f = x[i + k].im;
        if (line.parts > 1)
            amp_wide_store(part,
                           (struct amp_stretch){to->dtype, to->data, first + 1, line.step, count});
    }
}

/* ---- DFT ---- */

struct dft {
    int axis;
    int64_t length;           /* of the transform */
    int64_t in_dim, out_dim;  /* of the axis */
    bool is_inverse, is_half; /* half: only the first length / 2 + 1 values, on the complex side */
};

static enum amp_status dft_axis(const struct amp_ctx *ctx, int rank, int *axis)
{
    int64_t value = amp_node_int(ctx->node, "axis", 1);
    int count = 1;
    *axis = -1;
    if (ctx->node->since_version >= 20) {
        AMP_TRY(amp_ctx_ints(ctx, 2, &value, 1, &count));
        value = count == 0 ? -2 : value;
    }
    if (count < 0)
        return AMP_OK;
    AMP_TRY(amp_ctx_axis(ctx, value, rank, axis));
    if (*axis == rank - 1)
        return AMP_CTX_FAIL(ctx, "axis %lld is the one of real and imaginary parts",
                            (long long)value);
    return AMP_OK;
}

/* What the node asks for, dims AMP_DIM_UNKNOWN where not known. The rank is known. */
static enum amp_status read_dft(const struct amp_ctx *ctx, struct dft *dft)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    *dft = (struct dft){.is_inverse = amp_node_int(ctx->node, "inverse", 0) != 0,
                        .is_half = amp_node_int(ctx->node, "onesided", 0) != 0};
    int64_t parts = in->rank > 1 ? in->dims[in->rank - 1] : 0;
    if (parts == 0 || parts > 2)
        return AMP_CTX_FAIL(ctx, "the last dimension must be 1 or 2: real, or real and imaginary");
    if (dft->is_half && parts == (dft->is_inverse ? 1 : 2))
        return AMP_CTX_FAIL(ctx, "a one-sided transform needs %s values",
                            dft->is_inverse ? "complex" : "real");
    AMP_TRY(dft_axis(ctx, in->rank, &dft->axis));
    dft->in_dim = dft->axis < 0 ? AMP_DIM_UNKNOWN : in->dims[dft->axis];
    int64_t fallback = dft->in_dim;
    if (dft->is_half && dft->is_inverse && dft->in_dim >= 0)
        fallback = dft->in_dim > 1 ? 2 * (dft->in_dim - 1) : 1;
    AMP_TRY(read_int(ctx, 1, fallback, &dft->length));
    if (dft->length == 0)
        return AMP_CTX_FAIL(ctx, "a transform of length 0");
    dft->out_dim = dft->length;
    if (dft->is_half && !dft->is_inverse)
        dft->out_dim = dft->length < 0 ? AMP_DIM_UNKNOWN : dft->length / 2 + 1;
    return AMP_OK;
}

static enum amp_status dft_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    struct dft dft;
    *out = ctx->in[0]->shape;
    if (out->rank < 0)
        return AMP_OK;
    AMP_TRY(read_dft(ctx, &dft));
    out->dims[out->rank - 1] = dft.is_half && dft.is_inverse ? 1 : 2;
    for (int i = 0; i < out->rank - 1; i++)
        if (i == dft.axis || dft.axis < 0)
            out->dims[i] = i == dft.axis ? dft.out_dim : AMP_DIM_UNKNOWN;
    return AMP_OK;
}

/* Fills in the half of a spectrum that mirrors the other: what an inverse transform to real values
   is made of. Where the mirrored value is the same one, it is real. */
static void mirror(struct amp_complex *x, int64_t n)
{
    for (int64_t k = 1; k <= n / 2; k++)
        x[n - k] = (struct amp_complex){x[k].re, n - k == k ? 0 : -x[k].im};
    x[0].im = 0;
}

static void transform_line(const struct dft *dft, const struct transform *transform, struct line in,
                           struct line out)
{
    int64_t n = dft->in_dim < dft->length ? dft->in_dim : dft->length;
    struct amp_complex *x = own_line(transform);
    memset(x, 0, (size_t)dft->length * sizeof *x);
    load_line(in, n, x);
    if (dft->is_half && dft->is_inverse)
        mirror(x, dft->length);
    run_line(transform, x, dft->is_inverse);
    store_line(out, dft->out_dim, x);
}

static enum amp_status dft_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    int last = in->shape.rank - 1;
    struct dft dft;
    struct transform transform;
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    AMP_TRY(read_dft(ctx, &dft));
    int64_t in_parts = in->shape.dims[last], out_parts = out->shape.dims[last];
    int64_t inner = amp_shape_product(&in->shape, dft.axis + 1, last);
    int64_t lines = amp_shape_product(&in->shape, 0, dft.axis) * inner;
    if (lines == 0)
        return AMP_OK;
    AMP_TRY(prepare(ctx, dft.length, 0, &transform));
#pragma omp parallel for if (is_large(&transform, lines))
    for (int64_t i = 0; i < lines; i++) {
        int64_t outer = i / inner * inner, column = i % inner;
        struct line from = {in, (outer * dft.in_dim + column) * in_parts, inner * in_parts,
                            in_parts};
        struct line to = {out, (outer * dft.out_dim + column) * out_parts, inner * out_parts,
                          out_parts};
        transform_line(&dft, &transform, from, to);
    }
    drop(&transform);
    return AMP_OK;
}

/* ---- STFT ---- */

enum { IN_SIGNAL, IN_STEP, IN_WINDOW, IN_LENGTH };

struct stft {
    int64_t batch, samples, parts; /* of the signal */
    int64_t step, length;          /* of frames */
    int64_t frames, bins;
};

static int64_t window_length(const struct amp_ctx *ctx, int64_t fallback)
{
    if (!amp_has_in(ctx, IN_WINDOW))
        return fallback;
    const struct amp_shape *shape = &ctx->in[IN_WINDOW]->shape;
    return shape->rank == 1 ? shape->dims[0] : AMP_DIM_UNKNOWN;
}

/* As much as is known; the signal's rank is 3. */
static enum amp_status read_stft(const struct amp_ctx *ctx, struct stft *stft)
{
    const int64_t *dims = ctx->in[IN_SIGNAL]->shape.dims;
    bool is_half = amp_node_int(ctx->node, "onesided", 1) != 0;
    *stft = (struct stft){.batch = dims[0],
                          .samples = dims[1],
                          .parts = dims[2],
                          .frames = AMP_DIM_UNKNOWN,
                          .bins = AMP_DIM_UNKNOWN};
    if (stft->parts == 0 || stft->parts > 2 || (is_half && stft->parts == 2))
        return AMP_CTX_FAIL(ctx, "a signal of %lld parts; 1, or 2 when not one-sided, is possible",
                            (long long)stft->parts);
    if (amp_has_in(ctx, IN_WINDOW) && ctx->in[IN_WINDOW]->shape.rank >= 0 &&
        ctx->in[IN_WINDOW]->shape.rank != 1)
        return AMP_CTX_FAIL(ctx, "the window has rank %d; 1 is needed",
                            ctx->in[IN_WINDOW]->shape.rank);
    AMP_TRY(read_int(ctx, IN_STEP, AMP_DIM_UNKNOWN, &stft->step));
    AMP_TRY(read_int(ctx, IN_LENGTH, window_length(ctx, stft->samples), &stft->length));
    if (stft->step == 0 || stft->length == 0)
        return AMP_CTX_FAIL(ctx, "a frame step or a frame length of 0");
    if (stft->length < 0)
        return AMP_OK;
    stft->bins = is_half ? stft->length / 2 + 1 : stft->length;
    if (stft->samples >= 0 && stft->samples < stft->length)
        return AMP_CTX_FAIL(ctx, "frames of %lld samples; the signal has %lld",
                            (long long)stft->length, (long long)stft->samples);
    if (stft->samples >= 0 && stft->step > 0)
        stft->frames = (stft->samples - stft->length) / stft->step + 1;
    return AMP_OK;
}

static enum amp_status stft_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[IN_SIGNAL]->shape;
    struct stft stft;
    ctx->out[0]->shape = (struct amp_shape){
        .rank = 4, .dims = {AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN, AMP_DIM_UNKNOWN, 2}};
    if (in->rank < 0)
        return AMP_OK;
    if (in->rank != 3)
        return AMP_CTX_FAIL(ctx, "the signal has rank %d; 3 is needed", in->rank);
    AMP_TRY(read_stft(ctx, &stft));
    ctx->out[0]->shape =
        (struct amp_shape){.rank = 4, .dims = {stft.batch, stft.frames, stft.bins, 2}};
    return AMP_OK;
}

/* Frame I of all the batch's, by the weights of WINDOW. */
static void transform_frame(const struct amp_ctx *ctx, const struct stft *stft,
                            const struct transform *transform, const struct amp_complex *window,
                            int64_t i)
{
    struct amp_complex *x = own_line(transform);
    int64_t sample = i / stft->frames * stft->samples + i % stft->frames * stft->step;
    const struct line from = {ctx->in[IN_SIGNAL], sample * stft->parts, stft->parts, stft->parts};
    load_line(from, stft->length, x);
    for (int64_t k = 0; k < stft->length; k++)
        x[k] = (struct amp_complex){x[k].re * window[k].re, x[k].im * window[k].re};
    run_line(transform, x, false);
    store_line((struct line){ctx->out[0], i * stft->bins * 2, 2, 2}, stft->bins, x);
}

static enum amp_status stft_run(struct amp_ctx *ctx)
{
    struct stft stft;
    struct transform transform;
    AMP_TRY(amp_wide_check(ctx, ctx->in[IN_SIGNAL]->dtype));
    AMP_TRY(read_stft(ctx, &stft));
    if (window_length(ctx, stft.length) != stft.length)
        return AMP_CTX_FAIL(ctx, "the window has not the length of a frame, %lld",
                            (long long)stft.length);
    AMP_TRY(prepare(ctx, stft.length, stft.length, &transform));
    struct amp_complex *window = transform.buffer->data;
    for (int64_t i = 0; i < stft.length; i++)
        window[i] = (struct amp_complex){1, 0};
    if (amp_has_in(ctx, IN_WINDOW))
        load_line((struct line){ctx->in[IN_WINDOW], 0, 1, 1}, stft.length, window);
#pragma omp parallel for if (is_large(&transform, stft.batch * stft.frames))
    for (int64_t i = 0; i < stft.batch * stft.frames; i++)
        transform_frame(ctx, &stft, &transform, window, i);
    drop(&transform);
    return AMP_OK;
}

/* ---- MelWeightMatrix ---- */

enum { IN_BANDS, IN_DFT_LENGTH, IN_RATE, IN_LOWER, IN_UPPER };

static enum amp_status mel_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t bands, length;
    AMP_TRY(read_int(ctx, IN_BANDS, AMP_DIM_UNKNOWN, &bands));
    AMP_TRY(read_int(ctx, IN_DFT_LENGTH, AMP_DIM_UNKNOWN, &length));
    *out = (struct amp_shape){.rank = 2,
                              .dims = {length < 0 ? AMP_DIM_UNKNOWN : length / 2 + 1, bands}};
    return AMP_OK;
}

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

static double hertz_of(double mel)
{
    return 700 * (pow(10, mel / 2595) - 1);
}

/* The weight of spectrum bin BIN in the triangle from LEFT over CENTRE to RIGHT. */
static double triangle(double bin, double left, double centre, double right)
{
    if (bin == centre)
        return 1;
    if (bin >= left && bin < centre)
        return (bin - left) / (centre - left);
    return bin > centre && bin < right ? (right - bin) / (right - centre) : 0;
}

static enum amp_status mel_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *out = ctx->out[0];
    double inputs[IN_UPPER + 1];
    AMP_TRY(amp_wide_check(ctx, out->dtype));
    for (uint32_t i = 0; i <= IN_UPPER; i++) {
        if (amp_shape_count(&ctx->in[i]->shape) != 1)
            return AMP_CTX_FAIL(ctx, "input %u has not one element", i);
        inputs[i] = amp_tensor_double(ctx->in[i], 0);
    }
    int64_t bins = out->shape.dims[0], bands = out->shape.dims[1];
    double lower = mel_of(inputs[IN_LOWER]);
    double step = (mel_of(inputs[IN_UPPER]) - lower) / (inputs[IN_BANDS] + 2);
    for (int64_t band = 0; band < bands; band++) {
        double edges[3];
        for (int i = 0; i < 3; i++)
            edges[i] = floor((inputs[IN_DFT_LENGTH] + 1) *
                             hertz_of(lower + (double)(band + i) * step) / inputs[IN_RATE]);
        for (int64_t bin = 0; bin < bins; bin++) {
            union amp_wide value = {.f = triangle((double)bin, edges[0], edges[1], edges[2])};
            if (amp_wide_kind_of(out->dtype) != AMP_WIDE_FLOAT)
                amp_wide_from_float(amp_wide_kind_of(out->dtype), &value, 1);
            amp_wide_store(&value,
                           (struct amp_stretch){out->dtype, out->data, bin * bands + band, 1, 1});
        }
    }
    return AMP_OK;
}

#define SIGNAL(id, op_type, newest_version, shape_fn, run_fn, ...) \
    const struct amp_op amp_op_##id = {.name = op_type,            \
                                       .newest = newest_version,   \
                                       .effect = AMP_COMPUTES,     \
                                       .native = AMP_NATIVE_ALL,   \
                                       .shape = shape_fn,          \
                                       .run = run_fn,              \
                                       __VA_ARGS__}

/* With an output of the dtype that an attribute says. */
#define TYPED                                                                     \
    .dtype_attr = &(const struct amp_dtype_attr)                                  \
    {                                                                             \
        .name = "output_datatype", .outputs = AMP_INPUT(0), .fallback = AMP_FLOAT \
    }

SIGNAL(blackman_window, "BlackmanWindow", 17, window_shape, window_run, TYPED,
       .own = &(const struct window){0.42, 0.5, 0.08});
SIGNAL(dft, "DFT", 20, dft_shape, dft_run);
SIGNAL(hamming_window, "HammingWindow", 17, window_shape, window_run, TYPED,
       .own = &(const struct window){25.0 / 46, 21.0 / 46, 0});
SIGNAL(hann_window, "HannWindow", 17, window_shape, window_run, TYPED,
       .own = &(const struct window){0.5, 0.5, 0});
SIGNAL(mel_weight_matrix, "MelWeightMatrix", 17, mel_shape, mel_run, TYPED);
SIGNAL(stft, "STFT", 17, stft_shape, stft_run);
