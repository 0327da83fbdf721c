#ifndef AMP_CORE_HASH_H
#define AMP_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The FNV-1a hash of SIZE bytes at DATA with SEED: the same on every machine and in every process.
 */
uint32_t amp_hash_fnv(const void *data, size_t size, uint32_t seed);

/* The SipHash-1-3 of SIZE bytes at DATA with a secret key, another in every process: for tables of
   strings that come from files, so that nobody can make a file of names that all collide. */
uint32_t amp_hash_keyed(const void *data, size_t size);

#endif
