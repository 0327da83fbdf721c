/*
 * The command line: takes the words apart by the table of options. What the values mean is the
 * commands' business.
 */
#include "cli/option_table.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, THRESHOLD = 1024, RUNS = 20 };

void amp_options_free(struct amp_options *options)
{
    struct amp_texts *lists[] = {&options->operands,   &options->io,         &options->rules,
                                 &options->node_rules, &options->op_rules,   &options->inputs,
                                 &options->dims,       &options->tolerances, &options->lower_ops,
                                 &options->fp32_ops};
    for (size_t i = 0; i < AMP_COUNT(lists); i++)
        free(lists[i]->items);
}

static void push_text(struct amp_texts *texts, const char *text)
{
    texts->items = amp_xrealloc(texts->items, texts->count + 1, sizeof *texts->items);
    texts->items[texts->count++] = text;
}

/* The option that COMMAND has under that name, else that of another command. */
static const struct amp_option *find_long(const char *name, size_t length, enum amp_command command)
{
    const struct amp_option *found = NULL;
    for (size_t i = 0; i < amp_option_count; i++)
        if (strlen(amp_option_table[i].name) == length &&
            strncmp(amp_option_table[i].name, name, length) == 0 &&
            (found == NULL || (amp_option_table[i].commands & command)))
            found = &amp_option_table[i];
    return found;
}

static const struct amp_option *find_letter(char letter, enum amp_command command)
{
    for (size_t i = 0; i < amp_option_count; i++)
        if (amp_option_table[i].letter == letter)
            return find_long(amp_option_table[i].name, strlen(amp_option_table[i].name), command);
    return NULL;
}

static const char *name_at(size_t i)
{
    return i < amp_option_count ? amp_option_table[i].name : NULL;
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

/* A number of bytes, with K, M, G or T for powers of 1000 and Ki, Mi, Gi or Ti for those of 1024.
 */
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
    void *field = (unsigned char *)options + option->offset;
    switch (option->kind) {
    case AMP_OPTION_FLAG:
        *(bool *)field = true;
        return AMP_OK;
    case AMP_OPTION_COUNT:
        ++*(int *)field;
        return AMP_OK;
    case AMP_OPTION_TEXT:
    case AMP_OPTION_REPORT:
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

/* The next word if it is the name of a report: - or NAME.json; else -, stdout. */
static const char *take_report(struct parse *parse)
{
    const char *next = parse->at < parse->argc ? parse->argv[parse->at] : "";
    bool is_name = strcmp(next, "-") == 0 || amp_word_has_ending(next, ".json");
    parse->at += is_name;
    return is_name ? next : "-";
}

/* Sets OPTION with the value INLINE_VALUE or the next word. */
static enum amp_status take_option(struct parse *parse, const struct amp_option *option,
                                   const char *inline_value)
{
    const char *value = inline_value, *name = amp_command_words(parse->command)->name;
    if (!(option->commands & parse->command))
        return amp_fail(parse->err, AMP_USAGE, "--%s does not go with 'ampconv %s'", option->name,
                        name != NULL ? name : "MODEL");
    if (option->argument == NULL && inline_value != NULL)
        return amp_fail(parse->err, AMP_USAGE, "--%s takes no value", option->name);
    if (option->kind == AMP_OPTION_REPORT && value == NULL)
        value = take_report(parse);
    if (option->argument != NULL && value == NULL && option->kind != AMP_OPTION_FORMAT) {
        if (parse->at >= parse->argc)
            return amp_fail(parse->err, AMP_USAGE, "--%s needs a value: %s", option->name,
                            option->argument);
        value = parse->argv[parse->at++];
    }
    return set_option(option, value, parse->options, parse->err);
}

static enum amp_status take_long(struct parse *parse, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct amp_option *option = find_long(word, length, parse->command);
    if (option != NULL)
        return take_option(parse, option, equals ? equals + 1 : NULL);
    const char *nearest = amp_word_nearest_at(word, name_at);
    if (nearest == NULL)
        return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; see ampconv --help", word);
    return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; did you mean '--%s'?", word,
                    nearest);
}

/* -v, -qf, -dbf16, -d bf16 */
static enum amp_status take_letters(struct parse *parse, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct amp_option *option = find_letter(*letters, parse->command);
        if (option == NULL)
            return amp_fail(parse->err, AMP_USAGE, "unknown option '-%c'; see ampconv --help",
                            *letters);
        if (option->argument != NULL)
            return take_option(parse, option, letters[1] ? letters + 1 : NULL);
        AMP_TRY(take_option(parse, option, NULL));
    }
    return AMP_OK;
}

static enum amp_status take_words(struct parse *parse)
{
    bool options_ended = false;
    while (parse->at < parse->argc) {
        const char *word = parse->argv[parse->at++];
        if (options_ended || word[0] != '-' || word[1] == '\0')
            push_text(&parse->options->operands, word);
        else if (strcmp(word, "--") == 0)
            options_ended = true;
        else if (word[1] == '-')
            AMP_TRY(take_long(parse, word + 2));
        else
            AMP_TRY(take_letters(parse, word + 1));
    }
    return AMP_OK;
}

static enum amp_status check_explain(const struct amp_options *options, struct amp_error *err)
{
    const char *format = options->explain;
    bool is_json = format != NULL && strcmp(format, "json") == 0;
    if (format != NULL && !is_json && strcmp(format, "text") != 0)
        return amp_fail(err, AMP_USAGE, "--explain=%s: text or json is needed", format);
    if (is_json && options->json != NULL && strcmp(options->json, "-") == 0)
        return amp_fail(err, AMP_USAGE, "stdout cannot take both --explain=json and --json -");
    const char *other = options->output != NULL       ? "--output"
                        : options->json != NULL       ? "--json"
                        : options->dump_after != NULL ? "--dump-after"
                                                      : NULL;
    if (options->is_listed && other != NULL)
        return amp_fail(err, AMP_USAGE, "--list only lists: %s does not go with it", other);
    return AMP_OK;
}

/* What no option says by itself. */
static enum amp_status check_together(const struct amp_options *options, struct amp_error *err)
{
    if (options->threads > THREADS_MAX)
        return amp_fail(err, AMP_USAGE, "--threads %lld: at most %d are possible",
                        (long long)options->threads, THREADS_MAX);
    if (options->is_inline && options->external_data != NULL)
        return amp_fail(err, AMP_USAGE, "--inline and --external-data exclude each other");
    if (options->runs < 1)
        return amp_fail(err, AMP_USAGE, "--runs 0: at least 1 is needed");
    if (options->lists_ops && options->test_suite != NULL)
        return amp_fail(err, AMP_USAGE, "--list-ops and --test-suite exclude each other");
    if (options->filter != NULL && options->test_suite == NULL)
        return amp_fail(err, AMP_USAGE, "--filter goes with --test-suite");
    return check_explain(options, err);
}

static enum amp_status check_values(const struct amp_options *options, struct amp_error *err)
{
    size_t count = options->operands.count;
    bool takes_none = options->test_suite != NULL || options->lists_ops;
    size_t most = options->command == AMP_CMD_BENCH ? SIZE_MAX
                  : takes_none                      ? 0
                  : options->diffs                  ? 3
                                                    : 1;
    if (options->wants_help || options->wants_version)
        return AMP_OK;
    bool is_optional = options->command == AMP_CMD_RULES || takes_none;
    if (count == 0 && !is_optional)
        return amp_fail(err, AMP_USAGE, "no MODEL given; see ampconv --help");
    if (count > most)
        return amp_fail(err, AMP_USAGE, "'%s' is one word too many; see ampconv --help",
                        options->operands.items[most]);
    if (options->diffs && count < most)
        return amp_fail(err, AMP_USAGE, "--diff A B MODEL: two rule sets and a model are needed");
    if (options->checks && count == 0)
        return amp_fail(err, AMP_USAGE, "--check NAME|FILE: a rule set is needed");
    return check_together(options, err);
}

enum amp_status amp_options_parse(int argc, char **argv, struct amp_options *options,
                                  struct amp_error *err)
{
    *options = (struct amp_options){
        .command = AMP_CMD_CONVERT, .samples = -1, .external_threshold = THRESHOLD, .runs = RUNS};
    struct parse parse = {argc, 1, argv, AMP_CMD_CONVERT, options, err};
    const struct amp_command_words *words = argc > 1 ? amp_command_find(argv[1]) : NULL;
    if (words != NULL) {
        options->command = parse.command = words->command;
        parse.at = 2;
    }
    AMP_TRY(take_words(&parse));
    return check_values(options, err);
}

enum amp_status amp_option_pair(const char *option, const char *text, char *name, size_t size,
                                const char **value, struct amp_error *err)
{
    const char *equals = strrchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0' || (size_t)(equals - text) >= size)
        return amp_fail(err, AMP_USAGE, "--%s %s: %s is needed", option, text,
                        find_long(option, strlen(option), AMP_CMD_CONVERT)->argument);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    *value = equals + 1;
    return AMP_OK;
}
