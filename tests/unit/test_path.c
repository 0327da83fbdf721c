/* What a search tries: paths of choices, and the minimum cuts that they are made of. */
#include "core/array.h"
#include "tune/cuts.h"
#include "tune/enumeration.h"
#include "tune/formulate.h"
#include "tune/front.h"
#include "tune/min_cut.h"
#include "tune/path.h"
#include "tune/ties.h"
#include "tune_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- path ------------------------------------------------------------------------------------ */

/* Paths of choices: on random small problems against all their choices, and on extreme numbers. */

/* From how many units on a problem is not enumerated, and the most whose choices are tried here. */
enum { ENUMERABLE = 12, MOST = 16 };

/* ---- all choices ----------------------------------------------------------------------------- */

static void spell(uint32_t choice, size_t n, bool *keeps)
{
    for (size_t i = 0; i < n; i++)
        keeps[i] = (choice >> i & 1) != 0;
}

static double magnitude(const struct amp_problem *problem)
{
    double sum = 0;
    for (size_t i = 0; i < problem->n_units; i++)
        sum += fabs(problem->units[i].loss);
    return sum;
}

static double energy(const struct amp_problem *problem, double price, const bool *keeps)
{
    return amp_problem_loss(problem, keeps) + price * amp_problem_power(problem, keeps);
}

/* ---- two lower dtypes ------------------------------------------------------------------------ */

enum level { COARSE, FINE, WIDE, N_LEVELS };

enum { PAIRED_MOST = 7 };

/* Problems of the same units in two dtypes, and the one of both. */
struct pair {
    struct amp_problem *coarse, *fine, *both;
    size_t n;                      /* units */
    uint32_t of_unit[PAIRED_MOST]; /* the second step, or the only one, of a unit, in all three */
};

/* Puts a first step before the units of PROBLEM that HAS_STEPS says. */
static void add_steps(struct amp_arena *arena, struct amp_problem *problem, const bool *has_steps,
                      struct pair *pair)
{
    struct amp_unit *units = amp_arena_array(arena, 2 * pair->n, sizeof *units);
    problem->n_units = 0;
    for (size_t i = 0; i < pair->n; i++) {
        if (has_steps[i])
            units[problem->n_units++].is_fine = true;
        pair->of_unit[i] = (uint32_t)problem->n_units;
        units[problem->n_units++] = problem->units[i];
    }
    problem->units = units;
    for (size_t i = 0; i < problem->n_noises; i++) {
        problem->noises[i].a = pair->of_unit[problem->noises[i].a];
        problem->noises[i].b = pair->of_unit[problem->noises[i].b];
    }
    for (size_t i = 0; i < problem->n_edges; i++) {
        problem->edges[i].a = pair->of_unit[problem->edges[i].a];
        problem->edges[i].b = pair->of_unit[problem->edges[i].b];
    }
}

/* Makes a pair: in the finer dtype noise is a part of what it is in the coarser one, and units lose
   a little more or less. */
static struct pair make_pair(struct amp_arena *arena, const struct tune_maker *maker, size_t n)
{
    struct pair pair = {.coarse = tune_make(arena, maker, n), .n = n};
    const struct amp_problem *from = pair.coarse;
    bool has_steps[PAIRED_MOST];
    pair.fine = amp_arena_memdup(arena, from, sizeof *from);
    pair.both = amp_arena_alloc(arena, sizeof *pair.both);
    pair.fine->units = amp_arena_memdup(arena, from->units, n * sizeof *from->units);
    pair.fine->noises =
        amp_arena_memdup(arena, from->noises, from->n_noises * sizeof *from->noises);
    pair.fine->edges = amp_arena_memdup(arena, from->edges, from->n_edges * sizeof *from->edges);
    for (size_t i = 0; i < from->n_noises; i++)
        pair.fine->noises[i].power *= tune_drawn(maker->state, (struct tune_spread){1e-3, 1});
    for (size_t i = 0; i < n; i++) {
        has_steps[i] = !one_in(maker->state, 4);
        pair.fine->units[i].loss *= tune_drawn(maker->state, (struct tune_spread){0.5, 1.5});
    }
    add_steps(arena, pair.coarse, has_steps, &pair);
    add_steps(arena, pair.fine, has_steps, &pair);
    pair.both->n_units = pair.coarse->n_units;
    pair.both->units =
        amp_arena_memdup(arena, pair.coarse->units, pair.both->n_units * sizeof(struct amp_unit));
    amp_problem_combine(pair.coarse, pair.fine, pair.both, arena);
    return pair;
}

static bool has_step(const struct pair *pair, uint32_t unit)
{
    return amp_problem_step(pair->both, unit) != unit;
}

/* The level of the unit whose last step is UNIT. */
static enum level level_at(const struct pair *pair, const enum level *levels, uint32_t unit)
{
    size_t i = 0;
    while (pair->of_unit[i] != unit)
        i++;
    return levels[i];
}

static double cost_of_casts(const struct pair *pair, const enum level *levels)
{
    static const double heights[N_LEVELS] = {0, 2.0 / 3, 5.0 / 3};
    double cost = 0;
    for (size_t i = 0; i < pair->coarse->n_edges; i++) {
        const struct amp_problem_edge *edge = &pair->coarse->edges[i];
        enum level a = level_at(pair, levels, edge->a), b = level_at(pair, levels, edge->b);
        bool is_plain = !has_step(pair, edge->a) && !has_step(pair, edge->b);
        cost += edge->cost * (is_plain ? a != b : fabs(heights[a] - heights[b]));
    }
    return cost;
}

/* The noise of two units is that of the coarser of their dtypes; of units that have one dtype
   alone, that which they have. */
static double power_of_levels(const struct pair *pair, const enum level *levels)
{
    double power = pair->coarse->floor;
    for (size_t i = 0; i < pair->coarse->n_noises; i++) {
        const struct amp_problem_noise *noise = &pair->coarse->noises[i];
        enum level a = level_at(pair, levels, noise->a), b = level_at(pair, levels, noise->b);
        enum level worst = a < b ? a : b;
        power += worst == COARSE ? noise->power : worst == FINE ? pair->fine->noises[i].power : 0;
    }
    return power;
}

/* What LEVELS, one per unit, cost at PRICE, by the definition. */
static double energy_of_levels(const struct pair *pair, double price, const enum level *levels)
{
    double loss = cost_of_casts(pair, levels);
    for (size_t i = 0; i < pair->n; i++) {
        double coarse = pair->coarse->units[pair->of_unit[i]].loss;
        double fine = pair->fine->units[pair->of_unit[i]].loss;
        loss += levels[i] == WIDE ? coarse : levels[i] == FINE ? coarse - fine : 0;
    }
    return loss + price * power_of_levels(pair, levels);
}

static double least_of_levels(const struct pair *pair, double price)
{
    double least = INFINITY;
    size_t n = (size_t)pow(N_LEVELS, (double)pair->n);
    for (size_t choice = 0; choice < n; choice++) {
        enum level levels[PAIRED_MOST];
        bool is_possible = true;
        size_t rest = choice;
        for (size_t i = 0; i < pair->n; i++, rest /= N_LEVELS) {
            levels[i] = (enum level)(rest % N_LEVELS);
            is_possible &= levels[i] != FINE || has_step(pair, pair->of_unit[i]);
        }
        if (is_possible)
            least = fmin(least, energy_of_levels(pair, price, levels));
    }
    return least;
}

static void check_pair(const struct pair *pair, struct amp_path *path, double price)
{
    bool keeps[2 * PAIRED_MOST];
    enum level levels[PAIRED_MOST];
    amp_path_at(path, price, keeps);
    for (size_t i = 0; i < pair->n; i++) {
        uint32_t unit = pair->of_unit[i];
        levels[i] = keeps[unit] ? WIDE : has_step(pair, unit) && keeps[unit - 1] ? FINE : COARSE;
    }
    double found = energy_of_levels(pair, price, levels), least = least_of_levels(pair, price);
    assert_true(found <= least + 1e-9 * (1 + fabs(least)));
    assert_true(fabs(energy(pair->both, price, keeps) - found) <= 1e-9 * (1 + fabs(found)));
}

/* One cut of the combined problem finds the best of three dtypes for each unit. */
static void three_levels(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (int i = 0; i < 150; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        struct pair pair = make_pair(arena, &maker, 1 + below(&random, PAIRED_MOST));
        struct amp_path *path = amp_path_create(pair.both);
        for (double price = 0.01; price < 1e4; price *= 10)
            check_pair(&pair, path, price);
        amp_path_destroy(path);
        amp_arena_destroy(arena);
    }
}

/* What the finer dtype cannot hold stays in the coarser one until it becomes float32. */
static void harmful_steps(void **state)
{
    static const bool cheap[] = {false, false, true, false}, dear[] = {true, true, true, true};
    struct amp_arena *arena = amp_arena_create();
    struct amp_unit units[3][4] = {
        {{.is_fine = true}, {.loss = 1}, {.is_fine = true}, {.loss = 1}}};
    struct amp_problem_noise coarse[] = {{1, 1, 1e-3}, {3, 3, 1e-3}},
                             fine[] = {{1, 1, 10}, {3, 3, 1e-5}};
    struct amp_problem problems[3] = {{.noises = coarse, .n_noises = 2},
                                      {.noises = fine, .n_noises = 2}};
    bool keeps[4];
    (void)state;
    for (int i = 0; i < 3; i++) {
        memcpy(units[i], units[0], sizeof units[0]);
        problems[i].units = units[i];
        problems[i].n_units = 4;
    }
    for (int i = 1; i < 4; i += 2)
        units[1][i].loss = 0.9;
    amp_problem_combine(&problems[0], &problems[1], &problems[2], arena);
    struct amp_path *path = amp_path_create(&problems[2]);
    amp_path_at(path, 500, keeps);
    assert_memory_equal(keeps, cheap, sizeof keeps);
    amp_path_at(path, 1e6, keeps);
    assert_memory_equal(keeps, dear, sizeof keeps);
    amp_path_destroy(path);
    amp_arena_destroy(arena);
}

static double least_energy(const struct amp_problem *problem, double price)
{
    double least = INFINITY;
    bool keeps[MOST];
    for (uint32_t choice = 0; choice < UINT32_C(1) << problem->n_units; choice++) {
        spell(choice, problem->n_units, keeps);
        least = fmin(least, energy(problem, price, keeps));
    }
    return least;
}

/* The least loss within BUDGET; INFINITY: nothing is. */
static double least_loss(const struct amp_problem *problem, double budget)
{
    double least = INFINITY;
    bool keeps[MOST];
    for (uint32_t choice = 0; choice < UINT32_C(1) << problem->n_units; choice++) {
        spell(choice, problem->n_units, keeps);
        double loss = amp_problem_loss(problem, keeps);
        if (loss < least && amp_problem_power(problem, keeps) <= budget)
            least = loss;
    }
    return least;
}

/* The power of a random choice, exactly or about: budgets that are as tight as they can be. */
static double any_budget(const struct amp_problem *problem, uint64_t *state)
{
    bool keeps[MOST];
    spell((uint32_t)next_random(state), problem->n_units, keeps);
    double power = amp_problem_power(problem, keeps);
    return one_in(state, 2) ? power : power * tune_drawn(state, (struct tune_spread){0.5, 2});
}

/* ---- what a choice comes to ------------------------------------------------------------------ */

/* A unit in two steps, of two nodes, and one in a single step, of three. */
static void choices_are_counted(void **state)
{
    struct amp_unit units[3] = {{.loss = 0.5, .n_nodes = 2, .is_fine = true},
                                {.loss = 4, .n_nodes = 2},
                                {.loss = 16, .n_nodes = 3}};
    const struct amp_problem problem = {.units = units, .n_units = 3};
    static const struct {
        bool keeps[3], is_implied;
        size_t kept, kept_nodes, fine_nodes;
        double loss;
    } choices[] = {
        {{false, false, false}, false, 0, 0, 0, 0},  {{true, false, false}, false, 0, 0, 2, 0.5},
        {{true, true, false}, true, 1, 2, 0, 4.5},   {{false, false, true}, false, 1, 3, 0, 16},
        {{true, false, true}, false, 1, 3, 2, 16.5}, {{true, true, true}, true, 2, 5, 0, 20.5},
    };
    (void)state;
    assert_int_equal(amp_problem_units(&problem), 2);
    assert_true(amp_problem_has_steps(&problem));
    assert_int_equal(amp_problem_step(&problem, 0), 0);
    assert_int_equal(amp_problem_step(&problem, 1), 0);
    assert_int_equal(amp_problem_step(&problem, 2), 2);
    assert_true(amp_problem_unit_loss(&problem, 1) == 4.5);
    assert_true(amp_problem_unit_loss(&problem, 2) == 16);
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const bool *keeps = choices[i].keeps;
        assert_int_equal(amp_problem_kept(&problem, keeps), choices[i].kept);
        assert_int_equal(amp_problem_kept_nodes(&problem, keeps), choices[i].kept_nodes);
        assert_int_equal(amp_problem_fine_nodes(&problem, keeps), choices[i].fine_nodes);
        assert_int_equal(amp_problem_is_implied(&problem, keeps, 0), choices[i].is_implied);
        assert_false(amp_problem_is_implied(&problem, keeps, 1));
        assert_int_equal(amp_problem_is_low(&problem, keeps), i == 0);
        assert_true(amp_problem_loss(&problem, keeps) == choices[i].loss);
        for (size_t k = 0; k < i; k++) {
            uint64_t a = amp_problem_hash(keeps, 3), b = amp_problem_hash(choices[k].keeps, 3);
            assert_true((uint32_t)a != (uint32_t)b && a >> 32 != b >> 32);
        }
    }
    units[0].is_fine = false;
    assert_int_equal(amp_problem_units(&problem), 3);
    assert_false(amp_problem_has_steps(&problem));
}

/* What the ties of steps add and take away again leaves nothing. */
static void losses_of_steps_cancel_out(void **state)
{
    struct amp_unit units[3] = {{.loss = 0.1, .is_fine = true}, {.loss = 0.2}, {.loss = -0.3}};
    const struct amp_problem problem = {.units = units, .n_units = 3};
    static const bool all[3] = {true, true, true}, none[3] = {false},
                      last[3] = {false, false, true};
    (void)state;
    assert_true(amp_problem_loss(&problem, all) == 0);
    assert_false(signbit(amp_problem_loss(&problem, all)));
    assert_true(amp_problem_loss(&problem, none) == 0);
    assert_true(fabs(amp_problem_loss(&problem, last) + 0.3) < 1e-11);
    units[0].is_fine = false;
    assert_true(amp_problem_loss(&problem, all) == 0.1 + 0.2 - 0.3);
    units[0] = (struct amp_unit){.loss = 0, .is_fine = true};
    units[1].loss = units[2].loss = 0;
    assert_true(amp_problem_loss(&problem, all) == 0);
}

/* ---- ties ------------------------------------------------------------------------------------ */

/* Many between two units are one, the least of them added up first, whatever their order; what is 0
   is left out, and what a unit has alone stands apart. */
static void ties_are_sums(void **state)
{
    struct amp_problem_noise noises[2][6] = {{{0, 0, 4}, {0, 1, 1e16}, {1, 0, 1}, {0, 1, 1}},
                                             {{0, 0, 4}, {0, 1, 1}, {1, 0, 1}, {0, 1, 1e16}}};
    struct amp_problem_edge edges[2][6] = {{{1, 0, 1e16}, {0, 1, 1}, {0, 1, 1}},
                                           {{1, 0, 1}, {0, 1, 1}, {0, 1, 1e16}}};
    struct amp_unit units[3] = {{.loss = 8}, {.loss = -2}, {.loss = 1}};
    static const bool none[3] = {false}, second[3] = {false, true}, both[3] = {true, true};
    static const double sum = 1e16 + 2;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        noises[i][4] = (struct amp_problem_noise){0, 2, 0};
        noises[i][5] = (struct amp_problem_noise){2, 2, 0.5};
        edges[i][3] = (struct amp_problem_edge){1, 1, 5};
        edges[i][4] = (struct amp_problem_edge){0, 2, 0};
        edges[i][5] = (struct amp_problem_edge){0, 0, 5};
        struct amp_problem problem = {.units = units,
                                      .n_units = 3,
                                      .noises = noises[i],
                                      .n_noises = 6,
                                      .edges = edges[i],
                                      .n_edges = 6};
        struct amp_arena *arena = amp_arena_create();
        struct amp_ties *ties = amp_ties_create(arena, &problem);
        assert_int_equal(ties->n_units, 3);
        assert_true(ties->first[1] == 1 && ties->first[2] == 2 && ties->first[3] == 2);
        for (uint32_t unit = 0; unit < 2; unit++) {
            assert_int_equal(ties->all[unit].other, 1 - unit);
            assert_true(ties->all[unit].power == sum && ties->all[unit].cost == sum);
        }
        assert_true(ties->power[0] == 4 && ties->power[1] == 0 && ties->power[2] == 0.5);
        struct amp_change change = amp_ties_change(ties, none, 1);
        assert_true(change.loss == sum - 2 && change.power == 0);
        change = amp_ties_change(ties, second, 0);
        assert_true(change.loss == 8 - sum && change.power == -4 - sum);
        change = amp_ties_change(ties, both, 0);
        assert_true(change.loss == sum - 8 && change.power == 4 + sum);
        change = amp_ties_change(ties, both, 2);
        assert_true(change.loss == 1 && change.power == -0.5);
        amp_arena_destroy(arena);
    }
}

/* ---- a few units among others ---------------------------------------------------------------- */

/* Units 0 and 1, that make noise of 1 and 3, beside 2, that makes 4 and is tied to the first: what
   it does stays, and counts. */
static void others_count_as_they_are(void **state)
{
    static const struct {
        bool keeps[3], is_found, expected[3];
        double budget, floor, cost;
    } cases[] = {
        {{false, false, false}, true, {false, true, false}, 5, 0, 0},
        {{true, true, false}, true, {false, true, false}, 5, 0, 0},
        {{false, false, true}, true, {false, false, true}, 5, 0, 0},
        {{false, false, true}, true, {true, false, true}, 3, 0, 0},
        {{false, false, true}, true, {true, false, true}, 5, 2, 0},
        {{false, false, false}, true, {true, true, false}, 4, 0, 0},
        {{true, false, false}, false, {true, false, false}, 3, 0, 0},
        {{true, false, false}, false, {true, false, false}, 4, 1, 0},
        {{false, false, true}, true, {true, false, true}, 5, 0, 10},
        {{true, false, false}, true, {false, true, false}, 5, 0, 10},
        {{true, true, true}, true, {true, true, true}, 0, 0, 10},
    };
    uint32_t few[] = {0, 1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_unit units[3] = {{.loss = 1}, {.loss = 2}, {.loss = 7}};
        struct amp_problem_noise noises[3] = {{0, 0, 1}, {1, 1, 3}, {2, 2, 4}};
        struct amp_problem_edge edge = {0, 2, cases[i].cost};
        const struct amp_problem problem = {.units = units,
                                            .n_units = 3,
                                            .noises = noises,
                                            .n_noises = 3,
                                            .edges = &edge,
                                            .n_edges = 1,
                                            .floor = cases[i].floor};
        struct amp_arena *arena = amp_arena_create();
        const struct amp_enumeration enumeration = {.problem = &problem,
                                                    .ties = amp_ties_create(arena, &problem),
                                                    .units = few,
                                                    .n_units = 2,
                                                    .budget = cases[i].budget};
        bool keeps[3];
        memcpy(keeps, cases[i].keeps, sizeof keeps);
        assert_int_equal(amp_enumeration_solve(&enumeration, keeps), cases[i].is_found);
        if (memcmp(keeps, cases[i].expected, sizeof keeps) != 0)
            fail_msg("case %zu: %d, %d, %d", i, keeps[0], keeps[1], keeps[2]);
        amp_arena_destroy(arena);
    }
}

/* Of two choices that cost the same the one that makes less noise, wherever it comes. */
static void equal_losses_are_told_apart_by_noise(void **state)
{
    uint32_t both[] = {0, 1};
    (void)state;
    for (uint32_t loud = 0; loud < 2; loud++) {
        struct amp_unit units[2] = {{.loss = 1}, {.loss = 1}};
        struct amp_problem_noise noises[2] = {{0, 0, loud == 0 ? 3 : 1}, {1, 1, loud == 1 ? 3 : 1}};
        const struct amp_problem problem = {
            .units = units, .n_units = 2, .noises = noises, .n_noises = 2};
        struct amp_arena *arena = amp_arena_create();
        const struct amp_enumeration enumeration = {.problem = &problem,
                                                    .ties = amp_ties_create(arena, &problem),
                                                    .units = both,
                                                    .n_units = 2,
                                                    .budget = 3};
        bool keeps[2] = {false, false};
        assert_true(amp_enumeration_solve(&enumeration, keeps));
        assert_true(keeps[loud] && !keeps[1 - loud]);
        amp_arena_destroy(arena);
    }
}

/* ---- cuts within bounds ---------------------------------------------------------------------- */

/* Of random problems, whose casts cost less than their units lose, the best of all choices that
   have what the lower bound has, and nothing that the higher one has not. */
static void cuts_stay_within_bounds(void **state)
{
    enum { UNITS = 7 };
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&seed, 6 * round);
        struct amp_problem *problem = tune_make(arena, &maker, UNITS);
        struct amp_cuts *cuts = amp_cuts_create(arena, amp_ties_create(arena, problem));
        double price = one_in(&seed, 5) ? 0 : tune_drawn(&seed, (struct tune_spread){1e-2, 1e2});
        uint32_t high_bits = (uint32_t)(next_random(&seed) | next_random(&seed)) % (1u << UNITS);
        uint32_t low_bits = (uint32_t)next_random(&seed) & (uint32_t)next_random(&seed) & high_bits;
        bool low[UNITS], high[UNITS], keeps[UNITS], other[UNITS];
        spell(low_bits, UNITS, low);
        spell(high_bits, UNITS, high);
        amp_cuts_solve(cuts, (struct amp_cut_bounds){low, high}, price, keeps);
        double found = energy(problem, price, keeps);
        for (size_t i = 0; i < UNITS; i++)
            assert_true((keeps[i] || !low[i]) && (!keeps[i] || high[i]));
        for (uint32_t choice = 0; choice < 1u << UNITS; choice++) {
            if ((choice & low_bits) != low_bits || (choice & ~high_bits) != 0)
                continue;
            spell(choice, UNITS, other);
            double least = energy(problem, price, other);
            if (found > least + 1e-9 * (fabs(least) + magnitude(problem)))
                fail_msg("round %d: %.12g, %.12g is possible", round, found, least);
        }
        amp_arena_destroy(arena);
    }
}

/* ---- from one choice to another -------------------------------------------------------------- */

/* At a price of 1, of units that lose 1, 2, 3 and 4.5 and make noise of 1, 3, 1 and 5: those go
   first that raise the least, until enough noise is gone, or as far as there is room for what
   comes. */
static void walks_go_where_least_is_lost(void **state)
{
    static const bool none[4] = {false}, all[4] = {true, true, true, true},
                      without_1[4] = {true, false, true, true};
    static const struct {
        const bool *from, *to;
        double power;
        size_t n_open;
        bool expected[4];
    } walks[] = {
        {none, all, -2.5, 4, {false, true, false, false}},
        {none, all, -3.5, 4, {false, true, false, true}},
        {none, all, -8.5, 4, {true, true, false, true}},
        {none, all, -9.5, 4, {true, true, true, true}},
        {none, without_1, -2.5, 3, {false, false, false, true}},
        {none, without_1, -100, 3, {true, false, true, true}},
        {all, none, 0.5, 4, {true, true, true, true}},
        {all, none, 1.5, 4, {true, true, false, true}},
        {all, none, 2.5, 4, {false, true, false, true}},
        {all, none, 6, 4, {false, false, false, true}},
        {all, none, 7.5, 4, {false, true, false, false}},
        {all, none, 100, 4, {false, false, false, false}},
        {all, without_1, 100, 1, {true, false, true, true}},
        {all, all, 100, 0, {true, true, true, true}},
    };
    struct amp_unit units[4] = {{.loss = 1}, {.loss = 2}, {.loss = 3}, {.loss = 4.5}};
    struct amp_problem_noise noises[4] = {{0, 0, 1}, {1, 1, 3}, {2, 2, 1}, {3, 3, 5}};
    struct amp_problem problem = {.units = units, .n_units = 4, .noises = noises, .n_noises = 4};
    struct amp_arena *arena = amp_arena_create();
    struct amp_front front = {.ties = amp_ties_create(arena, &problem), .price = 1};
    (void)state;
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        bool keeps[4];
        memcpy(keeps, walks[i].from, sizeof keeps);
        front.to = walks[i].to;
        front.power = walks[i].power;
        assert_int_equal(amp_front_walk(&front, keeps), walks[i].n_open);
        if (memcmp(keeps, walks[i].expected, sizeof keeps) != 0)
            fail_msg("walk %zu: %d, %d, %d, %d", i, keeps[0], keeps[1], keeps[2], keeps[3]);
    }
    amp_arena_destroy(arena);
}

/* A unit that has gone takes what its ties cost and make from its neighbours: the third raises 1 in
   place of 3 behind the second, and is before the first, which raises 2. */
static void walks_take_neighbours_along(void **state)
{
    struct amp_unit units[4] = {{.loss = 3}, {.loss = 2}, {.loss = 3}, {.loss = 4.5}};
    struct amp_problem_noise noises[5] = {{0, 0, 1}, {1, 1, 3}, {2, 2, 1}, {3, 3, 5}, {1, 2, 0}};
    struct amp_problem_edge edge = {1, 2, 1};
    static const bool all[4] = {true, true, true, true}, expected[4] = {false, true, true, true};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        bool keeps[4] = {false};
        struct amp_problem problem = {.units = units,
                                      .n_units = 4,
                                      .noises = noises,
                                      .n_noises = 5,
                                      .edges = &edge,
                                      .n_edges = i == 0};
        noises[4].power = i == 0 ? 0 : 2; /* then it is noise that goes with the third alone */
        units[2].loss = i == 0 ? 3 : 4;
        struct amp_arena *arena = amp_arena_create();
        const struct amp_front front = {
            .ties = amp_ties_create(arena, &problem), .to = all, .price = 1, .power = -8.5};
        assert_int_equal(amp_front_walk(&front, keeps), 4);
        assert_memory_equal(keeps, expected, sizeof keeps);
        amp_arena_destroy(arena);
    }
}

/* ---- the path -------------------------------------------------------------------------------- */

/* The path of PROBLEM as the price grows: each choice is the best, and no unit leaves. */
static void follows(const struct amp_problem *problem, uint64_t *state)
{
    struct amp_path *path = amp_path_create(problem);
    bool keeps[MOST], before[MOST] = {false};
    amp_path_at(path, 0, before);
    for (double price = 1e-4; price < 1e5; price *= tune_drawn(state, (struct tune_spread){1, 8})) {
        double least = least_energy(problem, price);
        amp_path_at(path, price, keeps);
        assert_true(energy(problem, price, keeps) <=
                    least + 1e-9 * (fabs(least) + magnitude(problem)));
        for (size_t i = 0; i < problem->n_units; i++)
            assert_true(keeps[i] || !before[i]);
        memcpy(before, keeps, sizeof before);
    }
    amp_path_at(path, INFINITY, keeps);
    for (size_t i = 0; i < problem->n_units; i++)
        assert_true(keeps[i] || !before[i]);
    assert_true(amp_problem_power(problem, keeps) == problem->floor);
    amp_path_destroy(path);
}

static void choices_are_best_and_nest(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        maker.one_in_free = i % 2 == 0 ? 4 : 0;
        follows(tune_make(arena, &maker, 1 + below(&random, 9)), &random);
        amp_arena_destroy(arena);
    }
}

/* ---- budgets --------------------------------------------------------------------------------- */

/* Whether there is a choice within BUDGET; amp_path_within says so and gives one. Sets *LOSS to
   what it loses, *LEAST to what the best one does. */
static bool solve(const struct amp_problem *problem, double budget, double *loss, double *least)
{
    struct amp_path *path = amp_path_create(problem);
    bool keeps[MOST] = {false};
    *least = least_loss(problem, budget);
    bool is_met = amp_path_within(path, budget, keeps);
    *loss = amp_problem_loss(problem, keeps);
    assert_int_equal(is_met, *least < INFINITY);
    assert_true(amp_path_is_exact(path) || problem->n_units >= ENUMERABLE);
    assert_int_equal(amp_problem_power(problem, keeps) <= budget, is_met);
    amp_path_destroy(path);
    return is_met;
}

static void few_units_are_solved_exactly(void **state)
{
    uint64_t random = 2;
    double loss, least;
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        maker.one_in_free = i % 2 == 0 ? 4 : 0;
        const struct amp_problem *problem = tune_make(arena, &maker, below(&random, ENUMERABLE));
        if (solve(problem, any_budget(problem, &random), &loss, &least))
            assert_true(fabs(loss - least) <= 1e-12 * magnitude(problem));
        amp_arena_destroy(arena);
    }
}

/* No choice of the path that is within BUDGET is better. */
static void beats_path(const struct amp_problem *problem, double budget, double loss)
{
    struct amp_path *path = amp_path_create(problem);
    bool keeps[MOST];
    for (double price = 1e-4; price < 1e5; price *= 1.2) {
        amp_path_at(path, price, keeps);
        assert_true(amp_problem_power(problem, keeps) > budget ||
                    loss <= amp_problem_loss(problem, keeps) * (1 + 1e-12));
    }
    amp_path_destroy(path);
}

static void more_units_are_solved_nearly(void **state)
{
    uint64_t random = 3;
    double loss, least, excess = 0, worst = 0;
    int n = 0;
    (void)state;
    for (int i = 0; i < 90; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        const struct amp_problem *problem =
            tune_make(arena, &maker, ENUMERABLE + below(&random, MOST - ENUMERABLE + 1));
        double budget = any_budget(problem, &random);
        if (solve(problem, budget, &loss, &least) && least > 0) {
            beats_path(problem, budget, loss);
            excess += loss / least - 1;
            worst = fmax(worst, loss / least - 1);
            n++;
        }
        amp_arena_destroy(arena);
    }
    print_message("%d problems: %.4f %% above the least loss, at worst %.4f %%\n", n,
                  100 * excess / n, 100 * worst);
    assert_true(n > 50 && excess <= 0.02 * n);
}

/* Of units that save as much for as much noise, the first in the graph go. */
static void of_equal_units_the_first_go(void **state)
{
    struct amp_unit units[ENUMERABLE + 1];
    struct amp_problem_noise noises[ENUMERABLE + 1];
    const struct amp_problem problem = {
        .units = units, .n_units = ENUMERABLE + 1, .noises = noises, .n_noises = ENUMERABLE + 1};
    (void)state;
    for (uint32_t i = 0; i <= ENUMERABLE; i++) {
        units[i] = (struct amp_unit){.loss = 1};
        noises[i] = (struct amp_problem_noise){i, i, 1};
    }
    struct amp_path *path = amp_path_create(&problem);
    for (size_t n = 0; n <= ENUMERABLE; n++) {
        bool keeps[ENUMERABLE + 1];
        assert_true(amp_path_within(path, (double)n + 0.5, keeps));
        for (size_t i = 0; i <= ENUMERABLE; i++)
            assert_int_equal(keeps[i], i >= n);
    }
    amp_path_destroy(path);
}

/* Units that pay for themselves are decided, and those by which nothing is gained. */
static void decided_units_do_not_count(void **state)
{
    struct amp_unit units[ENUMERABLE + 1];
    struct amp_problem_noise noises[ENUMERABLE + 1];
    struct amp_problem problem = {
        .units = units, .n_units = ENUMERABLE + 1, .noises = noises, .n_noises = ENUMERABLE + 1};
    (void)state;
    for (uint32_t i = 0; i <= ENUMERABLE; i++) {
        units[i] = (struct amp_unit){.loss = 1};
        noises[i] = (struct amp_problem_noise){i, i, 1};
    }
    for (int n_decided = 0; n_decided < 3; n_decided++) {
        struct amp_path *path = amp_path_create(&problem);
        assert_int_equal(amp_path_is_exact(path), n_decided == 2);
        amp_path_destroy(path);
        if (n_decided == 0)
            units[3].loss = -1;
        else
            noises[5].power = 0;
    }
}

/* ---- extremes -------------------------------------------------------------------------------- */

static void powers_of_all_sizes_are_kept_apart(void **state)
{
    uint64_t random = 4;
    double loss, least;
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        maker.powers = (struct tune_spread){1e-20, 1e10};
        maker.one_in_free = 5;
        const struct amp_problem *problem = tune_make(arena, &maker, 1 + below(&random, 13));
        if (solve(problem, any_budget(problem, &random), &loss, &least))
            assert_true(loss - least <=
                        (problem->n_units < ENUMERABLE ? 1e-12 : 0.3) * magnitude(problem));
        amp_arena_destroy(arena);
    }
}

static void empty_problems_have_a_path(void **state)
{
    struct amp_problem problem = {.floor = 0.5};
    bool keeps[1];
    struct amp_path *path = amp_path_create(&problem);
    (void)state;
    amp_path_at(path, 1, keeps);
    assert_true(amp_path_is_exact(path));
    assert_true(amp_path_within(path, 0.5, keeps));
    assert_false(amp_path_within(path, 0.25, keeps));
    assert_false(amp_path_within(path, NAN, keeps));
    amp_path_destroy(path);
    amp_path_destroy(NULL);
}

static void one_unit_goes_either_way(void **state)
{
    struct amp_unit unit = {.n_nodes = 2, .loss = 3};
    struct amp_problem_noise noise = {0, 0, 2};
    struct amp_problem problem = {
        .units = &unit, .n_units = 1, .noises = &noise, .n_noises = 1, .floor = 0.5};
    bool keeps[1];
    struct amp_path *path = amp_path_create(&problem);
    (void)state;
    amp_path_at(path, 1.5, keeps);
    assert_false(keeps[0]);
    amp_path_at(path, 1.5001, keeps);
    assert_true(keeps[0]);
    assert_true(amp_path_within(path, 2.5, keeps) && !keeps[0]);
    assert_true(amp_path_within(path, 2.4, keeps) && keeps[0]);
    assert_int_equal(amp_problem_kept(&problem, keeps), 1);
    assert_int_equal(amp_problem_kept_nodes(&problem, keeps), 2);
    assert_true(!amp_path_within(path, 0.4, keeps) && keeps[0]);
    amp_path_destroy(path);
}

/* Units that lose nothing are kept as soon as noise has a price, but not before; others that only
   gain by it always are. */
static void what_costs_nothing_is_kept_at_any_price(void **state)
{
    struct amp_unit units[] = {{.loss = 0}, {.loss = 0}, {.loss = -1}, {.loss = 0}};
    struct amp_problem_noise noises[] = {{0, 1, 1e-20}, {1, 2, 1e10}};
    struct amp_problem_edge edges[] = {{0, 1, 1e3}, {2, 3, 0}};
    bool keeps[4];
    (void)state;
    for (size_t n = 2; n <= 4; n += 2) {
        struct amp_problem problem = {.units = units,
                                      .n_units = n,
                                      .noises = noises,
                                      .n_noises = n / 2,
                                      .edges = edges,
                                      .n_edges = n / 2};
        struct amp_path *path = amp_path_create(&problem);
        amp_path_at(path, 0, keeps);
        assert_true(!keeps[0] && !keeps[1] && (n == 2 || (keeps[2] && !keeps[3])));
        amp_path_at(path, 1e-30, keeps);
        assert_true(keeps[0] && keeps[1] && (n == 2 || (keeps[2] && !keeps[3])));
        assert_true(amp_path_within(path, 0, keeps) && keeps[0] && keeps[1]);
        amp_path_destroy(path);
    }
}

/* ---- min cut --------------------------------------------------------------------------------- */

/* Minimum cuts: of random small graphs against all their choices, and of graphs whose cut is known.
 */

enum { MOST_NODES = 9, MOST_EDGES = 24, CHAIN = 4000 };

/* ---- all choices ----------------------------------------------------------------------------- */

static int64_t cut_energy(const struct amp_min_cut *cut, uint32_t choice)
{
    int64_t sum = 0;
    for (size_t i = 0; i < cut->n_nodes; i++)
        sum -= (choice >> i & 1) != 0 ? cut->gains[i] : 0;
    for (size_t i = 0; i < cut->n_edges; i++)
        if ((choice >> cut->edges[i].a & 1) != (choice >> cut->edges[i].b & 1))
            sum += cut->edges[i].weight;
    return sum;
}

/* What all the best choices have in common, which is the best and least one. */
static uint32_t least_choice(const struct amp_min_cut *cut)
{
    int64_t best = INT64_MAX;
    uint32_t least = 0;
    for (uint32_t choice = 0; choice < UINT32_C(1) << cut->n_nodes; choice++) {
        int64_t found = cut_energy(cut, choice);
        least = found < best ? choice : found == best ? least & choice : least;
        best = found < best ? found : best;
    }
    return least;
}

static void is_least(const struct amp_min_cut *cut)
{
    bool is_source[MOST_NODES] = {false};
    uint32_t expected = least_choice(cut);
    amp_min_cut_solve(cut, is_source);
    for (size_t i = 0; i < cut->n_nodes; i++)
        assert_int_equal(is_source[i], expected >> i & 1);
}

/* Small numbers make many equal choices, large ones few. */
static int64_t number(uint64_t *state, int64_t most)
{
    int64_t bound = one_in(state, 3) ? 3 : most;
    return (int64_t)below(state, (size_t)bound + 1);
}

static void random_graphs(int64_t most)
{
    uint64_t state = (uint64_t)most;
    for (int i = 0; i < 3000; i++) {
        int64_t gains[MOST_NODES];
        struct amp_cut_edge edges[MOST_EDGES];
        size_t n_nodes = 1 + below(&state, MOST_NODES), n_edges = below(&state, MOST_EDGES + 1);
        for (size_t k = 0; k < n_nodes; k++)
            gains[k] = number(&state, most) - number(&state, most);
        for (size_t k = 0; k < n_edges; k++)
            edges[k] =
                (struct amp_cut_edge){(uint32_t)below(&state, n_nodes),
                                      (uint32_t)below(&state, n_nodes), number(&state, most)};
        is_least(&(struct amp_min_cut){n_nodes, gains, edges, n_edges});
    }
}

static void random_graphs_have_their_least_cut(void **state)
{
    (void)state;
    random_graphs(4);
    random_graphs(100);
    random_graphs(INT64_C(1) << 54);
}

/* ---- cuts that are known --------------------------------------------------------------------- */

static void graphs_without_edges_keep_what_gains(void **state)
{
    const int64_t gains[] = {3, 0, -2};
    bool is_source[3];
    (void)state;
    amp_min_cut_solve(&(struct amp_min_cut){AMP_COUNT(gains), gains, NULL, 0}, is_source);
    assert_true(is_source[0] && !is_source[1] && !is_source[2]);
    amp_min_cut_solve(&(struct amp_min_cut){0, NULL, NULL, 0}, is_source);
}

/* A chain whose first node gains GAIN and of which every other one loses 1. */
static size_t kept_of_chain(int64_t gain, int64_t weight)
{
    int64_t *gains = calloc(CHAIN, sizeof *gains);
    struct amp_cut_edge *edges = calloc(CHAIN, sizeof *edges);
    bool *is_source = calloc(CHAIN, sizeof *is_source);
    size_t n = 0;
    assert_true(gains != NULL && edges != NULL && is_source != NULL);
    gains[0] = gain;
    for (uint32_t i = 1; i < CHAIN; i++) {
        gains[i] = -1;
        edges[i - 1] = (struct amp_cut_edge){i - 1, i, weight};
    }
    amp_min_cut_solve(&(struct amp_min_cut){CHAIN, gains, edges, CHAIN - 1}, is_source);
    for (size_t i = 0; i < CHAIN; i++)
        n += is_source[i];
    free(is_source);
    free(edges);
    free(gains);
    return n;
}

static void chains_are_kept_whole_or_not(void **state)
{
    (void)state;
    assert_int_equal(kept_of_chain(CHAIN, CHAIN), CHAIN); /* pays for all others */
    assert_int_equal(kept_of_chain(CHAIN - 1, CHAIN), 0); /* just so, and none is the least */
    assert_int_equal(kept_of_chain(CHAIN, 2), 1);         /* cutting is cheaper */
    assert_int_equal(kept_of_chain(2, 2), 0);             /* cutting costs what is gained */
    assert_int_equal(kept_of_chain(CHAIN, CHAIN - 1), 1); /* cutting costs what the others do */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_counted),
        cmocka_unit_test(losses_of_steps_cancel_out),
        cmocka_unit_test(ties_are_sums),
        cmocka_unit_test(others_count_as_they_are),
        cmocka_unit_test(equal_losses_are_told_apart_by_noise),
        cmocka_unit_test(cuts_stay_within_bounds),
        cmocka_unit_test(walks_go_where_least_is_lost),
        cmocka_unit_test(walks_take_neighbours_along),
        cmocka_unit_test(three_levels),
        cmocka_unit_test(harmful_steps),
        cmocka_unit_test(choices_are_best_and_nest),
        cmocka_unit_test(few_units_are_solved_exactly),
        cmocka_unit_test(more_units_are_solved_nearly),
        cmocka_unit_test(of_equal_units_the_first_go),
        cmocka_unit_test(decided_units_do_not_count),
        cmocka_unit_test(powers_of_all_sizes_are_kept_apart),
        cmocka_unit_test(empty_problems_have_a_path),
        cmocka_unit_test(one_unit_goes_either_way),
        cmocka_unit_test(what_costs_nothing_is_kept_at_any_price),
        cmocka_unit_test(random_graphs_have_their_least_cut),
        cmocka_unit_test(graphs_without_edges_keep_what_gains),
        cmocka_unit_test(chains_are_kept_whole_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
