/* Minimum cuts: of random small graphs against all their choices, and of graphs whose cut is known.
 */
#include "core/array.h"
#include "tune/min_cut.h"

#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_NODES = 9, MOST_EDGES = 24, CHAIN = 4000 };

/* ---- all choices ----------------------------------------------------------------------------- */

static int64_t energy(const struct amp_min_cut *cut, uint32_t choice)
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
        int64_t found = energy(cut, choice);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_have_their_least_cut),
                                       cmocka_unit_test(graphs_without_edges_keep_what_gains),
                                       cmocka_unit_test(chains_are_kept_whole_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
