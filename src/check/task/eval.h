#ifndef AMP_CHECK_TASK_EVAL_H
#define AMP_CHECK_TASK_EVAL_H

#include "check/task/task_bounds.h"

/* A command of the user's that judges a model file. */
struct amp_eval {
    const char *command; /* for sh -c; {} stands for the file's path */
    double timeout;      /* seconds; 0: none */
    bool is_lower_better;
};

enum amp_eval_verdict {
    AMP_EVAL_NONE,   /* not run */
    AMP_EVAL_SCORED, /* exit code 0, and a number as the last line of stdout */
    AMP_EVAL_PASSED, /* exit code 0 */
    AMP_EVAL_FAILED, /* exit code 1 to 124, no end within the time, or a score that is not finite */
    AMP_EVAL_UNSURE  /* exit code 125: it cannot tell */
};

/* "scored", "passed", "failed", "unsure"; "-" for AMP_EVAL_NONE. */
const char *amp_eval_verdict_name(enum amp_eval_verdict verdict);

/* What the command said of one model. */
struct amp_eval_outcome {
    enum amp_eval_verdict verdict;
    double score;     /* with AMP_EVAL_SCORED */
    double seconds;   /* that it took */
    char reason[512]; /* "exit code 1"; "" when it passed or has a score */
};

/*
 * Runs the command on the model file at PATH, which is in {} and $AMPCONV_MODEL, absolute; {} is
 * quoted where the shell needs it. AMP_IO when the command says that all must stop, by an exit code
 * of 126 or more or a signal, or cannot be started.
 */
enum amp_status amp_eval_run(const struct amp_eval *eval, const char *path,
                             struct amp_eval_outcome *outcome, struct amp_error *err);

/* What the command said of two models. Index 0: reference, 1: converted. */
struct amp_eval_check {
    struct amp_eval eval;          /* command NULL: none */
    struct amp_task_bounds bounds; /* on the score */
    struct amp_eval_outcome outcomes[2];
    struct amp_task_score scores[2];
    bool is_outside;
    char reason[640];
};

/* Begins *CHECK with the reference at PATH. AMP_IO as amp_eval_run, and when the command does not
   pass it, or gives no score where BOUNDS have one on it. */
enum amp_status amp_eval_reference(const struct amp_eval *eval,
                                   const struct amp_task_bounds *bounds, const char *path,
                                   struct amp_eval_check *check, struct amp_error *err);

/* Begins *CHECK with what is known of the reference instead: TEXT is its score, or that of
   AMP_EVAL_PASSED. AMP_USAGE for what is neither, and for no score where BOUNDS have one on it. */
enum amp_status amp_eval_reference_known(const struct amp_eval *eval,
                                         const struct amp_task_bounds *bounds, const char *text,
                                         struct amp_eval_check *check, struct amp_error *err);

/* Goes on with the converted model at PATH. AMP_MISMATCH when the command does not pass it, its
   score is worse than the bounds allow, or only one of the models has one; AMP_IO as
   amp_eval_run. CHECK is complete with AMP_OK and AMP_MISMATCH. May be called for one candidate
   after the other. */
enum amp_status amp_eval_candidate(struct amp_eval_check *check, const char *path,
                                   struct amp_error *err);

#endif
