/*
 * Interval arithmetic: takes and gives intervals of real numbers. Knows of no dtype and no tensor.
 */
#include "core/number/interval.h"

#include <math.h>

struct amp_interval amp_interval_all(void)
{
    return (struct amp_interval){-INFINITY, INFINITY};
}

struct amp_interval amp_interval_of(double number)
{
    return (struct amp_interval){number, number};
}

struct amp_interval amp_interval_around(double magnitude)
{
    return (struct amp_interval){-magnitude, magnitude};
}

bool amp_interval_is_bounded(struct amp_interval a)
{
    return a.low > -INFINITY || a.high < INFINITY;
}

double amp_interval_largest(struct amp_interval a)
{
    return fmax(fabs(a.low), fabs(a.high));
}

double amp_interval_least(struct amp_interval a)
{
    return a.low <= 0 && a.high >= 0 ? 0 : fmin(fabs(a.low), fabs(a.high));
}

/* The interval from LOW to HIGH, where NaN, which infinite ends give, says nothing. */
static struct amp_interval ordered(double low, double high)
{
    return (struct amp_interval){isnan(low) ? -INFINITY : low, isnan(high) ? INFINITY : high};
}

struct amp_interval amp_interval_add(struct amp_interval a, struct amp_interval b)
{
    return ordered(a.low + b.low, a.high + b.high);
}

struct amp_interval amp_interval_sub(struct amp_interval a, struct amp_interval b)
{
    return ordered(a.low - b.high, a.high - b.low);
}

/* A product of ends; 0 times an infinite end is 0, as of a number below it. */
static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

struct amp_interval amp_interval_mul(struct amp_interval a, struct amp_interval b)
{
    double ll = product(a.low, b.low), lh = product(a.low, b.high);
    double hl = product(a.high, b.low), hh = product(a.high, b.high);
    return (struct amp_interval){fmin(fmin(ll, lh), fmin(hl, hh)),
                                 fmax(fmax(ll, lh), fmax(hl, hh))};
}

struct amp_interval amp_interval_div(struct amp_interval a, struct amp_interval b)
{
    if (b.low <= 0 && b.high >= 0)
        return amp_interval_all();
    return amp_interval_mul(a, (struct amp_interval){1 / b.high, 1 / b.low});
}

struct amp_interval amp_interval_square(struct amp_interval a)
{
    double least = amp_interval_least(a), largest = amp_interval_largest(a);
    return (struct amp_interval){least * least, largest * largest};
}

struct amp_interval amp_interval_abs(struct amp_interval a)
{
    return (struct amp_interval){amp_interval_least(a), amp_interval_largest(a)};
}

struct amp_interval amp_interval_union(struct amp_interval a, struct amp_interval b)
{
    return (struct amp_interval){fmin(a.low, b.low), fmax(a.high, b.high)};
}

struct amp_interval amp_interval_min(struct amp_interval a, struct amp_interval b)
{
    return (struct amp_interval){fmin(a.low, b.low), fmin(a.high, b.high)};
}

struct amp_interval amp_interval_max(struct amp_interval a, struct amp_interval b)
{
    return (struct amp_interval){fmax(a.low, b.low), fmax(a.high, b.high)};
}

struct amp_interval amp_interval_map(struct amp_interval a, double (*fn)(double))
{
    return ordered(fn(a.low), fn(a.high));
}

struct amp_interval amp_interval_widen(struct amp_interval a, double share)
{
    return ordered(a.low - fabs(a.low) * share, a.high + fabs(a.high) * share);
}
