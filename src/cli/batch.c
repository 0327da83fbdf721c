/*
 * Several models in one call: takes files and folders, gives each model a process that converts it
 * as `ampconv MODEL --json` does, a few at a time, and makes one report of theirs. Of a process it
 * knows only its exit code, what it said and its report; what became of a model is in that.
 */
#include "cli/batch.h"

#include "cli/convert/convert.h"
#include "cli/destination.h"
#include "cli/options/threads.h"
#include "cli/progress.h"
#include "cli/report/batch.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "core/file/input.h"
#include "core/file/output.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/process/ending.h"
#include "core/words.h"
#include "run/exec/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A model on its way. */
struct item {
    const char *model, *output;
    volatile pid_t process; /* 0: none runs */
    int said, report;       /* files in memory that the process writes to */
    bool is_done;
};

struct batch {
    const struct amp_options *options;
    struct amp_arena *arena;
    struct amp_target target;
    struct item *items;
    size_t count, capacity;
    size_t at_once;
    int threads; /* of each process */
    size_t n_done, n_reported;
    struct amp_batch_report report;
    struct amp_error *err;
};

/* ---- what there is to do --------------------------------------------------------------------- */

static void add_model(struct batch *batch, const char *path)
{
    struct item *item =
        amp_arena_push(batch->arena, &batch->items, &batch->count, &batch->capacity, sizeof *item);
    *item = (struct item){.model = path};
}

static int is_model(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && amp_word_has_ending(entry->d_name, ".onnx");
}

static enum amp_status add_folder(struct batch *batch, const char *path)
{
    struct dirent **entries;
    size_t length = strlen(path);
    const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
    int n = scandir(path, &entries, is_model, versionsort);
    if (n < 0)
        return amp_fail(batch->err, AMP_IO, "%s: cannot read the folder: %s", path,
                        strerror(errno));
    for (int i = 0; i < n; i++) {
        add_model(batch, amp_arena_printf(batch->arena, "%s%s%s", path, slash, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    if (n == 0)
        return amp_fail(batch->err, AMP_USAGE, "%s: no model: no NAME.onnx in the folder", path);
    return AMP_OK;
}

static enum amp_status find_models(struct batch *batch)
{
    const struct amp_texts *operands = &batch->options->operands;
    struct stat info;
    for (size_t i = 0; i < operands->count; i++) {
        const char *path = operands->items[i];
        if (strcmp(path, "-") == 0)
            return amp_fail(batch->err, AMP_USAGE,
                            "--output-dir is for models that have names: "
                            "stdin has none");
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            AMP_TRY(add_folder(batch, path));
        else
            add_model(batch, path);
    }
    return AMP_OK;
}

/* ---- where it goes --------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* AMP_USAGE where the output of ITEM is that of an earlier one, or a model that is still to be
   read. */
static enum amp_status check_item(const struct batch *batch, const struct item *item)
{
    struct stat info;
    for (const struct item *other = batch->items; other < item; other++)
        if (strcmp(other->output, item->output) == 0)
            return amp_fail(batch->err, AMP_USAGE, "%s and %s would both become %s", other->model,
                            item->model, item->output);
    if (lstat(item->output, &info) != 0)
        return AMP_OK;
    for (size_t i = 0; i < batch->count; i++)
        if (is_same_file(batch->items[i].model, item->output))
            return amp_fail(batch->err, AMP_USAGE, "%s would become %s, which is to be converted",
                            item->model, item->output);
    if (batch->options->is_forced)
        return AMP_OK;
    return amp_fail(batch->err, AMP_IO, "%s exists; use --force, or another --output-dir",
                    item->output);
}

static bool is_place(const char *path, const struct item *item)
{
    return path != NULL && strcmp(path, item->output) == 0;
}

/* Chooses the files that the models become. */
static enum amp_status choose_outputs(struct batch *batch)
{
    const char *folder = batch->options->output_dir;
    for (struct item *item = batch->items; item < batch->items + batch->count; item++) {
        const char *name = amp_destination_default(&batch->target, item->model, batch->arena);
        const char *slash = strrchr(name, '/');
        item->output =
            amp_arena_printf(batch->arena, "%s/%s", folder, slash != NULL ? slash + 1 : name);
        AMP_TRY(check_item(batch, item));
        if (is_place(batch->options->json, item) || is_place(batch->options->report, item))
            return amp_fail(batch->err, AMP_USAGE, "%s: that is a model itself", item->output);
    }
    return AMP_OK;
}

/* Makes the folder and finds out whether all that is written can be. */
static enum amp_status check_places(const struct batch *batch)
{
    const struct amp_options *options = batch->options;
    if (mkdir(options->output_dir, 0777) != 0 && errno != EEXIST)
        return amp_fail(batch->err, AMP_IO, "%s: cannot create the folder: %s", options->output_dir,
                        strerror(errno));
    AMP_TRY(amp_output_check(batch->items[0].output, batch->err));
    if (options->json != NULL)
        AMP_TRY(amp_output_check(options->json, batch->err));
    return options->report != NULL ? amp_output_check(options->report, batch->err) : AMP_OK;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* What runs, for the end of the program. */
static struct batch *running;

static void end_processes(void)
{
    for (size_t i = 0; running != NULL && i < running->count; i++)
        if (running->items[i].process > 0)
            kill(running->items[i].process, SIGTERM);
}

/* Converts a model, in the process that is its own. That ends without the destructors of libraries,
   which write to about all pages that it shares with its parent: they would take as long as a small
   model does. */
static void convert(const struct batch *batch, const struct item *item)
{
    struct amp_options own = *batch->options;
    struct amp_error err = {.status = AMP_OK};
    const char *model = item->model;
    own.operands = (struct amp_texts){&model, 1};
    own.output = item->output;
    own.json = "-";
    own.report = own.output_dir = NULL;
    own.jobs = -1;
    if (own.max_memory == 0)
        amp_memory_set_limit(amp_memory_limit() / batch->at_once);
    amp_threads_limit(batch->threads);
    enum amp_status status = amp_command_convert(&own, &err);
    if (status != AMP_OK)
        amp_report_failure(&own, &err);
    fflush(NULL);
    amp_ending_run();
    _exit(amp_status_exit_code(status));
}

static bool redirect(const struct item *item)
{
    int nothing = open("/dev/null", O_RDONLY);
    return dup2(nothing, STDIN_FILENO) >= 0 && dup2(item->report, STDOUT_FILENO) >= 0 &&
           dup2(item->said, STDERR_FILENO) >= 0;
}

static enum amp_status start(struct batch *batch, struct item *item)
{
    sigset_t before;
    item->said = memfd_create("said", MFD_CLOEXEC);
    item->report = memfd_create("report", MFD_CLOEXEC);
    if (item->said < 0 || item->report < 0)
        return amp_fail(batch->err, AMP_IO, "%s: cannot start: %s", item->model, strerror(errno));
    fflush(NULL);
    amp_ending_hold(&before);
    pid_t process = fork();
    if (process == 0)
        running = NULL;
    else
        item->process = process;
    amp_ending_let(&before);
    if (process < 0)
        return amp_fail(batch->err, AMP_IO, "%s: cannot start: %s", item->model, strerror(errno));
    if (process == 0 && redirect(item))
        convert(batch, item);
    if (process == 0)
        _exit(AMP_EXIT_SYSTEM);
    return AMP_OK;
}

/* ---- what came of it ------------------------------------------------------------------------- */

/* What FILE, which is in memory, holds, in ARENA. */
static const char *text_of(int file, struct amp_arena *arena)
{
    off_t size = lseek(file, 0, SEEK_END);
    size_t used = 0, length = size > 0 ? (size_t)size : 0;
    char *text = amp_arena_alloc(arena, length + 1);
    ssize_t n = 1;
    while (used < length && n > 0) {
        n = pread(file, text + used, length - used, (off_t)used);
        used += n > 0 ? (size_t)n : 0;
    }
    text[used] = '\0';
    close(file);
    return text;
}

/* The report of a model whose process gives none: STATE is how that ended, SAID its last words. */
static json_t *report_of_end(const struct item *item, int state, const char *said)
{
    struct amp_error failed = {.status = AMP_OK};
    const struct amp_options options = {
        .operands = {.items = (const char *[]){item->model}, .count = 1}};
    size_t length = strlen(said);
    while (length > 0 && said[length - 1] == '\n')
        length--;
    const char *line = length > 0 ? memrchr(said, '\n', length) : NULL;
    line = line != NULL ? line + 1 : said;
    if (WIFSIGNALED(state))
        amp_error_record(&failed, AMP_IO, "%s: signal %d ended the conversion (%s)", item->model,
                         WTERMSIG(state), strsignal(WTERMSIG(state)));
    else
        amp_error_record(&failed, AMP_IO, "%s: no report: %.*s", item->model,
                         (int)(length - (size_t)(line - said)), line);
    return amp_json_failure(&options, &failed);
}

static void finish(struct batch *batch, struct item *item, int state)
{
    const char *said = text_of(item->said, batch->arena);
    const char *report = text_of(item->report, batch->arena);
    json_t *root = json_loads(report, 0, NULL);
    if (root == NULL || WIFSIGNALED(state)) {
        json_decref(root);
        root = report_of_end(item, state, said);
    }
    json_array_set_new(batch->report.models, (size_t)(item - batch->items), root);
    item->process = 0;
    item->is_done = true;
    batch->n_done++;
    if (batch->options->verbosity > 0 && !batch->options->is_quiet) {
        amp_progress_clear();
        fputs(said, stderr);
    }
}

/* Prints the lines of models that are done, but of none before its turn. */
static void print_lines(struct batch *batch)
{
    for (; batch->n_reported < batch->count && batch->items[batch->n_reported].is_done;
         batch->n_reported++) {
        amp_progress_clear();
        amp_report_batch_line(stderr, &batch->report, batch->n_reported, batch->options->is_quiet);
    }
}

static enum amp_status wait_for_one(struct batch *batch)
{
    int state;
    pid_t process;
    do
        process = waitpid(-1, &state, 0);
    while (process < 0 && errno == EINTR);
    if (process < 0)
        return amp_fail(batch->err, AMP_IO, "cannot wait for a conversion: %s", strerror(errno));
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].process == process)
            finish(batch, &batch->items[i], state);
    print_lines(batch);
    return AMP_OK;
}

static enum amp_status run_all(struct batch *batch)
{
    enum amp_status status = AMP_OK;
    running = batch;
    amp_ending_add(AMP_ENDING_PROCESSES, end_processes);
    amp_progress_begin("converting");
    for (size_t next = 0; batch->n_done < batch->count && status == AMP_OK;) {
        bool has_room = next - batch->n_done < batch->at_once && next < batch->count;
        status = has_room ? start(batch, &batch->items[next]) : wait_for_one(batch);
        next += has_room;
        amp_progress_step(batch, batch->n_done, batch->count);
    }
    amp_progress_end();
    if (status != AMP_OK)
        end_processes();
    running = NULL;
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Shares the processors out: to a process per model as long as there are some. */
static void divide(struct batch *batch)
{
    const struct amp_options *options = batch->options;
    size_t all = (size_t)amp_session_threads();
    batch->at_once = options->jobs > 0 ? (size_t)options->jobs : all;
    if (batch->at_once > batch->count)
        batch->at_once = batch->count;
    batch->threads = (int)(all > batch->at_once ? all / batch->at_once : 1);
    if (options->threads > 0)
        batch->threads = (int)options->threads;
}

static enum amp_status convert_all(struct batch *batch)
{
    const struct amp_options *options = batch->options;
    AMP_TRY(amp_target_parse(options, &batch->target, batch->err));
    AMP_TRY(find_models(batch));
    AMP_TRY(choose_outputs(batch));
    AMP_TRY(check_places(batch));
    divide(batch);
    for (size_t i = 0; i < batch->count; i++)
        json_array_append_new(batch->report.models, json_null());
    AMP_TRY(run_all(batch));
    enum amp_status worst = amp_batch_report_end(&batch->report);
    if (options->report != NULL)
        AMP_TRY(amp_html_batch_page(&batch->report, options->report, batch->err));
    if (options->json != NULL)
        AMP_TRY(amp_report_write(amp_json_batch(&batch->report), options, worst, batch->err));
    if (worst != AMP_OK)
        return amp_fail(batch->err, worst, "%s", batch->report.summary);
    if (!options->is_quiet)
        amp_print(stderr, "%s\n", batch->report.summary);
    return AMP_OK;
}

enum amp_status amp_command_batch(const struct amp_options *options, struct amp_error *err)
{
    struct batch batch = {
        .options = options, .arena = amp_arena_create(), .report.models = json_array(), .err = err};
    enum amp_status status = convert_all(&batch);
    json_decref(batch.report.models);
    amp_arena_destroy(batch.arena);
    return status;
}
