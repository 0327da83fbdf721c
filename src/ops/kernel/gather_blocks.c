/*
 * Blocks taken by index, or from places, which are made of the indices on the way.
 */
#include "ops/kernel/gather_blocks.h"

#include "core/array.h"
#include "ops/kernel/kernel.h"

#include <omp.h>
#include <string.h>

/* N blocks of SIZE bytes from FROM to TO, where they lie one behind the other. */
typedef void take_fn(const void *from, void *to, const int64_t *indices, int64_t n, size_t size);

#define TAKE(SIZE, T)                                                                      \
    static void take_##SIZE(const void *from, void *to, const int64_t *indices, int64_t n, \
                            size_t size)                                                   \
    {                                                                                      \
        const T *blocks = from;                                                            \
        T *taken = to;                                                                     \
        (void)size;                                                                        \
        for (int64_t i = 0; i < n; i++)                                                    \
            taken[i] = blocks[indices[i]];                                                 \
    }
TAKE(1, uint8_t)
TAKE(2, uint16_t)
TAKE(4, uint32_t)
TAKE(8, uint64_t)

static void take_any(const void *from, void *to, const int64_t *indices, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)indices[i] * size, size);
}

static take_fn *take_for(size_t size)
{
    static take_fn *const table[] = {[1] = take_1, [2] = take_2, [4] = take_4, [8] = take_8};
    take_fn *fn = size < AMP_COUNT(table) ? table[size] : NULL;
    return fn != NULL ? fn : take_any;
}

/* Blocks BEGIN to END-1 of the result. */
static void take_range(const struct amp_take *take, int64_t begin, int64_t end)
{
    take_fn *fn = take_for(take->block);
    while (begin < end) {
        int64_t outer = begin / take->n, k = begin % take->n;
        int64_t n = take->n - k < end - begin ? take->n - k : end - begin;
        fn((const char *)take->from + (size_t)(outer * take->dim) * take->block,
           (char *)take->to + (size_t)begin * take->block, take->indices + k, n, take->block);
        begin += n;
    }
}

void amp_take_run(const struct amp_take *take)
{
    int64_t count = take->outer * take->n;
    if (take->block == 0)
        return;
#pragma omp parallel if (count > 1 && (size_t)count >= (size_t)4 * AMP_PARALLEL_MIN / take->block)
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t share = (count + threads - 1) / threads, begin = thread * share;
        take_range(take, begin, begin + share < count ? begin + share : count);
    }
}

/* Places that are read at a time. */
enum { STRETCH = 512 };

enum amp_status amp_take_places(struct amp_ctx *ctx, const struct amp_places *places,
                                const void *from, void *to, size_t block)
{
    int64_t count = places->count, few = block == 0 ? STRETCH : AMP_PARALLEL_MIN / (int64_t)block;
    int64_t stretch = few >= STRETCH ? STRETCH : few + 1;
    bool is_right = true, is_large = count * ((int64_t)block + 4) >= INT64_C(4) * AMP_PARALLEL_MIN;
#pragma omp parallel for reduction(&& : is_right) if (is_large)
    for (int64_t i = 0; i < count; i += stretch) {
        int64_t n = count - i < stretch ? count - i : stretch, list[STRETCH];
        bool has_places = places->read(places, i, n, list);
        if (has_places)
            take_for(block)(from, (char *)to + (size_t)i * block, list, n, block);
        is_right = has_places && is_right;
    }
    return is_right ? AMP_OK : amp_places_fail(ctx, places);
}
