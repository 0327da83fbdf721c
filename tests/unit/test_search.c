/* Searches: what the strategies' answers cost, what is run twice, and the candidates that they try.
 * Takes long. */
#include "scratch.h"
#include "tune_case.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

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

/* ---- trials ---------------------------------------------------------------------------------- */

/*
 * Trials: that none is run twice, that they are counted, and that a search that was interrupted
 * anywhere goes on from its log to the same end. Logs that are wrong are refused and stay as they
 * are.
 */

static const char log_path[] = "t.jsonl";

static char *read_log(size_t *size)
{
    FILE *file = fopen(log_path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* Into a new file: where one is cut to be written anew, systems wait for the disk. */
static void write_log(const char *text, size_t size)
{
    assert_true(remove(log_path) == 0 || errno == ENOENT);
    FILE *file = fopen(log_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void none_is_run_twice(void **state)
{
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 3, 1);
    tune_open(&trials);
    struct amp_trial *first = tune_run_bits(&trials, 1);
    assert_ptr_equal(tune_run_bits(&trials, 1), first);
    assert_int_equal(trials.count, 1);
    tune_run_bits(&trials, 2);
    assert_true(amp_trials_left(&trials));
    tune_run_bits(&trials, 3);
    assert_false(amp_trials_left(&trials));
    assert_null(tune_run_bits(&trials, 4));
    assert_ptr_equal(tune_run_bits(&trials, 1), first);
    assert_int_equal(tune.n_runs, 3);
    assert_int_equal(first->number, 0);
    assert_string_equal(first->phase, "test");
    assert_true(first->loss == amp_problem_loss(&tune.problem, first->keeps));
    amp_trials_close(&trials);
    tune_destroy(&tune);
}

/* The second step of a unit to float32 is the first as well, whether a candidate says so or not. */
static void a_step_includes_the_one_before(void **state)
{
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    tune.problem.units[2].is_fine = true;
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    tune_open(&trials);
    struct amp_trial *second = tune_run_bits(&trials, 1 << 3);
    assert_true(second->keeps[2] && second->keeps[3]);
    assert_ptr_equal(tune_run_bits(&trials, 1 << 2 | 1 << 3), second);
    assert_ptr_not_equal(tune_run_bits(&trials, 1 << 2), second);
    assert_int_equal(tune.n_runs, 2);
    amp_trials_close(&trials);
    tune_destroy(&tune);
}

static void equal_ones_at_once_are_run_once(void **state)
{
    bool rows[5][6] = {{true}, {false, true}, {true}, {true, true}, {false, false, true}};
    bool *const keeps[] = {rows[0], rows[1], rows[2], rows[3], rows[4]};
    struct amp_trial *found[5];
    struct amp_error err = {.status = AMP_OK};
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 3, 5);
    tune_open(&trials);
    assert_int_equal(
        amp_trials_run_all(&trials, &(struct amp_candidates){keeps, 5, found}, "test", &err),
        AMP_OK);
    assert_ptr_equal(found[0], found[2]);
    assert_ptr_equal(found[3], trials.items[2]);
    assert_null(found[4]);
    assert_int_equal(tune.n_runs, 3);
    amp_trials_close(&trials);
    amp_trials_close(&(struct amp_trials){.count = 0});
    tune_destroy(&tune);
}

static void the_best_is_the_cheapest_that_met(void **state)
{
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_WHIMS);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    tune_open(&trials);
    double least = INFINITY;
    for (uint32_t bits = 0; bits < 64; bits++) {
        const struct amp_trial *trial = tune_run_bits(&trials, bits);
        if (trial->verdict == AMP_TRIAL_MET)
            least = fmin(least, trial->loss);
        assert_true(trials.best == NULL ? isinf(least) : trials.best->loss == least);
    }
    assert_non_null(trials.best);
    amp_trials_close(&trials);
    tune_destroy(&tune);
}

/* What was run before the failure counts and is in the log. */
static void a_failure_keeps_what_was_run(void **state)
{
    bool rows[3][6] = {{true}, {false, true}, {true, true}};
    bool *const keeps[] = {rows[0], rows[1], rows[2]};
    struct amp_trial *found[3];
    struct amp_error err = {.status = AMP_OK};
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    tune.fails_at = 3;
    struct amp_trials trials = tune_trials(&tune, 0, 3);
    trials.log_path = log_path;
    tune_open(&trials);
    assert_int_equal(
        amp_trials_run_all(&trials, &(struct amp_candidates){keeps, 3, found}, "test", &err),
        AMP_KERNEL);
    assert_int_equal(trials.count, 2);
    amp_trials_close(&trials);
    tune.n_runs = tune.fails_at = 0;
    tune_open(&trials);
    memset(&err, 0, sizeof err);
    assert_int_equal(
        amp_trials_run_all(&trials, &(struct amp_candidates){keeps, 3, found}, "test", &err),
        AMP_OK);
    assert_int_equal(trials.n_replayed, 2);
    assert_int_equal(tune.n_runs, 1);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* Runs the last of the candidates alone, and fails. */
static enum amp_status run_last(void *context, struct amp_trial *const *trials, size_t n,
                                struct amp_error *err)
{
    (void)context;
    trials[n - 1]->verdict = AMP_TRIAL_MET;
    return amp_fail(err, AMP_KERNEL, "the others failed");
}

/* What was not run is not there, nor in the log; the others are numbered in their order. */
static void what_was_not_run_leaves_no_gap(void **state)
{
    bool rows[3][6] = {{true}, {false, true}, {true, true}};
    bool *const keeps[] = {rows[0], rows[1], rows[2]};
    struct amp_trial *found[3];
    struct amp_error err = {.status = AMP_OK};
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 0, 3);
    trials.log_path = log_path;
    tune_open(&trials);
    tune_run_bits(&trials, 4);
    trials.runner.run = run_last;
    assert_int_equal(
        amp_trials_run_all(&trials, &(struct amp_candidates){keeps, 3, found}, "test", &err),
        AMP_KERNEL);
    assert_int_equal(trials.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(trials.items[i]->number, i);
    assert_true(trials.items[1]->keeps[0] && trials.items[1]->keeps[1]);
    assert_ptr_equal(trials.best, trials.items[1]);
    amp_trials_close(&trials);
    size_t size, n_lines = 0;
    char *text = read_log(&size);
    for (size_t i = 0; i < size; i++)
        n_lines += text[i] == '\n';
    assert_int_equal(n_lines, 3);
    free(text);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* ---- the log --------------------------------------------------------------------------------- */

/* Says of each candidate something else that is hard to write. */
static enum amp_status say_odd(void *context, struct amp_trial *const *trials, size_t n,
                               struct amp_error *err)
{
    static const struct amp_trial odd[] = {
        {.verdict = AMP_TRIAL_MISSED, .measured = INFINITY, .score = NAN, .reason = "a\n\"b\"\x1b"},
        {.verdict = AMP_TRIAL_MET, .measured = NAN, .score = -INFINITY, .seconds = 1e300},
        {.verdict = AMP_TRIAL_UNSURE,
         .measured = 0,
         .score = 0.1,
         .reason = "\xc3\xa4 \xe2\x82\xac"},
        {.verdict = AMP_TRIAL_MISSED, .measured = 5e-324, .score = INFINITY, .reason = "\xff"},
    };
    size_t *calls = context;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const struct amp_trial *said = &odd[(*calls)++ % 4];
        trials[i]->verdict = said->verdict;
        trials[i]->measured = said->measured;
        trials[i]->score = said->score;
        trials[i]->seconds = said->seconds;
        memcpy(trials[i]->reason, said->reason, sizeof said->reason);
    }
    return AMP_OK;
}

static void assert_same_number(double a, double b)
{
    assert_true(isnan(a) ? isnan(b) : a == b);
}

static void what_is_logged_comes_back(void **state)
{
    struct tune_case tune;
    size_t calls = 0;
    (void)state;
    tune_create(&tune, 1, 32, TUNE_POWER);
    struct amp_trials first = tune_trials(&tune, 0, 1), second;
    first.log_path = log_path;
    first.runner = (struct amp_trial_runner){.run = say_odd, .context = &calls, .n_jobs = 1};
    second = first;
    tune_open(&first);
    for (uint32_t i = 0; i < 40; i++)
        tune_run_bits(&first, i * 0x08040201u);
    assert_int_equal(first.n_replayed, 0);
    /* The lock goes with the program, so that the file must be closed before it is read. */
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_trials_open(&second, &err), AMP_IO);
    amp_trials_close(&second);
    struct amp_trial *const *items = first.items;
    size_t size;
    char *text = read_log(&size);
    assert_non_null(strstr(text, "\"kept\":[[0,0],[9,9],[18,18],[27,27]]"));
    free(text);
    struct amp_trial copies[40];
    for (size_t i = 0; i < 40; i++)
        copies[i] = *items[i];
    amp_trials_close(&first);
    tune_open(&second);
    for (uint32_t i = 0; i < 40; i++) {
        const struct amp_trial *trial = tune_run_bits(&second, i * 0x08040201u);
        assert_int_equal(trial->verdict, copies[i].verdict);
        assert_same_number(trial->measured, copies[i].measured);
        assert_same_number(trial->score, copies[i].score);
        assert_same_number(trial->seconds, copies[i].seconds);
        assert_string_equal(trial->reason, (unsigned char)copies[i].reason[0] == 0xff
                                               ? "(not UTF-8)"
                                               : copies[i].reason);
    }
    assert_int_equal(second.n_replayed, 40);
    assert_int_equal(calls, 40);
    amp_trials_close(&second);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* Two units with numbers that are exact. */
static void create_small(struct tune_case *tune)
{
    static const double powers[] = {0.5, 0.125, 0.25}; /* of 0, of 1, of both */
    struct amp_problem *problem = &tune->problem;
    tune_create(tune, 1, 2, TUNE_POWER);
    assert_int_equal(problem->n_noises, 3);
    assert_int_equal(problem->n_edges, 1);
    for (size_t i = 0; i < 3; i++)
        problem->noises[i].power = powers[i];
    problem->units[0].loss = 1.5;
    problem->units[1].loss = -0.25;
    problem->edges[0].cost = 2;
    problem->floor = 0.0625;
    problem->base = 8;
    problem->origin = "by hand";
}

static const char small_log[] =
    "{\"ampconv-tune-log\":1,\"key\":\"0000000000000007\",\"units\":2}\n"
    "{\"losses\":[1.5,-0.25],\"noises\":[[0,0,0.5],[1,1,0.125],[0,1,0.25]],"
    "\"edges\":[[0,1,2.0]],\"floor\":0.0625,\"base\":8.0,\"origin\":\"by hand\"}\n"
    "{\"trial\":0,\"phase\":\"test\",\"kept\":[[1,1]],\"loss\":1.75,\"power\":0.8125,"
    "\"verdict\":\"missed\",\"measured\":\"infinite\",\"score\":null,\"seconds\":0.0,"
    "\"reason\":\"a\\n\\\"b\\\"\\u001B\"}\n"
    "{\"preview\":0,\"phase\":\"test\",\"kept\":[[0,1]],\"loss\":1.25,\"power\":0.0625,"
    "\"verdict\":\"met\",\"measured\":null,\"score\":\"-infinite\",\"seconds\":0.5,"
    "\"reason\":\"\"}\n";

static enum amp_status say_little(void *context, struct amp_trial *const *trials, size_t n,
                                  struct amp_error *err)
{
    (void)context, (void)n, (void)err;
    trials[0]->verdict = trials[0]->is_preview ? AMP_TRIAL_MET : AMP_TRIAL_MISSED;
    if (trials[0]->is_preview)
        trials[0]->score = -INFINITY;
    else
        trials[0]->measured = INFINITY;
    trials[0]->seconds = trials[0]->is_preview ? 0.5 : 0;
    snprintf(trials[0]->reason, sizeof trials[0]->reason, "%s",
             trials[0]->is_preview ? "" : "a\n\"b\"\x1b");
    return AMP_OK;
}

static void a_log_says_what_is_known(void **state)
{
    struct tune_case tune;
    struct amp_error err = {.status = AMP_OK};
    size_t size;
    (void)state;
    create_small(&tune);
    struct amp_trials trials = tune_trials(&tune, 0, 1), previews;
    trials.log_path = log_path;
    trials.runner = (struct amp_trial_runner){.run = say_little, .n_jobs = 1};
    previews = trials;
    tune_open(&trials);
    assert_false(amp_trials_recall(&trials, &tune.problem));
    amp_trials_open_previews(&previews, &trials);
    for (int i = 0; i < 2; i++) /* once is enough */
        assert_int_equal(amp_trials_predict(&trials, &err), AMP_OK);
    tune_run_bits(&trials, 2);
    tune_run_bits(&previews, 3);
    amp_trials_close(&previews);
    amp_trials_close(&trials);
    char *text = read_log(&size);
    assert_string_equal(text, small_log);
    free(text);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void what_is_known_comes_back(void **state)
{
    struct tune_case tune, other;
    struct amp_error err = {.status = AMP_OK};
    size_t size;
    (void)state;
    create_small(&tune);
    tune_create(&other, 2, 2, TUNE_POWER);
    other.problem.n_noises = other.problem.n_edges = 0;
    write_log(small_log, strlen(small_log));
    struct amp_trials trials = tune_trials(&other, 0, 1);
    trials.log_path = log_path;
    tune_open(&trials);
    assert_true(amp_trials_recall(&trials, &other.problem));
    assert_int_equal(other.problem.n_noises, 3);
    assert_int_equal(other.problem.n_edges, 1);
    for (size_t i = 0; i < 3; i++) {
        const struct amp_problem_noise *a = &tune.problem.noises[i], *b = &other.problem.noises[i];
        assert_true(a->a == b->a && a->b == b->b && a->power == b->power);
    }
    for (size_t i = 0; i < 2; i++)
        assert_true(tune.problem.units[i].loss == other.problem.units[i].loss);
    assert_true(other.problem.edges[0].a == 0 && other.problem.edges[0].b == 1 &&
                other.problem.edges[0].cost == 2);
    assert_true(other.problem.floor == 0.0625 && other.problem.base == 8);
    assert_string_equal(other.problem.origin, "by hand");
    assert_int_equal(amp_trials_predict(&trials, &err), AMP_OK); /* it is there already */
    assert_int_equal(tune_run_bits(&trials, 2)->verdict, AMP_TRIAL_MISSED);
    assert_int_equal(trials.n_replayed, 1);
    amp_trials_close(&trials);
    char *text = read_log(&size);
    assert_string_equal(text, small_log);
    free(text);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&other);
    tune_destroy(&tune);
}

/* A preview in the log is none of its trials, and a trial none of its previews. */
static void previews_are_logged_apart(void **state)
{
    struct tune_case tune;
    (void)state;
    create_small(&tune);
    write_log(small_log, strlen(small_log));
    struct amp_trials trials = tune_trials(&tune, 0, 1), previews = trials;
    trials.log_path = log_path;
    tune_open(&trials);
    amp_trials_open_previews(&previews, &trials);
    assert_true(isnan(tune_run_bits(&trials, 3)->score));
    assert_int_equal(trials.n_replayed, 0);
    assert_true(isfinite(tune_run_bits(&previews, 2)->measured));
    assert_int_equal(previews.n_replayed, 0);
    assert_int_equal(tune.n_runs, 2);
    assert_true(tune_run_bits(&previews, 3)->score == -INFINITY);
    assert_true(tune_run_bits(&trials, 2)->measured == INFINITY);
    assert_int_equal(previews.n_replayed, 1);
    assert_int_equal(trials.n_replayed, 1);
    assert_int_equal(tune.n_runs, 2);
    amp_trials_close(&previews);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* As the system has new files; what it said of another call before says nothing of this one. */
static void a_new_log_is_as_other_files(void **state)
{
    struct tune_case tune;
    struct stat status;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    trials.log_path = log_path;
    mode_t mask = umask(027);
    errno = EWOULDBLOCK;
    tune_open(&trials);
    umask(mask);
    assert_int_equal(stat(log_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void *allocate_nothing(size_t size)
{
    (void)size;
    return NULL;
}

static void a_log_without_memory_is_an_error(void **state)
{
    struct tune_case tune;
    struct amp_error err = {.status = AMP_OK};
    struct amp_trial *trial;
    const bool keeps[6] = {false};
    json_malloc_t allocate;
    json_free_t release;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    trials.log_path = log_path;
    tune_open(&trials);
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(allocate_nothing, release);
    enum amp_status status = amp_trials_run(&trials, keeps, "test", &trial, &err);
    json_set_alloc_funcs(allocate, release);
    assert_int_equal(status, AMP_IO);
    assert_string_equal(err.text, "t.jsonl: out of memory");
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* What is known only after some have been run says what these are predicted to be. */
static void trials_are_predicted_anew(void **state)
{
    struct tune_case tune;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    create_small(&tune);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    tune_open(&trials);
    const struct amp_trial *low = tune_run_bits(&trials, 0), *first = tune_run_bits(&trials, 1);
    assert_true(low->loss == 0 && low->power == 0.9375);
    assert_true(first->loss == 3.5 && first->power == 0.4375);
    assert_false(amp_trials_recall(&trials, &tune.problem));
    tune.problem.units[0].loss = 4;
    tune.problem.noises[2].power = 1;
    assert_int_equal(amp_trials_predict(&trials, &err), AMP_OK);
    assert_true(low->loss == 0 && low->power == 1.6875);
    assert_true(first->loss == 6 && first->power == 1.1875);
    amp_trials_close(&trials);
    tune_destroy(&tune);
}

/* A file that takes no more bytes than SIZE; 0: as many as before. */
static void limit_files(size_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size == 0 ? limit.rlim_max : size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A line that does not go into the file in whole ends the search; the next one goes on before it.
 */
static void a_log_that_is_full_is_an_error(void **state)
{
    struct tune_case tune;
    struct amp_error err = {.status = AMP_OK};
    struct amp_trial *trial;
    bool keeps[2] = {true, false};
    (void)state;
    create_small(&tune);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    trials.log_path = log_path;
    signal(SIGXFSZ, SIG_IGN);
    tune_open(&trials);
    limit_files(100);
    enum amp_status status = amp_trials_run(&trials, keeps, "test", &trial, &err);
    limit_files(0);
    assert_int_equal(status, AMP_IO);
    assert_string_equal(err.text, "t.jsonl: cannot write: File too large");
    amp_trials_close(&trials);
    tune.n_runs = 0;
    tune_open(&trials);
    tune_run_bits(&trials, 1);
    assert_int_equal(trials.n_replayed, 0);
    assert_int_equal(tune.n_runs, 1);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

/* Searches with the log as it lies there. TRIALS are left open. */
static void search_on(struct tune_case *tune, struct amp_trials *trials, size_t n_jobs)
{
    tune->n_runs = 0;
    *trials = tune_trials(tune, 20, n_jobs);
    trials->log_path = log_path;
    tune_open(trials);
    tune_search(tune, trials, "min-cut");
}

/* Cut after each byte of STRIDE: the same trials in the same order, none of the whole lines run
   again, and in the end the same bytes. */
static void resume_everywhere(size_t n_jobs, size_t previews, size_t stride)
{
    struct tune_case tune;
    struct amp_trials trials, again;
    size_t size, new_size, n_previews;
    tune_create(&tune, 3, 14, TUNE_LOST);
    tune.previews = previews;
    search_on(&tune, &trials, n_jobs);
    n_previews = tune.n_previews;
    char *whole = read_log(&size);
    assert_non_null(trials.best);
    assert_in_range(trials.count, 5, 20);
    assert_true((n_previews > 0) == (previews > 0));
    /* A new file, as the one that is locked would stay so. */
    assert_int_equal(remove(log_path), 0);
    for (size_t cut = 0, lines = 0; cut <= size; lines += whole[cut++] == '\n') {
        if (cut % stride != 0)
            continue;
        write_log(whole, cut);
        search_on(&tune, &again, n_jobs);
        assert_int_equal(again.n_replayed + n_previews - tune.n_previews,
                         lines > 0 ? lines - 1 : 0);
        assert_int_equal(tune.n_runs, trials.count - again.n_replayed);
        assert_int_equal(again.count, trials.count);
        for (size_t i = 0; i < trials.count; i++)
            assert_true(again.items[i]->hash == trials.items[i]->hash);
        assert_true(again.best->hash == trials.best->hash);
        amp_trials_close(&again);
        char *text = read_log(&new_size);
        assert_int_equal(new_size, size);
        assert_memory_equal(text, whole, size);
        free(text);
    }
    free(whole);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void a_search_goes_on_from_its_log(void **state)
{
    (void)state;
    resume_everywhere(1, 0, 1);
    resume_everywhere(3, 0, 7);
    resume_everywhere(1, 9, 31);
}

/* ---- wrong logs ------------------------------------------------------------------------------ */

/* Opens TEXT as a log of 6 units. It must be refused as STATUS with MESSAGE and stay as it is. */
static void refuse(const char *text, const char *message)
{
    struct tune_case tune;
    struct amp_error err = {.status = AMP_OK};
    size_t size;
    write_log(text, strlen(text));
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    trials.log_path = log_path;
    if (amp_trials_open(&trials, &err) != AMP_USAGE || strstr(err.text, message) == NULL)
        fail_msg("%s: %s", text, err.text);
    amp_trials_close(&trials);
    char *left = read_log(&size);
    assert_string_equal(left, text);
    free(left);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void other_logs_are_refused(void **state)
{
    (void)state;
    refuse("{\"ampconv-tune-log\":1,\"key\":\"0000000000000008\",\"units\":6}\n", "t.jsonl:1: key");
    refuse("{\"ampconv-tune-log\":1,\"key\":\"0000000000000007\",\"units\":5}\n", "units: 5");
    refuse("{\"ampconv-tune-log\":1,\"key\":7,\"units\":6}\n", "key: 7");
    refuse("{\"ampconv-tune-log\":2,\"key\":\"0000000000000007\",\"units\":6}\n", "log: 2");
    refuse("{\"ampconv-tune-log\":1}\n", "key: nothing");
    refuse("[]\n", "log: nothing");
    refuse("\n", "t.jsonl:1:");
    refuse("\n", "accepted: a JSON object");
    refuse("a letter\n", "t.jsonl:1:");
    refuse("a letter\n", "accepted: a JSON object");
    refuse("a letter", "no log");
    refuse("{\"ampconv-tune-log\":1,\"key\":\"0000000000000008\"", "no log");
}

static void wrong_lines_are_refused(void **state)
{
    static const char head[] =
        "{\"ampconv-tune-log\":1,\"key\":\"0000000000000007\",\"units\":6}\n";
    static const char good[] =
        "{\"kept\":[[0,5]],\"verdict\":\"met\",\"measured\":1,\"score\":null,"
        "\"seconds\":0,\"reason\":\"\"}\n";
    static const struct {
        const char *old, *new, *message;
    } changes[] = {
        {"[[0,5]]", "[[0,6]]", "kept: [0,6]"},
        {"[[0,5]]", "[[-1,5]]", "kept: [-1,5]"},
        {"[[0,5]]", "[[3,2]]", "kept: [3,2]"},
        {"[[0,5]]", "[[0,3],[3,5]]", "kept: [3,5]"},
        {"[[0,5]]", "[[4,5],[0,1]]", "kept: [0,1]"},
        {"[[0,5]]", "[[0,9223372036854775807]]", "kept: [0,9223372036854775807]"},
        {"[[0,5]]", "[[0,99999999999999999999]]", "t.jsonl:3:"},
        {"[[0,5]]", "[[0]]", "kept: [0]"},
        {"[[0,5]]", "[[0,1,2]]", "kept: [0,1,2]"},
        {"[[0,5]]", "[[0.0,1.0]]", "kept: [0"},
        {"[[0,5]]", "[0,5]", "kept: 0"},
        {"[[0,5]]", "{}", "kept: {}"},
        {"[[0,5]]", "null", "kept: null"},
        {"\"met\"", "\"Met\"", "verdict: \"Met\""},
        {"\"met\"", "null", "verdict: null"},
        {"\"met\"", "1", "verdict: 1"},
        {"\"measured\":1", "\"measured\":-1", "measured: -1"},
        {"\"measured\":1", "\"measured\":\"-infinite\"", "measured: \"-infinite\""},
        {"\"measured\":1", "\"measured\":\"1\"", "measured: \"1\""},
        {"\"measured\":1", "\"measured\":1e999", "t.jsonl:3:"},
        {"\"measured\":1", "\"measured\":NaN", "t.jsonl:3:"},
        {"\"measured\":1,", "", "measured: nothing"},
        {"\"score\":null", "\"score\":[]", "score: []"},
        {"\"seconds\":0", "\"seconds\":true", "seconds: true"},
        {"\"reason\":\"\"", "\"reason\":0", "reason: 0"},
        {"\"reason\":\"\"", "\"reason\":\"\\u0000\"", "t.jsonl:3:"},
        {"\"reason\":\"\"", "\"reason\":\"\xff\"", "t.jsonl:3:"},
        {"\"reason\":\"\"", "\"reason\":\"\",\"reason\":\"\"", "t.jsonl:3:"},
        {"{", "[", "t.jsonl:3:"},
        {"{\"kept\"", "{\"kept\":[],\"kept\"", "t.jsonl:3:"},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *at = strstr(good, changes[i].old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%s%s%.*s%s%s", head, good, (int)(at - good), good,
                 changes[i].new, at + strlen(changes[i].old));
        refuse(text, changes[i].message);
        if (strcmp(changes[i].message, "t.jsonl:3:") == 0)
            refuse(text, "accepted: a JSON object");
    }
}

/* At each end of what is accepted. */
static void other_lines_are_taken(void **state)
{
    static const char text[] =
        "{\"ampconv-tune-log\":1,\"key\":\"0000000000000007\",\"units\":6}\n"
        "{\"losses\":[-1,0,2,3,4,5],\"noises\":[[0,5,0],[5,0,1]],\"edges\":[],\"floor\":0,"
        "\"base\":1,\"origin\":\"\"}\n"
        "{\"kept\":[[0,2],[3,3],[4,5]],\"verdict\":\"unsure\",\"measured\":0,\"score\":-1.5,"
        "\"seconds\":0,\"reason\":\"\"}\n"
        "{\"kept\":[],\"verdict\":\"met\",\"measured\":\"infinite\",\"score\":\"-infinite\","
        "\"seconds\":7,\"reason\":\"so\"}\n";
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    write_log(text, strlen(text));
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    trials.log_path = log_path;
    tune_open(&trials);
    const struct amp_trial *all = tune_run_bits(&trials, 63), *none = tune_run_bits(&trials, 0);
    assert_int_equal(trials.n_replayed, 2);
    assert_int_equal(all->verdict, AMP_TRIAL_UNSURE);
    assert_true(all->measured == 0 && all->score == -1.5 && all->seconds == 0);
    assert_string_equal(all->reason, "");
    assert_int_equal(none->verdict, AMP_TRIAL_MET);
    assert_true(none->measured == INFINITY && none->score == -INFINITY && none->seconds == 7);
    assert_string_equal(none->reason, "so");
    assert_true(amp_trials_recall(&trials, &tune.problem));
    assert_true(tune.problem.units[0].loss == -1 && tune.problem.units[5].loss == 5);
    assert_int_equal(tune.problem.n_edges, 0);
    assert_int_equal(tune.problem.n_noises, 2);
    assert_true(tune.problem.noises[0].b == 5 && tune.problem.noises[0].power == 0 &&
                tune.problem.noises[1].a == 5 && tune.problem.noises[1].power == 1);
    amp_trials_close(&trials);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void wrong_problems_are_refused(void **state)
{
    static const char head[] =
        "{\"ampconv-tune-log\":1,\"key\":\"0000000000000007\",\"units\":6}\n";
    static const char good[] =
        "{\"losses\":[1,2,3,4,5,6],\"noises\":[[0,5,0]],\"edges\":[[5,0,1]],\"floor\":0,"
        "\"base\":1,\"origin\":\"\"}\n";
    static const char pair[] = "accepted: two units and a number, 0 or more",
                      each[] = "accepted: a number for each unit";
    static const struct {
        const char *old, *new, *message, *accepted;
    } changes[] = {
        {"[1,2,3,4,5,6]", "[1,2,3,4,5]", "t.jsonl:2: losses: [1,2,3,4,5];", each},
        {"[1,2,3,4,5,6]", "[1,2,3,4,5,6,7]", "losses: [1,2,3,4,5,6,7];", each},
        {"[1,2,3,4,5,6]", "7", "losses: 7;", each},
        {"[1,2,3,4,5,6]", "[1,2,3,4,5,null]", "losses: null;", each},
        {"[1,2,3,4,5,6]", "[\"1\",2,3,4,5,6]", "losses: \"1\";", each},
        {"[[0,5,0]]", "{}", "noises: {};", "accepted: a list"},
        {"\"noises\":[[0,5,0]],", "", "noises: nothing;", "accepted: a list"},
        {"[[0,5,0]]", "[[6,5,0]]", "noises: [6,5,0];", pair},
        {"[[0,5,0]]", "[[0,6,0]]", "noises: [0,6,0];", pair},
        {"[[0,5,0]]", "[[0,-1,0]]", "noises: [0,-1,0];", pair},
        {"[[0,5,0]]", "[[-1,5,0]]", "noises: [-1,5,0];", pair},
        {"[[0,5,0]]", "[[0,5,-1]]", "noises: [0,5,-1];", pair},
        {"[[0,5,0]]", "[[0,5,null]]", "noises: [0,5,null];", pair},
        {"[[0,5,0]]", "[[0,5]]", "noises: [0,5];", pair},
        {"[[0,5,0]]", "[[0,5,0,0]]", "noises: [0,5,0,0];", pair},
        {"[[0,5,0]]", "[[0,5,0],7]", "noises: 7;", pair},
        {"[[5,0,1]]", "[[6,0,1]]", "edges: [6,0,1];", pair},
        {"[[5,0,1]]", "null", "edges: null;", "accepted: a list"},
        {"\"origin\":\"\"", "\"origin\":1", "origin: 1;", "accepted: a text"},
        {",\"origin\":\"\"", "", "origin: nothing;", "accepted: a text"},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *at = strstr(good, changes[i].old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%s%.*s%s%s", head, (int)(at - good), good, changes[i].new,
                 at + strlen(changes[i].old));
        refuse(text, changes[i].message);
        refuse(text, changes[i].accepted);
    }
}

static void random_bytes_do_no_harm(void **state)
{
    struct tune_case tune;
    struct amp_trials trials;
    uint64_t seed = 5;
    size_t size;
    (void)state;
    tune_create(&tune, 3, 10, TUNE_POWER);
    search_on(&tune, &trials, 1);
    amp_trials_close(&trials);
    char *whole = read_log(&size);
    for (int round = 0; round < 1000; round++) {
        struct amp_error err = {.status = AMP_OK};
        char *text = malloc(size);
        assert_non_null(text);
        memcpy(text, whole, size);
        for (size_t i = below(&seed, 4) + 1; i > 0; i--)
            text[below(&seed, size)] = (char)next_random(&seed);
        write_log(text, size - below(&seed, 2) * below(&seed, size));
        free(text);
        trials = tune_trials(&tune, 0, 1);
        trials.log_path = log_path;
        if (amp_trials_open(&trials, &err) != AMP_OK)
            assert_int_equal(err.status, AMP_USAGE);
        amp_trials_close(&trials);
    }
    free(whole);
    assert_int_equal(remove(log_path), 0);
    tune_destroy(&tune);
}

static void what_is_no_file_is_refused(void **state)
{
    struct tune_case tune;
    (void)state;
    tune_create(&tune, 1, 6, TUNE_POWER);
    struct amp_trials trials = tune_trials(&tune, 0, 1);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    static const struct {
        const char *path, *message;
    } files[] = {{"pipe", "pipe: "},
                 {".", ".: "},
                 {"no/such/folder", "no/such/folder: cannot open: No such file or directory"},
                 {"/proc/self/exe", "/proc/self/exe: cannot open: Text file busy"},
                 {"/dev/full", "/dev/full: "}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct amp_error err = {.status = AMP_OK};
        trials.log_path = files[i].path;
        assert_int_equal(amp_trials_open(&trials, &err), AMP_IO);
        assert_true(strncmp(err.text, files[i].message, strlen(files[i].message)) == 0);
        amp_trials_close(&trials);
    }
    tune_destroy(&tune);
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
        cmocka_unit_test(none_is_run_twice),
        cmocka_unit_test(a_step_includes_the_one_before),
        cmocka_unit_test(equal_ones_at_once_are_run_once),
        cmocka_unit_test(the_best_is_the_cheapest_that_met),
        cmocka_unit_test(a_failure_keeps_what_was_run),
        cmocka_unit_test(what_was_not_run_leaves_no_gap),
        cmocka_unit_test(what_is_logged_comes_back),
        cmocka_unit_test(a_log_says_what_is_known),
        cmocka_unit_test(what_is_known_comes_back),
        cmocka_unit_test(previews_are_logged_apart),
        cmocka_unit_test(a_new_log_is_as_other_files),
        cmocka_unit_test(a_log_without_memory_is_an_error),
        cmocka_unit_test(trials_are_predicted_anew),
        cmocka_unit_test(a_log_that_is_full_is_an_error),
        cmocka_unit_test(a_search_goes_on_from_its_log),
        cmocka_unit_test(other_logs_are_refused),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(other_lines_are_taken),
        cmocka_unit_test(wrong_problems_are_refused),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(what_is_no_file_is_refused),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
