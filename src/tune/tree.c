/*
 * The tree of choices within a budget: takes the bounds of a path, gives the best choice found. At
 * each node of the tree the path of what is still open is followed to the two neighbours around the
 * budget: the one within is a choice; units that are given back and walks between the two make
 * more. The line between the two is below all choices. Where it is not below the best one found
 * there is nothing to look for; else a unit in which the two differ is decided either way (branch
 * and bound on the Lagrangian dual: Fisher, 1981).
 */
#include "tune/tree.h"

#include "tune/front.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

/* What a search may do before it begins no more nodes, as minimum cuts measure it; a unit that is
   decided before a cut counts for 1 of DECIDED_SHARE. Some tenths of a second. */
enum { WORK_LIMIT = 20000000, DECIDED_SHARE = 8 };

/* How many units are decided at most. */
enum { MAX_DEPTH = 64 };

/* A choice that is better by less than this share of the loss is not looked for. */
static const double gain_limit = 1e-4;

/* ---- giving back ------------------------------------------------------------------------------
 */

struct offer {
    double price; /* loss saved for each unit of noise that it adds */
    uint32_t unit;
};

static int compare_offers(const void *left, const void *right)
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
static size_t collect_offers(const struct amp_ties *ties, const bool *low, const bool *keeps,
                             double slack, struct offer *offers)
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
    qsort(offers, n, sizeof *offers, compare_offers);
    return n;
}

/* Takes units from KEEPS while that lowers the loss and adds at most SLACK to the power, to within
   rounding: those first that save the most for the noise that they add. What LOW keeps stays. Each
   unit that goes changes what its neighbours save, so that it goes through the units several times.
   */
static void give_back(const struct amp_ties *ties, double slack, const bool *low, bool *keeps)
{
    struct offer *offers = amp_xmalloc(ties->n_units, sizeof *offers);
    size_t n_given;
    do {
        size_t n = collect_offers(ties, low, keeps, slack, offers);
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

/* ---- the tree ------------------------------------------------------------------------------- */

struct choice {
    bool *keeps;
    double loss, power;
};

/* A node of the tree. */
struct branch {
    bool *least, *most;               /* the bounds, as tight as they are known to be */
    struct choice low, high, between; /* of the path: beyond the budget, within, the next one */
    double price;                     /* at which low and high are equally good */
};

struct search {
    const struct amp_tree *tree;
    struct amp_arena *arena;
    size_t n_units, work;
    struct branch branches[MAX_DEPTH + 1]; /* room for one node of each depth */
    struct choice best, given;             /* given: from which units are given back */
};

/* ---- choices --------------------------------------------------------------------------------- */

static bool *make_keeps(struct search *search)
{
    return amp_arena_array(search->arena, search->n_units, sizeof(bool));
}

static void copy(const struct search *search, const bool *from, bool *to)
{
    memcpy(to, from, search->n_units * sizeof *to);
}

static bool is_same(const struct search *search, const struct choice *a, const struct choice *b)
{
    return memcmp(a->keeps, b->keeps, search->n_units * sizeof *a->keeps) == 0;
}

static void measure(const struct search *search, struct choice *choice)
{
    choice->loss = amp_problem_loss(search->tree->problem, choice->keeps);
    choice->power = amp_problem_power(search->tree->problem, choice->keeps);
}

static void solve(struct search *search, struct amp_cut_bounds bounds, double price,
                  struct choice *choice)
{
    search->work += amp_cuts_solve(search->tree->cuts, bounds, price, choice->keeps);
    search->work += search->n_units / DECIDED_SHARE + 1;
    measure(search, choice);
}

static bool is_within(const struct search *search, const struct choice *choice)
{
    return choice->power <= search->tree->budget;
}

/* Makes CHOICE the best one if it is. */
static void take(struct search *search, const struct choice *choice)
{
    if (!is_within(search, choice) || choice->loss >= search->best.loss)
        return;
    copy(search, choice->keeps, search->best.keeps);
    search->best.loss = choice->loss;
}

/* ---- a node of the tree ---------------------------------------------------------------------- */

/* The node of DEPTH, its bounds being LEAST and MOST. */
static struct branch *start(struct search *search, int depth, struct amp_cut_bounds bounds)
{
    struct branch *branch = &search->branches[depth];
    if (branch->least == NULL) {
        branch->least = make_keeps(search);
        branch->most = make_keeps(search);
        branch->low.keeps = make_keeps(search);
        branch->high.keeps = make_keeps(search);
        branch->between.keeps = make_keeps(search);
    }
    copy(search, bounds.low, branch->least);
    copy(search, bounds.high, branch->most);
    return branch;
}

/* Finds the ends of the path within the bounds, which become the bounds. Whether there is something
   to look for between them: a choice of less loss than the best one, and one within the budget. */
static bool find_ends(struct search *search, struct branch *branch)
{
    struct amp_cut_bounds bounds = {branch->least, branch->most};
    solve(search, bounds, 0, &branch->low);
    take(search, &branch->low);
    if (branch->low.loss >= search->best.loss)
        return false;
    copy(search, branch->low.keeps, branch->least);
    solve(search, bounds, INFINITY, &branch->high);
    copy(search, branch->high.keeps, branch->most);
    return is_within(search, &branch->high);
}

/* The price at which the ends of BRANCH are equally good. */
static double price_of(const struct branch *branch)
{
    return (branch->high.loss - branch->low.loss) / (branch->low.power - branch->high.power);
}

/*
 * Moves the ends together until they are neighbours. At the price at which both are equally good
 * some choice between them is better, or there is none on the path; each cut is smaller than the
 * one before.
 */
static void narrow(struct search *search, struct branch *branch)
{
    while ((branch->price = price_of(branch)) > 0) {
        struct choice *between = &branch->between;
        solve(search, (struct amp_cut_bounds){branch->low.keeps, branch->high.keeps}, branch->price,
              between);
        if (is_same(search, between, &branch->low) || is_same(search, between, &branch->high))
            return;
        struct choice *end = is_within(search, between) ? &branch->high : &branch->low;
        struct choice old = *end;
        *end = *between;
        *between = old;
    }
}

/* Takes GIVEN, and what is left of it when single units are given back. */
static void take_given(struct search *search, const struct branch *branch)
{
    struct choice *given = &search->given;
    measure(search, given);
    take(search, given);
    if (!is_within(search, given))
        return;
    give_back(search->tree->ties, search->tree->budget - given->power, branch->least, given->keeps);
    measure(search, given);
    take(search, given);
}

/* Takes what a walk between the neighbours comes to when the budget ends it. */
static void take_walk(struct search *search, const struct branch *branch, const struct choice *from,
                      const struct choice *to)
{
    struct amp_front front = {search->tree->ties, to->keeps, branch->price,
                              search->tree->budget - from->power};
    copy(search, from->keeps, search->given.keeps);
    search->work += amp_front_walk(&front, search->given.keeps);
    take_given(search, branch);
}

/* Takes the choice within the budget, and what can be made of it and of its neighbour. */
static void take_choices(struct search *search, const struct branch *branch)
{
    copy(search, branch->high.keeps, search->given.keeps);
    take_given(search, branch);
    if (!(branch->price > 0 && branch->price < INFINITY))
        return;
    take_walk(search, branch, &branch->high, &branch->low);
    take_walk(search, branch, &branch->low, &branch->high);
}

/* Whether the line between the ends leaves room for a better choice. */
static bool is_promising(const struct search *search, const struct branch *branch)
{
    double bound = branch->low.loss + branch->price * (branch->low.power - search->tree->budget);
    return bound < search->best.loss - gain_limit * fabs(search->best.loss);
}

/* The unit in which the ends differ that has the most to lose and to remove. */
static uint32_t unit_to_decide(const struct search *search, const struct branch *branch)
{
    const struct amp_ties *ties = search->tree->ties;
    uint32_t unit = 0;
    double most = -1;
    for (uint32_t i = 0; i < search->n_units; i++) {
        if (branch->low.keeps[i] == branch->high.keeps[i])
            continue;
        double power = ties->power[i];
        for (size_t at = ties->first[i]; at < ties->first[i + 1]; at++)
            power += ties->all[at].power;
        double weight = fabs(ties->loss[i]) + branch->price * power;
        if (weight > most) {
            most = weight;
            unit = i;
        }
    }
    return unit;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Looks for better choices within BOUNDS, DEPTH units being decided. */
static void visit(struct search *search, int depth, struct amp_cut_bounds bounds)
{
    struct branch *branch = start(search, depth, bounds);
    if (!find_ends(search, branch))
        return;
    narrow(search, branch);
    take_choices(search, branch);
    if (depth == MAX_DEPTH || !is_promising(search, branch))
        return;
    uint32_t unit = unit_to_decide(search, branch);
    bounds = (struct amp_cut_bounds){branch->least, branch->most};
    branch->most[unit] = false;
    if (search->work < WORK_LIMIT)
        visit(search, depth + 1, bounds);
    branch->most[unit] = true;
    branch->least[unit] = true;
    if (search->work < WORK_LIMIT)
        visit(search, depth + 1, bounds);
}

void amp_tree_search(const struct amp_tree *tree, struct amp_cut_bounds bounds, bool *keeps)
{
    struct amp_arena *arena = amp_arena_create();
    struct search *search = amp_arena_alloc(arena, sizeof *search);
    search->tree = tree;
    search->arena = arena;
    search->n_units = tree->problem->n_units;
    search->best = (struct choice){.keeps = keeps, .loss = INFINITY};
    search->given.keeps = make_keeps(search);
    visit(search, 0, bounds);
    amp_arena_destroy(arena);
}
