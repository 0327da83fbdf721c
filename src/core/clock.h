#ifndef AMP_CORE_CLOCK_H
#define AMP_CORE_CLOCK_H

#include <time.h>

/* Seconds since some moment of the past, by a clock that only goes forward (CLOCK_MONOTONIC). */
static inline double amp_clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
