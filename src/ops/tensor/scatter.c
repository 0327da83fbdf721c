/*
 * Operators that put elements or blocks where indices say: Scatter; ScatterElements and ScatterND,
 * also with reductions, all versions up to ONNX 18; and TensorScatter-24, which puts a run of
 * blocks. Updates are applied in the order of their indices, so that the last of several for one
 * place wins; the standard leaves that open. An index out of range fails with AMP_MODEL.
 */
#include "core/array.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/index_offsets.h"

#include <omp.h>
#include <string.h>

/* N pieces of WIDTH elements, one BLOCK elements behind the other from FROM on, to places LIST of
   TO. */
struct pieces {
    const void *from;
    void *to;
    int64_t n, block, width;
    const int64_t *list;
};

typedef void put_fn(const struct pieces *pieces);

/* What is put where: block I of FROM to place I, blocks of BLOCK elements. */
struct scatter {
    const struct amp_offsets *places;
    const void *from;
    void *to;
    int64_t block;
    size_t size; /* bytes of an element */
    put_fn *put; /* of the reduction */
};

/* Integers wrap. A NaN among the operands of max and min stays. */
#define ADD_INT(T, a, b) (T)((uint64_t)(a) + (uint64_t)(b))
#define MUL_INT(T, a, b) (T)((uint64_t)(a) * (uint64_t)(b))
#define ADD_FLOAT(T, a, b) ((a) + (b))
#define MUL_FLOAT(T, a, b) ((a) * (b))
#define MAX(T, a, b) ((a) >= (b) ? (a) : (a) < (b) ? (b) : (T)((a) + (b)))
#define MIN(T, a, b) ((a) <= (b) ? (a) : (a) > (b) ? (b) : (T)((a) + (b)))
#define OR(T, a, b) (T)((a) || (b))
#define AND(T, a, b) (T)((a) && (b))

/* to[k] = EXPRESSION; most of all single elements. */
#define PUT(name, T, EXPRESSION)                                         \
    static void name(const struct pieces *pieces)                        \
    {                                                                    \
        const T *from = pieces->from;                                    \
        int64_t width = pieces->width;                                   \
        for (int64_t i = 0; i < pieces->n; i++, from += pieces->block) { \
            T *to = (T *)pieces->to + pieces->list[i] * pieces->block;   \
            if (width == 1) {                                            \
                const int64_t k = 0;                                     \
                to[k] = EXPRESSION;                                      \
                continue;                                                \
            }                                                            \
            AMP_SIMD for (int64_t k = 0; k < width; k++)                 \
            {                                                            \
                to[k] = EXPRESSION;                                      \
            }                                                            \
        }                                                                \
    }
#define PUT_SIZED(SIZE, T) PUT(put_##SIZE, T, from[k])
AMP_SIZED_TYPES(PUT_SIZED)

#define REDUCE(DTYPE, T, name, OPERATION) PUT(name##_##DTYPE, T, OPERATION(T, to[k], from[k]))
AMP_INTEGER_TYPES(REDUCE, add, ADD_INT)
AMP_INTEGER_TYPES(REDUCE, mul, MUL_INT)
AMP_FLOAT_TYPES(REDUCE, add, ADD_FLOAT)
AMP_FLOAT_TYPES(REDUCE, mul, MUL_FLOAT)
AMP_REAL_TYPES(REDUCE, max, MAX)
AMP_REAL_TYPES(REDUCE, min, MIN)
AMP_BOOL_TYPE(REDUCE, add, OR)
AMP_BOOL_TYPE(REDUCE, mul, AND)
AMP_BOOL_TYPE(REDUCE, max, OR)
AMP_BOOL_TYPE(REDUCE, min, AND)

static const struct reduction {
    const char *name;
    int since; /* version of ScatterElements and ScatterND */
    put_fn *kernels[AMP_DTYPE_COUNT];
} reductions[] = {
    {"none", 1, {NULL}},
    {"add", 16, {AMP_REAL_TYPES(AMP_ROW, add) AMP_BOOL_TYPE(AMP_ROW, add)}},
    {"mul", 16, {AMP_REAL_TYPES(AMP_ROW, mul) AMP_BOOL_TYPE(AMP_ROW, mul)}},
    {"max", 18, {AMP_REAL_TYPES(AMP_ROW, max) AMP_BOOL_TYPE(AMP_ROW, max)}},
    {"min", 18, {AMP_REAL_TYPES(AMP_ROW, min) AMP_BOOL_TYPE(AMP_ROW, min)}},
};

static enum amp_status find_reduction(struct amp_ctx *ctx, const struct reduction **reduction)
{
    const char *name = amp_node_string(ctx->node, "reduction", "none");
    for (size_t i = 0; i < AMP_COUNT(reductions); i++) {
        *reduction = &reductions[i];
        if (strcmp(name, reductions[i].name) == 0 &&
            ctx->node->since_version >= reductions[i].since)
            return AMP_OK;
    }
    return AMP_CTX_FAIL(ctx,
                        "reduction is '%s'; none, add, mul, max and min are possible (add and "
                        "mul since version 16, max and min since 18)",
                        name);
}

/* The kernel for the node's reduction. */
static enum amp_status find_put(struct amp_ctx *ctx, put_fn **put)
{
#define ROW(SIZE, T) [SIZE] = put_##SIZE,
    static put_fn *const by_size[] = {AMP_SIZED_TYPES(ROW)};
#undef ROW
    const struct reduction *reduction;
    AMP_TRY(find_reduction(ctx, &reduction));
    if (reduction == &reductions[0])
        *put = by_size[amp_dtype_bits(ctx->in[0]->dtype) / 8];
    else
        *put = reduction->kernels[ctx->in[0]->dtype];
    return *put == NULL ? amp_no_kernel(ctx, ctx->in[0]->dtype) : AMP_OK;
}

/* Elements FIRST to FIRST+WIDTH-1 of the blocks for N places from PLACE on; false when one is no
   place. */
static bool put_stretch(const struct scatter *scatter, int64_t place, int64_t n, int64_t first,
                        int64_t width)
{
    enum { STRETCH = 512 };
    int64_t list[STRETCH];
    for (int64_t done = 0; done < n; done += STRETCH) {
        const struct pieces pieces = {.from = (const char *)scatter->from +
                                              (size_t)((place + done) * scatter->block + first) *
                                                  scatter->size,
                                      .to = (char *)scatter->to + (size_t)first * scatter->size,
                                      .n = n - done < STRETCH ? n - done : STRETCH,
                                      .block = scatter->block,
                                      .width = width,
                                      .list = list};
        if (!scatter->places->read(scatter->places, place + done, pieces.n, list))
            return false;
        scatter->put(&pieces);
    }
    return true;
}

/* The output becomes a copy of the data, for updates by SCATTER to be put into. */
static enum amp_status begin_scatter(struct amp_ctx *ctx, const struct amp_offsets *places,
                                     int64_t block, struct scatter *scatter)
{
    *scatter = (struct scatter){.places = places,
                                .from = ctx->in[2]->data,
                                .to = ctx->out[0]->data,
                                .block = block,
                                .size = amp_dtype_bits(ctx->in[0]->dtype) / 8};
    AMP_TRY(find_put(ctx, &scatter->put));
    amp_copy(ctx->out[0]->data, ctx->in[0]->data, amp_tensor_size(ctx->in[0]));
    return AMP_OK;
}

static enum amp_status end_scatter(struct amp_ctx *ctx, const struct amp_offsets *places,
                                   bool is_right)
{
    return is_right ? amp_move_done(ctx, 0) : amp_offsets_fail(ctx, places);
}

/* ---- Scatter, ScatterElements ---- */

static enum amp_status scatter_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), ctx->in[0]->shape.rank, axis);
}

/* The updates, input I, must have the shape EXPECTED. */
static enum amp_status check_updates(struct amp_ctx *ctx, uint32_t i,
                                     const struct amp_shape *expected)
{
    const struct amp_shape *updates = &ctx->in[i]->shape;
    char text[200], wanted[200];
    int64_t merged;
    if (updates->rank < 0)
        return AMP_OK;
    bool fits = updates->rank == expected->rank;
    for (int d = 0; fits && d < updates->rank; d++)
        fits = amp_dim_merge(updates->dims[d], expected->dims[d], &merged);
    if (fits)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "updates have shape %s; %s is needed",
                        amp_shape_text(updates, text, sizeof text),
                        amp_shape_text(expected, wanted, sizeof wanted));
}

static enum amp_status scatter_elements_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    int axis;
    ctx->out[0]->shape = *data;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(scatter_axis(ctx, &axis));
    AMP_TRY(amp_offsets_check_elements(ctx, data, axis, indices));
    return check_updates(ctx, 2, indices);
}

/* Threads share the lines along the axis, whose places are no other line's: whole ones of OUTER, or
   parts of what lies INNER to it. */
struct lines {
    int64_t outer, length, inner, parts;
};

/* The updates for part I of all lines. */
static bool put_lines(const struct scatter *scatter, const struct lines *lines, int64_t i)
{
    int64_t share = (lines->inner + lines->parts - 1) / lines->parts;
    int64_t begin = i % lines->parts * share, first = i / lines->parts * lines->length;
    int64_t n = lines->inner - begin < share ? lines->inner - begin : share;
    bool is_right = true;
    if (lines->parts == 1)
        return put_stretch(scatter, first * lines->inner, lines->length * lines->inner, 0, 1);
    for (int64_t k = 0; k < lines->length; k++)
        is_right &= put_stretch(scatter, (first + k) * lines->inner + begin, n, 0, 1);
    return is_right;
}

static struct lines lines_of(const struct amp_shape *indices, int axis)
{
    enum { PART_MIN = 64 };
    int64_t threads = omp_get_max_threads();
    struct lines lines = {.outer = amp_shape_product(indices, 0, axis),
                          .length = indices->dims[axis],
                          .inner = amp_shape_product(indices, axis + 1, indices->rank),
                          .parts = 1};
    if (lines.outer < threads && lines.inner >= INT64_C(2) * PART_MIN)
        lines.parts = lines.inner / PART_MIN < threads ? lines.inner / PART_MIN : threads;
    return lines;
}

static enum amp_status scatter_elements_run(struct amp_ctx *ctx)
{
    const struct amp_shape *indices = &ctx->in[1]->shape;
    struct scatter scatter;
    int axis;
    AMP_TRY(scatter_axis(ctx, &axis));
    const struct amp_offsets places = amp_offsets_elements(&ctx->in[0]->shape, axis, ctx->in[1]);
    const struct lines lines = lines_of(indices, axis);
    bool is_right = true;
    AMP_TRY(begin_scatter(ctx, &places, 1, &scatter));
#pragma omp parallel for reduction(&& : is_right) if (places.count >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < lines.outer * lines.parts; i++)
        is_right = put_lines(&scatter, &lines, i) && is_right;
    return end_scatter(ctx, &places, is_right);
}

const struct amp_op amp_op_scatter = {
    .name = "Scatter",
    .overwrites = true,
    .newest = 11,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = scatter_elements_shape,
    .run = scatter_elements_run,
};

/* With a reduction they compute, which for 16-bit floats is left to the executor's float32. */
const struct amp_op amp_op_scatter_elements = {
    .name = "ScatterElements",
    .overwrites = true,
    .newest = 18,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = scatter_elements_shape,
    .run = scatter_elements_run,
};

/* ---- ScatterND ---- */

static enum amp_status scatter_nd_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *data = &ctx->in[0]->shape, *indices = &ctx->in[1]->shape;
    ctx->out[0]->shape = *data;
    if (data->rank < 0 || indices->rank < 0)
        return AMP_OK;
    AMP_TRY(amp_offsets_check_tuples(ctx, data, 0, indices));
    int64_t depth = indices->dims[indices->rank - 1];
    struct amp_shape expected = {.rank = indices->rank - 1};
    if (depth < 0)
        return AMP_OK;
    if (expected.rank + data->rank - depth > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "updates of rank %lld are needed; at most %d are possible",
                            (long long)(expected.rank + data->rank - depth), AMP_RANK_MAX);
    memcpy(expected.dims, indices->dims, (size_t)expected.rank * sizeof expected.dims[0]);
    for (int d = (int)depth; d < data->rank; d++)
        expected.dims[expected.rank++] = data->dims[d];
    return check_updates(ctx, 2, &expected);
}

/* Threads share the blocks: each puts its part of all of them. */
static enum amp_status scatter_nd_run(struct amp_ctx *ctx)
{
    enum { PART = 64 };
    const struct amp_shape *data = &ctx->in[0]->shape;
    struct scatter scatter;
    bool is_right = true;
    const struct amp_offsets places = amp_offsets_tuples(data, 0, ctx->in[1]);
    int64_t block = amp_shape_product(data, places.depth, data->rank);
    AMP_TRY(begin_scatter(ctx, &places, block, &scatter));
#pragma omp parallel if (places.count * block >= AMP_PARALLEL_MIN) reduction(&& : is_right)
    {
        int64_t parts = (block + PART - 1) / PART, threads = omp_get_num_threads();
        int64_t share = (parts + threads - 1) / threads * PART;
        int64_t first = omp_get_thread_num() * share, left = block - first;
        if (left > 0)
            is_right = put_stretch(&scatter, 0, places.count, first, left < share ? left : share);
    }
    return end_scatter(ctx, &places, is_right);
}

const struct amp_op amp_op_scatter_nd = {
    .name = "ScatterND",
    .overwrites = true,
    .newest = 18,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = scatter_nd_shape,
    .run = scatter_nd_run,
};

/* ---- TensorScatter ---- */

enum { CACHE, UPDATE, POSITIONS }; /* inputs */

/* A cache [batch, .., length, ..] and the run of its axis that is written. */
struct cache {
    int axis;
    bool is_circular;
    int64_t length, written;
};

/* Reads the attributes and checks the shapes, those of cache and update being known to their rank.
 */
static enum amp_status read_cache(struct amp_ctx *ctx, struct cache *cache)
{
    static const char *const modes[] = {"linear", "circular", NULL};
    const struct amp_shape *past = &ctx->in[CACHE]->shape, *update = &ctx->in[UPDATE]->shape;
    int mode = 0;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", -2), past->rank, &cache->axis));
    if (cache->axis == 0)
        return AMP_CTX_FAIL(ctx, "axis 0 is that of the batch; another one is needed");
    struct amp_shape expected = *past;
    if (update->rank == past->rank)
        expected.dims[cache->axis] = update->dims[cache->axis];
    AMP_TRY(check_updates(ctx, UPDATE, &expected));
    cache->is_circular = mode != 0;
    cache->length = past->dims[cache->axis];
    cache->written = update->dims[cache->axis];
    if (cache->length >= 0 && cache->written > cache->length)
        return AMP_CTX_FAIL(ctx, "an update of length %lld; the cache has a length of %lld",
                            (long long)cache->written, (long long)cache->length);
    if (!amp_has_in(ctx, POSITIONS))
        return AMP_OK;
    const struct amp_shape batch = {1, {past->dims[0]}};
    return check_updates(ctx, POSITIONS, &batch);
}

static enum amp_status tensor_scatter_shape(struct amp_ctx *ctx)
{
    struct cache cache;
    ctx->out[0]->shape = ctx->in[CACHE]->shape;
    if (ctx->in[CACHE]->shape.rank < 0 || ctx->in[UPDATE]->shape.rank < 0)
        return AMP_OK;
    return read_cache(ctx, &cache);
}

/* Where on the axis the update of BATCH begins, to *START. */
static enum amp_status start_of(const struct amp_ctx *ctx, const struct cache *cache, int64_t batch,
                                int64_t *start)
{
    *start = amp_has_in(ctx, POSITIONS) ? amp_tensor_int(ctx->in[POSITIONS], (size_t)batch) : 0;
    if (cache->is_circular) {
        *start %= cache->length;
        *start += *start < 0 ? cache->length : 0;
    }
    if (*start >= 0 && *start <= cache->length - cache->written)
        return AMP_OK;
    if (cache->is_circular)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "write_indices[%lld] is %lld; 0 to %lld is possible", (long long)batch,
                        (long long)*start, (long long)(cache->length - cache->written));
}

/* Puts the update into OUT, which holds the cache; elements of whole bytes. */
static enum amp_status write_runs(const struct amp_ctx *ctx, const struct cache *cache,
                                  const struct amp_tensor *update, const struct amp_tensor *out)
{
    const struct amp_shape *past = &out->shape;
    if (cache->written == 0)
        return AMP_OK;
    int64_t runs = amp_shape_product(past, 1, cache->axis);
    size_t block = (size_t)amp_shape_product(past, cache->axis + 1, past->rank) *
                   (amp_dtype_bits(out->dtype) / 8);
    const char *from = update->data;
    for (int64_t run = 0; run < past->dims[0] * runs; run++) {
        char *to = (char *)out->data + (size_t)(run * cache->length) * block;
        int64_t start;
        AMP_TRY(start_of(ctx, cache, run / runs, &start));
        int64_t left = cache->length - start;
        size_t first = (size_t)(cache->written < left ? cache->written : left) * block;
        size_t size = (size_t)cache->written * block;
        memcpy(to + (size_t)start * block, from, first);
        memcpy(to, from + first, size - first);
        from += size;
    }
    return AMP_OK;
}

/* Writes elements below a byte into the cache, by way of copies of a byte each. */
static enum amp_status write_packed(struct amp_ctx *ctx, const struct cache *cache)
{
    struct amp_tensor update, out;
    AMP_TRY(amp_bytes_unpack(ctx->in[UPDATE], &update, ctx->err));
    enum amp_status status = amp_bytes_unpack(ctx->in[CACHE], &out, ctx->err);
    if (status == AMP_OK) {
        status = write_runs(ctx, cache, &update, &out);
        amp_bytes_pack(&out, ctx->out[0]);
        amp_tensor_release(&out);
    }
    amp_tensor_release(&update);
    return status;
}

static enum amp_status tensor_scatter_run(struct amp_ctx *ctx)
{
    struct cache cache;
    AMP_TRY(read_cache(ctx, &cache));
    if (amp_tensor_count(ctx->in[CACHE]) == 0)
        return AMP_OK;
    if (amp_is_packed(ctx->out[0]->dtype))
        return write_packed(ctx, &cache);
    amp_copy(ctx->out[0]->data, ctx->in[CACHE]->data, amp_tensor_size(ctx->in[CACHE]));
    AMP_TRY(write_runs(ctx, &cache, ctx->in[UPDATE], ctx->out[0]));
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_tensor_scatter = {
    .name = "TensorScatter",
    .overwrites = true,
    .newest = 24,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .shape = tensor_scatter_shape,
    .run = tensor_scatter_run,
};
