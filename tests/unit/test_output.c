/*
 * Outputs when the system says no where a disk rarely does: at close, at rename, to the second of
 * two outputs. The calls are replaced by ones that fail when they are told to.
 */
#include "core/file/output.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Calls from now on until one fails; 0: none does. */
static int closes_left, renames_left, writes_left, unlinks_left, creations_left;
static int write_reason = ENOSPC; /* why writes fail */
static int n_writes;
static const char *denied; /* the path that access finds closed */
static bool is_other_user; /* the program is one's that user_id is */
static uid_t user_id;
static mode_t mode_of_creation;  /* of the last file */
static int n_draws;              /* of what names are made from */
static const char *drawn = NULL; /* a byte for each draw, which is full of it; NULL: random ones */
/* Bytes that a write takes at most; 0: no limit. */
static size_t write_max;
static int killing_rename; /* as renames_left, but the program ends there */

static bool comes_to_fail(int *left, int reason)
{
    if (*left == 0 || --*left > 0)
        return false;
    errno = reason;
    return true;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);
    return comes_to_fail(&closes_left, ENOSPC) ? -1 : result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (killing_rename > 0 && --killing_rename == 0)
        _exit(9);
    if (comes_to_fail(&renames_left, EIO))
        return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

ssize_t write(int fd, const void *data, size_t size)
{
    static int calls;
    n_writes++;
    if (comes_to_fail(&writes_left, write_reason))
        return -1;
    if (write_max > 0 && calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, fd, data, write_max > 0 && size > write_max ? write_max : size);
}

int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
        mode_of_creation = mode;
        if (comes_to_fail(&creations_left, ENOSPC))
            return -1;
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int unlinkat(int folder, const char *path, int flags)
{
    if (comes_to_fail(&unlinks_left, EACCES))
        return -1;
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int access(const char *path, int mode)
{
    if (denied != NULL && mode != F_OK && strcmp(path, denied) == 0) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

int getentropy(void *bytes, size_t size)
{
    n_draws++;
    if (drawn == NULL)
        return syscall(SYS_getrandom, bytes, size, 0) == (ssize_t)size ? 0 : -1;
    if (*drawn == '\0') {
        errno = EIO;
        return -1;
    }
    memset(bytes, drawn[1] != '\0' ? *drawn++ : *drawn, size);
    return 0;
}

uid_t geteuid(void)
{
    return is_other_user ? user_id : (uid_t)syscall(SYS_geteuid);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *text_of(const char *path)
{
    static char text[64];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return "";
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static size_t count_temporaries(void)
{
    glob_t found;
    size_t count = glob(".ampconv.*", 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* The first descriptor that is free: the same before and after what closes all that it opens. */
static int free_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    syscall(SYS_close, fd);
    return fd;
}

static int first_descriptor;

/* A folder of its own with the old files, where HAS_OLD. */
static void set_up(bool has_old)
{
    char folder[SCRATCH_MAX];
    closes_left = renames_left = writes_left = killing_rename = 0;
    unlinks_left = creations_left = 0;
    write_max = 0;
    scratch_folder(folder, sizeof folder);
    assert_int_equal(chdir(folder), 0);
    if (has_old) {
        write_file("data", "old data");
        write_file("model", "old model");
    }
    first_descriptor = free_descriptor();
}

static void tear_down(void)
{
    char folder[4096];
    assert_int_equal(free_descriptor(), first_descriptor);
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(count_temporaries(), 0);
    unlink("data");
    unlink("model");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static enum amp_status write_pair(struct amp_error *err)
{
    struct amp_output *outputs[2];
    *err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_output_open(&outputs[0], "data", err), AMP_OK);
    assert_int_equal(amp_output_open(&outputs[1], "model", err), AMP_OK);
    assert_int_equal(amp_output_write(outputs[0], "new data", 8, err), AMP_OK);
    assert_int_equal(amp_output_write(outputs[1], "new model", 9, err), AMP_OK);
    return amp_outputs_commit(outputs, 2, err);
}

static void expect_pair(const char *age)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, *age == '\0' ? "" : "%s data", age);
    assert_string_equal(text_of("data"), wanted);
    snprintf(wanted, sizeof wanted, *age == '\0' ? "" : "%s model", age);
    assert_string_equal(text_of("model"), wanted);
}

static void a_pair_takes_its_place(void **unused)
{
    (void)unused;
    struct amp_error err;
    for (int has_old = 0; has_old < 2; has_old++) {
        set_up(has_old);
        assert_int_equal(write_pair(&err), AMP_OK);
        expect_pair("new");
        tear_down();
    }
}

/* One file takes the old one's place at once: there is no moment without a file of its name. */
static void a_single_file_never_steps_aside(void **unused)
{
    struct amp_error err = {.status = AMP_OK};
    (void)unused;
    set_up(true);
    renames_left = 2;
    assert_int_equal(amp_output_write_text("data", "new", &err), AMP_OK);
    assert_int_equal(renames_left, 1);
    renames_left = 0;
    assert_string_equal(text_of("data"), "new\n");
    tear_down();
}

/* What is no file has nothing that could step aside, but its pair has. */
static void files_may_be_paired_with_others(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_output *outputs[2];
        set_up(true);
        assert_int_equal(amp_output_open(&outputs[i], "/dev/null", &err), AMP_OK);
        assert_int_equal(amp_output_open(&outputs[1 - i], "data", &err), AMP_OK);
        assert_int_equal(amp_output_write(outputs[i], "x", 1, &err), AMP_OK);
        assert_int_equal(amp_output_write(outputs[1 - i], "new", 3, &err), AMP_OK);
        assert_int_equal(amp_outputs_commit(outputs, 2, &err), AMP_OK);
        assert_string_equal(text_of("data"), "new");
        tear_down();
    }
}

/* A failure at the Nth close, write or rename, until there are no more of them. */
static void fail_at_each(int *left, bool has_old, int at_least)
{
    struct amp_error err;
    int n = 0;
    for (enum amp_status status = AMP_IO; status != AMP_OK; n++) {
        set_up(has_old);
        *left = n + 1;
        status = write_pair(&err);
        *left = 0;
        assert_true(status == AMP_OK || status == AMP_IO);
        assert_int_equal(err.status, status);
        expect_pair(status == AMP_OK ? "new" : has_old ? "old" : "");
        tear_down();
    }
    assert_true(n > at_least);
}

static void a_pair_stays_when_a_call_fails(void **unused)
{
    (void)unused;
    fail_at_each(&writes_left, true, 2);
    fail_at_each(&writes_left, false, 2);
    fail_at_each(&renames_left, true, 4);
    fail_at_each(&renames_left, false, 2);
}

/* The old files have to step aside, the second one first, for which the folder may be full. */
static void a_folder_that_takes_no_more_files(void **unused)
{
    static const struct {
        int creations;
        const char *text;
    } rows[] = {{3, "model: cannot rename: No space left on device"},
                {4, "data: cannot rename: No space left on device"}};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct amp_error err;
        set_up(true);
        creations_left = rows[i].creations;
        assert_int_equal(write_pair(&err), AMP_IO);
        assert_string_equal(err.text, rows[i].text);
        expect_pair("old");
        tear_down();
    }
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(true);
    creations_left = 1;
    assert_int_equal(amp_output_open(&output, "data", &err), AMP_IO);
    assert_string_equal(err.text, "data: cannot create: No space left on device");
    expect_pair("old");
    tear_down();
}

/* Letters and digits; a name that is taken is not taken again, and some are tried. */
static void temporaries_have_names_of_their_own(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(true);
    write_file(".ampconv.aaaaaa", "other's");
    write_file(".ampconv.999999", "other's");
    drawn = "\x24\x23\x48\x47\x25"; /* a, 9, a, 9 and b */
    n_draws = 0;
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_OK);
    assert_int_equal(n_draws, 5);
    assert_int_equal(mode_of_creation, 0600); /* nobody else's until it is whole */
    assert_int_equal(access(".ampconv.bbbbbb", F_OK), 0);
    assert_int_equal(count_temporaries(), 3);
    amp_output_abandon(output);
    assert_int_equal(count_temporaries(), 2);
    drawn = "\x24";
    n_draws = 0;
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_IO);
    assert_string_equal(err.text, "model: cannot create: File exists");
    assert_in_range(n_draws, 50, 200);
    drawn = "";
    err.status = AMP_OK;
    n_draws = 0;
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_IO);
    assert_string_equal(err.text, "model: cannot create: Input/output error");
    assert_int_equal(n_draws, 1);
    drawn = NULL;
    assert_string_equal(text_of(".ampconv.aaaaaa"), "other's");
    assert_int_equal(unlink(".ampconv.aaaaaa") | unlink(".ampconv.999999"), 0);
    expect_pair("old");
    tear_down();
}

/* Two are the most that are written at the same time; one that is given up makes room. */
static void a_third_output_has_no_place(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *outputs[3];
    set_up(true);
    assert_int_equal(amp_output_open(&outputs[0], "data", &err), AMP_OK);
    assert_int_equal(amp_output_open(&outputs[1], "model", &err), AMP_OK);
    assert_int_equal(amp_output_open(&outputs[2], "third", &err), AMP_IO);
    assert_string_equal(err.text, "third: cannot create: Too many open files");
    assert_int_equal(count_temporaries(), 2);
    amp_output_abandon(outputs[0]);
    assert_int_equal(count_temporaries(), 1);
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_output_open(&outputs[0], "third", &err), AMP_OK);
    amp_output_abandon(outputs[0]);
    amp_output_abandon(outputs[1]);
    amp_output_abandon(NULL);
    expect_pair("old");
    tear_down();
}

enum { BUFFERED = 1 << 16 };
static const char zeros[BUFFERED + 2];

/* Writes SIZES one after the other and commits: CALLS of the system write them, and all arrives. */
static void write_sizes(const size_t *sizes, int calls)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    struct stat info;
    size_t total = 0;
    set_up(false);
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_OK);
    n_writes = 0;
    for (; *sizes > 0; total += *sizes++)
        assert_int_equal(amp_output_write(output, zeros, *sizes, &err), AMP_OK);
    assert_int_equal(amp_output_commit(output, &err), AMP_OK);
    assert_int_equal(n_writes, calls);
    assert_int_equal(stat("model", &info), 0);
    assert_int_equal(info.st_size, total);
    tear_down();
}

static void small_pieces_are_written_together(void **unused)
{
    (void)unused;
    write_sizes((const size_t[]){1, 2, 3, 0}, 1);
    write_sizes((const size_t[]){1, BUFFERED - 1, 0}, 1);
    write_sizes((const size_t[]){2, BUFFERED - 1, 0}, 2);
    write_sizes((const size_t[]){BUFFERED, 1, 0}, 2);
    write_sizes((const size_t[]){1, BUFFERED + 1, 1, 0}, 3);
    write_sizes((const size_t[]){BUFFERED - 1, 2, BUFFERED - 3, 2, 0}, 3);
}

static void a_text_has_its_last_line_ended(void **unused)
{
    (void)unused;
    static char text[BUFFERED + 2];
    memset(text, 'x', sizeof text - 1);
    for (int n = 0; n < 3; n++) { /* n: the write that fails */
        struct amp_error err = {.status = AMP_OK};
        set_up(true);
        writes_left = n;
        assert_int_equal(amp_output_write_text("model", text, &err), n == 0 ? AMP_OK : AMP_IO);
        assert_string_equal(err.text, n == 0 ? "" : "model: cannot write: No space left on device");
        if (n > 0)
            expect_pair("old");
        tear_down();
    }
    struct amp_error err = {.status = AMP_OK};
    set_up(false);
    assert_int_equal(amp_output_write_text("model", "a text", &err), AMP_OK);
    assert_string_equal(text_of("model"), "a text\n");
    assert_int_equal(amp_output_write_text("none/model", "a text", &err), AMP_IO);
    assert_string_equal(err.text, "none/model: cannot create: No such file or directory");
    tear_down();
}

/* Where the temporary file may not be removed any more, what is in it goes. */
static void a_temporary_that_stays_is_empty(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(true);
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_OK);
    assert_int_equal(amp_output_write(output, zeros, BUFFERED, &err), AMP_OK);
    assert_int_equal(system("test -s .ampconv.*"), 0);
    unlinks_left = 1;
    amp_output_abandon(output);
    assert_int_equal(count_temporaries(), 1);
    assert_int_equal(system("test ! -s .ampconv.* && rm .ampconv.*"), 0);
    expect_pair("old");
    tear_down();
}

/* Only the nine bits of who may do what are taken over, and the owner where that is allowed. */
static void permissions_are_those_of_the_old_file(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct stat info;
    set_up(true);
    assert_int_equal(chmod("model", 04751), 0);
    bool is_given = chown("model", 1234, 2345) == 0;
    assert_int_equal(chmod("model", 04751), 0);
    mode_t mask = umask(026);
    assert_int_equal(amp_output_write_text("model", "new model", &err), AMP_OK);
    assert_int_equal(stat("model", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0751);
    assert_true(!is_given || (info.st_uid == 1234 && info.st_gid == 2345));
    assert_int_equal(unlink("model"), 0);
    assert_int_equal(amp_output_write_text("model", "new model", &err), AMP_OK);
    assert_int_equal(umask(mask), 026);
    assert_int_equal(stat("model", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    tear_down();
}

/* Standard output is written to and stays open; errors call it by its name. */
static void standard_output_stays_open(void **unused)
{
    (void)unused;
    for (int fails = 0; fails < 2; fails++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_output *output;
        set_up(true);
        int before = dup(STDOUT_FILENO), file = open("model", O_WRONLY | O_TRUNC);
        dup2(file, STDOUT_FILENO);
        enum amp_status opened = amp_output_open(&output, "-", &err);
        enum amp_status written = amp_output_write(output, "to stdout", 9, &err);
        writes_left = fails;
        enum amp_status done = amp_output_commit(output, &err);
        bool is_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
        dup2(before, STDOUT_FILENO);
        close(before);
        close(file);
        assert_int_equal(opened, AMP_OK);
        assert_int_equal(written, AMP_OK);
        assert_int_equal(done, fails ? AMP_IO : AMP_OK);
        assert_string_equal(err.text, fails ? "stdout: cannot write: No space left on device" : "");
        assert_true(is_open);
        assert_string_equal(text_of("model"), fails ? "" : "to stdout");
        tear_down();
    }
}

/* Closing is the last word on what was written: the disk may be full there. */
static void a_full_disk_at_close(void **unused)
{
    (void)unused;
    struct amp_error err;
    for (int n = 1; n <= 2; n++) {
        set_up(true);
        closes_left = n;
        assert_int_equal(write_pair(&err), AMP_IO);
        assert_non_null(strstr(err.text, "cannot write: No space left on device"));
        expect_pair("old");
        tear_down();
    }
}

/* Killed before any rename, whatever is there belongs together. */
static void a_pair_is_never_mixed(void **unused)
{
    (void)unused;
    for (int n = 1, is_done = 0; !is_done; n++) {
        struct amp_error err;
        int status;
        set_up(true);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            killing_rename = n;
            _exit(write_pair(&err) == AMP_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        is_done = WEXITSTATUS(status) == 0;
        assert_true(is_done || WEXITSTATUS(status) == 9);
        char model[64];
        snprintf(model, sizeof model, "%s", text_of("model"));
        const char *data = text_of("data");
        assert_true(model[0] == '\0' || data[0] != '\0');
        if (model[0] != '\0')
            assert_memory_equal(model, data, 3);
        assert_int_equal(system("rm -f .ampconv.*"), 0);
        tear_down();
        assert_true(n < 10);
    }
}

static void short_and_interrupted_writes_go_on(void **unused)
{
    (void)unused;
    struct amp_error err;
    set_up(true);
    write_max = 3;
    assert_int_equal(write_pair(&err), AMP_OK);
    expect_pair("new");
    tear_down();
}

/* Whoever ends the program with exit() leaves no temporary file. */
static void leave_in_mid_write(void)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    if (amp_output_open(&output, "model", &err) != AMP_OK || count_temporaries() != 1)
        _exit(1);
    exit(7);
}

/* Runs ACT in a process, which it ends with code 7. */
static void end_in_child(void (*act)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        act();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void an_exit_removes_the_temporary(void **unused)
{
    (void)unused;
    set_up(true);
    end_in_child(leave_in_mid_write);
    expect_pair("old");
    tear_down();
}

/* Whoever has closed standard input has files where it was. */
static void write_with_closed_input(void)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    close(STDIN_FILENO);
    bool is_written = write_pair(&err) == AMP_OK;
    bool is_opened = amp_output_open(&output, "/dev/null", &err) == AMP_OK;
    if (is_opened)
        amp_output_abandon(output);
    _exit(is_written && is_opened && fcntl(STDIN_FILENO, F_GETFD) < 0 ? 7 : 1);
}

static void the_lowest_descriptor_is_one(void **unused)
{
    (void)unused;
    set_up(true);
    end_in_child(write_with_closed_input);
    expect_pair("new");
    tear_down();
}

/* Opens, writes and, after what CHANGE does to the folder "there", commits; nothing may be left
   anywhere. */
static void fail_after(const char *change)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(false);
    assert_int_equal(system("mkdir there && echo old >there/model"), 0);
    assert_int_equal(amp_output_open(&output, "there/model", &err), AMP_OK);
    assert_int_equal(amp_output_write(output, "new model", 9, &err), AMP_OK);
    assert_int_equal(system(change), 0);
    assert_int_equal(amp_output_commit(output, &err), AMP_IO);
    assert_string_equal(err.text,
                        "there/model: its folder was removed or moved while it was written");
    assert_int_equal(system("test -z \"$(find . -name '.ampconv.*' -o -path ./there/model)\""), 0);
    assert_int_equal(system("if [ -e moved ]; then echo old | cmp - moved/model; fi"), 0);
    assert_int_equal(system("rm -rf there moved"), 0);
    tear_down();
}

static void a_folder_goes_in_mid_write(void **unused)
{
    (void)unused;
    fail_after("rm -rf there");
    fail_after("rm -rf there; mkdir there");
    fail_after("mv there moved");
    fail_after("mv there moved; mkdir there");
    fail_after("mv there moved; echo a file >there; rm there; ln -s nowhere there");
}

/* The working folder can be removed, and is still found by ".". */
static void the_working_folder_goes_in_mid_write(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(false);
    assert_int_equal(mkdir("there", 0777), 0);
    assert_int_equal(chdir("there"), 0);
    assert_int_equal(amp_output_open(&output, "model", &err), AMP_OK);
    assert_int_equal(chdir(".."), 0);
    int above = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir("there"), 0);
    assert_int_equal(system("rm -rf ../there"), 0);
    assert_int_equal(amp_output_commit(output, &err), AMP_IO);
    assert_string_equal(err.text, "model: its folder was removed or moved while it was written");
    assert_int_equal(fchdir(above), 0);
    close(above);
    tear_down();
}

static void a_folder_that_moves_and_comes_back(void **unused)
{
    (void)unused;
    struct amp_error err = {.status = AMP_OK};
    struct amp_output *output;
    set_up(false);
    assert_int_equal(mkdir("there", 0777), 0);
    assert_int_equal(amp_output_open(&output, "there/model", &err), AMP_OK);
    assert_int_equal(amp_output_write(output, "new model", 9, &err), AMP_OK);
    assert_int_equal(system("mv there moved; mv moved there"), 0);
    assert_int_equal(amp_output_commit(output, &err), AMP_OK);
    assert_string_equal(text_of("there/model"), "new model");
    assert_int_equal(system("rm -rf there"), 0);
    tear_down();
}

static enum amp_status say_no(struct amp_error *err)
{
    return amp_fail(err, AMP_IO, "no");
}

static int n_checks;

static enum amp_status count_checks(struct amp_error *err)
{
    (void)err;
    n_checks++;
    return AMP_OK;
}

/* Bytes that the system cannot read are those of an input that was cut: who knows about inputs is
   asked, for no other failure. */
static void unreadable_bytes_are_an_inputs(void **unused)
{
    static const struct {
        int reason;
        amp_outputs_check *check;
        const char *text;
        int checks;
    } rows[] = {{EFAULT, say_no, "no", 0},
                {EFAULT, NULL, "data: cannot write: Bad address", 0},
                {EFAULT, count_checks, "data: cannot write: Bad address", 1},
                {EIO, say_no, "data: cannot write: Input/output error", 0},
                {EIO, count_checks, "data: cannot write: Input/output error", 0}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_error err;
        set_up(true);
        n_checks = 0;
        writes_left = 1;
        write_reason = rows[i].reason;
        amp_outputs_require(rows[i].check);
        assert_int_equal(write_pair(&err), AMP_IO);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(n_checks, rows[i].checks);
        expect_pair("old");
        tear_down();
    }
    write_reason = ENOSPC;
    struct amp_error err;
    set_up(true);
    n_checks = 0;
    errno = EFAULT; /* of some call before, which says nothing of writes that succeed */
    assert_int_equal(write_pair(&err), AMP_OK);
    amp_outputs_require(NULL);
    assert_int_equal(n_checks, 1);
    expect_pair("new");
    tear_down();
}

static void nothing_is_published_from_what_has_changed(void **unused)
{
    (void)unused;
    struct amp_error err;
    set_up(true);
    amp_outputs_require(say_no);
    assert_int_equal(write_pair(&err), AMP_IO);
    assert_string_equal(err.text, "no");
    expect_pair("old");
    amp_outputs_require(NULL);
    assert_int_equal(write_pair(&err), AMP_OK);
    expect_pair("new");
    tear_down();
}

/* ---- what may be written where ---- */

/* A folder of the test's own: a and hard are one file, l leads to it; ln leads to what d has not
   yet; f is a FIFO, and the file - is not standard output. */
static void enter_paths(char folder[SCRATCH_MAX])
{
    scratch_folder(folder, SCRATCH_MAX);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("d", 0777), 0);
    FILE *files[] = {fopen("a", "w"), fopen("d/a", "w"), fopen("./-", "w")};
    for (int i = 0; i < 3; i++) {
        assert_non_null(files[i]);
        fclose(files[i]);
    }
    assert_int_equal(link("a", "hard") | symlink("a", "l") | symlink("d/new", "ln"), 0);
    assert_int_equal(mkfifo("f", 0666) | symlink("loop", "loop"), 0);
    char absolute[SCRATCH_MAX + 2];
    snprintf(absolute, sizeof absolute, "%s/a", folder);
    assert_int_equal(symlink(absolute, "d/far"), 0);
}

static void leave_paths(const char *folder)
{
    char command[SCRATCH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(system(command), 0);
}

static void outputs_are_the_same_or_not(void **state)
{
    static const struct {
        const char *a, *b;
        bool are_same;
    } rows[] = {{"a", "a", true},
                {"a", "./a", true},
                {"a", "d/../a", true},
                {"a", "l", true},
                {"a", "d/far", true},
                {"ln", "d/new", true},
                {"new", "./new", true},
                {"-", "-", true},
                {"-", "./-", false},
                {"f", "d/../f", false},
                {"a", "b", false},
                {"a", "d/a", false},
                {"a", "hard", false},
                {"a", "-", false},
                {"new", "d/new", false},
                {"f", "./f", false},
                {"f", "a", false},
                {"none/x", "none/./x", false},
                {"loop", "./loop", false},
                {"loop", "a", false},
                {"/proc/none", "/sys/none", false}, /* folders that may have the same number */
                {"none/x", "x", false},
                {"none/x", "y", false}};
    char folder[SCRATCH_MAX];
    (void)state;
    enter_paths(folder);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(amp_output_is_same(rows[i].a, rows[i].b), rows[i].are_same);
        assert_int_equal(amp_output_is_same(rows[i].b, rows[i].a), rows[i].are_same);
    }
    leave_paths(folder);
}

static void outputs_are_inputs_or_not(void **state)
{
    static const struct {
        const char *input, *output;
        bool is_input;
    } rows[] = {{"a", "a", true},    {"a", "./a", true},  {"a", "l", true},  {"l", "hard", true},
                {"a", "d/a", false}, {"a", "new", false}, {"a", "-", false}, {"none", "a", false},
                {"f", "f", false},   {"d/a", "a", false}, {"d", "d", false}, {"./-", "-", false},
                {"./-", "./-", true}};
    char folder[SCRATCH_MAX];
    (void)state;
    enter_paths(folder);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(amp_output_is_input(rows[i].input, rows[i].output), rows[i].is_input);
    int before = dup(STDIN_FILENO);
    assert_non_null(freopen("a", "r", stdin));
    assert_true(amp_output_is_input("-", "l"));
    assert_false(amp_output_is_input("-", "d/a"));
    if (before >= 0)
        dup2(before, STDIN_FILENO);
    leave_paths(folder);
}

typedef enum amp_status checker(const char *path, struct amp_error *err);

/* CHECK takes PATH, or refuses it with WANTED. */
static void path_is(checker *check, const char *path, const char *wanted)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(check(path, &err), wanted == NULL ? AMP_OK : AMP_IO);
    assert_string_equal(err.text, wanted == NULL ? "" : wanted);
}

static void what_cannot_be_created_is_said_before(void **state)
{
    static const char *const fine[] = {"a", "d/a", "new", "d/new", "l", "ln", "hard"};
    char folder[SCRATCH_MAX];
    (void)state;
    enter_paths(folder);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        path_is(amp_output_check, fine[i], NULL);
        path_is(amp_output_check_log, fine[i], NULL);
    }
    path_is(amp_output_check, "-", NULL);
    path_is(amp_output_check, "f", NULL);
    path_is(amp_output_check, "d", "d: cannot create: Is a directory");
    path_is(amp_output_check, "none/x", "none/x: cannot create: No such file or directory");
    path_is(amp_output_check, "a/x", "a/x: cannot create: Not a directory");
    path_is(amp_output_check_log, "d", "d: cannot open: Is a directory");
    path_is(amp_output_check_log, "none/x", "none/x: cannot create: No such file or directory");
    path_is(amp_output_check_folder, "d", NULL);
    path_is(amp_output_check_folder, "d//", NULL);
    path_is(amp_output_check_folder, "d/new/", NULL);
    path_is(amp_output_check_folder, "new", NULL);
    path_is(amp_output_check_folder, "n/", NULL);
    path_is(amp_output_check_folder, "/", NULL);
    path_is(amp_output_check_folder, "loop",
            "loop: cannot create the folder: Too many levels of symbolic links");
    path_is(amp_output_check, "loop", "loop: cannot create: Too many levels of symbolic links");
    path_is(amp_output_check_folder, "a", "a: cannot create the folder: Not a directory");
    path_is(amp_output_check_folder, "none/x",
            "none/x: cannot create the folder: No such file or directory");
    leave_paths(folder);
}

/* Linux follows 40 links and no more; a path has 4095 bytes at most, also when a link makes it
   longer. */
static void links_and_paths_are_as_long_as_they_may_be(void **state)
{
    char folder[SCRATCH_MAX], path[4097], wanted[4200];
    (void)state;
    enter_paths(folder);
    assert_int_equal(symlink("new", "l1"), 0);
    for (int i = 2; i <= 41; i++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "l%d", i);
        snprintf(to, sizeof to, "l%d", i - 1);
        assert_int_equal(symlink(to, from), 0);
    }
    path_is(amp_output_check, "l40", NULL);
    path_is(amp_output_check, "l41", "l41: cannot create: Too many levels of symbolic links");
    for (size_t i = 0; i < sizeof path - 1; i += 2)
        memcpy(path + i, "./", 2);
    memcpy(path + 4093, "/x", 3);
    path_is(amp_output_check, path, NULL);
    memcpy(path + 4093, "./x", 4);
    snprintf(wanted, sizeof wanted, "%s: cannot create: File name too long", path);
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_output_check(path, &err), AMP_IO);
    assert_int_equal(strncmp(err.text, wanted, 100), 0);
    memcpy(path + 4091, "/ln", 4);
    assert_false(amp_output_is_same(path, "d/new"));
    memcpy(path + 4089, "/ln", 4);
    assert_true(amp_output_is_same(path, "d/new"));
    leave_paths(folder);
}

/* CHECK of PATH is refused as WANTED says when access finds CLOSED closed, else not. */
static void path_is_closed(checker *check, const char *path, const char *closed, const char *wanted)
{
    path_is(check, path, NULL);
    denied = closed;
    path_is(check, path, wanted);
    denied = NULL;
}

static void what_is_closed_is_said_before(void **state)
{
    char folder[SCRATCH_MAX];
    (void)state;
    enter_paths(folder);
    path_is_closed(amp_output_check, "new", ".", "new: cannot create: Permission denied");
    path_is_closed(amp_output_check, "a", ".", "a: cannot create: Permission denied");
    path_is_closed(amp_output_check, "d/a", "d/", "d/a: cannot create: Permission denied");
    path_is_closed(amp_output_check, "ln", "d/", "ln: cannot create: Permission denied");
    path_is_closed(amp_output_check, "f", "f", "f: cannot create: Permission denied");
    path_is_closed(amp_output_check, "a", "a", NULL); /* it is replaced, not written to */
    path_is_closed(amp_output_check, "f", ".", NULL);
    path_is_closed(amp_output_check, "-", ".", NULL); /* standard output, in no folder */
    path_is_closed(amp_output_check, "./-", "./", "./-: cannot create: Permission denied");
    path_is_closed(amp_output_check_log, "a", "a", "a: cannot open: Permission denied");
    path_is_closed(amp_output_check_log, "a", ".", NULL);
    path_is_closed(amp_output_check_log, "new", ".", "new: cannot create: Permission denied");
    path_is_closed(amp_output_check_folder, "d", "d",
                   "d: cannot create the folder: Permission denied");
    path_is_closed(amp_output_check_folder, "d", ".", NULL);
    path_is_closed(amp_output_check_folder, "new", ".",
                   "new: cannot create the folder: Permission denied");
    path_is_closed(amp_output_check_folder, "d/new", "d/",
                   "d/new: cannot create the folder: Permission denied");
    leave_paths(folder);
}

/* In a sticky folder, the owner of the folder and that of the file may replace it, and root. */
static void files_in_sticky_folders_are_their_owners(void **state)
{
    struct stat info;
    char folder[SCRATCH_MAX];
    (void)state;
    enter_paths(folder);
    assert_int_equal(stat("d/a", &info), 0);
    uid_t of_folder = info.st_uid, of_file = info.st_uid;
    if (chown("d", 1234, 1234) == 0 && chown("d/a", 2345, 2345) == 0) {
        of_folder = 1234;
        of_file = 2345;
    }
    const struct {
        uid_t user;
        bool is_refused;
    } rows[] = {{0, false}, {of_folder, false}, {of_file, false}, {3456, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        is_other_user = true;
        user_id = rows[i].user;
        assert_int_equal(chmod("d", 0777), 0);
        path_is(amp_output_check, "d/a", NULL);
        assert_int_equal(chmod("d", 01777), 0);
        path_is(amp_output_check, "d/new", NULL);
        path_is(amp_output_check, "d/a",
                rows[i].is_refused ? "d/a: cannot create: Operation not permitted" : NULL);
        is_other_user = false;
    }
    leave_paths(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_takes_its_place),
        cmocka_unit_test(a_single_file_never_steps_aside),
        cmocka_unit_test(files_may_be_paired_with_others),
        cmocka_unit_test(a_pair_stays_when_a_call_fails),
        cmocka_unit_test(a_folder_that_takes_no_more_files),
        cmocka_unit_test(temporaries_have_names_of_their_own),
        cmocka_unit_test(a_third_output_has_no_place),
        cmocka_unit_test(small_pieces_are_written_together),
        cmocka_unit_test(a_text_has_its_last_line_ended),
        cmocka_unit_test(a_temporary_that_stays_is_empty),
        cmocka_unit_test(permissions_are_those_of_the_old_file),
        cmocka_unit_test(standard_output_stays_open),
        cmocka_unit_test(a_full_disk_at_close),
        cmocka_unit_test(a_pair_is_never_mixed),
        cmocka_unit_test(short_and_interrupted_writes_go_on),
        cmocka_unit_test(an_exit_removes_the_temporary),
        cmocka_unit_test(the_lowest_descriptor_is_one),
        cmocka_unit_test(a_folder_goes_in_mid_write),
        cmocka_unit_test(the_working_folder_goes_in_mid_write),
        cmocka_unit_test(a_folder_that_moves_and_comes_back),
        cmocka_unit_test(unreadable_bytes_are_an_inputs),
        cmocka_unit_test(nothing_is_published_from_what_has_changed),
        cmocka_unit_test(outputs_are_the_same_or_not),
        cmocka_unit_test(outputs_are_inputs_or_not),
        cmocka_unit_test(what_cannot_be_created_is_said_before),
        cmocka_unit_test(links_and_paths_are_as_long_as_they_may_be),
        cmocka_unit_test(what_is_closed_is_said_before),
        cmocka_unit_test(files_in_sticky_folders_are_their_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
