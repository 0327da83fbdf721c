/* What the words of a command line mean, those about inputs too, where what is written goes, and
   the command lines that candidates of a search have. */
#include "cli/bench.h"
#include "cli/calibrate.h"
#include "cli/compare.h"
#include "cli/completion_words.h"
#include "cli/convert/convert.h"
#include "cli/destination.h"
#include "cli/inputs.h"
#include "cli/options/command_line.h"
#include "cli/options/option_table.h"
#include "cli/options/rule_options.h"
#include "cli/options/target.h"
#include "cli/options/tolerance.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/rules.h"
#include "cli/run.h"
#include "cli/train.h"
#include "cli/train_data.h"
#include "cli/tune/jobs.h"
#include "cli/tune/origin.h"
#include "cli/validation.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/number/interval.h"
#include "core/status.h"
#include "core/tensor.h"
#include "net.h"
#include "onnx/file/external.h"
#include "onnx/file/read.h"
#include "onnx/sample/tensor_file.h"
#include "onnx/schema/schema.h"
#include "scratch.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

/* ---- words of a command line ----------------------------------------------------------------- */

/* What the program makes of words behind its name; a value that is refused has a text that says so.
 */

enum { WORDS_MAX = 32 };

/* The words of LINE, between which there are spaces, taken apart: in static memory, since options
   point there. */
static enum amp_status parse_line(const char *line, struct amp_options *options,
                                  struct amp_error *err)
{
    static char text[4096];
    char *argv[WORDS_MAX + 1] = {(char[]){"ampconv"}};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    *err = (struct amp_error){.status = AMP_OK};
    return amp_command_line_parse(argc, argv, options, err);
}

struct said {
    const char *line;
    const char *text; /* that it is refused with; NULL: it is not */
};

static void assert_lines(const struct said *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct amp_options options;
        struct amp_error err;
        enum amp_status status = parse_line(rows[i].line, &options, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status, rows[i].text != NULL ? AMP_USAGE : AMP_OK);
        amp_command_line_free(&options);
    }
}

static void options_go_together_or_not(void **state)
{
    static const struct said rows[] = {
        {"m --threads 1024", NULL},
        {"m --threads 1025", "--threads 1025: at most 1024 are possible"},
        {"m --inline", NULL},
        {"m --external-data d", NULL},
        {"m --inline --external-data d", "--inline and --external-data exclude each other"},
        {"bench m --runs 1", NULL},
        {"bench m --runs 0", "--runs 0: at least 1 is needed"},
        {"m --eval-lower", "--eval-lower and --eval-timeout go with --eval"},
        {"m --eval-timeout 1", "--eval-lower and --eval-timeout go with --eval"},
        {"m --eval-timeout 0", NULL},
        {"m --eval c --eval-lower --eval-timeout 1", NULL},
        {"m --eval-reference 1", "--eval-reference goes with --eval"},
        {"m --eval c --eval-reference 1", NULL},
        {"run --list-ops", NULL},
        {"run --test-suite d", NULL},
        {"run --list-ops --test-suite d", "--list-ops and --test-suite exclude each other"},
        {"run --test-suite d --filter f", NULL},
        {"run m --filter f", "--filter goes with --test-suite"},
        {"run --list-ops --report r", "--report does not go with --list-ops"},
        {"run --test-suite d --report r", "--report does not go with --test-suite"},
        {"run m --report r", NULL},
        {"m -j 2", "--jobs goes with --tune, or several models and --output-dir"},
        {"m -j 2 --tune", NULL},
        {"m -j 2 --output-dir d", NULL},
        {"m -j 0 --tune", "--jobs 0: 1 to 1024 are possible"},
        {"m -j 1 --tune", NULL},
        {"m -j 1024 --tune", NULL},
        {"m -j 1025 --tune", "--jobs 1025: 1 to 1024 are possible"},
        {"m n", "'n' is a second model: several need --output-dir DIR, where they go"},
        {"bench m n", NULL},
        {"m n --output-dir d", NULL},
        {"m --output-dir d -o o", "--output is of one model: --output-dir does not go with it"},
        {"m --output-dir d --external-data o",
         "--external-data is of one model: --output-dir does not go with it"},
        {"m --output-dir d --explain",
         "--explain is of one model: --output-dir does not go with it"},
        {"m --output-dir d --dump-after read",
         "--dump-after is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --rules-out o",
         "--rules-out is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --costs-out o",
         "--costs-out is of one model: --output-dir does not go with it"},
        {"m --output-dir d --tune --tune-log o",
         "--tune-log is of one model: --output-dir does not go with it"},
        {"m --output-dir d --list", "--list is of one model: --output-dir does not go with it"},
        {"m --output-dir d --json=r --report p", NULL},
        {"run m --output-dir d --json -", NULL},
        {"m --target snr>=4", "--target goes with --tune"},
        {"m --target ort-cpu", NULL},
        {"m --target snr>=4 --tune", NULL},
        {"m --max-trials 5", "--max-trials goes with --tune"},
        {"m --costs c", "--costs goes with --tune"},
        {"m --costs-out c", "--costs-out goes with --tune"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void explanations_and_lists_have_a_stream(void **state)
{
    static const struct said rows[] = {
        {"m --explain", NULL},
        {"m --explain=text --json -", NULL},
        {"m --explain=json", NULL},
        {"m --explain=json --json=f", NULL},
        {"m --explain=noise --json=f", NULL},
        {"m --explain=txt", "--explain=txt: text, json or noise is needed"},
        {"m --explain=json --json", "stdout cannot take both --explain=json and --json -"},
        {"m --explain=noise --json", "stdout cannot take both --explain=noise and --json -"},
        {"m --explain=noise --list", "--explain=noise runs models: --list does not"},
        {"m --explain=json --list", NULL},
        {"m --list", NULL},
        {"m --list -o o", "--list only lists: --output does not go with it"},
        {"m --list --json=f", "--list only lists: --json does not go with it"},
        {"m --list --report f", "--list only lists: --report does not go with it"},
        {"m --list --dump-after f", "--list only lists: --dump-after does not go with it"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void each_command_takes_as_many_words(void **state)
{
    static const struct said rows[] = {
        {"", "no MODEL given; see ampconv --help"},
        {"-q", "no MODEL given; see ampconv --help"},
        {"--help", NULL},
        {"--version", NULL},
        {"run --help a b", NULL},
        {"run --version a b", NULL},
        {"help", NULL},
        {"help run", NULL},
        {"help rn", "help rn: there is no such command; did you mean 'run'?"},
        {"help xyz", "help xyz: there is no such command; see ampconv --help"},
        {"help -q", NULL},
        {"completion", "no SHELL given; see ampconv --help"},
        {"completion bash", NULL},
        {"completion bash zsh", "'zsh' is one word too many; see ampconv --help"},
        {"run", "no MODEL given; see ampconv --help"},
        {"run a", NULL},
        {"run a b", "'b' is one word too many; see ampconv --help"},
        {"run --list-ops a", "'a' is one word too many; see ampconv --help"},
        {"run --test-suite d a", "'a' is one word too many; see ampconv --help"},
        {"compare a", NULL},
        {"compare a b", NULL},
        {"compare a b c", "'c' is one word too many; see ampconv --help"},
        {"bench a b c", NULL},
        {"calibrate a b", "'b' is one word too many; see ampconv --help"},
        {"train a b", "'b' is one word too many; see ampconv --help"},
        {"rules", NULL},
        {"rules a", NULL},
        {"rules a b", "'b' is one word too many; see ampconv --help"},
        {"rules --check", "--check NAME|FILE: a rule set is needed"},
        {"rules --check a", NULL},
        {"rules --check a b", NULL},
        {"rules --check a b c", "'c' is one word too many; see ampconv --help"},
        {"rules --diff", "--diff A B MODEL: two rule sets and a model are needed"},
        {"rules --diff a b", "--diff A B MODEL: two rule sets and a model are needed"},
        {"rules --diff a b c", NULL},
        {"rules --diff a b c d", "'d' is one word too many; see ampconv --help"},
        {"m -x", "unknown option '-x'; see ampconv --help"},
        {"m -qx", "unknown option '-x'; see ampconv --help"},
        {"m --explian", "unknown option '--explian'; did you mean '--explain'?"},
        {"m --qqqqqqqqqqqqq", "unknown option '--qqqqqqqqqqqqq'; see ampconv --help"},
        {"m --quiet=1", "--quiet takes no value"},
        {"m --layers", "--layers does not go with 'ampconv MODEL'"},
        {"convert m --layers", "--layers does not go with 'ampconv convert'"},
        {"run m -d bf16", "--dtype does not go with 'ampconv run'"},
        {"m -d", "--dtype needs a value: DTYPE"},
        {"m --dtype", "--dtype needs a value: DTYPE"},
        {"m --samples", "--samples needs a value: N"}};
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
}

static void numbers_and_sizes_are_whole(void **state)
{
    static const struct {
        const char *text;
        int64_t size; /* 0: refused */
    } sizes[] = {{"1", 1},
                 {"500M", 500000000},
                 {"3K", 3000},
                 {"4G", 4000000000},
                 {"2T", 2000000000000},
                 {"1Ki", 1024},
                 {"3Mi", 3 << 20},
                 {"1Gi", 1 << 30},
                 {"2Ti", INT64_C(2) << 40},
                 {"9223372036854775807", INT64_MAX},
                 {"9223372T", 9223372000000000000},
                 {"9223373T", 0},
                 {"9223372036854775808", 0},
                 {"0", 0},
                 {"-1", 0},
                 {"0K", 0},
                 {"K", 0},
                 {"1i", 0},
                 {"1KB", 0},
                 {"1Kii", 0},
                 {"1k", 0},
                 {"1.5G", 0},
                 {"x", 0}};
    static const struct said rows[] = {
        {"m --seed 0", NULL},
        {"m --seed 9223372036854775807", NULL},
        {"m --seed 9223372036854775808",
         "--seed 9223372036854775808: a number of 0 or more is needed"},
        {"m --seed=", "--seed : a number of 0 or more is needed"},
        {"m --seed x", "--seed x: a number of 0 or more is needed"},
        {"m --seed 1x", "--seed 1x: a number of 0 or more is needed"},
        {"m --seed -1", "--seed -1: a number of 0 or more is needed"}};
    struct amp_options options;
    struct amp_error err;
    (void)state;
    assert_lines(rows, AMP_COUNT(rows));
    for (size_t i = 0; i < AMP_COUNT(sizes); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m --max-memory %s", sizes[i].text);
        snprintf(text, sizeof text, "--max-memory %s: a number of bytes is needed, as 500M or 4G",
                 sizes[i].text);
        enum amp_status status = parse_line(line, &options, &err);
        assert_int_equal(status, sizes[i].size == 0 ? AMP_USAGE : AMP_OK);
        assert_string_equal(err.text, sizes[i].size == 0 ? text : "");
        if (sizes[i].size != 0)
            assert_int_equal(options.max_memory, sizes[i].size);
        amp_command_line_free(&options);
    }
}

/* What stands behind an option is its value, what does not is an operand. */
static void words_have_their_places(void **state)
{
    struct amp_options options;
    struct amp_error err;
    (void)state;
    assert_int_equal(parse_line("m", &options, &err), AMP_OK);
    assert_int_equal(options.command, AMP_CMD_CONVERT);
    assert_null(options.words->name);
    assert_int_equal(options.samples, -1);
    assert_int_equal(options.external_threshold, 1024);
    assert_int_equal(options.runs, 20);
    assert_int_equal(options.max_trials, -1);
    assert_int_equal(options.steps, -1);
    assert_int_equal(options.epochs, -1);
    assert_int_equal(options.batch, -1);
    assert_int_equal(options.jobs, -1);
    assert_int_equal(options.lines, -1);
    assert_false(options.wants_help);
    amp_command_line_free(&options);

    assert_int_equal(
        parse_line("run -vqv m --json --seed=3 --data a --data=b -i x=y -- ", &options, &err),
        AMP_OK);
    assert_int_equal(options.command, AMP_CMD_RUN);
    assert_string_equal(options.words->name, "run");
    assert_int_equal(options.verbosity, 2);
    assert_true(options.is_quiet);
    assert_string_equal(options.json, "-");
    assert_int_equal(options.seed, 3);
    assert_int_equal(options.data.count, 2);
    assert_string_equal(options.data.items[0], "a");
    assert_string_equal(options.data.items[1], "b");
    assert_string_equal(options.inputs.items[0], "x=y");
    assert_int_equal(options.operands.count, 1);
    amp_command_line_free(&options);

    assert_int_equal(
        parse_line("-dfp16 --output-dir d --json a.json -fo- - -- -q --json", &options, &err),
        AMP_USAGE);
    assert_string_equal(options.dtype, "fp16");
    assert_string_equal(options.json, "a.json");
    assert_string_equal(options.output, "-");
    assert_true(options.is_forced);
    assert_false(options.is_quiet);
    assert_int_equal(options.operands.count, 3);
    assert_string_equal(options.operands.items[0], "-");
    assert_string_equal(options.operands.items[1], "-q");
    assert_string_equal(options.operands.items[2], "--json");
    amp_command_line_free(&options);

    /* The name of a report is the next word only where it is one. */
    assert_int_equal(parse_line("run m --json", &options, &err), AMP_OK);
    assert_string_equal(options.json, "-");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run --json m.json", &options, &err), AMP_USAGE);
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run --json m", &options, &err), AMP_OK);
    assert_string_equal(options.operands.items[0], "m");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run m --json -", &options, &err), AMP_OK);
    assert_int_equal(options.operands.count, 1);
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m --explain text --output-dir d", &options, &err), AMP_USAGE);
    assert_string_equal(options.explain, "text");
    assert_int_equal(options.operands.count, 2);
    amp_command_line_free(&options);

    /* A name of several options is that of the command, a letter too. */
    assert_int_equal(parse_line("calibrate m -o r", &options, &err), AMP_OK);
    assert_string_equal(options.output, "r");
    amp_command_line_free(&options);
    assert_int_equal(
        parse_line("m --target tensorrt --target snr>=3 --target a<=1 --tune", &options, &err),
        AMP_OK);
    assert_int_equal(options.runtimes.count, 1);
    assert_int_equal(options.targets.count, 2);
    assert_string_equal(options.runtimes.items[0], "tensorrt");
    assert_string_equal(options.targets.items[1], "a<=1");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("help bench", &options, &err), AMP_OK);
    assert_true(options.wants_help);
    assert_int_equal(options.command, AMP_CMD_BENCH);
    amp_command_line_free(&options);
}

/* The tables end behind what is asked for most, the version, and behind completions. An option is
   the one that takes the form of its own value, and six decide on the model that is made. */
static void options_are_in_a_table(void **state)
{
    size_t count = 0, makers = 0, commands = 0;
    (void)state;
    for (; strcmp(amp_option_at(count)->name, "version") != 0; count++) {
        const struct amp_option *option = amp_option_at(count);
        assert_string_equal(amp_option_name_at(count), option->name);
        if (option->argument != NULL)
            assert_ptr_equal(amp_option_for_value(option, option->argument), option);
        makers += amp_option_makes_model(option);
    }
    assert_int_equal(makers, 6);
    assert_non_null(amp_option_name_at(count));
    assert_null(amp_option_at(count + 1));
    assert_null(amp_option_name_at(count + 1));
    while (amp_command_words_at(commands)->command != AMP_CMD_COMPLETION)
        commands++;
    assert_null(amp_command_words_at(commands + 1));
}

static bool is_any(const struct amp_option *option)
{
    return strcmp(option->name, "seed") != 0;
}

/* Options that differ from the defaults become words again, of the command alone. */
static void options_become_words_again(void **state)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    assert_int_equal(
        parse_line("m -vv -q --seed 4 -r a -r b'c --samples 5 --jobs 3 --tune --explain -d fp16 "
                   "--external-threshold 1024 --max-memory 2K --json=j --tune-log l",
                   &options, &err),
        AMP_OK);
    assert_string_equal(amp_command_line_compose(&options, is_any, arena),
                        " --dtype=fp16 --explain=text --rules=a --rules='b'\\''c' --samples=5 "
                        "--max-memory=2000 --tune --tune-log=l --json=j --jobs=3 --quiet --verbose "
                        "--verbose");
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m", &options, &err), AMP_OK);
    assert_string_equal(amp_command_line_compose(&options, is_any, arena), "");
    amp_command_line_free(&options);
    amp_arena_destroy(arena);
}

/* ---- values of options ---- */

static void assert_target(const char *line, const char *text)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    struct amp_error err;
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    enum amp_status status = amp_target_parse(&options, &target, &err);
    if (strcmp(err.text, text) != 0)
        fail_msg("%s: '%s'", line, err.text);
    assert_int_equal(status, text[0] != '\0' ? AMP_USAGE : AMP_OK);
    amp_command_line_free(&options);
}

static struct amp_target target_of(const char *line)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    struct amp_error err;
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    assert_int_equal(amp_target_parse(&options, &target, &err), AMP_OK);
    amp_command_line_free(&options);
    return target;
}

static void a_model_becomes_what_options_say(void **state)
{
    static const char *const lines[] = {"m",
                                        "m -d fp16",
                                        "m -d fp32",
                                        "m -d bf16,fp16",
                                        "m -d fp16,bf16",
                                        "m -d fp16,bf16 --tune",
                                        "m -d bf16 --tune"};
    static const enum amp_dtype dtypes[][2] = {
        {AMP_BFLOAT16, AMP_UNDEFINED}, {AMP_FLOAT16, AMP_UNDEFINED}, {AMP_FLOAT, AMP_UNDEFINED},
        {AMP_BFLOAT16, AMP_FLOAT16},   {AMP_FLOAT16, AMP_BFLOAT16},  {AMP_BFLOAT16, AMP_FLOAT16},
        {AMP_BFLOAT16, AMP_UNDEFINED}};
    static const char *const wrong[] = {"fp8",       "bf16,",          ",bf16",
                                        "bf16,bf16", "bf16,fp32",      "fp32,bf16",
                                        "int32",     "bf16,fp16,fp16", "aaaaaaaaaaaaaaaa,bf16"};
    static const char *const opsets[] = {
        "0", "-1", "x", "1x", "2147483648", "99999999999999999999", "AUTO"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        struct amp_target target = target_of(lines[i]);
        assert_int_equal(target.lower, dtypes[i][0]);
        assert_int_equal(target.second, dtypes[i][1]);
        assert_int_equal(target.mode, AMP_OPSET_AUTO);
        assert_true(target.shares_casts);
        assert_false(target.keeps_types);
        assert_int_equal(target.scaling, AMP_SCALING_AUTO);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m -d %s", wrong[i]);
        snprintf(text, sizeof text,
                 "--dtype %s: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed", wrong[i]);
        assert_target(line, text);
    }
    for (size_t i = 0; i < AMP_COUNT(opsets); i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "m --opset=%s", opsets[i]);
        snprintf(text, sizeof text, "--opset %s: auto, keep or an opset's number is needed",
                 opsets[i]);
        assert_target(line, text);
    }
    assert_target("m --opset=", "--opset : auto, keep or an opset's number is needed");
    assert_int_equal(target_of("m --opset keep").mode, AMP_OPSET_KEEP);
    assert_int_equal(target_of("m --opset auto").mode, AMP_OPSET_AUTO);
    struct amp_target target = target_of("m --opset 1 --cast-cache off --target ort-cpu --target "
                                         "tensorrt --target ort-cpu");
    assert_int_equal(target.mode, AMP_OPSET_EXACT);
    assert_int_equal(target.opset, 1);
    assert_false(target.shares_casts);
    assert_false(target.keeps_types);
    assert_int_equal(target.runtimes.count, 2);
    assert_ptr_equal(target.runtimes.items[0], amp_runtime_find("ort-cpu"));
    assert_ptr_equal(target.runtimes.items[1], amp_runtime_find("tensorrt"));
    target = target_of("m -d fp32 --opset 2147483647");
    assert_int_equal(target.opset, INT_MAX);
    assert_true(target.keeps_types);
}

static void what_lowers_nothing_takes_no_rules(void **state)
{
    static const struct {
        const char *option, *name;
        bool is_of_types; /* it is refused only where the types stay */
    } rows[] = {{"-r torch-cpu", "--rules", false},
                {"--op a=b", "--op", false},
                {"--node a=b", "--node", false},
                {"--target ort-cpu", "--target", false},
                {"--grad-scaler on", "--grad-scaler", false},
                {"--io lower", "--io", true},
                {"--explain", "--explain", true},
                {"--list", "--list", true}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        char line[128], text[128];
        snprintf(text, sizeof text, "--dtype fp32 lowers nothing: %s does not go with it",
                 rows[i].name);
        snprintf(line, sizeof line, "m -d fp32 %s", rows[i].option);
        assert_target(line, rows[i].is_of_types ? "" : text);
        snprintf(line, sizeof line, "m -d fp32 --opset keep %s", rows[i].option);
        assert_target(line, rows[i].is_of_types ? "" : text);
        snprintf(line, sizeof line, "m -d fp32 --opset 20 %s", rows[i].option);
        assert_target(line, text);
        snprintf(line, sizeof line, "m -d bf16 --opset 20 %s", rows[i].option);
        assert_target(line, "");
    }
    assert_target("m -d fp32 --opset 20 --cast-cache on",
                  "--dtype fp32 lowers nothing: --cast-cache does not go with it");
    assert_target("m -d fp32 --cast-cache on", "");
    assert_target("m --cast-cache maybe", "--cast-cache maybe: on or off is needed");
    assert_target(
        "m --target ort-cup",
        "--target ort-cup: a runtime (ampconv, ort-cpu, ort-cuda, tensorrt, openvino) or a "
        "bound (METRIC>=VALUE, METRIC<=VALUE) is needed; did you mean 'ort-cpu'?");
    assert_target(
        "m --target zzzzzzzz",
        "--target zzzzzzzz: a runtime (ampconv, ort-cpu, ort-cuda, tensorrt, openvino) or a "
        "bound (METRIC>=VALUE, METRIC<=VALUE) is needed");
}

/* A model is raised to what is released, or left where it is. */
static void models_are_only_ever_raised(void **state)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m");
    int released = amp_schema_released_opset();
    (void)state;
    for (int mode = AMP_OPSET_AUTO; mode <= AMP_OPSET_EXACT; mode++) {
        struct amp_target target = {.mode = (enum amp_opset_mode)mode, .opset = 20};
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_target_check(&target, model, &err),
                         mode == AMP_OPSET_EXACT ? AMP_UNSUPPORTED : AMP_OK);
        assert_string_equal(err.text, mode == AMP_OPSET_EXACT
                                          ? "m: --opset 20: the model imports no opset of ai.onnx"
                                          : "");
    }
    for (int opset = released - 1; opset <= released + 2; opset++)
        for (int wanted = released - 1; wanted <= released + 2; wanted++) {
            struct amp_target target = {.mode = AMP_OPSET_EXACT, .opset = wanted};
            struct amp_error err = {.status = AMP_OK};
            char text[128] = "";
            amp_model_import(model, "", opset);
            if (wanted < opset)
                snprintf(text, sizeof text,
                         "m: --opset %d: the model has opset %d, and is only ever raised", wanted,
                         opset);
            else if (wanted > opset && wanted > released)
                snprintf(text, sizeof text, "m: --opset %d: the newest that is released is %d",
                         wanted, released);
            assert_int_equal(amp_target_check(&target, model, &err),
                             text[0] != '\0' ? AMP_UNSUPPORTED : AMP_OK);
            assert_string_equal(err.text, text);
        }
    amp_arena_destroy(arena);
}

/* Which of the inputs and outputs change, by their names. */
static void assert_io(struct amp_model *model, const char *line, const char *names,
                      const char *text)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_BFLOAT16};
    struct amp_error err;
    struct amp_ids ids = {.count = 0};
    char found[64] = "";
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    enum amp_status status = amp_target_interface(&options, &target, model, &ids, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(status, text[0] != '\0' ? AMP_USAGE : AMP_OK);
    for (size_t i = 0; i < ids.count; i++)
        strcat(found, amp_value_at(model, ids.items[i])->name);
    assert_string_equal(found, names);
    amp_command_line_free(&options);
}

static void inputs_and_outputs_change_by_name(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16, AMP_INT64,
                                            AMP_FLOAT, AMP_FLOAT,    AMP_DOUBLE};
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m");
    struct amp_tensor initial = {.dtype = AMP_FLOAT};
    (void)state;
    amp_graph_add(model, "g", AMP_NONE);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        char name[2] = {(char)('a' + i)};
        uint32_t id = amp_graph_add_value(model, 0, amp_arena_strdup(arena, name));
        struct amp_value *value = amp_value_at(model, id);
        value->dtype = dtypes[i];
        value->kind = i == 5 ? AMP_KIND_SEQUENCE : AMP_KIND_TENSOR;
        value->initial = i == 4 ? &initial : NULL;
        amp_ids_push(model, i == 2 ? &model->graphs[0].outputs : &model->graphs[0].inputs, id);
    }
    assert_io(model, "m", "", "");
    assert_io(model, "m --io keep", "", "");
    assert_io(model, "m --io lower", "ac", "");
    assert_io(model, "m --io lower --io a=keep", "c", "");
    assert_io(model, "m --io a=lower", "a", "");
    assert_io(model, "m --io c=lower", "c", "");
    assert_io(model, "m --io b=lower", "", "");
    assert_io(model, "m --io d=keep", "", "");
    assert_io(model, "m --io low", "", "--io low: keep or lower is needed, or NAME=lower");
    assert_io(model, "m --io a=x", "", "--io a=x: keep or lower is needed, or NAME=lower");
    assert_io(model, "m --io a=", "", "--io a=: [NAME=]WHAT is needed");
    assert_io(model, "m --io d=lower", "",
              "--io d=lower: 'd' is int64; only tensors of float32, float16 and bfloat16 change");
    assert_io(model, "m --io g=lower", "",
              "--io g=lower: 'g' is float64; only tensors of float32, float16 and bfloat16 change");
    assert_io(model, "m --io e=lower", "", "--io e=lower: 'e' has a value in the model");
    assert_io(model, "m --io f=lower", "",
              "--io f=lower: 'f' is no tensor; only tensors of float32, float16 and bfloat16 "
              "change");
    assert_io(model, "m --io ab=lower --io lower", "",
              "--io ab=lower: no input or output 'ab'; did you mean 'a'?");
    assert_io(model, "m --io zzzzzz=keep", "", "--io zzzzzz=keep: no input or output 'zzzzzz'");
    assert_io(model, "m --io lower --io zzzzzz=keep", "",
              "--io zzzzzz=keep: no input or output 'zzzzzz'");
    for (size_t i = 0; i < 1000; i++)
        amp_ids_push(model, &model->graphs[0].outputs, model->graphs[0].outputs.items[0]);
    model->graphs[0].inputs.count = 1;
    assert_io(model, "m --io c=keep", "", "");
    amp_arena_destroy(arena);
}

/* A name is as long as its place; the last = ends it. */
static void pairs_are_split_at_the_last_sign(void **state)
{
    struct amp_option_pair pair;
    char text[sizeof pair.name + 3];
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    assert_int_equal(amp_option_pair_split("input", "a=b=c", &pair, &err), AMP_OK);
    assert_string_equal(pair.name, "a=b");
    assert_string_equal(pair.value, "c");
    memset(text, 'n', sizeof text);
    strcpy(text + sizeof pair.name - 1, "=v");
    assert_int_equal(amp_option_pair_split("input", text, &pair, &err), AMP_OK);
    assert_int_equal(strlen(pair.name), sizeof pair.name - 1);
    memset(text, 'n', sizeof text);
    strcpy(text + sizeof pair.name, "=v");
    assert_int_equal(amp_option_pair_split("input", text, &pair, &err), AMP_USAGE);
    static const char *const wrong[] = {"a", "=a", "a=", "=", ""};
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        char said[64];
        err = (struct amp_error){.status = AMP_OK};
        snprintf(said, sizeof said, "--input %s: NAME=FILE is needed", wrong[i]);
        assert_int_equal(amp_option_pair_split("input", wrong[i], &pair, &err), AMP_USAGE);
        assert_string_equal(err.text, said);
    }
}

static void gradients_are_scaled_by_numbers(void **state)
{
    static const struct {
        const char *text;
        enum amp_scaling scaling;
        struct amp_grad_scaler scaler;
    } rows[] = {{NULL, AMP_SCALING_AUTO, {65536, 2, 0.5, 2000}},
                {"off", AMP_SCALING_OFF, {65536, 2, 0.5, 2000}},
                {"on", AMP_SCALING_ON, {65536, 2, 0.5, 2000}},
                {"init_scale=0.25", AMP_SCALING_ON, {0.25, 2, 0.5, 2000}},
                {"growth_factor=1.5,backoff_factor=0.75", AMP_SCALING_ON, {65536, 1.5, 0.75, 2000}},
                {"growth_interval=2147483647", AMP_SCALING_ON, {65536, 2, 0.5, 2147483647}},
                {"growth_interval=1,init_scale=3", AMP_SCALING_ON, {3, 2, 0.5, 1}}};
    static const struct said wrong[] = {
        {"init_scale=0", "init_scale= needs a number above 0"},
        {"init_scale=nan", "init_scale= needs a number above 0"},
        {"init_scale=1e-60", "init_scale= needs a number above 0"},
        {"init_scale=", "init_scale= needs a number above 0"},
        {"init_scale=2x", "init_scale= needs a number above 0"},
        {"growth_factor=1", "growth_factor= needs a number above 1"},
        {"growth_factor=inf", "growth_factor= needs a number above 1"},
        {"backoff_factor=1", "backoff_factor= needs a number above 0 and below 1"},
        {"backoff_factor=0", "backoff_factor= needs a number above 0 and below 1"},
        {"growth_interval=0", "growth_interval= needs a whole number above 0"},
        {"growth_interval=1.5", "growth_interval= needs a whole number above 0"},
        {"growth_interval=2147483648", "growth_interval= needs a whole number above 0"},
        {"init_scale=1,growth_factor=1", "growth_factor= needs a number above 1"},
        {"On", "'On' is none of on, off, init_scale=, growth_factor=, backoff_factor= and "
               "growth_interval="},
        {"init_scal=1", "'init_scal=1' is none of on, off, init_scale=, growth_factor=, "
                        "backoff_factor= and growth_interval=; did you mean 'init_scale'?"},
        {"init_scald=1", "'init_scald=1' is none of on, off, init_scale=, growth_factor=, "
                         "backoff_factor= and growth_interval=; did you mean 'init_scale'?"},
        {"init_scale=1,x=2", "'x=2' is none of on, off, init_scale=, growth_factor=, "
                             "backoff_factor= and growth_interval="},
        {"init_scale=1,", "'' is none of on, off, init_scale=, growth_factor=, "
                          "backoff_factor= and growth_interval="}};
    enum amp_scaling scaling;
    struct amp_grad_scaler scaler;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_grad_scaler_parse(rows[i].text, &scaling, &scaler, &err), AMP_OK);
        assert_int_equal(scaling, rows[i].scaling);
        assert_true(scaler.init_scale == rows[i].scaler.init_scale);
        assert_true(scaler.growth_factor == rows[i].scaler.growth_factor);
        assert_true(scaler.backoff_factor == rows[i].scaler.backoff_factor);
        assert_int_equal(scaler.growth_interval, rows[i].scaler.growth_interval);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        struct amp_error err = {.status = AMP_OK};
        char text[256];
        assert_int_equal(amp_grad_scaler_parse(wrong[i].line, &scaling, &scaler, &err), AMP_USAGE);
        snprintf(text, sizeof text, "--grad-scaler %s: %s", wrong[i].line, wrong[i].text);
        assert_string_equal(err.text, text);
    }
}

static void bounds_are_named_in_their_order(void **state)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_named_bound bound;
    static const char *const names[] = {"snr", "cosine", "max_abs", "accuracy-drop", "eval-drop"};
    static const char *const values[] = {"1", "0.5", "2", "3%", "3%"};
    static const char *const from[] = {"tolerance", "tolerance", "target", "max-drop", "max-drop"};
    (void)state;
    assert_int_equal(parse_line("m --tune -t snr=1 --max-drop 3% --target max_abs<=2 -t cosine=0.5 "
                                "--labels l --eval c",
                                &options, &err),
                     AMP_OK);
    assert_int_equal(amp_named_bound_count(&options), AMP_COUNT(names));
    for (size_t i = 0; i < AMP_COUNT(names); i++) {
        assert_int_equal(amp_named_bound_at(&options, i, &bound, &err), AMP_OK);
        assert_string_equal(bound.pair.name, names[i]);
        assert_string_equal(bound.pair.value, values[i]);
        assert_string_equal(bound.option, from[i]);
    }
    amp_command_line_free(&options);
    assert_int_equal(parse_line("m --tune --max-drop 3%", &options, &err), AMP_OK);
    assert_int_equal(amp_named_bound_count(&options), 0);
    amp_command_line_free(&options);
}

static void tolerances_are_read(void **state)
{
    static const struct said rows[] = {
        {"m -t snr=3", ""},
        {"m -t snr", "--tolerance snr: METRIC=VALUE is needed"},
        {"m -t accuracy-drop=1%", "--tolerance accuracy-drop=1% goes with --labels"},
        {"m -t accuracy-drop=1% --labels l", ""},
        {"m -t accuracy-drop=1% --eval c", "--tolerance accuracy-drop=1% goes with --labels"},
        {"m -t eval-drop=1% --labels l", "--tolerance eval-drop=1% goes with --eval"},
        {"m -t eval-drop=1 --eval c", ""},
        {"m --tune --max-drop 1%", "--max-drop 1% goes with --labels or --eval"},
        {"m --tune --max-drop 1% --eval c", ""},
        {"m --tune --max-drop 1% --labels l", ""},
        {"m --tune --max-drop x --labels l",
         "the tolerance of accuracy-drop: 'x' is no number and no percentage"},
        {"m --tune --target snr>=2 --target max_abs<=2", ""},
        {"m --tune --target snr<=2",
         "--target snr<=2: more of snr is better: snr>=VALUE is needed"},
        {"m --tune --target max_abs>=2",
         "--target max_abs>=2: less of max_abs is better: max_abs<=VALUE is needed"},
        {"m --tune --target eval-drop>=2 --eval c",
         "--target eval-drop>=2: less of eval-drop is better: eval-drop<=VALUE is needed"},
        {"m --tune --target snr=2",
         "--target snr=2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr>2",
         "--target snr>2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr==2",
         "--target snr==2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr>2=3",
         "--target snr>2=3: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target >=2",
         "--target >=2: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"},
        {"m --tune --target snr>=",
         "--target snr>=: METRIC>=VALUE, METRIC<=VALUE or a runtime's name is needed"}};
    struct amp_metric_bounds bounds;
    struct amp_task_bounds task_bounds;
    struct amp_options options;
    struct amp_named_bound bound;
    struct amp_error err;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        enum amp_status status =
            amp_tolerance_parse(&options, AMP_BFLOAT16, &bounds, &task_bounds, &err);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(status, rows[i].text[0] != '\0' ? AMP_USAGE : AMP_OK);
        assert_int_equal(amp_task_bounds_any(&task_bounds), i == 3 || i == 6 || i == 8 || i == 9);
        amp_command_line_free(&options);
    }
    const char *signless[] = {"snr"};
    options = (struct amp_options){.targets = {signless, 1}};
    assert_int_equal(amp_named_bound_at(&options, 0, &bound, &err), AMP_USAGE);
    for (size_t length = sizeof bound.pair.name - 1; length <= sizeof bound.pair.name; length++) {
        char line[sizeof bound.pair.name + 32] = "m --tune --target ";
        memset(line + strlen(line), 'n', length);
        strcat(line, ">=1");
        assert_int_equal(parse_line(line, &options, &err), AMP_OK);
        assert_int_equal(amp_named_bound_at(&options, 0, &bound, &err),
                         length < sizeof bound.pair.name ? AMP_OK : AMP_USAGE);
        amp_command_line_free(&options);
    }
}

/* Against expected outputs: by element unless metrics alone are named. */
static void expected_outputs_have_two_tolerances(void **state)
{
    static const struct {
        const char *line;
        bool by_element, by_metric;
        double rtol, atol;
    } rows[] = {{"run m", true, false, NAN, NAN},
                {"run m -t rtol=0.5", true, false, 0.5, NAN},
                {"run m -t atol=0", true, false, NAN, 0},
                {"run m -t snr=20", false, true, NAN, NAN},
                {"run m -t snr=20 -t atol=2 -t rtol=1", true, true, 1, 2}};
    static const struct said wrong[] = {
        {"run m -t rtol=-1", "--tolerance rtol=-1: a number of 0 or more is needed"},
        {"run m -t atol=nan", "--tolerance atol=nan: a number of 0 or more is needed"},
        {"run m -t atol=1x", "--tolerance atol=1x: a number of 0 or more is needed"},
        {"run m -t eval-drop=1",
         "--tolerance eval-drop=1 compares two models: 'ampconv run' has one"}};
    struct amp_options options;
    struct amp_error err;
    struct amp_expected_tolerance tolerance;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_tolerance own = amp_tolerance_of(AMP_FLOAT16);
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        assert_int_equal(amp_expected_tolerance_parse(&options, &tolerance, &err), AMP_OK);
        assert_int_equal(tolerance.by_element, rows[i].by_element);
        assert_int_equal(tolerance.by_metric, rows[i].by_metric);
        struct amp_tolerance found = amp_expected_tolerance_of(&tolerance, AMP_FLOAT16);
        assert_true(found.rtol == (isnan(rows[i].rtol) ? own.rtol : rows[i].rtol));
        assert_true(found.atol == (isnan(rows[i].atol) ? own.atol : rows[i].atol));
        amp_command_line_free(&options);
    }
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        assert_int_equal(parse_line(wrong[i].line, &options, &err), AMP_OK);
        assert_int_equal(amp_expected_tolerance_parse(&options, &tolerance, &err), AMP_USAGE);
        assert_string_equal(err.text, wrong[i].text);
        amp_command_line_free(&options);
    }
}

/* ---- inputs of a command line ---- */

static void save(const char *path, enum amp_dtype dtype, struct amp_shape shape, const void *data)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor = *net_tensor(dtype, shape, data);
    assert_int_equal(amp_tensor_save(path, "x", &tensor, &err), AMP_OK);
}

/* A model of a float input, one of integers with a symbolic dim, one of bytes, one that is constant
   and one that has a value of its own; and files for them. */
static void start_inputs(void)
{
    static const float numbers[] = {1, 2, 3, 4, 5};
    static const int64_t whole[] = {1, 2, 3, -1, 256};
    static const bool flags[] = {true, false};
    static const double doubles[] = {0.5, 2};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)),
             n = input("n", AMP_INT64, DIMS(amp_symbol_dim(net.model, "N"), 3)),
             b = input("b", AMP_UINT8, DIMS(2));
    uint32_t own[] = {input("c", AMP_FLOAT, DIMS(2)), input("w", AMP_FLOAT, DIMS(2))};
    for (int i = 0; i < 2; i++) {
        struct amp_value *value = amp_value_at(net.model, own[i]);
        value->initial = net_tensor(AMP_FLOAT, DIMS(2), numbers);
        value->constant = i == 0 ? value->initial : NULL;
        value->is_initializer = true;
    }
    output(NODE("Neg", "y", x));
    output(NODE("Neg", "y=z", n));
    output(NODE("Identity", "q", b));
    infer_all();
    save("x.npy", AMP_FLOAT, DIMS(2), numbers);
    save("x5.npy", AMP_FLOAT, DIMS(5), numbers);
    save("d.npy", AMP_DOUBLE, DIMS(2), doubles);
    save("n.npy", AMP_INT64, DIMS(1, 3), whole);
    save("u64.npy", AMP_UINT64, DIMS(1, 3), (const uint64_t[]){UINT64_MAX, 1, 2});
    save("b.npy", AMP_INT64, DIMS(2), whole);
    save("b5.npy", AMP_INT64, DIMS(5), whole);
    save("large.npy", AMP_INT64, DIMS(2), whole + 3);
    save("flags.npy", AMP_BOOL, DIMS(2), flags);
    save("p=q.npy", AMP_INT64, DIMS(1), whole);
}

/* What comes of opening the inputs of LINE, and of loading all samples and labels. */
static enum amp_status open_line(const char *line, struct amp_error *err)
{
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_label_files labels;
    assert_int_equal(parse_line(line, &options, err), AMP_OK);
    enum amp_status status = amp_inputs_open(&options, net.model, &inputs, err);
    if (status == AMP_OK) {
        for (size_t i = 0; i < inputs.count && status == AMP_OK; i++) {
            struct amp_tensor tensors[5] = {{.data = NULL}}, outputs[3] = {{.data = NULL}};
            status = amp_inputs_load(&inputs, i, tensors, outputs, err);
            amp_tensors_release(tensors, 5);
            amp_tensors_release(outputs, 3);
        }
        if (status == AMP_OK)
            status = amp_label_files_load(&inputs, &labels, err);
        if (status == AMP_OK)
            amp_label_files_close(&labels);
        amp_inputs_close(&inputs);
    }
    amp_command_line_free(&options);
    return status;
}

static void inputs_are_named_and_of_the_model(void **state)
{
    static const struct said rows[] = {
        {"run m", NULL},
        {"run m -i x=x.npy -i n=n.npy -i b=b.npy", NULL},
        {"run m -i x=d.npy -i n=n.npy -i b=b.npy -i w=x.npy", NULL},
        {"run m -i q=x.npy", "--input q: the model has no such input; did you mean 'x'?"},
        {"run m -i qqqqq=x.npy",
         "--input qqqqq: the model has no such input; there are: 'x', 'n', 'b', 'w'"},
        {"run m -i c=x.npy", "--input c: it is constant in the model"},
        {"run m -i x=x.npy -i x=x.npy", "--input x=x.npy: 'x' is given twice"},
        {"run m -i x=x.npy", "no --input for 'n', 'b'; give all inputs or none"},
        {"run m -i w=x.npy", "no --input for 'x', 'n', 'b'; give all inputs or none"},
        {"run m -i b=b.npy -i x=x.npy", "no --input for 'n'; give all inputs or none"},
        {"run m -i b=large.npy", "input 'b': element 0, -1, does not fit into uint8"},
        {"run m -i n=u64.npy",
         "input 'n': element 0, 1.8446744073709552e+19, does not fit into int64"},
        {"run m -i b=flags.npy -i x=x.npy -i n=n.npy", NULL},
        {"run m --samples 3", NULL},
        {"run m --samples 0", "--samples 0: at least 1 is needed"},
        {"run m --input-shape x=2 --data x.npy",
         "--input-shape x=2 is about random inputs; --data supplies them"},
        {"run m --input-range x=0,1 --data x.npy",
         "--input-range x=0,1 is about random inputs; --data supplies them"},
        {"run m --input-range x=0,1 --input x=x.npy",
         "--input-range x=0,1 is about random inputs; --input supplies them"},
        {"run m --dim N=0", NULL},
        {"run m --dim N=2", NULL},
        {"run m --dim N=-1", "--dim N=-1: a number of 0 or more is needed"},
        {"run m --dim N=1x", "--dim N=1x: a number of 0 or more is needed"},
        {"run m --dim N=99999999999999999999",
         "--dim N=99999999999999999999: a number of 0 or more is needed"},
        {"run m --dim M=1",
         "--dim M: the model has no such symbolic dim in its inputs; did you mean 'N'?"},
        {"run m --dim MMMMM=1",
         "--dim MMMMM: the model has no such symbolic dim in its inputs; there are: 'N'"},
        {"run m --input-shape n=2,3", NULL},
        {"run m --input-shape x=2", NULL},
        {"run m --input-shape n=2", "--input-shape n=2: 'n' is [?, 3]: the input has 2 dims"},
        {"run m --input-shape n=2,",
         "--input-shape n=2,: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=,2",
         "--input-shape n=,2: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=-2,3",
         "--input-shape n=-2,3: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=2;3",
         "--input-shape n=2;3: sizes with commas between them are needed, as n=1,3,224,224"},
        {"run m --input-shape n=99999999999999999999,3",
         "--input-shape n=99999999999999999999,3: sizes with commas between them are needed, as "
         "n=1,3,224,224"},
        {"run m --input-range x=0,1", NULL},
        {"run m --input-range x=-1e9,1e9", NULL},
        {"run m --input-range b=0,255", NULL},
        {"run m --input-range x=0",
         "--input-range x=0: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=,1",
         "--input-range x=,1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,",
         "--input-range x=0,: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,1x",
         "--input-range x=0,1x: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0;1",
         "--input-range x=0;1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=nan,1",
         "--input-range x=nan,1: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=0,inf",
         "--input-range x=0,inf: two numbers with a comma between them are needed, as x=0,255"},
        {"run m --input-range x=2,1", "--input-range x=2,1: LO is greater than HI"},
        {"run m --input-range w=0,1", "--input-range w=0,1: the model has values for it itself"},
        {"run m --input-range c=0,1", "--input-range c: it is constant in the model"},
        /* What is wrong ends all, also where what is right follows. */
        {"run m -i x=none.npy -i n=n.npy -i b=b.npy",
         "none.npy: cannot open: No such file or directory"},
        {"run m --data none --data x.npy",
         "none: cannot read the folder: No such file or directory"},
        {"run m --input-range x=2,1 --input-range b=0,1",
         "--input-range x=2,1: LO is greater than HI"},
        {"run m --dim N=-1 --dim N=2", "--dim N=-1: a number of 0 or more is needed"},
        {"run m --input-shape n=2 --input-shape x=2",
         "--input-shape n=2: 'n' is [?, 3]: the input has 2 dims"},
        {"run m --labels y=z --labels q=b.npy", "z: not a .npy or .pb file"},
        {"run m --labels n.npy", NULL},
        {"run m --labels y=d.npy", NULL},
        {"run m --labels y=z", "z: not a .npy or .pb file"},
        {"run m --labels p=q.npy", NULL}, /* a file */
        {"run m --labels y=z=n.npy", NULL},
        {"run m --labels q=b.npy", NULL},
        {"run m --labels y=flags.npy",
         "flags.npy: labels of type bool; integers are needed for classes, floats for targets"},
        {"run m --labels p=b.npy", "--labels p: the model has no such output; did you mean 'y'?"},
        {"run m --labels ppppp=b.npy",
         "--labels ppppp: the model has no such output; there are: 'y', 'y=z', 'q'"}};
    (void)state;
    start_inputs();
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err;
        enum amp_status status = open_line(rows[i].line, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status != AMP_OK, rows[i].text != NULL);
    }
}

/* Data need not have what the model has itself. */
static void data_have_what_is_needed(void **state)
{
    static const float numbers[] = {1, 2};
    static const int64_t whole[] = {1, 2, 3}, large[] = {255, 256};
    struct amp_error err;
    (void)state;
    start_inputs();
    for (int i = 0; i < 3; i++) {
        char path[64], folder[16], line[64];
        snprintf(folder, sizeof folder, "d%d", i);
        assert_int_equal(mkdir(folder, 0777), 0);
        snprintf(path, sizeof path, "%s/x.npy", folder);
        save(path, AMP_FLOAT, DIMS(2), numbers);
        snprintf(path, sizeof path, "%s/b.npy", folder);
        save(path, AMP_INT64, DIMS(2), whole);
        snprintf(path, sizeof path, "%s/%s.npy", folder, i == 0 ? "w" : "n");
        save(path, i == 0 ? AMP_FLOAT : AMP_INT64, i == 0 ? DIMS(2) : DIMS(1, 3),
             i == 0 ? (const void *)numbers : whole);
        snprintf(line, sizeof line, "run m --data %s%s", folder, i == 2 ? " -i w=x.npy" : "");
        assert_int_equal(open_line(line, &err), i == 0 ? AMP_MODEL : AMP_OK);
        assert_string_equal(err.text, i == 0 ? "d0: nothing for input 'n'" : "");
    }
    save("d1/b.npy", AMP_INT64, DIMS(2), large);
    assert_int_equal(open_line("run m --data d1", &err), AMP_MODEL);
    assert_string_equal(err.text, "d1: input 'b': element 1, 256, does not fit into uint8");
}

/* What a sample expects need not be asked for; a symbolic dim is no batch; the shape that is noted
   is that of the first sample. */
static void samples_of_data_are_loaded_one_by_one(void **state)
{
    static const int64_t whole[12] = {1, 2, 3, 4};
    static const float numbers[] = {1, 2, 3, 4};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    net_start(22);
    uint32_t n = input("n", AMP_INT64, DIMS(amp_symbol_dim(net.model, "N"), 3)),
             x = input("x", AMP_FLOAT, DIMS(2));
    output(NODE("Neg", "y", n));
    output(NODE("Neg", "z", x));
    infer_all();
    assert_int_equal(mkdir("sets", 0777), 0);
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "sets/test_data_set_%d", i);
        assert_int_equal(mkdir(path, 0777), 0);
        snprintf(path, sizeof path, "sets/test_data_set_%d/input_0.pb", i);
        save(path, AMP_INT64, i == 0 ? DIMS(4, 3) : DIMS(1, 3), whole);
        snprintf(path, sizeof path, "sets/test_data_set_%d/input_1.pb", i);
        save(path, AMP_FLOAT, i == 0 ? DIMS(2) : DIMS(4), numbers);
        snprintf(path, sizeof path, "sets/test_data_set_%d/output_0.pb", i);
        save(path, AMP_INT64, i == 0 ? DIMS(4, 3) : DIMS(1, 3), whole);
    }
    assert_int_equal(parse_line("run m --data sets", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_int_equal(inputs.count, 3); /* the four rows of the second set are two batches */
    for (size_t i = 0; i < 6; i++) {
        struct amp_tensor tensors[2] = {{.data = NULL}}, expected[2] = {{.data = NULL}};
        assert_int_equal(amp_inputs_load(&inputs, i % 3, tensors, i < 3 ? NULL : expected, &err),
                         AMP_OK);
        assert_int_equal(tensors[0].shape.dims[0], i % 3 == 0 ? 4 : 1);
        assert_int_equal(tensors[1].shape.dims[0], 2);
        assert_int_equal(expected[0].data != NULL, i >= 3);
        assert_null(expected[1].data);
        amp_tensors_release(tensors, 2);
        amp_tensors_release(expected, 2);
        assert_string_equal(inputs.notes.items[0], "'n' int64 [4, 3]: sets");
    }
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* What is noted of each input by what supplies it. */
static void inputs_are_noted(void **state)
{
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    start_inputs();
    assert_int_equal(parse_line("run m --dim N=2 --seed 7", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_true(inputs.notes.are_random);
    assert_int_equal(inputs.count, 1);
    assert_non_null(strstr(inputs.notes.items[0], "'x' float32 [2]: random"));
    assert_non_null(strstr(inputs.notes.items[0], ", seed 7"));
    assert_non_null(strstr(inputs.notes.items[1], "'n' int64 [2, 3]: "));
    assert_null(inputs.notes.items[3]);
    assert_string_equal(inputs.notes.items[4], "'w' float32 [2]: the model's own");
    assert_null(inputs.notes.sizes);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);

    assert_int_equal(parse_line("run m -i x=d.npy -i n=n.npy -i b=b.npy", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_false(inputs.notes.are_random);
    assert_string_equal(inputs.notes.items[0], "'x' float32 [2]: d.npy");
    assert_string_equal(inputs.notes.items[1], "'n' int64 [1, 3]: n.npy");
    assert_null(inputs.notes.items[3]);
    assert_null(inputs.notes.items[4]);
    struct amp_tensor tensors[5] = {{.data = NULL}};
    assert_int_equal(amp_inputs_load(&inputs, 0, tensors, NULL, &err), AMP_OK);
    assert_int_equal(tensors[0].dtype, AMP_FLOAT);
    assert_true(amp_tensor_double(&tensors[0], 0) == 0.5);
    assert_int_equal(tensors[2].dtype, AMP_UINT8);
    assert_int_equal(amp_tensor_int(&tensors[2], 1), 2);
    assert_null(tensors[3].data);
    assert_null(tensors[4].data);
    amp_tensors_release(tensors, 5);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* Rows of data are cut into as many batches as there are whole ones, of strings too, and their
   labels with them. */
static void data_are_cut_into_batches(void **state)
{
    static const struct amp_str strings[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
    static const float numbers[] = {1, 2, 3, 4, 5};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        enum amp_dtype dtype = i == 0 ? AMP_FLOAT : AMP_STRING;
        net_start(22);
        output(NODE("Identity", "y", input("x", dtype, DIMS(2))));
        infer_all();
        save("rows.npy", dtype, DIMS(5), i == 0 ? (const void *)numbers : strings);
        save("labels.npy", AMP_FLOAT, DIMS(5), numbers);
        save("few.npy", AMP_FLOAT, DIMS(4), numbers);
        assert_int_equal(parse_line("run m --data rows.npy --labels labels.npy --labels few.npy",
                                    &options, &err),
                         AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        assert_int_equal(inputs.count, 2);
        assert_string_equal(inputs.notes.batches,
                            "5 rows in batches of 2; 1 that fill none is left out");
        assert_int_equal(inputs.notes.left_out, 1);
        for (size_t k = 0; k < 2; k++) {
            struct amp_tensor tensor = {.data = NULL};
            assert_int_equal(amp_inputs_load(&inputs, k, &tensor, NULL, &err), AMP_OK);
            assert_int_equal(tensor.shape.rank, 1);
            assert_int_equal(tensor.shape.dims[0], 2);
            for (size_t e = 0; e < 2; e++) {
                if (i == 0)
                    assert_true(amp_tensor_double(&tensor, e) == (double)(2 * k + e + 1));
                else
                    assert_memory_equal(((const struct amp_str *)tensor.data)[e].data,
                                        strings[2 * k + e].data, 1);
            }
            amp_tensors_release(&tensor, 1);
            assert_string_equal(inputs.notes.items[0],
                                i == 0 ? "'x' float32 [2]: rows.npy" : "'x' string [2]: rows.npy");
        }
        struct amp_label_files labels;
        assert_int_equal(amp_label_files_load(&inputs, &labels, &err), AMP_OK);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(labels.items[k].tensor.shape.dims[0], 4);
            assert_true(amp_tensor_double(&labels.items[k].tensor, 3) == 4);
        }
        amp_label_files_close(&labels);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);

        /* A file of several batches is read once, and what was read is let go with the last. */
        assert_int_equal(parse_line("run m --data rows.npy", &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        for (size_t k = 0; k < 3; k++) {
            struct amp_tensor tensor = {.data = NULL};
            assert_int_equal(amp_inputs_load(&inputs, k % 2, &tensor, NULL, &err),
                             k < 2 ? AMP_OK : AMP_IO);
            amp_tensors_release(&tensor, 1);
            if (k == 0)
                assert_int_equal(rename("rows.npy", "moved.npy"), 0);
        }
        assert_int_equal(rename("moved.npy", "rows.npy"), 0);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);

        /* As many samples as are asked for. */
        assert_int_equal(parse_line("run m --data rows.npy --samples 1", &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        assert_int_equal(inputs.count, 1);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);
    }
    static const char *const lines[] = {"run m --data six.npy", "run m --data two.npy",
                                        "run m --data seven.npy --data rows5.npy"};
    static const char *const notes[] = {"6 rows in batches of 2", NULL,
                                        "12 rows in batches of 2; 2 that fill none are left out"};
    static const float many[] = {1, 2, 3, 4, 5, 6, 7};
    net_start(22);
    output(NODE("Identity", "y", input("x", AMP_FLOAT, DIMS(2))));
    infer_all();
    save("six.npy", AMP_FLOAT, DIMS(6), many);
    save("two.npy", AMP_FLOAT, DIMS(2), many);
    save("seven.npy", AMP_FLOAT, DIMS(7), many);
    save("rows5.npy", AMP_FLOAT, DIMS(5), many);
    for (size_t i = 0; i < AMP_COUNT(lines); i++) {
        assert_int_equal(parse_line(lines[i], &options, &err), AMP_OK);
        assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
        if (notes[i] == NULL)
            assert_null(inputs.notes.batches);
        else
            assert_string_equal(inputs.notes.batches, notes[i]);
        assert_int_equal(inputs.count, i == 0 ? 3 : i == 1 ? 1 : 5);
        amp_inputs_close(&inputs);
        amp_command_line_free(&options);
    }
}

/* Of rows that are as many as those of all samples those stay that are in a batch; an input of any
   number of rows is not cut. */
static void only_what_has_all_rows_is_cut(void **state)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    static const int64_t whole[] = {1, 2, 3, 4, 5};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    net_start(22);
    output(NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(2))));
    infer_all();
    save("five.npy", AMP_FLOAT, DIMS(5), numbers);
    assert_int_equal(parse_line("run m --data five.npy", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    for (int64_t rows = 3; rows <= 6; rows++) {
        struct amp_tensor tensor = *net_tensor(AMP_FLOAT, DIMS(rows), numbers);
        assert_int_equal(amp_batches_keep_rows(&inputs.batches, &tensor, &err), AMP_OK);
        assert_int_equal(tensor.shape.dims[0], rows == 5 ? 4 : rows);
        assert_true(amp_tensor_double(&tensor, 2) == 3);
        if (rows == 5)
            amp_tensor_release(&tensor);
    }
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
    net_start(22);
    output(NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(2))));
    output(NODE("Neg", "z", input("n", AMP_INT64, DIMS(amp_symbol_dim(net.model, "N")))));
    infer_all();
    assert_int_equal(mkdir("uncut", 0777), 0);
    save("uncut/x.npy", AMP_FLOAT, DIMS(6), numbers);
    save("uncut/n.npy", AMP_INT64, DIMS(5), whole);
    assert_int_equal(parse_line("run m --data uncut", &options, &err), AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_int_equal(inputs.count, 3);
    for (size_t k = 0; k < 3; k++) {
        struct amp_tensor tensors[2] = {{.data = NULL}};
        assert_int_equal(amp_inputs_load(&inputs, k, tensors, NULL, &err), AMP_OK);
        assert_int_equal(tensors[0].shape.dims[0], 2);
        assert_true(amp_tensor_double(&tensors[0], 1) == (double)(2 * k + 2));
        assert_int_equal(tensors[1].shape.dims[0], 5);
        amp_tensors_release(tensors, 2);
    }
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* What is of another class than the input stays as it is, for the run to refuse. */
static void inputs_of_other_classes_stay(void **state)
{
    static const enum amp_dtype loaded[] = {AMP_INT64, AMP_DOUBLE, AMP_UINT8};
    struct amp_tensor tensors[5] = {{.data = NULL}};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    start_inputs();
    assert_int_equal(parse_line("run m -i x=b.npy -i n=d.npy -i b=flags.npy", &options, &err),
                     AMP_OK);
    assert_int_equal(amp_inputs_open(&options, net.model, &inputs, &err), AMP_OK);
    assert_int_equal(amp_inputs_load(&inputs, 0, tensors, NULL, &err), AMP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tensors[i].dtype, loaded[i]);
    assert_int_equal(amp_tensor_int(&tensors[2], 0), 1);
    assert_int_equal(amp_tensor_int(&tensors[2], 1), 0);
    amp_tensors_release(tensors, 5);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* Lists of names that are too long are cut; sizes are at most as many as a tensor has dims. */
static void long_lists_of_inputs_are_cut(void **state)
{
    enum { N = 9, LENGTH = 240 };
    char names[N][LENGTH + 1], line[4000] = "run m", sizes[64] = "1";
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err;
    (void)state;
    net_start(22);
    for (int i = 0; i < N; i++) {
        memset(names[i], 'a' + i, LENGTH);
        names[i][LENGTH] = '\0';
        output(NODE("Neg", "y", input(names[i], AMP_FLOAT, DIMS(2))));
    }
    infer_all();
    assert_int_equal(open_line("run m -i q=x.npy", &err), AMP_USAGE);
    assert_true(strncmp(err.text, "--input q: the model has no such input; there are: 'aaa", 54) ==
                0);
    assert_non_null(strstr(err.text, "a', 'bbb"));
    save("x.npy", AMP_FLOAT, DIMS(2), (const float[]){1, 2});
    snprintf(line, sizeof line, "run m -i %s=x.npy", names[0]);
    assert_int_equal(open_line(line, &err), AMP_USAGE);
    assert_true(strncmp(err.text, "no --input for 'bbb", 19) == 0);
    assert_non_null(strstr(err.text, "b', 'ccc"));
    for (int rank = 2; rank <= AMP_RANK_MAX + 1; rank++) {
        strcat(sizes, ",1");
        snprintf(line, sizeof line, "run m --input-shape %s=%s", names[0], sizes);
        assert_int_equal(open_line(line, &err), AMP_USAGE);
        bool is_shape = rank <= AMP_RANK_MAX;
        assert_int_equal(strstr(err.text, "sizes with commas") == NULL, is_shape);
    }
    net_start(22);
    output(NODE("Neg", "y", input("x", AMP_FLOAT, DIMS(2))));
    infer_all();
    snprintf(line, sizeof line, "run m");
    for (int i = 0; i < N; i++) {
        strcat(line, " --data ");
        for (int k = 0; k < 90; k++)
            strcat(line, "./");
        strcat(line, "x.npy");
    }
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    if (amp_inputs_open(&options, net.model, &inputs, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(inputs.notes.items[0], "/x.npy, ././"));
    assert_int_equal(inputs.count, N);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* The elements of a sequence are no rows, whatever dims they have. */
static void sequences_are_not_cut(void **state)
{
    static const float numbers[] = {1, 2};
    struct amp_options options;
    struct amp_inputs inputs;
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor list = {.data = NULL}, loaded = {.data = NULL};
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    amp_value_at(net.model, x)->kind = AMP_KIND_SEQUENCE;
    output(NODE("SequenceLength", "n", x));
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, 4, &err), AMP_OK);
    list.dtype = AMP_FLOAT;
    for (size_t i = 0; i < 4; i++)
        amp_tensor_refer(&amp_list_items(&list)[i], net_tensor(AMP_FLOAT, DIMS(2), numbers));
    assert_int_equal(mkdir("lists", 0777), 0);
    assert_int_equal(mkdir("lists/test_data_set_0", 0777), 0);
    assert_int_equal(amp_tensor_save("lists/test_data_set_0/input_0.pb", "x", &list, &err), AMP_OK);
    assert_int_equal(parse_line("run m --data lists", &options, &err), AMP_OK);
    if (amp_inputs_open(&options, net.model, &inputs, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(inputs.count, 1);
    assert_null(inputs.notes.batches);
    assert_int_equal(amp_inputs_load(&inputs, 0, &loaded, NULL, &err), AMP_OK);
    assert_true(amp_tensor_is_list(&loaded));
    assert_int_equal(loaded.shape.dims[0], 4);
    amp_tensors_release(&loaded, 1);
    amp_tensors_release(&list, 1);
    amp_inputs_close(&inputs);
    amp_command_line_free(&options);
}

/* ---- data of training ---- */

/* A step of a model that has the input x: its own inputs are t and, where there are SEVERAL, t=u;
   x has rows that are numbered, of any number or, FIXED not 0, that many. w is a variable. */
static void start_step(int64_t fixed, bool is_several, struct amp_training_step *step,
                       struct amp_model **main)
{
    net_start(22);
    int64_t rows = fixed != 0 ? fixed : amp_symbol_dim(net.model, "N");
    int64_t labels = fixed != 0 ? fixed : amp_symbol_dim(net.model, "M");
    uint32_t x = input("x", AMP_FLOAT, DIMS(rows, 2));
    if (is_several)
        output(NODE("Neg", "v", input("t=u", AMP_INT64, DIMS(labels))));
    uint32_t t = input("t", AMP_INT64, DIMS(labels));
    uint32_t w = input("w", AMP_INT64, DIMS(1));
    amp_value_at(net.model, w)->initial = net_tensor(AMP_INT64, DIMS(1), &(int64_t){1});
    amp_value_at(net.model, w)->is_initializer = true;
    output(NODE("Neg", "y", x));
    output(NODE("Neg", "z", t));
    output(NODE("Neg", "q", w));
    infer_all();
    *main = amp_model_create(net.arena, "m");
    amp_graph_add(*main, "g", AMP_NONE);
    amp_ids_push(*main, &(*main)->graphs[0].inputs, amp_graph_add_value(*main, 0, "x"));
    *step = (struct amp_training_step){.model = net.model, .n_inputs = is_several ? 3 : 2};
}

/* Opens what LINE says for STEP; fails with TEXT. */
static void open_training(struct amp_train_data *data, struct amp_options *options,
                          const char *line, const struct amp_training_step *step,
                          const struct amp_model *main, const char *text)
{
    struct amp_error err;
    assert_int_equal(parse_line(line, options, &err), AMP_OK);
    enum amp_status status = amp_train_data_open(data, options, step, main, &err);
    if (strcmp(err.text, text) != 0)
        fail_msg("%s: '%s'", line, err.text);
    assert_int_equal(status != AMP_OK, text[0] != '\0');
}

static void close_training(struct amp_train_data *data, struct amp_options *options)
{
    amp_train_data_close(data);
    amp_command_line_free(options);
}

/* What batch NUMBER has: the numbers of its rows, of x and of labels alike, as digits. */
static const char *rows_of(struct amp_train_data *data, size_t number)
{
    static char text[16];
    struct amp_tensor tensors[4] = {{.data = NULL}};
    struct amp_error err = {.status = AMP_OK};
    size_t used = 0;
    if (amp_train_data_load(data, number, tensors, &err) != AMP_OK)
        fail_msg("%s", err.text);
    const float *x = tensors[0].data;
    const int64_t *t = tensors[1].data;
    for (int64_t i = 0; i < tensors[0].shape.dims[0]; i++) {
        assert_true(x[2 * i] == (float)(10 * t[i]) && x[2 * i + 1] == x[2 * i] + 1);
        text[used++] = (char)('0' + t[i]);
    }
    text[used] = '\0';
    amp_tensors_release(tensors, 4);
    return text;
}

/* Files of eight rows, and one of the first five in the folder "five". */
static void save_rows(void)
{
    static const float x[] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61, 70, 71};
    static const int64_t t[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(mkdir("five", 0777) | mkdir("eight", 0777), 0);
    save("five/x.npy", AMP_FLOAT, DIMS(5, 2), x);
    save("eight/x.npy", AMP_FLOAT, DIMS(8, 2), x);
    save("t5.npy", AMP_INT64, DIMS(5), t);
    save("eight/t.npy", AMP_INT64, DIMS(8), t);
    save("t=u=t5.npy", AMP_INT64, DIMS(5), t);
}

static void labels_are_of_inputs_of_the_step(void **state)
{
    static const struct said wrong[] = {
        {"train m --data five --labels t5.npy",
         "--labels t5.npy: the algorithm has none or several inputs of its own; say which input "
         "they are, as NAME=FILE"},
        {"train m --data five --labels w=t5.npy",
         "--labels w=t5.npy: the algorithm has none or several inputs of its own; say which input "
         "they are, as NAME=FILE"},
        {"train m --batch 0", "--batch 0: at least 1 row is needed"},
        {"train m --batch 1", "--batch goes with --data"},
        {"train m --batch 1 --labels t5.npy", "--batch goes with --data"},
        {"train m --labels t5.npy", "--labels goes with --data"}};
    static const struct {
        const char *line, *inputs[2];
        int sources[3]; /* whether rows of labels */
    } rows[] = {{"train m --data five --labels t=t5.npy --labels t=u=t5.npy",
                 {"t=t5.npy", "t=u=t5.npy"},
                 {0, 1, 1}},
                {"train m --data five --labels t=u=t5.npy --input t=t5.npy",
                 {"t=t5.npy", "t=u=t5.npy"},
                 {0, 1, 0}}};
    struct amp_training_step step;
    struct amp_model *main;
    struct amp_train_data data;
    struct amp_options options;
    (void)state;
    save_rows();
    start_step(0, true, &step, &main);
    for (size_t i = 0; i < AMP_COUNT(wrong); i++) {
        open_training(&data, &options, wrong[i].line, &step, main, wrong[i].text);
        close_training(&data, &options);
    }
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        open_training(&data, &options, rows[i].line, &step, main, "");
        assert_int_equal(data.options.inputs.count, 2);
        for (size_t k = 0; k < 2; k++)
            assert_string_equal(data.options.inputs.items[k], rows[i].inputs[k]);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(data.rows.sources[k] == AMP_ROWS_OF_ALL, rows[i].sources[k]);
        close_training(&data, &options);
    }
}

/* Batches of an epoch have each row once, in an order of its own, and those that fill none are
   counted; without a size a sample is one. */
static void rows_go_into_batches(void **state)
{
    static const struct {
        const char *line, *note;
        int64_t fixed;
        size_t count, left_out;
    } rows[] = {
        {"train m --data five --labels t5.npy --batch 2", "5 rows in batches of 2", 0, 3, 0},
        {"train m --data five --labels t5.npy --batch 5", "5 rows in batches of 5", 0, 1, 0},
        {"train m --data eight --batch 3", "8 rows in batches of 3; 2 that fill none are left out",
         3, 2, 2},
        {"train m --data five --labels t5.npy --batch 1", "5 rows in batches of 1", 1, 5, 0},
        {"train m --data five --labels t5.npy", "", 0, 1, 0}};
    struct amp_training_step step;
    struct amp_model *main;
    struct amp_train_data data;
    struct amp_options options;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        char seen[4][32] = {""};
        start_step(rows[i].fixed, false, &step, &main);
        open_training(&data, &options, rows[i].line, &step, main, "");
        assert_int_equal(data.count, rows[i].count);
        if (rows[i].note[0] != '\0')
            assert_string_equal(data.inputs.notes.batches, rows[i].note);
        assert_int_equal(data.inputs.notes.left_out, rows[i].left_out);
        for (size_t epoch = 0; epoch < 4; epoch++)
            for (size_t k = 0; k < data.count; k++)
                strcat(seen[epoch], rows_of(&data, (epoch % 3) * data.count + k));
        size_t n_rows = strlen(seen[0]);
        for (size_t epoch = 0; epoch < 4; epoch++) {
            assert_int_equal(strlen(seen[epoch]), n_rows);
            assert_int_equal(strspn(seen[epoch], "01234567"), n_rows);
            for (size_t k = 0; k < n_rows; k++)
                assert_ptr_equal(strrchr(seen[epoch], seen[epoch][k]), seen[epoch] + k);
        }
        assert_string_equal(seen[3], seen[0]);
        assert_int_equal(strcmp(seen[0], seen[1]) == 0 && strcmp(seen[0], seen[2]) == 0,
                         rows[i].note[0] == '\0');
        if (rows[i].note[0] == '\0')
            assert_string_equal(seen[0], "01234");
        close_training(&data, &options);
    }
    start_step(0, false, &step, &main);
    open_training(&data, &options, "train m --data five --input t=t5.npy", &step, main, "");
    assert_int_equal(data.count, 1);
    assert_string_equal(rows_of(&data, 0), "01234");
    close_training(&data, &options);
    /* Random inputs are one sample; what cannot be read ends all, also where others follow. */
    start_step(2, false, &step, &main);
    open_training(&data, &options, "train m", &step, main, "");
    assert_int_equal(data.count, 1);
    close_training(&data, &options);
    assert_int_equal(mkdir("wide", 0777), 0);
    save("wide/x.npy", AMP_FLOAT, DIMS(1, 3), (const float[]){0, 1, 2});
    start_step(0, false, &step, &main);
    open_training(&data, &options,
                  "train m --data five --data wide --data five --input t=t5.npy --batch 2", &step,
                  main,
                  "wide: input 'x': float32[1, 3] does not go with float32[5, 2] of the first "
                  "sample");
    close_training(&data, &options);
}

/* ---- commands ---- */

static enum amp_status (*const commands[])(const struct amp_options *, struct amp_error *) = {
    [AMP_CMD_CONVERT] = amp_command_convert, [AMP_CMD_RUN] = amp_command_run,
    [AMP_CMD_RULES] = amp_command_rules,     [AMP_CMD_BENCH] = amp_command_bench,
    [AMP_CMD_COMPARE] = amp_command_compare, [AMP_CMD_CALIBRATE] = amp_command_calibrate,
    [AMP_CMD_TRAIN] = amp_command_train};

/* What commands refuse before they read a model, or, with the last row of each, that they go on to
   read one that is not there. */
static void commands_refuse_what_does_not_go_together(void **state)
{
    static const struct said rows[] = {
        {"compare a b --opset 3", "--opset converts REF: 'b' does not go with it"},
        {"compare a b --cast-cache on", "--cast-cache converts REF: 'b' does not go with it"},
        {"compare a b --io keep", "--io converts REF: 'b' does not go with it"},
        {"compare a b -r r", "--rules converts REF: 'b' does not go with it"},
        {"compare a b --node n=fp32", "--node converts REF: 'b' does not go with it"},
        {"compare a b --op o=fp32", "--op converts REF: 'b' does not go with it"},
        {"compare a b --lower-ops f", "--lower-ops converts REF: 'b' does not go with it"},
        {"compare a b --fp32-ops f", "--fp32-ops converts REF: 'b' does not go with it"},
        {"compare a b --strict-rules", "--strict-rules converts REF: 'b' does not go with it"},
        {"compare a b --ranges f", "--ranges converts REF: 'b' does not go with it"},
        {"compare a b -d bf16 --ranges f", "--dtype converts REF: 'b' does not go with it"},
        {"compare a --ranges f",
         "compare REF MODEL: two models are needed, or one and --dtype, what it is to be "
         "converted to"},
        {"compare - -", "stdin cannot be both models"},
        {"compare a - --sort local", "--sort goes with --layers"},
        {"compare a - --lines 0", "--lines goes with --layers"},
        {"compare - b --layers --sort worst",
         "--sort worst: graph, local or accumulated is needed"},
        {"compare a b --samples 0", "--samples 0: at least 1 is needed"},
        {"compare a -d fp16 --layers --sort local --lines 0",
         "a: cannot open: No such file or directory"},
        {"compare a - --layers --sort graph", "a: cannot open: No such file or directory"},
        {"run a --format txt", "--format txt: npy or pb is possible"},
        {"run a -t snr", "--tolerance snr: METRIC=VALUE is needed"},
        {"run a --format npy", "a: cannot open: No such file or directory"},
        {"run a --format pb", "a: cannot open: No such file or directory"},
        {"bench a -d bf16,fp8", "--dtype: 'fp8' is none of fp32, bf16 and fp16"},
        {"bench a -d fp8,bf16", "--dtype: 'fp8' is none of fp32, bf16 and fp16"},
        {"bench a -d bf16,", "--dtype: '' is none of fp32, bf16 and fp16"},
        {"bench a -d fp32,bf16,fp32", "--dtype: 'fp32' is there twice"},
        {"bench a -d fp16,bf16,fp32", "a: cannot open: No such file or directory"},
        {"bench a", "a: cannot open: No such file or directory"},
        {"train a --train x", "--train goes with --make-training"},
        {"train a --steps 0 --epochs 0", "--steps and --epochs: one of the two is possible"},
        {"train a --expand", "--expand needs --output"},
        {"train a --expand -o o --steps 0",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --epochs 0",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --log l",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --json=j",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o --report r",
         "--expand trains nothing: no steps, log or report go with it"},
        {"train a --expand -o o", "a: cannot open: No such file or directory"},
        {"train a --make-training loss=mse --train x", "a: cannot open: No such file or directory"},
        {"train a --steps 0", "a: cannot open: No such file or directory"},
        {"rules --diff a b m -d fp32", "--diff is about rules, and --dtype fp32 takes none"},
        {"rules --diff a b m -d fp8",
         "--dtype fp8: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed"},
        {"rules --diff a b m", "m: cannot open: No such file or directory"},
        {"rules --check torch-cpu m -d fp32",
         "--check is about rules, and --dtype fp32 takes none"},
        {"rules --check torch-cpu m", "m: cannot open: No such file or directory"},
        {"calibrate a --samples 0", "a: cannot open: No such file or directory"},
        {"a --tune --tune-for watts", "--tune-for watts: time, bytes or nodes is needed"},
        {"a --tune --no-validate", "--no-validate does not go with --tune: each candidate is run"},
        {"a --tune --list", "--list does not go with --tune: each candidate is run"},
        {"a --tune --costs-out c --tune-for bytes",
         "--costs-out has times: it goes with --tune-for time"},
        {"a --tune --costs-out c --tune-for nodes",
         "--costs-out has times: it goes with --tune-for time"},
        {"- -o o --tune --jobs 1", "-: --jobs needs a model that other processes can read: a file"},
        {"- -o o --tune --jobs 2 --trials-via e",
         "-: --trials-via needs a model that other processes can read: a file"},
        {"a\nb --tune --trials-via e",
         "--trials-via: commands are a line each, and an option or MODEL has several"},
        {"a --tune --trials-via e --eval a\nb",
         "--trials-via: commands are a line each, and an option or MODEL has several"},
        {"a --tune --trials-via e", "a: cannot open: No such file or directory"},
        {"a --tune --trials-via e\nf --node b=fp32", "a: cannot open: No such file or directory"},
        {"a --tune --jobs 2 --eval e\nf", "a: cannot open: No such file or directory"},
        {"a --tune --costs-out c", "a: cannot open: No such file or directory"},
        {"a --tune --costs-out c --tune-for time", "a: cannot open: No such file or directory"},
        {"a --tune --strategy greed",
         "--strategy: unknown strategy 'greed'; did you mean 'greedy'?; accepted: min-cut, "
         "neural-compressor, bisect, greedy"},
        {"a --tune --strategy greedy", "a: cannot open: No such file or directory"},
        {"a --dump-after reads",
         "--dump-after reads: read, infer, opset, assign, insert or fold; did you mean 'read'?"},
        {"a -d fp8", "--dtype fp8: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed"},
        {"a", "a: cannot open: No such file or directory"}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_options options;
        struct amp_error err;
        if (parse_line(rows[i].line, &options, &err) != AMP_OK)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        enum amp_status status = commands[options.command](&options, &err);
        if (strcmp(err.text, rows[i].text) != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        bool is_unread = strstr(rows[i].text, "cannot open") != NULL;
        assert_int_equal(status, is_unread ? AMP_IO : AMP_USAGE);
        amp_command_line_free(&options);
    }
}

/* ---- destinations ---- */

static void touch(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
}

/* Whether all that LINE has written can be, and where its model goes. */
static enum amp_status find_places(const char *line, struct amp_arena *arena, const char **path,
                                   struct amp_error *err)
{
    struct amp_options options;
    struct amp_target target = {.lower = AMP_UNDEFINED};
    assert_int_equal(parse_line(line, &options, err), AMP_OK);
    enum amp_status status = amp_target_parse(&options, &target, err);
    if (status == AMP_OK)
        status = amp_destinations_check(&options, err);
    if (status == AMP_OK && options.command == AMP_CMD_CONVERT)
        status = amp_destination_choose(&options, &target, arena, path, err);
    amp_command_line_free(&options);
    return status;
}

static void models_go_where_nothing_is_lost(void **state)
{
    static const struct {
        const char *line, *path, *text;
    } rows[] = {
        {"in.onnx", "in.bf16.onnx", NULL},
        {"in.onnx -d fp16", "in.fp16.onnx", NULL},
        {"in.onnx -d fp16,bf16", "in.fp16-bf16.onnx", NULL},
        {"in.onnx -d fp32 --opset 20", "in.opset20.onnx", NULL},
        {"in.onnx -d fp32", "in.fp32.onnx", NULL},
        {"sub/in.onnx", "sub/in.bf16.onnx", NULL},
        {"other", "other.bf16.onnx", NULL},
        {"in.onnx -o out.onnx", "out.onnx", NULL},
        {"-", "-", NULL},
        {"in.onnx -o -", "-", NULL},
        {"taken.onnx", NULL, "taken.bf16.onnx exists; use --force, or -o to name an output"},
        {"taken.onnx -f", "taken.bf16.onnx", NULL},
        {"taken.onnx -o taken.bf16.onnx", "taken.bf16.onnx", NULL},
        {"link.onnx", NULL, "link.bf16.onnx exists; use --force, or -o to name an output"},
        {"in.onnx -o in.onnx", NULL,
         "in.onnx is the input and would be lost; use --force, or another name"},
        {"in.onnx -o ./in.onnx", NULL,
         "./in.onnx is the input and would be lost; use --force, or another name"},
        {"in.onnx -f -o in.onnx", "in.onnx", NULL},
        {"in.onnx --json=in.onnx", NULL, "--json in.onnx: that is the input, which would be lost"},
        {"in.onnx -f --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"in.onnx --json=r --report r", NULL, "--report and --json cannot both go to r"},
        {"in.onnx --json=r --report ./r", NULL, "--report and --json cannot both go to ./r"},
        {"in.onnx --tune --rules-out r --costs-out r", NULL,
         "--rules-out and --costs-out cannot both go to r"},
        {"in.onnx --tune --tune-log r --costs-out r", NULL,
         "--tune-log and --costs-out cannot both go to r"},
        {"in.onnx --json=a --report b", "in.bf16.onnx", NULL},
        {"in.onnx -o r --json=r", NULL, "--json r: that is the model itself"},
        {"in.onnx --json=in.bf16.onnx", NULL, "--json in.bf16.onnx: that is the model itself"},
        {"in.onnx -o - --json -", NULL, "stdout cannot take both the model and --json -"},
        {"in.onnx -o - --report -", NULL, "stdout cannot take both the model and --report -"},
        {"in.onnx -o o --json -", "o", NULL},
        {"in.onnx -o none/o", NULL, "none/o: cannot create: No such file or directory"},
        {"in.onnx --report none/o", NULL, "none/o: cannot create: No such file or directory"},
        {"in.onnx --external-data w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data sub/w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data ..w", "in.bf16.onnx", NULL},
        {"in.onnx --external-data in.bf16.onnx", NULL,
         "--external-data in.bf16.onnx: that is the model itself"},
        {"sub/in.onnx --external-data in.bf16.onnx", NULL,
         "--external-data in.bf16.onnx: that is the model itself"},
        {"in.onnx --external-data ../w", NULL,
         "--external-data ../w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data sub/../w", NULL,
         "--external-data sub/../w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data /w", NULL,
         "--external-data /w: a name relative to the output's folder is needed"},
        {"in.onnx --external-data w/", NULL,
         "--external-data w/: a name relative to the output's folder is needed"},
        {"in.onnx --external-data -", NULL,
         "--external-data -: a name relative to the output's folder is needed"},
        {"in.onnx --external-data=", NULL,
         "--external-data : a name relative to the output's folder is needed"},
        {"in.onnx --external-data none/w", NULL,
         "none/w: cannot create: No such file or directory"},
        {"sub/in.onnx --external-data none/w", NULL,
         "sub/none/w: cannot create: No such file or directory"},
        {"run in.onnx --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"compare other in.onnx --json=in.onnx", NULL,
         "--json in.onnx: that is the input, which would be lost"},
        {"calibrate in.onnx -o in.onnx", NULL,
         "--output in.onnx: that is the input, which would be lost"},
        {"train in.onnx --log l --json=l", NULL, "--json and --log cannot both go to l"},
        {"train in.onnx -o l --log l", NULL, "--output and --log cannot both go to l"},
        {"run in.onnx --output-dir in.onnx", NULL,
         "in.onnx: cannot create the folder: Not a directory"},
        {"run in.onnx --output-dir none/d", NULL,
         "none/d: cannot create the folder: No such file or directory"},
        {"run in.onnx --output-dir sub", NULL, NULL},
        {"run in.onnx --output-dir new", NULL, NULL}};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    touch("in.onnx");
    touch("sub/in.onnx");
    touch("other");
    touch("taken.bf16.onnx");
    assert_int_equal(symlink("nowhere", "link.bf16.onnx"), 0);
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_error err;
        const char *path = NULL;
        enum amp_status status = find_places(rows[i].line, arena, &path, &err);
        if (strcmp(err.text, rows[i].text != NULL ? rows[i].text : "") != 0)
            fail_msg("%s: '%s'", rows[i].line, err.text);
        assert_int_equal(status != AMP_OK, rows[i].text != NULL);
        if (rows[i].path != NULL)
            assert_string_equal(path, rows[i].path);
    }
    amp_arena_destroy(arena);
}

/* A data file of the input stays, unless what replaces the input has its own in that place. */
static void data_files_of_the_input_stay(void **state)
{
    static const struct {
        const char *line, *path, *data_path, *text;
    } rows[] = {{"data.onnx -o out", "out", NULL, ""},
                {"data.onnx -o out", "out", "new", ""},
                {"data.onnx -o out", "out", "kept", ""},
                {"data.onnx", "out", "kept", "kept exists; use --force, or -o to name an output"},
                {"data.onnx -f", "out", "kept", ""},
                {"data.onnx -o out", "weights", NULL,
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "./weights", "new",
                 "./weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "out", "weights",
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -f", "out", "weights",
                 "weights is part of the input and would be lost; another name is needed"},
                {"data.onnx -f -o data.onnx", "data.onnx", "weights", ""},
                {"data.onnx -f -o data.onnx", "./data.onnx", "weights", ""},
                {"data.onnx -o out", "out", "data.onnx",
                 "data.onnx is part of the input and would be lost; another name is needed"},
                {"data.onnx -f -o data.onnx", "data.onnx", "./data.onnx",
                 "./data.onnx is part of the input and would be lost; another name is needed"},
                {"data.onnx -o out", "out", "none/new",
                 "none/new: cannot create: No such file or directory"}};
    struct amp_external *external = amp_external_create("data.onnx");
    struct amp_error err = {.status = AMP_OK};
    void *data;
    (void)state;
    touch("data.onnx");
    touch("weights");
    touch("kept");
    assert_int_equal(amp_external_map(external, &(struct amp_external_range){.location = "weights"},
                                      &data, &err),
                     AMP_OK);
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_options options;
        assert_int_equal(parse_line(rows[i].line, &options, &err), AMP_OK);
        enum amp_status status =
            amp_destination_check(&options, external, rows[i].path, rows[i].data_path, &err);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(status != AMP_OK, rows[i].text[0] != '\0');
        amp_command_line_free(&options);
    }
    amp_external_destroy(external);
}

/* ---- reports of failures ---- */

static char *content_of(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* ---- rules of a command line ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Has what is printed on stderr go to the file "said"; returns what it was. */
static int open_said(void)
{
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_non_null(freopen("said", "wb", stderr));
    return kept;
}

/* What was printed since, with stderr as it was. */
static const char *close_said(int kept)
{
    fflush(stderr);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    return content_of("said");
}

/* Loads the rules of LINE for DTYPE; what it says is TEXT, what it fails with FAILURE. */
static struct amp_rule_choice load_rules(const char *line, enum amp_dtype dtype,
                                         struct amp_arena *arena, const char *text,
                                         const char *failure)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_rule_choice choice;
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    int kept = open_said();
    enum amp_status status = amp_rule_options_load(&options, dtype, arena, &choice, &err);
    assert_string_equal(close_said(kept), text);
    assert_string_equal(err.text, failure);
    assert_int_equal(status != AMP_OK, failure[0] != '\0');
    amp_command_line_free(&options);
    return choice;
}

/* What has precedence comes last: sets by name, files, the environment's lists, those of options,
   operators, nodes; of words for the same the last. What the user gave has a place. */
static void rules_come_in_the_order_of_precedence(void **state)
{
    static const struct {
        const char *place;
        enum amp_precision precision;
    } last[] = {{NULL, AMP_LOWER},
                {NULL, AMP_FP32},
                {"--lower-ops more", AMP_LOWER},
                {"--lower-ops list", AMP_LOWER},
                {"--fp32-ops list", AMP_FP32},
                {"--op Conv=fp32", AMP_FP32},
                {"--op Relu=lower", AMP_LOWER},
                {"--node b=lower", AMP_LOWER},
                {"--node a=widest", AMP_WIDEST}};
    static const char *const names[] = {"torch-cuda", "torch-cpu", "./own.yaml", "./more.yaml"};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    unsetenv(amp_rule_variable_at(0));
    unsetenv(amp_rule_variable_at(1));
    assert_null(amp_rule_variable_at(2));
    write_text("own.yaml", "version: 1\nname: own\nrules:\n  - {precision: fp32, nodes: [zz]}\n");
    write_text("more.yaml", "version: 1\nname: m\nrules:\n  - {precision: fp32, nodes: [zz]}\n");
    write_text("list", "Conv\n");
    write_text("more", "Relu\n");
    for (int i = 0; i < 2; i++) {
        struct amp_rule_choice choice =
            load_rules("m", i == 0 ? AMP_BFLOAT16 : AMP_FLOAT16, arena, "", "");
        assert_int_equal(choice.n_names, 1);
        assert_string_equal(choice.names[0], i == 0 ? "torch-cpu" : "torch-cuda");
        for (size_t k = 0; k < choice.rules->count; k++)
            assert_null(choice.rules->items[k].place);
        amp_rules_destroy(choice.rules);
    }
    assert_int_equal(setenv("AMPCONV_LOWER_PRECISION_OPS_LIST", "list", 1), 0);
    assert_int_equal(setenv("AMPCONV_FP32_OPS_LIST", "list", 1), 0);
    struct amp_rule_choice choice =
        load_rules("m --node b=lower --op Conv=fp32 --fp32-ops list --lower-ops more -r ./own.yaml "
                   "-r torch-cuda --lower-ops list --op Relu=lower -r ./more.yaml -r torch-cpu "
                   "--node a=widest",
                   AMP_BFLOAT16, arena, "", "");
    assert_int_equal(choice.n_names, AMP_COUNT(names));
    for (size_t i = 0; i < AMP_COUNT(names); i++)
        assert_string_equal(choice.names[i], names[i]);
    const struct amp_rule *rules = choice.rules->items + choice.rules->count - AMP_COUNT(last);
    for (size_t i = 0; i < AMP_COUNT(last); i++) {
        assert_int_equal(rules[i].precision, last[i].precision);
        assert_string_equal(rules[i].place != NULL ? rules[i].place : "",
                            last[i].place != NULL ? last[i].place : "");
    }
    assert_string_equal(rules[-1].place, "./more.yaml:4");
    assert_string_equal(rules[-2].place, "./own.yaml:4");
    amp_rules_destroy(choice.rules);

    /* What is wrong with one of the environment is said with the variable's name; "" is none. */
    assert_int_equal(setenv("AMPCONV_LOWER_PRECISION_OPS_LIST", "", 1), 0);
    assert_int_equal(setenv("AMPCONV_FP32_OPS_LIST", "nowhere", 1), 0);
    amp_rules_destroy(load_rules("m", AMP_BFLOAT16, arena, "",
                                 "AMPCONV_FP32_OPS_LIST: nowhere: cannot open: No such file or "
                                 "directory")
                          .rules);
    unsetenv("AMPCONV_LOWER_PRECISION_OPS_LIST");
    unsetenv("AMPCONV_FP32_OPS_LIST");
    static const struct said wrong[] = {
        {"m --node a=b", "unknown precision 'b'; accepted: follow, lower, fp32, bf16, fp16, "
                         "widest, infer, clear"},
        {"m --node a", "--node a: PATTERN=PRECISION is needed"},
        {"m --op Konv=fp32", "unknown operator 'Konv' (did you mean 'Conv'?); accepted: an "
                             "operator of ONNX or PyTorch, or DOMAIN::NAME of another domain"},
        {"m --lower-ops nowhere", "nowhere: cannot open: No such file or directory"},
        {"m --fp32-ops nowhere", "nowhere: cannot open: No such file or directory"},
        {"m -r nowhere",
         "unknown rule set 'nowhere'; accepted: fast, gaudi, neural-compressor, ort-float16, "
         "tensorflow, torch-autocast-xpu, torch-cpu, torch-cuda, torch-xpu, or a file FILE.yaml"}};
    for (size_t i = 0; i < AMP_COUNT(wrong); i++)
        amp_rules_destroy(load_rules(wrong[i].line, AMP_BFLOAT16, arena, "", wrong[i].text).rules);

    /* What is to be known of the loading is said, unless the user wants nothing said. */
    assert_int_equal(setenv("LOWER_LIST", "list", 1), 0);
    amp_rules_destroy(load_rules("m -r gaudi", AMP_BFLOAT16, arena,
                                 "ampconv: warning: LOWER_LIST is deprecated; use "
                                 "PT_HPU_AUTOCAST_LOWER_PRECISION_OPS_LIST\n",
                                 "")
                          .rules);
    amp_rules_destroy(load_rules("m -q -r gaudi", AMP_BFLOAT16, arena, "", "").rules);
    unsetenv("LOWER_LIST");
    amp_arena_destroy(arena);
}

/* What the rules of LINE say of the model in FILE, or fail with. */
static void assert_unmatched(const struct amp_model_file *file, const char *line, const char *said,
                             const char *failure)
{
    struct amp_options options;
    struct amp_error err;
    struct amp_rule_choice choice;
    struct amp_arena *arena = amp_arena_create();
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    assert_int_equal(amp_rule_options_load(&options, AMP_BFLOAT16, arena, &choice, &err), AMP_OK);
    int kept = open_said();
    enum amp_status status =
        amp_rule_options_check(&options, file, choice.rules, AMP_BFLOAT16, &err);
    const char *text = close_said(kept);
    if (strcmp(text, said) != 0 || strcmp(err.text, failure) != 0)
        fail_msg("%s: '%s', '%s'", line, text, err.text);
    assert_int_equal(status, failure[0] != '\0' ? AMP_RULES : AMP_OK);
    amp_rules_destroy(choice.rules);
    amp_command_line_free(&options);
    amp_arena_destroy(arena);
}

/* Which of the user's own rules match nothing is said of ten, or of the first where that is an
   error; how many more there are, in number. The nodes of an algorithm count. */
static void rules_that_match_nothing_are_said(void **state)
{
    const char *cases = getenv("CASES");
    char path[2048], line[1024], text[4096];
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    unsigned char bytes[] = "no model";
    (void)state;
    assert_non_null(cases);
    unsetenv("AMPCONV_LOWER_PRECISION_OPS_LIST");
    unsetenv("AMPCONV_FP32_OPS_LIST");
    snprintf(path, sizeof path, "%s/training/names/model.onnx", cases);
    assert_int_equal(amp_model_read(path, &file, &err), AMP_OK);
    file.model->path = "m";
    file.path = "m";
    assert_unmatched(&file, "m --node second=fp32 --op MatMul=fp32 --node Cast/x_bf16=fp32", "",
                     "");
    assert_unmatched(&file, "m --op Conv=fp32",
                     "ampconv: warning: --op Conv=fp32: no node of m matches\n", "");
    assert_unmatched(&file, "m --node secnd=fp32",
                     "ampconv: warning: --node secnd=fp32: no node of m matches; the nearest name "
                     "is 'second'\n",
                     "");
    write_text("own.yaml", "version: 1\nname: own\nrules:\n  - {precision: fp32, nodes: [77]}\n");
    assert_unmatched(&file, "m -r ./own.yaml",
                     "ampconv: warning: ./own.yaml:4: no node of m matches\n", "");
    for (size_t n = 1; n <= 12; n++) {
        const char *word = n == 11 ? "rule that matches nothing" : "rules that match nothing";
        size_t used = (size_t)snprintf(line, sizeof line, "m --node first=fp32"), written = 0;
        for (size_t i = 0; i < n; i++) {
            used +=
                (size_t)snprintf(line + used, sizeof line - used, " --node qqqqqq%zu=fp32", 70 + i);
            if (i < 10)
                written += (size_t)snprintf(
                    text + written, sizeof text - written,
                    "ampconv: warning: --node qqqqqq%zu=fp32: no node of m matches\n", 70 + i);
        }
        if (n > 10)
            snprintf(text + written, sizeof text - written, "ampconv: warning: %zu more %s\n",
                     n - 10, word);
        assert_unmatched(&file, line, text, "");
        snprintf(line + used, sizeof line - used, " -q");
        assert_unmatched(&file, line, "", "");
        snprintf(line + used, sizeof line - used, " --strict-rules");
        if (n == 1)
            snprintf(text, sizeof text, "--node qqqqqq70=fp32: no node of m matches");
        else
            snprintf(text, sizeof text,
                     "--node qqqqqq70=fp32: no node of m matches (and %zu more %s)", n - 1,
                     n == 2 ? "rule that matches nothing" : "rules that match nothing");
        assert_unmatched(&file, line, "", text);
        snprintf(line + used, sizeof line - used, " --strict-rules -q");
        assert_unmatched(&file, line, "", text);
    }
    assert_unmatched(&file, "m --node first=fp32 --strict-rules", "", "");
    amp_model_close(&file);
    const struct amp_model_file broken = {.path = "m", .bytes = {bytes, sizeof bytes}};
    assert_unmatched(&broken, "m --node x=fp32", "", "");
}

static void assert_same_number(double a, double b)
{
    assert_true(isnan(a) ? isnan(b) : a == b);
}

/* Runs LINE, behind COMMAND and the model MODEL of the cases; what it says on stderr. */
static const char *said_by(const char *command, const char *model, const char *line,
                           enum amp_status status)
{
    struct amp_options options;
    struct amp_error err;
    char all[4096];
    assert_non_null(getenv("CASES"));
    snprintf(all, sizeof all, "%s %s/%s %s", command, getenv("CASES"), model, line);
    if (parse_line(all, &options, &err) != AMP_OK)
        fail_msg("%s: '%s'", all, err.text);
    int kept = open_said();
    size_t used = amp_memory_used();
    enum amp_status found = commands[options.command](&options, &err);
    const char *text = close_said(kept);
    assert_int_equal(amp_memory_used(), used); /* no tensor stays */
    amp_command_line_free(&options);
    if (found != status)
        fail_msg("%s: '%s'", all, err.text);
    return text;
}

/* The metric NAME of the first output in the report "r.json"; NaN: it has none. */
static double metric_of(const char *name)
{
    json_t *root = json_load_file("r.json", 0, NULL);
    const json_t *output = json_array_get(json_object_get(root, "outputs"), 0);
    const json_t *value = json_object_get(json_object_get(output, "metrics"), name);
    double number = value != NULL ? json_number_value(value) : NAN;
    json_decref(root);
    return number;
}

/* Products with weights are scores; others are where a bound wants them to be. Folders for outputs
   are as open as the user's mask lets them be. */
static void runs_compare_what_is_expected(void **state)
{
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1};
    struct stat info;
    (void)state;
    net_start(22);
    save("rows.npy", AMP_FLOAT, DIMS(2, 8), x);
    mode_t mask = umask(0);
    said_by("run", "validate/scores.onnx", "-q -i x=rows.npy --output-dir outputs", AMP_OK);
    umask(mask);
    assert_int_equal(stat("outputs", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0777);
    said_by("run", "validate/scores.onnx", "-q -i x=rows.npy --expect outputs --json=r.json",
            AMP_OK);
    assert_true(metric_of("top1") == 1);
    assert_true(metric_of("max_abs") == 0);
    said_by("run", "validate/scores.onnx",
            "-q -i x=rows.npy --expect outputs --json=r.json -t max_abs=0 -t atol=0", AMP_OK);
    assert_non_null(
        strstr(said_by("run", "validate/scores.onnx", "-i x=rows.npy --expect outputs", AMP_OK),
               "1 tensor compared: within tolerance"));
    /* What has targets is no score. */
    save("targets.npy", AMP_FLOAT, DIMS(2, 4), x);
    said_by("run", "validate/scores.onnx",
            "-q -i x=rows.npy --expect outputs --labels targets.npy --json=r.json", AMP_OK);
    assert_true(isnan(metric_of("top1")));
    /* What is NaN in both is equal, and tells nothing of a metric. */
    float nothing[16];
    for (size_t i = 0; i < 16; i++)
        nothing[i] = NAN;
    save("nan.npy", AMP_FLOAT, DIMS(2, 8), nothing);
    said_by("run", "validate/scores.onnx", "-q -i x=nan.npy --output-dir outputs", AMP_OK);
    said_by("run", "validate/scores.onnx", "-q -i x=nan.npy --expect outputs", AMP_OK);
    said_by("run", "validate/scores.onnx", "-q -i x=nan.npy --expect outputs -t max_abs=1",
            AMP_MISMATCH);
    /* An output that cannot be written ends all, also where others follow. */
    assert_int_equal(mkdir("taken", 0777) | mkdir("taken/scores.npy", 0777), 0);
    said_by("run", "validate/classes.onnx", "-q -i x=rows.npy --output-dir taken", AMP_IO);
    /* Nor is anything said of outputs without expected values, and sums are scores where a bound
       is on these. */
    said_by("run", "validate/scores.onnx", "-q -i x=rows.npy --output-dir outputs", AMP_OK);
    said_by("run", "validate/classes.onnx", "-q -i x=rows.npy --expect outputs -t snr=90", AMP_OK);
    for (int i = 0; i < 2; i++) {
        char line[1024];
        snprintf(line, sizeof line, "-q --data %s/run/data_sets/data --json=r.json -t %s",
                 getenv("CASES"), i == 0 ? "max_abs=0" : "top1=1");
        said_by("run", "run/data_sets/model.onnx", line, AMP_OK);
        assert_same_number(metric_of("top1"), i == 0 ? (double)NAN : 1);
    }
    /* What newer operators would take is a warning, unless the user wants none. */
    const char *said = said_by("run", "read/types_of_newer_versions/model.onnx", "", AMP_OK);
    assert_int_equal(strncmp(said, "ampconv: warning: ", strlen("ampconv: warning: ")), 0);
    assert_string_equal(said_by("run", "read/types_of_newer_versions/model.onnx", "-q", AMP_OK),
                        "");
}

/* The first model, sample or test that fails is told, also where others follow that do not. */
static void failures_end_what_follows(void **state)
{
    const char *cases = getenv("CASES");
    char line[2048];
    struct amp_options options;
    struct amp_error err;
    json_t *root;
    (void)state;
    assert_non_null(cases);
    snprintf(line, sizeof line,
             "mkdir -p late/first late/good && cp -r %s/run/data_sets/data rows_of_sets && "
             "for i in first good; do cp -r %s/run/data_sets/model.onnx rows_of_sets/* late/$i; "
             "done && chmod -R u+w late rows_of_sets",
             cases, cases);
    assert_int_equal(system(line), 0);
    write_text("rows_of_sets/test_data_set_0/input_0.pb", "no tensor");
    write_text("late/first/test_data_set_0/input_0.pb", "no tensor");
    said_by("run", "run/data_sets/model.onnx", "-q --data rows_of_sets", AMP_MODEL);
    said_by("run", "run/data_sets/model.onnx", "-q --data late/good", AMP_OK);
    snprintf(line, sizeof line,
             "bench nowhere.onnx %s/run/data_sets/model.onnx --runs 1 --json=b.json", cases);
    assert_int_equal(parse_line(line, &options, &err), AMP_OK);
    assert_int_equal(amp_command_bench(&options, &err), AMP_IO);
    assert_string_equal(err.text, "nowhere.onnx: cannot open: No such file or directory");
    assert_int_not_equal(access("b.json", F_OK), 0);
    amp_command_line_free(&options);
    assert_int_equal(parse_line("run --test-suite late -q --json=late.json", &options, &err),
                     AMP_OK);
    size_t used = amp_memory_used();
    assert_int_equal(amp_command_run(&options, &err), AMP_MISMATCH);
    assert_int_equal(amp_memory_used(), used);
    assert_string_equal(err.text, "1 of 2 cases failed");
    amp_command_line_free(&options);
    root = json_load_file("late.json", 0, NULL);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(root, "cases"), 0), "result")),
                        "failed");
    json_decref(root);
}

/* A command that is to end all goes before a verdict, one that does not pass a model behind it. */
static void commands_go_before_verdicts(void **state)
{
    static const enum amp_status statuses[] = {AMP_MISMATCH, AMP_IO, AMP_MISMATCH};
    static const char *const codes[] = {"1", "126", "0"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char judge[64];
        remove("once");
        snprintf(judge, sizeof judge, "test -e once && exit %s\ntouch once\n", codes[i]);
        write_text("judge", judge);
        said_by("", "validate/scores.onnx",
                "-q -d bf16 -t snr=200 --eval=sh<judge -f -o judged.onnx", statuses[i]);
        assert_int_not_equal(access("judged.onnx", F_OK), 0);
    }
}

/* The table of times goes to stdout, or to stderr where the report goes there; none for who wants
   it quiet. */
static void times_have_a_stream(void **state)
{
    static const char *const words[] = {"--json -", "--json=b.json", "", "-q --json -",
                                        "--json - --profile"};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char line[256];
        snprintf(line, sizeof line, "-d fp32 --dim rows=1 --runs 1 %s", words[i]);
        fflush(stdout);
        int kept = dup(STDOUT_FILENO);
        FILE *nowhere = fopen("/dev/null", "wb");
        assert_non_null(nowhere);
        assert_int_equal(dup2(fileno(nowhere), STDOUT_FILENO), STDOUT_FILENO);
        const char *said = said_by("bench", "run/data_sets/model.onnx", line, AMP_OK);
        fflush(stdout);
        assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
        close(kept);
        fclose(nowhere);
        assert_int_equal(strstr(said, "fp32") != NULL, i == 0 || i == 4);
        assert_int_equal(said[0] != '\0', i == 0 || i == 4);
        const char *profile = strstr(said, " ms in nodes; ");
        assert_int_equal(profile != NULL, i == 4);
        assert_null(i == 4 ? strstr(profile + 1, " ms in nodes; ") : NULL);
    }
}

/* What a recipe leaves out is as PyTorch's AdamW and the manual have it. */
static void recipes_have_defaults(void **state)
{
    static const char *const recipes[] = {
        "loss=mse,optimizer=adamw", "loss=mse,optimizer=adamw,lr=1e-3,weight_decay=0.01",
        "loss=mse,optimizer=adamw,lr=2e-3", "loss=mse,optimizer=adamw,weight_decay=0"};
    char line[1024], *texts[4];
    size_t sizes[4];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(line, sizeof line,
                 "-q --make-training %s --data %s/training/train_made_adamw/data --steps 2 -o "
                 "made.onnx",
                 recipes[i], getenv("CASES"));
        said_by("train", "training/train_made_adamw/model.onnx", line, AMP_OK);
        FILE *file = fopen("made.onnx", "rb");
        assert_non_null(file);
        texts[i] = malloc(1 << 16);
        sizes[i] = fread(texts[i], 1, 1 << 16, file);
        assert_in_range(sizes[i], 1, (1 << 16) - 1);
        fclose(file);
    }
    assert_int_equal(sizes[1], sizes[0]);
    assert_memory_equal(texts[1], texts[0], sizes[0]);
    for (size_t i = 2; i < 4; i++)
        assert_true(sizes[i] != sizes[0] || memcmp(texts[i], texts[0], sizes[0]) != 0);
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
    const char *said =
        said_by("train", "training/train_sgd/model.onnx", "--expand -o step.onnx", AMP_OK);
    assert_non_null(strstr(said, "  training   a step as "));
    assert_string_equal(
        said_by("train", "training/train_sgd/model.onnx", "--expand -q -o step.onnx", AMP_OK), "");
}

/* What is made of a model for training is said where it is not what was asked for to the letter. */
static void training_is_said_or_not(void **state)
{
    static const char folder[] = "training/train_made_cross_entropy_of_softmax";
    char model[128], line[1024];
    (void)state;
    snprintf(model, sizeof model, "%s/model.onnx", folder);
    snprintf(line, sizeof line,
             "--make-training loss=cross_entropy,optimizer=sgd,lr=1 --data %s/%s/data --steps 1",
             getenv("CASES"), folder);
    assert_string_equal(
        said_by("train", model, line, AMP_OK),
        "  training   loss=cross_entropy is of what the Softmax at the output takes\n"
        "  training   1 step, 3 initializers; loss 0.693147 at first, 0.693147 at last\n");
    strcat(line, " -q");
    assert_string_equal(said_by("train", model, line, AMP_OK), "");
    strcat(line, " -v");
    assert_string_equal(said_by("train", model, line, AMP_OK), "step 1: loss 0.693147\n");
    /* A step is a line of the log. */
    snprintf(line, sizeof line, "-q --data %s/training/train_sgd/data --steps 2 --log steps.jsonl",
             getenv("CASES"));
    said_by("train", "training/train_sgd/model.onnx", line, AMP_OK);
    struct stat info;
    assert_int_equal(stat("steps.jsonl", &info), 0);
    const char *log = content_of("steps.jsonl");
    assert_int_equal(strlen(log), info.st_size);
    const char *second = strstr(log, "}\n{\"step\":2,");
    assert_non_null(second);
    assert_string_equal(strchr(second + 2, '}'), "}\n");
    /* An epoch is every sample once, none of them nothing. */
    for (int i = 0; i < 4; i++) {
        static const char *const words[] = {"--epochs 0", "--epochs 1", "--epochs 2", ""};
        static const char *const steps[] = {"0 steps", "1 step,", "2 steps", "1 step,"};
        snprintf(line, sizeof line, "--data %s/training/train_sgd/data %s", getenv("CASES"),
                 words[i]);
        assert_non_null(
            strstr(said_by("train", "training/train_sgd/model.onnx", line, AMP_OK), steps[i]));
    }
    /* Gradients are scaled for float16, and for bfloat16 where that is asked for. */
    for (int i = 0; i < 5; i++) {
        static const char *const words[] = {"-d bf16", "-d fp16", "-d bf16 --grad-scaler on",
                                            "-d fp16 --grad-scaler off",
                                            "-d bf16 --grad-scaler init_scale=8"};
        static const double scales[] = {0, 65536, 65536, 0, 8};
        snprintf(line, sizeof line, "%s -q -f -o scaled.onnx --no-validate --json=r.json",
                 words[i]);
        said_by("", "training/train_sgd/model.onnx", line, AMP_OK);
        json_t *root = json_load_file("r.json", 0, NULL);
        const json_t *training = json_object_get(root, "training");
        assert_true(json_number_value(json_object_get(training, "init_scale")) == scales[i]);
        json_decref(root);
    }
    /* Steps without numbers have none to be said. */
    assert_string_equal(said_by("train", "training/names/model.onnx", "-q -v --steps 2", AMP_OK),
                        "");
    /* A sample that cannot be read ends all, also where others follow. */
    snprintf(line, sizeof line,
             "mkdir steps && for i in 0 1 2; do cp -r %s/training/train_sgd/data "
             "steps/test_data_set_$i; done && chmod -R u+w steps",
             getenv("CASES"));
    assert_int_equal(system(line), 0);
    write_text("steps/test_data_set_1/input_0.pb", "no tensor");
    said_by("train", "training/train_sgd/model.onnx", "-q --data steps -o never.onnx", AMP_MODEL);
    said_by("train", "training/train_sgd/model.onnx", "-q --data steps --batch 1 -o never.onnx",
            AMP_MODEL);
    assert_int_not_equal(access("never.onnx", F_OK), 0);
}

/* What LINE fails with is reported once, and not in the place of what the user named. */
static void failures_are_reported_where_nothing_is_lost(void **state)
{
    static const char *const taken[] = {"./r.json --json=r.json",
                                        "m r.json --json=./r.json --output-dir d",
                                        "m --data r.json --json=r.json",
                                        "m --data x --data ./r.json --json=r.json",
                                        "m --ranges r.json --json=./r.json",
                                        "m -o r.json --json=r.json",
                                        "m -o ./r.json --json=r.json",
                                        "m --report r.json --json=r.json",
                                        "m -o - --json",
                                        "m --report - --json",
                                        "m --explain=json --json",
                                        "m --explain=noise --json",
                                        "m --output-dir d",
                                        "m"};
    const struct amp_error failed = {.status = AMP_MODEL, .text = "no model"};
    struct amp_options options;
    struct amp_error err;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(taken); i++) {
        FILE *file = fopen("r.json", "wb");
        fputs("mine", file);
        fclose(file);
        AMP_IGNORE(parse_line(taken[i], &options, &err));
        amp_report_failure(&options, &failed);
        amp_command_line_free(&options);
        assert_string_equal(content_of("r.json"), "mine");
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(parse_line("m n -o out --output-dir d --data x --ranges y --report z "
                                    "--json=r.json",
                                    &options, &err),
                         AMP_USAGE);
        amp_report_failure(&options, &failed);
        amp_command_line_free(&options);
        if (i == 0) {
            json_t *root = json_loads(content_of("r.json"), 0, NULL);
            char *text = amp_json_dump(root, JSON_COMPACT);
            assert_string_equal(
                text, "{\"tool\":{\"name\":\"ampconv\",\"version\":\"" AMP_VERSION
                      "\"},\"report\":\"failure\",\"exit_code\":3,\"error\":{\"status\":\"model\","
                      "\"message\":\"no model\"},\"operands\":[\"m\",\"n\"]}");
            free(text);
            assert_int_equal(remove("r.json"), 0);
        } else {
            assert_null(content_of("r.json"));
        }
    }
}

/* ---- completion ---- */

/* What a shell offers for an option follows from the form of its argument and the tables. */
static void options_have_values_to_complete(void **state)
{
    static const struct {
        const char *option, *words, *behind; /* of long lists the beginnings */
        bool is_pair, is_bare;
        enum amp_option_path path;
    } rows[] = {
        {"dtype", "bf16 fp16 fp32", "", false, false, AMP_PATH_NONE},
        {"opset", "auto keep", "", false, false, AMP_PATH_NONE},
        {"io", "keep lower", "keep lower", true, true, AMP_PATH_NONE},
        {"cast-cache", "on off", "", false, false, AMP_PATH_NONE},
        {"grad-scaler", "on off", "", false, false, AMP_PATH_NONE},
        {"target", "", "", false, false, AMP_PATH_NONE},
        {"output", "", "", false, false, AMP_PATH_FILE},
        {"output-dir", "", "", false, false, AMP_PATH_FOLDER},
        {"explain", "text json noise", "", false, false, AMP_PATH_NONE},
        {"external-data", "", "", false, false, AMP_PATH_FILE},
        {"dump-after", "read infer opset assign insert fold", "", false, false, AMP_PATH_NONE},
        {"rules", "fast gaudi ", "", false, false, AMP_PATH_FILE},
        {"node", "", "follow lower fp32 bf16 fp16 widest infer clear", true, false, AMP_PATH_NONE},
        {"op", "Abs Acos Acosh Add ", "follow lower fp32 bf16 fp16 widest infer clear", true, false,
         AMP_PATH_NONE},
        {"input", "", "", true, false, AMP_PATH_FILE},
        {"data", "", "", false, false, AMP_PATH_FILE},
        {"dim", "", "", true, false, AMP_PATH_NONE},
        {"labels", "", "", true, true, AMP_PATH_FILE},
        {"tolerance", "max_abs mean_abs ", "", true, false, AMP_PATH_NONE},
        {"tune-for", "time bytes nodes", "", false, false, AMP_PATH_NONE},
        {"strategy", "min-cut ", "", false, false, AMP_PATH_NONE},
        {"format", "npy pb", "", false, false, AMP_PATH_NONE},
        {"expect", "", "", false, false, AMP_PATH_FOLDER},
        {"sort", "graph local accumulated", "", false, false, AMP_PATH_NONE},
        {"json", "", "", false, false, AMP_PATH_FILE},
        {"seed", "", "", false, false, AMP_PATH_NONE}};
    struct amp_arena *arena = amp_arena_create();
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        const struct amp_option *option =
            amp_option_find(rows[i].option, strlen(rows[i].option), AMP_CMD_CONVERT);
        assert_non_null(option);
        struct amp_option_values values = amp_option_values(option, arena);
        size_t length = strlen(rows[i].words);
        bool is_begun = length > 0 && rows[i].words[length - 1] == ' ';
        if (strncmp(values.words, rows[i].words, length) != 0 ||
            (!is_begun && values.words[length] != '\0'))
            fail_msg("--%s: '%.100s'", rows[i].option, values.words);
        assert_string_equal(values.behind, rows[i].behind);
        assert_int_equal(values.is_pair, rows[i].is_pair);
        assert_int_equal(values.is_bare, rows[i].is_bare);
        assert_int_equal(values.path, rows[i].path);
        if (strcmp(rows[i].option, "op") == 0) {
            assert_null(strstr(values.words, " Add Add "));
            assert_null(strstr(values.words, "FusedMatMul"));
        }
    }
    amp_arena_destroy(arena);
}

/* ---- validations ---- */

/* The coarsest of the dtypes counts: bfloat16 before float16 before float32. */
static void the_coarsest_dtype_counts(void **state)
{
    static const struct {
        enum amp_dtype from, values[2], coarsest;
    } rows[] = {{AMP_FLOAT, {AMP_FLOAT, AMP_INT64}, AMP_FLOAT},
                {AMP_FLOAT, {AMP_FLOAT, AMP_FLOAT16}, AMP_FLOAT16},
                {AMP_FLOAT, {AMP_FLOAT16, AMP_BFLOAT16}, AMP_BFLOAT16},
                {AMP_FLOAT, {AMP_BFLOAT16, AMP_FLOAT16}, AMP_BFLOAT16},
                {AMP_BFLOAT16, {AMP_FLOAT, AMP_FLOAT16}, AMP_BFLOAT16},
                {AMP_FLOAT16, {AMP_FLOAT, AMP_FLOAT}, AMP_FLOAT16},
                {AMP_FLOAT16, {AMP_FLOAT, AMP_BFLOAT16}, AMP_BFLOAT16}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        net_start(22);
        input("x", rows[i].values[0], DIMS(2));
        input("y", rows[i].values[1], DIMS(2));
        assert_int_equal(amp_validation_coarsest(rows[i].from, net.model), rows[i].coarsest);
    }
}

static void random_inputs_are_pointed_at(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        enum amp_status status = i < 2 ? AMP_MISMATCH : AMP_MODEL;
        struct amp_input_notes notes = {.are_random = i % 2 == 0};
        struct amp_error err = {.status = status, .text = "far"};
        assert_int_equal(amp_validation_suggest(&notes, status, &err), status);
        assert_string_equal(err.text,
                            i == 0 ? "far; on random inputs: --data runs real ones" : "far");
    }
}

/* What a command said of a model before is a verdict, unless there is one. */
static void known_verdicts_count(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool is_outside = (i & 1) != 0, was_within = (i & 2) != 0, has_failed = (i & 4) != 0;
        struct amp_eval_check check = {.is_outside = is_outside, .reason = "worse"};
        struct amp_validation result = {.is_within = was_within};
        struct amp_error err = {.status = AMP_OK};
        if (has_failed)
            err = (struct amp_error){.status = AMP_MISMATCH, .text = "far"};
        enum amp_status status = amp_validation_eval_known(&check, &result, &err);
        assert_int_equal(status, has_failed || is_outside ? AMP_MISMATCH : AMP_OK);
        assert_int_equal(err.status, status);
        assert_string_equal(err.text, has_failed ? "far" : is_outside ? "worse" : "");
        assert_int_equal(result.is_within, was_within && !is_outside);
        assert_ptr_equal(result.eval, &check);
    }
}

/* ---- what a search is of --------------------------------------------------------------------- */

/* Of the model above, of the settings and the data below. */
static void searches_have_keys(void **state)
{
    const struct amp_tune_origin first = {.model = 0x89abcdef, .data = 1, .settings = " --io=keep"};
    struct amp_tune_origin other = first;
    (void)state;
    assert_true(amp_tune_origin_key(&first) >> 32 == 0x89abcdef);
    assert_int_equal(amp_tune_origin_key(&first) & UINT32_MAX, amp_hash_fnv(" --io=keep", 10, 1));
    other.data = 2;
    assert_true(amp_tune_origin_key(&other) != amp_tune_origin_key(&first));
    other = first;
    other.settings = " --io=lower";
    assert_true(amp_tune_origin_key(&other) != amp_tune_origin_key(&first));
}

static void expect_notes(const struct amp_tuning *tuning, const char *low, const char *answer)
{
    const char *model = "m.onnx";
    const struct amp_options options = {.operands = {.items = &model, .count = 1}};
    const struct amp_tune_origin origin = {
        .options = &options, .model = 0xab, .data = 0x89abcdef, .settings = " --io=keep"};
    size_t n;
    struct amp_arena *arena = amp_arena_create();
    const char *const *notes = amp_tune_origin_notes(&origin, tuning, arena, &n);
    assert_int_equal(n, 5);
    assert_string_equal(notes[0],
                        "Found by ampconv " AMP_VERSION " with --tune (min-cut, 7 trials).");
    assert_string_equal(notes[1], "model: m.onnx, FNV-1a 000000ab; samples: FNV-1a 89abcdef");
    assert_string_equal(notes[2], "settings: --io=keep");
    assert_string_equal(notes[3], low);
    assert_string_equal(notes[4], answer);
    amp_arena_destroy(arena);
}

/* With a score where there is one; without an error there is no end to how far it is below. */
static void searches_say_what_they_are_of(void **state)
{
    struct amp_trial low = {.measured = 100, .score = NAN},
                     answer = {.measured = 0.01, .score = NAN};
    struct amp_trial *items[] = {&low};
    const struct amp_tuning tuning = {
        .strategy = amp_strategy_at(0), .trials = {.items = items, .count = 7}, .answer = &answer};
    (void)state;
    expect_notes(&tuning, "all low: error -20.0 dB below the outputs",
                 "this: error 20.0 dB below the outputs");
    low.score = 0;
    answer.measured = 0;
    answer.score = -0.125;
    expect_notes(&tuning, "all low: error -20.0 dB below the outputs, score 0",
                 "this: error inf dB below the outputs, score -0.125");
}

static void origins_are_for_files(void **state)
{
    (void)state;
    assert_false(amp_tune_origin_is_wanted(&(struct amp_options){.jobs = 1}));
    assert_true(amp_tune_origin_is_wanted(&(struct amp_options){.tune_log = "l"}));
    assert_true(amp_tune_origin_is_wanted(&(struct amp_options){.rules_out = "r"}));
}

/* Gives OPTIONS a value for OPTION. */
static void give(struct amp_options *options, const struct amp_option *option)
{
    static const char *bound[] = {"snr>=20"}, *pair[] = {"snr=20"};
    bool is_bound = option->argument != NULL && strstr(option->argument, ">=") != NULL;
    char *field = (char *)options + option->offset;
    if (option->kind == AMP_OPTION_FLAG)
        *(bool *)field = true;
    else if (option->kind == AMP_OPTION_COUNT)
        *(int *)field = 1;
    else if (option->kind == AMP_OPTION_NUMBER || option->kind == AMP_OPTION_SIZE)
        *(int64_t *)field = 3;
    else if (option->kind == AMP_OPTION_LIST)
        *(struct amp_texts *)field =
            (struct amp_texts){.items = is_bound ? bound : pair, .count = 1};
    else
        *(const char **)field = "a";
}

/* The settings of a search that is called with OPTION, on data that are not there. */
static const char *settings_with(const struct amp_option *option, struct amp_arena *arena)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_options options, given;
    struct amp_graph graph = {.name = ""};
    struct amp_model model = {.arena = arena, .graphs = &graph, .n_graphs = 1};
    unsigned char bytes[] = {'m'};
    const struct amp_model_file file = {.bytes = {bytes, 1}, .arena = arena};
    struct amp_tune_origin origin;
    char command[] = "ampconv", path[] = "m.onnx", data[] = "--data=/none";
    char *argv[] = {command, path, data, NULL};
    assert_int_equal(amp_command_line_parse(3, argv, &options, &err), AMP_OK);
    given = options;
    give(&given, option);
    assert_int_not_equal(amp_tune_origin_find(&given, &file, &model, &origin, &err), AMP_OK);
    assert_int_equal(origin.model, amp_hash_fnv("m", 1, 0));
    amp_command_line_free(&options);
    return origin.settings;
}

/* What changes an answer is among the settings, by which a log is another search's: neither where
   things are written to, nor how much is run at once, nor what is said. */
static void settings_are_what_changes_answers(void **state)
{
    static const char expected[] =
        " dtype opset io cast-cache grad-scaler target rules node op lower-ops fp32-ops "
        "strict-rules input "
        "samples "
        "seed "
        "dim input-shape input-range labels eval eval-lower eval-timeout tolerance ranges target "
        "max-drop tune-for strategy costs";
    struct amp_arena *arena = amp_arena_create();
    const struct amp_option *option;
    const char *found = "";
    (void)state;
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++) {
        if ((option->commands & AMP_CMD_CONVERT) == 0 || strcmp(option->name, "data") == 0)
            continue;
        const char *settings = settings_with(option, arena);
        const char *name = amp_arena_printf(arena, " --%s", option->name);
        assert_non_null(strstr(settings, " --data=/none"));
        if (strstr(settings, name) != NULL)
            found = amp_arena_printf(arena, "%s %s", found, option->name);
    }
    assert_string_equal(found, expected);
    amp_arena_destroy(arena);
}

/* ---- candidates as processes ----------------------------------------------------------------- */

/* What reports of candidates say, by an engine that does not run them: it keeps the list of the
   commands and writes the same report for each. */
static const char engine[] =
    "cp {} list; sed 's/.* --json=\\([^ ]*\\) .*/\\1/' {} | while read -r path; "
    "do cp report \"$path\"; done; exit 3";

static enum amp_status write_nothing(void *context, const struct amp_trial *trial, const char *path,
                                     struct amp_error *err)
{
    (void)context, (void)trial, (void)path, (void)err;
    return AMP_OK;
}

/* Has COMMAND run N candidates in place of an engine. */
static enum amp_status run_jobs(const char *command, struct amp_eval_outcome reference,
                                bool is_lower, struct amp_trial *trials, size_t n,
                                struct amp_error *err)
{
    const char *model = "a model.onnx";
    const struct amp_options options = {.operands = {.items = &model, .count = 1},
                                        .trials_via = command,
                                        .is_eval_lower = is_lower};
    const struct amp_tune_jobs jobs = {
        .options = &options, .reference = &reference, .write = write_nothing};
    struct amp_trial *items[2] = {trials, trials + 1};
    *err = (struct amp_error){.status = AMP_OK};
    return amp_tune_jobs_run(&jobs, items, n, err);
}

static void reports_become_trials(void **state)
{
    static const char seconds[] = "\"seconds\":{\"reference\":1,\"converted\":2}";
    static const struct {
        const char *text;
        bool is_lower;
        enum amp_trial_verdict verdict;
        double measured, score, seconds;
        const char *reason;
    } cases[] = {
        {"\"within\":true,\"error_power\":0.25", false, AMP_TRIAL_MET, 0.25, NAN, 3, ""},
        {"\"within\":false,\"error_power\":null,\"reason\":\"snr\"", false, AMP_TRIAL_MISSED,
         INFINITY, NAN, 3, "outside tolerance: snr"},
        {"\"within\":true,\"eval\":{\"converted\":{\"verdict\":\"unsure\",\"seconds\":4}}", false,
         AMP_TRIAL_UNSURE, INFINITY, NAN, 7, ""},
        {"\"within\":true,\"eval\":{\"converted\":{\"verdict\":\"scored\",\"score\":0.5,"
         "\"seconds\":4}}",
         false, AMP_TRIAL_MET, INFINITY, 0.5, 7, ""},
        {"\"within\":true,\"eval\":{\"converted\":{\"verdict\":\"scored\",\"score\":0.5,"
         "\"seconds\":4}},\"tasks\":[{\"metrics\":{\"accuracy\":{\"converted\":0.75}}}]",
         true, AMP_TRIAL_MET, INFINITY, -0.5, 7, ""},
        {"\"within\":true,\"error_power\":0,\"tasks\":[{\"metrics\":{\"accuracy\":{\"converted\":"
         "null}}},"
         "{\"metrics\":{\"rmse\":{\"converted\":7},\"top5\":{\"converted\":0.75}}},"
         "{\"metrics\":{\"accuracy\":{\"converted\":0.25}}}]",
         false, AMP_TRIAL_MET, 0, 0.75, 3, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_trial trials[2] = {{.score = 9}, {.score = 9}};
        struct amp_error err;
        char text[512];
        snprintf(text, sizeof text, "{\"validation\":{%s,%s}}", cases[i].text, seconds);
        write_text("report", text);
        if (run_jobs(engine, (struct amp_eval_outcome){.score = 9}, cases[i].is_lower, trials, 2,
                     &err) != AMP_OK)
            fail_msg("%s", err.text);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(trials[k].verdict, cases[i].verdict);
            assert_same_number(trials[k].measured, cases[i].measured);
            assert_same_number(trials[k].score, cases[i].score);
            assert_true(trials[k].seconds == cases[i].seconds);
            assert_string_equal(trials[k].reason, cases[i].reason);
        }
    }
}

/* A reason that is too long is cut. */
static void long_reasons_are_cut(void **state)
{
    char text[2048], letters[1001];
    struct amp_trial trial = {.score = 9};
    struct amp_error err;
    (void)state;
    memset(letters, 'x', 1000);
    letters[1000] = '\0';
    snprintf(text, sizeof text, "{\"validation\":{\"reason\":\"%s\"}}", letters);
    write_text("report", text);
    assert_int_equal(
        run_jobs(engine, (struct amp_eval_outcome){.score = 9}, false, &trial, 1, &err), AMP_OK);
    assert_int_equal(strlen(trial.reason), sizeof trial.reason - 1);
    letters[sizeof trial.reason - 1 - strlen("outside tolerance: ")] = '\0';
    assert_string_equal(trial.reason + strlen("outside tolerance: "), letters);
}

/* A command for each candidate, with what the user's command said of the model as it was. */
static void commands_judge_candidates(void **state)
{
    static const struct {
        struct amp_eval_outcome reference;
        const char *words;
    } cases[] = {{{.verdict = AMP_EVAL_NONE, .score = 9}, " --rules="},
                 {{.verdict = AMP_EVAL_SCORED, .score = 0.1},
                  " --eval-reference=0.10000000000000001 --rules="},
                 {{.verdict = AMP_EVAL_PASSED, .score = 9}, " --eval-reference=passed --rules="},
                 {{.verdict = AMP_EVAL_FAILED, .score = 9}, " --rules="}};
    (void)state;
    write_text("report", "{\"validation\":{}}");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_trial trials[2] = {{.score = 9}, {.score = 9}};
        struct amp_error err;
        char line[4096], place[SCRATCH_MAX], begins[2 * SCRATCH_MAX];
        assert_int_equal(run_jobs(engine, cases[i].reference, false, trials, 2, &err), AMP_OK);
        assert_non_null(getcwd(place, sizeof place));
        snprintf(begins, sizeof begins, "cd %s && ", place);
        FILE *file = fopen("list", "r");
        assert_non_null(file);
        for (size_t k = 0; k < 2; k++) {
            char ending[8];
            assert_non_null(fgets(line, sizeof line, file));
            snprintf(ending, sizeof ending, "/%zu.yaml", k);
            assert_true(strncmp(line, begins, strlen(begins)) == 0);
            assert_non_null(strstr(line, cases[i].words));
            assert_true(strstr(line, "--eval-reference") == NULL || cases[i].words[3] == 'e');
            assert_non_null(strstr(line, ending));
            assert_non_null(strstr(line, " --quiet --accept --output="));
            assert_non_null(strstr(line, " -- 'a model.onnx' 2>"));
        }
        assert_null(fgets(line, sizeof line, file));
        fclose(file);
    }
}

/* The command for a candidate of a search that is called with OPTION; "": there is none. */
static void command_with(const struct amp_option *option, char *line, size_t size)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_options options, given;
    char command[] = "ampconv", path[] = "m.onnx", *argv[] = {command, path, NULL};
    struct amp_trial trial = {.score = 9}, *items[] = {&trial};
    const struct amp_eval_outcome reference = {.verdict = AMP_EVAL_NONE};
    const struct amp_tune_jobs jobs = {
        .options = &given, .reference = &reference, .write = write_nothing};
    assert_int_equal(amp_command_line_parse(2, argv, &options, &err), AMP_OK);
    given = options;
    give(&given, option);
    given.trials_via = engine;
    if (amp_tune_jobs_run(&jobs, items, 1, &err) != AMP_OK)
        fail_msg("%s: %s", option->name, err.text);
    FILE *file = fopen("list", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, (int)size, file));
    fclose(file);
    amp_command_line_free(&options);
}

/* A candidate is made and judged as the answer is: of options only those that say how are handed
   on, a bound as a tolerance, and of data and of the conversion alone. */
static void candidates_are_made_as_the_answer_is(void **state)
{
    static const char expected[] =
        " --dtype=a --opset=a --io='snr=20' --cast-cache=a --grad-scaler=a "
        "--target='snr=20' "
        "--external-threshold=3 "
        "--inline --input='snr=20' --data='snr=20' --samples=3 --seed=3 --dim='snr=20' "
        "--input-shape='snr=20' --input-range='snr=20' --labels='snr=20' --eval=a --eval-lower "
        "--eval-timeout=3 --tolerance='snr=20' --max-memory=3 --tolerance='snr=20' --threads=3";
    struct amp_arena *arena = amp_arena_create();
    const struct amp_option *option;
    const char *found = "";
    (void)state;
    write_text("report", "{\"validation\":{}}");
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++) {
        char line[4096];
        if ((option->commands & AMP_CMD_CONVERT) == 0)
            continue;
        command_with(option, line, sizeof line);
        char *end = strstr(line, " --rules=");
        assert_non_null(end);
        *end = '\0';
        for (char *word = line; (word = strstr(word, " --")) != NULL; word += 3)
            found = amp_arena_printf(arena, "%s%.*s", found, 1 + (int)strcspn(word + 1, " "), word);
    }
    assert_string_equal(found, expected);
    amp_arena_destroy(arena);
}

/* The last line that a candidate said, or else what came of the engine. */
static void candidates_without_a_result_are_an_error(void **state)
{
    static const struct {
        const char *command, *said;
    } cases[] = {
        {"exit 3",
         "a candidate has no result: --trials-via ended with exit code 3; it was to be run "
         "by: cd "},
        {"kill -9 $$",
         "a candidate has no result: signal 9 ended what ran it; it was to be run by: cd "},
        {"f={}; printf 'one\\ntwo\\n\\n' >${f%/*}/0.txt",
         "a candidate has no result: two; it was to be run by: cd "},
        {"f={}; printf 'one' >${f%/*}/0.txt", "a candidate has no result: one; it was"},
        {"f={}; printf '\\n' >${f%/*}/0.txt; exit 4", "exit code 4; it was"},
        {"f={}; echo '{\"validation\":7}' >${f%/*}/0.json; exit 5", "exit code 5; it was"},
        {"f={}; echo '{\"validation\":{ }}' >${f%/*}/0.json; exit 6", "/1.yaml"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_trial trials[2] = {{.score = 9}, {.score = 9}};
        struct amp_error err;
        assert_int_equal(run_jobs(cases[i].command, (struct amp_eval_outcome){.score = 9}, false,
                                  trials, 2, &err),
                         AMP_IO);
        if (strstr(err.text, cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].command, err.text);
    }
}

static void candidates_run_side_by_side(void **state)
{
    static const struct {
        const struct amp_options options;
        size_t at_once;
        bool is_wanted;
    } cases[] = {{{.jobs = 0}, 1, false},
                 {{.jobs = 1}, 1, true},
                 {{.jobs = 3}, 3, true},
                 {{.trials_via = "sh"}, 4, true},
                 {{.trials_via = "sh", .jobs = 1}, 1, true},
                 {{.trials_via = "sh", .jobs = 9}, 9, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(amp_tune_jobs_at_once(&cases[i].options), cases[i].at_once);
        assert_int_equal(amp_tune_jobs_are_wanted(&cases[i].options), cases[i].is_wanted);
    }
}

/* ---- searches -------------------------------------------------------------------------------- */

/* What a search on a model of the cases with WORDS reports, and which STATUS it ends with. NULL:
   there is no report. */
static json_t *search_with(const char *words, enum amp_status status)
{
    static const char *const results[] = {"out.onnx", "out.yaml", "out.json"};
    const char *cases = getenv("CASES");
    struct amp_options options;
    struct amp_error err;
    char line[4096], folder[1024];
    assert_non_null(cases);
    snprintf(folder, sizeof folder, "%s/convert/two_dtypes_both_needed", cases);
    snprintf(line, sizeof line,
             "%s/model.onnx --data %s/data --tune -q -f -o out.onnx --rules-out out.yaml "
             "--json=out.json %s",
             folder, folder, words);
    for (size_t i = 0; i < AMP_COUNT(results); i++)
        remove(results[i]);
    if (parse_line(line, &options, &err) != AMP_OK)
        fail_msg("%s: %s", words, err.text);
    if (amp_command_convert(&options, &err) != status)
        fail_msg("%s: %s", words, err.text);
    amp_command_line_free(&options);
    return json_load_file("out.json", 0, NULL);
}

static const json_t *trial_at(const json_t *report, size_t i)
{
    return json_array_get(json_object_get(json_object_get(report, "tuning"), "trials"), i);
}

static size_t count_trials(const json_t *report)
{
    return json_array_size(json_object_get(json_object_get(report, "tuning"), "trials"));
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "none";
}

/* The answer of a report; NULL: it has none. */
static const json_t *answer_of(const json_t *report)
{
    const json_t *answer = json_object_get(json_object_get(report, "tuning"), "answer");
    return json_is_integer(answer) ? trial_at(report, (size_t)json_integer_value(answer)) : NULL;
}

/* The case says which dtypes its nodes need. What previews run is told: the reference ran for the
   first candidate, so that they take one run each. */
static void searches_find_what_is_needed(void **state)
{
    static const char rules[] =
        "version: 1\nname: tuned\ndescription: what tuning kept in float32\n"
        "dtypes: [bf16, fp16]\nextends:\n  - \"torch-cpu\"\n\n"
        "# Runs have shown that it holds: what values come to is not looked at again.\n"
        "limits:\n  bf16: {guards: off}\n  fp16: {guards: off}\n\nrules:\n"
        "  - precision: bf16\n    tensors:\n      - \"h\"\n      - \"l\"\n"
        "  - precision: fp16\n    tensors:\n      - \"p\"\n      - \"q\"\n      - \"r\"\n"
        "      - \"s\"\n      - \"y\"\n";
    (void)state;
    json_t *report = search_with("-d bf16,fp16 --tune-for nodes -t snr=50", AMP_OK);
    const json_t *low = trial_at(report, 0), *answer = answer_of(report);
    const json_t *tuning = json_object_get(report, "tuning");
    assert_int_equal(count_trials(report), 2);
    assert_string_equal(text_at(low, "phase"), "all low");
    assert_string_equal(text_at(low, "verdict"), "missed");
    assert_non_null(strstr(text_at(low, "reason"), "outside tolerance: output 'y': snr "));
    assert_true(number_at(low, "loss") == 0 && number_at(low, "float16") == 0);
    assert_true(number_at(low, "measured") > 1e-5 && number_at(low, "measured") < 1e-4);
    assert_true(number_at(low, "seconds") > 0);
    assert_true(isnan(number_at(low, "score")));
    assert_ptr_equal(answer, trial_at(report, 1));
    assert_string_equal(text_at(answer, "verdict"), "met");
    assert_string_equal(text_at(answer, "reason"), "");
    assert_true(number_at(answer, "float16") == 5 && number_at(answer, "nodes") == 0);
    assert_true(number_at(answer, "measured") < 1e-5);
    assert_true(number_at(json_object_get(report, "nodes"), "float16") == 5);
    assert_true(number_at(json_object_get(report, "nodes"), "bfloat16") == 2);
    assert_string_equal(text_at(json_object_get(tuning, "costs"), "unit"), "nodes");
    assert_true(number_at(tuning, "previews") == 2 && number_at(tuning, "preview_samples") == 1);
    assert_true(number_at(tuning, "units") == 7);
    const char *text = content_of("out.yaml");
    const char *body = strstr(text, "version:");
    assert_non_null(body);
    assert_string_equal(body, rules);
    assert_non_null(strstr(text, "\n# settings: --dtype=bf16,fp16 --data="));
    json_t *other =
        search_with("-d bf16,fp16 --tune-for nodes -t snr=50 --strategy neural-compressor", AMP_OK);
    double runs = number_at(json_object_get(other, "tuning"), "plain_runs");
    assert_true(number_at(json_object_get(other, "tuning"), "previews") == 0);
    assert_true(fabs(number_at(tuning, "plain_runs") - runs - 2) < 1e-4);
    json_decref(other);
    json_decref(report);
}

/* Where all low is good enough, it is the answer, and nothing is looked for, in any unit. */
static void searches_end_where_nothing_is_needed(void **state)
{
    static const char *const units[][2] = {{"", "s"},
                                           {" --tune-for time", "s"},
                                           {" --tune-for bytes", "bytes"},
                                           {" --tune-for nodes", "nodes"}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(units); i++) {
        char words[64];
        snprintf(words, sizeof words, "-d bf16 -t snr=20%s", units[i][0]);
        json_t *report = search_with(words, AMP_OK);
        const json_t *tuning = json_object_get(report, "tuning");
        assert_int_equal(count_trials(report), 1);
        assert_ptr_equal(answer_of(report), trial_at(report, 0));
        assert_string_equal(text_at(trial_at(report, 0), "verdict"), "met");
        assert_string_equal(text_at(json_object_get(tuning, "costs"), "unit"), units[i][1]);
        assert_true(number_at(tuning, "plain_runs") == 0);
        assert_true(isnan(number_at(json_object_get(report, "nodes"), "float32")));
        const char *text = content_of("out.yaml");
        assert_null(strstr(text, "fp32"));
        json_decref(report);
    }
}

/* Without an answer there are neither rules nor a model, and the report is of what came nearest. */
static void searches_may_end_without_an_answer(void **state)
{
    static const struct {
        const char *words;
        size_t n_trials;
    } cases[] = {{" --max-trials 1", 1}, {" --max-trials 7", 7}, {"", 20}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases); i++) {
        char words[128];
        size_t nearest = 0;
        snprintf(words, sizeof words, "-d bf16,fp16 --tune-for nodes -t snr=80 --strategy greedy%s",
                 cases[i].words);
        json_t *report = search_with(words, AMP_MISMATCH);
        assert_int_equal(count_trials(report), cases[i].n_trials);
        assert_null(answer_of(report));
        for (size_t k = 1; k < cases[i].n_trials; k++)
            if (number_at(trial_at(report, k), "measured") <
                number_at(trial_at(report, nearest), "measured"))
                nearest = k;
        const json_t *nodes = json_object_get(report, "nodes");
        double kept = number_at(nodes, "float32");
        assert_true((isnan(kept) ? 0 : kept) == number_at(trial_at(report, nearest), "nodes"));
        assert_int_not_equal(access("out.yaml", F_OK), 0);
        assert_int_not_equal(access("out.onnx", F_OK), 0);
        json_decref(report);
    }
    json_t *report = search_with(
        "-d bf16,fp16 --tune-for nodes -t snr=80 --strategy greedy --max-trials 0", AMP_OK);
    assert_true(count_trials(report) > 20);
    assert_non_null(answer_of(report));
    assert_int_equal(access("out.onnx", F_OK), 0);
    json_decref(report);
}

/* A search goes on from its log, without a run of what is there; on other settings it does not. */
static void searches_have_logs(void **state)
{
    (void)state;
    json_t *first =
        search_with("-d bf16,fp16 --tune-for nodes -t snr=60 --tune-log log.jsonl", AMP_OK);
    char *rules = strdup(content_of("out.yaml"));
    json_t *again =
        search_with("-d bf16,fp16 --tune-for nodes -t snr=60 --tune-log log.jsonl", AMP_OK);
    assert_string_equal(content_of("out.yaml"), rules);
    assert_int_equal(count_trials(again), count_trials(first));
    for (size_t i = 0; i < count_trials(first); i++)
        assert_true(json_equal(trial_at(first, i), trial_at(again, i)));
    assert_null(
        search_with("-d bf16,fp16 --tune-for nodes -t snr=59 --tune-log log.jsonl", AMP_USAGE));
    char line[1024];
    snprintf(line, sizeof line,
             "--data %s/convert/two_dtypes_both_needed/data --tune -f -o out.onnx -d bf16,fp16 "
             "--tune-for nodes -t snr=59 --tune-log log.jsonl",
             getenv("CASES"));
    assert_string_equal(said_by("", "convert/two_dtypes_both_needed/model.onnx", line, AMP_USAGE),
                        "");
    free(rules);
    json_decref(first);
    json_decref(again);
}

static size_t count_lines(const char *path)
{
    size_t n = 0;
    for (const char *at = content_of(path); *at != '\0'; at++)
        n += *at == '\n';
    return n;
}

/* A command of the user's judges the model as it was and each candidate, and the answer no second
   time; less is better where the user says so. */
static void searches_ask_commands_once(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool is_lower = (i & 1) != 0, is_known = (i & 2) != 0;
        char words[256];
        remove("judged");
        write_text("judge", "echo run >>judged\necho 5\n");
        snprintf(words, sizeof words,
                 "-d bf16,fp16 --tune-for nodes -t snr=50 --eval=sh<judge --max-drop 10%%%s%s",
                 is_lower ? " --eval-lower" : "", is_known ? " --eval-reference 5" : "");
        json_t *report = search_with(words, AMP_OK);
        const json_t *eval = json_object_get(json_object_get(report, "validation"), "eval");
        assert_int_equal(count_trials(report), 2);
        assert_int_equal(count_lines("judged"), is_known ? 2 : 3);
        for (size_t k = 0; k < 2; k++)
            assert_true(number_at(trial_at(report, k), "score") == (is_lower ? -5 : 5));
        assert_true(number_at(json_object_get(eval, "reference"), "score") == 5);
        assert_true(number_at(json_object_get(eval, "converted"), "score") == 5);
        json_decref(report);
    }
}

/* The first eight samples are previewed on. What the reference gives on them is known where there
   are no more, which the first candidate ran on; else it runs once more for the first preview. */
static void searches_preview_some_samples(void **state)
{
    static const char *const strategies[] = {"min-cut", "neural-compressor"};
    const char *cases = getenv("CASES");
    (void)state;
    assert_non_null(cases);
    for (int n_samples = 8; n_samples <= 9; n_samples++) {
        double runs[2], previews[2];
        for (int k = 0; k < 2; k++) {
            char words[3500] = "";
            for (int i = 1; i < n_samples; i++) {
                size_t used = strlen(words);
                snprintf(words + used, sizeof words - used,
                         "--data=%s/convert/two_dtypes_both_needed/data ", cases);
            }
            size_t used = strlen(words);
            snprintf(words + used, sizeof words - used,
                     "-d bf16,fp16 --tune-for=nodes -t snr=50 --strategy=%s", strategies[k]);
            json_t *report = search_with(words, AMP_OK);
            const json_t *tuning = json_object_get(report, "tuning");
            runs[k] = number_at(tuning, "plain_runs");
            previews[k] = number_at(tuning, "previews");
            if (k == 0)
                assert_true(number_at(tuning, "preview_samples") == 8);
            json_decref(report);
        }
        assert_true(previews[0] > 0 && previews[1] == 0);
        double more = 8 * previews[0] + (n_samples > 8 ? 8 : 0);
        assert_true(fabs(runs[0] - runs[1] - more) < 1e-3);
    }
    json_t *report = search_with("-d bf16,fp16 --tune-for nodes -t snr=80", AMP_OK);
    assert_true(number_at(json_object_get(report, "tuning"), "previews") == 200);
    json_decref(report);
}

/* What a command said of the answer is reported, not what it said of another candidate. */
static void searches_report_what_was_said_of_the_answer(void **state)
{
    (void)state;
    remove("judged");
    write_text("judge", "echo run >>judged\nwc -l <judged\n");
    json_t *report = search_with("-d bf16,fp16 --tune-for nodes -t snr=50 --strategy bisect "
                                 "--eval=sh<judge --max-drop 10%",
                                 AMP_OK);
    const json_t *eval = json_object_get(json_object_get(report, "validation"), "eval");
    double score = number_at(json_object_get(eval, "converted"), "score");
    assert_true(count_trials(report) > 5);
    assert_true(number_at(json_object_get(eval, "reference"), "score") == 1);
    assert_ptr_not_equal(answer_of(report), trial_at(report, count_trials(report) - 1));
    assert_true(score == number_at(answer_of(report), "score"));
    for (size_t i = 0; i < count_trials(report); i++) {
        assert_true(number_at(trial_at(report, i), "score") == (double)(i + 2));
        if (strcmp(text_at(trial_at(report, i), "verdict"), "met") == 0)
            assert_true(number_at(trial_at(report, i), "loss") >=
                        number_at(answer_of(report), "loss"));
    }
    json_decref(report);
}

/* What nobody can tell is no answer; a command that ends all ends the search. */
static void searches_take_what_commands_say(void **state)
{
    (void)state;
    write_text("judge", "exit 125\n");
    json_t *report = search_with("-d bf16,fp16 --tune-for nodes -t snr=50 --eval=sh<judge "
                                 "--eval-reference passed --max-trials 2",
                                 AMP_MISMATCH);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(text_at(trial_at(report, i), "verdict"), "unsure");
    assert_null(answer_of(report));
    json_decref(report);
    write_text("judge", "exit 126\n");
    assert_null(search_with("-d bf16,fp16 --tune-for nodes -t snr=50 --eval=sh<judge "
                            "--eval-reference passed",
                            AMP_IO));
}

/* What an engine's reports say of candidates counts as if they were run here: the first misses, all
   others meet, with a score of their own. The user's command is not asked again. */
static void searches_take_what_processes_say(void **state)
{
    static const struct {
        const char *words, *said, *verdict;
        double trial_score, score;
    } cases[] = {
        {"--eval-reference 5 --max-drop 90%", "\"verdict\":\"scored\",\"score\":7", "scored", 7, 7},
        {"--eval-reference 5 --max-drop 90% --eval-lower", "\"verdict\":\"scored\",\"score\":3",
         "scored", -3, 3},
        {"--eval-reference passed", "\"verdict\":\"passed\"", "passed", NAN, NAN}};
    (void)state;
    write_text("judge", "echo run >>judged\nexit 1\n");
    write_text("process",
               "for path in $(sed 's/.* --json=\\([^ ]*\\) .*/\\1/' \"$AMPCONV_TRIALS\"); do\n"
               "test -s \"${path%.json}.yaml\" && grep -q torch-cpu \"${path%.json}.yaml\" && ! "
               "grep -q Found \"${path%.json}.yaml\" || exit "
               "9\nif [ -e begun ]; then cp good \"$path\"; else cp bad \"$path\"; fi\ndone\n"
               "touch begun\n");
    for (size_t i = 0; i < AMP_COUNT(cases); i++) {
        char words[256], text[256];
        remove("begun");
        remove("judged");
        write_text("bad", "{\"validation\":{\"within\":false,\"error_power\":1,"
                          "\"reason\":\"far\"}}");
        snprintf(text, sizeof text,
                 "{\"validation\":{\"within\":true,\"error_power\":1e-9,"
                 "\"eval\":{\"converted\":{%s}}}}",
                 cases[i].said);
        write_text("good", text);
        snprintf(words, sizeof words,
                 "-d bf16,fp16 --tune-for nodes -t snr=50 --max-trials 2 --eval=sh<judge "
                 "--trials-via=sh<process %s",
                 cases[i].words);
        json_t *report = search_with(words, AMP_OK);
        const json_t *eval = json_object_get(
            json_object_get(json_object_get(report, "validation"), "eval"), "converted");
        assert_int_equal(count_trials(report), 2);
        assert_string_equal(text_at(trial_at(report, 0), "reason"), "outside tolerance: far");
        assert_ptr_equal(answer_of(report), trial_at(report, 1));
        assert_same_number(number_at(trial_at(report, 1), "score"), cases[i].trial_score);
        assert_string_equal(text_at(eval, "verdict"), cases[i].verdict);
        assert_same_number(number_at(eval, "score"), cases[i].score);
        assert_int_not_equal(access("judged", F_OK), 0);
        json_decref(report);
    }
}

/* Searches are told apart by what all samples hold, in the order of the inputs. */
static void searches_are_of_all_samples(void **state)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    static const int64_t whole[] = {7, 8, 9, 10, 11, 12};
    unsigned char bytes[] = {'m'};
    struct amp_options options;
    struct amp_error err;
    struct amp_tune_origin origin;
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), n = input("n", AMP_INT64, DIMS(2));
    output(NODE("Neg", "y", x));
    output(NODE("Neg", "z", n));
    infer_all();
    const struct amp_model_file file = {.bytes = {bytes, 1}, .arena = net.model->arena};
    assert_int_equal(mkdir("rows", 0777), 0);
    save("rows/x.npy", AMP_FLOAT, DIMS(6), numbers);
    save("rows/n.npy", AMP_INT64, DIMS(6), whole);
    uint32_t hash = 0;
    for (size_t i = 0; i < 6; i += 2) {
        hash = amp_hash_fnv(numbers + i, 2 * sizeof *numbers, hash);
        hash = amp_hash_fnv(whole + i, 2 * sizeof *whole, hash);
    }
    assert_int_equal(parse_line("m --tune --data rows", &options, &err), AMP_OK);
    if (amp_tune_origin_find(&options, &file, net.model, &origin, &err) != AMP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(origin.data, hash);
    assert_int_equal(origin.model, amp_hash_fnv("m", 1, 0));
    assert_string_equal(origin.settings, " --data=rows");
    amp_command_line_free(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_go_together_or_not),
        cmocka_unit_test(explanations_and_lists_have_a_stream),
        cmocka_unit_test(each_command_takes_as_many_words),
        cmocka_unit_test(numbers_and_sizes_are_whole),
        cmocka_unit_test(words_have_their_places),
        cmocka_unit_test(options_are_in_a_table),
        cmocka_unit_test(options_become_words_again),
        cmocka_unit_test(a_model_becomes_what_options_say),
        cmocka_unit_test(what_lowers_nothing_takes_no_rules),
        cmocka_unit_test(models_are_only_ever_raised),
        cmocka_unit_test(inputs_and_outputs_change_by_name),
        cmocka_unit_test(pairs_are_split_at_the_last_sign),
        cmocka_unit_test(gradients_are_scaled_by_numbers),
        cmocka_unit_test(bounds_are_named_in_their_order),
        cmocka_unit_test(tolerances_are_read),
        cmocka_unit_test(expected_outputs_have_two_tolerances),
        NET_TEST(inputs_are_named_and_of_the_model),
        NET_TEST(data_have_what_is_needed),
        NET_TEST(samples_of_data_are_loaded_one_by_one),
        NET_TEST(inputs_are_noted),
        NET_TEST(data_are_cut_into_batches),
        NET_TEST(sequences_are_not_cut),
        NET_TEST(only_what_has_all_rows_is_cut),
        NET_TEST(inputs_of_other_classes_stay),
        NET_TEST(long_lists_of_inputs_are_cut),
        NET_TEST(labels_are_of_inputs_of_the_step),
        NET_TEST(rows_go_into_batches),
        cmocka_unit_test(commands_refuse_what_does_not_go_together),
        cmocka_unit_test(models_go_where_nothing_is_lost),
        cmocka_unit_test(data_files_of_the_input_stay),
        cmocka_unit_test(failures_are_reported_where_nothing_is_lost),
        NET_TEST(runs_compare_what_is_expected),
        cmocka_unit_test(failures_end_what_follows),
        cmocka_unit_test(commands_go_before_verdicts),
        cmocka_unit_test(times_have_a_stream),
        cmocka_unit_test(recipes_have_defaults),
        cmocka_unit_test(training_is_said_or_not),
        cmocka_unit_test(rules_come_in_the_order_of_precedence),
        cmocka_unit_test(rules_that_match_nothing_are_said),
        cmocka_unit_test(options_have_values_to_complete),
        NET_TEST(the_coarsest_dtype_counts),
        cmocka_unit_test(random_inputs_are_pointed_at),
        cmocka_unit_test(known_verdicts_count),
        cmocka_unit_test(searches_have_keys),
        cmocka_unit_test(searches_say_what_they_are_of),
        cmocka_unit_test(origins_are_for_files),
        cmocka_unit_test(settings_are_what_changes_answers),
        cmocka_unit_test(reports_become_trials),
        cmocka_unit_test(long_reasons_are_cut),
        cmocka_unit_test(commands_judge_candidates),
        cmocka_unit_test(candidates_are_made_as_the_answer_is),
        cmocka_unit_test(candidates_without_a_result_are_an_error),
        cmocka_unit_test(candidates_run_side_by_side),
        cmocka_unit_test(searches_find_what_is_needed),
        cmocka_unit_test(searches_end_where_nothing_is_needed),
        cmocka_unit_test(searches_may_end_without_an_answer),
        cmocka_unit_test(searches_have_logs),
        cmocka_unit_test(searches_ask_commands_once),
        cmocka_unit_test(searches_preview_some_samples),
        cmocka_unit_test(searches_report_what_was_said_of_the_answer),
        cmocka_unit_test(searches_take_what_commands_say),
        cmocka_unit_test(searches_take_what_processes_say),
        NET_TEST(searches_are_of_all_samples),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
