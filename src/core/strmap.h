#ifndef AMP_CORE_STRMAP_H
#define AMP_CORE_STRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amp_arena;

/* A hash table from strings to uint32_t. Keys are borrowed and must outlive the map. A map that is
   all zero is empty and ready. */
struct amp_strmap {
    struct amp_strmap_slot {
        const char *key; /* NULL: free */
        uint32_t hash, value;
    } * slots;
    size_t count, capacity; /* capacity: a power of two, or 0 */
};

/* Whether KEY is in the map; *VALUE (VALUE may be NULL) becomes its value then. */
bool amp_strmap_get(const struct amp_strmap *map, const char *key, uint32_t *value);

/* As amp_strmap_get, for a caller that has HASH, the amp_hash_keyed of KEY. */
bool amp_strmap_get_hashed(const struct amp_strmap *map, const char *key, uint32_t hash,
                           uint32_t *value);

/* Adds KEY or replaces its value. */
void amp_strmap_put(struct amp_strmap *map, struct amp_arena *arena, const char *key,
                    uint32_t value);

#endif
