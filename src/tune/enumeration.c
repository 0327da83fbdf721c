/*
 * Enumeration: takes a few units to choose, tries their choices one unit after the other, gives the
 * best. It walks a tree instead of a Gray code: going down only adds noise, so that no small noise
 * is lost by taking a large one away again, and a branch ends where it can be no better.
 */
#include "tune/enumeration.h"

#include <math.h>
#include <string.h>

/* Sums of noise in two orders differ by less than this share. */
static const double rounding = 1e-9;

enum side { LOW, KEPT, OPEN }; /* OPEN: not yet chosen */

struct walk {
    const struct amp_enumeration *enumeration;
    unsigned char *sides; /* per unit of the problem: an enum side */
    double *least;        /* per unit to choose: what it and those behind it add to the loss at
                             least; one more entry at the end */
    bool *keeps;          /* the choice at hand, when all are chosen */
    bool *best;
    double best_loss, best_power; /* INFINITY: there is none */
};

/* What UNIT adds to the loss, and to the noise for certain, on the side that is chosen for it. */
static struct amp_change chosen(const struct walk *walk, uint32_t unit, enum side side)
{
    const struct amp_ties *ties = walk->enumeration->ties;
    struct amp_change change = {0, 0};
    if (side == KEPT)
        change.loss = ties->loss[unit];
    else
        change.power = ties->power[unit];
    for (size_t i = ties->first[unit]; i < ties->first[unit + 1]; i++) {
        enum side other = walk->sides[ties->all[i].other];
        if (other != OPEN && other != side)
            change.loss += ties->all[i].cost;
        if (side == LOW && other != LOW)
            change.power += ties->all[i].power;
    }
    return change;
}

/* Whether the choice at hand, whose power is about POWER, meets the budget as others add it up. */
static bool is_within(const struct walk *walk, double power)
{
    double budget = walk->enumeration->budget;
    if (power < budget * (1 - rounding))
        return true;
    return amp_problem_power(walk->enumeration->problem, walk->keeps) <= budget;
}

static void take(struct walk *walk, double loss, double power)
{
    const struct amp_enumeration *enumeration = walk->enumeration;
    bool is_better =
        loss < walk->best_loss || (loss == walk->best_loss && power < walk->best_power);
    for (size_t i = 0; i < enumeration->n_units; i++)
        walk->keeps[enumeration->units[i]] = walk->sides[enumeration->units[i]] == KEPT;
    if (!is_better || !is_within(walk, power))
        return;
    walk->best_loss = loss;
    walk->best_power = power;
    memcpy(walk->best, walk->keeps, enumeration->problem->n_units * sizeof *walk->best);
}

/* Chooses the units from number I on; LOSS and POWER are those of what is chosen. */
static void choose(struct walk *walk, size_t i, double loss, double power)
{
    const struct amp_enumeration *enumeration = walk->enumeration;
    if (power > enumeration->budget * (1 + rounding) || loss + walk->least[i] > walk->best_loss)
        return;
    if (i == enumeration->n_units) {
        take(walk, loss, power);
        return;
    }
    uint32_t unit = enumeration->units[i];
    for (enum side side = LOW; side <= KEPT; side++) {
        struct amp_change change = chosen(walk, unit, side);
        walk->sides[unit] = (unsigned char)side;
        choose(walk, i + 1, loss + change.loss, power + change.power);
        walk->sides[unit] = OPEN;
    }
}

/* Sets the sides of the units that stay, and to *FIXED what they cost. */
static void fix_others(struct walk *walk, const bool *keeps, struct amp_change *fixed)
{
    const struct amp_enumeration *enumeration = walk->enumeration;
    size_t n_units = enumeration->problem->n_units;
    memset(walk->sides, OPEN, n_units);
    memset(walk->keeps, true, n_units * sizeof *walk->keeps);
    for (size_t i = 0; i < enumeration->n_units; i++)
        walk->keeps[enumeration->units[i]] = false;
    *fixed = (struct amp_change){0, enumeration->problem->floor};
    for (uint32_t unit = 0; unit < n_units; unit++) {
        enum side side = keeps[unit] ? KEPT : LOW;
        if (!walk->keeps[unit])
            continue;
        struct amp_change change = chosen(walk, unit, side);
        walk->sides[unit] = (unsigned char)side;
        *fixed = (struct amp_change){fixed->loss + change.loss, fixed->power + change.power};
    }
    memcpy(walk->keeps, keeps, n_units * sizeof *keeps);
}

bool amp_enumeration_solve(const struct amp_enumeration *enumeration, bool *keeps)
{
    struct amp_arena *arena = amp_arena_create();
    struct walk walk = {.enumeration = enumeration, .best_loss = INFINITY, .best_power = INFINITY};
    size_t n_units = enumeration->problem->n_units;
    struct amp_change fixed;
    walk.sides = amp_arena_alloc(arena, n_units);
    walk.keeps = amp_arena_array(arena, n_units, sizeof *walk.keeps);
    walk.best = amp_arena_array(arena, n_units, sizeof *walk.best);
    walk.least = amp_arena_array(arena, enumeration->n_units + 1, sizeof *walk.least);
    for (size_t i = enumeration->n_units; i-- > 0;)
        walk.least[i] = walk.least[i + 1] + fmin(enumeration->ties->loss[enumeration->units[i]], 0);
    fix_others(&walk, keeps, &fixed);
    choose(&walk, 0, fixed.loss, fixed.power);
    bool is_found = walk.best_loss < INFINITY;
    if (is_found)
        memcpy(keeps, walk.best, n_units * sizeof *keeps);
    amp_arena_destroy(arena);
    return is_found;
}
