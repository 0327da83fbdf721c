/*
 * Runs a nested loop over operands of any strides, shared among threads. Shapes were checked by the
 * shape functions; nothing here can fail.
 */
#include "ops/kernel/strided_loop.h"

#include "core/convert.h"
#include "core/simd.h"
#include "ops/kernel/types.h"

#include <omp.h>
#include <string.h>

void amp_strides(const struct amp_shape *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = shape->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= shape->dims[d];
    }
}

void amp_index_at(int rank, const int64_t *dims, int64_t flat, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = flat % dims[d];
        flat /= dims[d];
    }
}

void amp_loop_init(struct amp_loop *loop, int rank, const int64_t *dims)
{
    loop->rank = rank;
    loop->period = 0;
    loop->n_operands = 0;
    memcpy(loop->dims, dims, (size_t)rank * sizeof *dims);
}

void amp_loop_view(struct amp_loop *loop, void *data, size_t size, const int64_t *strides)
{
    struct amp_operand *operand = &loop->operands[loop->n_operands++];
    operand->dtype = AMP_UNDEFINED;
    operand->data = data;
    operand->size = (int64_t)size;
    operand->repeats = false;
    operand->held = 0;
    memcpy(operand->strides, strides, (size_t)loop->rank * sizeof *strides);
}

void amp_loop_tensor(struct amp_loop *loop, const struct amp_tensor *tensor)
{
    int64_t own[AMP_RANK_MAX], strides[AMP_LOOP_RANK] = {0};
    int missing = loop->rank - tensor->shape.rank;
    amp_strides(&tensor->shape, own);
    for (int d = 0; d < tensor->shape.rank; d++)
        if (tensor->shape.dims[d] != 1)
            strides[missing + d] = own[d];
    amp_loop_view(loop, tensor->data, amp_dtype_bits(tensor->dtype) / 8, strides);
    loop->operands[loop->n_operands - 1].dtype = tensor->dtype;
}

/* Whether every operand steps through dims OUTER and INNER as through one. */
static bool is_operand_mergeable(const struct amp_loop *loop, int k, int outer, int inner)
{
    const int64_t *strides = loop->operands[k].strides;
    return strides[outer] == strides[inner] * loop->dims[inner];
}

static bool is_mergeable(const struct amp_loop *loop, int outer, int inner)
{
    for (int k = 0; k < loop->n_operands; k++)
        if (!is_operand_mergeable(loop, k, outer, inner))
            return false;
    return true;
}

static void move_dim(struct amp_loop *loop, int from, int to)
{
    loop->dims[to] = loop->dims[from];
    for (int k = 0; k < loop->n_operands; k++)
        loop->operands[k].strides[to] = loop->operands[k].strides[from];
}

void amp_loop_merge(struct amp_loop *loop)
{
    int rank = 0;
    for (int d = 0; d < loop->rank; d++) {
        if (loop->dims[d] == 1)
            continue;
        if (rank > 0 && is_mergeable(loop, rank - 1, d)) {
            int64_t outer = loop->dims[rank - 1];
            move_dim(loop, d, rank - 1);
            loop->dims[rank - 1] *= outer;
        } else {
            move_dim(loop, d, rank++);
        }
    }
    if (rank == 0) {
        loop->dims[0] = 1;
        for (int k = 0; k < loop->n_operands; k++)
            loop->operands[k].strides[0] = 0;
        rank = 1;
    }
    loop->rank = rank;
}

/* Threads share the work in multiples of some elements, so that where vectors of elements begin,
   and with it the last bit of some functions, does not depend on the number of threads. */
enum { GRAIN = 64 };

/* So many shares go to whichever thread comes for them: one that another program keeps from its
   core is not waited for with half of the work. */
enum { SHARES_PER_THREAD = 4 };

/* Elements that are widened, repeated or held at a time. */
enum { BLOCK = 512 };

/* The longest rows that are faster joined, where one element is held for each: as measured with one
   thread, of float32 and of what is widened. */
enum { HELD_MOST = 16, HELD_MOST_WIDENED = 128 };

/* The fewest elements that are whole periods and end at a multiple of GRAIN. */
static int64_t whole_periods(int64_t period)
{
    int64_t count = period;
    while (count % GRAIN != 0)
        count += period;
    return count;
}

/* Whether blocks can hold the elements of all operands. */
static bool fits_blocks(const struct amp_loop *loop)
{
    for (int k = 0; k < loop->n_operands; k++)
        if (loop->operands[k].size > 8)
            return false;
    return true;
}

/* How an operand steps through two dims that are made one. */
enum pattern { EVENLY, REPEATING, HOLDING, UNEVENLY };

static enum pattern pattern_of(const struct amp_loop *loop, int k, int outer, int inner)
{
    const int64_t *strides = loop->operands[k].strides;
    if (is_operand_mergeable(loop, k, outer, inner))
        return EVENLY;
    if (strides[outer] == 0)
        return REPEATING;
    return strides[inner] == 0 ? HOLDING : UNEVENLY;
}

/* Whether the two innermost dims can be made one; an element may be held for HELD_MOST of them. */
static bool can_join(const struct amp_loop *loop, int outer, int inner, int64_t held_most)
{
    bool may_repeat = whole_periods(loop->dims[inner]) <= BLOCK;
    bool may_hold = loop->dims[inner] <= held_most;
    for (int k = 0; k < loop->n_operands; k++) {
        enum pattern pattern = pattern_of(loop, k, outer, inner);
        if ((k == 0 && pattern != EVENLY) || pattern == UNEVENLY ||
            (pattern == REPEATING && !may_repeat) || (pattern == HOLDING && !may_hold))
            return false;
    }
    return true;
}

/* Makes the two innermost dims one where all operands step through them as one but some that are
   broadcast along one of them, which then repeat what they have, or hold it: rows of a few
   elements, such as blocks of channels or small images, would cost more than what is done with
   them. */
static void join_rows(struct amp_loop *loop, int64_t held_most)
{
    int inner = loop->rank - 1, outer = inner - 1;
    if (outer < 0 || !fits_blocks(loop) || !can_join(loop, outer, inner, held_most))
        return;
    loop->period = loop->dims[inner];
    for (int k = 0; k < loop->n_operands; k++) {
        struct amp_operand *operand = &loop->operands[k];
        enum pattern pattern = pattern_of(loop, k, outer, inner);
        operand->repeats = pattern == REPEATING;
        operand->held = pattern == HOLDING ? operand->strides[outer] : 0;
    }
    int64_t count = loop->dims[outer];
    move_dim(loop, inner, outer);
    loop->dims[outer] *= count;
    loop->rank--;
}

/* What runs the innermost dim: the body itself, or by way of blocks. */
struct work {
    const struct amp_loop *loop;
    amp_loop_body *body;
    const void *param;
    bool widens;
};

static bool is_narrow(const struct amp_operand *operand)
{
    return amp_dtype_is_lower(operand->dtype);
}

static bool is_widened(const struct work *work, int k)
{
    return work->widens && is_narrow(&work->loop->operands[k]);
}

/* Some elements of the innermost dim: those from FIRST on, of which operand K has its own at AT[K];
   one that repeats has its first there. */
struct row {
    int64_t first;
    char *at[AMP_LOOP_OPERANDS];
    int64_t step[AMP_LOOP_OPERANDS];
};

/* What the operands of a block have in place of what does not lie as the body wants it. */
union block {
    float floats[BLOCK];
    char bytes[8 * BLOCK];
};

/* Puts N elements of an operand, from DATA on, into FLOATS, and gives the step between them. */
static int64_t widen(const struct amp_operand *operand, const char *data, int64_t step, int64_t n,
                     float *floats)
{
    if (step == 0 || step == 1) {
        amp_dtype_convert(operand->dtype, data, AMP_FLOAT, floats, step == 0 ? 1 : (size_t)n);
        return step;
    }
    for (int64_t i = 0; i < n; i++)
        amp_dtype_convert(operand->dtype, data + i * step * operand->size, AMP_FLOAT, floats + i,
                          1);
    return 1;
}

/* Fills TO with N elements of operand K, which repeats, widened if narrow. */
static void repeat(const struct work *work, const struct row *row, int k, int64_t n, char *to)
{
    const struct amp_operand *operand = &work->loop->operands[k];
    int64_t period = work->loop->period, count = n < period ? n : period;
    int64_t size = is_widened(work, k) ? (int64_t)sizeof(float) : operand->size;
    for (int64_t i = 0; i < count; i++) {
        const char *from = row->at[k] + (row->first + i) % period * row->step[k] * operand->size;
        if (is_widened(work, k))
            amp_dtype_convert(operand->dtype, from, AMP_FLOAT, to + i * size, 1);
        else
            memcpy(to + i * size, from, (size_t)size);
    }
    for (; count < n; count *= 2)
        memcpy(to + count * size, to, (size_t)((count < n - count ? count : n - count) * size));
}

#define FILL(SIZE, T)                                              \
    static void fill_##SIZE(void *to, const void *from, int64_t n) \
    {                                                              \
        T value = *(const T *)from, *all = to;                     \
        for (int64_t i = 0; i < n; i++)                            \
            all[i] = value;                                        \
    }
AMP_SIZED_TYPES(FILL)

/* Fills TO with N elements of operand K, which holds each for a period, from element FIRST of ROW
   on; widened if narrow. */
static void hold(const struct work *work, const struct row *row, int k, int64_t first, int64_t n,
                 char *to)
{
#define ROW(SIZE, T) [SIZE] = fill_##SIZE,
    static void (*const fill[])(void *, const void *, int64_t) = {AMP_SIZED_TYPES(ROW)};
#undef ROW
    const struct amp_operand *operand = &work->loop->operands[k];
    int64_t period = work->loop->period, size = operand->size, step = operand->held;
    int64_t begin = (row->first + first) / period, skipped = (row->first + first) % period;
    const char *from = row->at[k] + begin * step * size;
    union block widened;
    if (is_widened(work, k)) {
        step = widen(operand, from, step, (skipped + n - 1) / period + 1, widened.floats);
        from = widened.bytes;
        size = (int64_t)sizeof(float);
    }
    for (int64_t i = 0; i < n; from += step * size) {
        int64_t count = period - skipped < n - i ? period - skipped : n - i;
        fill[size](to + i * size, from, count);
        skipped = 0;
        i += count;
    }
}

/* N elements, up to a block, from element FIRST of ROW on. What repeats is in BLOCKS for all of
   ROW. */
static void run_block(const struct work *work, const struct row *row, int64_t first, int64_t n,
                      union block *blocks)
{
    void *at[AMP_LOOP_OPERANDS];
    int64_t step[AMP_LOOP_OPERANDS];
    const struct amp_operand *operands = work->loop->operands;
    for (int k = 0; k < work->loop->n_operands; k++) {
        at[k] = row->at[k] + first * row->step[k] * operands[k].size;
        step[k] = row->step[k];
        if (operands[k].held != 0)
            hold(work, row, k, first, n, blocks[k].bytes);
        if (operands[k].repeats || operands[k].held != 0)
            step[k] = 1;
        else if (is_widened(work, k))
            step[k] = k == 0 ? 1 : widen(&operands[k], at[k], step[k], n, blocks[k].floats);
        if (operands[k].repeats || operands[k].held != 0 || is_widened(work, k))
            at[k] = &blocks[k];
    }
    work->body(n, at, step, work->param);
    if (is_widened(work, 0))
        amp_dtype_convert(AMP_FLOAT, blocks[0].floats, operands[0].dtype,
                          row->at[0] + first * operands[0].size, (size_t)n);
}

static void run_row(const struct work *work, const struct row *row, int64_t n)
{
    int64_t period = work->loop->period, size = BLOCK;
    union block blocks[AMP_LOOP_OPERANDS];
    if (!work->widens && period == 0) {
        work->body(n, (void *const *)row->at, row->step, work->param);
        return;
    }
    for (int k = 0; k < work->loop->n_operands; k++)
        if (work->loop->operands[k].repeats) {
            size = BLOCK - BLOCK % whole_periods(period);
            repeat(work, row, k, n < size ? n : size, blocks[k].bytes);
        }
    for (int64_t i = 0; i < n; i += size)
        run_block(work, row, i, n - i < size ? n - i : size, blocks);
}

/* Works on elements BEGIN to END-1 of the loop in row-major order. */
static void run_range(const struct work *work, int64_t begin, int64_t end)
{
    const struct amp_loop *loop = work->loop;
    int inner = loop->rank - 1;
    int64_t index[AMP_LOOP_RANK];
    struct row row;
    amp_index_at(loop->rank, loop->dims, begin, index);
    for (int k = 0; k < loop->n_operands; k++)
        row.step[k] = loop->operands[k].strides[inner];
    while (begin < end) {
        int64_t n = loop->dims[inner] - index[inner];
        if (n > end - begin)
            n = end - begin;
        row.first = index[inner];
        for (int k = 0; k < loop->n_operands; k++) {
            const struct amp_operand *operand = &loop->operands[k];
            int64_t offset = 0;
            for (int d = 0; d < inner + !operand->repeats; d++)
                offset += index[d] * operand->strides[d];
            row.at[k] = operand->data + offset * operand->size;
        }
        run_row(work, &row, n);
        begin += n;
        index[inner] = 0;
        amp_index_next(inner, loop->dims, index);
    }
}

static void run_work(struct amp_loop *loop, const struct work *work, int64_t held_most)
{
    int64_t count = 1;
    for (int d = 0; d < loop->rank; d++)
        count *= loop->dims[d];
    if (count == 0)
        return;
    amp_loop_merge(loop);
    join_rows(loop, held_most);
    if (count < AMP_PARALLEL_MIN) {
        run_range(work, 0, count);
        return;
    }
    int64_t shares = (int64_t)omp_get_max_threads() * SHARES_PER_THREAD;
    int64_t grains = (count + GRAIN - 1) / GRAIN, share = (grains + shares - 1) / shares * GRAIN;
#pragma omp parallel for schedule(dynamic)
    for (int64_t begin = 0; begin < count; begin += share)
        run_range(work, begin, begin + share < count ? begin + share : count);
}

void amp_loop_run(struct amp_loop *loop, amp_loop_body *body, const void *param)
{
    run_work(loop, &(struct work){loop, body, param, false}, 0);
}

void amp_loop_compute(struct amp_loop *loop, amp_loop_body *body, const void *param)
{
    struct work work = {loop, body, param, false};
    for (int k = 0; k < loop->n_operands; k++)
        work.widens |= is_narrow(&loop->operands[k]);
    run_work(loop, &work, work.widens ? HELD_MOST_WIDENED : HELD_MOST);
}

void amp_loop_inputs(struct amp_ctx *ctx, uint32_t n, amp_loop_body *body, const void *param)
{
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    for (uint32_t i = 0; i < n; i++)
        amp_loop_tensor(&loop, ctx->in[i]);
    amp_loop_run(&loop, body, param);
}

#define COPY(SIZE, T)                                                                           \
    static void copy_##SIZE(int64_t n, void *const *at, const int64_t *step, const void *param) \
    {                                                                                           \
        (void)param;                                                                            \
        const T *from = at[1];                                                                  \
        T *to = at[0];                                                                          \
        if (step[0] == 1 && step[1] == 1) {                                                     \
            memcpy(to, from, (size_t)n * sizeof *to);                                           \
            return;                                                                             \
        }                                                                                       \
        if (step[0] == 1 && step[1] == 0) {                                                     \
            const T value = *from;                                                              \
            AMP_SIMD for (int64_t i = 0; i < n; i++) to[i] = value;                             \
            return;                                                                             \
        }                                                                                       \
        for (int64_t i = 0; i < n; i++)                                                         \
            to[i * step[0]] = from[i * step[1]];                                                \
    }
AMP_SIZED_TYPES(COPY)

#define ROW(SIZE, T) [SIZE] = copy_##SIZE,
static amp_loop_body *const copies[] = {AMP_SIZED_TYPES(ROW)};
#undef ROW

amp_loop_body *amp_loop_copy(enum amp_dtype dtype)
{
    return copies[amp_dtype_bits(dtype) / 8];
}

/* ---- moving elements ------------------------------------------------------------------------- */

/*
 * TO[i][j] = FROM[j][i] for ROWS and COLUMNS of TO; rows of TO are TO_STEP elements apart, those of
 * FROM FROM_STEP.
 */
struct tile {
    const void *from;
    void *to;
    int64_t from_step, to_step, rows, columns;
};

typedef void tile_fn(const struct tile *tile);

/* Whether the columns, fewer than N, are all that a row has. */
static bool has_short_rows(const struct tile *tile, int64_t n)
{
    return tile->columns < n && tile->to_step == tile->columns;
}

/* Squares of N x N elements, vectors of 16 bytes each way, are turned in registers: interleaving
   row i with row i + N/2, once for each power of two in N, ends with columns in place of rows.
   Fewer than N columns that are all a row has are turned as N: what is written behind a row is
   written over by the next, which in the last rows there is no room for. What is left at the edges
   is moved one by one. */
#define TILE_FN(SIZE, T, N, LOW, HIGH)                                                      \
    typedef T vector_##SIZE __attribute__((vector_size(16)));                               \
    static inline __attribute__((always_inline)) void turn_##SIZE(                          \
        const T *from, int64_t from_step, T *to, int64_t to_step, int64_t columns)          \
    {                                                                                       \
        vector_##SIZE a[N] = {{0}}, b[N];                                                   \
        UNROLL for (int64_t i = 0; i < (N); i++) if (i < columns)                           \
            memcpy(&a[i], from + i * from_step, 16);                                        \
        UNROLL for (int round = 1; round < (N); round *= 2)                                 \
        {                                                                                   \
            UNROLL for (int64_t i = 0; i < (N) / 2; i++)                                    \
            {                                                                               \
                b[2 * i] = __builtin_shufflevector(a[i], a[i + (N) / 2], LOW);              \
                b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + (N) / 2], HIGH);         \
            }                                                                               \
            UNROLL for (int64_t i = 0; i < (N); i++) a[i] = b[i];                           \
        }                                                                                   \
        UNROLL for (int64_t i = 0; i < (N); i++) memcpy(to + i * to_step, &a[i], 16);       \
    }                                                                                       \
    static void tile_##SIZE(const struct tile *tile)                                        \
    {                                                                                       \
        const T *from = tile->from;                                                         \
        T *to = tile->to;                                                                   \
        int64_t rows = tile->rows / (N) * (N), columns = tile->columns / (N) * (N);         \
        if (has_short_rows(tile, N)) {                                                      \
            rows = (tile->rows - ((N)-1) / tile->columns) / (N) * (N);                      \
            columns = tile->columns;                                                        \
            for (int64_t i = 0; i < rows; i += (N))                                         \
                turn_##SIZE(from + i, tile->from_step, to + i * columns, columns, columns); \
        } else {                                                                            \
            for (int64_t i = 0; i < rows; i += (N))                                         \
                for (int64_t j = 0; j < columns; j += (N))                                  \
                    turn_##SIZE(from + j * tile->from_step + i, tile->from_step,            \
                                to + i * tile->to_step + j, tile->to_step, N);              \
        }                                                                                   \
        for (int64_t i = 0; i < tile->rows; i++)                                            \
            for (int64_t j = i < rows ? columns : 0; j < tile->columns; j++)                \
                to[i * tile->to_step + j] = from[j * tile->from_step + i];                  \
    }

#define UNROLL _Pragma("GCC unroll 16")
#define LIST(...) __VA_ARGS__
TILE_FN(1, uint8_t, 16, LIST(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
        LIST(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
TILE_FN(2, uint16_t, 8, LIST(0, 8, 1, 9, 2, 10, 3, 11), LIST(4, 12, 5, 13, 6, 14, 7, 15))
TILE_FN(4, uint32_t, 4, LIST(0, 4, 1, 5), LIST(2, 6, 3, 7))
TILE_FN(8, uint64_t, 2, LIST(0, 2), LIST(1, 3))

static void tile_16(const struct tile *tile)
{
    const struct amp_str *from = tile->from;
    struct amp_str *to = tile->to;
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->columns; j++)
            to[i * tile->to_step + j] = from[j * tile->from_step + i];
}

static tile_fn *const tiles[] = {
    [1] = tile_1, [2] = tile_2, [4] = tile_4, [8] = tile_8, [16] = tile_16};

/* Columns of the output that one tile covers: a cache line. */
static int64_t tile_columns(const struct amp_operand *operand)
{
    return 64 / operand->size;
}

/* Rows of the output that one strip covers: a cache line of the input, more of short rows. */
static int64_t strip_rows(const struct amp_operand *operand, const struct tile *plane)
{
    enum { SHORT_ROWS = 1024 };
    return has_short_rows(plane, 16 / operand->size) ? SHORT_ROWS : 64 / operand->size;
}

/* Turns a strip of a plane in tiles: the rows that start at row FIRST of PLANE, whose operands
   begin at offsets TO and FROM. */
static void run_strip(const struct amp_loop *loop, const struct tile *plane, int64_t to,
                      int64_t from, int64_t first)
{
    int64_t size = loop->operands[0].size, most = strip_rows(&loop->operands[0], plane);
    int64_t side = tile_columns(&loop->operands[0]);
    const char *source = (const char *)plane->from + (from + first) * size;
    char *target = (char *)plane->to + (to + first * plane->to_step) * size;
    struct tile tile = *plane;
    tile.rows = plane->rows - first < most ? plane->rows - first : most;
    for (int64_t j = 0; j < plane->columns; j += side) {
        tile.from = source + j * plane->from_step * size;
        tile.to = target + j * size;
        tile.columns = plane->columns - j < side ? plane->columns - j : side;
        tiles[size](&tile);
    }
}

/* Takes dim D out of the loop. */
static void remove_dim(struct amp_loop *loop, int d)
{
    size_t behind = (size_t)(--loop->rank - d) * sizeof(int64_t);
    memmove(loop->dims + d, loop->dims + d + 1, behind);
    for (int k = 0; k < loop->n_operands; k++)
        memmove(loop->operands[k].strides + d, loop->operands[k].strides + d + 1, behind);
}

/* The dim, other than the last, along which the input (operand 1) is contiguous; -1: none. */
static int contiguous_dim(const struct amp_loop *loop)
{
    for (int d = 0; d < loop->rank - 1; d++)
        if (loop->operands[1].strides[d] == 1)
            return d;
    return -1;
}

/* Copies operand 1 to operand 0, which is contiguous along the last dim, in strips of planes whose
   rows are dim ROWS and whose columns are the last dim. */
static void run_planes(struct amp_loop *loop, int rows)
{
    int last = loop->rank - 1;
    const struct amp_operand *to = &loop->operands[0], *from = &loop->operands[1];
    struct tile plane = {.from = from->data,
                         .to = to->data,
                         .from_step = from->strides[last],
                         .to_step = to->strides[rows],
                         .rows = loop->dims[rows],
                         .columns = loop->dims[last]};
    remove_dim(loop, last);
    remove_dim(loop, rows);
    int64_t planes = 1, most = strip_rows(to, &plane), strips = (plane.rows + most - 1) / most;
    for (int d = 0; d < loop->rank; d++)
        planes *= loop->dims[d];
#pragma omp parallel for if (planes * plane.rows * plane.columns >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < planes * strips; i++) {
        int64_t at[AMP_LOOP_RANK], to_offset = 0, from_offset = 0;
        amp_index_at(loop->rank, loop->dims, i / strips, at);
        for (int d = 0; d < loop->rank; d++) {
            to_offset += at[d] * to->strides[d];
            from_offset += at[d] * from->strides[d];
        }
        run_strip(loop, &plane, to_offset, from_offset, i % strips * most);
    }
}

/* Puts dim D behind the next. */
static void swap_dims(struct amp_loop *loop, int d)
{
    int64_t dim = loop->dims[d];
    loop->dims[d] = loop->dims[d + 1];
    loop->dims[d + 1] = dim;
    for (int k = 0; k < loop->n_operands; k++) {
        int64_t *strides = loop->operands[k].strides, stride = strides[d];
        strides[d] = strides[d + 1];
        strides[d + 1] = stride;
    }
}

/* Puts dims in the order of operand 0's strides, the smallest last. */
static void sort_dims(struct amp_loop *loop)
{
    for (int end = loop->rank - 1; end > 0; end--)
        for (int d = 0; d < end; d++)
            if (loop->operands[0].strides[d] < loop->operands[0].strides[d + 1])
                swap_dims(loop, d);
}

/* How many elements of the last dim, all of them, are moved as one of their size: they lie together
   on both sides, where each place is aligned to their size; 1: none. */
static int64_t joined_elements(const struct amp_loop *loop)
{
    int last = loop->rank - 1;
    int64_t n = loop->dims[last], size = n * loop->operands[0].size;
    if (last == 0 || (size != 2 && size != 4 && size != 8))
        return 1;
    for (int k = 0; k < loop->n_operands; k++) {
        const struct amp_operand *operand = &loop->operands[k];
        if (operand->strides[last] != 1 || (uintptr_t)operand->data % (uintptr_t)size != 0)
            return 1;
        for (int d = 0; d < last; d++)
            if (operand->strides[d] % n != 0)
                return 1;
    }
    return n;
}

/* Makes one element of those of the last dim that are moved as one, as the pairs and quads are in
   which oneDNN's kernels take weights of 16 and 8 bits. */
static void join_elements(struct amp_loop *loop)
{
    int64_t n = joined_elements(loop);
    if (n == 1)
        return;
    remove_dim(loop, loop->rank - 1);
    for (int k = 0; k < loop->n_operands; k++) {
        loop->operands[k].size *= n;
        for (int d = 0; d < loop->rank; d++)
            loop->operands[k].strides[d] /= n;
    }
    amp_loop_merge(loop);
}

void amp_loop_move(struct amp_loop *loop)
{
    sort_dims(loop);
    amp_loop_merge(loop);
    join_elements(loop);
    int last = loop->rank - 1;
    const struct amp_operand *to = &loop->operands[0], *from = &loop->operands[1];
    int rows = contiguous_dim(loop);
    if (rows >= 0 && to->strides[last] == 1 && from->strides[last] != 1)
        run_planes(loop, rows);
    else
        amp_loop_run(loop, copies[to->size], NULL);
}
