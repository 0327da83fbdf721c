/*
 * A string map with open addressing and linear probing; its slots come from an arena. Takes
 * borrowed keys, never copies them. Entries are never removed: the graph's names only grow.
 */
#include "core/strmap.h"

#include "core/arena.h"
#include "core/hash.h"

#include <string.h>

static uint32_t hash_of(const char *key)
{
    return amp_hash_keyed(key, strlen(key));
}

static struct amp_strmap_slot *find_slot(const struct amp_strmap *map, const char *key,
                                         uint32_t hash)
{
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct amp_strmap_slot *slot = &map->slots[i];
        if (slot->key == NULL || (slot->hash == hash && strcmp(slot->key, key) == 0))
            return slot;
    }
}

bool amp_strmap_get(const struct amp_strmap *map, const char *key, uint32_t *value)
{
    return amp_strmap_get_hashed(map, key, hash_of(key), value);
}

bool amp_strmap_get_hashed(const struct amp_strmap *map, const char *key, uint32_t hash,
                           uint32_t *value)
{
    if (map->capacity == 0)
        return false;
    struct amp_strmap_slot *slot = find_slot(map, key, hash);
    if (slot->key == NULL)
        return false;
    if (value != NULL)
        *value = slot->value;
    return true;
}

/* The slot for a key that is not there. */
static struct amp_strmap_slot *find_free(const struct amp_strmap *map, uint32_t hash)
{
    size_t mask = map->capacity - 1, i = hash & mask;
    while (map->slots[i].key != NULL)
        i = (i + 1) & mask;
    return &map->slots[i];
}

static void grow(struct amp_strmap *map, struct amp_arena *arena)
{
    struct amp_strmap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 8;
    map->slots = amp_arena_array(arena, map->capacity, sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key != NULL)
            *find_free(map, old.slots[i].hash) = old.slots[i];
    amp_arena_release(arena, old.slots, old.capacity * sizeof *old.slots);
}

void amp_strmap_put(struct amp_strmap *map, struct amp_arena *arena, const char *key,
                    uint32_t value)
{
    if ((map->count + 1) * 4 > map->capacity * 3)
        grow(map, arena);
    uint32_t hash = hash_of(key);
    struct amp_strmap_slot *slot = find_slot(map, key, hash);
    if (slot->key == NULL)
        map->count++;
    *slot = (struct amp_strmap_slot){.key = key, .hash = hash, .value = value};
}
