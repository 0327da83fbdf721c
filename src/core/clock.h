#ifndef AMP_CORE_CLOCK_H
#define AMP_CORE_CLOCK_H

/* Seconds since some moment, by a clock that only goes forward. */
double amp_clock_seconds(void);

#endif
