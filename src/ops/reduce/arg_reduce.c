/*
 * ArgMax, ArgMin and TopK. Turns elements of any dtype into int64_t keys of the same order and
 * compares keys only.
 */
#include "ops/kernel/kernel.h"
#include "ops/kernel/block.h"

#include <omp.h>
#include <string.h>

/* How keys are made. */
struct order {
    bool is_smallest; /* the smallest element has the largest key */
    bool nan_is_best; /* NaN has the largest key in both orders; else it counts as the largest value
                       */
};

/* The bits of a double order as integers once those of negative ones are turned around. */
static inline int64_t float_key(double value, int64_t nan_key)
{
    union amp_wide bits = {.f = value + 0.0}; /* -0 becomes 0: the two are equal */
    int64_t key = bits.i < 0 ? bits.i ^ INT64_MAX : bits.i;
    return value != value ? nan_key : key;
}

AMP_CLONES(void, make_float_keys, (union amp_wide * x, int64_t n, int64_t nan_key), (x, n, nan_key))
{
    AMP_SIMD for (int64_t i = 0; i < n; i++)
    {
        x[i].i = float_key(x[i].f, nan_key);
    }
}

/* Makes keys of the wide elements X, in place. */
static void make_keys(enum amp_wide_kind kind, struct order order, union amp_wide *x, int64_t n)
{
    bool nan_is_low = order.is_smallest && order.nan_is_best;
    if (kind == AMP_WIDE_FLOAT)
        make_float_keys(x, n, nan_is_low ? INT64_MIN : INT64_MAX);
    for (int64_t i = 0; i < n && kind == AMP_WIDE_UINT; i++)
        x[i].u ^= UINT64_C(1) << 63;
    for (int64_t i = 0; i < n && order.is_smallest; i++)
        x[i].i = ~x[i].i;
}

/* N elements from index FIRST on that lie STRIDE apart. */
struct part {
    int64_t first, stride, n;
};

/* The keys of a PART of TENSOR. */
static void load_keys(const struct amp_tensor *tensor, struct order order, struct part part,
                      union amp_wide *keys)
{
    amp_wide_load(
        (struct amp_stretch){tensor->dtype, tensor->data, part.first, part.stride, part.n}, keys);
    make_keys(amp_wide_kind_of(tensor->dtype), order, keys, part.n);
}

/* A tensor seen along one axis: lines of `length` elements `inner` apart. */
struct lines {
    int64_t outer, length, inner;
};

static struct lines lines_of(const struct amp_shape *shape, int axis)
{
    if (shape->rank == 0)
        return (struct lines){1, 1, 1};
    return (struct lines){amp_shape_product(shape, 0, axis), shape->dims[axis],
                          amp_shape_product(shape, axis + 1, shape->rank)};
}

/* The index of the first element of LINE. */
static int64_t line_begin(const struct lines *lines, int64_t line)
{
    return line / lines->inner * lines->length * lines->inner + line % lines->inner;
}

/* The axis attribute; 0 for a scalar, which stands for one element. */
static enum amp_status axis_of(const struct amp_ctx *ctx, int64_t fallback, int *axis)
{
    int rank = ctx->in[0]->shape.rank;
    *axis = 0;
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", fallback), rank > 0 ? rank : 1, axis);
}

/* ---- ArgMax, ArgMin ---- */

struct best {
    int64_t key, index;
};

/* Goes on from BEST with N keys of one line, the first of them element INDEX. */
static void best_of(const union amp_wide *keys, int64_t n, int64_t index, bool is_last,
                    struct best *best)
{
    for (int64_t i = 0; i < n; i++)
        if (keys[i].i > best->key || (is_last && keys[i].i == best->key))
            *best = (struct best){keys[i].i, index + i};
}

/* Goes on from BEST and INDICES, one of each per line, with KEYS: element INDEX of each of N lines.
 */
AMP_CLONES(void, best_of_each,
           (const union amp_wide *keys, int64_t n, int64_t index, bool is_last,
            union amp_wide *best, int64_t *indices),
           (keys, n, index, is_last, best, indices))
{
    AMP_SIMD for (int64_t i = 0; i < n; i++)
    {
        bool is_better = keys[i].i > best[i].i || (is_last && keys[i].i == best[i].i);
        best[i].i = is_better ? keys[i].i : best[i].i;
        indices[i] = is_better ? index : indices[i];
    }
}

struct arg {
    const struct amp_tensor *in;
    struct lines lines;
    struct order order;
    bool is_last;
};

static void arg_line(const struct arg *arg, int64_t line, int64_t *out)
{
    union amp_wide keys[AMP_WIDE_BLOCK];
    struct best best = {INT64_MIN, 0};
    int64_t first = line_begin(&arg->lines, line), step = arg->lines.inner;
    for (int64_t i = 0; i < arg->lines.length; i += AMP_WIDE_BLOCK) {
        int64_t left = arg->lines.length - i, n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
        load_keys(arg->in, arg->order, (struct part){first + i * step, step, n}, keys);
        best_of(keys, n, i, arg->is_last, &best);
    }
    out[line] = best.index;
}

/* A block of adjacent lines, LINE the first of them, side by side. */
static void arg_columns(const struct arg *arg, int64_t line, int64_t *out)
{
    union amp_wide keys[AMP_WIDE_BLOCK], best[AMP_WIDE_BLOCK];
    int64_t inner = arg->lines.inner, first = line_begin(&arg->lines, line);
    int64_t left = inner - line % inner, n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
    for (int64_t j = 0; j < n; j++)
        best[j].i = INT64_MIN;
    memset(out + line, 0, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < arg->lines.length; i++) {
        load_keys(arg->in, arg->order, (struct part){first + i * inner, 1, n}, keys);
        best_of_each(keys, n, i, arg->is_last, best, out + line);
    }
}

static void run_arg(const struct arg *arg, int64_t *out)
{
    enum { SHORT = 16 }; /* below, taking lines side by side does not pay */
    struct lines lines = arg->lines;
    int64_t per_row = (lines.inner + AMP_WIDE_BLOCK - 1) / AMP_WIDE_BLOCK;
    bool is_large = lines.outer * lines.length * lines.inner >= AMP_PARALLEL_MIN;
    if (lines.inner < SHORT) {
#pragma omp parallel for if (is_large)
        for (int64_t line = 0; line < lines.outer * lines.inner; line++)
            arg_line(arg, line, out);
        return;
    }
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < lines.outer * per_row; i++)
        arg_columns(arg, i / per_row * lines.inner + i % per_row * AMP_WIDE_BLOCK, out);
}

static enum amp_status arg_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    bool is_kept = amp_ctx_keeps_dims(ctx);
    int axis;
    out->rank = -1;
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(axis_of(ctx, 0, &axis));
    out->rank = 0;
    for (int i = 0; i < in->rank; i++)
        if (is_kept || i != axis)
            out->dims[out->rank++] = i == axis ? 1 : in->dims[i];
    return AMP_OK;
}

static enum amp_status arg_run(struct amp_ctx *ctx, bool is_smallest)
{
    const struct amp_tensor *in = ctx->in[0];
    int axis;
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    AMP_TRY(axis_of(ctx, 0, &axis));
    struct arg arg = {.in = in,
                      .lines = lines_of(&in->shape, axis),
                      .order = {.is_smallest = is_smallest, .nan_is_best = true},
                      .is_last = amp_node_int(ctx->node, "select_last_index", 0) != 0};
    if (arg.lines.length == 0 && arg.lines.outer * arg.lines.inner > 0)
        return AMP_CTX_FAIL(ctx, "no element to choose from: axis %d has length 0", axis);
    run_arg(&arg, ctx->out[0]->data);
    return AMP_OK;
}

/* ---- TopK ---- */

/* Whether A comes after B in the output: the lower index first among equals. */
static bool is_after(const struct best *a, const struct best *b)
{
    return a->key < b->key || (a->key == b->key && a->index > b->index);
}

static void swap(struct best *a, struct best *b)
{
    struct best kept = *a;
    *a = *b;
    *b = kept;
}

/* A heap whose root comes after all others: moves the entry at I down to its place. */
static void sift_down(struct best *heap, int64_t n, int64_t i)
{
    for (;;) {
        int64_t last = i, left = 2 * i + 1;
        for (int64_t child = left; child < n && child <= left + 1; child++)
            if (is_after(&heap[child], &heap[last]))
                last = child;
        if (last == i)
            return;
        swap(&heap[i], &heap[last]);
        i = last;
    }
}

struct top {
    const struct amp_tensor *in;
    struct lines lines;
    struct order order;
    int64_t k;
    unsigned char *values; /* NULL: not wanted */
    int64_t *indices;      /* same */
};

/* Offers one element of a line to the heap of its K first. */
static void offer(struct best *heap, int64_t k, struct best item)
{
    if (item.index < k) {
        heap[item.index] = item;
        for (int64_t i = k / 2 - 1; i >= 0 && item.index == k - 1; i--)
            sift_down(heap, k, i);
    } else if (is_after(&heap[0], &item)) {
        heap[0] = item;
        sift_down(heap, k, 0);
    }
}

/* Keys that are looked at together. */
enum { GROUP = 16 };

/* Sets ANY of each group of N keys to whether one of them is above LIMIT; N is a multiple of GROUP.
 */
AMP_CLONES(void, find_above, (const union amp_wide *keys, int64_t n, int64_t limit, bool *any),
           (keys, n, limit, any))
{
    for (int64_t group = 0; group < n / GROUP; group++) {
        int64_t above = 0;
        _Pragma("omp simd reduction(| : above)") for (int64_t i = 0; i < GROUP; i++) above |=
            keys[group * GROUP + i].i > limit;
        any[group] = above != 0;
    }
}

/* Offers the N keys of one line from index FIRST on. Once the heap is full, none enters that is not
   above its root. */
static void offer_block(struct best *heap, int64_t k, union amp_wide *keys, int64_t n,
                        int64_t first)
{
    bool any[AMP_WIDE_BLOCK / GROUP], is_full = first >= k;
    int64_t groups = (n + GROUP - 1) / GROUP;
    for (int64_t i = n; i < groups * GROUP; i++)
        keys[i].i = INT64_MIN;
    if (is_full)
        find_above(keys, groups * GROUP, heap[0].key, any);
    for (int64_t group = 0; group < groups; group++) {
        int64_t end = (group + 1) * GROUP < n ? (group + 1) * GROUP : n;
        for (int64_t i = group * GROUP; i < end && (!is_full || any[group]); i++)
            offer(heap, k, (struct best){keys[i].i, first + i});
    }
}

/* Turns a heap into the output's order. */
static void sort_heap(struct best *heap, int64_t k)
{
    for (int64_t n = k - 1; n > 0; n--) {
        swap(&heap[0], &heap[n]);
        sift_down(heap, n, 0);
    }
}

/* Stores element INDEX of the line that begins at LINE_IN as POSITION of the output's line that
   begins at OUT. */
static void put(const struct top *top, int64_t line_in, int64_t out, int64_t position,
                int64_t index)
{
    size_t size = amp_dtype_bits(top->in->dtype) / 8;
    int64_t to = out + position * top->lines.inner, from = line_in + index * top->lines.inner;
    if (top->values != NULL)
        memcpy(top->values + (size_t)to * size,
               (const unsigned char *)top->in->data + (size_t)from * size, size);
    if (top->indices != NULL)
        top->indices[to] = index;
}

static void top_line(const struct top *top, int64_t line, struct best *heap)
{
    union amp_wide keys[AMP_WIDE_BLOCK];
    struct lines lines = top->lines, out = {lines.outer, top->k, lines.inner};
    int64_t first = line_begin(&lines, line);
    for (int64_t i = 0; i < lines.length; i += AMP_WIDE_BLOCK) {
        int64_t left = lines.length - i, n = left < AMP_WIDE_BLOCK ? left : AMP_WIDE_BLOCK;
        load_keys(top->in, top->order, (struct part){first + i * lines.inner, lines.inner, n},
                  keys);
        offer_block(heap, top->k, keys, n, i);
    }
    sort_heap(heap, top->k);
    for (int64_t i = 0; i < top->k; i++)
        put(top, first, line_begin(&out, line), i, heap[i].index);
}

static enum amp_status run_top(struct amp_ctx *ctx, const struct top *top)
{
    int64_t n = top->lines.outer * top->lines.inner;
    bool is_large = n * top->lines.length >= AMP_PARALLEL_MIN;
    int threads = is_large ? omp_get_max_threads() : 1;
    if (top->k == 0)
        return AMP_OK;
    struct amp_buffer *heaps = amp_scratch(ctx, "the greatest of a line",
                                           (size_t)threads * (size_t)top->k, sizeof(struct best));
    if (heaps == NULL)
        return ctx->err->status;
#pragma omp parallel for if (is_large)
    for (int64_t line = 0; line < n; line++)
        top_line(top, line, (struct best *)heaps->data + omp_get_thread_num() * top->k);
    amp_buffer_unref(heaps);
    return AMP_OK;
}

/* K of the attribute (version 1) or of input 1; -1: not known. */
static enum amp_status top_count(const struct amp_ctx *ctx, int64_t *k)
{
    int count;
    if (ctx->node->since_version >= 10) {
        AMP_TRY(amp_ctx_ints(ctx, 1, k, 1, &count));
        if (count < 0) {
            *k = AMP_DIM_UNKNOWN;
            return AMP_OK;
        }
        if (count == 0)
            return AMP_CTX_FAIL(ctx, "input 1 (K) is empty");
    } else {
        *k = amp_node_int(ctx->node, "k", -1);
    }
    if (*k < 0)
        return AMP_CTX_FAIL(ctx, "K is %lld", (long long)*k);
    return AMP_OK;
}

static enum amp_status top_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    int axis;
    int64_t k;
    for (uint32_t i = 0; i < ctx->n_out; i++)
        ctx->out[i]->shape.rank = -1;
    if (in->rank < 0)
        return AMP_OK;
    AMP_TRY(axis_of(ctx, -1, &axis));
    AMP_TRY(top_count(ctx, &k));
    int64_t length = in->rank > 0 ? in->dims[axis] : 1;
    if (k > length && length >= 0)
        return AMP_CTX_FAIL(ctx, "K is %lld; axis %d has length %lld", (long long)k, axis,
                            (long long)length);
    for (uint32_t i = 0; i < ctx->n_out; i++) {
        ctx->out[i]->shape = *in;
        if (in->rank > 0)
            ctx->out[i]->shape.dims[axis] = k;
    }
    return AMP_OK;
}

static enum amp_status top_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct top top = {.in = in};
    int axis;
    AMP_TRY(amp_wide_check(ctx, in->dtype));
    AMP_TRY(axis_of(ctx, -1, &axis));
    AMP_TRY(top_count(ctx, &top.k));
    top.lines = lines_of(&in->shape, axis);
    top.order.is_smallest = amp_node_int(ctx->node, "largest", 1) == 0;
    top.values = amp_has_out(ctx, 0) ? ctx->out[0]->data : NULL;
    top.indices = amp_has_out(ctx, 1) ? ctx->out[1]->data : NULL;
    return run_top(ctx, &top);
}

static enum amp_status arg_max_run(struct amp_ctx *ctx)
{
    return arg_run(ctx, false);
}

static enum amp_status arg_min_run(struct amp_ctx *ctx)
{
    return arg_run(ctx, true);
}

const struct amp_op amp_op_arg_max = {.name = "ArgMax",
                                      .newest = 13,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_ALL,
                                      .shape = arg_shape,
                                      .run = arg_max_run};

const struct amp_op amp_op_arg_min = {.name = "ArgMin",
                                      .newest = 13,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_ALL,
                                      .shape = arg_shape,
                                      .run = arg_min_run};

const struct amp_op amp_op_top_k = {
    .name = "TopK",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 1, NULL}),
    .selects = {.items = AMP_ITEMS_ELEMENTS, .outputs = AMP_INPUT(1), .axis = -1},
    .newest = 24,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT(
        {.when = "since=10", .term = "ScatterElements(zeros, Same.1(a), g; axis=#axis)"}),
    .shape = top_shape,
    .run = top_run};
