#ifndef AMP_CLI_TUNE_JOBS_H
#define AMP_CLI_TUNE_JOBS_H

#include "check/task/eval.h"
#include "cli/options/options.h"
#include "tune/trials.h"

/* Candidates that are run by processes of their own, as --jobs and --trials-via say. */
struct amp_tune_jobs {
    const struct amp_options *options;
    const struct amp_eval_outcome *reference; /* what the user's command says of the model as it was
                                               */
    /* Writes a rule file to PATH that by itself gives the candidate of TRIAL. */
    enum amp_status (*write)(void *context, const struct amp_trial *trial, const char *path,
                             struct amp_error *err);
    void *context;
};

bool amp_tune_jobs_are_wanted(const struct amp_options *options);

/* How many candidates are run at once. */
size_t amp_tune_jobs_at_once(const struct amp_options *options);

/* AMP_USAGE for options that cannot be handed to other processes. */
enum amp_status amp_tune_jobs_check(const struct amp_options *options, struct amp_error *err);

/*
 * Runs the candidates of N trials, each by this program's command line for it, and sets what came
 * of them. AMP_IO, with that command line, when one of them gives no result; otherwise as writing
 * files and starting processes fail.
 */
enum amp_status amp_tune_jobs_run(const struct amp_tune_jobs *jobs, struct amp_trial *const *trials,
                                  size_t n, struct amp_error *err);

#endif
