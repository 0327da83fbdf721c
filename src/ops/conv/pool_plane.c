/*
 * Pools one plane in C, tap by tap: each tap of the window meets runs of steps, over which it goes
 * in one loop. The window fits the plane; the caller has checked it.
 */
#include "ops/kernel/kernel.h"
#include "ops/conv/pool_plane.h"
#include "ops/kernel/vector_math.h"

/* A body for each element of RUNS: step I, and where it is AT in the image from the run's first one
   on. Those next to each other, or but one, are vector code. */
#define TAP_LOOP(runs, ...)                                   \
    const int64_t count = (runs)->count, by = (runs)->stride; \
    if (by == 1) {                                            \
        AMP_SIMD TAP_LOOP_BY(1, __VA_ARGS__)                  \
    } else if (by == 2) {                                     \
        AMP_SIMD TAP_LOOP_BY(2, __VA_ARGS__)                  \
    } else {                                                  \
        TAP_LOOP_BY(by, __VA_ARGS__)                          \
    }
#define TAP_LOOP_BY(step, ...)            \
    for (int64_t i = 0; i < count; i++) { \
        const int64_t at = i * (step);    \
        __VA_ARGS__                       \
    }

/* As PyTorch has it: the first of equal values wins, a NaN wins over all. Where the window covers
   padding alone, the lowest value and index -1 stay. */
#define MAX_TAPS(DTYPE, T)                                                                      \
    AMP_CLONES(void, max_tap_##DTYPE,                                                           \
               (const struct amp_runs *runs, const void *image, void *steps),                   \
               (runs, image, steps))                                                            \
    {                                                                                           \
        const T *from = (const T *)image + runs->image;                                         \
        T *to = (T *)steps + runs->step;                                                        \
        TAP_LOOP(runs, T value = from[at];                                                      \
                 to[i] = (value > to[i]) | (value != value) ? value : to[i];)                   \
    }                                                                                           \
    AMP_CLONES(void, max_index_tap_##DTYPE,                                                     \
               (const struct amp_runs *runs, const void *image, void *steps, int64_t *index),   \
               (runs, image, steps, index))                                                     \
    {                                                                                           \
        const T *from = (const T *)image + runs->image;                                         \
        T *to = (T *)steps + runs->step;                                                        \
        int64_t *places = index + runs->step;                                                   \
        const int64_t first = runs->image;                                                      \
        TAP_LOOP(runs, T value = from[at], most = to[i]; int64_t place = places[i];             \
                 bool is_better = (place < 0) | (value > most) | (value != value);              \
                 to[i] = is_better ? value : most; places[i] = is_better ? first + at : place;) \
    }
#define MAX_PLANE(DTYPE, T, LOWEST)                                                               \
    MAX_TAPS(DTYPE, T)                                                                            \
    static void max_##DTYPE(const struct amp_pool *pool, const void *image, void *steps,          \
                            int64_t *index)                                                       \
    {                                                                                             \
        const struct amp_window *window = &pool->window;                                          \
        int64_t count = amp_window_product(window->n, window->steps), tap[AMP_SPATIAL_MAX] = {0}; \
        for (int64_t i = 0; i < count; i++)                                                       \
            ((T *)steps)[i] = LOWEST;                                                             \
        for (int64_t i = 0; i < count && index != NULL; i++)                                      \
            index[i] = -1;                                                                        \
        do {                                                                                      \
            struct amp_runs runs;                                                                 \
            amp_runs_start(&runs, window, tap);                                                   \
            while (amp_runs_next(&runs))                                                          \
                if (index != NULL)                                                                \
                    max_index_tap_##DTYPE(&runs, image, steps, index);                            \
                else                                                                              \
                    max_tap_##DTYPE(&runs, image, steps);                                         \
        } while (amp_index_next(window->n, window->kernel, tap));                                 \
    }
MAX_PLANE(FLOAT, float, -INFINITY)
MAX_PLANE(DOUBLE, double, -INFINITY)
MAX_PLANE(INT8, int8_t, INT8_MIN)
MAX_PLANE(UINT8, uint8_t, 0)

static amp_plane_fn *const max_planes[AMP_DTYPE_COUNT] = {[AMP_FLOAT] = max_FLOAT,
                                                          [AMP_DOUBLE] = max_DOUBLE,
                                                          [AMP_INT8] = max_INT8,
                                                          [AMP_UINT8] = max_UINT8};

/* Sums TERM, of each value, over the window; RESULT of each sum becomes the step's. */
#define SUM_PLANE(DTYPE, T, NAME, TERM, RESULT)                                                   \
    AMP_CLONES(void, NAME##_tap_##DTYPE,                                                          \
               (const struct amp_pool *pool, const struct amp_runs *runs, const void *image,      \
                void *steps),                                                                     \
               (pool, runs, image, steps))                                                        \
    {                                                                                             \
        const T *from = (const T *)image + runs->image;                                           \
        T *to = (T *)steps + runs->step;                                                          \
        (void)pool;                                                                               \
        TAP_LOOP(runs, T value = from[at]; to[i] += (T)(TERM);)                                   \
    }                                                                                             \
    static void NAME##_##DTYPE(const struct amp_pool *pool, const void *image, void *steps,       \
                               int64_t *index)                                                    \
    {                                                                                             \
        const struct amp_window *window = &pool->window;                                          \
        int64_t count = amp_window_product(window->n, window->steps), tap[AMP_SPATIAL_MAX] = {0}; \
        T *sums = steps;                                                                          \
        (void)index;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                       \
            sums[i] = 0;                                                                          \
        do {                                                                                      \
            struct amp_runs runs;                                                                 \
            amp_runs_start(&runs, window, tap);                                                   \
            while (amp_runs_next(&runs))                                                          \
                NAME##_tap_##DTYPE(pool, &runs, image, steps);                                    \
        } while (amp_index_next(window->n, window->kernel, tap));                                 \
        for (int64_t i = 0; i < count; i++)                                                       \
            sums[i] = (T)(RESULT);                                                                \
    }

/* |value|^p, with the usual norms spared the power. */
static double power(double value, double p)
{
    if (p == 2)
        return value * value;
    return p == 1 ? fabs(value) : pow(fabs(value), p);
}

static double root(double sum, double p)
{
    return p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, 1 / p);
}

AMP_FLOAT_TYPES(SUM_PLANE, average, value, sums[i] / pool->divisors[i])
AMP_FLOAT_TYPES(SUM_PLANE, norm, pow(fabs((double)value), pool->p), root(sums[i], pool->p))
AMP_FLOAT_TYPES(SUM_PLANE, norm1, fabs((double)value), sums[i])
AMP_FLOAT_TYPES(SUM_PLANE, norm2, (double)value *(double)value, sqrt(sums[i]))

static amp_plane_fn *const average_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, average)};
static amp_plane_fn *const norm_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, norm)};
static amp_plane_fn *const norm1_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, norm1)};
static amp_plane_fn *const norm2_planes[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, norm2)};

/* A whole plane to one value, summed in double. */
#define GLOBAL_PLANE(DTYPE, T, NAME, TERM, RESULT)                                          \
    static void NAME##_##DTYPE(const struct amp_pool *pool, const void *image, void *steps, \
                               int64_t *index)                                              \
    {                                                                                       \
        int64_t count = amp_window_product(pool->window.n, pool->window.image);             \
        double sum = 0;                                                                     \
        (void)index;                                                                        \
        for (int64_t i = 0; i < count; i++) {                                               \
            double value = (double)((const T *)image)[i];                                   \
            sum += TERM;                                                                    \
        }                                                                                   \
        *(T *)steps = (T)(RESULT);                                                          \
    }
AMP_FLOAT_TYPES(GLOBAL_PLANE, global_average, value, sum / (double)count)
AMP_FLOAT_TYPES(GLOBAL_PLANE, global_norm, power(value, pool->p), root(sum, pool->p))

#define GLOBAL_MAX(DTYPE, T)                                                                    \
    static void global_max_##DTYPE(const struct amp_pool *pool, const void *image, void *steps, \
                                   int64_t *index)                                              \
    {                                                                                           \
        int64_t count = amp_window_product(pool->window.n, pool->window.image);                 \
        T best = (T)-INFINITY;                                                                  \
        (void)index;                                                                            \
        for (int64_t i = 0; i < count; i++) {                                                   \
            T value = ((const T *)image)[i];                                                    \
            best = value > best || value != value ? value : best;                               \
        }                                                                                       \
        *(T *)steps = best;                                                                     \
    }
AMP_FLOAT_TYPES(GLOBAL_MAX)

static amp_plane_fn *const global_average_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, global_average)};
static amp_plane_fn *const global_norm_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, global_norm)};
static amp_plane_fn *const global_max_planes[AMP_DTYPE_COUNT] = {
    AMP_FLOAT_TYPES(AMP_ROW, global_max)};

amp_plane_fn *const *amp_pool_planes(enum amp_pool_kind kind, double p)
{
    static amp_plane_fn *const *const kinds[] = {[AMP_POOL_MAX] = max_planes,
                                                 [AMP_POOL_AVERAGE] = average_planes,
                                                 [AMP_POOL_NORM] = norm_planes,
                                                 [AMP_POOL_GLOBAL_MAX] = global_max_planes,
                                                 [AMP_POOL_GLOBAL_AVERAGE] = global_average_planes,
                                                 [AMP_POOL_GLOBAL_NORM] = global_norm_planes};
    if (kind == AMP_POOL_NORM && p == 2)
        return norm2_planes;
    return kind == AMP_POOL_NORM && p == 1 ? norm1_planes : kinds[kind];
}
