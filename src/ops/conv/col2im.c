/*
 * Col2Im: sums columns [N, C * K..., L], one per step of a window over an image, into that image
 * [N, C, D...].
 */
#include "ops/kernel/data_movement.h"
#include "ops/conv/window.h"

#include <inttypes.h>
#include <string.h>

/* The window from the values of image_shape and block_shape; *IS_KNOWN: false when they are not. */
static enum amp_status read_window(const struct amp_ctx *ctx, struct amp_window *window,
                                   bool *is_known)
{
    int64_t image[AMP_RANK_MAX - 2], block[AMP_RANK_MAX - 2];
    int n, n_block;
    AMP_TRY(amp_ctx_ints(ctx, 1, image, AMP_RANK_MAX - 2, &n));
    AMP_TRY(amp_ctx_ints(ctx, 2, block, AMP_RANK_MAX - 2, &n_block));
    *is_known = n >= 0 && n_block >= 0;
    if (!*is_known)
        return AMP_OK;
    if (n < 1 || n != n_block)
        return AMP_CTX_FAIL(ctx,
                            "image_shape has %d values and block_shape %d; as many, and at "
                            "least one, are needed",
                            n, n_block);
    for (int d = 0; d < n; d++)
        if (image[d] < 1 || image[d] > INT32_MAX || block[d] < 1)
            return AMP_CTX_FAIL(ctx,
                                "an image of %" PRId64 " and a block of %" PRId64
                                " in spatial dim %d; 1 to %d allowed",
                                image[d], block[d], d, INT32_MAX);
    AMP_TRY(amp_window_read(ctx, n, block, window));
    return amp_window_slide(ctx, image, window);
}

/* The columns must be as many and as long as the window wants. */
static enum amp_status check_columns(const struct amp_ctx *ctx, const struct amp_window *window)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    int64_t taps = 1, steps = 1;
    bool overflows = false;
    char text[256];
    for (int d = 0; d < window->n; d++) {
        overflows |= __builtin_mul_overflow(taps, window->kernel[d], &taps);
        overflows |= __builtin_mul_overflow(steps, window->steps[d], &steps);
    }
    if (overflows || (in->dims[1] >= 0 && in->dims[1] % taps != 0) ||
        (in->dims[2] >= 0 && in->dims[2] != steps))
        return AMP_CTX_FAIL(ctx,
                            "input 0 has shape %s; [N, C * %" PRId64 ", %" PRId64 "] is needed",
                            amp_shape_text(in, text, sizeof text), taps, steps);
    return AMP_OK;
}

static enum amp_status col2im_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    struct amp_window window;
    bool is_known;
    char text[256];
    int64_t n = amp_ctx_length(ctx, 1);
    amp_shape_unknown(out, n < 1 || n > AMP_SPATIAL_MAX ? -1 : n + 2);
    if (in->rank >= 0 && in->rank != 3)
        return AMP_CTX_FAIL(ctx, "input 0 has shape %s; rank 3 is needed",
                            amp_shape_text(in, text, sizeof text));
    AMP_TRY(read_window(ctx, &window, &is_known));
    if (in->rank < 0 || !is_known)
        return AMP_OK;
    AMP_TRY(check_columns(ctx, &window));
    amp_shape_unknown(out, window.n + 2);
    out->dims[0] = in->dims[0];
    if (in->dims[1] >= 0)
        out->dims[1] = in->dims[1] / amp_window_product(window.n, window.kernel);
    memcpy(out->dims + 2, window.image, (size_t)window.n * sizeof *out->dims);
    return AMP_OK;
}

/* The columns of one channel summed into its image, which is zero before. */
#define FOLD(DTYPE, T)                                                                          \
    static void fold_##DTYPE(const struct amp_window *window, const void *columns, void *image) \
    {                                                                                           \
        int64_t steps = amp_window_product(window->n, window->steps);                           \
        int64_t tap[AMP_SPATIAL_MAX] = {0};                                                     \
        const T *column = columns;                                                              \
        do {                                                                                    \
            struct amp_runs runs;                                                               \
            amp_runs_start(&runs, window, tap);                                                 \
            while (amp_runs_next(&runs)) {                                                      \
                T *to = (T *)image + runs.image;                                                \
                for (int64_t i = 0; i < runs.count; i++)                                        \
                    to[i * runs.stride] = (T)(to[i * runs.stride] + column[runs.step + i]);     \
            }                                                                                   \
            column += steps;                                                                    \
        } while (amp_index_next(window->n, window->kernel, tap));                               \
    }
AMP_FLOAT_TYPES(FOLD)
AMP_UNSIGNED_TYPES(FOLD)

typedef void fold_fn(const struct amp_window *window, const void *columns, void *image);

/* Integers are summed as unsigned, which wrap. */
static fold_fn *const folds[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, fold) AMP_UNSIGNED_TYPES(AMP_ROW, fold)[AMP_INT8] = fold_UINT8,
    [AMP_INT16] = fold_UINT16, [AMP_INT32] = fold_UINT32, [AMP_INT64] = fold_UINT64};

static enum amp_status col2im_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    struct amp_window window = {.n = 0};
    fold_fn *fold;
    bool is_known;
    AMP_PICK(ctx, fold, folds, in->dtype);
    AMP_TRY(read_window(ctx, &window, &is_known));
    if (!is_known || amp_shape_count(&out->shape) == 0)
        return AMP_OK;
    int64_t size = amp_dtype_bits(in->dtype) / 8;
    int64_t image = amp_window_product(window.n, window.image) * size;
    int64_t columns = amp_window_product(window.n, window.kernel) *
                      amp_window_product(window.n, window.steps) * size;
    memset(out->data, 0, amp_tensor_size(out));
#pragma omp parallel for
    for (int64_t i = 0; i < amp_shape_product(&out->shape, 0, 2); i++)
        fold(&window, (const char *)in->data + i * columns, (char *)out->data + i * image);
    return AMP_OK;
}

const struct amp_op amp_op_col2im = {
    .name = "Col2Im",
    .newest = 18,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    /* There is no sum of these. */
    .lacks = AMP_DTYPE_BIT(AMP_BOOL) | AMP_DTYPE_BIT(AMP_STRING) | AMP_COMPLEX_TYPES,
    .shape = col2im_shape,
    .run = col2im_run,
};
