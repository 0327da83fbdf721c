/*
 * CumSum and CumProd: running sums and products along one axis, on wide blocks, so that a float's
 * running value is kept in double and rounded only where it is stored.
 */
#include "ops/kernel.h"
#include "ops/wide.h"

#include <string.h>

struct cumulation {
    const struct amp_tensor *in;
    void *out;
    enum amp_wide_kind kind;
    int64_t length, inner; /* of the axis; elements between its neighbours */
    bool is_product, is_exclusive, is_reverse;
};

static union amp_wide step(const struct cumulation *c, union amp_wide a, union amp_wide b)
{
    if (c->kind != AMP_WIDE_FLOAT)
        return (union amp_wide){.u = c->is_product ? a.u * b.u : a.u + b.u};
    return (union amp_wide){.f = c->is_product ? a.f * b.f : a.f + b.f};
}

static union amp_wide neutral(const struct cumulation *c)
{
    if (c->kind == AMP_WIDE_FLOAT)
        return (union amp_wide){.f = c->is_product ? 1 : 0};
    return (union amp_wide){.u = c->is_product ? 1 : 0};
}

/* Replaces N elements by the running values, which go on from *RUNNING. */
static void cumulate_block(const struct cumulation *c, union amp_wide *x, int64_t n,
                           union amp_wide *running)
{
    for (int64_t i = 0; i < n; i++) {
        union amp_wide next = step(c, *running, x[i]);
        x[i] = c->is_exclusive ? *running : next;
        *running = next;
    }
}

/* The line of elements that begins at index FIRST. */
static void cumulate_line(const struct cumulation *c, int64_t first)
{
    union amp_wide x[AMP_WIDE_BLOCK], running = neutral(c);
    int64_t stride = c->is_reverse ? -c->inner : c->inner;
    int64_t at = c->is_reverse ? first + (c->length - 1) * c->inner : first;
    for (int64_t i = 0; i < c->length; i += AMP_WIDE_BLOCK) {
        int64_t left = c->length - i, n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
        amp_wide_load(c->in->dtype, c->in->data, at + i * stride, stride, n, x);
        cumulate_block(c, x, n, &running);
        amp_wide_store(c->in->dtype, x, c->out, at + i * stride, stride, n);
    }
}

static enum amp_status cumulate_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    int64_t value;
    int count, axis = 0, rank = in->shape.rank;
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    AMP_TRY(amp_ctx_ints(ctx, 1, &value, 1, &count));
    if (count != 1)
        return AMP_CTX_FAIL(ctx, "input 1 (axis) is empty");
    AMP_TRY(amp_ctx_axis(ctx, value, rank > 0 ? rank : 1, &axis));
    struct cumulation c = {.in = in,
                           .out = ctx->out[0]->data,
                           .kind = amp_wide_kind_of(in->dtype),
                           .length = rank > 0 ? in->shape.dims[axis] : 1,
                           .inner = rank > 0 ? amp_shape_product(&in->shape, axis + 1, rank) : 1,
                           .is_product = strcmp(ctx->node->op_type, "CumProd") == 0,
                           .is_exclusive = amp_node_int(ctx->node, "exclusive", 0) != 0,
                           .is_reverse = amp_node_int(ctx->node, "reverse", 0) != 0};
    int64_t lines = amp_shape_product(&in->shape, 0, axis) * c.inner;
    bool is_large = lines * c.length >= AMP_PARALLEL_MIN;
#pragma omp parallel for if (is_large)
    for (int64_t line = 0; line < lines; line++)
        cumulate_line(&c, line / c.inner * c.length * c.inner + line % c.inner);
    return AMP_OK;
}

const struct amp_op amp_op_cum_prod = {.name = "CumProd",
                                       .newest = 26,
                                       .effect = AMP_COMPUTES,
                                       .native = AMP_NATIVE_WIDE,
                                       .shape = amp_shape_same,
                                       .run = cumulate_run};

const struct amp_op amp_op_cum_sum = {.name = "CumSum",
                                      .newest = 14,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_WIDE,
                                      .shape = amp_shape_same,
                                      .run = cumulate_run};
