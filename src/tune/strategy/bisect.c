/*
 * The strategy of onnxconverter-common (auto_mixed_precision.py): takes a search, begins with all
 * units in float32 and lowers stretches of them, the longest first. Where nothing may be lowered it
 * ends with a run of all in float32.
 */
#include "tune/search.h"

/* Units in a row that nothing is known of. */
struct stretch {
    size_t first, n;
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

static void push(struct amp_search *search, struct stretches *all, size_t first, size_t n)
{
    if (n > 0)
        *(struct stretch *)amp_arena_push(search->trials->arena, &all->items, &all->count,
                                          &all->capacity, sizeof *all->items) =
            (struct stretch){.first = first, .n = n};
}

/* Takes the longest out, of equal ones the first in the graph. */
static struct stretch take_longest(struct stretches *all)
{
    size_t best = 0;
    for (size_t i = 1; i < all->count; i++) {
        const struct stretch *a = &all->items[i], *b = &all->items[best];
        if (a->n > b->n || (a->n == b->n && a->first < b->first))
            best = i;
    }
    struct stretch longest = all->items[best];
    all->items[best] = all->items[--all->count];
    return longest;
}

static void fill(bool *keeps, struct stretch stretch, bool value)
{
    for (size_t i = 0; i < stretch.n; i++)
        keeps[stretch.first + i] = value;
}

static enum amp_status run(struct amp_search *search, struct amp_error *err)
{
    struct amp_trials *trials = search->trials;
    size_t n = search->problem->n_units;
    struct stretches unknown = {.count = 0};
    struct amp_trial *trial = NULL;
    bool *keeps = amp_arena_array(trials->arena, n, sizeof *keeps);
    fill(keeps, (struct stretch){.n = n}, true);
    push(search, &unknown, 0, n);
    while (unknown.count > 0) {
        struct stretch stretch = take_longest(&unknown);
        fill(keeps, stretch, false);
        AMP_TRY(amp_trials_run(trials, keeps, "bisect", &trial, err));
        if (trial == NULL)
            break;
        if (trial->verdict == AMP_TRIAL_MET)
            continue;
        fill(keeps, stretch, true);
        if (stretch.n > 1) {
            push(search, &unknown, stretch.first, stretch.n / 2);
            push(search, &unknown, stretch.first + stretch.n / 2, stretch.n - stretch.n / 2);
        }
    }
    if (trials->best == NULL)
        AMP_TRY(amp_trials_run(trials, keeps, "all kept", &trial, err));
    search->is_minimal = amp_trials_best_is_minimal(search->trials);
    return AMP_OK;
}

const struct amp_strategy amp_strategy_bisect = {
    .name = "bisect",
    .text = "from float32 down, by stretches in order (as onnxconverter-common does)",
    .run = run,
};
