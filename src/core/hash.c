/*
 * Hashes of bytes: one that is the same everywhere, and one that nobody outside the process can
 * foresee. Whoever compares the bytes of equal hashes is the caller.
 */
#include "core/hash.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

uint32_t amp_hash_fnv(const void *data, size_t size, uint32_t seed)
{
    /* FNV-1a with a final mix, so that the low bits depend on every byte. */
    const unsigned char *bytes = data;
    uint32_t hash = 2166136261u ^ seed;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    hash ^= hash >> 15;
    return hash * 2246822519u;
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

static const uint64_t *secret_key(void)
{
    static uint64_t key[2];
    static bool is_made;
    if (!is_made && getrandom(key, sizeof key, GRND_NONBLOCK) < 0)
        key[0] = (uintptr_t)&is_made;
    is_made = true;
    return key;
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). */
uint32_t amp_hash_keyed(const void *data, size_t size)
{
    const uint64_t *key = secret_key();
    const unsigned char *bytes = data;
    uint64_t word, v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                           key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t left = size;
    for (; left >= sizeof word; left -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    word = 0;
    memcpy(&word, bytes, left);
    word |= (uint64_t)size << 56;
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    uint64_t hash = v[0] ^ v[1] ^ v[2] ^ v[3];
    return (uint32_t)(hash ^ hash >> 32);
}
