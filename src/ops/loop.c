/*
 * The nested loop with operands of any strides. Shapes were checked by the shape functions; nothing
 * here can fail.
 */
#include "ops/kernel.h"

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
    loop->n_operands = 0;
    memcpy(loop->dims, dims, (size_t)rank * sizeof *dims);
}

void amp_loop_view(struct amp_loop *loop, void *data, size_t size, const int64_t *strides)
{
    struct amp_operand *operand = &loop->operands[loop->n_operands++];
    operand->dtype = AMP_UNDEFINED;
    operand->data = data;
    operand->size = (int64_t)size;
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
static bool is_mergeable(const struct amp_loop *loop, int outer, int inner)
{
    for (int k = 0; k < loop->n_operands; k++) {
        const int64_t *strides = loop->operands[k].strides;
        if (strides[outer] != strides[inner] * loop->dims[inner])
            return false;
    }
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

/* What runs the innermost dim: the body itself, or by way of float32. */
struct work {
    const struct amp_loop *loop;
    amp_loop_body *body;
    const void *param;
    bool widens;
};

static bool is_narrow(const struct amp_operand *operand)
{
    return operand->dtype == AMP_FLOAT16 || operand->dtype == AMP_BFLOAT16;
}

/* Elements that are widened at a time. */
enum { BLOCK = 512 };

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

/* Up to a block of the innermost dim, from element FIRST on. */
static void run_block(const struct work *work, int64_t first, int64_t n, void *const *at,
                      const int64_t *step)
{
    float floats[AMP_LOOP_OPERANDS][BLOCK];
    void *block_at[AMP_LOOP_OPERANDS];
    int64_t block_step[AMP_LOOP_OPERANDS];
    const struct amp_operand *operands = work->loop->operands;
    for (int k = 0; k < work->loop->n_operands; k++) {
        block_at[k] = (char *)at[k] + first * step[k] * operands[k].size;
        block_step[k] = step[k];
        if (!is_narrow(&operands[k]))
            continue;
        block_step[k] = k == 0 ? 1 : widen(&operands[k], block_at[k], step[k], n, floats[k]);
        block_at[k] = floats[k];
    }
    work->body(n, block_at, block_step, work->param);
    if (is_narrow(&operands[0]))
        amp_dtype_convert(AMP_FLOAT, floats[0], operands[0].dtype,
                          (char *)at[0] + first * operands[0].size, (size_t)n);
}

static void run_row(const struct work *work, int64_t n, void *const *at, const int64_t *step)
{
    if (!work->widens) {
        work->body(n, at, step, work->param);
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK)
        run_block(work, i, n - i < BLOCK ? n - i : BLOCK, at, step);
}

/* Works on elements BEGIN to END-1 of the loop in row-major order. */
static void run_range(const struct work *work, int64_t begin, int64_t end)
{
    const struct amp_loop *loop = work->loop;
    int inner = loop->rank - 1;
    int64_t index[AMP_LOOP_RANK], step[AMP_LOOP_OPERANDS];
    amp_index_at(loop->rank, loop->dims, begin, index);
    for (int k = 0; k < loop->n_operands; k++)
        step[k] = loop->operands[k].strides[inner];
    while (begin < end) {
        int64_t n = loop->dims[inner] - index[inner];
        if (n > end - begin)
            n = end - begin;
        void *at[AMP_LOOP_OPERANDS];
        for (int k = 0; k < loop->n_operands; k++) {
            const struct amp_operand *operand = &loop->operands[k];
            int64_t offset = 0;
            for (int d = 0; d <= inner; d++)
                offset += index[d] * operand->strides[d];
            at[k] = operand->data + offset * operand->size;
        }
        run_row(work, n, at, step);
        begin += n;
        index[inner] = 0;
        amp_index_next(inner, loop->dims, index);
    }
}

/* Threads share the work in multiples of some elements, so that where vectors of elements begin,
   and with it the last bit of some functions, does not depend on the number of threads. */
enum { GRAIN = 64 };

static void run_work(struct amp_loop *loop, const struct work *work)
{
    int64_t count = 1;
    for (int d = 0; d < loop->rank; d++)
        count *= loop->dims[d];
    if (count == 0)
        return;
    amp_loop_merge(loop);
#pragma omp parallel if (count >= AMP_PARALLEL_MIN)
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t grains = (count + GRAIN - 1) / GRAIN;
        int64_t share = (grains + threads - 1) / threads * GRAIN, begin = thread * share;
        if (begin < count)
            run_range(work, begin, begin + share < count ? begin + share : count);
    }
}

void amp_loop_run(struct amp_loop *loop, amp_loop_body *body, const void *param)
{
    run_work(loop, &(struct work){loop, body, param, false});
}

void amp_loop_compute(struct amp_loop *loop, amp_loop_body *body, const void *param)
{
    struct work work = {loop, body, param, false};
    for (int k = 0; k < loop->n_operands; k++)
        work.widens |= is_narrow(&loop->operands[k]);
    run_work(loop, &work);
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
        for (int64_t i = 0; i < n; i++)                                                         \
            to[i * step[0]] = from[i * step[1]];                                                \
    }
AMP_SIZED_TYPES(COPY)

amp_loop_body *amp_loop_copy(enum amp_dtype dtype)
{
#define ROW(SIZE, T) [SIZE] = copy_##SIZE,
    static amp_loop_body *const table[] = {AMP_SIZED_TYPES(ROW)};
#undef ROW
    return table[amp_dtype_bits(dtype) / 8];
}
