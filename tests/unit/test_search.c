/* Searches: what the strategies' answers cost, and that they go on from their logs; paths of
 * problems as large as models are. Takes long. */
#include "scratch.h"
#include "tune/path.h"
#include "tune_case.h"

#include <cmocka.h>

/* ---- search ---------------------------------------------------------------------------------- */

/*
 * Searches on problems that are made up: that they end within what they may run, with an answer
 * that was seen to meet the criterion; how many evaluations the first one takes; and what the
 * answers of the strategies cost. The figures are printed.
 */

static const char *const names[] = {"min-cut", "neural-compressor", "bisect", "greedy"};

#define N_STRATEGIES (sizeof names / sizeof names[0])

/* What came of a search. */
struct outcome {
    size_t n_runs, first_met; /* evaluations up to the first that met; 0: none has */
    double loss;              /* of the answer; NaN: none */
    bool is_minimal;
    uint64_t order; /* a hash of what was run, in its order */
};

/* Whether TRIAL is what the runner says. */
static void check_answer(const struct tune_case *tune, const struct amp_trial *trial)
{
    assert_int_equal(trial->verdict, AMP_TRIAL_MET);
    assert_true(tune->kind != TUNE_UNSURE && tune_is_met(tune, trial->keeps));
}

/* An answer that is said to be minimal is: no unit of it alone could go. */
static void check_minimal(const struct tune_case *tune, const struct amp_trial *trial)
{
    bool keeps[256];
    memcpy(keeps, trial->keeps, tune->problem.n_units);
    for (size_t i = 0; i < tune->problem.n_units; i++) {
        keeps[i] = false;
        assert_true(!trial->keeps[i] || !tune_is_met(tune, keeps));
        keeps[i] = trial->keeps[i];
    }
}

static struct outcome search_with(struct tune_case *tune, const char *name, size_t most,
                                  size_t n_jobs)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_trials trials = tune_trials(tune, most, n_jobs);
    struct outcome outcome = {.loss = NAN};
    tune->n_runs = 0;
    assert_int_equal(amp_trials_open(&trials, &err), AMP_OK);
    outcome.is_minimal = tune_search(tune, &trials, name);
    outcome.n_runs = tune->n_runs;
    assert_true(most == 0 || trials.count <= most);
    for (size_t i = 0; i < trials.count; i++) {
        if (trials.items[i]->verdict == AMP_TRIAL_MET && outcome.first_met == 0)
            outcome.first_met = i + 1;
        outcome.order = outcome.order * 31 + trials.items[i]->hash;
    }
    if (trials.best != NULL) {
        check_answer(tune, trials.best);
        outcome.loss = trials.best->loss;
        if (outcome.is_minimal)
            check_minimal(tune, trials.best);
    }
    assert_true(trials.best != NULL || !outcome.is_minimal);
    assert_int_equal(trials.best != NULL, outcome.first_met != 0);
    amp_trials_close(&trials);
    return outcome;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void strategies_have_names(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    const struct amp_strategy *strategy;
    (void)state;
    for (size_t i = 0; i < N_STRATEGIES; i++) {
        assert_string_equal(amp_strategy_at(i)->name, names[i]);
        assert_int_equal(amp_strategy_find(names[i], &strategy, &err), AMP_OK);
        assert_ptr_equal(strategy, amp_strategy_at(i));
    }
    assert_null(amp_strategy_at(N_STRATEGIES));
    assert_int_equal(amp_strategy_find("gredy", &strategy, &err), AMP_USAGE);
    assert_string_equal(err.text, "--strategy: unknown strategy 'gredy'; did you mean 'greedy'?; "
                                  "accepted: min-cut, neural-compressor, bisect, greedy");
    memset(&err, 0, sizeof err);
    assert_int_equal(amp_strategy_find("annealing", &strategy, &err), AMP_USAGE);
    assert_string_equal(err.text, "--strategy: unknown strategy 'annealing'; accepted: min-cut, "
                                  "neural-compressor, bisect, greedy");
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* All kept meets the criterion of these, so that each strategy finds an answer if it may. */
static void every_strategy_ends_with_an_answer(void **state)
{
    static const enum tune_kind kinds[] = {TUNE_POWER, TUNE_SCORE, TUNE_LOST};
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 30; seed++)
        for (size_t i = 0; i < N_STRATEGIES * 3; i++) {
            tune_create(&tune, seed, 1 + seed * 2, kinds[i / N_STRATEGIES]);
            struct outcome outcome =
                search_with(&tune, names[i % N_STRATEGIES], 0, seed % 3 == 0 ? 4 : 1);
            if (outcome.first_met == 0)
                fail_msg("%s, seed %u", names[i % N_STRATEGIES], seed);
            tune_destroy(&tune);
        }
}

static void no_limit_is_exceeded(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++)
        for (size_t i = 0; i < N_STRATEGIES * 5; i++) {
            tune_create(&tune, seed, 2 + seed % 40, (enum tune_kind)(i / N_STRATEGIES));
            search_with(&tune, names[i % N_STRATEGIES], 1 + seed % 23, 1 + seed % 5);
            tune_destroy(&tune);
        }
}

/* With two evaluations, the second is of all units in float32. */
static void two_evaluations_are_enough_for_an_answer(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        tune_create(&tune, seed, 3 + seed, seed % 2 == 0 ? TUNE_LOST : TUNE_POWER);
        assert_true(search_with(&tune, "min-cut", 2 + seed % 3, 1).first_met != 0);
        tune_destroy(&tune);
    }
}

static void where_nothing_meets_there_is_no_answer(void **state)
{
    struct tune_case tune;
    (void)state;
    for (size_t i = 0; i < N_STRATEGIES; i++) {
        tune_create(&tune, 3, 12, TUNE_POWER);
        tune.target = 1e-30;
        assert_int_equal(search_with(&tune, names[i], 0, 1).first_met, 0);
        tune_destroy(&tune);
        tune_create(&tune, 4, 12, TUNE_UNSURE);
        assert_int_equal(search_with(&tune, names[i], 0, 1).first_met, 0);
        tune_destroy(&tune);
    }
}

static void where_all_low_meets_one_run_is_enough(void **state)
{
    struct tune_case tune;
    (void)state;
    for (size_t i = 0; i < N_STRATEGIES; i++) {
        tune_create(&tune, 3, 12, TUNE_POWER);
        tune.target = 1;
        struct outcome outcome = search_with(&tune, names[i], 0, 1);
        assert_int_equal(outcome.n_runs, 1);
        assert_true(outcome.loss == 0 && outcome.is_minimal);
        tune_destroy(&tune);
    }
}

/* Units that float32 is faster for are kept even where the criterion does not want it. */
static void what_saves_loss_is_kept(void **state)
{
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 3, 9, TUNE_POWER);
    tune.target = 1;
    tune.problem.units[4].loss = -5;
    assert_true(search_with(&tune, "min-cut", 0, 1).loss < -4);
    tune_destroy(&tune);
}

static void a_problem_may_be_empty(void **state)
{
    struct tune_case tune;
    (void)state;
    for (size_t i = 0; i < N_STRATEGIES; i++) {
        tune_create(&tune, 3, 1, TUNE_POWER);
        tune.problem.n_units = tune.problem.n_noises = tune.problem.n_edges = 0;
        tune.target = i % 2 == 0 ? 1 : 1e-30;
        assert_int_equal(search_with(&tune, names[i], 0, 1).n_runs, 1);
        tune_destroy(&tune);
    }
}

/* The criterion follows nothing: no strategy may run for ever, nor answer with what missed. */
static void whims_end(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++)
        for (size_t i = 0; i < N_STRATEGIES; i++) {
            tune_create(&tune, seed, 1 + seed, TUNE_WHIMS);
            search_with(&tune, names[i], seed % 2 == 0 ? 0 : 30, 1 + seed % 4);
            tune_destroy(&tune);
        }
}

static void a_search_can_be_had_again(void **state)
{
    struct tune_case tune;
    (void)state;
    for (size_t i = 0; i < N_STRATEGIES * 5; i++) {
        tune_create(&tune, i, 25, (enum tune_kind)(i / N_STRATEGIES));
        struct outcome first = search_with(&tune, names[i % N_STRATEGIES], 40, 1 + i % 3);
        struct outcome second = search_with(&tune, names[i % N_STRATEGIES], 40, 1 + i % 3);
        assert_true(first.order == second.order && first.n_runs == second.n_runs);
        tune_destroy(&tune);
    }
}

/* ---- what answers cost ----------------------------------------------------------------------- */

/* The least loss of all choices that meet the criterion. */
static double optimum(const struct tune_case *tune)
{
    bool keeps[12];
    double least = INFINITY;
    for (uint32_t bits = 0; bits < 1u << tune->problem.n_units; bits++) {
        for (size_t i = 0; i < tune->problem.n_units; i++)
            keeps[i] = bits >> i & 1;
        double loss = amp_problem_loss(&tune->problem, keeps);
        if (loss < least && tune_is_met(tune, keeps))
            least = loss;
    }
    return least;
}

/* Where predictions hold, the answer for few units is the optimum. */
static void few_units_are_solved(void **state)
{
    struct tune_case tune;
    size_t n_runs = 0;
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++) {
        tune_create(&tune, seed, 2 + seed % 10, TUNE_POWER);
        tune.cross = tune.off_db = 0;
        struct outcome outcome = search_with(&tune, "min-cut", 0, seed % 2 == 0 ? 1 : 4);
        assert_true(outcome.loss == optimum(&tune));
        n_runs += outcome.n_runs;
        tune_destroy(&tune);
    }
    print_message("exact predictions, 2 to 11 units: %.1f evaluations\n", (double)n_runs / 100);
}

/* The others make no noise and cost time. */
static void few_units_among_many_are_solved(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 30; seed++) {
        tune_create(&tune, seed, 9, TUNE_POWER);
        tune.cross = tune.off_db = 0;
        double least = optimum(&tune);
        struct amp_unit *units = amp_arena_array(tune.arena, 60, sizeof *units);
        memcpy(units, tune.problem.units, 9 * sizeof *units);
        for (size_t i = 9; i < 60; i++)
            units[i] = (struct amp_unit){.name = "silent", .op = "F", .loss = 0.1};
        tune.problem.units = units;
        tune.problem.n_units = 60;
        assert_true(search_with(&tune, "min-cut", 0, 1).loss == least);
        tune_destroy(&tune);
    }
}

/* Where they do not: how far from it. */
static void few_units_come_close(void **state)
{
    struct tune_case tune;
    double excess = 0;
    size_t n_exact = 0, n_runs = 0;
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++) {
        tune_create(&tune, seed, 6 + seed % 6, TUNE_POWER);
        tune.off_db = 1;
        struct outcome outcome = search_with(&tune, "min-cut", 20, 1);
        double least = optimum(&tune);
        excess += outcome.loss / least - 1;
        n_exact += outcome.loss == least;
        n_runs += outcome.n_runs;
        tune_destroy(&tune);
    }
    print_message("off by 1 dB, 6 to 11 units, at most 20 evaluations (%.1f used): %zu of 100 "
                  "optimal, %.1f %% above the optimum\n",
                  (double)n_runs / 100, n_exact, excess);
    assert_true(n_exact >= 50);
}

/* Problems that strategies are compared on; of that many sizes. */
enum { N_RACES = 20 };

/* Sums over problems. */
struct sums {
    size_t n, n_met, n_early, n_runs, n_first;
    double loss; /* of the answers, in shares of what all units cost; no answer: all */
};

static void add(struct sums *sums, const struct tune_case *tune, const struct outcome *outcome)
{
    double all = 0;
    for (size_t i = 0; i < tune->problem.n_units; i++)
        all += tune->problem.units[i].loss;
    sums->n++;
    sums->n_met += outcome->first_met > 0;
    sums->n_early += outcome->first_met > 0 && outcome->first_met <= 10;
    sums->n_first += outcome->first_met;
    sums->n_runs += outcome->n_runs;
    sums->loss += outcome->first_met > 0 ? outcome->loss / all : 1;
}

static void race(enum tune_kind kind, const char *text, size_t most, struct sums *sums)
{
    struct tune_case tune;
    memset(sums, 0, N_STRATEGIES * sizeof *sums);
    for (uint32_t seed = 0; seed < N_RACES; seed++)
        for (size_t i = 0; i < N_STRATEGIES; i++) {
            tune_create(&tune, 1000 + seed, 12 + 4 * seed, kind);
            struct outcome outcome = search_with(&tune, names[i], most, 1);
            add(&sums[i], &tune, &outcome);
            tune_destroy(&tune);
        }
    print_message("%s, 12 to 90 units, at most %zu evaluations (0: any)\n", text, most);
    for (size_t i = 0; i < N_STRATEGIES; i++)
        print_message(
            "  %-18s answers %2zu of %zu, first after %5.1f, evaluations %6.1f, loss %4.1f "
            "%% of all float32\n",
            names[i], sums[i].n_met, sums[i].n,
            (double)sums[i].n_first / (double)(sums[i].n_met > 0 ? sums[i].n_met : 1),
            (double)sums[i].n_runs / (double)sums[i].n, 100 * sums[i].loss / (double)sums[i].n);
}

static void min_cut_is_early_and_cheap(void **state)
{
    struct sums sums[N_STRATEGIES];
    (void)state;
    race(TUNE_POWER, "a target of power", 0, sums);
    assert_true(sums[0].n_early * 10 >= sums[0].n * 9);
    assert_true(sums[0].loss <= sums[3].loss);
    race(TUNE_POWER, "a target of power", 20, sums);
    assert_true(sums[0].n_met == sums[0].n);
    assert_true(sums[0].n_early * 10 >= sums[0].n * 9);
    for (size_t i = 1; i < N_STRATEGIES; i++)
        assert_true(sums[0].loss <= sums[i].loss);
}

static void min_cut_is_cheap_without_powers(void **state)
{
    struct sums sums[N_STRATEGIES];
    (void)state;
    race(TUNE_SCORE, "a score", 20, sums);
    assert_true(sums[0].n_met == sums[0].n);
    assert_true(sums[0].n_early * 10 >= sums[0].n * 9);
    race(TUNE_LOST, "elements lost", 20, sums);
    assert_true(sums[0].n_met == sums[0].n);
    for (size_t i = 1; i < N_STRATEGIES; i++)
        assert_true(sums[0].loss <= sums[i].loss);
}

static void side_by_side_is_no_worse(void **state)
{
    struct tune_case tune;
    struct sums sums[2] = {{.n = 0}};
    (void)state;
    for (uint32_t seed = 0; seed < N_RACES; seed++)
        for (size_t i = 0; i < 2; i++) {
            tune_create(&tune, seed, 20 + 4 * seed, TUNE_POWER);
            struct outcome outcome = search_with(&tune, "min-cut", 24, i == 0 ? 1 : 4);
            add(&sums[i], &tune, &outcome);
            tune_destroy(&tune);
        }
    print_message("24 evaluations one by one: loss %.1f %%, by fours: %.1f %%\n",
                  100 * sums[0].loss / N_RACES, 100 * sums[1].loss / N_RACES);
    assert_int_equal(sums[1].n_met, N_RACES);
    assert_true(sums[1].loss <= 1.5 * sums[0].loss);
}

/* ---- previews -------------------------------------------------------------------------------- */

/* Searches of 20 evaluations without previews, and with 100 of them that are OFF_DB off. */
static void compare_previews(double off_db, struct sums sums[2])
{
    struct tune_case tune;
    memset(sums, 0, 2 * sizeof *sums);
    for (uint32_t seed = 0; seed < N_RACES; seed++)
        for (size_t i = 0; i < 2; i++) {
            tune_create(&tune, 1000 + seed, 12 + 4 * seed, TUNE_POWER);
            tune.previews = 100 * i;
            tune.preview_off_db = off_db;
            struct outcome outcome = search_with(&tune, "min-cut", 20, 1);
            add(&sums[i], &tune, &outcome);
            assert_true(i == 0 || off_db > 0 || outcome.first_met <= 3);
            tune_destroy(&tune);
        }
    print_message("20 evaluations without previews: loss %.1f %%, with 100 off by %g dB: %.1f %%\n",
                  100 * sums[0].loss / N_RACES, off_db, 100 * sums[1].loss / N_RACES);
    assert_int_equal(sums[1].n_met, N_RACES);
    assert_int_equal(sums[1].n_early, N_RACES);
}

/* Previews that say what runs do save loss beyond what as many evaluations come to. */
static void previews_save_loss(void **state)
{
    struct sums sums[2];
    (void)state;
    compare_previews(0, sums);
    assert_true(sums[1].loss <= 0.95 * sums[0].loss);
}

/* On other samples they differ from evaluations, which is found out by evaluations. */
static void previews_may_differ(void **state)
{
    struct sums sums[2];
    (void)state;
    compare_previews(1, sums);
    assert_true(sums[1].loss <= sums[0].loss);
}

/* The strategies of others have no use for them. */
static void previews_are_for_min_cut(void **state)
{
    struct tune_case tune;
    (void)state;
    for (size_t i = 1; i < N_STRATEGIES; i++) {
        tune_create(&tune, 1000, 12, TUNE_POWER);
        tune.previews = 100;
        assert_true(search_with(&tune, names[i], 20, 1).n_runs > 0);
        assert_int_equal(tune.n_previews, 0);
        tune_destroy(&tune);
    }
}

/* Only what was run is an answer, and there is one whatever they say. */
static void previews_may_be_wrong(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        tune_create(&tune, seed, 1 + 2 * seed, seed % 2 == 0 ? TUNE_POWER : TUNE_LOST);
        tune.previews = 1 + seed * 3;
        tune.previews_lie = true;
        assert_true(search_with(&tune, "min-cut", 20, 1 + seed % 3).first_met != 0);
        assert_true(search_with(&tune, "min-cut", 2, 1).first_met != 0);
        tune_destroy(&tune);
    }
}

static void previews_leave_few_units_solved(void **state)
{
    struct tune_case tune;
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++) {
        tune_create(&tune, seed, 2 + seed % 10, TUNE_POWER);
        tune.cross = tune.off_db = 0;
        tune.previews = 100;
        assert_true(search_with(&tune, "min-cut", 0, 1).loss == optimum(&tune));
        tune_destroy(&tune);
    }
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Cut after each byte of STRIDE: the same trials in the same order, none of the whole lines run
   again, and in the end the same bytes. */
static void resume_everywhere(size_t n_jobs, size_t previews, size_t stride)
{
    struct tune_case tune;
    struct amp_trials trials, again;
    size_t size, new_size, n_previews;
    tune_create(&tune, 3, 14, TUNE_LOST);
    tune.previews = previews;
    tune_search_on(&tune, &trials, n_jobs);
    n_previews = tune.n_previews;
    char *whole = tune_read_log(&size);
    assert_non_null(trials.best);
    assert_in_range(trials.count, 5, 20);
    assert_true((n_previews > 0) == (previews > 0));
    /* A new file, as the one that is locked would stay so. */
    assert_int_equal(remove(TUNE_LOG), 0);
    for (size_t cut = 0, lines = 0; cut <= size; lines += whole[cut++] == '\n') {
        if (cut % stride != 0)
            continue;
        tune_write_log(whole, cut);
        tune_search_on(&tune, &again, n_jobs);
        assert_int_equal(again.n_replayed + n_previews - tune.n_previews,
                         lines > 0 ? lines - 1 : 0);
        assert_int_equal(tune.n_runs, trials.count - again.n_replayed);
        assert_int_equal(again.count, trials.count);
        for (size_t i = 0; i < trials.count; i++)
            assert_true(again.items[i]->hash == trials.items[i]->hash);
        assert_true(again.best->hash == trials.best->hash);
        amp_trials_close(&again);
        char *text = tune_read_log(&new_size);
        assert_int_equal(new_size, size);
        assert_memory_equal(text, whole, size);
        free(text);
    }
    free(whole);
    amp_trials_close(&trials);
    assert_int_equal(remove(TUNE_LOG), 0);
    tune_destroy(&tune);
}

static void a_search_goes_on_from_its_log(void **state)
{
    (void)state;
    resume_everywhere(1, 0, 1);
    resume_everywhere(3, 0, 7);
    resume_everywhere(1, 9, 31);
}

/* ---- the size of a model --------------------------------------------------------------------- */

/* The loss of the first choice within BUDGET that halving the price comes to. */
static double loss_on_path(const struct amp_problem *problem, struct amp_path *path, double budget,
                           bool *keeps)
{
    double low = 1e-9, high = 1e9;
    for (int i = 0; i < 60; i++) {
        double price = sqrt(low * high);
        amp_path_at(path, price, keeps);
        if (amp_problem_power(problem, keeps) <= budget)
            high = price;
        else
            low = price;
    }
    amp_path_at(path, high, keeps);
    return amp_problem_loss(problem, keeps);
}

static void large(const struct amp_problem *problem, struct amp_arena *arena, double share)
{
    size_t n = problem->n_units;
    bool *keeps = amp_arena_array(arena, n, sizeof *keeps);
    bool *again = amp_arena_array(arena, n, sizeof *again);
    double budget = share * amp_problem_power(problem, keeps);
    struct amp_path *path = amp_path_create(problem);
    double expected = loss_on_path(problem, path, budget, keeps);
    assert_true(amp_path_within(path, budget, keeps));
    assert_true(amp_path_within(path, budget, again));
    assert_false(amp_path_is_exact(path));
    assert_memory_equal(keeps, again, n * sizeof *keeps);
    assert_true(amp_problem_power(problem, keeps) <= budget);
    assert_true(amp_problem_loss(problem, keeps) <= expected * (1 + 1e-12));
    amp_path_destroy(path);
}

static void large_problems_are_solved(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int i = 0; i < 9; i++) {
        struct amp_arena *arena = amp_arena_create();
        struct tune_maker maker = tune_maker_of(&random, i);
        maker.n_far = i % 2 == 0 ? 0 : 300;
        large(tune_make(arena, &maker, 1000), arena, i % 3 == 0 ? 0.3 : 0.01);
        amp_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_have_names),
        cmocka_unit_test(every_strategy_ends_with_an_answer),
        cmocka_unit_test(no_limit_is_exceeded),
        cmocka_unit_test(two_evaluations_are_enough_for_an_answer),
        cmocka_unit_test(where_nothing_meets_there_is_no_answer),
        cmocka_unit_test(where_all_low_meets_one_run_is_enough),
        cmocka_unit_test(what_saves_loss_is_kept),
        cmocka_unit_test(a_problem_may_be_empty),
        cmocka_unit_test(whims_end),
        cmocka_unit_test(a_search_can_be_had_again),
        cmocka_unit_test(few_units_are_solved),
        cmocka_unit_test(few_units_among_many_are_solved),
        cmocka_unit_test(few_units_come_close),
        cmocka_unit_test(min_cut_is_early_and_cheap),
        cmocka_unit_test(min_cut_is_cheap_without_powers),
        cmocka_unit_test(side_by_side_is_no_worse),
        cmocka_unit_test(previews_save_loss),
        cmocka_unit_test(previews_may_differ),
        cmocka_unit_test(previews_are_for_min_cut),
        cmocka_unit_test(previews_may_be_wrong),
        cmocka_unit_test(previews_leave_few_units_solved),
        cmocka_unit_test(a_search_goes_on_from_its_log),
        cmocka_unit_test(large_problems_are_solved),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
