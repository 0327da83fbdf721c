/*
 * Cast and CastLike (all versions up to ONNX 25) and BitCast-26. Tensors are converted by
 * ops/kernel/tensor_cast.h; this file reads attributes and checks dtypes.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/tensor_cast.h"

/* What to cast to, type inference took from attribute `to` or from input 1. For floats out of the
   range of int4 and the like the standard has no rule: its test data saturate up to version 23, and
   wrap since 24. */
static enum amp_status run_cast(struct amp_ctx *ctx)
{
    static const char *const modes[] = {
        [AMP_ROUND_UP] = "up", [AMP_ROUND_DOWN] = "down", [AMP_ROUND_NEAREST] = "nearest", NULL};
    int mode = AMP_ROUND_UP;
    AMP_TRY(amp_ctx_choice(ctx, "round_mode", modes, &mode));
    const struct amp_cast_options options = {.saturate =
                                                 amp_node_int(ctx->node, "saturate", 1) != 0,
                                             .wraps = ctx->node->since_version >= 24,
                                             .rounding = (enum amp_rounding)mode};
    return amp_tensor_cast(ctx->in[0], ctx->out[0], &options, ctx->err);
}

#define CAST(NAME, lower, ...)                                      \
    const struct amp_op amp_op_##lower = {.name = NAME,             \
                                          .newest = 25,             \
                                          .effect = AMP_COMPUTES,   \
                                          .native = AMP_NATIVE_ALL, \
                                          .shape = amp_shape_same,  \
                                          .run = run_cast,          \
                                          .bound = amp_bound_same,  \
                                          __VA_ARGS__};
CAST("Cast", cast, .is_map = true,
     .dtype_attr = &(const struct amp_dtype_attr){.name = "to", .outputs = AMP_INPUT(0)},
     .role = AMP_ROLE_CAST, .gradient = AMP_GRADIENT({.term = "CastLike(g, x)"}),
     .post_op = &(const struct amp_post_op){.kind = AMP_POST_CAST})
CAST("CastLike", cast_like, .role = AMP_ROLE_CAST_LIKE,
     .gradient = AMP_GRADIENT({.term = "CastLike(g, x)"},
                              {.input = 1, .term = "Expand(0, Shape(x))"}))

/* BitCast: the shape stays, and so must the number of bits of an element. */
static enum amp_status shape_bit_cast(struct amp_ctx *ctx)
{
    enum amp_dtype from = ctx->in[0]->dtype, to = ctx->out[0]->dtype;
    if (from != AMP_UNDEFINED && amp_dtype_bits(from) != amp_dtype_bits(to))
        return AMP_CTX_FAIL(ctx, "the bits of %s are not those of %s", amp_dtype_name(from),
                            amp_dtype_name(to));
    return amp_shape_same(ctx);
}

/* Opaque: it shows what a value looks like in its dtype. */
const struct amp_op amp_op_bit_cast = {
    .name = "BitCast",
    .newest = 26,
    .effect = AMP_OPAQUE,
    .native = AMP_NATIVE_ALL,
    .shares_input = true,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "to", .outputs = AMP_INPUT(0)},
    .shape = shape_bit_cast,
    .run = amp_run_share};
