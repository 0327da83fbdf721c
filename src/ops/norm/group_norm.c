/*
 * GroupNormalization and InstanceNormalization, which is the one with a group for each channel
 * (oneDNN; plain C for float64, and where each group instead of each channel has a scale, as in
 * GroupNormalization-18). X is seen as [batch, channels, spatial].
 */
#include "ops/bound.h"
#include "ops/norm/row_norm.h"

struct view {
    int64_t batch, channels, spatial; /* -1: not known */
    int64_t groups;                   /* divides the channels where those are known */
    int64_t parameters;               /* scales and shifts: as many as channels, or as groups */
};

/* Groups: attribute num_groups; InstanceNormalization has none. */
static struct view view_of(const struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    struct view view = {
        .batch = x->dims[0], .channels = x->dims[1], .spatial = amp_shape_product(x, 2, x->rank)};
    view.groups = amp_node_int(ctx->node, "num_groups", view.channels);
    bool is_per_group = ctx->node->since_version == 18;
    view.parameters = is_per_group ? view.groups : view.channels;
    return view;
}

static enum amp_status check_parameter(struct amp_ctx *ctx, uint32_t input, int64_t count)
{
    const struct amp_shape *parameter = &ctx->in[input]->shape;
    if (parameter->rank < 0)
        return AMP_OK;
    if (parameter->rank != 1 ||
        (count >= 0 && parameter->dims[0] >= 0 && parameter->dims[0] != count))
        return amp_parameter_fail(ctx, input,
                                  ctx->node->since_version == 18
                                      ? "does not hold a value for each group of"
                                      : "does not hold a value for each channel of");
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    AMP_TRY(amp_shape_same(ctx));
    if (x->rank < 0)
        return AMP_OK;
    if (x->rank < 2)
        return AMP_CTX_FAIL(ctx, "X has rank %d; 2 or more are needed", x->rank);
    struct view view = view_of(ctx);
    if (view.channels >= 0 && (view.groups < 0 || (view.groups == 0 && view.channels > 0) ||
                               (view.groups > 0 && view.channels % view.groups != 0)))
        return AMP_CTX_FAIL(ctx, "%lld groups; %lld channels do not divide into them",
                            (long long)view.groups, (long long)view.channels);
    AMP_TRY(check_parameter(ctx, 1, view.parameters));
    return check_parameter(ctx, 2, view.parameters);
}

static enum amp_status run_plain(struct amp_ctx *ctx)
{
    struct view view = view_of(ctx);
    int64_t inner = view.channels / view.groups * view.spatial;
    struct amp_rows rows = {.x = ctx->in[0]->data,
                            .y = ctx->out[0]->data,
                            .count = view.batch * view.groups,
                            .n = inner,
                            .epsilon = (double)amp_epsilon(ctx)};
    AMP_TRY(amp_rows_run(ctx, AMP_ROWS_STANDARDIZE, &rows));
    int64_t each = view.channels * view.spatial / view.parameters;
    struct amp_shape y = {3, {view.batch, view.parameters, each}};
    struct amp_shape parameters = {2, {view.parameters, 1}};
    return amp_scale_shift(ctx, &y, &parameters);
}

/* Always computed in float32, to and from which other dtypes are reordered: what oneDNN has for
   them in this layout is over a hundred times slower, and no more exact. */
static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct view view = view_of(ctx);
    const int64_t dims[] = {view.batch, view.channels, view.spatial};
    dnnl_memory_desc_t x, wide;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(ctx->in[0]->dtype, 3, dims), &x));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_row_major(AMP_FLOAT, 3, dims), &wide));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(
        amp_dnnl_check(ctx->err,
                       dnnl_group_normalization_forward_primitive_desc_create(
                           &pd, ctx->host->dnnl->engine, dnnl_forward_inference, wide, wide,
                           view.groups, amp_epsilon(ctx), dnnl_use_scale | dnnl_use_shift, attr),
                       "group normalization"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, x));
    AMP_TRY(amp_prim_bind_scale_shift(ctx, prim, view.channels));
    return amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, x);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct view view = view_of(ctx);
    if (amp_tensor_count(ctx->in[0]) == 0)
        return AMP_OK;
    return amp_prim_run_or(ctx, view.parameters == view.channels ? make : NULL, run_plain);
}

/* Over all that input 0 has of one sample, or less. */
static bool bound_norm(const struct amp_bound_call *call, struct amp_interval *out)
{
    const struct amp_value *x = amp_value_at(call->model, call->node->inputs[0]);
    int64_t count = x->rank > 1 ? 1 : 0;
    for (int d = 1; d < x->rank; d++)
        if (x->dims[d] <= 0 || __builtin_mul_overflow(count, x->dims[d], &count))
            count = 0;
    return amp_bound_normalized(call, count, 1, 2, out);
}

/* What derivatives begin with. */
#define GROUPS "of = Reshape(a, [0, #num_groups, -1]); along = [2];"
#define INSTANCES "of = a; along = [a:2];"
const struct amp_op amp_op_group_normalization = {
    .name = "GroupNormalization",
    .newest = 21,
    .effect = AMP_COMPUTES,
    .bound = bound_norm,
    .inner = amp_inner_deviation,
    .native = AMP_NATIVE_DNNL,
    .changes = AMP_CHANGES({21, "scale and bias are per channel, no longer per group"}),
    .gradient = AMP_GRADIENT(
        {.when = "since=21",
         .term = GROUPS "Reshape(Normalized(Reshape(Mul(g, Channel(b)), Shape(of))), Shape(a))"},
        {.input = 1,
         .when = "since=21",
         .term = GROUPS "Channels(Mul(g, Reshape(normal, Shape(a))))"},
        {.input = 2, .when = "since=21", .term = "Channels(g)"}),
    .shape = shape,
    .run = run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_instance_normalization = {
    .name = "InstanceNormalization",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = bound_norm,
    .inner = amp_inner_deviation,
    .native = AMP_NATIVE_DNNL,
    .gradient = AMP_GRADIENT({.term = INSTANCES "Normalized(Mul(g, Channel(b)))"},
                             {.input = 1, .term = INSTANCES "Channels(Mul(g, normal))"},
                             {.input = 2, .term = "Channels(g)"}),
    .shape = shape,
    .run = run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};
