/*
 * Pooling (ONNX MaxPool, AveragePool, LpPool and their Global forms): X [N, C, D...] gives
 * [N, C, steps...], every plane by itself. oneDNN does maxima and averages of up to three spatial
 * dims; indices, norms, other shapes and dtypes run in C (pool_plane.c).
 */
#include "ops/bound.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/kernel.h"
#include "ops/conv/pool_plane.h"

#include <string.h>

static enum amp_status pool_read(const struct amp_ctx *ctx, struct amp_pool *pool)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    *pool = (struct amp_pool){.p = 0};
    AMP_TRY(amp_window_read(ctx, x->rank - 2, NULL, &pool->window));
    return amp_window_slide(ctx, x->dims + 2, &pool->window);
}

/* The window that covers the image once. */
static enum amp_status global_read(const struct amp_ctx *ctx, struct amp_pool *pool)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    *pool = (struct amp_pool){.window.n = x->rank - 2};
    for (int d = 0; d < pool->window.n; d++) {
        if (x->dims[2 + d] == 0)
            return AMP_CTX_FAIL(ctx, "spatial dim %d is 0; there is nothing to pool", d);
        pool->window.image[d] = pool->window.kernel[d] = x->dims[2 + d];
        pool->window.steps[d] = pool->window.stride[d] = pool->window.dilation[d] = 1;
    }
    return AMP_OK;
}

static enum amp_status pool_shape(struct amp_ctx *ctx)
{
    struct amp_shape out = {.rank = -1};
    struct amp_pool pool;
    int n;
    AMP_TRY(amp_window_rank(ctx, 0, 1, &n));
    if (n >= 0) {
        AMP_TRY(pool_read(ctx, &pool));
        out = ctx->in[0]->shape;
        memcpy(out.dims + 2, pool.window.steps, (size_t)n * sizeof *out.dims);
    }
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape = out;
    return AMP_OK;
}

static enum amp_status global_shape(struct amp_ctx *ctx)
{
    int n;
    AMP_TRY(amp_window_rank(ctx, 0, 0, &n));
    ctx->out[0]->shape = ctx->in[0]->shape;
    for (int d = 0; d < n; d++)
        ctx->out[0]->shape.dims[2 + d] = 1;
    return AMP_OK;
}

/* Row-major places in the image to column-major ones (MaxPool's storage_order 1). */
static void transpose_index(const struct amp_window *window, int64_t *index, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t at[AMP_SPATIAL_MAX], stride = 1, place = 0;
        if (index[i] < 0)
            continue;
        amp_index_at(window->n, window->image, index[i], at);
        for (int d = 0; d < window->n; d++) {
            place += at[d] * stride;
            stride *= window->image[d];
        }
        index[i] = place;
    }
}

/* Makes the places within plane PLANE such in the whole tensor. */
static void finish_index(const struct amp_ctx *ctx, const struct amp_window *window, int64_t plane,
                         int64_t *index)
{
    int64_t steps = amp_window_product(window->n, window->steps);
    int64_t base = plane * amp_window_product(window->n, window->image);
    if (amp_node_int(ctx->node, "storage_order", 0) != 0)
        transpose_index(window, index, steps);
    for (int64_t i = 0; i < steps; i++)
        if (index[i] >= 0)
            index[i] += base;
}

static enum amp_status run_planes(struct amp_ctx *ctx, const struct amp_pool *pool,
                                  amp_plane_fn *const *kernels)
{
    amp_plane_fn *kernel;
    AMP_PICK(ctx, kernel, kernels, ctx->in[0]->dtype);
    const struct amp_window *window = &pool->window;
    int64_t size = amp_dtype_bits(ctx->in[0]->dtype) / 8;
    int64_t image = amp_window_product(window->n, window->image);
    int64_t steps = amp_window_product(window->n, window->steps);
    int64_t *indices = amp_has_out(ctx, 1) ? ctx->out[1]->data : NULL;
#pragma omp parallel for
    for (int64_t i = 0; i < amp_shape_product(&ctx->in[0]->shape, 0, 2); i++) {
        int64_t *index = indices ? indices + i * steps : NULL;
        kernel(pool, (const char *)ctx->in[0]->data + i * image * size,
               (char *)ctx->out[0]->data + i * steps * size, index);
        if (index != NULL)
            finish_index(ctx, window, i, index);
    }
    return AMP_OK;
}

/* What the primitive of a pooling is made of. */
struct pooling {
    const struct amp_window *window;
    dnnl_alg_kind_t alg;
    int64_t dilation[AMP_SPATIAL_MAX], behind[AMP_SPATIAL_MAX];
    dnnl_memory_desc_t dst;
    dnnl_primitive_attr_t attr;
};

static enum amp_status create(struct amp_ctx *ctx, const struct pooling *pooling,
                              dnnl_memory_desc_t src, dnnl_primitive_desc_t *pd)
{
    const struct amp_window *window = pooling->window;
    return amp_dnnl_check(ctx->err,
                          dnnl_pooling_forward_primitive_desc_create(
                              pd, ctx->host->dnnl->engine, dnnl_forward_inference, pooling->alg,
                              src, pooling->dst, window->stride, window->kernel, pooling->dilation,
                              window->pad_begin, pooling->behind, pooling->attr),
                          "pooling");
}

/* Makes *PD anew for channels last where it is for planes, which oneDNN goes through element by
   element: kernels for channels are faster by more than it takes to move the input. */
static enum amp_status choose_channels(struct amp_ctx *ctx, struct amp_prim *prim,
                                       const struct pooling *pooling, dnnl_primitive_desc_t *pd)
{
    static const dnnl_format_tag_t tags[] = {[1] = dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
    const struct amp_tensor *x = ctx->in[0];
    dnnl_memory_desc_t src;
    if (strncmp(amp_describe_implementation(*pd), "simple", 6) != 0)
        return AMP_OK;
    dnnl_primitive_desc_destroy(*pd);
    AMP_TRY(amp_prim_desc(
        prim, ctx->err,
        amp_form_tagged(x->dtype, x->shape.rank, x->shape.dims, tags[pooling->window->n]), &src));
    return create(ctx, pooling, src, pd);
}

/* The oneDNN primitive; ALG is one of its pooling algorithms. */
static enum amp_status make_prim(struct amp_ctx *ctx, struct amp_prim *prim,
                                 const struct amp_window *window, dnnl_alg_kind_t alg)
{
    struct pooling pooling = {.window = window, .alg = alg};
    dnnl_memory_desc_t src;
    dnnl_primitive_desc_t pd;
    for (int d = 0; d < window->n; d++) {
        pooling.dilation[d] = window->dilation[d] - 1;
        pooling.behind[d] = amp_window_reach(window, d);
    }
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &src));
    AMP_TRY(amp_prim_desc(prim, ctx->err,
                          amp_form_tagged(ctx->out[0]->dtype, ctx->out[0]->shape.rank,
                                          ctx->out[0]->shape.dims, dnnl_format_tag_any),
                          &pooling.dst));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &pooling.attr));
    AMP_TRY(create(ctx, &pooling, src, &pd));
    AMP_TRY(choose_channels(ctx, prim, &pooling, &pd));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, src));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST);
}

static bool is_empty(const struct amp_ctx *ctx)
{
    return amp_shape_count(&ctx->out[0]->shape) == 0;
}

static enum amp_status max_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct amp_pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_max);
}

static enum amp_status max_plain(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    return run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_MAX, pool.p));
}

static enum amp_status max_run(struct amp_ctx *ctx)
{
    if (is_empty(ctx))
        return amp_ctx_alloc(ctx, 0);
    return amp_prim_run_or(ctx, amp_has_out(ctx, 1) ? NULL : max_make, max_plain);
}

/* Taps of step S in dim D before element END of the image, from element BEGIN on. */
static int64_t count_taps(const struct amp_window *window, int d, int64_t s, int64_t begin,
                          int64_t end)
{
    int64_t dilation = window->dilation[d];
    int64_t first = s * window->stride[d] - window->pad_begin[d];
    int64_t from = first < begin ? (begin - first + dilation - 1) / dilation : 0;
    int64_t to = first < end ? (end - first + dilation - 1) / dilation : 0;
    if (to > window->kernel[d])
        to = window->kernel[d];
    return to > from ? to - from : 0;
}

static bool counts_pads(const struct amp_ctx *ctx)
{
    return amp_node_int(ctx->node, "count_include_pad", 0) != 0;
}

/* How many taps an average counts at each step: those inside the image, or inside its padding as
   the model gives it. Nothing to count gives 0 / 1. */
static void fill_divisors(const struct amp_window *window, bool with_pads, double *divisors)
{
    int64_t step[AMP_SPATIAL_MAX] = {0};
    do {
        double taps = 1;
        for (int d = 0; d < window->n; d++) {
            int64_t begin = with_pads ? -window->pad_begin[d] : 0;
            int64_t end = window->image[d] + (with_pads ? window->pad_end[d] : 0);
            taps *= (double)count_taps(window, d, step[d], begin, end);
        }
        *divisors++ = taps > 0 ? taps : 1;
    } while (amp_index_next(window->n, window->steps, step));
}

static enum amp_status average_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct amp_pool pool;
    bool with_pads = counts_pads(ctx);
    AMP_TRY(pool_read(ctx, &pool));
    for (int d = 0; d < pool.window.n && with_pads; d++)
        if (amp_window_reach(&pool.window, d) > pool.window.pad_end[d])
            return amp_fail(ctx->err, AMP_UNSUPPORTED,
                            "oneDNN counts what ceil_mode adds as padding");
    return make_prim(ctx, prim, &pool.window,
                     with_pads ? dnnl_pooling_avg_include_padding
                               : dnnl_pooling_avg_exclude_padding);
}

static enum amp_status average_plain(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    struct amp_tensor divisors = {
        .dtype = AMP_DOUBLE,
        .shape = {.rank = 1, .dims = {amp_window_product(pool.window.n, pool.window.steps)}}};
    AMP_TRY(amp_tensor_alloc(&divisors, ctx->err));
    fill_divisors(&pool.window, counts_pads(ctx), divisors.data);
    pool.divisors = divisors.data;
    enum amp_status status = run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_AVERAGE, pool.p));
    amp_tensor_release(&divisors);
    return status;
}

static enum amp_status average_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, average_make, average_plain);
}

/* Attribute p: an integer since version 2, a float before. */
static enum amp_status read_p(const struct amp_ctx *ctx, double *p)
{
    *p = ctx->node->since_version < 2 ? (double)amp_node_float(ctx->node, "p", 2)
                                      : (double)amp_node_int(ctx->node, "p", 2);
    if (!(*p > 0))
        return AMP_CTX_FAIL(ctx, "attribute 'p' is %g; it must be positive", *p);
    return AMP_OK;
}

static enum amp_status norm_run(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(pool_read(ctx, &pool));
    AMP_TRY(read_p(ctx, &pool.p));
    return is_empty(ctx) ? AMP_OK : run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_NORM, pool.p));
}

static enum amp_status global_max_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct amp_pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_max);
}

static enum amp_status global_max_plain(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_GLOBAL_MAX, pool.p));
}

static enum amp_status global_max_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, global_max_make, global_max_plain);
}

static enum amp_status global_average_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    struct amp_pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return make_prim(ctx, prim, &pool.window, dnnl_pooling_avg_exclude_padding);
}

static enum amp_status global_average_plain(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(global_read(ctx, &pool));
    return run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_GLOBAL_AVERAGE, pool.p));
}

static enum amp_status global_average_run(struct amp_ctx *ctx)
{
    return is_empty(ctx) ? amp_ctx_alloc(ctx, 0)
                         : amp_prim_run_or(ctx, global_average_make, global_average_plain);
}

static enum amp_status global_norm_run(struct amp_ctx *ctx)
{
    struct amp_pool pool;
    AMP_TRY(global_read(ctx, &pool));
    AMP_TRY(read_p(ctx, &pool.p));
    return is_empty(ctx) ? AMP_OK
                         : run_planes(ctx, &pool, amp_pool_planes(AMP_POOL_GLOBAL_NORM, pool.p));
}

/* Averages of elements and of padding; of all elements. */
static bool bound_average(const struct amp_bound_call *call, struct amp_interval *out)
{
    amp_bound_padded(call, out);
    *out = amp_interval_widen(*out, 0x1p-10);
    return true;
}

/* What derivatives begin with. */
#define WINDOWS "image = a; steps = y; kernel = [*kernel_shape=1];"
const struct amp_op amp_op_average_pool = {
    .name = "AveragePool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = bound_average,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .gradient = AMP_GRADIENT(
        {.when = "count_include_pad=0",
         .term = WINDOWS "Spread(Div(g, Counted(Covered(Expand(1, Concat([1, 1], Shape(a; "
                         "start=2); axis=0))))))"},
        {.when = "auto_pad=NOTSET",
         .term = WINDOWS "all = Add(Shape(a; start=2), Add([<pads=0], [>pads=0]));"
                         "Spread(Div(g, Counted(Pad(Expand(1, Concat([1, 1], all; axis=0)), "
                         "Concat([0, 0, a:2=0, 0, 0], Sub(span, all); axis=0), 0))))"},
        {.term = WINDOWS "Spread(Div(g, CastLike(ReduceProd(kernel; keepdims=0), g)))"}),
    .shape = pool_shape,
    .run = average_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_global_average_pool = {
    .name = "GlobalAveragePool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .bound = bound_average,
    .inner = amp_inner_sum,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .gradient = AMP_GRADIENT({.term = "Div(Expand(g, Shape(x)), count)"}),
    .shape = global_shape,
    .run = global_average_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_global_lp_pool = {
    .name = "GlobalLpPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .inner = amp_inner_square,
    .native = AMP_NATIVE_C,
    .gradient = AMP_GRADIENT(
        {.term = "p1 = CastLike(Sub(#p, 1L), g);"
                 "Mul(Mul(Sign(x), Pow(Abs(x), p1)), Where(Equal(y, 0), 0, Div(g, Pow(y, p1))))"}),
    .shape = global_shape,
    .run = global_norm_run,
};

const struct amp_op amp_op_global_max_pool = {
    .name = "GlobalMaxPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .picks = true,
    .integer = AMP_MOVES_INTEGERS,
    .bound = amp_bound_same,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .gradient = AMP_GRADIENT(
        {.term = "hits = Where(Equal(x, y), 1, 0); Mul(g, Div(hits, ReduceSum(hits, [a:2])))"}),
    .shape = global_shape,
    .run = global_max_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};

const struct amp_op amp_op_lp_pool = {
    .name = "LpPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .inner = amp_inner_square,
    .native = AMP_NATIVE_C,
    .gradient =
        AMP_GRADIENT({.term = WINDOWS "p1 = CastLike(Sub(#p, 1L), g);"
                                      "Mul(Mul(Sign(x), Pow(Abs(x), p1)), Spread(Where(Equal(y, "
                                      "0), 0, Div(g, Pow(y, p1)))))"}),
    .shape = pool_shape,
    .run = norm_run,
};

const struct amp_op amp_op_max_pool = {
    .name = "MaxPool",
    .newest = 22,
    .effect = AMP_COMPUTES,
    .picks = true,
    .integer = AMP_MOVES_INTEGERS,
    .bound = amp_bound_same,
    .native = AMP_NATIVE_DNNL,
    .has_layouts = true,
    .gradient = AMP_GRADIENT({.when = "since=8 storage_order=0", .term = "Picked(Same.1(a))"}),
    .shape = pool_shape,
    .run = max_run,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
};
