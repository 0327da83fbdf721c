/*
 * Candidates of a search as processes: takes trials, gives each a rule file and a command line of
 * this program, has them run side by side, by a shell or by an engine of the user's, and reads what
 * came of them from their reports. Files are in a folder that goes when a round is over.
 */
#include "cli/tune/jobs.h"

#include "cli/options/command_line.h"
#include "cli/options/option_table.h"
#include "cli/options/rule_options.h"
#include "cli/options/tolerance.h"
#include "cli/report/json.h"
#include "core/file/input.h"
#include "core/file/output.h"
#include "core/file/scratch.h"
#include "core/paths.h"
#include "core/process/shell.h"
#include "core/process/shell_text.h"
#include "run/exec/session.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

/* Candidates end what they started themselves, for which they take a second. */
enum { GRACE_MS = 3000 };

/* Candidates that are run together. */
struct round {
    const struct amp_tune_jobs *jobs;
    const char *folder;      /* that their files are in */
    const char *list;        /* the file that has the commands */
    const char *place;       /* the folder that the program was started in */
    const char *program;     /* its path */
    const char *words;       /* the options that all have in common */
    const char **commands;   /* of the candidates */
    struct amp_arena *arena; /* of all texts */
    struct amp_error *err;
};

/* ---- options --------------------------------------------------------------------------------- */

bool amp_tune_jobs_are_wanted(const struct amp_options *options)
{
    return options->jobs > 0 || options->trials_via != NULL;
}

size_t amp_tune_jobs_at_once(const struct amp_options *options)
{
    enum { OF_AN_ENGINE = 4 };
    if (options->jobs > 0)
        return (size_t)options->jobs;
    return options->trials_via != NULL ? OF_AN_ENGINE : 1;
}

/* ---- command lines --------------------------------------------------------------------------- */

/* Whether OPTION says what a candidate is or how it is judged, beside the rules and the bounds,
   which are put together from several. */
static bool is_handed_on(const struct amp_option *option)
{
    static const char *const others[] = {"inline", "external-threshold", "threads"};
    if (amp_option_makes_model(option))
        return true;
    if (option->group == AMP_GROUP_DATA)
        return strcmp(option->name, "tolerance") != 0 &&
               strcmp(option->name, "eval-reference") != 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option->name, others[i]) == 0)
            return true;
    return false;
}

/* AMP_USAGE where what the user says takes several lines in a file that has one a command. */
static enum amp_status check_lines(const struct amp_options *options, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    bool is_line = strchr(options->operands.items[0], '\n') == NULL &&
                   strchr(amp_command_line_compose(options, is_handed_on, arena), '\n') == NULL;
    amp_arena_destroy(arena);
    if (is_line)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE,
                    "--trials-via: commands are a line each, and an option or MODEL has several");
}

enum amp_status amp_tune_jobs_check(const struct amp_options *options, struct amp_error *err)
{
    const char *model = options->operands.items[0];
    if (!amp_tune_jobs_are_wanted(options))
        return AMP_OK;
    if (amp_file_is_stream(model))
        return amp_fail(err, AMP_USAGE,
                        "%s: --%s needs a model that other processes can read: a file", model,
                        options->trials_via != NULL ? "trials-via" : "jobs");
    return options->trials_via != NULL ? check_lines(options, err) : AMP_OK;
}

/* What empties the lists of operators that the environment names, which would decide over rules. */
static const char *compose_variables(struct amp_arena *arena)
{
    const char *text = "", *name;
    for (size_t i = 0; (name = amp_rule_variable_at(i)) != NULL; i++)
        if (getenv(name) != NULL)
            text = amp_arena_printf(arena, "%s%s= ", text, name);
    return text;
}

/* What the command judges the reference as; "" without one. */
static const char *compose_reference(const struct round *round)
{
    const struct amp_eval_outcome *outcome = round->jobs->reference;
    if (outcome->verdict == AMP_EVAL_SCORED)
        return amp_arena_printf(round->arena, " --eval-reference=%.17g", outcome->score);
    if (outcome->verdict == AMP_EVAL_PASSED)
        return amp_arena_printf(round->arena, " --eval-reference=%s",
                                amp_eval_verdict_name(outcome->verdict));
    return "";
}

/* Processes that run side by side here share the cores. */
static const char *compose_threads(const struct round *round)
{
    const struct amp_options *options = round->jobs->options;
    int n = (int)amp_tune_jobs_at_once(options), all = amp_session_threads();
    if (options->threads > 0 || options->trials_via != NULL)
        return "";
    return amp_arena_printf(round->arena, " --threads=%d", all > n ? all / n : 1);
}

static enum amp_status compose_words(struct round *round)
{
    const struct amp_options *options = round->jobs->options;
    struct amp_named_bound bound;
    round->words = amp_arena_printf(round->arena, "%s%s%s",
                                    amp_command_line_compose(options, is_handed_on, round->arena),
                                    compose_reference(round), compose_threads(round));
    for (size_t i = 0; i < amp_named_bound_count(options); i++) {
        AMP_TRY(amp_named_bound_at(options, i, &bound, round->err));
        const char *text =
            amp_arena_printf(round->arena, "%s=%s", bound.pair.name, bound.pair.value);
        round->words = amp_arena_printf(round->arena, "%s --tolerance=%s", round->words,
                                        amp_shell_word(text, round->arena));
    }
    return AMP_OK;
}

/* The file of candidate I whose name ends with ENDING. */
static const char *path_of(const struct round *round, size_t i, const char *ending)
{
    return amp_arena_printf(round->arena, "%s/%zu.%s", round->folder, i, ending);
}

static const char *word_of(const struct round *round, size_t i, const char *ending)
{
    return amp_shell_word(path_of(round, i, ending), round->arena);
}

/* The command that judges candidate I. It fails only without a result: what missed the criterion is
   no failure that an engine would have to know of. */
static const char *compose_command(const struct round *round, size_t i)
{
    struct amp_arena *arena = round->arena;
    const char *model = round->jobs->options->operands.items[0];
    return amp_arena_printf(
        arena,
        "cd %s && %s%s%s --rules=%s --quiet --accept --output=%s --json=%s -- %s 2>%s || "
        "test $? -eq 1",
        amp_shell_word(round->place, arena), compose_variables(arena),
        amp_shell_word(round->program, arena), round->words, word_of(round, i, "yaml"),
        word_of(round, i, "onnx"), word_of(round, i, "json"), amp_shell_word(model, arena),
        word_of(round, i, "txt"));
}

/* ---- running --------------------------------------------------------------------------------- */

/* Finds where the program and its user are. */
static enum amp_status find_places(struct round *round)
{
    char place[PATH_MAX];
    const char *program = amp_program_path();
    if (program == NULL)
        return amp_fail(round->err, AMP_IO, "/proc/self/exe: cannot read: %s", strerror(errno));
    if (getcwd(place, sizeof place) == NULL)
        return amp_fail(round->err, AMP_IO, "the current folder has no name: %s", strerror(errno));
    round->program = amp_arena_strdup(round->arena, program);
    round->place = amp_arena_strdup(round->arena, place);
    return AMP_OK;
}

/* The commands as a file for the engine, a line each, or as a script that runs them at once. */
static enum amp_status write_list(struct round *round, size_t n)
{
    struct amp_output *output;
    bool is_script = round->jobs->options->trials_via == NULL;
    enum amp_status status = AMP_OK;
    AMP_TRY(amp_output_open(&output, round->list, round->err));
    for (size_t i = 0; i < n && status == AMP_OK; i++) {
        const char *text =
            amp_arena_printf(round->arena, is_script ? "{ %s; } &\n" : "%s\n", round->commands[i]);
        status = amp_output_write(output, text, strlen(text), round->err);
    }
    if (status == AMP_OK && is_script)
        status = amp_output_write(output, "wait\n", strlen("wait\n"), round->err);
    if (status == AMP_OK)
        return amp_output_commit(output, round->err);
    amp_output_abandon(output);
    return status;
}

static enum amp_status prepare(struct round *round, struct amp_trial *const *trials, size_t n)
{
    const struct amp_tune_jobs *jobs = round->jobs;
    AMP_TRY(find_places(round));
    AMP_TRY(compose_words(round));
    round->list = amp_arena_printf(round->arena, "%s/commands", round->folder);
    round->commands = amp_arena_array(round->arena, n, sizeof *round->commands);
    for (size_t i = 0; i < n; i++) {
        round->commands[i] = compose_command(round, i);
        AMP_TRY(jobs->write(jobs->context, trials[i], path_of(round, i, "yaml"), round->err));
    }
    return write_list(round, n);
}

/* Has the commands run and waits for them. */
static enum amp_status run_commands(const struct round *round, struct amp_shell_result *result)
{
    const char *engine = round->jobs->options->trials_via;
    const char *command = engine != NULL ? engine : "sh {}";
    struct amp_shell_call call = {
        .command = amp_shell_fill(command, amp_shell_word(round->list, round->arena), round->arena),
        .variable = "AMPCONV_TRIALS",
        .text = round->list,
        .grace_ms = GRACE_MS,
        .input = engine != NULL && strstr(engine, "{}") == NULL ? round->list : NULL};
    return amp_shell_run(&call, result, round->err);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The number under KEY; NAN: there is none. */
static double number_of(const json_t *object, const char *key)
{
    return amp_json_number_of(json_object_get(object, key));
}

/* What the labels of the first task with a value for the converted model say; NaN: nothing. */
static double task_score_of(const json_t *tasks)
{
    double value = (double)NAN;
    for (size_t t = 0; t < json_array_size(tasks) && isnan(value); t++) {
        const json_t *metrics = json_object_get(json_array_get(tasks, t), "metrics");
        for (size_t i = 0; amp_task_metric_at(i) != NULL && isnan(value); i++)
            value = number_of(json_object_get(metrics, amp_task_metric_at(i)->name), "converted");
    }
    return value;
}

/* Takes down what the report says in VALIDATION. */
static void note_result(const json_t *validation, bool is_lower_better, struct amp_trial *trial)
{
    const json_t *eval = json_object_get(json_object_get(validation, "eval"), "converted");
    const json_t *seconds = json_object_get(validation, "seconds");
    const char *verdict = json_string_value(json_object_get(eval, "verdict"));
    const char *reason = json_string_value(json_object_get(validation, "reason"));
    double score = number_of(eval, "score");
    bool is_unsure =
        verdict != NULL && strcmp(verdict, amp_eval_verdict_name(AMP_EVAL_UNSURE)) == 0;
    trial->verdict = is_unsure                                             ? AMP_TRIAL_UNSURE
                     : json_is_true(json_object_get(validation, "within")) ? AMP_TRIAL_MET
                                                                           : AMP_TRIAL_MISSED;
    trial->measured = number_of(validation, "error_power");
    if (isnan(trial->measured))
        trial->measured = (double)INFINITY;
    trial->score = is_lower_better ? -score : score;
    if (isnan(score))
        trial->score = task_score_of(json_object_get(validation, "tasks"));
    trial->seconds = number_of(seconds, "reference") + number_of(seconds, "converted") +
                     (eval != NULL ? number_of(eval, "seconds") : 0);
    snprintf(
        trial->reason, sizeof trial->reason, "%s%.*s", reason != NULL ? "outside tolerance: " : "",
        (int)(sizeof trial->reason - sizeof "outside tolerance: "), reason != NULL ? reason : "");
}

/* The last line of what candidate I said on stderr; "" without one. */
static const char *last_line(const struct round *round, size_t i)
{
    struct amp_bytes bytes = {.data = NULL};
    struct amp_error unused = {.status = AMP_OK};
    const char *text = "";
    if (amp_bytes_open(&bytes, path_of(round, i, "txt"), &unused) != AMP_OK)
        return text;
    size_t end = bytes.size, begin;
    while (end > 0 && bytes.data[end - 1] == '\n')
        end--;
    for (begin = end; begin > 0 && bytes.data[begin - 1] != '\n';)
        begin--;
    text = amp_arena_strndup(round->arena, (const char *)bytes.data + begin, end - begin);
    amp_bytes_close(&bytes);
    return text;
}

/* Candidate I has no result. */
static enum amp_status fail_without(const struct round *round, size_t i,
                                    const struct amp_shell_result *result)
{
    const char *engine = round->jobs->options->trials_via, *said = last_line(round, i);
    if (said[0] == '\0')
        said = result->end == AMP_SHELL_SIGNALLED
                   ? amp_arena_printf(round->arena, "signal %d ended what ran it", result->number)
               : engine != NULL
                   ? amp_arena_printf(round->arena, "--trials-via ended with exit code %d",
                                      result->number)
                   : "it said nothing";
    return amp_fail(round->err, AMP_IO, "a candidate has no result: %s; it was to be run by: %s",
                    said, round->commands[i]);
}

static enum amp_status read_results(const struct round *round, struct amp_trial *const *trials,
                                    size_t n, const struct amp_shell_result *result)
{
    for (size_t i = 0; i < n; i++) {
        json_t *root = json_load_file(path_of(round, i, "json"), 0, NULL);
        const json_t *validation = json_object_get(root, "validation");
        bool is_there = json_is_object(validation);
        if (is_there)
            note_result(validation, round->jobs->options->is_eval_lower, trials[i]);
        json_decref(root);
        if (!is_there)
            return fail_without(round, i, result);
    }
    return AMP_OK;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static enum amp_status run_round(const struct amp_tune_jobs *jobs, struct amp_trial *const *trials,
                                 size_t n, struct amp_error *err)
{
    struct amp_shell_result result;
    struct round round = {.jobs = jobs, .err = err};
    AMP_TRY(amp_scratch_open(&round.folder, err));
    round.arena = amp_arena_create();
    enum amp_status status = prepare(&round, trials, n);
    if (status == AMP_OK)
        status = run_commands(&round, &result);
    if (status == AMP_OK)
        status = read_results(&round, trials, n, &result);
    amp_arena_destroy(round.arena);
    amp_scratch_close();
    return status;
}

enum amp_status amp_tune_jobs_run(const struct amp_tune_jobs *jobs, struct amp_trial *const *trials,
                                  size_t n, struct amp_error *err)
{
    size_t most = jobs->options->trials_via != NULL ? n : amp_tune_jobs_at_once(jobs->options);
    for (size_t at = 0; at < n; at += most)
        AMP_TRY(run_round(jobs, trials + at, n - at < most ? n - at : most, err));
    return AMP_OK;
}
