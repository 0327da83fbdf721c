/*
 * A string map with open addressing and linear probing; its slots come from an arena. Entries are
 * never removed: the graph's names only grow. The hash has a secret key, so that nobody can make a
 * file of names that all fall into one slot.
 */
#include "core/strmap.h"

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
    return map->capacity > 0 && amp_strmap_get_hashed(map, key, hash_of(key), value);
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
