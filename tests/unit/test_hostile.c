/*
 * Thousands of hostile models through the whole program: valid models, edited so that they are
 * still messages (mutate_model.h), read, inferred, run, converted and trained by the command line's
 * own code. Anything may be refused, with a message. What is converted must be there, readable and
 * right by the schema table, and convert to itself; what is refused must leave no file behind.
 *
 * A worker process goes through the mutants, so that one that crashes or hangs is one failure; the
 * mutants are numbered, each with its own random numbers:
 *
 *   HOSTILE_FIRST=N HOSTILE_COUNT=N   which to run
 *   HOSTILE_KEEP=DIR                  keep the models, and what they are converted to
 */
#include "check/random_input.h"
#include "cli/convert/convert.h"
#include "cli/options/command_line.h"
#include "cli/train.h"
#include "core/memory.h"
#include "mutate_model.h"
#include "onnx/schema/check.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "onnx/sample/tensor_file.h"
#include "run/exec/session.h"
#include "scratch.h"

#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    MUTANTS = 2000,
    TRAINING_TIMES = 8,          /* there are few models with training_info */
    INPUT_ELEMENTS_MAX = 100000, /* of a model that is run */
    MEMORY_MAX = 64 << 20,       /* bytes of tensors */
    SECONDS_MAX = 8              /* of CPU time for one mutant, which takes milliseconds */
};

/* How a worker ends when it does not come to the last mutant. */
enum { EXIT_WRONG = 70, EXIT_HANG = 71 };

/* What the worker tells. */
struct shared {
    size_t mutant; /* at hand */
    bool may_loop; /* it holds a loop, which may run for ever */
    size_t read, run, converted, trained;
};

struct worker {
    struct shared *shared;
    glob_t seeds;
    char folder[SCRATCH_MAX]; /* for outputs */
    const char *kept;
};

/* Large requests fail, as they do where memory is short; a leak has the mutants of one worker. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024:exitcode=99";
}

static _Noreturn void wrong(const struct worker *worker, const char *what, const char *why)
{
    fprintf(stderr, "mutant %zu: %s: %s\n", worker->shared->mutant, what, why);
    _exit(EXIT_WRONG);
}

static void expect_message(const struct worker *worker, const char *stage, enum amp_status status,
                           const struct amp_error *err)
{
    if (status != err->status)
        wrong(worker, stage, "the error is not the status");
    if (status != AMP_OK && err->text[0] == '\0')
        wrong(worker, stage, "no message");
}

/* ---- making a mutant ------------------------------------------------------------------------- */

static void collect_seeds(glob_t *seeds)
{
    const char *testdata = getenv("TESTDATA");
    char pattern[4096];
    assert_int_equal(glob("build/cases/read/*/model.onnx", 0, NULL, seeds), 0);
    glob("models/*.onnx", GLOB_APPEND, NULL, seeds);
    glob("build/cases/*/*/model.onnx", GLOB_APPEND, NULL, seeds);
    for (int i = 0; i < TRAINING_TIMES; i++)
        glob("build/cases/training/*/model.onnx", GLOB_APPEND, NULL, seeds);
    glob("build/cases/ops/control/*/model.onnx", GLOB_APPEND, NULL, seeds);
    if (testdata == NULL || testdata[0] == '\0')
        return;
    snprintf(pattern, sizeof pattern, "%s/*/*/model.onnx", testdata);
    glob(pattern, GLOB_APPEND, NULL, seeds);
}

/* Writes the mutant to PATH; false when the seed is no model. */
static bool make_mutant(struct worker *worker, const char *seed, const char *path, uint64_t *state)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_bytes bytes;
    if (amp_bytes_open(&bytes, seed, &err) != AMP_OK)
        return false;
    struct bytes mutant = {.arena = amp_arena_create()};
    bool is_model = mutate_model(seed, &bytes, &mutant, state);
    if (is_model) {
        worker->shared->may_loop = may_loop(&mutant);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(mutant.data, 1, mutant.size, file) != mutant.size ||
            fclose(file) != 0)
            wrong(worker, path, "cannot write");
    }
    amp_arena_destroy(mutant.arena);
    amp_bytes_close(&bytes);
    return is_model;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The sample's tensor where it can be had, else random values; false when there are none. */
static bool make_input(const struct amp_model *model, uint32_t id, const char *seed, size_t i,
                       struct amp_tensor *tensor)
{
    char path[4096];
    struct amp_error err = {.status = AMP_OK};
    struct amp_random_input plan;
    const struct amp_value *value = amp_value_at(model, id);
    snprintf(path, sizeof path, "%.*s/test_data_set_0/input_%zu.pb",
             (int)(strlen(seed) - strlen("/model.onnx")), seed, i);
    if (access(path, R_OK) == 0 && amp_tensor_load(path, value->kind, tensor, &err) == AMP_OK) {
        if (tensor->dtype == value->dtype)
            return true;
        amp_tensor_release(tensor);
    }
    int64_t *sizes = amp_arena_array(model->arena, model->n_symbols, sizeof *sizes);
    for (size_t s = 0; s < model->n_symbols; s++)
        sizes[s] = 2;
    err = (struct amp_error){.status = AMP_OK};
    if (amp_random_input_plan(model, id, sizes, &plan, &err) != AMP_OK)
        return false;
    size_t size;
    return amp_shape_size(&plan.shape, AMP_DOUBLE, &size, &err) == AMP_OK &&
           size <= INPUT_ELEMENTS_MAX * sizeof(double) &&
           amp_random_input_make(&plan, 1, 0, tensor, &err) == AMP_OK;
}

/* Some of the values become extreme. */
static void spoil_input(struct amp_tensor *tensor, uint64_t *state)
{
    size_t size = amp_tensor_size(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    if (amp_tensor_is_list(tensor) || size == 0 || width == 0 || width > 8 || !one_in(state, 3))
        return;
    bool is_float = amp_dtype_is_autocast(tensor->dtype) || tensor->dtype == AMP_DOUBLE;
    for (size_t n = 1 + below(state, 3); n > 0; n--) {
        size_t i = below(state, size / width);
        int64_t integer = odd_integer(state, (int64_t)below(state, 5));
        if (is_float)
            amp_tensor_set_double(tensor, i, odd_float(state, 1));
        else
            memcpy((char *)tensor->data + i * width, &integer, width);
    }
}

static bool make_inputs(const struct amp_model *model, const char *seed, struct amp_tensor *inputs,
                        uint64_t *state)
{
    const struct amp_ids *ids = &model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *value = amp_value_at(model, ids->items[i]);
        if (value->initial != NULL || value->constant != NULL)
            continue;
        if (!make_input(model, ids->items[i], seed, i, &inputs[i]))
            return false;
        spoil_input(&inputs[i], state);
    }
    return true;
}

static void release_all(struct amp_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        amp_tensor_release(&tensors[i]);
}

/* Runs the model twice, the second time with what the session kept of the first. */
static void run_model(struct worker *worker, const struct amp_model *model, const char *seed,
                      uint64_t *state)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_session *session = NULL;
    size_t n_inputs = model->graphs[0].inputs.count, n_outputs = model->graphs[0].outputs.count;
    enum amp_status status = amp_session_open(model, false, &session, &err);
    expect_message(worker, "session", status, &err);
    for (int i = 0; i < 2 && status == AMP_OK; i++) {
        struct amp_tensor *inputs = amp_xcalloc(n_inputs, sizeof *inputs);
        struct amp_tensor *outputs = amp_xcalloc(n_outputs, sizeof *outputs);
        if (make_inputs(model, seed, inputs, state)) {
            status = amp_session_run(session, inputs, outputs, &err);
            expect_message(worker, "run", status, &err);
            worker->shared->run += status == AMP_OK;
        } else {
            status = AMP_USAGE;
        }
        release_all(inputs, n_inputs);
        release_all(outputs, n_outputs);
        free(inputs);
        free(outputs);
    }
    amp_session_destroy(session);
}

static void read_and_run(struct worker *worker, const char *path, const char *seed, uint64_t *state)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_model_read(path, &file, &err);
    expect_message(worker, "read", status, &err);
    if (status != AMP_OK)
        return;
    worker->shared->read++;
    status = amp_infer(file.model, &err);
    expect_message(worker, "infer", status, &err);
    if (status == AMP_OK)
        run_model(worker, file.model, seed, state);
    amp_model_close(&file);
}

/* ---- converting ------------------------------------------------------------------------------ */

enum { WORDS_MAX = 40 };

/* What a conversion may be asked for beside the dtype, by chance. */
static const struct {
    size_t odds; /* one in so many */
    const char *option, *value;
    bool is_file; /* the value is one, in the worker's folder */
} extras[] = {
    {4, "--explain", NULL, false},
    {4, "--rules", "torch-cuda", false},
    {8, "--rules", "tensorflow", false},
    {8, "--cast-cache", "off", false},
    {4, "--json", "/report.json", true},
    {3, "--node", "*=lower", false},
    {6, "--opset", "22", false},
    {8, "--opset", "keep", false},
    {6, "--io", "lower", false},
    {6, "--external-data", "to.data", false},
    {3, "--external-threshold", "1", false},
};

static void add_word(char **words, int *count, const char *head, const char *tail)
{
    size_t size = strlen(head) + strlen(tail) + 1;
    words[*count] = amp_xmalloc(size, 1);
    snprintf(words[(*count)++], size, "%s%s", head, tail);
}

typedef enum amp_status work_of(const struct amp_options *options, struct amp_error *err);

/* Runs a command with what the COUNT words say, and frees these. */
static enum amp_status run_words(const struct worker *worker, work_of *run, char **words, int count)
{
    struct amp_options options;
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_command_line_parse(count, words, &options, &err);
    if (status != AMP_OK)
        wrong(worker, "options", err.text);
    status = run(&options, &err);
    expect_message(worker, "command", status, &err);
    amp_command_line_free(&options);
    while (count > 0)
        free(words[--count]);
    return status;
}

static enum amp_status convert(struct worker *worker, const char *from, const char *to,
                               const char *dtype, bool validates, uint64_t *state)
{
    char *words[WORDS_MAX];
    int n = 0;
    add_word(words, &n, "ampconv", "");
    add_word(words, &n, from, "");
    add_word(words, &n, "--output=", to);
    add_word(words, &n, "--dtype=", dtype);
    add_word(words, &n, "--quiet", "");
    if (!validates)
        add_word(words, &n, "--no-validate", "");
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        if (!one_in(state, extras[i].odds))
            continue;
        add_word(words, &n, extras[i].option, "");
        if (extras[i].value != NULL)
            add_word(words, &n, extras[i].is_file ? worker->folder : "", extras[i].value);
    }
    return run_words(worker, amp_command_convert, words, n);
}

static bool files_are_equal(const char *a, const char *b)
{
    struct amp_bytes x, y;
    struct amp_error err = {.status = AMP_OK};
    if (amp_bytes_open(&x, a, &err) != AMP_OK || amp_bytes_open(&y, b, &err) != AMP_OK)
        return false;
    bool are_equal = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    amp_bytes_close(&x);
    amp_bytes_close(&y);
    return are_equal;
}

static void check_converted(const struct worker *worker, const char *path)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    if (amp_model_read_to_convert(path, &file, &err) != AMP_OK)
        wrong(worker, "the converted model cannot be read", err.text);
    if (amp_infer(file.model, &err) != AMP_OK || amp_check_model(file.model, &err) != AMP_OK)
        wrong(worker, "the converted model is wrong", err.text);
    amp_model_close(&file);
}

/* Whether operators take the shapes of the model at PATH. Where one refuses them, what is declared
   behind it is all there is, and may say two things: which is believed may change with a cast. */
static bool has_shapes(const char *path)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    bool is_told;
    bool has = amp_model_read_to_convert(path, &file, &err) == AMP_OK &&
               amp_infer(file.model, &err) == AMP_OK &&
               amp_infer_check_shapes(file.model, &is_told, &err) == AMP_OK;
    amp_model_close(&file);
    return has;
}

static void convert_mutant(struct worker *worker, const char *path, uint64_t *state)
{
    char to[SCRATCH_MAX + 32], again[SCRATCH_MAX + 32];
    const char *dtype = one_in(state, 2) ? "bf16" : "fp16";
    uint64_t options = next_random(state), copy = options;
    snprintf(to, sizeof to, "%s/once/to.onnx", worker->folder);
    snprintf(again, sizeof again, "%s/again/to.onnx", worker->folder);
    bool validates = one_in(state, 3); /* float16 looks at values then, and goes by them */
    enum amp_status status = convert(worker, path, to, dtype, validates, &copy);
    bool is_there = access(to, F_OK) == 0;
    if (is_there != (status == AMP_OK))
        wrong(worker, "convert", is_there ? "refused, but there is a file" : "no file");
    if (!is_there)
        return;
    worker->shared->converted++;
    check_converted(worker, to);
    copy = options;
    if (convert(worker, to, again, dtype, validates, &copy) != AMP_OK)
        wrong(worker, "convert again", "refused");
    if (!files_are_equal(to, again) && has_shapes(to))
        wrong(worker, "convert again", "the model changed");
    if (worker->kept != NULL) {
        char kept[4200];
        snprintf(kept, sizeof kept, "%s/%zu.out.onnx", worker->kept, worker->shared->mutant);
        rename(to, kept);
    }
}

/* ---- training -------------------------------------------------------------------------------- */

/* One step, as the model says or as is made for it, or the step as a graph. */
static void train_mutant(struct worker *worker, const char *path, uint64_t *state)
{
    static const char *const made[] = {"--make-training=loss=mse,optimizer=adam",
                                       "--make-training=loss=cross_entropy,optimizer=momentum"};
    char to[SCRATCH_MAX + 32], *words[WORDS_MAX];
    int n = 0;
    snprintf(to, sizeof to, "%s/once/to.onnx", worker->folder);
    remove(to);
    add_word(words, &n, "ampconv", "");
    add_word(words, &n, "train", "");
    add_word(words, &n, path, "");
    add_word(words, &n, "--quiet", "");
    add_word(words, &n, "--output=", to);
    add_word(words, &n, one_in(state, 4) ? "--expand" : "--steps=2", "");
    if (one_in(state, 2))
        add_word(words, &n, made[below(state, 2)], "");
    enum amp_status status = run_words(worker, amp_command_train, words, n);
    bool is_there = access(to, F_OK) == 0;
    if (is_there != (status == AMP_OK))
        wrong(worker, "train", is_there ? "refused, but there is a file" : "no file");
    worker->shared->trained += is_there;
    if (is_there)
        check_converted(worker, to);
}

/* ---- the worker and its watch ---------------------------------------------------------------- */

/* Folders for what is converted once and twice. */
static void make_folders(const struct worker *worker)
{
    char path[SCRATCH_MAX + 32];
    snprintf(path, sizeof path, "%s/once", worker->folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/again", worker->folder);
    mkdir(path, 0700);
}

/* Removes what a mutant may leave; what else is there stays. */
static void remove_files(const struct worker *worker)
{
    static const char *const names[] = {"from.onnx",     "report.json",  "once/to.onnx",
                                        "again/to.onnx", "once/to.data", "again/to.data",
                                        "once",          "again"};
    char path[SCRATCH_MAX + 32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", worker->folder, names[i]);
        remove(path);
    }
}

static void end_hang(int number)
{
    (void)number;
    _exit(EXIT_HANG);
}

static void run_mutant(struct worker *worker)
{
    uint64_t state = worker->shared->mutant * 2654435761u + 1;
    const char *seed = worker->seeds.gl_pathv[below(&state, worker->seeds.gl_pathc)];
    char path[4200];
    if (worker->kept != NULL)
        snprintf(path, sizeof path, "%s/%zu.onnx", worker->kept, worker->shared->mutant);
    else
        snprintf(path, sizeof path, "%s/from.onnx", worker->folder);
    struct itimerval limit = {.it_value.tv_sec = SECONDS_MAX};
    setitimer(ITIMER_PROF, &limit, NULL);
    make_folders(worker);
    if (make_mutant(worker, seed, path, &state)) {
        read_and_run(worker, path, seed, &state);
        convert_mutant(worker, path, &state);
        train_mutant(worker, path, &state);
    }
    remove_files(worker);
    if (amp_memory_used() != 0)
        wrong(worker, "memory", "tensors were not released");
    if (rmdir(worker->folder) != 0 || mkdir(worker->folder, 0700) != 0)
        wrong(worker, "files", "some were left behind");
}

static _Noreturn void work(struct worker *worker, size_t end)
{
    signal(SIGPROF, end_hang);
    amp_memory_set_limit(MEMORY_MAX);
    if (freopen("/dev/null", "w", stdout) == NULL)
        _exit(EXIT_WRONG);
    for (; worker->shared->mutant < end; worker->shared->mutant++)
        run_mutant(worker);
    globfree(&worker->seeds);
    exit(0); /* looks for leaks */
}

/* Moves the model that a worker found a fault with out of its folder, which will be removed. */
static void keep_model(const struct worker *worker)
{
    char from[SCRATCH_MAX + 32], kept[SCRATCH_MAX + 64];
    snprintf(from, sizeof from, "%s/from.onnx", worker->folder);
    snprintf(kept, sizeof kept, "%s.%zu.onnx", worker->folder, worker->shared->mutant);
    if (rename(from, kept) == 0)
        fprintf(stderr, "%s: the model of the mutant that follows\n", kept);
}

/* Removes what a worker that ended early left. */
static void clean(const struct worker *worker)
{
    char command[2 * SCRATCH_MAX + 64];
    snprintf(command, sizeof command, "rm -rf '%s'/* '%s'/*/.ampconv.*", worker->folder,
             worker->folder);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* How a worker's end that was not at END came about; NULL when it may be. */
static const char *fault(const struct shared *shared, int status)
{
    if (WIFSIGNALED(status))
        return "it crashed";
    switch (WEXITSTATUS(status)) {
    case AMP_EXIT_SYSTEM:
        return NULL;
    case EXIT_HANG:
        return shared->may_loop ? NULL : "it hangs";
    case EXIT_WRONG:
        return "it is wrong";
    default:
        return "the sanitizers found something";
    }
}

static size_t number_of(const char *variable, size_t fallback)
{
    const char *text = getenv(variable);
    return text ? strtoul(text, NULL, 10) : fallback;
}

struct tally {
    size_t faults, hung, starved;
};

/* One worker, from the mutant at hand to the one that ends it; false when it came to END. */
static bool run_worker(struct worker *worker, size_t end, struct tally *tally)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        work(worker, end);
    assert_int_equal(waitpid(child, &status, 0), child);
    const char *what = status == 0 ? NULL : fault(worker->shared, status);
    if (what != NULL)
        keep_model(worker);
    clean(worker);
    tally->hung += WIFEXITED(status) && WEXITSTATUS(status) == EXIT_HANG;
    tally->starved += WIFEXITED(status) && WEXITSTATUS(status) == AMP_EXIT_SYSTEM;
    if (what != NULL) {
        tally->faults++;
        fprintf(stderr, "mutant %zu: %s: HOSTILE_FIRST=%zu HOSTILE_COUNT=1\n",
                worker->shared->mutant, what, worker->shared->mutant);
    }
    return status != 0;
}

static void hostile_models_are_refused_or_converted(void **unused)
{
    (void)unused;
    size_t first = number_of("HOSTILE_FIRST", 0);
    size_t count = number_of("HOSTILE_COUNT", MUTANTS), end = first + count;
    struct tally tally = {.faults = 0};
    static struct worker worker;
    worker.kept = getenv("HOSTILE_KEEP");
    scratch_folder(worker.folder, sizeof worker.folder);
    collect_seeds(&worker.seeds);
    worker.shared = mmap(NULL, sizeof *worker.shared, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(worker.shared != MAP_FAILED);
    worker.shared->mutant = first;
    while (worker.shared->mutant < end && run_worker(&worker, end, &tally))
        worker.shared->mutant++;
    rmdir(worker.folder);
    fprintf(stderr,
            "# %zu seeds; of %zu mutants %zu read, %zu converted, %zu trained; %zu runs; %zu ended "
            "for want of memory, %zu in a loop without end\n",
            worker.seeds.gl_pathc, count, worker.shared->read, worker.shared->converted,
            worker.shared->trained, worker.shared->run, tally.starved, tally.hung);
    size_t read = worker.shared->read, converted = worker.shared->converted;
    size_t trained = worker.shared->trained;
    munmap(worker.shared, sizeof *worker.shared);
    globfree(&worker.seeds);
    assert_int_equal(tally.faults, 0);
    /* Mutants that are all refused would show nothing. */
    assert_true(count < 500 || (read > count / 3 && converted > read / 3 && trained > read / 20));
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_models_are_refused_or_converted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
