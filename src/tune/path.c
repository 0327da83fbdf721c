/*
 * The path of a problem: takes a price, or a budget of noise, gives the units to keep in float32.
 * It runs nothing.
 */
#include "tune/path.h"

#include "tune/cuts.h"
#include "tune/enumeration.h"
#include "tune/tree.h"

#include <math.h>
#include <string.h>

/* From how many units that matter on choices are not enumerated. */
enum { ENUMERABLE = 12 };

struct amp_path {
    const struct amp_problem *problem;
    struct amp_arena *arena;
    struct amp_ties *ties;
    struct amp_cuts *cuts;
    bool *least, *end; /* the choices at price 0 and at an infinite price. Within any budget there
                          is a best choice that keeps LEAST, and END at most */
    uint32_t *matters; /* the units that END keeps and LEAST does not; the others are decided */
    size_t n_matter;
};

static void find_ends(struct amp_path *path)
{
    size_t n = path->problem->n_units;
    path->least = amp_arena_array(path->arena, n, sizeof *path->least);
    path->end = amp_arena_array(path->arena, n, sizeof *path->end);
    path->matters = amp_arena_array(path->arena, n, sizeof *path->matters);
    memset(path->end, true, n * sizeof *path->end);
    amp_cuts_solve(path->cuts, (struct amp_cut_bounds){path->least, path->end}, 0, path->least);
    amp_cuts_solve(path->cuts, (struct amp_cut_bounds){path->least, path->end}, INFINITY,
                   path->end);
    for (uint32_t unit = 0; unit < n; unit++)
        if (path->end[unit] && !path->least[unit])
            path->matters[path->n_matter++] = unit;
}

struct amp_path *amp_path_create(const struct amp_problem *problem)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_path *path = amp_arena_alloc(arena, sizeof *path);
    path->problem = problem;
    path->arena = arena;
    path->ties = amp_ties_create(arena, problem);
    path->cuts = amp_cuts_create(arena, path->ties);
    find_ends(path);
    return path;
}

void amp_path_destroy(struct amp_path *path)
{
    if (path != NULL)
        amp_arena_destroy(path->arena);
}

void amp_path_at(struct amp_path *path, double price, bool *keeps)
{
    amp_cuts_solve(path->cuts, (struct amp_cut_bounds){path->least, path->end}, price, keeps);
}

bool amp_path_is_exact(const struct amp_path *path)
{
    return path->n_matter < ENUMERABLE;
}

static void enumerate(const struct amp_path *path, double budget, bool *keeps)
{
    struct amp_enumeration enumeration = {.problem = path->problem,
                                          .ties = path->ties,
                                          .units = path->matters,
                                          .n_units = path->n_matter,
                                          .budget = budget};
    amp_enumeration_solve(&enumeration, keeps);
}

static void search(const struct amp_path *path, double budget, bool *keeps)
{
    struct amp_tree tree = {
        .problem = path->problem, .ties = path->ties, .cuts = path->cuts, .budget = budget};
    amp_tree_search(&tree, (struct amp_cut_bounds){path->least, path->end}, keeps);
}

bool amp_path_within(struct amp_path *path, double budget, bool *keeps)
{
    size_t size = path->problem->n_units * sizeof *keeps;
    memcpy(keeps, path->end, size);
    if (!(amp_problem_power(path->problem, path->end) <= budget))
        return false;
    if (amp_problem_power(path->problem, path->least) <= budget)
        memcpy(keeps, path->least, size);
    else if (amp_path_is_exact(path))
        enumerate(path, budget, keeps);
    else
        search(path, budget, keeps);
    return true;
}
