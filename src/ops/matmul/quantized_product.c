/*
 * Multiplies bytes with constant weights through one primitive that also rounds. What the zero
 * point of the left operand contributes is the same in every row: it is part of the bias.
 */
#include "ops/matmul/quantized_product.h"

#include "core/array.h"
#include "ops/dnnl/prim.h"
#include "ops/dnnl/requantize.h"
#include "ops/kernel/kernel.h"

#include <stdlib.h>

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, N_INPUTS };

struct state {
    void *prim; /* amp_prim_destroy's */
    bool is_known, is_whole;
    struct amp_requantize requantize;
    struct amp_tensor bias; /* int32, [1, n] */
};

void amp_quantized_product_destroy(void *state)
{
    struct state *own = state;
    if (own == NULL)
        return;
    amp_prim_destroy(own->prim);
    amp_tensor_release(&own->requantize.factors);
    amp_tensor_release(&own->bias);
    free(own);
}

/* ---- what constants come to ---- */

static bool is_one(const struct amp_tensor *tensor)
{
    return amp_tensor_count(tensor) == 1;
}

static bool are_constant(const struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < N_INPUTS; i++)
        if (i != A && (!ctx->is_constant[i] || ctx->in[i]->data == NULL))
            return false;
    return true;
}

static bool are_zero(const struct amp_tensor *tensor)
{
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        if (amp_tensor_int(tensor, i) != 0)
            return false;
    return true;
}

static bool is_whole(const struct amp_ctx *ctx)
{
    const struct amp_tensor *const *in = ctx->in;
    if (in[B]->shape.rank != 2 || in[B]->dtype != AMP_INT8 || !is_one(in[A_SCALE]) ||
        !is_one(in[A_ZERO]) || !is_one(in[Y_SCALE]) || !is_one(in[Y_ZERO]) ||
        !are_zero(in[B_ZERO]) ||
        (!is_one(in[B_SCALE]) && amp_shape_count(&in[B_SCALE]->shape) != in[B]->shape.dims[1]))
        return false;
    return amp_byte_sums_way(&(struct amp_byte_sums){.x = in[A]->dtype,
                                                     .x_zero = amp_tensor_int(in[A_ZERO], 0),
                                                     .w = in[B],
                                                     .channel = 1}) == AMP_BYTES_WHOLE;
}

static void fill_bias(const struct amp_ctx *ctx, int32_t *bias)
{
    const int64_t k = ctx->in[B]->shape.dims[0], n = ctx->in[B]->shape.dims[1];
    const int32_t zero = (int32_t)amp_tensor_int(ctx->in[A_ZERO], 0);
    const int8_t *b = ctx->in[B]->data;
    for (int64_t j = 0; j < n; j++)
        bias[j] = 0;
    for (int64_t i = 0; i < k && zero != 0; i++)
        for (int64_t j = 0; j < n; j++)
            bias[j] -= zero * b[i * n + j];
}

static void fill_factors(const struct amp_ctx *ctx, float *factors)
{
    const struct amp_tensor *b = ctx->in[B_SCALE];
    const float a = (float)amp_tensor_double(ctx->in[A_SCALE], 0);
    const float y = (float)amp_tensor_double(ctx->in[Y_SCALE], 0);
    for (int64_t j = 0; j < ctx->in[B]->shape.dims[1]; j++)
        factors[j] = a * (float)amp_tensor_double(b, is_one(b) ? 0 : (size_t)j) / y;
}

static enum amp_status learn(struct amp_ctx *ctx, struct state *state)
{
    state->is_known = true;
    state->is_whole = is_whole(ctx);
    if (!state->is_whole)
        return AMP_OK;
    const int64_t n = ctx->in[B]->shape.dims[1];
    struct amp_tensor *factors = &state->requantize.factors;
    *factors = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {n}}};
    state->bias = (struct amp_tensor){.dtype = AMP_INT32, .shape = {.rank = 2, .dims = {1, n}}};
    AMP_TRY(amp_tensor_alloc(factors, ctx->err));
    AMP_TRY(amp_tensor_alloc(&state->bias, ctx->err));
    fill_factors(ctx, factors->data);
    fill_bias(ctx, state->bias.data);
    state->requantize.zero = (float)amp_tensor_int(ctx->in[Y_ZERO], 0);
    return AMP_OK;
}

/* ---- the primitive ---- */

/* A call of it, with the inputs that it has. */
struct whole {
    struct amp_ctx ctx;
    const struct amp_tensor *in[3];
    bool is_constant[3];
    struct amp_post posts[AMP_REQUANTIZE_POSTS];
};

static void set_whole(const struct amp_ctx *ctx, struct state *state, struct whole *whole)
{
    *whole = (struct whole){.ctx = *ctx,
                            .in = {ctx->in[A], ctx->in[B], &state->bias},
                            .is_constant = {ctx->is_constant[A], true, true}};
    whole->ctx.in = whole->in;
    whole->ctx.n_in = AMP_COUNT(whole->in);
    whole->ctx.is_constant = whole->is_constant;
    whole->ctx.state = &state->prim;
    whole->ctx.posts = whole->posts;
    whole->ctx.n_posts = amp_requantize_posts(&state->requantize, whole->posts);
}

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const int64_t k = ctx->in[1]->shape.dims[0], n = ctx->in[1]->shape.dims[1];
    const int64_t rows = amp_shape_count(&ctx->in[0]->shape) / k;
    const int64_t a_dims[] = {rows, k}, b_dims[] = {k, n}, y_dims[] = {rows, n};
    dnnl_memory_desc_t a, b, any, bias, y;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[0]->dtype, 2, a_dims), &a));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(AMP_INT8, 2, b_dims), &b));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_tagged(AMP_INT8, 2, b_dims, dnnl_format_tag_any),
                          &any));
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[2], &bias));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->out[0]->dtype, 2, y_dims), &y));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_prim_set_posts(ctx, prim, NULL, 2, y_dims));
    AMP_TRY(amp_dnnl_check(
        ctx->err,
        dnnl_matmul_primitive_desc_create(&pd, ctx->host->dnnl->engine, a, any, bias, y, attr),
        "product"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, a));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, b));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_BIAS, 2, bias));
    return amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, y);
}

enum amp_status amp_quantized_product_run(const struct amp_ctx *ctx)
{
    struct amp_error refusal = {.status = AMP_OK};
    struct whole whole;
    if (*ctx->state == NULL)
        *ctx->state = amp_xcalloc(1, sizeof(struct state));
    struct state *state = *ctx->state;
    struct amp_ctx own = *ctx;
    own.err = &refusal;
    if (!state->is_known && are_constant(ctx) && learn(&own, state) != AMP_OK)
        return amp_fail(ctx->err, refusal.status, "%s", refusal.text);
    if (!state->is_whole || amp_shape_count(&ctx->out[0]->shape) == 0)
        return AMP_UNSUPPORTED;
    set_whole(&own, state, &whole);
    enum amp_status status = amp_prim_run_or(&whole.ctx, make, NULL);
    return status == AMP_OK || status == AMP_UNSUPPORTED || status == AMP_AGAIN
               ? status
               : amp_fail(ctx->err, status, "%s", refusal.text);
}

/* ---- once more ---- */

bool amp_quantized_product_can_repeat(const struct amp_ctx *ctx)
{
    struct whole whole;
    set_whole(ctx, *ctx->state, &whole);
    return amp_prim_repeat.can(&whole.ctx);
}

enum amp_status amp_quantized_product_repeat(struct amp_ctx *ctx)
{
    struct whole whole;
    set_whole(ctx, *ctx->state, &whole);
    return amp_prim_repeat.run(&whole.ctx);
}

bool amp_quantized_product_reads(const void *state, size_t index)
{
    const struct state *own = state;
    return index != B || amp_prim_reads(own->prim, 1);
}
