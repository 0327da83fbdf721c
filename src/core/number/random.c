/*
 * Random numbers: takes a seed, gives a sequence by xoshiro256** 1.0, its state filled by
 * splitmix64 (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021; G.
 * Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", 2014).
 */
#include "core/number/random.h"

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t split_mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

struct amp_random amp_random_start(uint64_t seed, uint64_t stream)
{
    struct amp_random random;
    uint64_t mixed = split_mix(&seed) ^ stream;
    for (int i = 0; i < 4; i++)
        random.state[i] = split_mix(&mixed);
    return random;
}

uint64_t amp_random_next(struct amp_random *random)
{
    uint64_t *s = random->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

int64_t amp_random_between(struct amp_random *random, int64_t lowest, int64_t highest)
{
    uint64_t span = (uint64_t)highest - (uint64_t)lowest + 1; /* 0: all 2^64 */
    uint64_t bits = amp_random_next(random);
    return (int64_t)((uint64_t)lowest + (span ? bits % span : bits));
}

float amp_random_normal(struct amp_random *random)
{
    int64_t sum = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t bits = amp_random_next(random);
        sum += (int64_t)(bits >> 32) + (int64_t)(bits & UINT32_MAX);
    }
    return (float)((double)(sum - (INT64_C(6) << 32)) / 0x1p32);
}
