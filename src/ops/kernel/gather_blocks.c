/*
 * Copies blocks by index, or from offsets, which are read of the indices on the way. Threads share
 * the blocks.
 */
#include "ops/kernel/gather_blocks.h"

#include "core/array.h"
#include "ops/kernel/kernel.h"

#include <omp.h>
#include <string.h>

/* N blocks of SIZE bytes from FROM, which may be unaligned, to TO, where they lie one behind the
   other. */
typedef void copy_fn(const void *from, void *to, const int64_t *indices, int64_t n, size_t size);

#define TAKE(SIZE, T)                                                                      \
    static void copy_##SIZE(const void *from, void *to, const int64_t *indices, int64_t n, \
                            size_t size)                                                   \
    {                                                                                      \
        T *taken = to;                                                                     \
        (void)size;                                                                        \
        for (int64_t i = 0; i < n; i++)                                                    \
            memcpy(&taken[i], (const char *)from + (size_t)indices[i] * SIZE, SIZE);       \
    }
TAKE(1, uint8_t)
TAKE(2, uint16_t)
TAKE(4, uint32_t)
TAKE(8, uint64_t)

static void copy_any(const void *from, void *to, const int64_t *indices, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)indices[i] * size, size);
}

static copy_fn *copy_for(size_t size)
{
    static copy_fn *const table[] = {[1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8};
    copy_fn *fn = size < AMP_COUNT(table) ? table[size] : NULL;
    return fn != NULL ? fn : copy_any;
}

/* Blocks BEGIN to END-1 of the result. */
static void copy_range(const struct amp_gather *gather, int64_t begin, int64_t end)
{
    copy_fn *fn = copy_for(gather->block);
    while (begin < end) {
        int64_t outer = begin / gather->n, k = begin % gather->n;
        int64_t n = gather->n - k < end - begin ? gather->n - k : end - begin;
        fn((const char *)gather->from + (size_t)(outer * gather->dim) * gather->block,
           (char *)gather->to + (size_t)begin * gather->block, gather->indices + k, n,
           gather->block);
        begin += n;
    }
}

void amp_gather_run(const struct amp_gather *gather)
{
    int64_t count = gather->outer * gather->n;
    if (gather->block == 0)
        return;
#pragma omp parallel if (count > 1 && (size_t)count >= (size_t)4 * AMP_PARALLEL_MIN / gather->block)
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t share = (count + threads - 1) / threads, begin = thread * share;
        copy_range(gather, begin, begin + share < count ? begin + share : count);
    }
}

/* Offsets that are read at a time. */
enum { STRETCH = 512 };

enum amp_status amp_gather_offsets(struct amp_ctx *ctx, const struct amp_offsets *offsets,
                                   const void *from, void *to, size_t block)
{
    int64_t count = offsets->count, few = block == 0 ? STRETCH : AMP_PARALLEL_MIN / (int64_t)block;
    int64_t stretch = few >= STRETCH ? STRETCH : few + 1;
    bool is_right = true, is_large = count * ((int64_t)block + 4) >= INT64_C(4) * AMP_PARALLEL_MIN;
#pragma omp parallel for reduction(&& : is_right) if (is_large)
    for (int64_t i = 0; i < count; i += stretch) {
        int64_t n = count - i < stretch ? count - i : stretch, list[STRETCH];
        bool is_read = offsets->read(offsets, i, n, list);
        if (is_read)
            copy_for(block)(from, (char *)to + (size_t)i * block, list, n, block);
        is_right = is_read && is_right;
    }
    return is_right ? AMP_OK : amp_offsets_fail(ctx, offsets);
}
