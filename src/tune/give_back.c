/*
 * Giving back: takes a choice of units within a budget, returns single units to the lower dtype in
 * the order of what they save for the noise that they add, until none fits. Each unit that goes
 * changes what its neighbours save, so that it goes through the units several times.
 */
#include "tune/give_back.h"

#include <math.h>
#include <stdlib.h>

struct offer {
    double price; /* loss saved for each unit of noise that it adds */
    uint32_t unit;
};

static int compare(const void *left, const void *right)
{
    const struct offer *a = left, *b = right;
    if (a->price != b->price)
        return a->price > b->price ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static bool is_welcome(struct amp_change change, double slack)
{
    return change.loss < 0 && change.power <= slack;
}

/* Sets OFFERS to the units that can be given back now, the best first. Returns their number. */
static size_t collect(const struct amp_ties *ties, const bool *low, const bool *keeps, double slack,
                      struct offer *offers)
{
    size_t n = 0;
    for (uint32_t unit = 0; unit < ties->n_units; unit++) {
        if (!keeps[unit] || low[unit])
            continue;
        struct amp_change change = amp_ties_change(ties, keeps, unit);
        if (is_welcome(change, slack))
            offers[n++] =
                (struct offer){change.power > 0 ? -change.loss / change.power : INFINITY, unit};
    }
    qsort(offers, n, sizeof *offers, compare);
    return n;
}

void amp_give_back(const struct amp_ties *ties, double slack, const bool *low, bool *keeps)
{
    struct offer *offers = amp_xmalloc(ties->n_units, sizeof *offers);
    size_t n_given;
    do {
        size_t n = collect(ties, low, keeps, slack, offers);
        n_given = 0;
        for (size_t i = 0; i < n; i++) {
            struct amp_change change = amp_ties_change(ties, keeps, offers[i].unit);
            if (!is_welcome(change, slack))
                continue;
            keeps[offers[i].unit] = false;
            slack -= change.power;
            n_given++;
        }
    } while (n_given > 0);
    free(offers);
}
