/*
 * The clock that run times are measured with. Takes nothing, gives seconds; does not know the date.
 */
#include "core/clock.h"

#include <time.h>

double amp_clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
