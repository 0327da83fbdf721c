/*
 * Outputs when the system says no where a disk rarely does: at close, at rename, to the second of
 * two outputs. The calls are replaced by ones that fail when they are told to.
 */
#include "core/file/output.h"
#include "scratch.h"

#include <errno.h>
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
static int closes_left, renames_left, writes_left;
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
    if (comes_to_fail(&writes_left, ENOSPC))
        return -1;
    if (write_max > 0 && calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, fd, data, write_max > 0 && size > write_max ? write_max : size);
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

/* A folder of its own with the old files, where HAS_OLD. */
static void set_up(bool has_old)
{
    char folder[SCRATCH_MAX];
    closes_left = renames_left = writes_left = killing_rename = 0;
    write_max = 0;
    scratch_folder(folder, sizeof folder);
    assert_int_equal(chdir(folder), 0);
    if (has_old) {
        write_file("data", "old data");
        write_file("model", "old model");
    }
}

static void tear_down(void)
{
    char folder[4096];
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

static void an_exit_removes_the_temporary(void **unused)
{
    (void)unused;
    int status;
    set_up(true);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        leave_in_mid_write();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    expect_pair("old");
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
   yet; f is a FIFO. */
static void enter_paths(char folder[SCRATCH_MAX])
{
    scratch_folder(folder, SCRATCH_MAX);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("d", 0777), 0);
    FILE *files[] = {fopen("a", "w"), fopen("d/a", "w")};
    for (int i = 0; i < 2; i++) {
        assert_non_null(files[i]);
        fclose(files[i]);
    }
    assert_int_equal(link("a", "hard") | symlink("a", "l") | symlink("d/new", "ln"), 0);
    assert_int_equal(mkfifo("f", 0666), 0);
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
                {"f", "f", false},   {"d/a", "a", false}, {"d", "d", false}};
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
    path_is(amp_output_check_folder, "a", "a: cannot create the folder: Not a directory");
    path_is(amp_output_check_folder, "none/x",
            "none/x: cannot create the folder: No such file or directory");
    leave_paths(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_takes_its_place),
        cmocka_unit_test(a_pair_stays_when_a_call_fails),
        cmocka_unit_test(a_full_disk_at_close),
        cmocka_unit_test(a_pair_is_never_mixed),
        cmocka_unit_test(short_and_interrupted_writes_go_on),
        cmocka_unit_test(an_exit_removes_the_temporary),
        cmocka_unit_test(a_folder_goes_in_mid_write),
        cmocka_unit_test(a_folder_that_moves_and_comes_back),
        cmocka_unit_test(nothing_is_published_from_what_has_changed),
        cmocka_unit_test(outputs_are_the_same_or_not),
        cmocka_unit_test(outputs_are_inputs_or_not),
        cmocka_unit_test(what_cannot_be_created_is_said_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
