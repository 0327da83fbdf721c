/*
 * Mutants of models, rule files and samples through the whole program: each is a file, and main()
 * itself gets it with a command line, in a process of its own. Whatever the mutant, the program
 * ends with one of its exit codes, with a message where it failed, within time and memory; it
 * leaves no temporary file, and an output exactly where it says so. For some of the mutants that
 * ONNX's checker takes, it has to take what they are converted to as well.
 *
 * Mutants are numbered, each with its own random numbers:
 *
 *   FUZZ_KIND=NAME                  only that kind: wire, model, rules, sample
 *   FUZZ_COUNT=N                    how many of each kind
 *   FUZZ_SEED=N FUZZ_FIRST=N        which
 *   FUZZ_JOBS=N                     how many at a time
 *
 * The folder of a mutant that fails stays, and what makes it again is printed.
 */
#include "check/compare.h"
#include "core/memory.h"
#include "mutate_model.h"
#include "mutate_rules.h"
#include "mutate_sample.h"
#include "mutate_wire.h"
#include "onnx/sample/tensor_file.h"
#include "scratch.h"

/* The program's own main(). */
int program_main(int argc, char **argv);
#define main program_main
#include "main.c" /* NOLINT(bugprone-suspicious-include): so that all of main() is tried */
#undef main

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <jansson.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COUNT_DEFAULT = 150,
    CPU_SECONDS_MAX = 10,  /* for one command */
    WALL_SECONDS_MAX = 60, /* likewise: one that waits takes no CPU time */
    LARGE_SEED = 32 << 10, /* bytes of a model that is not run often */
    ORACLE_ODDS = 20,      /* one conversion in so many is shown to ONNX's checker */
    ORACLE_SECONDS_MAX = 20,
    WORDS_MAX = 64,
    PATH_SIZE_MAX = 4096,
    INPUTS_MAX = 8,
    BATCH = 250,    /* mutants in a process, as the search for leaks at its end takes its time */
    SAID_MAX = 8192 /* bytes of stderr that matter */
};

/* How a process ends that has found a fault itself. */
enum { EXIT_WRONG = 70 };

#define MAX_MEMORY "256M"
/* What the program may have: that, and what it takes whatever the model is. */
#define RSS_MAX ((256 + 256) * 1000 * 1000L)

#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

/* Large requests fail, as they do where memory is short. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024:exitcode=99:"
           "malloc_context_size=1:quarantine_size_mb=16";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "halt_on_error=1:exitcode=99:print_stacktrace=1";
}

struct tally {
    size_t mutants, commands, exits[5], faults, loops, converted, checked;
    double slowest; /* CPU seconds */
    long largest;   /* bytes of resident memory */
    size_t slowest_mutant, largest_mutant;
};

/* What the process that runs mutants tells the one that watches. */
struct shared {
    size_t mutant;     /* at hand */
    bool may_loop;     /* it holds a loop, which may run for ever */
    bool is_through;   /* with all its mutants */
    const char *fault; /* NULL: none */
    char line[4096];   /* the command line */
    struct tally tally;
};

struct fuzz {
    const struct kind *kind;
    uint64_t seed;
    struct amp_arena *arena; /* of the mutant at hand */
    struct shared *shared;
    int said, printed; /* the program's stderr and stdout */
    /* Seeds: third-party models, large and small; those of the tests; rule sets that are right,
       rule files of the tests; models to try rules on. */
    glob_t few, many, own, sets, rules, models;
    char folder[SCRATCH_MAX];
    /* What the commands are about. */
    const char *model, *rule_file, *input;
    bool is_large, has_samples;
};

/* ---- commands -------------------------------------------------------------------------------- */

enum {
    CONVERTS = 1,
    LISTS = 2,
    RUNS = 4,
    WRITES = 8,
    IS_COSTLY = 16,
    READS_SAMPLES = 32,
    IS_RARE = 64
};

struct command {
    const char *words;
    unsigned flags;
};

/* %m: the model; %r: the rule file; %i: NAME=FILE of an input; %f: the mutant's folder. */
static const struct command model_commands[] = {
    {"%m --no-validate -o %f/to.onnx", CONVERTS | WRITES},
    {"%m --list", LISTS},
    {"%m --dump-after insert", LISTS},
    {"%m --samples 1 -o %f/to.onnx", CONVERTS | WRITES | IS_COSTLY},
    {"run %m", RUNS | IS_COSTLY},
    {"bench %m --runs 1", IS_COSTLY | IS_RARE},
    {"compare %m --dtype bf16 --layers --report %f/report.html", IS_COSTLY},
    {"calibrate %m -o %f/ranges.json", IS_COSTLY},
    {"%m --tune --max-trials 2 --strategy bisect -o %f/to.onnx", WRITES | IS_COSTLY | IS_RARE},
    {"train %m --steps 2 --make-training loss=mse,optimizer=adam -o %f/to.onnx",
     WRITES | IS_COSTLY},
};

static const struct command rule_commands[] = {
    {"%m -r %r --list", LISTS},
    {"rules %r", 0},
    {"rules %r --resolved", 0},
    {"rules --check %r", 0},
    {"rules --diff %r torch-cpu %m", 0},
    {"%m -r torch-cuda -r %r --no-validate -o %f/to.onnx", CONVERTS | WRITES},
    {"%m --lower-ops %r --list", LISTS},
};

static const struct command sample_commands[] = {
    {"run %m --data %f/data", RUNS | READS_SAMPLES},
    {"run %m --input %i", RUNS},
    {"%m --data %f/data -o %f/to.onnx", CONVERTS | WRITES | READS_SAMPLES},
    {"run %m --data %f/data --expect %f/data", RUNS | READS_SAMPLES},
    {"run %m --data %f/data --labels %f/labels.npy", RUNS | READS_SAMPLES},
};

/* What a command may be given beside that, by chance. */
static const struct {
    size_t odds; /* one in so many */
    unsigned flags;
    const char *words;
} extras[] = {
    {2, CONVERTS | LISTS, "--dtype fp16"},
    {16, CONVERTS | LISTS, "--dtype fp32"},
    {16, CONVERTS | LISTS, "--dtype bf16,fp16"},
    {8, CONVERTS | LISTS, "--target ort-cpu"},
    {4, CONVERTS, "--explain"},
    {8, CONVERTS, "--explain=json"},
    {8, CONVERTS | LISTS, "--rules torch-cuda"},
    {8, CONVERTS | LISTS, "--rules tensorflow"},
    {8, CONVERTS, "--cast-cache off"},
    {4, CONVERTS | LISTS, "--node *=lower"},
    {6, CONVERTS | LISTS, "--opset 22"},
    {8, CONVERTS | LISTS, "--opset keep"},
    {6, CONVERTS | LISTS, "--io lower"},
    {6, CONVERTS, "--external-data to.data"},
    {3, CONVERTS, "--external-threshold 1"},
    {6, CONVERTS, "--accept"},
    {4, CONVERTS | RUNS, "--json %f/report.json"},
    {2, IS_RARE, "--profile"},
    {4, RUNS, "--strict"},
    {4, RUNS, "--output-dir %f/outputs"},
    {8, RUNS, "--format pb"},
    {4, CONVERTS | RUNS, "-v"},
    {1, CONVERTS | RUNS | LISTS | IS_COSTLY, "--max-memory " MAX_MEMORY " --threads 1"},
};

struct line_of_words {
    char *items[WORDS_MAX + 1];
    int count;
};

static const char *meaning(const struct fuzz *f, char letter)
{
    return letter == 'm'   ? f->model
           : letter == 'r' ? f->rule_file
           : letter == 'i' ? f->input
                           : f->folder;
}

static char *fill_in(const struct fuzz *f, const char *word, size_t length)
{
    const char *mark = memchr(word, '%', length);
    if (mark == NULL)
        return amp_arena_strndup(f->arena, word, length);
    return amp_arena_printf(f->arena, "%.*s%s%.*s", (int)(mark - word), word, meaning(f, mark[1]),
                            (int)(word + length - mark - 2), mark + 2);
}

static void add_words(const struct fuzz *f, struct line_of_words *line, const char *words)
{
    while (*words != '\0' && line->count < WORDS_MAX) {
        size_t length = strcspn(words, " ");
        line->items[line->count++] = fill_in(f, words, length);
        words += length + (words[length] == ' ');
    }
}

static struct line_of_words make_line(const struct fuzz *f, const struct command *command,
                                      uint64_t *state)
{
    struct line_of_words line = {.count = 0};
    add_words(f, &line, "ampconv");
    add_words(f, &line, command->words);
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++)
        if ((command->flags & extras[i].flags) != 0 && one_in(state, extras[i].odds))
            add_words(f, &line, extras[i].words);
    return line;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *path_in(const struct fuzz *f, const char *name)
{
    return amp_arena_printf(f->arena, "%s/%s", f->folder, name);
}

static void write_file(const char *path, const struct bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL ||
        (bytes->size > 0 && fwrite(bytes->data, 1, bytes->size, file) != bytes->size) ||
        fclose(file) != 0)
        fail_msg("%s: %s", path, strerror(errno));
}

/* The file at PATH; empty when it cannot be read. */
static struct bytes read_file(const struct fuzz *f, const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_bytes file;
    struct bytes bytes = {.arena = f->arena};
    if (amp_bytes_open(&file, path, &err) == AMP_OK) {
        put(&bytes, file.data, file.size);
        amp_bytes_close(&file);
    }
    return bytes;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    return at->level > 0 ? remove(path) : 0;
}

static void empty_folder(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static bool has_temporary(const char *folder)
{
    bool is_found = false;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        is_found = is_found || strncmp(entry->d_name, ".ampconv.", 9) == 0;
    closedir(entries);
    return is_found;
}

static const char *pick_path(const glob_t *paths, uint64_t *state)
{
    return paths->gl_pathv[below(state, paths->gl_pathc)];
}

/* ---- mutants --------------------------------------------------------------------------------- */

static void use_model(struct fuzz *f, const struct bytes *mutant)
{
    f->model = path_in(f, "from.onnx");
    f->is_large = mutant->size > LARGE_SEED;
    f->shared->may_loop = may_loop(mutant);
    write_file(f->model, mutant);
}

static const char *third_party(const struct fuzz *f, uint64_t *state)
{
    return pick_path(f->many.gl_pathc == 0 || one_in(state, 24) ? &f->few : &f->many, state);
}

static bool make_wire(struct fuzz *f, uint64_t *state)
{
    struct bytes seed = read_file(f, third_party(f, state)), mutant = {.arena = f->arena};
    struct bytes donor = read_file(f, third_party(f, state));
    mutate_wire(&seed, one_in(state, 2) ? &donor : NULL, &mutant, state);
    use_model(f, &mutant);
    return true;
}

static bool make_model(struct fuzz *f, uint64_t *state)
{
    const char *path = one_in(state, 2) ? pick_path(&f->own, state) : third_party(f, state);
    struct bytes seed = read_file(f, path), mutant = {.arena = f->arena};
    struct amp_bytes file = {.data = seed.data, .size = seed.size};
    if (!mutate_model(path, &file, &mutant, state))
        return false;
    use_model(f, &mutant);
    return true;
}

static bool make_rules(struct fuzz *f, uint64_t *state)
{
    const glob_t *seeds = one_in(state, 2) ? &f->sets : &f->rules;
    struct bytes first = read_file(f, pick_path(seeds, state)), second = first;
    f->model = pick_path(&f->models, state);
    f->rule_file = path_in(f, "rules.yaml");
    mutate_rules(&second, state);
    write_file(path_in(f, "other.yaml"), &second);
    mutate_rules(&first, state);
    write_file(f->rule_file, &first);
    return true;
}

/* The model of a case, for the names of its inputs. */
static Onnx__ModelProto *read_case(const struct fuzz *f, const char *path)
{
    struct bytes bytes = read_file(f, path);
    struct amp_error err = {.status = AMP_OK};
    Onnx__ModelProto *model = (Onnx__ModelProto *)amp_wire_parse(
        &onnx__model_proto__descriptor, bytes.data, bytes.size, f->arena, &err);
    return model == NULL || model->graph == NULL || model->graph->n_input == 0 ? NULL : model;
}

/* The tensor file PATH as a .npy; empty when it holds something else. */
static struct bytes as_array(const struct fuzz *f, const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor tensor;
    const char *array = path_in(f, "array.npy");
    struct bytes bytes = {.arena = f->arena};
    if (amp_tensor_load(path, AMP_KIND_TENSOR, &tensor, &err) != AMP_OK)
        return bytes;
    if (amp_tensor_save(array, "x", &tensor, &err) == AMP_OK)
        bytes = read_file(f, array);
    amp_tensor_release(&tensor);
    unlink(array);
    return bytes;
}

struct sample {
    const char *names[INPUTS_MAX];
    struct bytes messages[INPUTS_MAX], arrays[INPUTS_MAX];
    size_t count;
};

static struct sample read_sample(const struct fuzz *f, const Onnx__GraphProto *graph)
{
    struct sample sample = {.count = 0};
    for (size_t i = 0; i < graph->n_input && i < INPUTS_MAX; i++) {
        char *path = amp_arena_printf(f->arena, "%.*s/test_data_set_0/input_%zu.pb",
                                      (int)(strlen(f->model) - strlen("/model.onnx")), f->model, i);
        struct bytes message = read_file(f, path);
        if (message.size == 0)
            break;
        sample.names[i] = graph->input[i]->name;
        sample.messages[i] = message;
        sample.arrays[i] = as_array(f, path);
        sample.count++;
    }
    return sample;
}

/* input_K.pb files, one of them a mutant, and an output that is one. */
static void write_messages(struct fuzz *f, struct sample *sample, uint64_t *state)
{
    size_t chosen = below(state, sample->count);
    for (size_t i = 0; i < sample->count; i++) {
        struct bytes mutant = sample->messages[i];
        if (i == chosen) {
            mutant = (struct bytes){.arena = f->arena};
            mutate_wire(&sample->messages[i], NULL, &mutant, state);
            write_file(path_in(f, "data/output_0.pb"), &mutant);
        }
        write_file(path_in(f, amp_arena_printf(f->arena, "data/input_%zu.pb", i)), &mutant);
        if (i == chosen)
            f->input = amp_arena_printf(f->arena, "%s=%s/data/input_%zu.pb", sample->names[i],
                                        f->folder, i);
    }
}

static void write_archive(struct fuzz *f, struct sample *sample, uint64_t *state)
{
    struct zip_entry entries[INPUTS_MAX];
    struct bytes archive = {.arena = f->arena};
    for (size_t i = 0; i < sample->count; i++)
        entries[i] =
            (struct zip_entry){.name = amp_arena_printf(f->arena, "%s.npy", sample->names[i]),
                               .data = sample->arrays[i]};
    mutate_npz(entries, sample->count, &archive, state);
    write_file(path_in(f, "data/sample.npz"), &archive);
}

static void write_array(struct fuzz *f, struct sample *sample, uint64_t *state)
{
    size_t i = below(state, sample->count);
    mutate_npy(&sample->arrays[i], state);
    f->input = amp_arena_printf(f->arena, "%s=%s/labels.npy", sample->names[i], f->folder);
    write_file(path_in(f, "labels.npy"), &sample->arrays[i]);
}

static bool make_sample(struct fuzz *f, uint64_t *state)
{
    f->model = pick_path(&f->many, state);
    const Onnx__ModelProto *model = read_case(f, f->model);
    if (model == NULL)
        return false;
    struct sample sample = read_sample(f, model->graph);
    if (sample.count == 0 || mkdir(path_in(f, "data"), 0700) != 0)
        return false;
    write_array(f, &sample, state);
    if (one_in(state, 2))
        write_archive(f, &sample, state);
    else
        write_messages(f, &sample, state);
    f->shared->may_loop = strstr(f->model, "loop") != NULL;
    f->has_samples = true;
    return true;
}

struct kind {
    const char *name;
    bool (*make)(struct fuzz *f, uint64_t *state); /* false: the seed is none for it */
    const struct command *commands;
    size_t n_commands;
};

#define COMMANDS(list) list, sizeof(list) / sizeof *(list)

static const struct kind kinds[] = {
    {"wire", make_wire, COMMANDS(model_commands)},
    {"model", make_model, COMMANDS(model_commands)},
    {"rules", make_rules, COMMANDS(rule_commands)},
    {"sample", make_sample, COMMANDS(sample_commands)},
};

/* ---- running the program --------------------------------------------------------------------- */

static void redirect(const char *path, int flags, int fd)
{
    int opened = open(path, flags, 0600);
    if (opened < 0 || dup2(opened, fd) < 0)
        _exit(EXIT_WRONG);
    close(opened);
}

/* Signals that end the process unless time is taken off again with 0. */
static void limit_time(int cpu_seconds, unsigned wall_seconds)
{
    struct itimerval limit = {.it_value.tv_sec = cpu_seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(wall_seconds);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void note_command(struct fuzz *f, const struct line_of_words *line)
{
    size_t used = 0;
    for (int i = 0; i < line->count && used < sizeof f->shared->line; i++)
        used += (size_t)snprintf(f->shared->line + used, sizeof f->shared->line - used, " '%s'",
                                 line->items[i]);
}

/* Returns the exit code, unless the process ends instead. */
static int run_program(struct fuzz *f, struct line_of_words *line)
{
    double start = cpu_seconds();
    note_command(f, line);
    if (ftruncate(STDERR_FILENO, 0) != 0 || ftruncate(STDOUT_FILENO, 0) != 0)
        _exit(EXIT_WRONG);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    lseek(STDOUT_FILENO, 0, SEEK_SET);
    limit_time(CPU_SECONDS_MAX, WALL_SECONDS_MAX);
    int code = program_main(line->count, line->items);
    limit_time(0, 0);
    if (cpu_seconds() - start > f->shared->tally.slowest) {
        f->shared->tally.slowest = cpu_seconds() - start;
        f->shared->tally.slowest_mutant = f->shared->mutant;
    }
    return code;
}

/* Whether ONNX's checker takes the model; false, too, when it does not come to an end. */
static bool is_valid(const char *oracle, const char *path)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(ORACLE_SECONDS_MAX);
        execl(oracle, oracle, path, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

/* What the program printed to FILE, at least the beginning. Returns TEXT. */
static char *read_said(int file, char text[SAID_MAX])
{
    ssize_t size = pread(file, text, SAID_MAX - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Whether a terminal can be given TEXT as it is. */
static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7F)
            return false;
    return true;
}

/* What was wrong with how it ended; NULL for nothing. */
static const char *judge_end(struct fuzz *f, int code)
{
    char said[SAID_MAX];
    bool has_message = strstr(read_said(f->said, said), "ampconv: ") != NULL;
    if (code > amp_status_exit_code(AMP_UNSUPPORTED))
        return "an exit code that is none of its own";
    f->shared->tally.exits[code]++;
    if (code >= AMP_EXIT_SYSTEM && !has_message)
        return "it failed without a message";
    if (!is_printable(said) || !is_printable(read_said(f->printed, said)))
        return "control characters for a terminal";
    return amp_memory_used() != 0 ? "tensors were not released" : NULL;
}

static bool is_json(const char *path)
{
    json_t *json = json_load_file(path, JSON_ALLOW_NUL, NULL);
    json_decref(json);
    return json != NULL;
}

/* What was wrong with the files there. */
static const char *judge_files(struct fuzz *f, const struct command *command, int code)
{
    bool is_there = access(path_in(f, "to.onnx"), F_OK) == 0;
    char *report = path_in(f, "report.json");
    if (has_temporary(f->folder))
        return "a temporary file is left";
    if (access(report, F_OK) == 0 && !is_json(report))
        return "the report is not JSON";
    if (command->flags & WRITES && code == amp_status_exit_code(AMP_OK) && !is_there)
        return "it says that it converted, but there is no file";
    if (code >= AMP_EXIT_SYSTEM && is_there)
        return "it failed, but there is a file";
    return NULL;
}

/* Whether the checker said that it is older than the model. */
static bool is_too_new(const struct fuzz *f)
{
    char said[SAID_MAX];
    return strstr(read_said(f->said, said), "is higher than the checker's") != NULL;
}

/* What was wrong with the model that it wrote. */
static const char *judge_output(struct fuzz *f, uint64_t *state)
{
    const char *oracles = getenv("ORACLES"), *output = path_in(f, "to.onnx");
    if (access(output, F_OK) != 0)
        return NULL;
    f->shared->tally.converted++;
    if (!one_in(state, ORACLE_ODDS) || oracles == NULL || f->kind->make == make_sample)
        return NULL;
    char *oracle = amp_arena_printf(f->arena, "%s/onnx_check", oracles);
    if (!is_valid(oracle, f->model))
        return NULL;
    f->shared->tally.checked++;
    if (is_valid(oracle, output) || is_too_new(f))
        return NULL;
    return "ONNX's checker takes the model, but not what it became";
}

static const char *judge(struct fuzz *f, const struct command *command, int code, uint64_t *state)
{
    const char *fault = judge_end(f, code);
    f->shared->tally.commands++;
    if (fault == NULL)
        fault = judge_files(f, command, code);
    return fault == NULL ? judge_output(f, state) : fault;
}

/* ---- one mutant ------------------------------------------------------------------------------ */

static void remove_outputs(const struct fuzz *f)
{
    unlink(path_in(f, "to.onnx"));
    unlink(path_in(f, "to.data"));
    unlink(path_in(f, "report.json"));
    if (access(path_in(f, "outputs"), F_OK) == 0)
        empty_folder(path_in(f, "outputs"));
}

static bool is_left_out(const struct fuzz *f, const struct command *command, uint64_t *state)
{
    return ((command->flags & IS_COSTLY) && f->is_large && !one_in(state, 16)) ||
           ((command->flags & IS_RARE) && !one_in(state, 256)) ||
           ((command->flags & READS_SAMPLES) && !f->has_samples);
}

/* Runs one command and returns its exit code; a fault is for the process that watches. */
static int try_command(struct fuzz *f, const struct command *command, uint64_t *state)
{
    struct line_of_words line = make_line(f, command, state);
    if (is_left_out(f, command, state))
        return amp_status_exit_code(AMP_OK);
    remove_outputs(f);
    int code = run_program(f, &line);
    f->shared->fault = judge(f, command, code, state);
    if (f->shared->fault != NULL)
        _exit(EXIT_WRONG);
    return code;
}

/* All commands, from a random one; a model that one refuses is refused by the others, mostly. */
static void try_commands(struct fuzz *f, uint64_t *state)
{
    size_t start = below(state, f->kind->n_commands);
    for (size_t i = 0; i < f->kind->n_commands; i++) {
        int code = try_command(f, &f->kind->commands[(start + i) % f->kind->n_commands], state);
        if (code == amp_status_exit_code(AMP_MODEL) && !one_in(state, 4))
            return;
    }
}

static const char *kept(struct amp_arena *arena, const char *text)
{
    return text != NULL ? amp_arena_strdup(arena, text) : NULL;
}

/* Gives up what the mutant was made with: it would count as the program's. */
static void keep_names(struct fuzz *f)
{
    struct amp_arena *arena = amp_arena_create();
    f->model = kept(arena, f->model);
    f->rule_file = kept(arena, f->rule_file);
    f->input = kept(arena, f->input);
    amp_arena_destroy(f->arena);
    f->arena = arena;
}

static void run_mutant(struct fuzz *f)
{
    uint64_t state = f->seed * 0xD1342543DE82EF95u + f->shared->mutant * 2654435761u + 1;
    f->arena = amp_arena_create();
    f->model = f->rule_file = f->input = NULL;
    f->is_large = f->shared->may_loop = f->has_samples = false;
    f->shared->line[0] = '\0';
    amp_memory_set_limit(SIZE_MAX); /* the last command's is not for making the next mutant */
    while (!f->kind->make(f, &state))
        empty_folder(f->folder);
    keep_names(f);
    f->shared->tally.mutants++;
    try_commands(f, &state);
    amp_arena_destroy(f->arena);
    empty_folder(f->folder);
}

/* ---- all mutants of a kind ------------------------------------------------------------------- */

static size_t number_of(const char *variable, size_t fallback)
{
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' ? strtoul(text, NULL, 10) : fallback;
}

static void add_paths(const char *root, const char *pattern, glob_t *paths)
{
    char whole[PATH_SIZE_MAX];
    snprintf(whole, sizeof whole, "%s%s", root, pattern);
    glob(whole, paths->gl_pathc > 0 ? GLOB_APPEND : 0, NULL, paths);
}

static void collect_seeds(struct fuzz *f)
{
    const char *testdata = getenv("TESTDATA");
    add_paths("", "models/*.onnx", &f->few);
    add_paths("", "models/*.onnx", &f->models);
    add_paths("", "build/cases/*/*/model.onnx", &f->own);
    add_paths("", "build/cases/ops/control/*/model.onnx", &f->own);
    add_paths("", "rules/*.yaml", &f->sets);
    add_paths("", "build/cases/*/*/*.yaml", &f->rules);
    if (testdata == NULL || *testdata == '\0')
        return;
    add_paths(testdata, "/light/*.onnx", &f->few);
    add_paths(testdata, "/*/*/model.onnx", &f->many);
}

/* In the child: up to COUNT mutants, each STEP after the other. */
static _Noreturn void work(struct fuzz *f, size_t end, size_t step, size_t count)
{
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    fflush(NULL);
    dup2(f->printed, STDOUT_FILENO);
    dup2(f->said, STDERR_FILENO);
    for (; count > 0 && f->shared->mutant < end; count--, f->shared->mutant += step)
        run_mutant(f);
    f->shared->is_through = true;
    exit(0); /* looks for leaks */
}

/* ---- watching -------------------------------------------------------------------------------- */

/* How a process ended that was not through; NULL when it may. */
static const char *fault_of(struct shared *shared, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WRONG)
        return shared->fault != NULL ? shared->fault : "the test itself failed";
    shared->tally.commands++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == AMP_EXIT_SYSTEM) {
        shared->tally.exits[AMP_EXIT_SYSTEM]++;
        return NULL;
    }
    if (WIFEXITED(status))
        return "the sanitizers found something";
    if (WTERMSIG(status) != SIGPROF && WTERMSIG(status) != SIGALRM)
        return "it crashed";
    shared->tally.loops += shared->may_loop;
    return shared->may_loop ? NULL : "it hangs";
}

static void report(struct fuzz *f, const char *fault)
{
    char said[SAID_MAX];
    f->shared->tally.faults++;
    fprintf(stderr,
            "%s mutant %zu: %s: FUZZ_KIND=%s FUZZ_SEED=%llu FUZZ_FIRST=%zu FUZZ_COUNT=1\n"
            " %s\n%s\n",
            f->kind->name, f->shared->mutant, fault, f->kind->name, (unsigned long long)f->seed,
            f->shared->mutant, f->shared->line, read_said(f->said, said));
    scratch_folder(f->folder, sizeof f->folder); /* that of the mutant stays */
}

/* What is wrong with a process that came to its end, or not. */
static const char *judge_process(struct fuzz *f, int status, const struct rusage *usage)
{
    struct tally *tally = &f->shared->tally;
    if (usage->ru_maxrss * 1024 > tally->largest) {
        tally->largest = usage->ru_maxrss * 1024;
        tally->largest_mutant = f->shared->mutant;
    }
    if (!f->shared->is_through) {
        const char *fault = fault_of(f->shared, status);
        bool is_dirty = WIFEXITED(status) && has_temporary(f->folder);
        return fault == NULL && is_dirty ? "a temporary file is left" : fault;
    }
    return !IS_SANITIZED && usage->ru_maxrss * 1024 > RSS_MAX ? "it took too much memory" : NULL;
}

/* Runs up to COUNT mutants in a process; returns its status. */
static int run_process(struct fuzz *f, size_t end, size_t step, size_t count, struct rusage *usage)
{
    int status = 0;
    fflush(NULL);
    f->shared->is_through = false;
    f->shared->fault = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        work(f, end, step, count);
    assert_int_equal(wait4(child, &status, 0, usage), child);
    return status;
}

/* Mutants from the one at hand on, COUNT in a process; where something leaked, again one by one. */
static void watch(struct fuzz *f, size_t end, size_t step, size_t count)
{
    struct rusage usage;
    while (f->shared->mutant < end) {
        struct shared before = *f->shared;
        int status = run_process(f, end, step, count, &usage);
        const char *fault = judge_process(f, status, &usage);
        if (f->shared->is_through && status != 0 && count > 1) {
            *f->shared = before;
            watch(f, before.mutant + count * step < end ? before.mutant + count * step : end, step,
                  1);
            continue;
        }
        if (f->shared->is_through && status != 0)
            fault = "it leaks";
        if (f->shared->is_through && fault != NULL)
            f->shared->mutant -= step;
        if (fault != NULL)
            report(f, fault);
        empty_folder(f->folder);
        if (!f->shared->is_through || fault != NULL)
            f->shared->mutant += step;
    }
}

/* Job JOB of JOBS: every mutant whose turn it is. */
static void watch_job(struct fuzz *f, size_t job, size_t jobs)
{
    size_t first = number_of("FUZZ_FIRST", 0), end = first + number_of("FUZZ_COUNT", COUNT_DEFAULT);
    scratch_folder(f->folder, sizeof f->folder);
    f->said = memfd_create("said", MFD_CLOEXEC);
    f->printed = memfd_create("printed", MFD_CLOEXEC);
    assert_true(f->said >= 0 && f->printed >= 0);
    f->shared->mutant = first + job;
    watch(f, end, jobs, IS_SANITIZED ? BATCH : 1);
    close(f->said);
    close(f->printed);
    rmdir(f->folder);
}

static void add_tally(struct tally *sum, const struct tally *one)
{
    sum->mutants += one->mutants;
    sum->commands += one->commands;
    for (size_t i = 0; i < 5; i++)
        sum->exits[i] += one->exits[i];
    sum->faults += one->faults;
    sum->loops += one->loops;
    sum->converted += one->converted;
    sum->checked += one->checked;
    if (one->slowest > sum->slowest) {
        sum->slowest = one->slowest;
        sum->slowest_mutant = one->slowest_mutant;
    }
    if (one->largest > sum->largest) {
        sum->largest = one->largest;
        sum->largest_mutant = one->largest_mutant;
    }
}

static void print_tally(const struct fuzz *f, const struct tally *sum)
{
    fprintf(stderr,
            "# %s, seed %llu: %zu mutants, %zu commands; exit 0: %zu, 1: %zu, 2: %zu, 3: %zu, 4: "
            "%zu; %zu loops without end, %zu faults; %zu converted, %zu of them shown to ONNX's "
            "checker; at most %.2f s (mutant %zu) and %ld MB (mutant %zu)\n",
            f->kind->name, (unsigned long long)f->seed, sum->mutants, sum->commands, sum->exits[0],
            sum->exits[1], sum->exits[2], sum->exits[3], sum->exits[4], sum->loops, sum->faults,
            sum->converted, sum->checked, sum->slowest, sum->slowest_mutant, sum->largest / 1000000,
            sum->largest_mutant);
}

/* Divides the mutants among processes; each has a tally. Returns the sum. */
static struct tally share_work(struct fuzz *f, size_t jobs)
{
    struct tally sum = {.faults = 0};
    struct shared *shared = mmap(NULL, jobs * sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (size_t job = 0; job < jobs; job++) {
        pid_t child = fork();
        assert_true(child >= 0);
        f->shared = &shared[job];
        if (child == 0) {
            watch_job(f, job, jobs);
            _exit(0);
        }
    }
    for (int status = 0; wait(&status) > 0;)
        sum.faults += status != 0;
    for (size_t job = 0; job < jobs; job++)
        add_tally(&sum, &shared[job].tally);
    munmap(shared, jobs * sizeof *shared);
    return sum;
}

static void run_kind(const char *name)
{
    const char *only = getenv("FUZZ_KIND");
    struct fuzz f = {.kind = kinds, .seed = number_of("FUZZ_SEED", 1)};
    if (only != NULL && *only != '\0' && strcmp(only, name) != 0)
        return;
    while (strcmp(f.kind->name, name) != 0)
        f.kind++;
    collect_seeds(&f);
    bool has_seeds = f.many.gl_pathc > 0 || f.kind->make != make_sample;
    struct tally sum = {.faults = 0};
    if (has_seeds)
        sum = share_work(&f, number_of("FUZZ_JOBS", 1));
    print_tally(&f, &sum);
    glob_t *lists[] = {&f.few, &f.many, &f.own, &f.sets, &f.rules, &f.models};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        globfree(lists[i]);
    assert_int_equal(sum.faults, 0);
}

static void models_that_are_no_messages_any_more(void **state)
{
    (void)state;
    run_kind("wire");
}

static void models_that_mean_something_else(void **state)
{
    (void)state;
    run_kind("model");
}

static void rule_files(void **state)
{
    (void)state;
    run_kind("rules");
}

static void samples(void **state)
{
    (void)state;
    run_kind("sample");
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("GOMP_SPINCOUNT", "0", 1); /* set: the program does not start itself again */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_that_are_no_messages_any_more),
        cmocka_unit_test(models_that_mean_something_else),
        cmocka_unit_test(rule_files),
        cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
