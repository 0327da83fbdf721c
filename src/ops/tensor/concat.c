/*
 * Concat, Split, Tile and Expand, all versions up to ONNX 18. What was an attribute in one version
 * and is an input in another is taken from where the node has it. Elements are moved, never
 * computed.
 */
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/prim.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/gather_blocks.h"

#include <stdlib.h>
#include <string.h>

/* Copies OUTER runs of COUNT elements; operands are FROM and TO with the elements from one run to
   the next. */
struct runs {
    enum amp_dtype dtype;
    int64_t outer, count;
    void *from, *to;
    int64_t from_step, to_step;
};

static void copy_runs(const struct runs *runs)
{
    struct amp_loop loop;
    size_t size = amp_dtype_bits(runs->dtype) / 8;
    const int64_t dims[] = {runs->outer, runs->count};
    amp_loop_init(&loop, 2, dims);
    amp_loop_view(&loop, runs->to, size, (int64_t[]){runs->to_step, 1});
    amp_loop_view(&loop, runs->from, size, (int64_t[]){runs->from_step, 1});
    amp_loop_run(&loop, amp_loop_copy(runs->dtype), NULL);
}

/* DATA moved on by COUNT elements of DTYPE. */
static void *step_by(void *data, int64_t count, enum amp_dtype dtype)
{
    return (char *)data + (size_t)count * amp_dtype_bits(dtype) / 8;
}

/* ---- Concat ---- */

/* The axis for tensors of RANK; before version 4 it is 1 unless given. */
static enum amp_status concat_axis(struct amp_ctx *ctx, int rank, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 1), rank, axis);
}

/* Joins the shape of input I to *OUT. */
static enum amp_status join_shape(struct amp_ctx *ctx, uint32_t i, int axis, struct amp_shape *out)
{
    const struct amp_shape *in = &ctx->in[i]->shape;
    char text[200], before[200];
    bool fits = in->rank == out->rank;
    for (int d = 0; fits && d < out->rank; d++) {
        if (d == axis)
            AMP_TRY(amp_dim_add(out->dims[d], in->dims[d], &out->dims[d], ctx->err));
        else
            fits = amp_dim_merge(out->dims[d], in->dims[d], &out->dims[d]);
    }
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "input %u: shape %s does not go with %s along axis %d", i,
                        amp_shape_text(in, text, sizeof text),
                        amp_shape_text(&ctx->in[0]->shape, before, sizeof before), axis);
}

static enum amp_status concat_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape, joined = ctx->in[0]->shape;
    bool is_known = true;
    int axis;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        is_known &= ctx->in[i]->shape.rank >= 0;
    out->rank = -1;
    if (!is_known)
        return AMP_OK;
    AMP_TRY(concat_axis(ctx, joined.rank, &axis));
    for (uint32_t i = 1; i < ctx->n_in; i++)
        AMP_TRY(join_shape(ctx, i, axis, &joined));
    *out = joined;
    return AMP_OK;
}

/* Whether blocks, or else more elements, make A's layout the one to be kept. */
static bool is_better_lead(const struct amp_tensor *a, const struct amp_tensor *b)
{
    bool has_blocks = amp_layout_strides(a->layout) == NULL;
    if (has_blocks != (amp_layout_strides(b->layout) == NULL))
        return has_blocks;
    return amp_tensor_count(a) > amp_tensor_count(b);
}

/* The input in whose layout all are joined; one has a layout. */
static const struct amp_tensor *lead_of(const struct amp_ctx *ctx)
{
    const struct amp_tensor *lead = NULL;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i]->layout != NULL && (lead == NULL || is_better_lead(ctx->in[i], lead)))
            lead = ctx->in[i];
    return lead;
}

/* Input I as it is joined: in the order of LEAD where that is known, and as it is elsewhere. */
static struct amp_tensor joined_form(const struct amp_ctx *ctx, uint32_t i,
                                     const struct amp_tensor *lead)
{
    struct amp_tensor form = *ctx->in[i];
    if (!amp_layout_like(ctx->host->dnnl->layouts, lead, &form.shape, &form.layout))
        form.layout = ctx->in[i]->layout;
    return form;
}

/* Tensors in oneDNN's layouts are joined in such a one. */
static enum amp_status concat_make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    enum { MAX_SOURCES = 16 };
    const_dnnl_memory_desc_t sources[MAX_SOURCES];
    dnnl_memory_desc_t from[MAX_SOURCES] = {NULL}, source, to;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    struct amp_tensor *out = ctx->out[0];
    const struct amp_tensor *lead = lead_of(ctx);
    int axis = 0;
    if (ctx->n_in > MAX_SOURCES)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "more than %d tensors", MAX_SOURCES);
    AMP_TRY(concat_axis(ctx, out->shape.rank, &axis));
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        struct amp_tensor form = joined_form(ctx, i, lead);
        AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[i], &from[i]));
        AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, &form, &source));
        sources[i] = source;
    }
    AMP_TRY(amp_prim_desc(
        prim, ctx->err,
        amp_form_tagged(out->dtype, out->shape.rank, out->shape.dims, dnnl_format_tag_any), &to));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_concat_primitive_desc_create(&pd, ctx->host->dnnl->engine, to,
                                                             (int)ctx->n_in, axis, sources, attr),
                           "concatenation"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    for (uint32_t i = 0; i < ctx->n_in; i++)
        AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_MULTIPLE_SRC + (int)i, i, from[i]));
    return amp_prim_bind_free(ctx, prim, DNNL_ARG_DST);
}

static enum amp_status concat_plain(struct amp_ctx *ctx)
{
    struct amp_tensor *out = ctx->out[0];
    int axis;
    AMP_TRY(concat_axis(ctx, out->shape.rank, &axis));
    int64_t block = amp_shape_product(&out->shape, axis + 1, out->shape.rank), at = 0;
    struct runs runs = {.dtype = out->dtype,
                        .outer = amp_shape_product(&out->shape, 0, axis),
                        .to_step = out->shape.dims[axis] * block};
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        runs.count = runs.from_step = ctx->in[i]->shape.dims[axis] * block;
        runs.from = ctx->in[i]->data;
        runs.to = step_by(out->data, at, out->dtype);
        copy_runs(&runs);
        at += runs.count;
    }
    return amp_move_done(ctx, 0);
}

static enum amp_status concat_run(struct amp_ctx *ctx)
{
    bool has_layout = false;
    if (ctx->n_in == 1)
        return amp_run_share(ctx);
    for (uint32_t i = 0; i < ctx->n_in; i++)
        has_layout |= ctx->in[i]->layout != NULL;
    return has_layout ? amp_prim_run_or(ctx, concat_make, concat_plain)
                      : amp_prim_run_plain(ctx, concat_plain);
}

const struct amp_op amp_op_concat = {
    .name = "Concat",
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .promotes = true,
    .has_layouts = true,
    .gradient =
        AMP_GRADIENT({.input = AMP_EACH_INPUT,
                      .term = "ahead = Ahead(x);"
                              "Slice(g, ahead, Add(ahead, Gather(Shape(x), [#axis])), [#axis])"}),
    .shape = concat_shape,
    .run = concat_run,
    .destroy = amp_prim_destroy,
};

/* ---- Split ---- */

/* The parts' sizes when they are to be equal: DIM in N parts, the last ones smaller (or empty) when
   MAY_BE_UNEVEN. */
static enum amp_status equal_sizes(struct amp_ctx *ctx, int64_t dim, bool may_be_uneven,
                                   int64_t *sizes)
{
    int64_t n = ctx->n_out; /* the schema wants one at least */
    int64_t size = dim / n + (dim % n != 0);
    if (dim % n != 0 && !may_be_uneven)
        return AMP_CTX_FAIL(ctx, "a dim of %lld cannot be split into %lld equal parts",
                            (long long)dim, (long long)n);
    for (int64_t i = 0, rest = dim; i < n; i++) {
        sizes[i] = rest < size ? rest : size;
        rest -= sizes[i];
    }
    return AMP_OK;
}

/* Input 1, which version 1 has in the data's own float type. */
static enum amp_status sizes_of_input(struct amp_ctx *ctx, int64_t *sizes, int *count)
{
    const struct amp_tensor *in = ctx->in[1];
    *count = -1;
    if (in->data == NULL || !amp_shape_is_known(&in->shape))
        return AMP_OK;
    size_t n = amp_tensor_count(in);
    if (n != ctx->n_out)
        return AMP_CTX_FAIL(ctx, "split has %zu values; there are %u outputs", n, ctx->n_out);
    for (size_t i = 0; i < n; i++)
        if (!amp_tensor_whole(in, i, &sizes[i]))
            return AMP_CTX_FAIL(ctx, "split[%zu] is no size", i);
    *count = (int)n;
    return AMP_OK;
}

static enum amp_status check_sizes(struct amp_ctx *ctx, int64_t dim, const int64_t *sizes)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < ctx->n_out; i++) {
        if (sizes[i] < 0)
            return AMP_CTX_FAIL(ctx, "split[%u] is %lld; sizes are at least 0", i,
                                (long long)sizes[i]);
        AMP_TRY(amp_dim_add(sum, sizes[i], &sum, ctx->err));
    }
    if (dim >= 0 && sum != dim)
        return AMP_CTX_FAIL(ctx, "the sizes in split sum up to %lld; the dim is %lld",
                            (long long)sum, (long long)dim);
    return AMP_OK;
}

/* The sizes of the parts of DIM, one per output; all AMP_DIM_UNKNOWN when they are not known. */
static enum amp_status split_sizes(struct amp_ctx *ctx, int64_t dim, int64_t *sizes)
{
    size_t n;
    int count = 0;
    const int64_t *listed = amp_node_ints(ctx->node, "split", &n);
    int64_t wanted = amp_node_int(ctx->node, "num_outputs", ctx->n_out);
    if (wanted != ctx->n_out)
        return AMP_CTX_FAIL(ctx, "num_outputs is %lld; there are %u outputs", (long long)wanted,
                            ctx->n_out);
    if (listed != NULL && n != ctx->n_out)
        return AMP_CTX_FAIL(ctx, "split has %zu values; there are %u outputs", n, ctx->n_out);
    if (listed != NULL)
        memcpy(sizes, listed, n * sizeof *sizes);
    else if (amp_has_in(ctx, 1))
        AMP_TRY(sizes_of_input(ctx, sizes, &count));
    if (listed != NULL || count > 0)
        return check_sizes(ctx, dim, sizes);
    if (count == 0 && dim >= 0)
        return equal_sizes(ctx, dim, amp_node_attr(ctx->node, "num_outputs") != NULL, sizes);
    for (uint32_t i = 0; i < ctx->n_out; i++)
        sizes[i] = ctx->n_out == 1 ? dim : AMP_DIM_UNKNOWN;
    return AMP_OK;
}

static enum amp_status split_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), ctx->in[0]->shape.rank, axis);
}

static enum amp_status split_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    int axis;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(split_axis(ctx, &axis));
    struct amp_buffer *buffer = amp_scratch(ctx, "a list of places", ctx->n_out, sizeof(int64_t));
    if (buffer == NULL)
        return ctx->err->status;
    int64_t *sizes = buffer->data;
    enum amp_status status = split_sizes(ctx, in->dims[axis], sizes);
    for (uint32_t i = 0; i < ctx->n_out && status == AMP_OK; i++) {
        ctx->out[i]->shape = *in;
        ctx->out[i]->shape.dims[axis] = sizes[i];
    }
    amp_buffer_unref(buffer);
    return status;
}

/* Output I, from element AT of each run on. */
static enum amp_status copy_part(struct amp_ctx *ctx, uint32_t i, const struct runs *input,
                                 int64_t at)
{
    struct runs runs = *input;
    AMP_TRY(amp_ctx_alloc(ctx, i));
    runs.from = step_by(runs.from, at, runs.dtype);
    runs.to = ctx->out[i]->data;
    copy_runs(&runs);
    return amp_move_done(ctx, i);
}

static void share_part(struct amp_ctx *ctx, uint32_t i, int64_t at)
{
    amp_tensor_share(ctx->out[i], ctx->in[0]);
    ctx->out[i]->data = step_by(ctx->in[0]->data, at, ctx->in[0]->dtype);
}

/* Parts that lie in one piece are left where they are. */
static enum amp_status split_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    int axis;
    AMP_TRY(split_axis(ctx, &axis));
    if (ctx->n_out == 1)
        return amp_run_share(ctx);
    int64_t block = amp_shape_product(&in->shape, axis + 1, in->shape.rank), at = 0;
    struct runs runs = {.dtype = in->dtype,
                        .outer = amp_shape_product(&in->shape, 0, axis),
                        .from = in->data,
                        .from_step = in->shape.dims[axis] * block};
    for (uint32_t i = 0; i < ctx->n_out; i++, at += runs.count) {
        runs.count = runs.to_step = ctx->out[i]->shape.dims[axis] * block;
        if (!amp_has_out(ctx, i))
            continue;
        if (runs.outer == 1)
            share_part(ctx, i, at);
        else
            AMP_TRY(copy_part(ctx, i, &runs, at));
    }
    return AMP_OK;
}

const struct amp_op amp_op_split = {
    .name = "Split",
    .newest = 18,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .shares_input = UINT32_MAX,
    .changes = AMP_CHANGES({18, "num_outputs is needed when no split is given"}),
    .gradient = AMP_GRADIENT({.output = AMP_EACH_OUTPUT,
                              .term = "size = Gather(Shape(g), [#axis]); ahead = Ahead(y);"
                                      "Pad(g, Concat(ahead, Sub(Gather(Shape(x), [#axis]), "
                                      "Add(ahead, size)); axis=0), 0, [#axis])"}),
    .shape = split_shape,
    .run = split_run,
};

/* ---- Tile ---- */

/* Version 1: inputs tiles and axis in the data's own type. */
static enum amp_status read_tiles(struct amp_ctx *ctx, int rank, int64_t *repeats)
{
    int64_t tiles, at;
    bool has_tiles, has_axis;
    int axis;
    AMP_TRY(amp_ctx_whole(ctx, 1, &tiles, &has_tiles));
    AMP_TRY(amp_ctx_whole(ctx, 2, &at, &has_axis));
    if (has_tiles && tiles < 0)
        return AMP_CTX_FAIL(ctx, "tiles is %lld; at least 0 is needed", (long long)tiles);
    if (!has_axis)
        return AMP_OK;
    AMP_TRY(amp_ctx_axis(ctx, at, rank, &axis));
    for (int i = 0; i < rank; i++)
        repeats[i] = i != axis ? 1 : has_tiles ? tiles : AMP_DIM_UNKNOWN;
    return AMP_OK;
}

/* How often each dim is repeated, AMP_DIM_UNKNOWN where that is not known. */
static enum amp_status read_repeats(struct amp_ctx *ctx, int rank, int64_t *repeats)
{
    int count;
    for (int i = 0; i < rank; i++)
        repeats[i] = AMP_DIM_UNKNOWN;
    if (ctx->node->since_version == 1)
        return read_tiles(ctx, rank, repeats);
    AMP_TRY(amp_ctx_ints(ctx, 1, repeats, AMP_RANK_MAX, &count));
    if (count >= 0 && count != rank)
        return AMP_CTX_FAIL(ctx, "repeats has %d values; the input has %d dims", count, rank);
    for (int i = 0; i < count; i++)
        if (repeats[i] < 0)
            return AMP_CTX_FAIL(ctx, "repeats[%d] is %lld; at least 0 is needed", i,
                                (long long)repeats[i]);
    return AMP_OK;
}

static enum amp_status tile_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t repeats[AMP_RANK_MAX];
    amp_shape_unknown(out, in->rank);
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(read_repeats(ctx, in->rank, repeats));
    for (int i = 0; i < in->rank; i++)
        AMP_TRY(amp_dim_mul(in->dims[i], repeats[i], &out->dims[i], ctx->err));
    return AMP_OK;
}

/* How often dims FIRST to LAST are repeated, those around them once; and the bytes from one element
   of each to the next. */
struct tiling {
    int first, last;
    int64_t dims[AMP_RANK_MAX], repeats[AMP_RANK_MAX];
    size_t from_steps[AMP_RANK_MAX], to_steps[AMP_RANK_MAX];
};

static void make_tiling(const struct amp_tensor *in, const struct amp_tensor *out,
                        struct tiling *tiling)
{
    size_t from = amp_dtype_bits(in->dtype) / 8, to = from;
    tiling->first = tiling->last = in->shape.rank - 1;
    for (int d = in->shape.rank - 1; d >= 0; d--) {
        tiling->dims[d] = in->shape.dims[d];
        tiling->repeats[d] = out->shape.dims[d] / in->shape.dims[d];
        tiling->from_steps[d] = from;
        tiling->to_steps[d] = to;
        if (from == to && tiling->repeats[d] != 1)
            tiling->last = d;
        if (tiling->repeats[d] != 1)
            tiling->first = d;
        from *= (size_t)in->shape.dims[d];
        to *= (size_t)out->shape.dims[d];
    }
}

/* Writes to TO what the dims from D on, FROM, are when they are repeated: first those within. */
static void tile_dims(const struct tiling *tiling, int d, const char *from, char *to)
{
    size_t size = (size_t)tiling->dims[d] * tiling->to_steps[d];
    if (d == tiling->last)
        memcpy(to, from, size);
    for (int64_t i = 0; i < tiling->dims[d] && d < tiling->last; i++)
        tile_dims(tiling, d + 1, from + (size_t)i * tiling->from_steps[d],
                  to + (size_t)i * tiling->to_steps[d]);
    amp_fill(to + size, to, size, (size_t)tiling->repeats[d] - 1);
}

static enum amp_status tile_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *out = ctx->out[0];
    struct tiling tiling;
    if (amp_tensor_count(out) == 0)
        return AMP_OK;
    if (in->shape.rank == 0) {
        memcpy(out->data, in->data, amp_tensor_size(in));
        return amp_move_done(ctx, 0);
    }
    make_tiling(in, out, &tiling);
    int d = tiling.first;
    int64_t parts = amp_shape_product(&in->shape, 0, d);
    size_t from_size = (size_t)tiling.dims[d] * tiling.from_steps[d];
    size_t to_size = (size_t)(tiling.dims[d] * tiling.repeats[d]) * tiling.to_steps[d];
#pragma omp parallel for if (parts > 1 && amp_tensor_count(out) >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < parts; i++)
        tile_dims(&tiling, d, (const char *)in->data + (size_t)i * from_size,
                  (char *)out->data + (size_t)i * to_size);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_tile = {
    .name = "Tile",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}),
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.when = "since=6", .term = "Picked(Same(positions))"}),
    .shape = tile_shape,
    .run = tile_run,
};

/* ---- Expand ---- */

static enum amp_status expand_shape(struct amp_ctx *ctx)
{
    struct amp_shape target, *out = &ctx->out[0]->shape;
    int64_t dims[AMP_RANK_MAX];
    int count;
    AMP_TRY(amp_ctx_ints(ctx, 1, dims, AMP_RANK_MAX, &count));
    amp_shape_unknown(&target, count < 0 ? amp_ctx_length(ctx, 1) : count);
    for (int i = 0; i < count; i++) {
        if (dims[i] < 0)
            return AMP_CTX_FAIL(ctx, "shape[%d] is %lld; at least 0 is needed", i,
                                (long long)dims[i]);
        target.dims[i] = dims[i];
    }
    return amp_broadcast(&ctx->in[0]->shape, &target, out, ctx->err);
}

static enum amp_status expand_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    if (amp_tensor_count(in) == amp_tensor_count(out))
        return amp_run_share(ctx);
    amp_loop_inputs(ctx, 1, amp_loop_copy(out->dtype), NULL);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_expand = {
    .name = "Expand",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}),
    .newest = 13,
    .effect = AMP_PRESERVES_VALUES,
    .integer = AMP_MOVES_INTEGERS,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "SumTo(g)"}),
    .shape = expand_shape,
    .run = expand_run,
};
