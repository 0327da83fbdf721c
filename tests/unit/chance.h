#ifndef AMP_TESTS_CHANCE_H
#define AMP_TESTS_CHANCE_H

/* Random numbers for tests that make their inputs: the same ones everywhere for the same seed. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* splitmix64, so that a failure can be had again. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline size_t below(uint64_t *state, size_t bound)
{
    return (size_t)(next_random(state) % bound);
}

static inline bool one_in(uint64_t *state, size_t n)
{
    return below(state, n) == 0;
}

/* ---- values that programs trip over ---------------------------------------------------------- */

static inline int64_t odd_integer(uint64_t *state, int64_t old)
{
    static const int64_t extremes[] = {INT64_MAX,
                                       INT64_MIN,
                                       INT64_MAX - 1,
                                       INT32_MAX,
                                       INT32_MIN,
                                       (int64_t)INT32_MAX + 1,
                                       UINT32_MAX,
                                       (int64_t)UINT32_MAX + 1,
                                       INT64_C(1) << 40,
                                       INT64_C(1) << 62,
                                       -1,
                                       0,
                                       65536,
                                       INT64_C(3037000500),
                                       1000003};
    switch (below(state, 6)) {
    case 0:
        return extremes[below(state, sizeof extremes / sizeof extremes[0])];
    case 1:
        return old == INT64_MIN ? 0 : -old;
    case 2:
        return old == INT64_MAX ? 0 : old + 1;
    case 3:
        return old == INT64_MIN ? 0 : old - 1;
    case 4:
        return (int64_t)below(state, 30);
    default:
        return (int64_t)below(state, 7) - 3;
    }
}

static inline double odd_float(uint64_t *state, double old)
{
    const double extremes[] = {NAN, INFINITY, -INFINITY,    0,      -0.0, 1,
                               -1,  3.5e38,   -3.5e38,      1e-45,  0.5,  65504,
                               1e5, -1e-3,    2147483648.0, 9.3e18, 1e308};
    if (one_in(state, 4))
        return -old;
    return extremes[below(state, sizeof extremes / sizeof extremes[0])];
}

#endif
