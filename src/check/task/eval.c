/*
 * Judges model files by a command of the user's: takes the command and a path, gives the score that
 * it printed or what its exit code means. The meaning of exit codes is that of git bisect run.
 */
#include "check/task/eval.h"

#include "core/arena.h"
#include "core/process/shell.h"
#include "core/process/shell_text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST_OF_FAILURE = 124, CANNOT_TELL = 125 }; /* exit codes */

/* ---- the command ----------------------------------------------------------------------------- */

/* The absolute form of PATH in ARENA. Links stay: external data lie beside the name. */
static const char *absolute_path(const char *path, struct amp_arena *arena)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || getcwd(folder, sizeof folder) == NULL)
        return path;
    return amp_arena_printf(arena, "%s/%s", folder, path);
}

/* ---- one model ------------------------------------------------------------------------------- */

/* The score in LINE, a number and nothing else; false when there is none. */
static bool read_score(const struct amp_shell_result *result, double *score)
{
    char *end;
    *score = strtod(result->line, &end);
    return end != result->line && !result->is_cut && end[strspn(end, " \t\r")] == '\0';
}

/* What the command said when it ended with exit code 0. */
static void note_success(const struct amp_shell_result *result, struct amp_eval_outcome *outcome)
{
    outcome->verdict = AMP_EVAL_PASSED;
    if (!read_score(result, &outcome->score))
        return;
    outcome->verdict = isfinite(outcome->score) ? AMP_EVAL_SCORED : AMP_EVAL_FAILED;
    if (!isfinite(outcome->score))
        snprintf(outcome->reason, sizeof outcome->reason, "a score that is not finite: %s",
                 result->line);
}

/* Notes that the command does not pass the model, with what it said last. */
static void note_failure(const struct amp_shell_result *result, struct amp_eval_outcome *outcome)
{
    bool has_line = result->line[0] != '\0';
    outcome->verdict = result->number == CANNOT_TELL ? AMP_EVAL_UNSURE : AMP_EVAL_FAILED;
    snprintf(outcome->reason, sizeof outcome->reason, "exit code %d%s%s%s%s", result->number,
             outcome->verdict == AMP_EVAL_UNSURE ? ", it cannot tell" : "",
             has_line ? "; its last line: '" : "", result->line, has_line ? "'" : "");
}

static enum amp_status judge(const struct amp_eval *eval, const struct amp_shell_result *result,
                             struct amp_eval_outcome *outcome, struct amp_error *err)
{
    *outcome = (struct amp_eval_outcome){.seconds = result->seconds};
    if (result->end == AMP_SHELL_SIGNALLED)
        return amp_fail(err, AMP_IO, "--eval: the command was ended by signal %d (%s)",
                        result->number, strsignal(result->number));
    if (result->end == AMP_SHELL_TIMED_OUT) {
        outcome->verdict = AMP_EVAL_FAILED;
        snprintf(outcome->reason, sizeof outcome->reason, "no end within %g s", eval->timeout);
    } else if (result->number == 0)
        note_success(result, outcome);
    else if (result->number <= CANNOT_TELL)
        note_failure(result, outcome);
    else
        return amp_fail(err, AMP_IO,
                        "--eval: exit code %d: the command was not found or ended by a signal, or "
                        "wants all to stop; 0 to 125 are judged",
                        result->number);
    return AMP_OK;
}

enum amp_status amp_eval_run(const struct amp_eval *eval, const char *path,
                             struct amp_eval_outcome *outcome, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_shell_result result;
    const char *absolute = absolute_path(path, arena);
    struct amp_shell_call call = {
        .command = amp_shell_fill(eval->command, amp_shell_word(absolute, arena), arena),
        .variable = "AMPCONV_MODEL",
        .text = absolute,
        .timeout = eval->timeout};
    enum amp_status status = amp_shell_run(&call, &result, err);
    if (status == AMP_OK)
        status = judge(eval, &result, outcome, err);
    amp_arena_destroy(arena);
    return status;
}

const char *amp_eval_verdict_name(enum amp_eval_verdict verdict)
{
    static const char *const names[] = {[AMP_EVAL_NONE] = "-",
                                        [AMP_EVAL_SCORED] = "scored",
                                        [AMP_EVAL_PASSED] = "passed",
                                        [AMP_EVAL_FAILED] = "failed",
                                        [AMP_EVAL_UNSURE] = "unsure"};
    return names[verdict];
}

/* ---- two models ------------------------------------------------------------------------------ */

static bool is_passed(const struct amp_eval_outcome *outcome)
{
    return outcome->verdict == AMP_EVAL_SCORED || outcome->verdict == AMP_EVAL_PASSED;
}

static void note_score(struct amp_eval_check *check, int side)
{
    const struct amp_eval_outcome *outcome = &check->outcomes[side];
    check->scores[side] = (struct amp_task_score){.is_scored = outcome->verdict == AMP_EVAL_SCORED,
                                                  .is_lower_better = check->eval.is_lower_better,
                                                  .score = outcome->score};
}

enum amp_status amp_eval_reference(const struct amp_eval *eval,
                                   const struct amp_task_bounds *bounds, const char *path,
                                   struct amp_eval_check *check, struct amp_error *err)
{
    struct amp_eval_outcome *outcome = &check->outcomes[0];
    *check = (struct amp_eval_check){.eval = *eval, .bounds = *bounds};
    AMP_TRY(amp_eval_run(eval, path, outcome, err));
    if (!is_passed(outcome))
        return amp_fail(err, AMP_IO, "--eval: the command does not pass the model as it was: %s",
                        outcome->reason);
    note_score(check, 0);
    if (!check->scores[0].is_scored && amp_task_bounds_any(bounds))
        return amp_fail(err, AMP_IO,
                        "--eval: there is a bound on the score, and the last line that the command "
                        "printed is no number");
    return AMP_OK;
}

enum amp_status amp_eval_reference_known(const struct amp_eval *eval,
                                         const struct amp_task_bounds *bounds, const char *text,
                                         struct amp_eval_check *check, struct amp_error *err)
{
    const char *passed = amp_eval_verdict_name(AMP_EVAL_PASSED);
    char *end;
    double score = strtod(text, &end);
    bool is_scored = end != text && *end == '\0' && isfinite(score);
    if (!is_scored && amp_task_bounds_any(bounds))
        return amp_fail(err, AMP_USAGE,
                        "--eval-reference %s: there is a bound on the score: a number is needed",
                        text);
    if (!is_scored && strcmp(text, passed) != 0)
        return amp_fail(err, AMP_USAGE, "--eval-reference %s: a score or %s is needed", text,
                        passed);
    *check = (struct amp_eval_check){.eval = *eval, .bounds = *bounds};
    check->outcomes[0].verdict = is_scored ? AMP_EVAL_SCORED : AMP_EVAL_PASSED;
    check->outcomes[0].score = is_scored ? score : 0;
    note_score(check, 0);
    return AMP_OK;
}

/* AMP_MISMATCH, with the reason, when the converted model is worse than it may be. */
static enum amp_status compare(const struct amp_eval_check *check, struct amp_error *err)
{
    if (!is_passed(&check->outcomes[1]))
        return amp_fail(err, AMP_MISMATCH, "%s", check->outcomes[1].reason);
    if (check->scores[0].is_scored != check->scores[1].is_scored)
        return amp_fail(err, AMP_MISMATCH, "a score for the model %s conversion alone",
                        check->scores[0].is_scored ? "before" : "after");
    return amp_task_bounds_check(&check->bounds, check->scores, err);
}

enum amp_status amp_eval_candidate(struct amp_eval_check *check, const char *path,
                                   struct amp_error *err)
{
    struct amp_error found = {.status = AMP_OK};
    AMP_TRY(amp_eval_run(&check->eval, path, &check->outcomes[1], err));
    note_score(check, 1);
    check->reason[0] = '\0';
    check->is_outside = compare(check, &found) != AMP_OK;
    if (!check->is_outside)
        return AMP_OK;
    snprintf(check->reason, sizeof check->reason, "%.*s", (int)sizeof check->reason - 1,
             found.text);
    return amp_fail(err, AMP_MISMATCH, "outside tolerance: --eval: %s", check->reason);
}
