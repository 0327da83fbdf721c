/*
 * Det: computes determinants of square matrices, by elimination in double with the largest pivot of
 * each column.
 */
#include "ops/kernel/kernel.h"
#include "ops/kernel/block.h"

#include <math.h>

/* The row at or below ROW with the largest element in that column. */
static int64_t find_pivot(const union amp_wide *matrix, int64_t n, int64_t row)
{
    int64_t pivot = row;
    for (int64_t i = row + 1; i < n; i++)
        if (fabs(matrix[i * n + row].f) > fabs(matrix[pivot * n + row].f))
            pivot = i;
    return pivot;
}

static void swap_rows(union amp_wide *a, union amp_wide *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        union amp_wide kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Of MATRIX [n, n], which is spent. */
static double determinant(union amp_wide *matrix, int64_t n)
{
    double product = 1;
    for (int64_t row = 0; row < n; row++) {
        int64_t pivot = find_pivot(matrix, n, row);
        union amp_wide *top = matrix + row * n;
        if (pivot != row) {
            swap_rows(top, matrix + pivot * n, n);
            product = -product;
        }
        product *= top[row].f;
        if (top[row].f == 0)
            return product;
        for (int64_t i = row + 1; i < n; i++) {
            double factor = matrix[i * n + row].f / top[row].f;
            for (int64_t j = row + 1; j < n; j++)
                matrix[i * n + j].f -= factor * top[j].f;
        }
    }
    return product;
}

static enum amp_status det_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    char text[200];
    *out = *in;
    if (in->rank < 0)
        return AMP_OK;
    if (in->rank < 2 || (in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 2] >= 0 &&
                         in->dims[in->rank - 1] != in->dims[in->rank - 2]))
        return AMP_CTX_FAIL(ctx, "shape %s; square matrices are needed",
                            amp_shape_text(in, text, sizeof text));
    out->rank -= 2;
    return AMP_OK;
}

static enum amp_status det_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    int64_t n = in->shape.dims[in->shape.rank - 1], count = amp_shape_count(&out->shape);
    if (count == 0)
        return AMP_OK;
    struct amp_buffer *buffer =
        amp_scratch(ctx, "a matrix", (size_t)(n * n), sizeof(union amp_wide));
    if (buffer == NULL)
        return ctx->err->status;
    union amp_wide *matrix = buffer->data;
    for (int64_t i = 0; i < count; i++) {
        amp_wide_load((struct amp_stretch){in->dtype, in->data, i * n * n, 1, n * n}, matrix);
        union amp_wide result = {.f = determinant(matrix, n)};
        amp_wide_store(&result, (struct amp_stretch){out->dtype, out->data, i, 1, 1});
    }
    amp_buffer_unref(buffer);
    return AMP_OK;
}

const struct amp_op amp_op_det = {.name = "Det",
                                  .newest = 22,
                                  .effect = AMP_COMPUTES,
                                  .native = AMP_NATIVE_ALL,
                                  .shape = det_shape,
                                  .run = det_run};
