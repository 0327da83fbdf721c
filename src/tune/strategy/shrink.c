/*
 * What an answer does not need: takes a search with an answer, runs it without some of its units.
 * The answer changes while this runs: it is the best trial at any time.
 */
#include "tune/strategy/shrink.h"

#include "tune/strategy/batch.h"
#include "tune/strategy/bracket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double hopeless_db =
    3; /* above what is allowed: too much for a prediction to be off */

enum chunk_state { OPEN, RETURNED, KEPT };

/* Units that go back together. */
struct chunk {
    const uint32_t *units; /* in the order of the graph */
    size_t n;
    double worth;     /* loss saved per predicted power */
    bool is_hopeless; /* by the powers that were measured */
    enum chunk_state state;
};

struct chunks {
    struct chunk *items;
    size_t count, capacity;
};

struct shrink {
    struct amp_search *search;
    struct amp_batch batch;
    struct chunk **tried; /* by the batch's candidates */
    double missed;        /* the least predicted power that missed with all elements there */
    bool *keeps;          /* of the candidate at hand */
    bool is_over;         /* no evaluation is left */
};

static struct shrink begin(struct amp_search *search)
{
    struct amp_arena *arena = search->trials->arena;
    struct shrink shrink = {.search = search, .batch = amp_batch_create(search)};
    shrink.tried = amp_arena_array(arena, shrink.batch.most, sizeof *shrink.tried);
    shrink.keeps = amp_arena_array(arena, search->problem->n_units, sizeof *shrink.keeps);
    return shrink;
}

static void push(const struct shrink *shrink, struct chunks *chunks, const uint32_t *units,
                 size_t n)
{
    struct chunk *chunk = amp_arena_push(shrink->search->trials->arena, &chunks->items,
                                         &chunks->count, &chunks->capacity, sizeof *chunk);
    *chunk = (struct chunk){.units = units, .n = n};
}

/* ---- what a chunk is worth ------------------------------------------------------------------- */

/* Sets KEEPS to the answer without CHUNK; returns the loss that saves. */
static double without(const struct shrink *shrink, const struct chunk *chunk)
{
    const struct amp_trial *best = shrink->search->trials->best;
    memcpy(shrink->keeps, best->keeps, shrink->search->problem->n_units * sizeof *shrink->keeps);
    for (size_t i = 0; i < chunk->n; i++)
        shrink->keeps[chunk->units[i]] = false;
    return best->loss - amp_problem_loss(shrink->search->problem, shrink->keeps);
}

/* Whether the choice at hand was seen to be worse than allowed. */
static bool is_seen_to_miss(const struct shrink *shrink)
{
    const struct amp_search *search = shrink->search;
    const struct amp_trial *seen =
        search->previews != NULL ? amp_trials_find(search->previews, shrink->keeps) : NULL;
    return seen != NULL && seen->verdict == AMP_TRIAL_MISSED;
}

/* Whether the choice at hand, which is predicted to have POWER, can hardly meet the criterion. */
static bool is_hopeless(const struct shrink *shrink, double power)
{
    const struct amp_trial *best = shrink->search->trials->best;
    if (is_seen_to_miss(shrink))
        return true;
    double excess =
        amp_power_db(best->measured / best->power) + amp_power_db(power / shrink->search->budget);
    if (isfinite(excess))
        return excess > hopeless_db;
    return amp_power_db(power / shrink->missed) > hopeless_db;
}

static void rate(const struct shrink *shrink, struct chunk *chunk)
{
    double saved = without(shrink, chunk);
    double power = amp_problem_power(shrink->search->problem, shrink->keeps);
    double added = power - shrink->search->trials->best->power;
    chunk->worth = added > 0 ? saved / added : copysign(INFINITY, saved);
    chunk->is_hopeless = is_hopeless(shrink, power);
}

/* For qsort: what can be met first, then what is worth most, then the order of the graph. */
static int compare(const void *first, const void *second)
{
    const struct chunk *a = first, *b = second;
    if (a->is_hopeless != b->is_hopeless)
        return a->is_hopeless ? 1 : -1;
    if (a->worth != b->worth)
        return a->worth > b->worth ? -1 : 1;
    return a->units[0] < b->units[0] ? -1 : 1;
}

static void sort(struct shrink *shrink, struct chunks *chunks)
{
    const struct amp_trials *trials = shrink->search->trials;
    shrink->missed = INFINITY;
    for (size_t i = 0; i < trials->count; i++)
        if (trials->items[i]->verdict == AMP_TRIAL_MISSED && isfinite(trials->items[i]->measured))
            shrink->missed = fmin(shrink->missed, trials->items[i]->power);
    for (size_t i = 0; i < chunks->count; i++)
        rate(shrink, &chunks->items[i]);
    if (chunks->count > 0)
        qsort(chunks->items, chunks->count, sizeof *chunks->items, compare);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Fills the batch with the answer less each of the next chunks. */
static void fill(struct shrink *shrink, struct chunks *chunks, bool with_hopeless)
{
    shrink->batch.n = 0;
    for (size_t i = 0; i < chunks->count && shrink->batch.n < shrink->batch.most; i++) {
        struct chunk *chunk = &chunks->items[i];
        if (chunk->state != OPEN)
            continue;
        if ((chunk->is_hopeless && !with_hopeless) || !(without(shrink, chunk) > 0)) {
            chunk->state = KEPT;
            continue;
        }
        shrink->tried[shrink->batch.n] = chunk;
        amp_batch_add(&shrink->batch, shrink->keeps);
    }
}

/* Tries to return each of CHUNKS. Where several of a batch may go, the best goes and the others are
   tried again with it gone. */
static enum amp_status return_each(struct shrink *shrink, struct chunks *chunks, bool with_hopeless,
                                   struct amp_error *err)
{
    sort(shrink, chunks);
    while (!shrink->is_over) {
        fill(shrink, chunks, with_hopeless);
        if (shrink->batch.n == 0)
            break;
        AMP_TRY(amp_batch_run(&shrink->batch, "shrink", &shrink->is_over, err));
        for (size_t i = 0; i < shrink->batch.n; i++) {
            const struct amp_trial *trial = shrink->batch.found[i];
            if (trial == shrink->search->trials->best)
                shrink->tried[i]->state = RETURNED;
            else if (!amp_trial_is_met(trial))
                shrink->tried[i]->state = KEPT;
        }
    }
    return AMP_OK;
}

/* ---- by chunks ------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parents, uint32_t unit)
{
    while (parents[unit] != unit)
        unit = parents[unit] = parents[parents[unit]];
    return unit;
}

/* Makes A and B parts of one component, which the first of its units stands for, if both are kept.
 */
static void connect(uint32_t *parents, const bool *keeps, uint32_t a, uint32_t b)
{
    if (!keeps[a] || !keeps[b])
        return;
    uint32_t root_a = root_of(parents, a), root_b = root_of(parents, b);
    if (root_a < root_b)
        parents[root_b] = root_a;
    else
        parents[root_a] = root_b;
}

static void push_component(const struct shrink *shrink, struct chunks *chunks, uint32_t *parents,
                           uint32_t root)
{
    size_t n = 0, n_units = shrink->search->problem->n_units;
    for (uint32_t i = root; i < n_units; i++)
        n += root_of(parents, i) == root;
    uint32_t *units = amp_arena_array(shrink->search->trials->arena, n, sizeof *units);
    n = 0;
    for (uint32_t i = root; i < n_units; i++)
        if (root_of(parents, i) == root)
            units[n++] = i;
    push(shrink, chunks, units, n);
}

/* The units of the answer that noise or casts connect. */
static struct chunks find_components(const struct shrink *shrink)
{
    const struct amp_problem *problem = shrink->search->problem;
    const bool *keeps = shrink->search->trials->best->keeps;
    struct chunks chunks = {.count = 0};
    uint32_t *parents = amp_xmalloc(problem->n_units, sizeof *parents);
    for (uint32_t i = 0; i < problem->n_units; i++)
        parents[i] = i;
    for (size_t i = 0; i < problem->n_noises; i++)
        connect(parents, keeps, problem->noises[i].a, problem->noises[i].b);
    for (size_t i = 0; i < problem->n_edges; i++)
        connect(parents, keeps, problem->edges[i].a, problem->edges[i].b);
    for (uint32_t i = 0; i < problem->n_units; i++)
        if (keeps[i] && parents[i] == i)
            push_component(shrink, &chunks, parents, i);
    free(parents);
    return chunks;
}

/* The halves of those of CHUNKS that could not go. */
static struct chunks halve(const struct shrink *shrink, const struct chunks *chunks)
{
    struct chunks halves = {.count = 0};
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->items[i];
        if (chunk->state != KEPT || chunk->n < 2)
            continue;
        push(shrink, &halves, chunk->units, chunk->n / 2);
        push(shrink, &halves, chunk->units + chunk->n / 2, chunk->n - chunk->n / 2);
    }
    return halves;
}

enum amp_status amp_shrink_chunks(struct amp_search *search, struct amp_error *err)
{
    struct shrink shrink = begin(search);
    struct chunks chunks = find_components(&shrink);
    while (chunks.count > 0) {
        AMP_TRY(return_each(&shrink, &chunks, false, err));
        chunks = halve(&shrink, &chunks);
    }
    return AMP_OK;
}

/* ---- one by one ------------------------------------------------------------------------------ */

enum amp_status amp_shrink_singles(struct amp_search *search, struct amp_error *err)
{
    struct shrink shrink = begin(search);
    size_t n_units = search->problem->n_units;
    const struct amp_trial *best = NULL;
    uint32_t *ids = amp_arena_array(search->trials->arena, n_units, sizeof *ids);
    for (uint32_t i = 0; i < n_units; i++)
        ids[i] = i;
    while (best != search->trials->best) {
        struct chunks chunks = {.count = 0};
        best = search->trials->best;
        for (size_t i = 0; i < n_units; i++)
            if (best->keeps[i])
                push(&shrink, &chunks, ids + i, 1);
        AMP_TRY(return_each(&shrink, &chunks, true, err));
    }
    return AMP_OK;
}
