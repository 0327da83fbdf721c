#ifndef AMP_CORE_NUMBER_INTERVAL_H
#define AMP_CORE_NUMBER_INTERVAL_H

#include <stdbool.h>

/*
 * Intervals of real numbers, ends included; an end may be infinite. What arithmetic gives holds
 * every result of operands within, NaN aside (IEEE 1788-2015, 10.5). Ends are rounded to nearest
 * like any double: who computes in floats widens by what those round (amp_interval_widen).
 */
struct amp_interval {
    double low, high;
};

/* All numbers; one number. */
struct amp_interval amp_interval_all(void);
struct amp_interval amp_interval_of(double number);

/* MAGNITUDE on both sides of 0. */
struct amp_interval amp_interval_around(double magnitude);

/* Whether one end at least is finite. */
bool amp_interval_is_bounded(struct amp_interval a);

/* The largest magnitude, and the least. */
double amp_interval_largest(struct amp_interval a);
double amp_interval_least(struct amp_interval a);

struct amp_interval amp_interval_add(struct amp_interval a, struct amp_interval b);
struct amp_interval amp_interval_sub(struct amp_interval a, struct amp_interval b);
struct amp_interval amp_interval_mul(struct amp_interval a, struct amp_interval b);
struct amp_interval amp_interval_div(struct amp_interval a, struct amp_interval b);
struct amp_interval amp_interval_square(struct amp_interval a);
struct amp_interval amp_interval_abs(struct amp_interval a);

/* What is in either. */
struct amp_interval amp_interval_union(struct amp_interval a, struct amp_interval b);

/* The lesser and the greater of a number of each. */
struct amp_interval amp_interval_min(struct amp_interval a, struct amp_interval b);
struct amp_interval amp_interval_max(struct amp_interval a, struct amp_interval b);

/* What FN, which does not fall, gives. */
struct amp_interval amp_interval_map(struct amp_interval a, double (*fn)(double));

/* A with ends moved outward by SHARE of their magnitudes; an end at 0 stays, as a rounded result is
   of the sign of the exact one or 0. */
struct amp_interval amp_interval_widen(struct amp_interval a, double share);

#endif
