/*
 * CumSum and CumProd: running sums and products along one axis. Works on wide blocks
 * (ops/kernel/block.h), so that a float's running value is kept in double and rounded only where it
 * is stored.
 */
#include "ops/kernel/kernel.h"
#include "ops/kernel/block.h"

struct cumulation {
    const struct amp_tensor *in;
    void *out;
    enum amp_wide_kind kind;
    int64_t length, inner; /* of the axis; elements between its neighbours */
    bool is_product, is_exclusive, is_reverse;
};

static union amp_wide neutral(const struct cumulation *c)
{
    if (c->kind == AMP_WIDE_FLOAT)
        return (union amp_wide){.f = c->is_product ? 1 : 0};
    return (union amp_wide){.u = c->is_product ? 1 : 0};
}

/* Replaces N elements of a line by the running values, which go on from *RUNNING; or one element
   each of N lines, with running values of their own (EACH). Integers wrap: unsigned bits. */
typedef void block_fn(union amp_wide *x, int64_t n, union amp_wide *running, bool is_exclusive);

#define BLOCKS(name, M, OPERATOR)                                                            \
    static void name##_line(union amp_wide *x, int64_t n, union amp_wide *running,           \
                            bool is_exclusive)                                               \
    {                                                                                        \
        union amp_wide now = *running;                                                       \
        for (int64_t i = 0; i < n; i++) {                                                    \
            union amp_wide next = {.M = now.M OPERATOR x[i].M};                              \
            x[i] = is_exclusive ? now : next;                                                \
            now = next;                                                                      \
        }                                                                                    \
        *running = now;                                                                      \
    }                                                                                        \
    AMP_CLONES(void, name##_each,                                                            \
               (union amp_wide * x, int64_t n, union amp_wide * running, bool is_exclusive), \
               (x, n, running, is_exclusive))                                                \
    {                                                                                        \
        AMP_SIMD for (int64_t i = 0; i < n; i++)                                             \
        {                                                                                    \
            const union amp_wide now = running[i], next = {.M = now.M OPERATOR x[i].M};      \
            x[i].M = is_exclusive ? now.M : next.M;                                          \
            running[i].M = next.M;                                                           \
        }                                                                                    \
    }
BLOCKS(sum_float, f, +)
BLOCKS(product_float, f, *)
BLOCKS(sum_int, u, +)
BLOCKS(product_int, u, *)

static block_fn *block_of(const struct cumulation *c, bool is_line)
{
    static block_fn *const table[2][2][2] = {
        {{sum_int_each, sum_int_line}, {product_int_each, product_int_line}},
        {{sum_float_each, sum_float_line}, {product_float_each, product_float_line}}};
    return table[c->kind == AMP_WIDE_FLOAT][c->is_product][is_line];
}

/* The line of elements that begins at index FIRST. */
static void cumulate_line(const struct cumulation *c, int64_t first)
{
    union amp_wide x[AMP_WIDE_BLOCK], running = neutral(c);
    int64_t stride = c->is_reverse ? -c->inner : c->inner;
    int64_t at = c->is_reverse ? first + (c->length - 1) * c->inner : first;
    block_fn *block = block_of(c, true);
    for (int64_t i = 0; i < c->length; i += AMP_WIDE_BLOCK) {
        int64_t left = c->length - i, n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
        amp_wide_load((struct amp_stretch){c->in->dtype, c->in->data, at + i * stride, stride, n},
                      x);
        block(x, n, &running, c->is_exclusive);
        amp_wide_store(x, (struct amp_stretch){c->in->dtype, c->out, at + i * stride, stride, n});
    }
}

/* N lines side by side, a block at most, the first of which begins at index FIRST. */
static void cumulate_columns(const struct cumulation *c, int64_t first, int64_t n)
{
    union amp_wide x[AMP_WIDE_BLOCK], running[AMP_WIDE_BLOCK];
    block_fn *block = block_of(c, false);
    for (int64_t j = 0; j < n; j++)
        running[j] = neutral(c);
    for (int64_t i = 0; i < c->length; i++) {
        int64_t row = c->is_reverse ? c->length - 1 - i : i, at = first + row * c->inner;
        amp_wide_load((struct amp_stretch){c->in->dtype, c->in->data, at, 1, n}, x);
        block(x, n, running, c->is_exclusive);
        amp_wide_store(x, (struct amp_stretch){c->in->dtype, c->out, at, 1, n});
    }
}

/* OUTER times LENGTH times INNER elements. */
static void cumulate(const struct cumulation *c, int64_t outer)
{
    enum { SHORT = 16 }; /* below, taking lines side by side does not pay */
    bool is_large = outer * c->length * c->inner >= AMP_PARALLEL_MIN;
    if (c->inner < SHORT) {
#pragma omp parallel for if (is_large)
        for (int64_t line = 0; line < outer * c->inner; line++)
            cumulate_line(c, line / c->inner * c->length * c->inner + line % c->inner);
        return;
    }
    int64_t blocks = (c->inner + AMP_WIDE_BLOCK - 1) / AMP_WIDE_BLOCK;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < outer * blocks; i++) {
        int64_t column = i % blocks * AMP_WIDE_BLOCK, left = c->inner - column;
        cumulate_columns(c, i / blocks * c->length * c->inner + column,
                         left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK);
    }
}

static enum amp_status cumulate_run(struct amp_ctx *ctx, bool is_product)
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
                           .is_product = is_product,
                           .is_exclusive = amp_node_int(ctx->node, "exclusive", 0) != 0,
                           .is_reverse = amp_node_int(ctx->node, "reverse", 0) != 0};
    cumulate(&c, amp_shape_product(&in->shape, 0, axis));
    return AMP_OK;
}

static enum amp_status product_run(struct amp_ctx *ctx)
{
    return cumulate_run(ctx, true);
}

static enum amp_status sum_run(struct amp_ctx *ctx)
{
    return cumulate_run(ctx, false);
}

const struct amp_op amp_op_cum_prod = {.name = "CumProd",
                                       .newest = 26,
                                       .effect = AMP_COMPUTES,
                                       .native = AMP_NATIVE_ALL,
                                       .shape = amp_shape_same,
                                       .run = product_run};

const struct amp_op amp_op_cum_sum = {
    .name = "CumSum",
    .newest = 14,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "CumSum(g, b; exclusive=@exclusive, reverse=!reverse)"}),
    .shape = amp_shape_same,
    .run = sum_run};
