#ifndef AMP_TESTS_TUNE_CASE_H
#define AMP_TESTS_TUNE_CASE_H

/* Problems of tuning that are made up, and what runs their candidates: a model of what a network
   would do, which a search sees only through trials. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "tune/search.h"

enum { TUNE_RUNS_MAX = 5000 };

/* What a run says of a candidate. */
enum tune_kind {
    TUNE_POWER,  /* the power of the error, which must be at most the target */
    TUNE_SCORE,  /* a score alone, which goes down as the power goes up */
    TUNE_LOST,   /* as the first; infinite where a unit is low that must not be */
    TUNE_WHIMS,  /* a verdict that follows nothing */
    TUNE_UNSURE, /* as the first, but where it met nobody can tell */
};

struct tune_case {
    struct amp_problem problem;
    enum tune_kind kind;
    uint64_t seed;
    double target; /* power */
    double cross;  /* of the errors of neighbouring sources, from 0 to 1 */
    double off_db; /* by how much a run may differ from what is predicted, either way */
    uint32_t fragile;
    size_t n_runs, fails_at;     /* candidates run; the run that fails, 0: none */
    uint64_t ran[TUNE_RUNS_MAX]; /* their hashes */
    size_t previews;             /* that may be had; 0: there are none */
    size_t n_previews;
    double preview_off_db; /* by how much they differ from runs, either way */
    bool previews_lie;     /* and say of each choice that it is good enough */
    uint64_t odd_previews; /* one of so many sees no error at all, or elements that are lost */
    uint64_t others;       /* one choice of so many misses for something else than power; 0: none */
    struct amp_arena *arena;
};

/* From 0 to below 1. */
static inline double tune_uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static inline double tune_decades(uint64_t *state, double decades)
{
    return pow(10, -decades * tune_uniform(state));
}

static inline void tune_connect(struct tune_case *tune, uint32_t a, uint32_t b)
{
    struct amp_problem *problem = &tune->problem;
    problem->noises[problem->n_noises++] =
        (struct amp_problem_noise){.a = a, .b = b, .power = 1e-3 * tune_decades(&tune->seed, 3)};
    if (a != b)
        problem->edges[problem->n_edges++] =
            (struct amp_problem_edge){.a = a, .b = b, .cost = 0.3 * tune_decades(&tune->seed, 2)};
}

/* The power that a run of KEEPS has before chance: the errors of sources that follow each other are
   not independent. */
static inline double tune_true_power(const struct tune_case *tune, const bool *keeps)
{
    const struct amp_problem *problem = &tune->problem;
    double sum = amp_problem_power(problem, keeps), last = 0;
    for (size_t i = 0; i < problem->n_noises; i++) {
        const struct amp_problem_noise *noise = &problem->noises[i];
        double power = keeps[noise->a] && keeps[noise->b] ? 0 : noise->power;
        sum += (i % 3 == 0 ? -1 : 1) * tune->cross * sqrt(last * power);
        last = power;
    }
    return sum;
}

static inline double tune_measure(const struct tune_case *tune, const bool *keeps)
{
    uint64_t state = amp_problem_hash(keeps, tune->problem.n_units) ^ tune->seed;
    double db = tune->off_db * (2 * tune_uniform(&state) - 1);
    if (tune->kind == TUNE_LOST && !keeps[tune->fragile])
        return INFINITY;
    return tune_true_power(tune, keeps) * pow(10, db / 10);
}

static inline bool tune_is_met(const struct tune_case *tune, const bool *keeps)
{
    if (tune->kind == TUNE_WHIMS)
        return (amp_problem_hash(keeps, tune->problem.n_units) ^ tune->seed) % 3 == 0;
    return tune_measure(tune, keeps) <= tune->target;
}

/* Whether a choice of that HASH misses whatever its power is; SALT: other ones. */
static inline bool tune_misses(const struct tune_case *tune, uint64_t hash, uint64_t salt)
{
    uint64_t state = hash ^ tune->seed ^ salt;
    return tune->others > 0 && next_random(&state) % tune->others == 0;
}

static inline void tune_run_one(struct tune_case *tune, struct amp_trial *trial)
{
    double measured = tune_measure(tune, trial->keeps);
    bool is_met = tune_is_met(tune, trial->keeps) && !tune_misses(tune, trial->hash, 1);
    for (size_t i = 0; i < tune->n_runs; i++)
        assert_true(tune->ran[i] != trial->hash);
    assert_in_range(tune->n_runs, 0, TUNE_RUNS_MAX - 1);
    tune->ran[tune->n_runs++] = trial->hash;
    trial->verdict = is_met ? AMP_TRIAL_MET : AMP_TRIAL_MISSED;
    if (is_met && tune->kind == TUNE_UNSURE)
        trial->verdict = AMP_TRIAL_UNSURE;
    if (tune->kind == TUNE_SCORE)
        trial->score = 1 - sqrt(measured);
    else
        trial->measured = measured;
    trial->seconds = 0.125 * (double)(trial->hash % 1000);
    if (!is_met)
        snprintf(trial->reason, sizeof trial->reason, "power %.3g", measured);
}

static inline enum amp_status tune_run(void *context, struct amp_trial *const *trials, size_t n,
                                       struct amp_error *err)
{
    struct tune_case *tune = context;
    for (size_t i = 0; i < n; i++) {
        if (tune->fails_at != 0 && tune->n_runs + 1 == tune->fails_at)
            return amp_fail(err, AMP_KERNEL, "the run failed");
        tune_run_one(tune, trials[i]);
    }
    return AMP_OK;
}

static inline enum amp_status tune_preview(void *context, struct amp_trial *const *trials, size_t n,
                                           struct amp_error *err)
{
    struct tune_case *tune = context;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        uint64_t state = trials[i]->hash ^ ~tune->seed;
        double db = tune->preview_off_db * (2 * tune_uniform(&state) - 1);
        trials[i]->measured = tune_measure(tune, trials[i]->keeps) * pow(10, db / 10);
        if (tune->previews_lie)
            trials[i]->measured = fmin(trials[i]->measured, tune->target / 2);
        if (tune->odd_previews > 0 && one_in(&state, tune->odd_previews))
            trials[i]->measured = one_in(&state, 2) ? 0 : INFINITY;
        bool is_met = trials[i]->measured <= tune->target && !tune_misses(tune, trials[i]->hash, 2);
        trials[i]->verdict = is_met ? AMP_TRIAL_MET : AMP_TRIAL_MISSED;
        tune->n_previews++;
    }
    return AMP_OK;
}

/* N_UNITS in a row, some of them joined to one further on; losses, powers and costs of casts over
   decades. The target lies 3 to 20 dB below the power of all low. */
static inline void tune_create(struct tune_case *tune, uint64_t seed, uint32_t n_units,
                               enum tune_kind kind)
{
    static const char *const ops[] = {"A", "B", "C", "D", "E"};
    struct amp_problem *problem = &tune->problem;
    *tune = (struct tune_case){.kind = kind, .seed = seed, .cross = 0.3, .off_db = 3};
    tune->arena = amp_arena_create();
    problem->n_units = n_units;
    problem->units = amp_arena_array(tune->arena, n_units, sizeof *problem->units);
    problem->noises = amp_arena_array(tune->arena, 3 * (size_t)n_units, sizeof *problem->noises);
    problem->edges = amp_arena_array(tune->arena, 3 * (size_t)n_units, sizeof *problem->edges);
    for (uint32_t i = 0; i < n_units; i++) {
        problem->units[i] = (struct amp_unit){
            .name = "unit", .op = ops[below(&tune->seed, 5)], .loss = tune_decades(&tune->seed, 2)};
        tune_connect(tune, i, i);
        if (i > 0)
            tune_connect(tune, i - 1, i);
        if (i > 4 && one_in(&tune->seed, 4))
            tune_connect(tune, i - 1 - (uint32_t)below(&tune->seed, 4), i);
    }
    bool *none = amp_arena_array(tune->arena, n_units, sizeof *none);
    double power = amp_problem_power(problem, none);
    problem->floor = power * 1e-6;
    tune->target = power * pow(10, -(3 + 17 * tune_uniform(&tune->seed)) / 10);
    tune->fragile = (uint32_t)below(&tune->seed, n_units);
}

static inline void tune_destroy(struct tune_case *tune)
{
    amp_arena_destroy(tune->arena);
}

static inline struct amp_trials tune_trials(struct tune_case *tune, size_t most, size_t n_jobs)
{
    return (struct amp_trials){
        .problem = &tune->problem,
        .runner = {.run = tune_run, .context = tune, .n_jobs = n_jobs},
        .most = most,
        .key = 7,
    };
}

static inline void tune_open(struct amp_trials *trials)
{
    struct amp_error err = {.status = AMP_OK};
    if (amp_trials_open(trials, &err) != AMP_OK)
        fail_msg("%s", err.text);
}

/* Runs the trial that keeps the units whose bits are set. */
static inline struct amp_trial *tune_run_bits(struct amp_trials *trials, uint32_t bits)
{
    bool keeps[32];
    struct amp_error err = {.status = AMP_OK};
    struct amp_trial *trial;
    for (size_t i = 0; i < 32; i++)
        keeps[i] = bits >> i & 1;
    assert_int_equal(amp_trials_run(trials, keeps, "test", &trial, &err), AMP_OK);
    return trial;
}

/* Runs the strategy NAME on TRIALS, which are open; returns whether the answer is minimal. */
static inline bool tune_search(struct tune_case *tune, struct amp_trials *trials, const char *name)
{
    struct amp_error err = {.status = AMP_OK};
    const struct amp_strategy *strategy;
    bool tells_power = tune->kind != TUNE_SCORE && tune->kind != TUNE_WHIMS;
    struct amp_search search = {
        .problem = &tune->problem, .trials = trials, .budget = tells_power ? tune->target : NAN};
    struct amp_trials previews = {.problem = &tune->problem,
                                  .runner = {.run = tune_preview, .context = tune, .n_jobs = 1},
                                  .most = tune->previews};
    amp_trials_open_previews(&previews, trials);
    if (tune->previews > 0 && tells_power)
        search.previews = &previews;
    tune->n_previews = 0;
    assert_int_equal(amp_strategy_find(name, &strategy, &err), AMP_OK);
    if (strategy->run(&search, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_true(tune->n_previews + previews.n_replayed == previews.count &&
                previews.count <= tune->previews);
    amp_trials_close(&previews);
    return search.is_minimal;
}

/* ---- the log ----- */

/* The log of a search, in the working folder. */
#define TUNE_LOG "t.jsonl"

static inline char *tune_read_log(size_t *size)
{
    FILE *file = fopen(TUNE_LOG, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* Into a new file: where one is cut to be written anew, systems wait for the disk. */
static inline void tune_write_log(const char *text, size_t size)
{
    assert_true(remove(TUNE_LOG) == 0 || errno == ENOENT);
    FILE *file = fopen(TUNE_LOG, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Searches with the log as it lies there. TRIALS are left open. */
static inline void tune_search_on(struct tune_case *tune, struct amp_trials *trials, size_t n_jobs)
{
    tune->n_runs = 0;
    *trials = tune_trials(tune, 20, n_jobs);
    trials->log_path = TUNE_LOG;
    tune_open(trials);
    tune_search(tune, trials, "min-cut");
}

/* ---- other problems ---- */

/* The least and the most of numbers that are drawn evenly on a scale of logarithms. */
struct tune_spread {
    double least, most;
};

struct tune_maker {
    uint64_t *state;
    struct tune_spread losses, powers, costs;
    size_t one_in_free;  /* units lose nothing, or gain: one in so many; 0: none */
    size_t one_in_apart; /* neighbours have nothing in common: one in so many; 0: none */
    size_t n_far;        /* ties between any two units */
};

static inline double tune_drawn(uint64_t *state, struct tune_spread spread)
{
    double share = (double)(next_random(state) >> 11) * 0x1p-53;
    return spread.least * pow(spread.most / spread.least, share);
}

static inline void tune_tie(const struct tune_maker *maker, struct amp_problem *problem, uint32_t a,
                            uint32_t b)
{
    problem->noises[problem->n_noises++] =
        (struct amp_problem_noise){a, b, tune_drawn(maker->state, maker->powers)};
    if (a != b && !one_in(maker->state, 3))
        problem->edges[problem->n_edges++] =
            (struct amp_problem_edge){a, b, tune_drawn(maker->state, maker->costs)};
}

/* A problem of N units in a row, with ties beyond the row. */
static inline struct amp_problem *tune_make(struct amp_arena *arena, const struct tune_maker *maker,
                                            size_t n)
{
    struct amp_problem *problem = amp_arena_alloc(arena, sizeof *problem);
    uint64_t *state = maker->state;
    problem->n_units = n;
    problem->units = amp_arena_array(arena, n, sizeof *problem->units);
    problem->noises = amp_arena_array(arena, 2 * n + maker->n_far, sizeof *problem->noises);
    problem->edges = amp_arena_array(arena, 2 * n + maker->n_far, sizeof *problem->edges);
    problem->floor = one_in(state, 2) ? 0 : maker->powers.least;
    for (uint32_t i = 0; i < n; i++) {
        double loss = tune_drawn(state, maker->losses);
        bool is_free = maker->one_in_free > 0 && one_in(state, maker->one_in_free);
        problem->units[i].loss = !is_free ? loss : one_in(state, 2) ? 0 : -loss;
        problem->units[i].n_nodes = 1 + below(state, 3);
        if (!one_in(state, 3))
            tune_tie(maker, problem, i, i);
        if (i > 0 && (maker->one_in_apart == 0 || !one_in(state, maker->one_in_apart)))
            tune_tie(maker, problem, i - 1, i);
    }
    for (size_t i = 0; n > 0 && i < maker->n_far; i++)
        tune_tie(maker, problem, (uint32_t)below(state, n), (uint32_t)below(state, n));
    return problem;
}

/* The kind of problem of number I. */
static inline struct tune_maker tune_maker_of(uint64_t *state, int i)
{
    static const struct tune_spread spreads[] = {{0.5, 2}, {1e-3, 1}, {1, 1}};
    return (struct tune_maker){.state = state,
                               .losses = spreads[i % 3],
                               .powers = spreads[i / 3 % 3],
                               .costs = {0.01, i % 2 == 0 ? 0.1 : 2},
                               .one_in_apart = i % 5 == 0 ? 3 : 0,
                               .n_far = (size_t)(i % 4)};
}

#endif
