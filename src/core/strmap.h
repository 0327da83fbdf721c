#ifndef AMP_CORE_STRMAP_H
#define AMP_CORE_STRMAP_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A hash table from strings to uint32_t. Keys are borrowed and must outlive the map. A map that is
   all zero is empty and ready. */
struct amp_strmap {
    struct amp_strmap_slot {
        const char *key; /* NULL: free */
        uint32_t hash, value;
    } * slots;
    size_t count, capacity; /* capacity: a power of two, or 0 */
};

/* Sets *VALUE (which may be NULL) and returns true when KEY is there. */
bool amp_strmap_get(const struct amp_strmap *map, const char *key, uint32_t *value);

/* The same where HASH is amp_hash_keyed of KEY. */
bool amp_strmap_get_hashed(const struct amp_strmap *map, const char *key, uint32_t hash,
                           uint32_t *value);

/* Adds KEY or replaces its value. */
void amp_strmap_put(struct amp_strmap *map, struct amp_arena *arena, const char *key,
                    uint32_t value);

/* The hash that the map uses, for other tables of strings from files: another in every process. */
uint32_t amp_hash_keyed(const void *data, size_t size);

/* A hash that is the same everywhere. */
uint32_t amp_hash_fnv(const void *data, size_t size, uint32_t seed);

#endif
