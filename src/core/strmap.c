/*
 * A string map with open addressing and linear probing; its slots come from an arena. Entries are
 * never removed: the graph's names only grow.
 */
#include "core/strmap.h"

#include <string.h>

uint32_t amp_hash(const void *data, size_t size, uint32_t seed)
{
    /* FNV-1a with a final mix, so that the low bits depend on every byte. */
    const unsigned char *bytes = data;
    uint32_t hash = 2166136261u ^ seed;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    hash ^= hash >> 15;
    return hash * 2246822519u;
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
    if (map->capacity == 0)
        return false;
    struct amp_strmap_slot *slot = find_slot(map, key, amp_hash(key, strlen(key), 0));
    if (slot->key == NULL)
        return false;
    if (value != NULL)
        *value = slot->value;
    return true;
}

static void grow(struct amp_strmap *map, struct amp_arena *arena)
{
    struct amp_strmap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->slots = amp_arena_array(arena, map->capacity, sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key != NULL)
            *find_slot(map, old.slots[i].key, old.slots[i].hash) = old.slots[i];
}

void amp_strmap_put(struct amp_strmap *map, struct amp_arena *arena, const char *key,
                    uint32_t value)
{
    if ((map->count + 1) * 4 > map->capacity * 3)
        grow(map, arena);
    uint32_t hash = amp_hash(key, strlen(key), 0);
    struct amp_strmap_slot *slot = find_slot(map, key, hash);
    if (slot->key == NULL)
        map->count++;
    *slot = (struct amp_strmap_slot){.key = key, .hash = hash, .value = value};
}
