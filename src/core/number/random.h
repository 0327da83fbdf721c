#ifndef AMP_CORE_NUMBER_RANDOM_H
#define AMP_CORE_NUMBER_RANDOM_H

#include <stdint.h>

/*
 * Numbers that are random enough for test data and the same on every machine: integer arithmetic
 * throughout, no function of the C library whose last bit may differ.
 */
struct amp_random {
    uint64_t state[4];
};

/* Starts the sequence that (SEED, STREAM) stand for. */
struct amp_random amp_random_start(uint64_t seed, uint64_t stream);

/* 64 random bits. */
uint64_t amp_random_next(struct amp_random *random);

/* LOWEST to HIGHEST, both possible; a span below 2^32 is even to one part in 2^32. */
int64_t amp_random_between(struct amp_random *random, int64_t lowest, int64_t highest);

/* Mean 0, variance 1, from -6 to 6: the sum of twelve uniform numbers, close to a normal one. */
float amp_random_normal(struct amp_random *random);

#endif
