#ifndef AMP_TUNE_TRIALS_H
#define AMP_TUNE_TRIALS_H

#include "core/status.h"
#include "tune/problem.h"

enum amp_trial_verdict {
    AMP_TRIAL_NONE,   /* not run */
    AMP_TRIAL_MET,    /* the criterion holds */
    AMP_TRIAL_MISSED, /* it does not */
    AMP_TRIAL_UNSURE  /* nobody can tell: never an answer */
};

/* A choice of what to keep, and what came of running it. */
struct amp_trial {
    size_t number;      /* from 0, in the order of the search */
    bool is_preview;    /* it tells the error's power on some of the samples: never an answer */
    const char *phase;  /* why it was tried: "all low", "bracket", "shrink", ... */
    bool *keeps;        /* per unit; first steps that others include are among them */
    uint64_t hash;      /* of KEEPS */
    double loss, power; /* as predicted */
    enum amp_trial_verdict verdict;
    double measured; /* power of the outputs' error as run; NaN: unknown, infinite: elements lost */
    double score;    /* what the user's measure says, a label's or a command's; NaN: none */
    double seconds;  /* that it took */
    char reason[640]; /* why it missed, or nobody can tell; "" */
};

/* Who runs candidates. N of them at once, where it can: sets verdict, measured, score, seconds and
   reason of each. A failure ends the search. */
struct amp_trial_runner {
    enum amp_status (*run)(void *context, struct amp_trial *const *trials, size_t n,
                           struct amp_error *err);
    void *context;
    size_t n_jobs; /* how many at once are worth while; 1: one after the other */
};

struct amp_trials {
    const struct amp_problem *problem;
    struct amp_trial_runner runner;
    bool are_previews;    /* they are, and count as such */
    size_t most;          /* evaluations allowed: 0: no limit */
    const char *log_path; /* JSON lines; NULL: none */
    uint64_t key; /* of the search: model, data, criterion, settings; a log of another is refused */

    struct amp_arena *arena;
    struct amp_trial **items; /* all that were run, in their order */
    size_t count, capacity;
    size_t n_replayed;         /* of them, from the log */
    struct amp_trial *best;    /* the one of least loss among those that met; NULL: none */
    struct amp_trial_log *log; /* private to trials.c */
};

/*
 * Begins with the log of an interrupted search, if there is one at LOG_PATH: what it says of a
 * candidate is taken when the search comes to it, and not run again. AMP_USAGE for a log of another
 * search, AMP_IO for one that cannot be read or written. The caller has set the first fields.
 */
enum amp_status amp_trials_open(struct amp_trials *trials, struct amp_error *err);

/* Begins previews beside TRIALS, which are open and must stay: they are in the same log. The caller
   has set the problem, the runner and MOST. */
void amp_trials_open_previews(struct amp_trials *previews, const struct amp_trials *trials);
void amp_trials_close(struct amp_trials *trials); /* a zeroed one is fine */

/* Sets the numbers of PROBLEM, the units of which are known, as the log has them from a search that
   was interrupted: measured ones would not come out the same again. False: it says nothing. */
bool amp_trials_recall(const struct amp_trials *trials, struct amp_problem *problem);

/* Takes the numbers of PROBLEM, which is that of TRIALS, as known from now on: predicts those
   trials anew that were run before, and writes them to the log, if there is one, unless they come
   from there. AMP_IO. */
enum amp_status amp_trials_predict(struct amp_trials *trials, struct amp_error *err);

/* Whether another evaluation is allowed. */
bool amp_trials_left(const struct amp_trials *trials);

/* Whether trials say that the criterion does not hold when any one unit of the best goes low. False
   without a best. */
bool amp_trials_best_is_minimal(const struct amp_trials *trials);

/* The trial of KEEPS; NULL: it has not been run. */
struct amp_trial *amp_trials_find(const struct amp_trials *trials, const bool *keeps);

/* Runs the candidate KEEPS unless it has been run; *TRIAL gets it. Counts as an evaluation only
   when it has not been run. *TRIAL NULL: no evaluation is left. */
enum amp_status amp_trials_run(struct amp_trials *trials, const bool *keeps, const char *phase,
                               struct amp_trial **trial, struct amp_error *err);

/* Candidates that may run at once. */
struct amp_candidates {
    bool *const *keeps; /* N of them */
    size_t n;
    struct amp_trial **found; /* gets N pointers, NULL behind the last allowed */
};

/* Runs those of CANDIDATES that have not been run. Equal ones are run once. */
enum amp_status amp_trials_run_all(struct amp_trials *trials,
                                   const struct amp_candidates *candidates, const char *phase,
                                   struct amp_error *err);

#endif
