/*
 * ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare,
 * ReduceLogSum and ReduceLogSumExp. Each is a map of the elements, a combination over the reduced
 * axes and a finish of the result, all three on wide blocks (ops/kernel/block.h): float results are
 * rounded once, at the end. Adjacent axes that are all kept or all reduced are merged first, so
 * that a reduction over the last axes combines the elements of rows and one over leading axes
 * combines rows.
 */
#include "ops/bound.h"
#include "ops/dnnl/layout.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/vector_math.h"
#include "ops/kernel/block.h"

#include <omp.h>

/* What one operator does. */
struct reduction {
    enum amp_combination combination;
    bool is_float;       /* computes in double whatever the dtype is */
    bool is_exponential; /* shifts by the maximum, so that no exponential overflows */
    void (*map)(enum amp_wide_kind kind, union amp_wide *x, int64_t n); /* NULL: none */
    void (*finish)(enum amp_wide_kind kind, union amp_wide *x, int64_t n, int64_t count); /* same */
};

/* ---- blocks ---- */

/* The largest or smallest value of DTYPE, of which KIND is the wide form. */
static union amp_wide extreme(enum amp_dtype dtype, enum amp_wide_kind kind, bool is_largest)
{
    unsigned bits = amp_dtype_bits(dtype);
    union amp_wide value = {.u = 0};
    if (kind == AMP_WIDE_FLOAT)
        value.f = is_largest ? INFINITY : -INFINITY;
    else if (kind == AMP_WIDE_INT)
        value.i = is_largest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
    else if (is_largest)
        value.u = dtype == AMP_BOOL ? 1 : UINT64_MAX >> (64 - bits);
    return value;
}

/* The result of COMBINATION over nothing. */
static union amp_wide identity(enum amp_combination combination, enum amp_dtype dtype,
                               enum amp_wide_kind kind)
{
    union amp_wide one = {.u = 1}, zero = {.u = 0};
    if (kind == AMP_WIDE_FLOAT)
        one.f = 1;
    if (combination == AMP_SUM || combination == AMP_PRODUCT)
        return combination == AMP_SUM ? zero : one;
    return extreme(dtype, kind, combination == AMP_SMALLEST);
}

static void map_abs(enum amp_wide_kind kind, union amp_wide *x, int64_t n)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_FLOAT; i++)
        x[i].f = fabs(x[i].f);
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        x[i].u = x[i].i < 0 ? 0 - x[i].u : x[i].u;
}

static void map_square(enum amp_wide_kind kind, union amp_wide *x, int64_t n)
{
    amp_wide_combine(AMP_PRODUCT, kind, x, x, n);
}

static void finish_mean(enum amp_wide_kind kind, union amp_wide *x, int64_t n, int64_t count)
{
    for (int64_t i = 0; i < n && kind == AMP_WIDE_FLOAT; i++)
        x[i].f /= (double)count;
    if (count == 0)
        return;
    for (int64_t i = 0; i < n && kind == AMP_WIDE_INT; i++)
        x[i].i /= count;
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        x[i].u /= (uint64_t)count;
}

static void finish_sqrt(enum amp_wide_kind kind, union amp_wide *x, int64_t n, int64_t count)
{
    (void)kind, (void)count;
    for (int64_t i = 0; i < n; i++)
        x[i].f = sqrt(x[i].f);
}

static void finish_log(enum amp_wide_kind kind, union amp_wide *x, int64_t n, int64_t count)
{
    (void)kind, (void)count;
    for (int64_t i = 0; i < n; i++)
        x[i].f = log(x[i].f);
}

/* ---- what is reduced how ---- */

/* Axes, the innermost first. */
struct axes {
    int n;
    int64_t dims[AMP_RANK_MAX], strides[AMP_RANK_MAX];
    int64_t count; /* product of dims */
};

/*
 * Blocks of elements are taken along one run of merged axes, `width` elements that lie `stride`
 * apart. When the run is kept (is_columns), it is one of outputs, and so many elements are combined
 * at a time; when it is reduced, its elements are combined with each other. Where such outputs are
 * few and rows of them adjacent, `group` rows are taken as one, whose parts are combined at the
 * end.
 */
struct plan {
    const struct reduction *reduction;
    enum amp_dtype dtype;
    enum amp_wide_kind kind; /* of the computation */
    void *in;                /* only read */
    void *out;
    struct axes kept, reduced; /* the others */
    bool is_columns;
    int64_t width, stride;
    int64_t group; /* 1: rows alone */
    int64_t count; /* elements combined for each output */
};

/* Adjacent axes that are all kept or all reduced. */
struct run {
    bool is_reduced;
    int64_t dim, stride;
};

static void axes_add(struct axes *axes, int64_t dim, int64_t stride)
{
    axes->dims[axes->n] = dim;
    axes->strides[axes->n++] = stride;
    axes->count *= dim;
}

static int64_t axes_offset(const struct axes *axes, int64_t flat)
{
    int64_t offset = 0;
    for (int i = 0; i < axes->n; i++) {
        offset += flat % axes->dims[i] * axes->strides[i];
        flat /= axes->dims[i];
    }
    return offset;
}

/* Merges the axes of SHAPE to RUNS, the innermost first; at least one. */
static int merge_axes(const struct amp_shape *shape, const bool *is_reduced, struct run *runs)
{
    int n = 0;
    int64_t stride = 1;
    runs[0] = (struct run){false, 1, 1};
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (shape->dims[i] == 1)
            continue;
        if (n > 0 && runs[n - 1].is_reduced == is_reduced[i])
            runs[n - 1].dim *= shape->dims[i];
        else
            runs[n++] = (struct run){is_reduced[i], shape->dims[i], stride};
        stride *= shape->dims[i];
    }
    return n > 0 ? n : 1;
}

/* How many rows of the N RUNS' innermost are taken as one. */
static int64_t group_of(const struct plan *plan, const struct run *runs, int n)
{
    int64_t most =
        n > 1 && !runs[0].is_reduced && runs[0].dim > 0 && !plan->reduction->is_exponential
            ? AMP_WIDE_BLOCK / runs[0].dim
            : 1;
    if (n > 1 && most > runs[1].dim)
        most = runs[1].dim;
    return most > 1 ? most : 1;
}

static void plan_axes(struct plan *plan, const struct amp_shape *shape, const bool *is_reduced)
{
    enum { SHORT = 32 }; /* below, loops along the next run pay although its elements lie apart */
    struct run runs[AMP_RANK_MAX];
    int n = merge_axes(shape, is_reduced, runs);
    plan->group = group_of(plan, runs, n);
    int chosen = n > 1 && plan->group == 1 && runs[0].dim < SHORT && runs[1].dim > runs[0].dim;
    plan->kept.count = plan->reduced.count = 1;
    for (int i = 0; i < n; i++)
        if (i != chosen)
            axes_add(runs[i].is_reduced ? &plan->reduced : &plan->kept, runs[i].dim,
                     runs[i].stride);
    if (plan->reduced.n == 0)
        axes_add(&plan->reduced, 1, 1);
    plan->is_columns = !runs[chosen].is_reduced;
    plan->width = runs[chosen].dim;
    plan->stride = runs[chosen].stride;
    plan->count = plan->reduced.count * (plan->is_columns ? 1 : plan->width);
}

/* Of elements that are combined with each other. */
static int64_t blocks_per_run(const struct plan *plan)
{
    return (plan->width + AMP_WIDE_BLOCK - 1) / AMP_WIDE_BLOCK;
}

enum { PARTS = 16 }; /* of one output's elements */

/* Whether threads share the elements of each output, or of a row of them, rather than the outputs.
 */
static bool is_split(const struct plan *plan)
{
    int64_t blocks = plan->reduced.count * (plan->is_columns ? 1 : blocks_per_run(plan));
    int64_t elements = plan->count * (plan->is_columns ? plan->width : 1);
    return (!plan->is_columns || plan->width <= AMP_WIDE_BLOCK) && plan->kept.count < PARTS &&
           elements >= PARTS * AMP_PARALLEL_MIN / 4 && blocks >= PARTS;
}

/* ---- running ---- */

/* The exponentials of N elements X above SHIFT, which steps by 0 or 1. */
AMP_CLONES(void, map_exp,
           (union amp_wide * x, int64_t n, const union amp_wide *shift, int64_t step),
           (x, n, shift, step))
{
    if (step == 0)
        AMP_SIMD for (int64_t i = 0; i < n; i++) x[i].f = exp(x[i].f - shift[0].f);
    else
        AMP_SIMD for (int64_t i = 0; i < n; i++) x[i].f = exp(x[i].f - shift[i].f);
}

/* One way over the elements. */
struct pass {
    const struct plan *plan;
    enum amp_combination how;
    const union amp_wide *shift; /* per output: the exponential of what elements are above it is
                                    combined; NULL: elements as the map gives them */
};

/* N elements of a run, of columns or to be combined, from index FIRST on. */
static struct amp_stretch run_at(const struct plan *plan, int64_t first, int64_t n)
{
    return (struct amp_stretch){plan->dtype, plan->in, first, plan->stride, n};
}

/* Loads N elements of a run from index FIRST on, mapped, for one output or for N of them. */
static void load(const struct pass *pass, int64_t first, int64_t n, union amp_wide *x)
{
    const struct plan *plan = pass->plan;
    amp_wide_load(run_at(plan, first, n), x);
    if (plan->reduction->is_float)
        amp_wide_to_float(amp_wide_kind_of(plan->dtype), x, n);
    if (plan->reduction->map != NULL)
        plan->reduction->map(plan->kind, x, n);
    if (pass->shift != NULL)
        map_exp(x, n, pass->shift, plan->is_columns);
}

/* Combines ACC[0 .. n) of PASS into ACC[0], halving it each time. */
static void fold(const struct pass *pass, union amp_wide *acc, int64_t n)
{
    while (n > 1) {
        int64_t half = (n + 1) / 2;
        amp_wide_combine(pass->how, pass->plan->kind, acc, acc + half, n - half);
        n = half;
    }
}

/* Whether the elements of runs are combined as they are, with no wide form of each. */
static bool is_direct(const struct pass *pass)
{
    const struct plan *plan = pass->plan;
    return plan->reduction->map == NULL && pass->shift == NULL &&
           amp_wide_can_combine_each(pass->how, run_at(plan, 0, plan->width));
}

/* Combines N elements of a run from index FIRST on with those of ACC: all with the first, or each
   of a block with its own. */
static void combine_run(const struct pass *pass, int64_t first, int64_t n, union amp_wide *acc)
{
    const struct plan *plan = pass->plan;
    union amp_wide x[AMP_WIDE_BLOCK];
    if (is_direct(pass)) {
        amp_wide_combine_each(pass->how, run_at(plan, first, n), 0, 1, acc);
        return;
    }
    for (int64_t i = 0; i < n; i += AMP_WIDE_BLOCK) {
        int64_t size = n - i < AMP_WIDE_BLOCK ? n - i : AMP_WIDE_BLOCK;
        load(pass, first + i * plan->stride, size, x);
        amp_wide_combine(pass->how, plan->kind, acc, x, size);
    }
}

/* A part of one output's elements: blocks BEGIN to END-1 of those from index BASE on, combined to
 *RESULT. */
static void reduce_part(const struct pass *pass, int64_t base, int64_t begin, int64_t end,
                        union amp_wide *result)
{
    const struct plan *plan = pass->plan;
    union amp_wide acc[AMP_WIDE_BLOCK];
    int64_t most = is_direct(pass) ? 1 : AMP_WIDE_BLOCK, blocks = blocks_per_run(plan);
    int64_t used = plan->width < most ? plan->width : most;
    for (int64_t i = 0; i < used; i++)
        acc[i] = *result;
    for (int64_t k = begin, stop; k < end; k = stop) { /* a run, or what the part has of it */
        int64_t run = k / blocks, first = base + axes_offset(&plan->reduced, run);
        stop = (run + 1) * blocks < end ? (run + 1) * blocks : end;
        int64_t from = (k - run * blocks) * AMP_WIDE_BLOCK;
        int64_t to = (stop - run * blocks) * AMP_WIDE_BLOCK;
        combine_run(pass, first + from * plan->stride, (to < plan->width ? to : plan->width) - from,
                    acc);
    }
    fold(pass, acc, used);
    if (used > 0)
        *result = acc[0];
}

/* One output: all its elements, from index BASE on, combined to *RESULT. Where outputs are too few
   for threads to have some each, they share the elements, in parts that no number of threads
   changes. */
static void reduce_row(const struct pass *pass, int64_t base, union amp_wide *result)
{
    const struct plan *plan = pass->plan;
    union amp_wide parts[PARTS];
    int64_t blocks = plan->reduced.count * blocks_per_run(plan);
    if (!is_split(plan)) {
        reduce_part(pass, base, 0, blocks, result);
        return;
    }
    for (int64_t i = 0; i < PARTS; i++)
        parts[i] = *result;
#pragma omp parallel for
    for (int64_t i = 0; i < PARTS; i++)
        reduce_part(pass, base, blocks * i / PARTS, blocks * (i + 1) / PARTS, &parts[i]);
    fold(pass, parts, PARTS);
    *result = parts[0];
}

/* N adjacent columns, whose first elements begin at index BASE, of rows BEGIN to END-1 of those
   that are reduced. */
struct columns {
    int64_t base, n, begin, end;
};

/* Combines a row of N elements from index FIRST on, mapped, with those of ACC. */
static void combine_mapped(const struct pass *pass, int64_t first, int64_t n, union amp_wide *acc)
{
    struct pass part = *pass;
    union amp_wide x[AMP_WIDE_BLOCK];
    for (int64_t i = 0; i < n; i += AMP_WIDE_BLOCK) {
        int64_t size = n - i < AMP_WIDE_BLOCK ? n - i : AMP_WIDE_BLOCK;
        if (pass->shift != NULL)
            part.shift = pass->shift + i;
        load(&part, first + i * pass->plan->stride, size, x);
        amp_wide_combine(pass->how, pass->plan->kind, acc + i, x, size);
    }
}

/* Combines COUNT rows, groups of rows if there are such, of N elements, the first from index FIRST
   on, with those of ACC. */
static void combine_rows(const struct pass *pass, int64_t first, int64_t count, int64_t n,
                         union amp_wide *acc)
{
    const struct plan *plan = pass->plan;
    int64_t step = plan->reduced.strides[0] * plan->group;
    bool is_mapped = plan->reduction->map != NULL || pass->shift != NULL;
    if (!is_mapped && plan->kind == amp_wide_kind_of(plan->dtype)) {
        amp_wide_combine_rows(pass->how, run_at(plan, first, n), step, count, acc);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        combine_mapped(pass, first + i * step, n, acc);
}

/* Combines rows of COLUMNS to RESULT, which has what nothing comes to. */
static void reduce_rows(const struct pass *pass, const struct columns *columns,
                        union amp_wide *result)
{
    const struct plan *plan = pass->plan;
    int64_t group = plan->group, n = columns->n, dim = plan->reduced.dims[0];
    union amp_wide grouped[AMP_WIDE_BLOCK], *acc = group > 1 ? grouped : result;
    for (int64_t i = 0; i < n * group && group > 1; i++)
        acc[i] = result[0];
    for (int64_t r = columns->begin, stop; r < columns->end; r = stop) {
        stop = r + dim - r % dim < columns->end ? r + dim - r % dim : columns->end;
        int64_t first = columns->base + axes_offset(&plan->reduced, r);
        int64_t whole = (stop - r) / group, rest = (stop - r) % group;
        combine_rows(pass, first, whole, n * group, acc);
        combine_rows(pass, first + (stop - r - rest) * plan->reduced.strides[0], 1, n * rest, acc);
    }
    for (int64_t i = 0; i < group && group > 1; i++)
        amp_wide_combine(pass->how, plan->kind, result, acc + i * n, n);
}

/* The same of all rows, which threads share in parts that no number of threads changes. */
static void share_rows(const struct pass *pass, const struct columns *columns,
                       union amp_wide *result)
{
    union amp_wide parts[PARTS][AMP_WIDE_BLOCK];
    int64_t rows = columns->end;
#pragma omp parallel for
    for (int64_t i = 0; i < PARTS; i++) {
        struct columns part = {columns->base, columns->n, rows * i / PARTS, rows * (i + 1) / PARTS};
        for (int64_t k = 0; k < part.n; k++)
            parts[i][k] = result[k];
        reduce_rows(pass, &part, parts[i]);
    }
    for (int64_t i = 0; i < PARTS; i++)
        amp_wide_combine(pass->how, pass->plan->kind, result, parts[i], columns->n);
}

enum { COLUMNS = 4 * AMP_WIDE_BLOCK }; /* outputs at a time: of each row a page of floats */

/* N outputs from output FIRST on, COLUMNS at most and within a row of columns. */
static void reduce(const struct pass *pass, int64_t first, int64_t n, union amp_wide *result)
{
    const struct plan *plan = pass->plan;
    for (int64_t i = 0; i < n; i++)
        result[i] = identity(pass->how, plan->dtype, plan->kind);
    if (plan->is_columns) {
        int64_t base = axes_offset(&plan->kept, first / plan->width);
        base += first % plan->width * plan->stride;
        (is_split(plan) ? share_rows : reduce_rows)(
            pass, &(struct columns){base, n, 0, plan->reduced.count}, result);
        return;
    }
    if (is_direct(pass) && plan->reduced.count == 1 && plan->kept.n == 1 && !is_split(plan)) {
        int64_t step = plan->kept.strides[0];
        amp_wide_combine_each(pass->how, run_at(plan, first * step, plan->width), step, n, result);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        struct pass row = *pass;
        row.shift = pass->shift == NULL ? NULL : pass->shift + i;
        reduce_row(&row, axes_offset(&plan->kept, first + i), result + i);
    }
}

static void reduce_exponential(const struct plan *plan, int64_t first, int64_t n,
                               union amp_wide *result)
{
    union amp_wide shift[COLUMNS];
    reduce(&(struct pass){plan, AMP_LARGEST, NULL}, first, n, shift);
    for (int64_t i = 0; i < n; i++)
        shift[i].f = isfinite(shift[i].f) ? shift[i].f : 0;
    reduce(&(struct pass){plan, AMP_SUM, shift}, first, n, result);
    for (int64_t i = 0; i < n; i++)
        result[i].f = log(result[i].f) + shift[i].f;
}

/* Computes and stores N outputs from output FIRST on. */
static void reduce_block(const struct plan *plan, int64_t first, int64_t n)
{
    const struct reduction *reduction = plan->reduction;
    enum amp_wide_kind kind = amp_wide_kind_of(plan->dtype);
    union amp_wide result[COLUMNS];
    if (reduction->is_exponential)
        reduce_exponential(plan, first, n, result);
    else
        reduce(&(struct pass){plan, reduction->combination, NULL}, first, n, result);
    if (reduction->finish != NULL)
        reduction->finish(plan->kind, result, n, plan->count);
    if (reduction->is_float)
        amp_wide_from_float(kind, result, n);
    amp_wide_store(result, (struct amp_stretch){plan->dtype, plan->out, first, 1, n});
}

/* Outputs at a time: a block, or fewer where that gives each thread some. */
static int64_t block_size(const struct plan *plan)
{
    int64_t rows = AMP_PARALLEL_MIN / (plan->count > 0 ? plan->count : 1);
    if (rows > AMP_WIDE_BLOCK)
        return AMP_WIDE_BLOCK;
    return rows > 0 ? rows : 1;
}

/* The same of columns: whole pages of rows where that leaves no thread idle. */
static int64_t columns_size(const struct plan *plan)
{
    enum { LEAST = AMP_WIDE_BLOCK / 2 };
    int64_t threads = omp_get_max_threads(), kept = plan->kept.count > 0 ? plan->kept.count : 1;
    int64_t pieces = is_split(plan) ? 1 : (threads + kept - 1) / kept;
    int64_t size = ((plan->width + pieces - 1) / pieces + LEAST - 1) / LEAST * LEAST;
    if (size > COLUMNS)
        return COLUMNS;
    return size > 0 ? size : LEAST;
}

static void run_plan(const struct plan *plan)
{
    int64_t row = plan->is_columns ? plan->width : plan->kept.count;
    int64_t rows = plan->is_columns ? plan->kept.count : 1;
    int64_t size = plan->is_columns ? columns_size(plan) : block_size(plan);
    int64_t per_row = (row + size - 1) / size;
    bool is_large = rows * row * plan->count >= AMP_PARALLEL_MIN && !is_split(plan);
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < rows * per_row; i++) {
        int64_t begin = i % per_row * size;
        reduce_block(plan, i / per_row * row + begin, row - begin < size ? row - begin : size);
    }
}

/* ---- the operator ---- */

/* The axes that the node reduces; *COUNT is -1 when they are not known yet. */
static enum amp_status reduced_axes(const struct amp_ctx *ctx, int rank, bool *is_reduced,
                                    int *count)
{
    int64_t axes[AMP_RANK_MAX];
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"axes", 1}, axes, AMP_RANK_MAX, count));
    bool is_all = *count == 0 && amp_node_int(ctx->node, "noop_with_empty_axes", 0) == 0;
    for (int i = 0; i < rank; i++)
        is_reduced[i] = is_all;
    for (int i = 0; i < *count; i++) {
        int axis;
        AMP_TRY(amp_ctx_axis(ctx, axes[i], rank, &axis));
        is_reduced[axis] = true;
    }
    return AMP_OK;
}

/* The output's shape while the axes are not known: as much of the rank as can be told. */
static void shape_without_axes(struct amp_ctx *ctx, struct amp_shape *out)
{
    const struct amp_shape *axes = &ctx->in[1]->shape;
    bool is_kept = amp_ctx_keeps_dims(ctx);
    out->rank = -1;
    if (is_kept)
        out->rank = ctx->in[0]->shape.rank;
    else if (axes->rank == 1 && axes->dims[0] > 0 && axes->dims[0] <= ctx->in[0]->shape.rank)
        out->rank = ctx->in[0]->shape.rank - (int)axes->dims[0];
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = AMP_DIM_UNKNOWN;
}

static enum amp_status reduce_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    bool is_reduced[AMP_RANK_MAX] = {false};
    int count = 0;
    out->rank = -1;
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(reduced_axes(ctx, in->rank, is_reduced, &count));
    if (count < 0) {
        shape_without_axes(ctx, out);
        return AMP_OK;
    }
    bool is_kept = amp_ctx_keeps_dims(ctx);
    out->rank = 0;
    for (int i = 0; i < in->rank; i++)
        if (is_kept || !is_reduced[i])
            out->dims[out->rank++] = is_reduced[i] ? 1 : in->dims[i];
    return AMP_OK;
}

/* Whether outputs are the elements themselves: sums of one each, say. */
static bool is_copy(const struct plan *plan)
{
    const struct reduction *reduction = plan->reduction;
    return plan->count == 1 && reduction->map == NULL && reduction->finish == NULL;
}

/* The dims of a tensor in the order in which its elements lie, the slowest first, without those of
   1; and which of them are reduced. */
struct order {
    struct amp_shape shape;
    bool is_reduced[AMP_RANK_MAX];
};

/* The order of X, which has a layout. False: there are gaps, or the results would not be row-major.
 */
static bool order_of(const struct amp_tensor *x, const bool *is_reduced, struct order *order)
{
    int of[AMP_RANK_MAX], last_kept = -1;
    if (!amp_layout_view(x->layout, &order->shape, of) ||
        amp_shape_count(&order->shape) != amp_shape_count(&x->shape))
        return false;
    for (int i = 0; i < order->shape.rank; i++) {
        order->is_reduced[i] = is_reduced[of[i]];
        if (order->is_reduced[i])
            continue;
        if (of[i] < last_kept)
            return false;
        last_kept = of[i];
    }
    return true;
}

/* Reduces X, which is row-major or lies as ORDER says. */
static void reduce_in_order(struct amp_ctx *ctx, const struct amp_tensor *x,
                            const struct order *order)
{
    const struct reduction *reduction = amp_op_of(ctx->node)->own;
    struct plan plan = {.reduction = reduction,
                        .dtype = x->dtype,
                        .kind = reduction->is_float ? AMP_WIDE_FLOAT : amp_wide_kind_of(x->dtype),
                        .in = x->data,
                        .out = ctx->out[0]->data};
    plan_axes(&plan, &order->shape, order->is_reduced);
    if (is_copy(&plan))
        amp_tensor_copy(x, plan.out);
    else
        run_plan(&plan);
}

static enum amp_status reduce_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor plain = {.data = NULL};
    struct order order = {.shape = in->shape}, lies;
    int count = 0;
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    AMP_TRY(reduced_axes(ctx, in->shape.rank, order.is_reduced, &count));
    enum amp_status status = AMP_OK;
    if (in->layout != NULL && order_of(in, order.is_reduced, &lies)) {
        order = lies;
    } else if (in->layout != NULL) {
        status = amp_layout_undo(ctx, in, &plain);
        in = &plain;
    }
    if (status == AMP_OK && ctx->out[0]->data == NULL)
        status = amp_ctx_alloc(ctx, 0);
    if (status == AMP_OK)
        reduce_in_order(ctx, in, &order);
    amp_tensor_release(&plain);
    return status;
}

/* Sums of ELEMENTS of 0 or more, or of any sign where their number is known. */
static bool bound_sum_of(const struct amp_bound_call *call, struct amp_interval elements,
                         struct amp_interval *out)
{
    double count = (double)amp_bound_reduced(call);
    *out =
        (struct amp_interval){elements.low >= 0 ? 0 : -INFINITY, elements.high <= 0 ? 0 : INFINITY};
    if (count > 0)
        *out = amp_interval_widen(amp_interval_mul(elements, amp_interval_of(count)),
                                  count * AMP_BOUND_ROUNDING);
    return true;
}

static bool bound_sum(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_sum_of(call, call->in[0], out);
}

static bool bound_l1(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_sum_of(call, amp_interval_abs(call->in[0]), out);
}

static bool bound_squares(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_sum_of(call, amp_interval_square(call->in[0]), out);
}

static bool bound_l2(const struct amp_bound_call *call, struct amp_interval *out)
{
    bound_squares(call, out);
    *out = amp_interval_map(*out, sqrt);
    return true;
}

/* Of one element or more: nothing is the greatest of none. */
static bool bound_extreme(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = call->in[0];
    return amp_bound_reduced(call) != 0;
}

static bool bound_mean(const struct amp_bound_call *call, struct amp_interval *out)
{
    double count = (double)amp_bound_reduced(call);
    *out = count > 0 ? amp_interval_widen(call->in[0], count * AMP_BOUND_ROUNDING)
                     : (struct amp_interval){call->in[0].low >= 0 ? 0 : -INFINITY,
                                             call->in[0].high <= 0 ? 0 : INFINITY};
    return true;
}

#define REDUCE(id, op_type, newest_version, ...)                 \
    const struct amp_op amp_op_##id = {.name = op_type,          \
                                       .newest = newest_version, \
                                       .effect = AMP_COMPUTES,   \
                                       .native = AMP_NATIVE_ALL, \
                                       .shape = reduce_shape,    \
                                       .run = reduce_run,        \
                                       .has_strides = true,      \
                                       __VA_ARGS__}

REDUCE(reduce_l1, "ReduceL1", 18, .bound = bound_l1,
       .own = &(const struct reduction){AMP_SUM, false, false, map_abs, NULL},
       .gradient = AMP_GRADIENT({.term = "Mul(Keep(g), Sign(x))"}));
REDUCE(reduce_l2, "ReduceL2", 18, .bound = bound_l2, .inner = amp_inner_square,
       .own = &(const struct reduction){AMP_SUM, true, false, map_square, finish_sqrt},
       .gradient =
           AMP_GRADIENT({.term = "Mul(Keep(g), Where(Equal(Keep(y), 0), 0, Div(x, Keep(y))))"}));
REDUCE(reduce_log_sum, "ReduceLogSum", 18,
       .own = &(const struct reduction){AMP_SUM, true, false, NULL, finish_log},
       .gradient = AMP_GRADIENT({.term = "Div(Expand(Keep(g), Shape(x)), Exp(Keep(y)))"}));
REDUCE(reduce_log_sum_exp, "ReduceLogSumExp", 18,
       .own = &(const struct reduction){AMP_SUM, true, true, NULL, NULL},
       .gradient = AMP_GRADIENT({.term = "Mul(Keep(g), Exp(Sub(x, Keep(y))))"}));
REDUCE(reduce_max, "ReduceMax", 20, .bound = bound_extreme, .picks = true,
       .own = &(const struct reduction){AMP_LARGEST, false, false, NULL, NULL},
       .gradient = AMP_GRADIENT({.term = "extreme"}));
REDUCE(reduce_mean, "ReduceMean", 18, .bound = bound_mean, .inner = amp_inner_sum,
       .own = &(const struct reduction){AMP_SUM, false, false, NULL, finish_mean},
       .role = AMP_ROLE_REDUCE_MEAN,
       .gradient = AMP_GRADIENT({.term = "Div(Expand(Keep(g), Shape(x)), count)"}));
REDUCE(reduce_min, "ReduceMin", 20, .bound = bound_extreme, .picks = true,
       .own = &(const struct reduction){AMP_SMALLEST, false, false, NULL, NULL},
       .gradient = AMP_GRADIENT({.term = "extreme"}));
REDUCE(reduce_prod, "ReduceProd", 18,
       .own = &(const struct reduction){AMP_PRODUCT, false, false, NULL, NULL},
       .gradient =
           AMP_GRADIENT({.term = "zero = Equal(x, 0); count = ReduceSum(Where(zero, 1, 0), axes; "
                                 "noop_with_empty_axes=@noop_with_empty_axes);"
                                 "others = ReduceProd(Where(zero, 1, x), axes; "
                                 "noop_with_empty_axes=@noop_with_empty_axes);"
                                 "Mul(Keep(g), Where(Equal(Sub(count, Where(zero, 1, 0)), 0), "
                                 "Div(others, Where(zero, 1, x)), 0))"}));
REDUCE(reduce_sum, "ReduceSum", 13, .bound = bound_sum,
       .own = &(const struct reduction){AMP_SUM, false, false, NULL, NULL},
       .gradient = AMP_GRADIENT({.term = "Expand(Keep(g), Shape(x))"}));
REDUCE(reduce_sum_square, "ReduceSumSquare", 18, .bound = bound_squares,
       .own = &(const struct reduction){AMP_SUM, false, false, map_square, NULL},
       .gradient = AMP_GRADIENT({.term = "Mul(Keep(g), Add(x, x))"}));
