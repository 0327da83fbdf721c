/*
 * Copies tensors between layouts of oneDNN: takes two descriptors of one shape, gives loops over
 * strided elements. Where blocks are not full there are several: along each dim one over the full
 * blocks of the larger size, then one over those of the next size that are left, down to single
 * elements. In a loop each level of blocks is a dim of its own, so that strides alone describe both
 * sides.
 */
#include "ops/dnnl/reorder.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/convert.h"
#include "core/memory.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/profile.h"
#include "ops/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* A part of a tensor: operand 0 of its loop is the copy. */
struct part {
    struct amp_loop loop;
    int64_t from, to; /* where it begins, in elements */
};

struct amp_reorder {
    dnnl_memory_desc_t from, to;
    enum amp_dtype from_dtype, to_dtype;
    struct part *parts;
    size_t n_parts;
    bool is_padded;             /* TO has room that is no element's */
    bool keeps_order;           /* elements lie alike on both sides, with nothing else */
    dnnl_primitive_t primitive; /* of a layout that is no matter of strides; NULL: PARTS do */
};

/* ---- layouts --------------------------------------------------------------------------------- */

enum { LEVELS_MAX = 2 * DNNL_MAX_NDIMS + 1 };

/* Sizes of blocks along a dim, the largest first; the last is 1. */
struct levels {
    int64_t sizes[LEVELS_MAX];
    int n;
};

/* How far apart elements of dim D are that are STEP apart, a size of its blocks or in one. */
static int64_t distance(const struct amp_blocks *blocks, int d, int64_t step)
{
    int64_t size = 1, stride = 1;
    for (int i = blocks->n_inner; i-- > 0; stride *= (*blocks->inner)[i]) {
        if ((*blocks->inner_dims)[i] != d)
            continue;
        if (step < size * (*blocks->inner)[i])
            return stride * (step / size);
        size *= (*blocks->inner)[i];
    }
    return (*blocks->strides)[d] * (step / size);
}

static void add_level(struct levels *levels, int64_t size)
{
    int at = levels->n;
    for (int i = 0; i < levels->n; i++)
        if (levels->sizes[i] == size)
            return;
    for (; at > 0 && levels->sizes[at - 1] < size; at--)
        levels->sizes[at] = levels->sizes[at - 1];
    levels->sizes[at] = size;
    levels->n++;
}

/* Adds the sizes of the blocks that dim D has in BLOCKS. */
static void add_levels(const struct amp_blocks *blocks, int d, struct levels *levels)
{
    int64_t size = 1;
    add_level(levels, size);
    for (int i = blocks->n_inner; i-- > 0;)
        if ((*blocks->inner_dims)[i] == d)
            add_level(levels, size *= (*blocks->inner)[i]);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Elements FIRST to FIRST + COUNT * sizes[LEVEL] - 1 of a dim. */
struct stretch {
    int64_t first, count;
    int level;
};

struct split {
    struct amp_blocks from, to;
    struct levels levels[DNNL_MAX_NDIMS];     /* of both sides */
    struct stretch stretches[DNNL_MAX_NDIMS]; /* of the part at hand */
    struct amp_reorder *reorder;
};

/* Sets the levels; false: blocks of one side do not divide those of the other. */
static bool find_levels(struct split *split)
{
    for (int d = 0; d < split->from.rank; d++) {
        struct levels *levels = &split->levels[d];
        add_levels(&split->from, d, levels);
        add_levels(&split->to, d, levels);
        for (int i = 1; i < levels->n; i++)
            if (levels->sizes[i - 1] % levels->sizes[i] != 0)
                return false;
    }
    return true;
}

/* Where the part at hand begins, in elements. */
static int64_t offset_of(const struct split *split, const struct amp_blocks *blocks)
{
    int64_t offset = 0;
    for (int d = 0; d < blocks->rank; d++) {
        const struct levels *levels = &split->levels[d];
        int64_t left = split->stretches[d].first;
        for (int i = 0; i < levels->n; left %= levels->sizes[i++])
            offset += left / levels->sizes[i] * distance(blocks, d, levels->sizes[i]);
    }
    return offset;
}

/* Adds the dims of the part at hand, those of SPLIT's dim D, to DIMS and, for either side, to
   STRIDES. */
static void add_dims(const struct split *split, int d, int *rank, int64_t *dims,
                     int64_t (*strides)[AMP_LOOP_RANK])
{
    const struct levels *levels = &split->levels[d];
    const struct stretch *stretch = &split->stretches[d];
    int64_t count = stretch->count;
    for (int i = stretch->level; i < levels->n; i++) {
        if (i > stretch->level)
            count = levels->sizes[i - 1] / levels->sizes[i];
        if (count == 1)
            continue;
        dims[*rank] = count;
        strides[0][*rank] = distance(&split->to, d, levels->sizes[i]);
        strides[1][(*rank)++] = distance(&split->from, d, levels->sizes[i]);
    }
}

static void add_part(struct split *split)
{
    struct amp_reorder *reorder = split->reorder;
    int64_t dims[AMP_LOOP_RANK] = {1}, strides[2][AMP_LOOP_RANK] = {{1}, {1}};
    size_t size = amp_dtype_bits(reorder->to_dtype) / 8;
    int rank = 0;
    for (int d = 0; d < split->from.rank; d++)
        add_dims(split, d, &rank, dims, strides);
    reorder->parts = amp_xrealloc(reorder->parts, reorder->n_parts + 1, sizeof *reorder->parts);
    struct part *part = &reorder->parts[reorder->n_parts++];
    *part =
        (struct part){.from = offset_of(split, &split->from), .to = offset_of(split, &split->to)};
    amp_loop_init(&part->loop, rank > 0 ? rank : 1, dims);
    amp_loop_view(&part->loop, NULL, size, strides[0]);
    amp_loop_view(&part->loop, NULL, size, strides[1]);
}

/* Adds the parts that dim D and those behind it are divided into. */
static void add_parts(struct split *split, int d)
{
    if (d == split->from.rank) {
        add_part(split);
        return;
    }
    int64_t first = 0, left = (*split->from.dims)[d];
    for (int i = 0; i < split->levels[d].n; i++) {
        int64_t size = split->levels[d].sizes[i], count = left / size;
        split->stretches[d] = (struct stretch){.first = first, .count = count, .level = i};
        if (count > 0)
            add_parts(split, d + 1);
        first += count * size;
        left %= size;
    }
}

/* ---- reorders -------------------------------------------------------------------------------- */

/* The dtype of this program that oneDNN calls TYPE; AMP_UNDEFINED: none. */
static enum amp_dtype dtype_of(dnnl_data_type_t type)
{
    for (int dtype = 0; dtype < AMP_DTYPE_COUNT; dtype++)
        if (amp_dnnl_dtype((enum amp_dtype)dtype) == type)
            return (enum amp_dtype)dtype;
    return AMP_UNDEFINED;
}

/* Whether elements are copied, or converted as amp_dtype_convert does. */
static bool is_known(enum amp_dtype from, enum amp_dtype to)
{
    bool converts = amp_dtype_is_autocast(from) && amp_dtype_is_autocast(to);
    return from != AMP_UNDEFINED && (from == to || converts);
}

/* The size of the blocks along dim D. */
static int64_t block_of(const struct amp_blocks *blocks, int d)
{
    struct levels levels = {.n = 0};
    add_levels(blocks, d, &levels);
    return levels.sizes[0];
}

static bool is_padded(const struct amp_blocks *blocks)
{
    for (int d = 0; d < blocks->rank; d++)
        if ((*blocks->dims)[d] % block_of(blocks, d) != 0)
            return true;
    return false;
}

/* Whether the memory of DESC, of which BLOCKS were read, ends with its blocks: sums that byte
   convolutions want of weights would lie behind. */
static bool is_all(const_dnnl_memory_desc_t desc, const struct amp_blocks *blocks)
{
    int64_t reach = 1;
    for (int i = 0; i < blocks->n_inner; i++)
        reach *= (*blocks->inner)[i];
    for (int d = 0; d < blocks->rank; d++) {
        int64_t block = block_of(blocks, d), count = ((*blocks->dims)[d] + block - 1) / block;
        if (count * (*blocks->strides)[d] > reach)
            reach = count * (*blocks->strides)[d];
    }
    return dnnl_memory_desc_get_size(desc) <= (size_t)reach * dnnl_data_type_size(blocks->type);
}

static bool have_same_dims(const struct split *split)
{
    return split->from.rank == split->to.rank &&
           memcmp(*split->from.dims, *split->to.dims,
                  (size_t)split->from.rank * sizeof **split->from.dims) == 0;
}

/* Whether the memory of DESC, of which BLOCKS were read, has nothing but elements. */
static bool is_full(const_dnnl_memory_desc_t desc, const struct amp_blocks *blocks)
{
    size_t size = dnnl_data_type_size(blocks->type);
    for (int d = 0; d < blocks->rank; d++)
        size *= (size_t)(*blocks->dims)[d];
    return dnnl_memory_desc_get_size(desc) == size;
}

/* Whether the elements of A lie as those of B do. */
static bool lie_alike(const struct amp_blocks *a, const struct amp_blocks *b)
{
    size_t inner = (size_t)a->n_inner * sizeof **a->inner;
    return a->n_inner == b->n_inner && memcmp(*a->inner, *b->inner, inner) == 0 &&
           memcmp(*a->inner_dims, *b->inner_dims, inner) == 0 &&
           memcmp(*a->strides, *b->strides, (size_t)a->rank * sizeof **a->strides) == 0;
}

/* Divides REORDER into parts; false: it has a layout that is no matter of strides, or holds more
   than elements. */
static bool make_parts(struct amp_reorder *reorder)
{
    struct split split = {.reorder = reorder};
    if (!amp_blocks_read(reorder->from, &split.from) || !amp_blocks_read(reorder->to, &split.to) ||
        !is_all(reorder->from, &split.from) || !is_all(reorder->to, &split.to))
        return false;
    reorder->from_dtype = dtype_of(split.from.type);
    reorder->to_dtype = dtype_of(split.to.type);
    if (!have_same_dims(&split) || !is_known(reorder->from_dtype, reorder->to_dtype) ||
        split.from.rank + split.from.n_inner + split.to.n_inner > AMP_LOOP_RANK ||
        !find_levels(&split))
        return false;
    reorder->is_padded = is_padded(&split.to);
    reorder->keeps_order = lie_alike(&split.from, &split.to) && is_full(reorder->to, &split.to);
    add_parts(&split, 0);
    return true;
}

static dnnl_status_t make_primitive(struct amp_reorder *reorder, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&pd, reorder->from, engine, reorder->to, engine, NULL);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&reorder->primitive, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

dnnl_status_t amp_reorder_create(dnnl_engine_t engine, const_dnnl_memory_desc_t from,
                                 const_dnnl_memory_desc_t to, struct amp_reorder **result)
{
    struct amp_reorder *reorder = amp_xcalloc(1, sizeof *reorder);
    dnnl_status_t status = dnnl_memory_desc_clone(&reorder->from, from);
    if (status == dnnl_success)
        status = dnnl_memory_desc_clone(&reorder->to, to);
    if (status == dnnl_success && !make_parts(reorder))
        status = make_primitive(reorder, engine);
    *result = status == dnnl_success ? reorder : NULL;
    if (status != dnnl_success)
        amp_reorder_destroy(reorder);
    return status;
}

void amp_reorder_destroy(struct amp_reorder *reorder)
{
    if (reorder == NULL)
        return;
    dnnl_memory_desc_destroy(reorder->from);
    dnnl_memory_desc_destroy(reorder->to);
    dnnl_primitive_destroy(reorder->primitive);
    free(reorder->parts);
    free(reorder);
}

/* ---- running --------------------------------------------------------------------------------- */

static enum amp_status run_primitive(const struct amp_ctx *ctx, const struct amp_reorder *reorder,
                                     void *from, void *to)
{
    dnnl_engine_t engine = ctx->host->dnnl->engine;
    dnnl_memory_t source = NULL, target = NULL;
    dnnl_status_t made = dnnl_memory_create(&source, reorder->from, engine, from);
    if (made == dnnl_success)
        made = dnnl_memory_create(&target, reorder->to, engine, to);
    enum amp_status status = amp_dnnl_check(ctx->err, made, "memory");
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}};
    if (status == AMP_OK)
        status = amp_dnnl_execute(ctx, reorder->primitive, 2, args);
    dnnl_memory_destroy(source);
    dnnl_memory_destroy(target);
    return status;
}

static void copy_parts(const struct amp_reorder *reorder, char *from, char *to)
{
    int64_t size = (int64_t)amp_dtype_bits(reorder->to_dtype) / 8;
    if (reorder->is_padded)
        memset(to, 0, dnnl_memory_desc_get_size(reorder->to));
    for (size_t i = 0; i < reorder->n_parts; i++) {
        struct amp_loop loop = reorder->parts[i].loop;
        loop.operands[0].data = to + reorder->parts[i].to * size;
        loop.operands[1].data = from + reorder->parts[i].from * size;
        amp_loop_move(&loop);
    }
}

/* Converts the elements where they lie, then copies them if they are to lie in another way. */
static enum amp_status convert(const struct amp_ctx *ctx, const struct amp_reorder *reorder,
                               const void *from, void *to)
{
    size_t count =
        dnnl_memory_desc_get_size(reorder->from) / (amp_dtype_bits(reorder->from_dtype) / 8);
    size_t size = count * (amp_dtype_bits(reorder->to_dtype) / 8);
    if (reorder->keeps_order) {
        amp_dtype_convert(reorder->from_dtype, from, reorder->to_dtype, to, count);
        return AMP_OK;
    }
    struct amp_buffer *buffer = amp_buffer_create(size);
    if (buffer == NULL)
        return amp_memory_fail(ctx->err, "a layout of oneDNN", size);
    amp_dtype_convert(reorder->from_dtype, from, reorder->to_dtype, buffer->data, count);
    copy_parts(reorder, buffer->data, to);
    amp_buffer_unref(buffer);
    return AMP_OK;
}

enum amp_status amp_reorder_run(const struct amp_ctx *ctx, struct amp_reorder *reorder,
                                const void *from, void *to)
{
    /* Loops and primitives have no place for what is only read. */
    void *source = (void *)(uintptr_t)from;
    struct amp_profile *profile = ctx->host->profile;
    double start = profile != NULL ? amp_clock_seconds() : 0;
    if (reorder->primitive != NULL)
        return run_primitive(ctx, reorder, source, to);
    if (reorder->from_dtype != reorder->to_dtype)
        AMP_TRY(convert(ctx, reorder, from, to));
    else
        copy_parts(reorder, source, to);
    const struct amp_profile_reorder work = {reorder, reorder->from, reorder->to};
    amp_profile_note_reorder(profile, ctx, &work,
                             profile != NULL ? amp_clock_seconds() - start : 0);
    return AMP_OK;
}
