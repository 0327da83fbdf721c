#ifndef AMP_TUNE_TRIAL_LOG_H
#define AMP_TUNE_TRIAL_LOG_H

#include "tune/trials.h"

/*
 * The file that says what came of trials: a line of JSON that says of which search, one with the
 * numbers of its problem when they are known, and one per trial, each written at once, so that a
 * program that is killed leaves at most one line that is cut short. Such a line is taken for none
 * and written over.
 */
struct amp_trial_log;

/* Opens the log of TRIALS at their LOG_PATH, reads what it says and makes it where there is none;
   in their arena. AMP_USAGE for the log of another search and for what is no log; AMP_IO for one
   that cannot be read or written, or that another program writes. */
enum amp_status amp_trial_log_open(const struct amp_trials *trials, struct amp_trial_log **log,
                                   struct amp_error *err);
void amp_trial_log_close(struct amp_trial_log *log); /* NULL is fine */

/* Sets what came of TRIAL if the log that was opened says it; whether it does. */
bool amp_trial_log_replay(const struct amp_trial_log *log, struct amp_trial *trial);

/* Sets losses, noise and casts of PROBLEM, whose units are known, if the log says them; whether it
   does. */
bool amp_trial_log_recall(const struct amp_trial_log *log, struct amp_problem *problem);

/* Writes a line with those numbers, unless the log has one. AMP_IO. */
enum amp_status amp_trial_log_remember(struct amp_trial_log *log, const struct amp_problem *problem,
                                       struct amp_error *err);

/* Writes a line for TRIAL. AMP_IO. */
enum amp_status amp_trial_log_append(struct amp_trial_log *log, const struct amp_trial *trial,
                                     struct amp_error *err);

#endif
