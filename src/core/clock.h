#ifndef AMP_CORE_CLOCK_H
#define AMP_CORE_CLOCK_H

/* Seconds since some moment of the past, by a clock that only goes forward (CLOCK_MONOTONIC). */
double amp_clock_seconds(void);

#endif
