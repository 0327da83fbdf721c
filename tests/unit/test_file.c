/*
 * Files in: what is no regular file is refused without waiting for it, streams end at a bound or at
 * the budget, and a file that is cut or written to while it is mapped does not go unnoticed. And
 * the system's files that tell how many threads a process can afford.
 */
#include "cli/options/threads.h"
#include "core/file/input.h"
#include "core/file/output.h"
#include "core/memory.h"
#include "onnx/file/model_bytes.h"
#include "onnx/sample/npy.h"
#include "run/exec/session.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_SIZE = 3 * 4096 + 100, BUDGET = 8 << 20 };

/* Whether what a path leads to lies on another device than it does. */
static bool is_mounted_over;
/* The next call of the system's fails. */
static bool is_unreadable, is_unmappable, is_interrupted;
static char *const place = (char *)(UINT64_C(1) << 45); /* where nobody else is */
static char *next_mapping; /* where the next mapping is put, if there is room; NULL: anywhere */
/* What ./proc/loadavg holds after each of the pauses to come, and how many there were. */
static const char *const *next_loads;
static size_t n_pauses;
static int n_processors = 1; /* that the process may use */
static int n_executed;       /* programs in the place of this one */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
/* In the place of the system's. */
int stat(const char *path, struct stat *info)
{
    int result = fstatat(AT_FDCWD, path, info, 0);
    if (result == 0 && is_mounted_over)
        info->st_dev++;
    return result;
}

int open(const char *path, int flags, ...)
{
    if (is_unreadable) {
        is_unreadable = false;
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

ssize_t read(int fd, void *data, size_t size)
{
    if (is_interrupted) {
        is_interrupted = false;
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_read, fd, data, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (is_unmappable) {
        is_unmappable = false;
        errno = ENODEV;
        return MAP_FAILED;
    }
    void *wanted = next_mapping != NULL ? next_mapping : at;
    next_mapping = NULL;
    return (void *)syscall(SYS_mmap, wanted, size, protection, flags, fd, offset);
}

int omp_get_num_procs(void)
{
    return n_processors;
}

int execv(const char *path, char *const *words)
{
    n_executed += access(path, X_OK) == 0 && strcmp(words[0], "word") == 0;
    return -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void make_file(const char *path, size_t size)
{
    static char zeros[FILE_SIZE];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(zeros, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* In the place of the system's, as those above. */
int usleep(useconds_t microseconds)
{
    (void)microseconds;
    if (next_loads[n_pauses] != NULL)
        write_file("proc/loadavg", next_loads[n_pauses]);
    n_pauses++;
    return 0;
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void only_regular_files_are_data(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"fifo", "fifo: is a FIFO; a regular file is needed"},
        {"link", "link: is a FIFO; a regular file is needed"},
        {"socket", "socket: is a socket; a regular file is needed"},
        {"/dev/zero", "/dev/zero: is a device; a regular file is needed"},
        {"/dev/null", "/dev/null: is a device; a regular file is needed"},
        {".", ".: is a directory; a regular file is needed"},
        {"none", "none: cannot open: No such file or directory"},
        {"-", "-: cannot open: No such file or directory"},
    };
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(symlink("fifo", "link"), 0);
    make_socket("socket");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_bytes bytes;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_bytes_open(&bytes, cases[i][0], &err), AMP_IO);
        assert_string_equal(err.text, cases[i][1]);
        assert_null(bytes.data);
    }
}

/* A FIFO under PATH that COUNT times SIZE bytes of DATA come through. */
static pid_t feed(const char *path, const void *data, size_t size, size_t count)
{
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    int fd = open(path, O_WRONLY);
    for (size_t i = 0; i < count; i++)
        if (write(fd, data, size) < 0)
            break;
    _exit(0);
}

static void end(pid_t child)
{
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* What the system refuses though the file is there. */
static void refusals_of_the_system_are_said(void **unused)
{
    (void)unused;
    const struct amp_stream stream = {.has_names = true, .size_max = 1000};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    make_file("refused", 1);
    assert_int_equal(mkfifo("refused_fifo", 0666), 0);
    is_unreadable = true;
    assert_int_equal(amp_bytes_open(&bytes, "refused", &err), AMP_IO);
    assert_string_equal(err.text, "refused: cannot open: Permission denied");
    assert_null(bytes.data);
    err.status = AMP_OK;
    is_unreadable = true;
    assert_int_equal(amp_bytes_open_stream(&bytes, "refused_fifo", &stream, &err), AMP_IO);
    assert_string_equal(err.text, "refused_fifo: cannot open: Permission denied");
    err.status = AMP_OK;
    is_unmappable = true;
    assert_int_equal(amp_bytes_open(&bytes, "refused", &err), AMP_IO);
    assert_string_equal(err.text, "refused: cannot map: No such device");
    assert_null(bytes.data);
    err.status = AMP_OK;
    assert_int_equal(amp_bytes_open(&bytes, "refused", &err), AMP_OK);
    assert_true(bytes.size == 1 && bytes.data[0] == 0);
    amp_bytes_close(&bytes);
    is_unmappable = true; /* memory for a stream */
    pid_t child = feed("refused_stream", "x", 1, 1);
    assert_int_equal(amp_bytes_open_stream(&bytes, "refused_stream", &stream, &err), AMP_IO);
    end(child);
    assert_string_equal(err.text, "refused_stream: out of memory: the stream takes 1.0 MB; 0 bytes "
                                  "of 8.4 MB are in use");
    assert_int_equal(amp_memory_used(), 0);
}

static void interrupted_reads_go_on(void **unused)
{
    (void)unused;
    const struct amp_stream stream = {.has_names = true, .size_max = 1000};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    pid_t child = feed("interrupted", "abc", 3, 2);
    is_interrupted = true;
    assert_int_equal(amp_bytes_open_stream(&bytes, "interrupted", &stream, &err), AMP_OK);
    end(child);
    assert_false(is_interrupted);
    assert_int_equal(bytes.size, 6);
    assert_memory_equal(bytes.data, "abcabc", 6);
    amp_bytes_close(&bytes);
}

/* 0 when a file and a stream can be read by the descriptor that standard input had. */
static int read_with_closed_input(void)
{
    const struct amp_stream stream = {.has_names = true, .size_max = 1000};
    struct amp_bytes bytes;
    close(STDIN_FILENO);
    if (amp_bytes_open(&bytes, "lowest", NULL) != AMP_OK || bytes.size != 5)
        return 1;
    amp_bytes_close(&bytes);
    if (amp_bytes_open_stream(&bytes, "lowest_fifo", &stream, NULL) != AMP_OK || bytes.size != 3)
        return 2;
    amp_bytes_close(&bytes);
    return fcntl(STDIN_FILENO, F_GETFD) < 0 ? 0 : 3;
}

static void the_lowest_descriptor_is_one(void **unused)
{
    (void)unused;
    int status;
    make_file("lowest", 5);
    pid_t writer = feed("lowest_fifo", "abc", 3, 1), child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read_with_closed_input());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    end(writer);
}

/* What has a name and is no stream is opened as a file is. */
static void files_may_stand_for_streams(void **unused)
{
    (void)unused;
    static const char *const refused[][2] = {
        {".", ".: is a directory; a regular file is needed"},
        {"socket3", "socket3: is a socket; a regular file is needed"},
        {"none", "none: cannot open: No such file or directory"}};
    const struct amp_stream stream = {.has_names = true, .size_max = 1};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    make_socket("socket3");
    make_file("plain", 3);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err.status = AMP_OK;
        assert_int_equal(amp_bytes_open_stream(&bytes, refused[i][0], &stream, &err), AMP_IO);
        assert_string_equal(err.text, refused[i][1]);
    }
    err.status = AMP_OK;
    assert_int_equal(amp_bytes_open_stream(&bytes, "plain", &stream, &err), AMP_OK);
    assert_int_equal(bytes.size, 3); /* streams alone have a bound */
    amp_bytes_close(&bytes);
}

static void a_model_is_no_socket(void **unused)
{
    (void)unused;
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    make_socket("socket2");
    assert_int_equal(amp_model_bytes_open(&bytes, "socket2", &err), AMP_IO);
    assert_string_equal(err.text, "socket2: is a socket; a regular file is needed");
}

static void streams_are_told_from_files(void **unused)
{
    (void)unused;
    static const struct {
        const char *path;
        bool is_stream;
    } cases[] = {{"-", true},         {"/dev/stdin", true}, {"/dev/fd/0", true},
                 {"/dev/zero", true}, {"fifo2", true},      {"/proc/self/fd/0", true},
                 {"file", false},     {"none", false},      {".", false},
                 {"./file", false},   {"/dev", false}};
    assert_int_equal(mkfifo("fifo2", 0666), 0);
    make_file("file", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(amp_file_is_stream(cases[i].path), cases[i].is_stream);
    /* What names a descriptor is one, whatever that leads to. */
    static const char *const folders[] = {"/dev/fd", "/proc/self/fd", "/proc/../dev/fd"};
    int fd = open("file", O_RDONLY);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%d", folders[i], fd);
        assert_true(amp_file_is_stream(path));
    }
    int before = dup(STDIN_FILENO);
    dup2(fd, STDIN_FILENO);
    close(fd);
    assert_true(amp_file_is_stream("/dev/stdin"));
    assert_true(amp_file_is_stream("/dev/../dev/stdin"));
    dup2(before, STDIN_FILENO);
    close(before);
}

static void a_stream_is_in_the_account(void **unused)
{
    (void)unused;
    static const char block[1 << 16] = {1};
    const struct amp_stream stream = {.has_names = true, .size_max = SIZE_MAX};
    for (size_t blocks = 0; blocks <= 112; blocks += 16) { /* to 7 of 8 MiB */
        struct amp_bytes bytes;
        struct amp_error err = {.status = AMP_OK};
        pid_t child = feed("stream", block, sizeof block, blocks);
        assert_int_equal(amp_bytes_open_stream(&bytes, "stream", &stream, &err), AMP_OK);
        end(child);
        assert_int_equal(bytes.size, blocks * sizeof block);
        assert_true(amp_memory_used() >= bytes.size);
        for (size_t i = 0; i < bytes.size; i += sizeof block)
            assert_int_equal(bytes.data[i] + bytes.data[i + 1], 1);
        amp_bytes_close(&bytes);
        assert_int_equal(amp_memory_used(), 0);
    }
}

static void a_stream_ends_at_the_budget(void **unused)
{
    (void)unused;
    const struct amp_stream stream = {.has_names = true, .size_max = SIZE_MAX};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_bytes_open_stream(&bytes, "/dev/zero", &stream, &err), AMP_IO);
    assert_string_equal(err.text, "/dev/zero: out of memory: the stream takes 9.2 MB; 0 bytes of "
                                  "8.4 MB are in use");
    assert_null(bytes.data);
    assert_int_equal(amp_memory_used(), 0);
}

static void a_stream_ends_at_its_bound(void **unused)
{
    (void)unused;
    const struct amp_stream stream = {.has_names = true, .size_max = 1000};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_bytes_open_stream(&bytes, "/dev/zero", &stream, &err), AMP_IO);
    assert_string_equal(err.text, "/dev/zero: more than 1.0 KB; a stream of at most that is read");
    const struct amp_stream unnamed = {.size_max = 1000};
    err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_bytes_open_stream(&bytes, "/dev/zero", &unnamed, &err), AMP_IO);
    assert_string_equal(err.text, "/dev/zero: is a device; a regular file is needed");
}

/* What fails to be read is said, and not tried for ever. */
static void a_stream_that_fails_is_refused(void **unused)
{
    (void)unused;
    const struct amp_stream stream = {.has_names = true, .size_max = SIZE_MAX};
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    int fd = open(".", O_RDONLY | O_DIRECTORY), before = dup(STDIN_FILENO);
    assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    alarm(60);
    assert_int_equal(amp_bytes_open_stream(&bytes, "-", &stream, &err), AMP_IO);
    alarm(0);
    assert_string_equal(err.text, "stdin: cannot read: Is a directory");
    assert_null(bytes.data);
    assert_int_equal(amp_memory_used(), 0);
    if (before >= 0)
        dup2(before, STDIN_FILENO);
    close(before);
    close(fd);
}

static void a_terminal_is_no_stream(void **unused)
{
    (void)unused;
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    char text[128];
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname(fd) == NULL) {
        print_message("no terminal to test with\n");
        return;
    }
    snprintf(text, sizeof text, "%s: is a terminal; a file or a pipe is needed", ptsname(fd));
    assert_int_equal(amp_model_bytes_open(&bytes, ptsname(fd), &err), AMP_USAGE);
    assert_string_equal(err.text, text);
    close(fd);
}

/* Streams that begin like that and go on with zeros for ever. */
static void no_model_is_seen_at_once(void **unused)
{
    (void)unused;
    static const struct {
        const char *start;
        size_t size;
        const char *text;
    } cases[] = {
        {"\0", 1, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\x08\x08", 2, "not a valid protobuf message: a wrong field number or type at byte 2"},
        {"\x0a\x08", 2, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\x0b\x08", 2, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\x3a\xff\xff\xff\xff\x06", 6,
         "not a valid protobuf message: a wrong field number or type at byte 6"},
        /* Fields that nobody knows: of each type, and of those that are none. */
        {"\xf0\x01\xff\x01", 4,
         "not a valid protobuf message: a wrong field number or type at byte 4"},
        {"\xf1\x01\xff\xff\xff\xff\xff\xff\xff\xff", 10,
         "not a valid protobuf message: a wrong field number or type at byte 10"},
        {"\xf2\x01\x03\xff\xff\xff", 6,
         "not a valid protobuf message: a wrong field number or type at byte 6"},
        {"\xf5\x01\xff\xff\xff\xff", 6,
         "not a valid protobuf message: a wrong field number or type at byte 6"},
        {"\xf3\x01", 2, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\xf4\x01", 2, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\xf6\x01", 2, "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\xf8\xff\xff\xff\x0f\x01", 6,
         "not a valid protobuf message: a wrong field number or type at byte 6"},
        {"\x80\x80\x80\x80\x10\x01", 6,
         "not a valid protobuf message: a wrong field number or type at byte 0"},
        {"\x3a\xff\xff\xff\xff\x06\x0a\xff\xff\x07", 10,
         "not a valid protobuf message: a wrong field number or type at byte 10"},
        {"\x3a\x06\x0a\x05\xff", 5,
         "not a valid protobuf message: a field of 5 bytes at byte 2 of a GraphProto that ends "
         "at 8"},
        /* A field whose length stands beyond the end of its message. */
        {"\x3a\x01\x0a\x00", 4,
         "not a valid protobuf message: a field of 0 bytes at byte 2 of a GraphProto that ends "
         "at 3"},
        /* Dims in one piece, and a text that is no message. */
        {"\x3a\x05\x2a\x03\x0a\x01\x04", 7,
         "not a valid protobuf message: a wrong field number or type at byte 7"},
        {"\x3a\x05\x2a\x03\x0d", 5,
         "not a valid protobuf message: a wrong field number or type at byte 4"},
        {"\x12\x40", 2, "not a valid protobuf message: a wrong field number or type at byte 66"},
        {"\x12\x01\xff", 3, "not a valid protobuf message: a wrong field number or type at byte 3"},
        {"\x12\xff\xff\xff\xff\x07", 6,
         "a field of 2147483647 bytes at byte 0; models end at 2147483647, where protobuf "
         "messages do"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10,
         "not a valid protobuf message: a wrong field number or type at byte 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char data[1 << 12] = "", text[256];
        struct amp_bytes bytes;
        struct amp_error err = {.status = AMP_OK};
        memcpy(data, cases[i].start, cases[i].size);
        pid_t child = feed("stream", data, sizeof data, 1000000);
        enum amp_status status = amp_model_bytes_open(&bytes, "stream", &err);
        end(child);
        snprintf(text, sizeof text, "stream: %s", cases[i].text);
        assert_string_equal(err.text, text);
        assert_int_equal(status, AMP_MODEL);
        assert_int_equal(amp_memory_used(), 0);
    }
}

/* A child that ends as the program does when an input is lost: with 2, after it said TEXT. */
static void expect_lost(void (*act)(void), const char *text)
{
    char said[256] = "";
    int status, ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(read(ends[0], said, sizeof said - 1) >= 0);
    close(ends[0]);
    assert_string_equal(said, text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void read_what_is_cut(void)
{
    struct amp_bytes bytes;
    if (amp_bytes_open(&bytes, "c\nu\x7ft", NULL) != AMP_OK || truncate("c\nu\x7ft", 4096) != 0)
        _exit(9);
    _exit(bytes.data[4095] + bytes.data[FILE_SIZE - 1]);
}

static void parse_what_is_cut(void)
{
    struct amp_bytes bytes;
    struct amp_tensor tensor;
    FILE *file = fopen("cut.npy", "w");
    fprintf(file,
            "\x93NUMPY\x01%c%c%c{'descr': '|u1', 'fortran_order': False, 'shape': (12000,)}\n", 0,
            60, 0);
    fclose(file);
    if (truncate("cut.npy", FILE_SIZE) != 0 || amp_bytes_open(&bytes, "cut.npy", NULL) != AMP_OK ||
        truncate("cut.npy", 100) != 0)
        _exit(9);
    _exit(amp_npy_parse(bytes.data, bytes.size, &tensor, NULL) == AMP_OK ? 0 : 8);
}

static void reading_what_was_cut_ends_the_program(void **unused)
{
    (void)unused;
    make_file("c\nu\x7ft", FILE_SIZE);
    expect_lost(read_what_is_cut, "ampconv: c?u?t: was cut or cannot be read any more\n");
    expect_lost(parse_what_is_cut, "ampconv: cut.npy: was cut or cannot be read any more\n");
}

/* Two files, one behind the other in memory, of which the one that CUT names is cut and read. */
static void read_one_of_two(const char *cut)
{
    struct amp_bytes bytes[2];
    const char *const paths[] = {"former", "latter"};
    for (int i = 0; i < 2; i++) {
        next_mapping = place + i * (1 << 24);
        if (amp_bytes_open(&bytes[i], paths[i], NULL) != AMP_OK)
            _exit(9);
    }
    if (truncate(cut, 4096) != 0)
        _exit(9);
    _exit(bytes[strcmp(cut, paths[1]) == 0].data[FILE_SIZE - 1]);
}

static void read_former(void)
{
    read_one_of_two("former");
}

static void read_latter(void)
{
    read_one_of_two("latter");
}

static void the_file_that_was_cut_is_named(void **unused)
{
    (void)unused;
    make_file("former", FILE_SIZE);
    make_file("latter", FILE_SIZE);
    expect_lost(read_former, "ampconv: former: was cut or cannot be read any more\n");
    make_file("former", FILE_SIZE);
    expect_lost(read_latter, "ampconv: latter: was cut or cannot be read any more\n");
}

/* What somebody sends is no word about a file: the second time it ends the program as usual. */
static void a_signal_that_is_sent_is_no_lost_file(void **unused)
{
    (void)unused;
    int status;
    make_file("kept", FILE_SIZE);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct amp_bytes bytes;
        if (amp_bytes_open(&bytes, "kept", NULL) != AMP_OK)
            _exit(9);
        raise(SIGBUS);
        raise(SIGBUS);
        _exit(8);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* Of the three standard streams, those that CLOSED has a bit of are closed, and opened so that
   using them fails: 0, or what is wrong. */
static int open_closed(int closed)
{
    for (int fd = 0; fd < 3; fd++) {
        int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        dup2(null, fd);
        if (null > 2)
            close(null);
    }
    int free_before = dup(0);
    close(free_before);
    for (int fd = 0; fd < 3; fd++)
        if ((closed >> fd & 1) != 0)
            close(fd);
    amp_streams_open();
    for (int fd = 0; fd < 3; fd++) {
        bool is_input = (fd == 0) == ((closed >> fd & 1) == 0);
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) != (is_input ? O_RDONLY : O_WRONLY))
            return fd + 1;
    }
    return dup(0) == free_before ? 0 : 4;
}

static void closed_streams_stay_useless(void **unused)
{
    (void)unused;
    for (int closed = 0; closed < 8; closed++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(open_closed(closed));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* A file of another byte, and of that time: clocks of file systems are coarse. */
static void write_at(const char *path, long half_seconds)
{
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, 10), 1);
    close(fd);
    const struct timespec time = {half_seconds / 2, half_seconds % 2 * 500000000};
    const struct timespec times[] = {time, time};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Its size, the seconds of its time, or what these have beyond whole ones: one is enough. */
static void a_changed_file_is_noticed(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; kind++) {
        struct amp_bytes bytes, other;
        struct amp_error err = {.status = AMP_OK};
        make_file("changes", FILE_SIZE);
        make_file("other", FILE_SIZE);
        write_at("changes", 200);
        assert_int_equal(amp_bytes_open(&bytes, "changes", &err), AMP_OK);
        assert_int_equal(amp_bytes_open(&other, "other", &err), AMP_OK);
        assert_int_equal(amp_bytes_check(&bytes, &err), AMP_OK);
        if (kind == 0)
            assert_int_equal(truncate("changes", FILE_SIZE - 10), 0);
        write_at("changes", 200 + (kind == 0 ? 0 : kind == 1 ? 2 : 1));
        assert_int_equal(amp_bytes_check(&other, &err), AMP_OK);
        assert_int_equal(amp_bytes_check(&bytes, &err), AMP_IO);
        assert_string_equal(err.text, "changes: was changed while it was read");
        err.status = AMP_OK; /* nothing is published from it either */
        assert_int_equal(amp_output_write_text("published", "text", &err), AMP_IO);
        assert_string_equal(err.text, "changes: was changed while it was read");
        assert_int_not_equal(access("published", F_OK), 0);
        amp_bytes_close(&bytes);
        err.status = AMP_OK;
        assert_int_equal(amp_output_write_text("published", "text", &err), AMP_OK);
        assert_int_equal(unlink("published"), 0);
        amp_bytes_close(&other);
    }
}

static void dropped_bytes_are_read_again(void **unused)
{
    (void)unused;
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory[2]; /* below and above the file */
    make_file("dropped", 1);
    assert_int_equal(truncate("dropped", (off_t)(4 * page)), 0);
    next_mapping = place;
    assert_int_equal(amp_bytes_open(&bytes, "dropped", &err), AMP_OK);
    memset(bytes.data, 1, bytes.size);
    for (int i = 0; i < 2; i++) {
        memory[i] = mmap(i == 0 ? place - (1 << 24) : place + (1 << 24), 2 * page,
                         PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(memory[i], MAP_FAILED);
        memset(memory[i], 1, 2 * page);
    }
    amp_bytes_drop(bytes.data + page + 1, page + page / 2); /* no whole page */
    assert_int_equal(bytes.data[2 * page], 1);
    amp_bytes_drop(bytes.data + 1, 3 * page);
    amp_bytes_drop(memory[0], 2 * page);
    amp_bytes_drop(memory[1], 2 * page);
    for (size_t i = 0; i < bytes.size; i++)
        assert_int_equal(bytes.data[i], i < page || i >= 3 * page);
    for (size_t i = 0; i < 2 * page; i++)
        assert_int_equal(memory[0][i] + memory[1][i], 2);
    amp_bytes_drop(bytes.data, page);
    assert_int_equal(bytes.data[0] + bytes.data[page - 1], 0);
    amp_bytes_drop(bytes.data + 3 * page, 2 * page); /* not all of it is the file's */
    assert_int_equal(bytes.data[4 * page - 1], 1);
    amp_bytes_drop(bytes.data + 3 * page, page);
    assert_int_equal(bytes.data[4 * page - 1], 0);
    munmap(memory[0], 2 * page);
    munmap(memory[1], 2 * page);
    amp_bytes_close(&bytes);
}

static void a_file_that_is_replaced_stays(void **unused)
{
    (void)unused;
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    make_file("replaced", FILE_SIZE);
    assert_int_equal(amp_bytes_open(&bytes, "replaced", &err), AMP_OK);
    make_file("new", 1);
    assert_int_equal(rename("new", "replaced"), 0);
    assert_int_equal(bytes.data[FILE_SIZE - 1], 0);
    assert_int_equal(amp_bytes_check(&bytes, &err), AMP_OK);
    assert_int_equal(unlink("replaced"), 0);
    assert_int_equal(amp_bytes_check(&bytes, &err), AMP_OK);
    amp_bytes_close(&bytes);
}

/* File systems number their files alike. */
static void another_device_has_another_file(void **unused)
{
    (void)unused;
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    make_file("mounted", FILE_SIZE);
    assert_int_equal(amp_bytes_open(&bytes, "mounted", &err), AMP_OK);
    write_at("mounted", 2);
    is_mounted_over = true;
    enum amp_status status = amp_bytes_check(&bytes, &err);
    is_mounted_over = false;
    assert_int_equal(status, AMP_OK);
    assert_int_equal(amp_bytes_check(&bytes, &err), AMP_IO);
    amp_bytes_close(&bytes);
}

/* What files of the system, below a folder, say: those of control groups of both versions (Linux,
   Documentation/scheduler/sched-bwc.rst and admin-guide/cgroup-v2.rst). */
static void quotas_limit_threads(void **unused)
{
    (void)unused;
    static const struct {
        const char *groups; /* proc/self/cgroup; the folder below is ./sys/fs/cgroup */
        const char *folder;
        const char *files[2][2];
        int threads; /* of 8 processors */
    } cases[] = {
        {"0::/\n", "a", {{"cpu.max", "max 100000\n"}}, 8},
        {"0::/b\n", "b", {{"cpu.max", "max 100000\n"}}, 8},
        {"0::/c\n", "c", {{"cpu.max", "350000 100000\n"}}, 3},
        {"0::/d/inner/most\n", "d", {{"cpu.max", "200000 100000\n"}}, 2},
        {"0::/e\n", "e", {{"cpu.max", "50000 100000\n"}}, 1},
        {"0::/f\n", "f", {{"cpu.max", "1600000 100000\n"}}, 8},
        {"0::/g\n", "g", {{"cpu.max", "no numbers\n"}}, 8},
        {"4:memory:/h\n3:cpu,cpuacct:/h\n",
         "cpu,cpuacct/h",
         {{"cpu.cfs_quota_us", "250000\n"}, {"cpu.cfs_period_us", "100000\n"}},
         2},
        {"3:cpu:/i\n",
         "cpu/i",
         {{"cpu.cfs_quota_us", "-1\n"}, {"cpu.cfs_period_us", "100000\n"}},
         8},
        {"2:cpuacct:/j\n",
         "cpuacct/j",
         {{"cpu.cfs_quota_us", "100000\n"}, {"cpu.cfs_period_us", "100000\n"}},
         8},
        {"0::/n/inner\n",
         "n/inner",
         {{"cpu.max", "200000 100000\n"}, {"../cpu.max", "400000 100000\n"}},
         2},
        {"0::/o/inner\n",
         "o/inner",
         {{"cpu.max", "400000 100000\n"}, {"../cpu.max", "200000 100000\n"}},
         2},
        {"0::/n\n0::/n/inner\n", "n", {{"cpu.max", "400000 100000\n"}}, 2},
        {"0::/n/inner\n0::/n\n", "n", {{"cpu.max", "400000 100000\n"}}, 2},
        {"0::/p\n", "p", {{"cpu.max", "0 100000\n"}}, 8},
        {"0::/q\n", "q", {{"cpu.max", "100000 0\n"}}, 8},
        {"0::/r\n", "r", {{"cpu.max", "100000\n"}}, 8},
        {"0::/w\n", "w", {{"cpu.max", "100000 -100000\n"}}, 8},
        {"3:cpu:/x\n",
         "cpu/x",
         {{"cpu.cfs_quota_us", "250000 7\n"}, {"cpu.cfs_period_us", "100000\n"}},
         2},
        {"3:cpuacct,cpu:/s\n",
         "cpuacct,cpu/s",
         {{"cpu.cfs_quota_us", "250000\n"}, {"cpu.cfs_period_us", "100000\n"}},
         2},
        {"3:net,cpus:/t\n",
         "net,cpus/t",
         {{"cpu.cfs_quota_us", "250000\n"}, {"cpu.cfs_period_us", "100000\n"}},
         8},
        {"3:cpu:/u\n", "cpu/u", {{"cpu.cfs_quota_us", "250000\n"}}, 8},
        {"3:cpu:/v\n", "cpu/v", {{"cpu.cfs_period_us", "1\n"}}, 8},
        {"", "k", {{"cpu.max", "100000 100000\n"}}, 8},
        {"no group\n", "l", {{"cpu.max", "100000 100000\n"}}, 8},
    };
    assert_int_equal(amp_threads_affordable("no/root", 8), 8);
    assert_int_equal(system("mkdir -p proc/self sys/fs/cgroup"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        write_file("proc/self/cgroup", cases[i].groups);
        snprintf(text, sizeof text, "mkdir -p sys/fs/cgroup/%s", cases[i].folder);
        assert_int_equal(system(text), 0);
        for (int k = 0; k < 2 && cases[i].files[k][0] != NULL; k++) {
            snprintf(text, sizeof text, "sys/fs/cgroup/%s/%s", cases[i].folder,
                     cases[i].files[k][0]);
            write_file(text, cases[i].files[k][1]);
        }
        if (amp_threads_affordable(".", 8) != cases[i].threads)
            fail_msg("%s: %d threads", cases[i].groups, amp_threads_affordable(".", 8));
    }
    /* No file has a path that is too long. */
    write_file("proc/self/cgroup", "0::/d\n");
    for (size_t length = PATH_MAX - 40; length < PATH_MAX - 5; length++) {
        char text[PATH_MAX] = "0::/";
        memset(text + strlen(text), 'n', length - strlen(text) - 1);
        assert_int_equal(amp_threads_affordable(".", 8), length == PATH_MAX - 40 ? 2 : 8);
        write_file("proc/self/cgroup", text);
        assert_int_equal(amp_threads_affordable(".", 8), 8);
    }
}

/* Of 4 processors that are there and 3 that the process may use (proc(5), /proc/loadavg: the fourth
   field). */
static void others_limit_threads(void **unused)
{
    (void)unused;
    static const struct {
        const char *load;
        int threads, of_three; /* of three that are there, too */
    } cases[] = {
        {"0.00 0.00 0.00 1/143 18559\n", 3, 3},
        {"0.90 0.50 0.20 2/143 18559\n", 3, 2},
        {"0.90 0.50 0.20 3/143 18559\n", 2, 1},
        {"9.00 9.00 9.00 4/143 18559\n", 1, 1},
        {"9.00 9.00 9.00 40/143 18559\n", 1, 1},
        {"0.00 0.00 0.00 0/0 0\n", 3, 3}, /* where a sandbox makes the file up */
        {"no numbers\n", 3, 3},
    };
    static const char *const same[9] = {NULL};
    next_loads = same;
    assert_int_equal(amp_threads_unclaimed("no/root", 4, 3), 3);
    assert_int_equal(amp_threads_unclaimed("no/root", 3, 8), 3);
    assert_int_equal(system("mkdir -p proc"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        n_pauses = 0;
        write_file("proc/loadavg", cases[i].load);
        assert_int_equal(amp_threads_unclaimed(".", 3, 3), cases[i].of_three);
        if (amp_threads_unclaimed(".", 4, 3) != cases[i].threads)
            fail_msg("%s: %d threads", cases[i].load, amp_threads_unclaimed(".", 4, 3));
    }
    assert_int_equal(amp_threads_unclaimed(".", 3, 8), 3);
}

/* What runs in all of five looks stays; without others there is no further look. */
static void others_are_looked_at_repeatedly(void **unused)
{
    static const struct {
        const char *loads[9];
        size_t pauses;
        int threads; /* of 8 */
    } cases[] = {{{"0 0 0 1/9 9", NULL}, 0, 8},
                 {{"0 0 0 5/9 9", NULL}, 4, 4},
                 {{"0 0 0 2/9 9", "0 0 0 1/9 9", NULL}, 1, 8},
                 {{"0 0 0 5/9 9", "0 0 0 3/9 9", "0 0 0 4/9 9", NULL}, 4, 6},
                 {{"0 0 0 3/9 9", "0 0 0 5/9 9", NULL}, 4, 6},
                 {{"0 0 0 5/9 9", "0 0 0 3/9 9", "0 0 0 1/9 9", NULL}, 2, 8},
                 {{"0 0 0 5/9 9", NULL, NULL, NULL, "0 0 0 2/9 9", NULL}, 4, 7}};
    (void)unused;
    assert_int_equal(system("mkdir -p proc"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file("proc/loadavg", cases[i].loads[0]);
        next_loads = cases[i].loads + 1;
        n_pauses = 0;
        assert_int_equal(amp_threads_unclaimed(".", 8, 8), cases[i].threads);
        assert_int_equal(n_pauses, cases[i].pauses);
    }
}

/* Where it may use more processors than there are, it uses fewer; one stays one. What the user
   says of threads, or of how they wait, stands. */
static void users_say_how_many_threads(void **unused)
{
    static const char *const same[9] = {NULL};
    char *words[] = {(char[]){"word"}, NULL};
    int online = (int)sysconf(_SC_NPROCESSORS_ONLN), before = amp_session_threads();
    char *count = getenv("OMP_NUM_THREADS"), *spins = getenv("GOMP_SPINCOUNT");
    char *policy = getenv("OMP_WAIT_POLICY");
    (void)unused;
    for (int i = 0; i < 3; i++) {
        next_loads = same;
        n_pauses = 0;
        n_processors = i == 0 ? 1 : INT_MAX;
        amp_threads_limit(online + 7);
        if (i < 2)
            unsetenv("OMP_NUM_THREADS");
        else
            assert_int_equal(setenv("OMP_NUM_THREADS", "1", 1), 0);
        amp_threads_default();
        if (i == 1)
            assert_in_range(amp_session_threads(), 1, online);
        else
            assert_int_equal(amp_session_threads(), online + 7);
    }
    amp_threads_limit(before);
    for (int i = 0; i < 4; i++) {
        n_executed = 0;
        unsetenv("GOMP_SPINCOUNT");
        unsetenv("OMP_WAIT_POLICY");
        if (i & 1)
            assert_int_equal(setenv("GOMP_SPINCOUNT", "7", 1), 0);
        if (i & 2)
            assert_int_equal(setenv("OMP_WAIT_POLICY", "active", 1), 0);
        amp_threads_prepare(words);
        assert_int_equal(n_executed, i == 0);
        const char *said = getenv("GOMP_SPINCOUNT");
        assert_string_equal(said != NULL ? said : "", i == 0 ? "10000" : i & 1 ? "7" : "");
    }
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(count != NULL ? setenv("OMP_NUM_THREADS", count, 1) : 0, 0);
    assert_int_equal(spins != NULL ? setenv("GOMP_SPINCOUNT", spins, 1) : 0, 0);
    assert_int_equal(policy != NULL ? setenv("OMP_WAIT_POLICY", policy, 1) : 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_limit_threads),
        cmocka_unit_test(others_limit_threads),
        cmocka_unit_test(others_are_looked_at_repeatedly),
        cmocka_unit_test(users_say_how_many_threads),
        cmocka_unit_test(only_regular_files_are_data),
        cmocka_unit_test(refusals_of_the_system_are_said),
        cmocka_unit_test(interrupted_reads_go_on),
        cmocka_unit_test(the_lowest_descriptor_is_one),
        cmocka_unit_test(files_may_stand_for_streams),
        cmocka_unit_test(a_model_is_no_socket),
        cmocka_unit_test(streams_are_told_from_files),
        cmocka_unit_test(a_stream_is_in_the_account),
        cmocka_unit_test(a_stream_ends_at_the_budget),
        cmocka_unit_test(a_stream_ends_at_its_bound),
        cmocka_unit_test(a_stream_that_fails_is_refused),
        cmocka_unit_test(a_terminal_is_no_stream),
        cmocka_unit_test(no_model_is_seen_at_once),
        cmocka_unit_test(reading_what_was_cut_ends_the_program),
        cmocka_unit_test(closed_streams_stay_useless),
        cmocka_unit_test(the_file_that_was_cut_is_named),
        cmocka_unit_test(a_signal_that_is_sent_is_no_lost_file),
        cmocka_unit_test(a_changed_file_is_noticed),
        cmocka_unit_test(dropped_bytes_are_read_again),
        cmocka_unit_test(a_file_that_is_replaced_stays),
        cmocka_unit_test(another_device_has_another_file),
    };
    amp_memory_set_limit(BUDGET);
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
