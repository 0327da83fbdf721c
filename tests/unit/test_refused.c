/* What can be refused, refused once: each buffer that a run takes, each claim of memory, each call
   of oneDNN that can fail, one after the other, in the operators' cases; in commands these and what
   the system is asked of files. Where the program asks once more or goes another way the outputs
   are those of an undisturbed run; else it ends with what was refused as its error, and no file is
   left. Nothing stays allocated. The linker lets the program's functions pass here (__wrap_); those
   of libraries are passed by these of the same names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/command_line.h"
#include "cli/convert/convert.h"
#include "cli/rules.h"
#include "cli/run.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/roofline.h"
#include "ops/kernel/tensor_cast.h"
#include "scratch.h"
#include "trial.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* At most so many refusals in a case and in a command, spread over all that could be refused. */
enum { REFUSALS = 48, COMMAND_REFUSALS = 6 };

/* Of the commands every third: a run of one takes as long as many of an operator. */
enum { COMMAND_STEP = 3 };

/* ---- what is refused ------------------------------------------------------------------------- */

/* How many calls have come since the count began, which of them is refused (0: none), what it was
   and what oneDNN answers. Where that is that it has no such thing, only what it makes counts;
   where files fail, only what is asked of the system. */
static struct {
    size_t count, refused;
    const char *what;
    dnnl_status_t answer;
    bool are_of_files;
    bool asks_layout; /* a layout is asked for, which need not be */
    bool was_layout;  /* the refused call was for one */
} calls;

static bool count_call(const char *what)
{
    if (++calls.count != calls.refused)
        return false;
    calls.what = what;
    calls.was_layout = calls.asks_layout;
    return true;
}

static bool is_refused(bool can_lack, const char *what)
{
    if (calls.are_of_files || (calls.answer != dnnl_out_of_memory && !can_lack))
        return false;
    return count_call(what);
}

static bool fails(const char *what)
{
    return calls.are_of_files && count_call(what);
}
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the libraries' are others */

struct amp_buffer *__real_amp_buffer_create(size_t size);
struct amp_buffer *__wrap_amp_buffer_create(size_t size);
struct amp_buffer *__real_amp_buffer_create_again(const struct amp_buffer *former, size_t size);
struct amp_buffer *__wrap_amp_buffer_create_again(const struct amp_buffer *former, size_t size);
bool __real_amp_memory_claim(size_t size);
bool __wrap_amp_memory_claim(size_t size);

/* What a buffer held before, the right outputs maybe, is no longer in it. */
struct amp_buffer *__wrap_amp_buffer_create(size_t size)
{
    struct amp_buffer *buffer = is_refused(false, "buffer") ? NULL : __real_amp_buffer_create(size);
    if (buffer != NULL)
        memset(buffer->data, 0xa5, size);
    return buffer;
}

struct amp_buffer *__wrap_amp_buffer_create_again(const struct amp_buffer *former, size_t size)
{
    struct amp_buffer *buffer =
        is_refused(false, "buffer") ? NULL : __real_amp_buffer_create_again(former, size);
    if (buffer != NULL)
        memset(buffer->data, 0xa5, size);
    return buffer;
}

bool __wrap_amp_memory_claim(size_t size)
{
    return !is_refused(false, "claim") && __real_amp_memory_claim(size);
}

/* Questions for a layout of ops/dnnl/layout.h. */
#define ASKING(name, parameters, ...)         \
    bool __real_##name parameters;            \
    bool __wrap_##name parameters;            \
    bool __wrap_##name parameters             \
    {                                         \
        calls.asks_layout = true;             \
        bool is = __real_##name(__VA_ARGS__); \
        calls.asks_layout = false;            \
        return is;                            \
    }

ASKING(amp_layout_permute,
       (struct amp_layouts * layouts, const struct amp_tensor *in, const int *perm,
        const struct amp_layout **layout),
       layouts, in, perm, layout)
ASKING(amp_layout_reshape,
       (struct amp_layouts * layouts, const struct amp_tensor *in, const struct amp_shape *shape,
        struct amp_reshaped *reshaped),
       layouts, in, shape, reshaped)
ASKING(amp_layout_like,
       (struct amp_layouts * layouts, const struct amp_tensor *model, const struct amp_shape *shape,
        const struct amp_layout **layout),
       layouts, model, shape, layout)
ASKING(amp_layout_part,
       (struct amp_layouts * layouts, const struct amp_tensor *tensor,
        const struct amp_shape *shape, const struct amp_layout **part),
       layouts, tensor, shape, part)
ASKING(amp_layout_in_dtype,
       (struct amp_layouts * layouts, const struct amp_tensor *tensor, enum amp_dtype dtype,
        const struct amp_layout **same),
       layouts, tensor, dtype, same)

/* Of what NAME, a macro maybe, stands for. */
#define AS_TEXT(name) AS_TEXT_ITSELF(name)
#define AS_TEXT_ITSELF(name) #name

#define REFUSABLE(name, can_lack, parameters, ...)                             \
    dnnl_status_t name parameters                                              \
    {                                                                          \
        static dnnl_status_t(*real) parameters;                                \
        if (real == NULL)                                                      \
            *(void **)&real = dlsym(RTLD_NEXT, AS_TEXT(name));                 \
        return is_refused(can_lack, #name) ? calls.answer : real(__VA_ARGS__); \
    }

REFUSABLE(dnnl_memory_create, true,
          (dnnl_memory_t * memory, const_dnnl_memory_desc_t desc, dnnl_engine_t engine, void *data),
          memory, desc, engine, data)
REFUSABLE(dnnl_memory_desc_create_with_strides, true,
          (dnnl_memory_desc_t * desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
           const dnnl_dims_t strides),
          desc, rank, dims, type, strides)
REFUSABLE(dnnl_memory_desc_create_with_tag, true,
          (dnnl_memory_desc_t * desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
           dnnl_format_tag_t tag),
          desc, rank, dims, type, tag)
REFUSABLE(dnnl_post_ops_create, true, (dnnl_post_ops_t * ops), ops)
REFUSABLE(dnnl_post_ops_append_binary, true,
          (dnnl_post_ops_t ops, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t desc), ops, kind,
          desc)
REFUSABLE(dnnl_post_ops_append_eltwise, true,
          (dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta), ops, kind, alpha,
          beta)
REFUSABLE(dnnl_primitive_attr_create, true, (dnnl_primitive_attr_t * attr), attr)
REFUSABLE(dnnl_primitive_attr_set_post_ops, true,
          (dnnl_primitive_attr_t attr, const_dnnl_post_ops_t ops), attr, ops)
REFUSABLE(dnnl_primitive_attr_set_scratchpad_mode, true,
          (dnnl_primitive_attr_t attr, dnnl_scratchpad_mode_t mode), attr, mode)
REFUSABLE(dnnl_primitive_create, true,
          (dnnl_primitive_t * primitive, const_dnnl_primitive_desc_t desc), primitive, desc)
REFUSABLE(dnnl_primitive_execute, false,
          (const_dnnl_primitive_t primitive, dnnl_stream_t stream, int n,
           const dnnl_exec_arg_t *args),
          primitive, stream, n, args)
REFUSABLE(dnnl_reorder_primitive_desc_create, true,
          (dnnl_primitive_desc_t * desc, const_dnnl_memory_desc_t from, dnnl_engine_t from_engine,
           const_dnnl_memory_desc_t to, dnnl_engine_t to_engine, const_dnnl_primitive_attr_t attr),
          desc, from, from_engine, to, to_engine, attr)
REFUSABLE(dnnl_concat_primitive_desc_create, true,
          (dnnl_primitive_desc_t * desc, dnnl_engine_t engine, const_dnnl_memory_desc_t to, int n,
           int axis, const_dnnl_memory_desc_t const *from, const_dnnl_primitive_attr_t attr),
          desc, engine, to, n, axis, from, attr)
REFUSABLE(dnnl_engine_create, false,
          (dnnl_engine_t * engine, dnnl_engine_kind_t kind, size_t index), engine, kind, index)
REFUSABLE(dnnl_stream_create, false, (dnnl_stream_t * stream, dnnl_engine_t engine, unsigned flags),
          stream, engine, flags)
REFUSABLE(dnnl_stream_wait, false, (dnnl_stream_t stream), stream)
REFUSABLE(dnnl_sgemm, false,
          (char ta, char tb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
           dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc),
          ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)

#define FAILING(fails, type, name, failure, parameters, ...)   \
    type name parameters                                       \
    {                                                          \
        static type(*real) parameters;                         \
        if (real == NULL)                                      \
            *(void **)&real = dlsym(RTLD_NEXT, AS_TEXT(name)); \
        if (!(fails))                                          \
            return real(__VA_ARGS__);                          \
        errno = EIO;                                           \
        return failure;                                        \
    }

FAILING(fails("read"), ssize_t, read, -1, (int file, void *bytes, size_t size), file, bytes, size)
FAILING(fails("write"), ssize_t, write, -1, (int file, const void *bytes, size_t size), file, bytes,
        size)
FAILING(fails("fstat"), int, fstat, -1, (int file, struct stat *of), file, of)
FAILING(fails("mmap"), void *, mmap, MAP_FAILED,
        (void *at, size_t size, int protection, int flags, int file, off_t from), at, size,
        protection, flags, file, from)
FAILING(fails("renameat"), int, renameat, -1,
        (int from, const char *path, int to, const char *other), from, path, to, other)
FAILING(fails("mkdir"), int, mkdir, -1, (const char *path, mode_t mode), path, mode)
FAILING(fails("fopen"), FILE *, fopen, NULL, (const char *path, const char *mode), path, mode)
FAILING(fails("opendir"), DIR *, opendir, NULL, (const char *path), path)
FAILING(fails("fchmod"), int, fchmod, -1, (int file, mode_t mode), file, mode)
FAILING(fails("realpath"), char *, realpath, NULL, (const char *path, char *full), path, full)

FAILING(is_refused(false, "pcre2"), pcre2_compile_context *, pcre2_compile_context_create, NULL,
        (pcre2_general_context * memory), memory)
FAILING(is_refused(false, "pcre2"), pcre2_match_data *, pcre2_match_data_create, NULL,
        (uint32_t size, pcre2_general_context *memory), size, memory)

/* The mode is there where a file may be made. */
static mode_t get_mode(int flags, va_list arguments)
{
    return flags & O_CREAT ? (mode_t)va_arg(arguments, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = get_mode(flags, arguments);
    va_end(arguments);
    errno = EIO;
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = get_mode(flags, arguments);
    va_end(arguments);
    errno = EIO;
    return fails("openat") ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* ---- one refusal ----------------------------------------------------------------------------- */

static bool is_near_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-3 + 2e-2 * fabs(b);
}

/* Whether bytes FOUND are WANTED within a step: what floats beside a tie are quantized to. */
static bool are_steps(const struct amp_tensor *found, const struct amp_tensor *wanted)
{
    size_t count = amp_tensor_count(wanted), i = 0;
    while (i < count && llabs(amp_tensor_int(found, i) - amp_tensor_int(wanted, i)) <= 1)
        i++;
    return i == count;
}

static bool is_quantized(const struct trial *trial)
{
    return strstr(trial->path, "/quantized/") != NULL;
}

/* Whether FOUND is WANTED: to the bit, floats within what another kernel rounds otherwise. */
static bool is_same(const struct trial *trial, const struct amp_tensor *found,
                    const struct amp_tensor *wanted)
{
    if (amp_tensor_is_list(wanted) || wanted->dtype == AMP_STRING)
        return true;
    if (found->dtype != wanted->dtype || !amp_shape_equal(&found->shape, &wanted->shape))
        return false;
    if (is_quantized(trial) && amp_dtype_bits(wanted->dtype) == 8)
        return are_steps(found, wanted);
    if (amp_dtype_class(wanted->dtype) != AMP_CLASS_FLOAT)
        return amp_tensor_size(wanted) == 0 ||
               memcmp(found->data, wanted->data, amp_tensor_size(wanted)) == 0;
    struct amp_tensor a = {.dtype = AMP_UNDEFINED}, b = a;
    bool is_near = amp_tensor_cast_copy(found, AMP_DOUBLE, &a, NULL) == AMP_OK &&
                   amp_tensor_cast_copy(wanted, AMP_DOUBLE, &b, NULL) == AMP_OK;
    for (int64_t i = 0; is_near && i < amp_shape_count(&wanted->shape); i++)
        is_near = is_near_number(((double *)a.data)[i], ((double *)b.data)[i]);
    amp_tensor_release(&a);
    amp_tensor_release(&b);
    return is_near;
}

/* Whether a run cannot do without the refused call: it was one of oneDNN. Convolutions of bytes
   have something else, and what gets no layout is row-major. */
static bool needs_call(const struct trial *trial)
{
    static const char *const others[] = {"/conv_integer", "/qlinear_conv", "/quantized/"};
    if (calls.what == NULL ||
        (strncmp(calls.what, "dnnl_", 5) != 0 && strcmp(calls.what, "pcre2") != 0) ||
        calls.was_layout)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(trial->path, others[i]) != NULL)
            return false;
    return true;
}

static size_t n_complaints;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vprint_error(format, words);
    va_end(words);
    print_error("\n");
    n_complaints++;
}

/* Whether a failure is that of the refused call. */
static bool is_refusal(enum amp_status status, const struct amp_error *err)
{
    if (calls.are_of_files)
        return status == AMP_IO && err->text[0] != '\0';
    if (calls.answer != dnnl_out_of_memory)
        return status == AMP_UNSUPPORTED && err->text[0] != '\0';
    return status == AMP_IO && strstr(err->text, "out of memory") != NULL;
}

static void refuse(const struct trial *trial, size_t number)
{
    struct amp_error err;
    struct amp_tensor *outputs = amp_xcalloc(trial->n_outputs + 1, sizeof *outputs);
    size_t used = amp_memory_used();
    calls.count = 0;
    calls.refused = number;
    calls.what = NULL;
    calls.was_layout = false;
    enum amp_status status = trial_run(trial, outputs, &err);
    calls.refused = 0;
    bool is_want = calls.answer == dnnl_out_of_memory;
    if (status != AMP_OK && !is_refusal(status, &err))
        complain("%s: without call %zu, %s: status %d: %s", trial->path, number, calls.what,
                 (int)status, err.text);
    if (status == AMP_OK && is_want && needs_call(trial))
        complain("%s: without call %zu, %s: done", trial->path, number, calls.what);
    for (size_t i = 0; status == AMP_OK && i < trial->n_outputs; i++)
        if (!is_same(trial, &outputs[i], &trial->outputs[i]))
            complain("%s: without call %zu, %s: output %zu is another", trial->path, number,
                     calls.what, i);
    amp_tensors_release(outputs, trial->n_outputs);
    free(outputs);
    if (amp_memory_used() > used)
        complain("%s: without call %zu, %s: memory was not returned", trial->path, number,
                 calls.what);
}

static void refuse_each(const struct trial *trial)
{
    refuse(trial, 0);
    size_t n = calls.count, step = n / REFUSALS + 1;
    for (size_t i = 1; i <= n; i += step)
        refuse(trial, i);
}

/* Whether the case ran. */
static bool try_case(const char *path)
{
    struct trial trial = {.path = path};
    struct amp_error err;
    bool has_run = trial_open(&trial) && !trial_is_random(&trial) &&
                   trial_run(&trial, trial.outputs, &err) == AMP_OK;
    if (has_run) {
        calls.answer = dnnl_out_of_memory;
        refuse_each(&trial);
        calls.answer = dnnl_unimplemented;
        refuse_each(&trial);
    }
    trial_close(&trial);
    return has_run;
}

static void what_is_refused_once_is_an_error_or_done_otherwise(void **state)
{
    glob_t paths;
    size_t count = 0;
    (void)state;
    assert_int_equal(glob("build/cases/ops/*/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        count += try_case(paths.gl_pathv[i]);
    globfree(&paths);
    assert_true(count > 1000);
    assert_int_equal(n_complaints, 0);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* A command-line case in a folder of its own, which has links to the case's files. */
struct command {
    const char *path; /* of its folder */
    char text[1024];  /* its arguments, cut into words */
    char *words[64];
    int n_words;
};

/* False for words in quotes, for what changes the limits of all that follows, and where dims are
   looked for: what there is no memory for is a try in vain then, and others follow. */
static bool read_command(struct command *command)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/args", command->path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(command->text, 1, sizeof command->text - 1, file);
    fclose(file);
    command->text[size] = '\0';
    if (strstr(command->path, "/dims_found") != NULL || size == sizeof command->text - 1 ||
        strpbrk(command->text, "'\"\\$") != NULL || strstr(command->text, "--max-memory") != NULL ||
        strstr(command->text, "-j") != NULL || strstr(command->text, "--threads") != NULL)
        return false;
    command->n_words = 0;
    command->words[command->n_words++] = command->text;
    for (char *word = strtok(command->text, " \n"); word != NULL && command->n_words < 63;
         word = strtok(NULL, " \n"))
        command->words[command->n_words++] = word;
    return true;
}

/* Runs the command; all that it prints goes to PRINTED. */
static enum amp_status run_command(struct command *command, int printed, struct amp_error *err)
{
    struct amp_options options;
    *err = (struct amp_error){.status = AMP_OK};
    fflush(stdout);
    int before = dup(STDOUT_FILENO), before_err = dup(STDERR_FILENO);
    assert_int_equal(ftruncate(printed, 0) + lseek(printed, 0, SEEK_SET), 0);
    dup2(printed, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);
    enum amp_status status =
        amp_command_line_parse(command->n_words, command->words, &options, err);
    if (status == AMP_OK && !options.wants_help && !options.wants_version)
        status = options.command == AMP_CMD_CONVERT ? amp_command_convert(&options, err)
                 : options.command == AMP_CMD_RUN   ? amp_command_run(&options, err)
                 : options.command == AMP_CMD_RULES ? amp_command_rules(&options, err)
                                                    : AMP_OK;
    amp_command_line_free(&options);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    dup2(before_err, STDERR_FILENO);
    close(before);
    close(before_err);
    return status;
}

/* The number of files in the folder, and what was printed as a text to be freed. */
static size_t count_files(void)
{
    glob_t paths;
    size_t n = glob("*", 0, NULL, &paths) == 0 ? paths.gl_pathc : 0;
    globfree(&paths);
    return n;
}

static char *get_printed(int printed)
{
    off_t size = lseek(printed, 0, SEEK_END);
    char *text = amp_xcalloc((size_t)size + 1, 1);
    assert_int_equal(pread(printed, text, (size_t)size, 0), size);
    return text;
}

/* Makes the folder as it was before the first run. */
static void link_files(const struct command *command)
{
    glob_t paths;
    char pattern[4096];
    if (glob("*", 0, NULL, &paths) == 0)
        for (size_t i = 0; i < paths.gl_pathc; i++)
            unlink(paths.gl_pathv[i]);
    globfree(&paths);
    snprintf(pattern, sizeof pattern, "%s/*", command->path);
    if (glob(pattern, 0, NULL, &paths) == 0)
        for (size_t i = 0; i < paths.gl_pathc; i++)
            assert_int_equal(symlink(paths.gl_pathv[i], strrchr(paths.gl_pathv[i], '/') + 1), 0);
    globfree(&paths);
}

static void refuse_command(struct command *command, size_t number, int printed,
                           enum amp_status wanted, const char *text)
{
    struct amp_error err;
    link_files(command);
    size_t n_files = count_files();
    calls.count = 0;
    calls.refused = number;
    calls.what = NULL;
    enum amp_status status = run_command(command, printed, &err);
    calls.refused = 0;
    char *found = get_printed(printed);
    bool is_same = status == wanted && strcmp(found, text) == 0;
    bool is_want = is_refusal(status, &err);
    if (!is_same && !is_want)
        complain("%s: without call %zu, %s: status %d: %s\n%s", command->path, number, calls.what,
                 (int)status, err.text, found);
    if (is_want && count_files() != n_files)
        complain("%s: without call %zu, %s: a file is left", command->path, number, calls.what);
    free(found);
}

/* Whether the command prints the same each time. */
static bool try_command(const char *path, bool do_files_fail)
{
    struct command command = {.path = path};
    struct amp_error err;
    FILE *file = tmpfile();
    assert_non_null(file);
    int printed = fileno(file);
    /* A page on stdout follows the model's file, which stays when stdout takes no more. */
    bool is_read = read_command(&command);
    for (int i = 1; i < command.n_words && is_read && do_files_fail; i++)
        is_read =
            strcmp(command.words[i], "-") != 0 || strcmp(command.words[i - 1], "--report") != 0;
    if (!is_read) {
        fclose(file);
        return false;
    }
    calls.answer = dnnl_out_of_memory;
    calls.are_of_files = do_files_fail;
    link_files(&command);
    enum amp_status wanted = run_command(&command, printed, &err);
    char *text = get_printed(printed);
    link_files(&command);
    calls.count = 0;
    enum amp_status again = run_command(&command, printed, &err);
    char *other = get_printed(printed);
    bool is_steady = again == wanted && strcmp(text, other) == 0;
    size_t n = calls.count, step = n / COMMAND_REFUSALS + 1;
    for (size_t i = 1 + n % step; is_steady && i <= n; i += step)
        refuse_command(&command, i, printed, wanted, text);
    free(text);
    free(other);
    fclose(file);
    calls.are_of_files = false;
    return is_steady;
}

static void commands_fail_or_do_without(void **state)
{
    char folder[SCRATCH_MAX], before[4096], path[8192], line[SCRATCH_MAX + 16];
    glob_t paths;
    size_t count = 0;
    (void)state;
    assert_int_equal(glob("build/cases/*/*/args", 0, NULL, &paths), 0);
    assert_non_null(getcwd(before, sizeof before));
    scratch_folder(folder, sizeof folder);
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < paths.gl_pathc; i += COMMAND_STEP) {
        snprintf(path, sizeof path, "%s/%.*s", before,
                 (int)(strlen(paths.gl_pathv[i]) - strlen("/args")), paths.gl_pathv[i]);
        count += try_command(path, false) + try_command(path, true);
    }
    assert_int_equal(chdir(before), 0);
    snprintf(line, sizeof line, "rm -rf %s", folder);
    assert_int_equal(system(line), 0);
    globfree(&paths);
    assert_true(count > 200);
    assert_int_equal(n_complaints, 0);
}

/* ---- the roofline ---------------------------------------------------------------------------- */

static void a_roofline_needs_all_its_parts(void **state)
{
    struct amp_roofline *roofline;
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    calls.answer = dnnl_out_of_memory;
    calls.count = 0;
    assert_int_equal(amp_roofline_create(AMP_FLOAT, &roofline, &err), AMP_OK);
    amp_roofline_destroy(roofline);
    size_t n = calls.count;
    assert_true(n > 5);
    for (size_t i = 1; i <= n; i++) {
        size_t used = amp_memory_used();
        err = (struct amp_error){.status = AMP_OK};
        calls.count = 0;
        calls.refused = i;
        enum amp_status status = amp_roofline_create(AMP_FLOAT, &roofline, &err);
        calls.refused = 0;
        /* Memory is claimed once more when the pool of buffers has been emptied. */
        if (status == AMP_OK && strcmp(calls.what, "claim") == 0)
            amp_roofline_destroy(roofline);
        else if (!is_refusal(status, &err))
            fail_msg("without call %zu, %s: status %d: %s", i, calls.what, (int)status, err.text);
        assert_int_equal(amp_memory_used(), used);
    }
}

int main(void)
{
    amp_session_set_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_once_is_an_error_or_done_otherwise),
        cmocka_unit_test(commands_fail_or_do_without),
        cmocka_unit_test(a_roofline_needs_all_its_parts),
    };
    return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
