/*
 * Runs a call with mixed float types as one in float64: copies of the inputs go in, and what comes
 * out is rounded. Kernels see one type only.
 */
#include "ops/kernel/float64_call.h"

#include "ops/kernel/tensor_cast.h"
#include "ops/kernel/kernel.h"

#include <stdlib.h>

static bool is_float(const struct amp_tensor *tensor)
{
    return amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT;
}

bool amp_has_mixed_types(const struct amp_ctx *ctx)
{
    bool is_mixed = false;
    for (uint32_t i = 1; i < ctx->n_in; i++)
        is_mixed |=
            amp_has_in(ctx, i) && is_float(ctx->in[i]) && ctx->in[i]->dtype != ctx->in[0]->dtype;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        is_mixed |=
            amp_has_out(ctx, i) && is_float(ctx->out[i]) && ctx->out[i]->dtype != ctx->in[0]->dtype;
    return is_mixed;
}

/* What the inner call takes and gives: per input and output, memory of its own or nothing. */
struct copies {
    struct amp_tensor *in, *out;
    const struct amp_tensor **ins;
    struct amp_tensor **outs;
};

static enum amp_status copy_in(const struct amp_ctx *ctx, struct copies *copies)
{
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        copies->ins[i] = ctx->in[i];
        if (!amp_has_in(ctx, i) || !is_float(ctx->in[i]))
            continue;
        AMP_TRY(amp_tensor_cast_copy(ctx->in[i], AMP_DOUBLE, &copies->in[i], ctx->err));
        copies->ins[i] = &copies->in[i];
    }
    for (uint32_t i = 0; i < ctx->n_out; i++) {
        copies->outs[i] = ctx->out[i];
        if (!amp_has_out(ctx, i) || !is_float(ctx->out[i]))
            continue;
        copies->out[i] = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = ctx->out[i]->shape};
        AMP_TRY(amp_tensor_alloc(&copies->out[i], ctx->err));
        copies->outs[i] = &copies->out[i];
    }
    return AMP_OK;
}

static enum amp_status copy_out(const struct amp_ctx *ctx, const struct copies *copies)
{
    for (uint32_t i = 0; i < ctx->n_out; i++)
        if (copies->outs[i] != ctx->out[i])
            AMP_TRY(amp_tensor_cast(&copies->out[i], ctx->out[i], NULL, ctx->err));
    return AMP_OK;
}

static enum amp_status check_widths(struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (amp_has_in(ctx, i) && amp_compute_dtype(ctx->in[i]->dtype) != ctx->in[i]->dtype)
            return amp_no_kernel(ctx, ctx->in[i]->dtype);
    return AMP_OK;
}

enum amp_status amp_run_in_f64(struct amp_ctx *ctx, enum amp_status (*run)(struct amp_ctx *ctx))
{
    struct amp_ctx inner = *ctx;
    AMP_TRY(check_widths(ctx));
    struct copies copies = {.in = amp_xcalloc(ctx->n_in, sizeof *copies.in),
                            .out = amp_xcalloc(ctx->n_out, sizeof *copies.out),
                            .ins = amp_xcalloc(ctx->n_in, sizeof *copies.ins),
                            .outs = amp_xcalloc(ctx->n_out, sizeof *copies.outs)};
    inner.in = copies.ins;
    inner.out = copies.outs;
    enum amp_status status = copy_in(ctx, &copies);
    if (status == AMP_OK)
        status = run(&inner);
    if (status == AMP_OK)
        status = copy_out(ctx, &copies);
    amp_tensors_release(copies.in, ctx->n_in);
    amp_tensors_release(copies.out, ctx->n_out);
    free(copies.in);
    free(copies.out);
    free(copies.ins);
    free(copies.outs);
    return status;
}
