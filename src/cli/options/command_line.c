/*
 * The command line: takes the words of argv apart by the table of options and gives struct
 * amp_options, whose texts point into argv, and back. Refuses options that do not go with the
 * command or with each other. What the values mean is the commands' business.
 */
#include "cli/options/command_line.h"

#include "cli/options/option_table.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/process/shell_text.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, JOBS_MAX = 1024, THRESHOLD = 1024, RUNS = 20 };

static const struct amp_options defaults = {.command = AMP_CMD_CONVERT,
                                            .samples = -1,
                                            .external_threshold = THRESHOLD,
                                            .runs = RUNS,
                                            .max_trials = -1,
                                            .steps = -1,
                                            .epochs = -1,
                                            .batch = -1,
                                            .jobs = -1,
                                            .lines = -1};

/* The field of OPTIONS that OPTION's value goes to; the option's kind says of what type the field
   is. */
static void *field_of(struct amp_options *options, const struct amp_option *option)
{
    return (unsigned char *)options + option->offset;
}

static const void *value_of(const struct amp_options *options, const struct amp_option *option)
{
    return (const unsigned char *)options + option->offset;
}

static void push_text(struct amp_texts *texts, const char *text)
{
    texts->items = amp_xrealloc(texts->items, texts->count + 1, sizeof *texts->items);
    texts->items[texts->count++] = text;
}

static enum amp_status set_number(const struct amp_option *option, const char *text,
                                  int64_t *number, struct amp_error *err)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *number < 0)
        return amp_fail(err, AMP_USAGE, "--%s %s: a number of 0 or more is needed", option->name,
                        text);
    return AMP_OK;
}

/* Reads a number of bytes, with K, M, G or T for powers of 1000 and Ki, Mi, Gi or Ti for powers of
   1024. */
static enum amp_status set_size(const struct amp_option *option, const char *text, int64_t *size,
                                struct amp_error *err)
{
    static const char letters[] = "KMGT";
    char *end;
    errno = 0;
    *size = strtoll(text, &end, 10);
    bool is_number = errno == 0 && end != text && *size > 0;
    const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;
    end += letter != NULL;
    int64_t base = letter != NULL && *end == 'i' ? 1024 : 1000;
    end += base == 1024;
    for (const char *at = letters; letter != NULL && at <= letter; at++)
        is_number &= !__builtin_mul_overflow(*size, base, size);
    if (!is_number || *end != '\0')
        return amp_fail(err, AMP_USAGE, "--%s %s: a number of bytes is needed, as 500M or 4G",
                        option->name, text);
    return AMP_OK;
}

static enum amp_status set_option(const struct amp_option *option, const char *value,
                                  struct amp_options *options, struct amp_error *err)
{
    void *field = field_of(options, option);
    switch (option->kind) {
    case AMP_OPTION_FLAG:
        *(bool *)field = true;
        return AMP_OK;
    case AMP_OPTION_COUNT:
        ++*(int *)field;
        return AMP_OK;
    case AMP_OPTION_TEXT:
    case AMP_OPTION_REPORT:
    case AMP_OPTION_OUTPUT:
    case AMP_OPTION_LOG:
    case AMP_OPTION_FOLDER:
        *(const char **)field = value;
        return AMP_OK;
    case AMP_OPTION_FORMAT:
        *(const char **)field = value != NULL ? value : "text";
        return AMP_OK;
    case AMP_OPTION_LIST:
        push_text(field, value);
        return AMP_OK;
    case AMP_OPTION_NUMBER:
        return set_number(option, value, field, err);
    case AMP_OPTION_SIZE:
        return set_size(option, value, field, err);
    }
    return AMP_OK;
}

struct parse {
    int argc, at; /* argv[at] is the next word */
    char **argv;
    enum amp_command command; /* what options are allowed */
    struct amp_options *options;
    struct amp_error *err;
};

/* Gives the name of a report: the next word if that is - or NAME.json; otherwise -, stdout. */
static const char *report_name(struct parse *parse)
{
    const char *next = parse->at < parse->argc ? parse->argv[parse->at] : "";
    bool is_name = strcmp(next, "-") == 0 || amp_word_has_ending(next, ".json");
    parse->at += is_name;
    return is_name ? next : "-";
}

/* Sets OPTION with the value INLINE_VALUE or the next word. */
static enum amp_status parse_option(struct parse *parse, const struct amp_option *option,
                                    const char *inline_value)
{
    const char *value = inline_value;
    const char *name = parse->options->words->name;
    if (!(option->commands & parse->command))
        return amp_fail(parse->err, AMP_USAGE, "--%s does not go with 'ampconv %s'", option->name,
                        name != NULL ? name : "MODEL");
    if (option->argument == NULL && inline_value != NULL)
        return amp_fail(parse->err, AMP_USAGE, "--%s takes no value", option->name);
    if (option->kind == AMP_OPTION_REPORT && value == NULL)
        value = report_name(parse);
    if (option->argument != NULL && value == NULL && option->kind != AMP_OPTION_FORMAT) {
        if (parse->at >= parse->argc)
            return amp_fail(parse->err, AMP_USAGE, "--%s needs a value: %s", option->name,
                            option->argument);
        value = parse->argv[parse->at++];
    }
    if (option->kind == AMP_OPTION_LIST)
        option = amp_option_for_value(option, value);
    return set_option(option, value, parse->options, parse->err);
}

static enum amp_status parse_long(struct parse *parse, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct amp_option *option = amp_option_find(word, length, parse->command);
    if (option != NULL)
        return parse_option(parse, option, equals ? equals + 1 : NULL);
    const char *nearest = amp_word_nearest_at(word, amp_option_name_at);
    if (nearest == NULL)
        return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; see ampconv --help", word);
    return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; did you mean '--%s'?", word,
                    nearest);
}

/* Parses a word of short options: -v, -qf, -dbf16, -d bf16. */
static enum amp_status parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct amp_option *option = amp_option_find_letter(*letters, parse->command);
        if (option == NULL)
            return amp_fail(parse->err, AMP_USAGE, "unknown option '-%c'; see ampconv --help",
                            *letters);
        if (option->argument != NULL)
            return parse_option(parse, option, letters[1] ? letters + 1 : NULL);
        AMP_TRY(parse_option(parse, option, NULL));
    }
    return AMP_OK;
}

static enum amp_status parse_words(struct parse *parse)
{
    bool options_ended = false;
    while (parse->at < parse->argc) {
        const char *word = parse->argv[parse->at++];
        if (options_ended || word[0] != '-' || word[1] == '\0')
            push_text(&parse->options->operands, word);
        else if (strcmp(word, "--") == 0)
            options_ended = true;
        else if (word[1] == '-')
            AMP_TRY(parse_long(parse, word + 2));
        else
            AMP_TRY(parse_letters(parse, word + 1));
    }
    return AMP_OK;
}

static enum amp_status check_explain(const struct amp_options *options, struct amp_error *err)
{
    const char *format = options->explain;
    bool is_json = format != NULL && strcmp(format, "json") == 0;
    bool is_noise = format != NULL && strcmp(format, "noise") == 0;
    if (format != NULL && !is_json && !is_noise && strcmp(format, "text") != 0)
        return amp_fail(err, AMP_USAGE, "--explain=%s: text, json or noise is needed", format);
    if (is_noise && options->is_listed)
        return amp_fail(err, AMP_USAGE, "--explain=noise runs models: --list does not");
    if ((is_json || is_noise) && options->json != NULL && strcmp(options->json, "-") == 0)
        return amp_fail(err, AMP_USAGE, "stdout cannot take both --explain=%s and --json -",
                        format);
    const char *other = options->output != NULL       ? "--output"
                        : options->json != NULL       ? "--json"
                        : options->report != NULL     ? "--report"
                        : options->dump_after != NULL ? "--dump-after"
                                                      : NULL;
    if (options->is_listed && other != NULL)
        return amp_fail(err, AMP_USAGE, "--list only lists: %s does not go with it", other);
    return AMP_OK;
}

/* Several models go to a folder, and what is of one model has no place there. */
static enum amp_status check_batch(const struct amp_options *options, struct amp_error *err)
{
    const struct {
        const void *given;
        const char *name;
    } others[] = {{options->output, "output"},       {options->external_data, "external-data"},
                  {options->explain, "explain"},     {options->dump_after, "dump-after"},
                  {options->rules_out, "rules-out"}, {options->costs_out, "costs-out"},
                  {options->tune_log, "tune-log"},   {options->is_listed ? "" : NULL, "list"}};
    if (options->command != AMP_CMD_CONVERT)
        return AMP_OK;
    if (options->output_dir == NULL && options->operands.count > 1)
        return amp_fail(err, AMP_USAGE,
                        "'%s' is a second model: several need --output-dir DIR, where they go",
                        options->operands.items[1]);
    for (size_t i = 0; options->output_dir != NULL && i < AMP_COUNT(others); i++)
        if (others[i].given != NULL)
            return amp_fail(err, AMP_USAGE,
                            "--%s is of one model: --output-dir does not go with it",
                            others[i].name);
    return AMP_OK;
}

/* A report is of runs of one model. */
static enum amp_status check_report(const struct amp_options *options, struct amp_error *err)
{
    if (options->report == NULL)
        return AMP_OK;
    if (options->lists_ops || options->test_suite != NULL)
        return amp_fail(err, AMP_USAGE, "--report does not go with %s",
                        options->lists_ops ? "--list-ops" : "--test-suite");
    return AMP_OK;
}

/* The number of OPTION, of a kind that has one. */
static int64_t number_of(const struct amp_options *options, const struct amp_option *option)
{
    return *(const int64_t *)value_of(options, option);
}

const char *amp_option_text(const struct amp_options *options, const struct amp_option *option)
{
    switch (option->kind) {
    case AMP_OPTION_TEXT:
    case AMP_OPTION_FORMAT:
    case AMP_OPTION_REPORT:
    case AMP_OPTION_OUTPUT:
    case AMP_OPTION_LOG:
    case AMP_OPTION_FOLDER:
        return *(const char *const *)value_of(options, option);
    case AMP_OPTION_FLAG:
    case AMP_OPTION_COUNT:
    case AMP_OPTION_LIST:
    case AMP_OPTION_NUMBER:
    case AMP_OPTION_SIZE:
        return NULL;
    }
    return NULL;
}

/* Whether OPTION was given, and not with its default. */
static bool is_given(const struct amp_options *options, const struct amp_option *option)
{
    const void *value = value_of(options, option);
    switch (option->kind) {
    case AMP_OPTION_FLAG:
        return *(const bool *)value;
    case AMP_OPTION_COUNT:
        return *(const int *)value > 0;
    case AMP_OPTION_TEXT:
    case AMP_OPTION_REPORT:
    case AMP_OPTION_FORMAT:
    case AMP_OPTION_OUTPUT:
    case AMP_OPTION_LOG:
    case AMP_OPTION_FOLDER:
        return amp_option_text(options, option) != NULL;
    case AMP_OPTION_LIST:
        return ((const struct amp_texts *)value)->count > 0;
    case AMP_OPTION_NUMBER:
    case AMP_OPTION_SIZE:
        return number_of(options, option) != number_of(&defaults, option);
    }
    return false;
}

/* How to tune goes with --tune. */
static enum amp_status check_tuning(const struct amp_options *options, struct amp_error *err)
{
    const struct amp_option *option;
    for (size_t i = 0; !options->is_tuned && (option = amp_option_at(i)) != NULL; i++)
        if (option->group == AMP_GROUP_TUNING && is_given(options, option))
            return amp_fail(err, AMP_USAGE, "--%s goes with --tune", option->name);
    if (!options->is_tuned && options->output_dir == NULL && options->jobs > 0)
        return amp_fail(err, AMP_USAGE,
                        "--jobs goes with --tune, or several models and "
                        "--output-dir");
    if (options->jobs == 0 || options->jobs > JOBS_MAX)
        return amp_fail(err, AMP_USAGE, "--jobs %lld: 1 to %d are possible",
                        (long long)options->jobs, JOBS_MAX);
    return AMP_OK;
}

/* Refuses options that exclude each other, and values out of range. */
static enum amp_status check_together(const struct amp_options *options, struct amp_error *err)
{
    if (options->threads > THREADS_MAX)
        return amp_fail(err, AMP_USAGE, "--threads %lld: at most %d are possible",
                        (long long)options->threads, THREADS_MAX);
    if (options->is_inline && options->external_data != NULL)
        return amp_fail(err, AMP_USAGE, "--inline and --external-data exclude each other");
    if (options->runs < 1)
        return amp_fail(err, AMP_USAGE, "--runs 0: at least 1 is needed");
    if (options->eval == NULL && (options->is_eval_lower || options->eval_timeout > 0))
        return amp_fail(err, AMP_USAGE, "--eval-lower and --eval-timeout go with --eval");
    if (options->eval == NULL && options->eval_reference != NULL)
        return amp_fail(err, AMP_USAGE, "--eval-reference goes with --eval");
    if (options->lists_ops && options->test_suite != NULL)
        return amp_fail(err, AMP_USAGE, "--list-ops and --test-suite exclude each other");
    if (options->filter != NULL && options->test_suite == NULL)
        return amp_fail(err, AMP_USAGE, "--filter goes with --test-suite");
    AMP_TRY(check_batch(options, err));
    AMP_TRY(check_report(options, err));
    AMP_TRY(check_tuning(options, err));
    return check_explain(options, err);
}

static enum amp_status check_values(const struct amp_options *options, struct amp_error *err)
{
    size_t count = options->operands.count;
    bool takes_none = options->test_suite != NULL || options->lists_ops;
    size_t most = options->command == AMP_CMD_BENCH                        ? SIZE_MAX
                  : options->command == AMP_CMD_CONVERT                    ? SIZE_MAX
                  : takes_none                                             ? 0
                  : options->diffs                                         ? 3
                  : options->command == AMP_CMD_COMPARE || options->checks ? 2
                                                                           : 1;
    if (options->wants_help || options->wants_version)
        return AMP_OK;
    bool is_optional = options->command == AMP_CMD_RULES || takes_none;
    if (count == 0 && !is_optional)
        return amp_fail(err, AMP_USAGE, "no %s given; see ampconv --help",
                        options->command == AMP_CMD_COMPLETION ? "SHELL" : "MODEL");
    if (count > most)
        return amp_fail(err, AMP_USAGE, "'%s' is one word too many; see ampconv --help",
                        options->operands.items[most]);
    if (options->diffs && count < most)
        return amp_fail(err, AMP_USAGE, "--diff A B MODEL: two rule sets and a model are needed");
    if (options->checks && count == 0)
        return amp_fail(err, AMP_USAGE, "--check NAME|FILE: a rule set is needed");
    return check_together(options, err);
}

/* The names of commands; the first row has none. */
static const char *command_name_at(size_t i)
{
    const struct amp_command_words *words = amp_command_words_at(i + 1);
    return words != NULL ? words->name : NULL;
}

static enum amp_status fail_command(const char *name, struct amp_error *err)
{
    const char *nearest = amp_word_nearest_at(name, command_name_at);
    if (nearest == NULL)
        return amp_fail(err, AMP_USAGE, "help %s: there is no such command; see ampconv --help",
                        name);
    return amp_fail(err, AMP_USAGE, "help %s: there is no such command; did you mean '%s'?", name,
                    nearest);
}

/* Reads the command's name, which a conversion needs not have, and `help` before it or alone. */
static enum amp_status parse_command(struct parse *parse)
{
    bool is_help = parse->argc > 1 && strcmp(parse->argv[1], "help") == 0;
    parse->at += is_help;
    const char *name = parse->at < parse->argc ? parse->argv[parse->at] : "";
    const struct amp_command_words *words = amp_command_find(name);
    parse->options->wants_help = is_help;
    parse->options->words = amp_command_words_at(0);
    if (is_help && words == NULL && name[0] != '\0' && name[0] != '-')
        return fail_command(name, parse->err);
    if (words != NULL) {
        parse->options->words = words;
        parse->options->command = parse->command = words->command;
        parse->at++;
    }
    return AMP_OK;
}

enum amp_status amp_command_line_parse(int argc, char **argv, struct amp_options *options,
                                       struct amp_error *err)
{
    *options = defaults;
    struct parse parse = {argc, 1, argv, AMP_CMD_CONVERT, options, err};
    AMP_TRY(parse_command(&parse));
    AMP_TRY(parse_words(&parse));
    return check_values(options, err);
}

void amp_command_line_free(struct amp_options *options)
{
    for (size_t i = 0; amp_option_at(i) != NULL; i++) {
        if (amp_option_at(i)->kind != AMP_OPTION_LIST)
            continue;
        struct amp_texts *texts = field_of(options, amp_option_at(i));
        free(texts->items);
        *texts = (struct amp_texts){.count = 0};
    }
    free(options->operands.items);
}

/* ---- words again ----------------------------------------------------------------------------- */

/* TEXT with --NAME=VALUE behind it; VALUE NULL: with --NAME. */
static const char *add_word(const char *text, const struct amp_option *option, const char *value,
                            struct amp_arena *arena)
{
    return amp_arena_printf(arena, "%s --%s%s%s", text, option->name, value != NULL ? "=" : "",
                            value != NULL ? amp_shell_word(value, arena) : "");
}

/* TEXT with OPTION, which is given, behind it. */
static const char *add_option(const char *text, const struct amp_options *options,
                              const struct amp_option *option, struct amp_arena *arena)
{
    const void *value = value_of(options, option);
    const struct amp_texts *texts = value;
    switch (option->kind) {
    case AMP_OPTION_FLAG:
        return add_word(text, option, NULL, arena);
    case AMP_OPTION_COUNT:
        for (int i = 0; i < *(const int *)value; i++)
            text = add_word(text, option, NULL, arena);
        return text;
    case AMP_OPTION_TEXT:
    case AMP_OPTION_REPORT:
    case AMP_OPTION_FORMAT:
    case AMP_OPTION_OUTPUT:
    case AMP_OPTION_LOG:
    case AMP_OPTION_FOLDER:
        return add_word(text, option, amp_option_text(options, option), arena);
    case AMP_OPTION_LIST:
        for (size_t i = 0; i < texts->count; i++)
            text = add_word(text, option, texts->items[i], arena);
        return text;
    case AMP_OPTION_NUMBER:
    case AMP_OPTION_SIZE:
        return add_word(text, option,
                        amp_arena_printf(arena, "%lld", (long long)number_of(options, option)),
                        arena);
    }
    return text;
}

const char *amp_command_line_compose(const struct amp_options *options,
                                     bool (*is_wanted)(const struct amp_option *option),
                                     struct amp_arena *arena)
{
    const char *text = "";
    const struct amp_option *option;
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++)
        if ((option->commands & options->command) && is_wanted(option) && is_given(options, option))
            text = add_option(text, options, option, arena);
    return text;
}
