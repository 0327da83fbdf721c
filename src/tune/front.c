/*
 * Fronts: takes two choices, one within the other, gives one between them. What units cost and
 * remove is kept up to date as their neighbours change sides; a heap has the next one.
 */
#include "tune/front.h"

#include <stdlib.h>

/* A unit at a rise that it may have no longer. */
struct entry {
    double rise;
    uint32_t unit;
};

struct walk {
    const struct amp_front *front;
    bool *keeps;
    struct amp_arena *arena;
    struct amp_change *changes; /* per unit that could change: what changing adds */
    double *rises;              /* per unit: the same at the price */
    struct entry *heap;         /* the least rise first */
    size_t n_entries, capacity;
    double power; /* that is added so far */
};

/* ---- the heap -------------------------------------------------------------------------------- */

static bool is_before(const struct entry *a, const struct entry *b)
{
    return a->rise < b->rise || (a->rise == b->rise && a->unit < b->unit);
}

static void put(struct walk *walk, uint32_t unit)
{
    struct entry entry = {walk->rises[unit], unit};
    amp_arena_push(walk->arena, &walk->heap, &walk->n_entries, &walk->capacity, sizeof entry);
    size_t at = walk->n_entries - 1;
    for (; at > 0 && is_before(&entry, &walk->heap[(at - 1) / 2]); at = (at - 1) / 2)
        walk->heap[at] = walk->heap[(at - 1) / 2];
    walk->heap[at] = entry;
}

static struct entry get(struct walk *walk)
{
    struct entry first = walk->heap[0], last = walk->heap[--walk->n_entries];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < walk->n_entries) {
        if (child + 1 < walk->n_entries && is_before(&walk->heap[child + 1], &walk->heap[child]))
            child++;
        if (!is_before(&walk->heap[child], &last))
            break;
        walk->heap[at] = walk->heap[child];
        at = child;
    }
    walk->heap[at] = last;
    return first;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool can_change(const struct walk *walk, uint32_t unit)
{
    return walk->keeps[unit] != walk->front->to[unit];
}

static void offer(struct walk *walk, uint32_t unit)
{
    const struct amp_change *change = &walk->changes[unit];
    walk->rises[unit] = change->loss + walk->front->price * change->power;
    put(walk, unit);
}

/* The unit changes sides, and with it what changing costs its neighbours. */
static void change(struct walk *walk, uint32_t unit)
{
    const struct amp_ties *ties = walk->front->ties;
    walk->power += walk->changes[unit].power;
    walk->keeps[unit] = !walk->keeps[unit];
    for (size_t i = ties->first[unit]; i < ties->first[unit + 1]; i++) {
        const struct amp_tie *tie = &ties->all[i];
        if (!can_change(walk, tie->other))
            continue;
        walk->changes[tie->other].loss -= 2 * tie->cost;
        walk->changes[tie->other].power -= tie->power;
        offer(walk, tie->other);
    }
}

/* Whether UNIT may change: its noise fits in, or is needed. */
static bool is_welcome(const struct walk *walk, uint32_t unit)
{
    double power = walk->front->power;
    return power < 0 ? walk->power > power : walk->power + walk->changes[unit].power <= power;
}

size_t amp_front_walk(const struct amp_front *front, bool *keeps)
{
    struct walk walk = {.front = front, .keeps = keeps, .arena = amp_arena_create()};
    size_t n = front->ties->n_units, n_open;
    walk.changes = amp_arena_array(walk.arena, n, sizeof *walk.changes);
    walk.rises = amp_arena_array(walk.arena, n, sizeof *walk.rises);
    for (uint32_t unit = 0; unit < n; unit++)
        if (can_change(&walk, unit)) {
            walk.changes[unit] = amp_ties_change(front->ties, keeps, unit);
            offer(&walk, unit);
        }
    n_open = walk.n_entries;
    while (walk.n_entries > 0) {
        struct entry next = get(&walk);
        if (can_change(&walk, next.unit) && next.rise == walk.rises[next.unit] &&
            is_welcome(&walk, next.unit))
            change(&walk, next.unit);
    }
    amp_arena_destroy(walk.arena);
    return n_open;
}
