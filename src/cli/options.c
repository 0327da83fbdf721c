/*
 * The command line: one table of options feeds the parser and --help, and a test holds the manual
 * against it. Values are only taken apart here; what they mean is the commands' business.
 */
#include "cli/options.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, THRESHOLD = 1024, RUNS = 20 };

enum kind { FLAG, COUNT, TEXT, FORMAT, REPORT, LIST, NUMBER, SIZE };

enum group { CONVERSION, RULES, DATA, RUNNING, TIMING, TALK, N_GROUPS };

static const char *const group_titles[N_GROUPS] = {"Conversion",
                                                   "Rules",
                                                   "Inputs and validation",
                                                   "Running (ampconv run)",
                                                   "Timing (ampconv bench)",
                                                   "Output and help"};

struct option {
    const char *name;
    char letter;
    const char *argument; /* NULL: none; "[=...": not needed */
    enum kind kind;
    size_t offset; /* in struct amp_options */
    unsigned commands;
    enum group group;
    const char *help;
};

#define AT(field) offsetof(struct amp_options, field)
#define ALL (AMP_CMD_CONVERT | AMP_CMD_RUN | AMP_CMD_RULES | AMP_CMD_BENCH)
#define VALIDATES (AMP_CMD_CONVERT | AMP_CMD_RUN)
#define RUNS_MODELS (AMP_CMD_CONVERT | AMP_CMD_RUN | AMP_CMD_BENCH)
#define LOWERS (AMP_CMD_CONVERT | AMP_CMD_BENCH)

static const struct option table[] = {
    {"dtype", 'd', "DTYPE", TEXT, AT(dtype), AMP_CMD_CONVERT | AMP_CMD_RULES, CONVERSION,
     "the lower dtype: bf16 or fp16; fp32 raises a model of 16 bits [default: bf16]"},
    {"opset", 0, "OPSET", TEXT, AT(opset), AMP_CMD_CONVERT, CONVERSION,
     "auto (as far as needed), keep, or the number to raise to [default: auto]"},
    {"io", 0, "[NAME=]WHAT", LIST, AT(io), AMP_CMD_CONVERT, CONVERSION,
     "keep or lower the graph's float inputs and outputs; repeatable [default: keep]"},
    {"cast-cache", 0, "WHAT", TEXT, AT(cast_cache), AMP_CMD_CONVERT, CONVERSION,
     "on: one Cast per tensor and dtype; off: one per use [default: on]"},
    {"output", 'o', "OUT", TEXT, AT(output), AMP_CMD_CONVERT, CONVERSION,
     "the converted model; - is stdout [default: beside MODEL, as NAME.DTYPE.onnx]"},
    {"force", 'f', NULL, FLAG, AT(is_forced), AMP_CMD_CONVERT, CONVERSION,
     "overwrite the default output; write even outside the tolerance"},
    {"no-validate", 0, NULL, FLAG, AT(no_validate), AMP_CMD_CONVERT, CONVERSION,
     "do not run the models, only convert"},
    {"explain", 0, "[=FORMAT]", FORMAT, AT(explain), AMP_CMD_CONVERT, CONVERSION,
     "print each node's precision, reason and casts as text or json [default: text]"},
    {"list", 0, NULL, FLAG, AT(is_listed), AMP_CMD_CONVERT, CONVERSION,
     "print that and stop: nothing is converted, run or written"},
    {"external-data", 0, "FILE", TEXT, AT(external_data), AMP_CMD_CONVERT, CONVERSION,
     "tensor data go to FILE beside OUT [default: OUT.data, above 2 GB or if MODEL's do]"},
    {"external-threshold", 0, "BYTES", NUMBER, AT(external_threshold), AMP_CMD_CONVERT, CONVERSION,
     "initializers of that size or more go there [default: 1024]"},
    {"inline", 0, NULL, FLAG, AT(is_inline), AMP_CMD_CONVERT, CONVERSION,
     "no file for tensor data, even if MODEL has one"},
    {"dump-after", 0, "STAGE", TEXT, AT(dump_after), AMP_CMD_CONVERT, CONVERSION,
     "print the graph after read, infer, opset, assign, insert or fold, and stop"},

    {"rules", 'r', "NAME|FILE", LIST, AT(rules), LOWERS, RULES,
     "a rule set; repeatable, later ones win [default: torch-cpu, torch-cuda for fp16]"},
    {"node", 0, "PATTERN=PRECISION", LIST, AT(node_rules), LOWERS, RULES,
     "lower, fp32, widest, follow, infer or clear for nodes whose name matches the glob"},
    {"op", 0, "OP=PRECISION", LIST, AT(op_rules), LOWERS, RULES,
     "the same for all nodes of an operator"},
    {"lower-ops", 0, "FILE", LIST, AT(lower_ops), LOWERS, RULES,
     "operators to lower, a name per line, # for comments"},
    {"fp32-ops", 0, "FILE", LIST, AT(fp32_ops), LOWERS, RULES, "operators to run in float32"},
    {"resolved", 0, NULL, FLAG, AT(is_resolved), AMP_CMD_RULES, RULES,
     "print the set with ONNX's operators in place of PyTorch's names"},
    {"check", 0, NULL, FLAG, AT(checks), AMP_CMD_RULES, RULES,
     "find rules of the set that can have no effect; exit code 3 if there are any"},
    {"diff", 0, NULL, FLAG, AT(diffs), AMP_CMD_RULES, RULES,
     "which nodes of a model two sets have differ: ampconv rules --diff A B MODEL"},
    {"names", 0, NULL, FLAG, AT(names), AMP_CMD_RULES, RULES,
     "list PyTorch's names and what they are in ONNX"},

    {"input", 'i', "NAME=FILE", LIST, AT(inputs), RUNS_MODELS, DATA,
     "a graph input from a .npy or .pb file; repeatable"},
    {"data", 0, "DIR", TEXT, AT(data), RUNS_MODELS, DATA,
     "samples: test_data_set_N folders, input_K.pb files or .npz files"},
    {"samples", 0, "N", NUMBER, AT(samples), VALIDATES, DATA,
     "how many samples: of --data, or random ones [default: all of --data, else 1]"},
    {"seed", 0, "N", NUMBER, AT(seed), RUNS_MODELS, DATA, "seed of random inputs [default: 0]"},
    {"dim", 0, "NAME=N", LIST, AT(dims), RUNS_MODELS, DATA,
     "the size of a symbolic dimension [default: 1]"},
    {"labels", 0, "FILE", TEXT, AT(labels), VALIDATES, DATA,
     "class numbers (.npy) of the samples: report the accuracy of each model"},
    {"tolerance", 't', "METRIC=VALUE", LIST, AT(tolerances), VALIDATES, DATA,
     "a bound on max_abs, mean_abs, max_rel, rmse, cosine, snr, top1, differ; run: rtol, atol"},

    {"max-memory", 0, "SIZE", SIZE, AT(max_memory), RUNS_MODELS, DATA,
     "what running a model may take, as 500M or 4G [default: what the machine has]"},

    {"output-dir", 0, "DIR", TEXT, AT(output_dir), AMP_CMD_RUN, RUNNING,
     "write the outputs there, one file each"},
    {"format", 0, "FORMAT", TEXT, AT(format), AMP_CMD_RUN, RUNNING,
     "of the outputs: npy or pb [default: npy]"},
    {"expect", 0, "DIR", TEXT, AT(expect), AMP_CMD_RUN, RUNNING,
     "compare with the output_K.pb, .npy or .npz files there; exit 1 on mismatch"},
    {"test-suite", 0, "DIR", TEXT, AT(test_suite), AMP_CMD_RUN, RUNNING,
     "run each folder of DIR as an ONNX backend test case"},
    {"filter", 0, "GLOB", TEXT, AT(filter), AMP_CMD_RUN, RUNNING,
     "only the cases of --test-suite with such names"},
    {"list-ops", 0, NULL, FLAG, AT(lists_ops), AMP_CMD_RUN, RUNNING,
     "list the operators: versions, types, and how they run; no MODEL is read"},
    {"strict", 0, NULL, FLAG, AT(is_strict), AMP_CMD_RUN | AMP_CMD_BENCH, RUNNING,
     "compute and round node by node, as the model is written"},

    {"dtype", 'd', "LIST", TEXT, AT(dtype), AMP_CMD_BENCH, TIMING,
     "dtypes to time, with commas between them [default: fp32,bf16,fp16]"},
    {"runs", 0, "N", NUMBER, AT(runs), AMP_CMD_BENCH, TIMING,
     "timed runs of every model and dtype [default: 20]"},
    {"profile", 0, NULL, FLAG, AT(is_profiled), AMP_CMD_BENCH, TIMING,
     "print the time by operator, node and oneDNN primitive"},
    {"json", 0, "[=FILE]", REPORT, AT(json), AMP_CMD_BENCH, TIMING,
     "write the report as JSON; --json NAME.json is right too [default: stdout]"},

    {"json", 0, "FILE", TEXT, AT(json), VALIDATES, TALK, "write the report as JSON; - is stdout"},
    {"threads", 0, "N", NUMBER, AT(threads), RUNS_MODELS, TALK,
     "threads to compute with [default: OMP_NUM_THREADS, else all cores]"},
    {"quiet", 'q', NULL, FLAG, AT(is_quiet), ALL, TALK, "errors only"},
    {"verbose", 'v', NULL, COUNT, AT(verbosity), ALL, TALK,
     "say more: -v notes per reason and output, -vv per node"},
    {"help", 'h', NULL, FLAG, AT(wants_help), ALL, TALK, "print this help"},
    {"version", 'V', NULL, FLAG, AT(wants_version), ALL, TALK,
     "print the version, oneDNN's, and what this CPU computes natively"},
};

enum { N_OPTIONS = AMP_COUNT(table) };

static const struct command {
    const char *name; /* NULL: no word */
    enum amp_command command;
    unsigned shown; /* the commands whose options its help lists */
    const char *help;
} commands[] = {
    {NULL, AMP_CMD_CONVERT, ALL,
     "Usage: ampconv MODEL [--dtype bf16|fp16] [-o OUT] [options]   convert a model\n"
     "       ampconv run MODEL [options]                            run a model\n"
     "       ampconv bench MODEL... [options]                       time models\n"
     "       ampconv rules [NAME]                                   list or print rule sets\n"
     "\n"
     "Converts an ONNX model to mixed precision by autocast rules, runs both models with\n"
     "oneDNN and writes the result when it is within tolerance. MODEL - is stdin.\n"
     "\n"
     "Examples:\n"
     "  ampconv model.onnx --dtype bf16 -o model.bf16.onnx\n"
     "  cat model.onnx | ampconv - -d fp16 -o - | ampconv run - --input x=x.npy\n"},
    {"run", AMP_CMD_RUN, AMP_CMD_RUN,
     "Usage: ampconv run MODEL [options]\n"
     "\n"
     "Runs an ONNX model with oneDNN on given or random inputs and reports on its outputs.\n"
     "MODEL - is stdin.\n"
     "\n"
     "Examples:\n"
     "  ampconv run model.onnx --input x=x.npy --output-dir outputs\n"
     "  ampconv run model.onnx --data samples --labels labels.npy\n"},
    {"bench", AMP_CMD_BENCH, AMP_CMD_BENCH,
     "Usage: ampconv bench MODEL... [options]\n"
     "\n"
     "Times ONNX models as they are and in lower precision, in turns, on random or given inputs.\n"
     "\n"
     "Examples:\n"
     "  ampconv bench model.onnx\n"
     "  ampconv bench model.onnx --dtype fp32,bf16 --dim batch=8 --profile\n"},
    {"rules", AMP_CMD_RULES, AMP_CMD_RULES,
     "Usage: ampconv rules [NAME|FILE] [options]\n"
     "\n"
     "Lists the rule sets that come with the program, or prints one as it is resolved.\n"
     "\n"
     "Examples:\n"
     "  ampconv rules\n"
     "  ampconv rules torch-cpu\n"
     "  ampconv rules --diff torch-cpu torch-cuda model.onnx\n"},
};

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
static const struct option *find_long(const char *name, size_t length, enum amp_command command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0 &&
            (found == NULL || (table[i].commands & command)))
            found = &table[i];
    return found;
}

static const struct option *find_letter(char letter, enum amp_command command)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (table[i].letter == letter)
            return find_long(table[i].name, strlen(table[i].name), command);
    return NULL;
}

static const char *name_at(size_t i)
{
    return i < N_OPTIONS ? table[i].name : NULL;
}

static enum amp_status set_number(const struct option *option, const char *text, int64_t *number,
                                  struct amp_error *err)
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
static enum amp_status set_size(const struct option *option, const char *text, int64_t *size,
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

static enum amp_status set_option(const struct option *option, const char *value,
                                  struct amp_options *options, struct amp_error *err)
{
    void *field = (unsigned char *)options + option->offset;
    switch (option->kind) {
    case FLAG:
        *(bool *)field = true;
        return AMP_OK;
    case COUNT:
        ++*(int *)field;
        return AMP_OK;
    case TEXT:
    case REPORT:
        *(const char **)field = value;
        return AMP_OK;
    case FORMAT:
        *(const char **)field = value != NULL ? value : "text";
        return AMP_OK;
    case LIST:
        push_text(field, value);
        return AMP_OK;
    case NUMBER:
        return set_number(option, value, field, err);
    case SIZE:
        return set_size(option, value, field, err);
    }
    return AMP_OK;
}

static const struct command *find_command(enum amp_command command)
{
    size_t i = 0;
    while (commands[i].command != command)
        i++;
    return &commands[i];
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
    bool is_name = strcmp(next, "-") == 0 || amp_has_ending(next, ".json");
    parse->at += is_name;
    return is_name ? next : "-";
}

/* Sets OPTION with the value INLINE_VALUE or the next word. */
static enum amp_status take_option(struct parse *parse, const struct option *option,
                                   const char *inline_value)
{
    const char *value = inline_value, *name = find_command(parse->command)->name;
    if (!(option->commands & parse->command))
        return amp_fail(parse->err, AMP_USAGE, "--%s does not go with 'ampconv %s'", option->name,
                        name != NULL ? name : "MODEL");
    if (option->argument == NULL && inline_value != NULL)
        return amp_fail(parse->err, AMP_USAGE, "--%s takes no value", option->name);
    if (option->kind == REPORT && value == NULL)
        value = take_report(parse);
    if (option->argument != NULL && value == NULL && option->kind != FORMAT) {
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
    const struct option *option = find_long(word, length, parse->command);
    if (option != NULL)
        return take_option(parse, option, equals ? equals + 1 : NULL);
    const char *nearest = amp_nearest_word(word, name_at);
    if (nearest == NULL)
        return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; see ampconv --help", word);
    return amp_fail(parse->err, AMP_USAGE, "unknown option '--%s'; did you mean '--%s'?", word,
                    nearest);
}

/* -v, -qf, -dbf16, -d bf16 */
static enum amp_status take_letters(struct parse *parse, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct option *option = find_letter(*letters, parse->command);
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
    for (size_t i = 0; i < AMP_COUNT(commands); i++)
        if (argc > 1 && commands[i].name != NULL && strcmp(argv[1], commands[i].name) == 0) {
            options->command = parse.command = commands[i].command;
            parse.at = 2;
        }
    AMP_TRY(take_words(&parse));
    return check_values(options, err);
}

static void print_option(FILE *file, const struct option *option)
{
    char left[64], letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    bool is_apart = option->argument != NULL && option->kind != FORMAT && option->kind != REPORT;
    int n = snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, is_apart ? " " : "",
                     option->argument ? option->argument : "");
    if (n > 25)
        fprintf(file, "  %s\n  %-26s%s\n", left, "", option->help);
    else
        fprintf(file, "  %-26s%s\n", left, option->help);
}

static void print_group(FILE *file, enum group group, unsigned shown)
{
    bool has_title = false;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (table[i].group != group || !(table[i].commands & shown))
            continue;
        if (!has_title)
            fprintf(file, "\n%s:\n", group_titles[group]);
        has_title = true;
        print_option(file, &table[i]);
    }
}

void amp_options_help(FILE *file, enum amp_command command)
{
    const struct command *about = find_command(command);
    fputs(about->help, file);
    for (int group = 0; group < N_GROUPS; group++)
        print_group(file, (enum group)group, about->shown);
    fputs("\nExit codes:\n"
          "  0  done, within tolerance\n"
          "  1  ran, but outside the tolerance\n"
          "  2  usage or system error\n"
          "  3  bad model, rules or input data\n"
          "  4  an operator or type that is not supported\n",
          file);
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
