/*
 * Input files: takes paths, gives the bytes of mapped files and of streams. Senders are not
 * trusted: files of data have to be regular, as others may never come or never end; what a stream
 * brings is in the account of memory; a file that changes while it is mapped ends the program, or
 * is reported before an output is published. What the bytes mean is not known here.
 */
#include "core/file/input.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/memory.h"
#include "core/file/output.h"
#include "core/process/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- mapped files ---------------------------------------------------------------------------- */

/* A file that is mapped, as it was then. */
struct amp_mapping {
    struct amp_mapping *next;
    const unsigned char *data;
    struct stat info;
    char *label; /* the path for messages */
    char path[];
};

static struct amp_mapping *mappings;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Handles SIGBUS: a mapped file was cut short, or its disk fails, and bytes that are read are not
   there. */
static void report_lost_file(int number, siginfo_t *info, void *context)
{
    const char *label = "a file that is being read";
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        signal(number, SIG_DFL);
        return;
    }
    for (const struct amp_mapping *one = mappings; one != NULL; one = one->next)
        if (at - (uintptr_t)one->data < (size_t)one->info.st_size)
            label = one->label;
    amp_ending_run();
    say("ampconv: ");
    say(label);
    say(": was cut or cannot be read any more\n");
    _exit(AMP_EXIT_SYSTEM);
}

static bool is_changed(const struct amp_mapping *mapping)
{
    struct stat now;
    const struct stat *then = &mapping->info;
    /* Another file under that name leaves the one that is mapped alone. */
    if (stat(mapping->path, &now) != 0 || now.st_dev != then->st_dev || now.st_ino != then->st_ino)
        return false;
    return now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != then->st_mtim.tv_nsec;
}

static enum amp_status check_mapping(const struct amp_mapping *mapping, struct amp_error *err)
{
    if (!is_changed(mapping))
        return AMP_OK;
    return amp_fail(err, AMP_IO, "%s: was changed while it was read", mapping->path);
}

static enum amp_status check_mappings(struct amp_error *err)
{
    for (const struct amp_mapping *one = mappings; one != NULL; one = one->next)
        AMP_TRY(check_mapping(one, err));
    return AMP_OK;
}

/* PATH as a signal handler may print it: it has no time to make the name fit for a terminal. */
static char *make_label(const char *path)
{
    char *label = amp_xstrdup(path);
    for (char *at = label; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == '\x7f')
            *at = '?';
    return label;
}

static struct amp_mapping *note_mapping(const char *path, const struct stat *info, const void *data)
{
    struct sigaction action = {.sa_sigaction = report_lost_file, .sa_flags = SA_SIGINFO};
    struct amp_mapping *mapping = amp_xmalloc(sizeof *mapping + strlen(path) + 1, 1);
    *mapping = (struct amp_mapping){mappings, data, *info, make_label(path)};
    memcpy(mapping->path, path, strlen(path) + 1);
    mappings = mapping;
    sigaction(SIGBUS, &action, NULL);
    amp_outputs_require(check_mappings);
    return mapping;
}

static void forget_mapping(struct amp_mapping *mapping)
{
    struct amp_mapping **at = &mappings;
    while (*at != mapping)
        at = &(*at)->next;
    *at = mapping->next;
    free(mapping->label);
    free(mapping);
}

static enum amp_status map_file(struct amp_bytes *bytes, int fd, const struct stat *info,
                                const char *path, struct amp_error *err)
{
    size_t size = (size_t)info->st_size;
    if (size == 0)
        return AMP_OK;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED)
        return amp_fail(err, AMP_IO, "%s: cannot map: %s", path, strerror(errno));
    *bytes = (struct amp_bytes){.data = data, .size = size};
    bytes->source = note_mapping(path, info, data);
    return AMP_OK;
}

void amp_bytes_drop(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)data % page;
    if (size < before + page)
        return;
    for (const struct amp_mapping *one = mappings; one != NULL; one = one->next)
        if (bytes >= one->data && bytes + size <= one->data + one->info.st_size)
            madvise((void *)((uintptr_t)bytes + before), (size - before) / page * page,
                    MADV_DONTNEED);
}

/* ---- regular files --------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *text;
    } kinds[] = {{S_IFDIR, "a directory"},
                 {S_IFIFO, "a FIFO"},
                 {S_IFSOCK, "a socket"},
                 {S_IFCHR, "a device"},
                 {S_IFBLK, "a device"}};
    for (size_t i = 0; i < AMP_COUNT(kinds); i++)
        if ((mode & S_IFMT) == kinds[i].type)
            return kinds[i].text;
    return "no file";
}

static enum amp_status check_kind(const struct stat *info, const char *path, struct amp_error *err)
{
    if (S_ISREG(info->st_mode))
        return AMP_OK;
    return amp_fail(err, AMP_IO, "%s: is %s; a regular file is needed", path,
                    kind_of(info->st_mode));
}

static enum amp_status fail_open(const char *path, struct amp_error *err)
{
    return amp_fail(err, AMP_IO, "%s: cannot open: %s", path, strerror(errno));
}

static enum amp_status find_regular(const char *path, struct stat *info, struct amp_error *err)
{
    if (stat(path, info) != 0)
        return fail_open(path, err);
    return check_kind(info, path, err);
}

enum amp_status amp_file_check(const char *path, struct amp_error *err)
{
    struct stat info;
    return find_regular(path, &info, err);
}

/* Opens a regular file; *INFO is what it is. */
static enum amp_status open_regular(const char *path, int *fd, struct stat *info,
                                    struct amp_error *err)
{
    /* Some devices act when they are opened, so they are not; what takes the file's place after the
       look at it cannot make the program wait. */
    AMP_TRY(find_regular(path, info, err));
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return fail_open(path, err);
    enum amp_status status = fstat(*fd, info) != 0
                                 ? amp_fail(err, AMP_IO, "%s: %s", path, strerror(errno))
                                 : check_kind(info, path, err);
    if (status != AMP_OK)
        close(*fd);
    return status;
}

enum amp_status amp_bytes_open(struct amp_bytes *bytes, const char *path, struct amp_error *err)
{
    int fd;
    struct stat info;
    *bytes = (struct amp_bytes){.data = NULL};
    AMP_TRY(open_regular(path, &fd, &info, err));
    enum amp_status status = map_file(bytes, fd, &info, path, err);
    close(fd);
    return status;
}

enum amp_status amp_bytes_check(const struct amp_bytes *bytes, struct amp_error *err)
{
    return bytes->source == NULL ? AMP_OK : check_mapping(bytes->source, err);
}

void amp_bytes_close(struct amp_bytes *bytes)
{
    if (bytes->source != NULL) {
        forget_mapping(bytes->source);
        munmap(bytes->data, bytes->size);
    } else if (bytes->capacity > 0) {
        munmap(bytes->data, bytes->capacity);
        amp_memory_return(bytes->capacity);
    }
    *bytes = (struct amp_bytes){.data = NULL};
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Memory for a stream grows by a STREAM_STEP of bytes, or by that part of it. */
enum { STREAM_STEP = 1 << 20, STREAM_SHARE = 4 };

/* Claims the bytes to grow by: a good deal, so that it grows seldom, or as little as goes. 0: there
   are none left. */
static size_t claim_step(const struct amp_bytes *bytes)
{
    size_t step = bytes->capacity / STREAM_SHARE;
    if (step > STREAM_STEP && amp_memory_claim(step))
        return step;
    return amp_memory_claim(STREAM_STEP) ? STREAM_STEP : 0;
}

/* Makes room for more: mapped, as the system moves such memory without copying it. */
static enum amp_status grow(struct amp_bytes *bytes, struct amp_error *err)
{
    void *data = MAP_FAILED;
    size_t step = claim_step(bytes), old = bytes->capacity, size = old + step;
    if (step > 0)
        data = old == 0
                   ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                   : mremap(bytes->data, old, size, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) {
        amp_memory_return(step);
        amp_bytes_close(bytes); /* the message tells what others have in use */
        return amp_memory_fail(err, "the stream", old + STREAM_STEP);
    }
    bytes->data = data;
    bytes->capacity = size;
    return AMP_OK;
}

/* Reads the next bytes of FD; none at its end. */
static enum amp_status read_some(struct amp_bytes *bytes, int fd, bool *is_at_end,
                                 struct amp_error *err)
{
    if (bytes->size == bytes->capacity)
        AMP_TRY(grow(bytes, err));
    ssize_t n = read(fd, bytes->data + bytes->size, bytes->capacity - bytes->size);
    if (n < 0 && errno != EINTR)
        return amp_fail(err, AMP_IO, "cannot read: %s", strerror(errno));
    bytes->size += n > 0 ? (size_t)n : 0;
    *is_at_end = n == 0;
    return AMP_OK;
}

static enum amp_status check_stream(const struct amp_bytes *bytes, const struct amp_stream *stream,
                                    struct amp_error *err)
{
    char most[32];
    if (stream->check != NULL)
        AMP_TRY(stream->check(stream->context, bytes->data, bytes->size, err));
    if (bytes->size <= stream->size_max)
        return AMP_OK;
    return amp_fail(err, AMP_IO, "more than %s; a stream of at most that is read",
                    amp_memory_text(stream->size_max, most));
}

static enum amp_status read_stream(struct amp_bytes *bytes, int fd, const char *label,
                                   const struct amp_stream *stream, struct amp_error *err)
{
    bool is_at_end = false;
    enum amp_status status = AMP_OK;
    if (isatty(fd))
        return amp_fail(err, AMP_USAGE, "%s: is a terminal; a file or a pipe is needed", label);
    while (status == AMP_OK && !is_at_end) {
        status = read_some(bytes, fd, &is_at_end, err);
        if (status == AMP_OK)
            status = check_stream(bytes, stream, err);
    }
    if (status == AMP_OK)
        return AMP_OK;
    amp_bytes_close(bytes);
    amp_error_prefix(err, "%s", label);
    return status;
}

enum amp_status amp_bytes_open_stream(struct amp_bytes *bytes, const char *path,
                                      const struct amp_stream *stream, struct amp_error *err)
{
    struct stat info;
    *bytes = (struct amp_bytes){.data = NULL};
    if (strcmp(path, "-") == 0)
        return read_stream(bytes, STDIN_FILENO, "stdin", stream, err);
    /* A socket cannot be opened by its name. */
    if (!stream->has_names || stat(path, &info) != 0 || S_ISREG(info.st_mode) ||
        S_ISDIR(info.st_mode) || S_ISSOCK(info.st_mode))
        return amp_bytes_open(bytes, path, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail_open(path, err);
    enum amp_status status = read_stream(bytes, fd, path, stream, err);
    close(fd);
    return status;
}

/* Whether PATH lies in /dev, where the names of descriptors are, or in /proc, where they lead. */
static bool names_descriptor(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    char *folder = amp_xstrdup(path);
    folder[slash - path] = '\0';
    char *real = realpath(folder, NULL);
    bool is_one = real != NULL && (strcmp(real, "/dev") == 0 || strncmp(real, "/proc/", 6) == 0);
    free(real);
    free(folder);
    return is_one;
}

bool amp_file_is_stream(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || names_descriptor(path))
        return true;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

void amp_streams_open(void)
{
    /* Opened the wrong way round, so that using them still fails. */
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            return;
}
