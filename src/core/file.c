/*
 * Files in and out: mapped inputs, streamed inputs, and outputs that appear whole or not at all.
 * Nothing here knows what the bytes mean.
 */
#include "core/file.h"

#include "core/arena.h"
#include "core/array.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum amp_status read_stream(struct amp_bytes *bytes, int fd, const char *path,
                                   struct amp_error *err)
{
    size_t capacity = 1 << 20;
    bytes->data = amp_xmalloc(capacity, 1);
    for (;;) {
        if (bytes->size == capacity)
            bytes->data = amp_xrealloc(bytes->data, capacity *= 2, 1);
        ssize_t n = read(fd, bytes->data + bytes->size, capacity - bytes->size);
        if (n == 0)
            return AMP_OK;
        if (n < 0 && errno != EINTR) {
            amp_fail(err, AMP_IO, "%s: cannot read: %s", path, strerror(errno));
            amp_bytes_close(bytes);
            return AMP_IO;
        }
        bytes->size += n > 0 ? (size_t)n : 0;
    }
}

static enum amp_status map_file(struct amp_bytes *bytes, int fd, size_t size, const char *path,
                                struct amp_error *err)
{
    if (size == 0)
        return AMP_OK;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED)
        return amp_fail(err, AMP_IO, "%s: cannot map: %s", path, strerror(errno));
    *bytes = (struct amp_bytes){.data = data, .size = size, .is_mapped = true};
    return AMP_OK;
}

static enum amp_status open_path(struct amp_bytes *bytes, const char *path, struct amp_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return amp_fail(err, AMP_IO, "%s: cannot open: %s", path, strerror(errno));
    struct stat info;
    enum amp_status status;
    if (fstat(fd, &info) != 0)
        status = amp_fail(err, AMP_IO, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        status = amp_fail(err, AMP_IO, "%s: is a directory", path);
    else if (S_ISREG(info.st_mode))
        status = map_file(bytes, fd, (size_t)info.st_size, path, err);
    else
        status = read_stream(bytes, fd, path, err);
    close(fd);
    return status;
}

enum amp_status amp_bytes_open(struct amp_bytes *bytes, const char *path, struct amp_error *err)
{
    *bytes = (struct amp_bytes){.data = NULL};
    if (strcmp(path, "-") == 0)
        return read_stream(bytes, STDIN_FILENO, "stdin", err);
    return open_path(bytes, path, err);
}

void amp_bytes_close(struct amp_bytes *bytes)
{
    if (bytes->is_mapped)
        munmap(bytes->data, bytes->size);
    else
        free(bytes->data);
    *bytes = (struct amp_bytes){.data = NULL};
}

/* Outputs that can be written at the same time. */
enum { SLOTS = 2 };

struct amp_output {
    const char *path; /* the target; NULL: stdout */
    int fd;           /* -1: closed */
    int slot;         /* of its temporary file; -1: it has none */
    size_t used;
    unsigned char buffer[1 << 16];
};

/* The temporary files that a signal has to remove; "" where there is none. Written only while the
   signals are blocked. */
static char temporaries[SLOTS][4096];

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = AMP_COUNT(ending_signals) };

static void remove_temporaries(int number)
{
    for (int i = 0; i < SLOTS; i++)
        if (temporaries[i][0] != '\0')
            unlink(temporaries[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = remove_temporaries}, old;
        sigaction(ending_signals[i], NULL, &old);
        /* A program started with a signal ignored (nohup) keeps ignoring it. */
        if (old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
}

/* Holds all signals back until they are let through again, with BEFORE. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, before);
}

static void let_signals(const sigset_t *before)
{
    int reason = errno;
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = reason;
}

static int free_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (temporaries[i][0] == '\0')
            return i;
    return -1;
}

/* Creates a temporary file with the signals held back, so that none can leave it behind. */
static int create_temporary(const char *path, int *slot)
{
    sigset_t before;
    int fd = -1;
    *slot = free_slot();
    if (*slot < 0) {
        errno = EMFILE;
        return -1;
    }
    hold_signals(&before);
    char *name = temporaries[*slot];
    int length = snprintf(name, sizeof temporaries[0], "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporaries[0])
        errno = ENAMETOOLONG;
    else
        fd = mkstemp(name);
    if (fd < 0)
        name[0] = '\0';
    else
        catch_signals();
    let_signals(&before);
    return fd;
}

/* What the target's permissions are or a new file's would be: mkstemp's are too narrow. */
static void set_permissions(int fd, const char *path)
{
    struct stat info;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &info) == 0 ? info.st_mode & 0777 : 0666 & ~mask;
    if (fchmod(fd, mode) != 0)
        return; /* a file system without permissions: nothing is lost */
}

/* What is no regular file (/dev/null, a FIFO) cannot be replaced: it is written to. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

enum amp_status amp_output_check(const char *path, struct amp_error *err)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0 || is_special(path))
        return AMP_OK;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (access(folder, W_OK | X_OK) != 0)
        return amp_fail(err, AMP_IO, "%s: cannot create: %s", path, strerror(errno));
    return AMP_OK;
}

enum amp_status amp_output_open(struct amp_output **output, const char *path, struct amp_error *err)
{
    bool is_stdout = strcmp(path, "-") == 0, is_replaced = !is_stdout && !is_special(path);
    /* A file beyond the limit (ulimit -f) is an error to report, not an end without a word. */
    signal(SIGXFSZ, SIG_IGN);
    int fd = STDOUT_FILENO, slot = -1;
    if (!is_stdout) {
        fd = is_replaced ? create_temporary(path, &slot) : open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return amp_fail(err, AMP_IO, "%s: cannot create: %s", path, strerror(errno));
        if (is_replaced)
            set_permissions(fd, path);
    }
    *output = amp_xmalloc(1, sizeof **output);
    (*output)->path = is_stdout ? NULL : path;
    (*output)->fd = fd;
    (*output)->slot = slot;
    (*output)->used = 0;
    return AMP_OK;
}

static enum amp_status write_all(struct amp_output *output, const unsigned char *data, size_t size,
                                 struct amp_error *err)
{
    while (size > 0) {
        ssize_t n = write(output->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return amp_fail(err, AMP_IO, "%s: cannot write: %s",
                            output->path ? output->path : "stdout", strerror(errno));
        data += n;
        size -= (size_t)n;
    }
    return AMP_OK;
}

static enum amp_status flush(struct amp_output *output, struct amp_error *err)
{
    size_t used = output->used;
    output->used = 0;
    return write_all(output, output->buffer, used, err);
}

enum amp_status amp_output_write(struct amp_output *output, const void *data, size_t size,
                                 struct amp_error *err)
{
    if (size > sizeof output->buffer - output->used)
        AMP_TRY(flush(output, err));
    if (size >= sizeof output->buffer)
        return write_all(output, data, size, err);
    if (size > 0)
        memcpy(output->buffer + output->used, data, size);
    output->used += size;
    return AMP_OK;
}

/* Writes what is left and closes. */
static enum amp_status finish(struct amp_output *output, struct amp_error *err)
{
    AMP_TRY(flush(output, err));
    int fd = output->fd;
    output->fd = -1;
    if (output->path != NULL && close(fd) != 0)
        return amp_fail(err, AMP_IO, "%s: cannot write: %s", output->path, strerror(errno));
    return AMP_OK;
}

/* Gives the complete file its name. */
static enum amp_status publish(struct amp_output *output, struct amp_error *err)
{
    if (output->slot < 0)
        return AMP_OK;
    char *name = temporaries[output->slot];
    if (rename(name, output->path) != 0)
        return amp_fail(err, AMP_IO, "%s: cannot rename: %s", output->path, strerror(errno));
    name[0] = '\0';
    output->slot = -1;
    return AMP_OK;
}

enum amp_status amp_outputs_commit(struct amp_output *const *outputs, size_t count,
                                   struct amp_error *err)
{
    sigset_t before;
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < count && status == AMP_OK; i++)
        status = finish(outputs[i], err);
    hold_signals(&before);
    for (size_t i = 0; i < count && status == AMP_OK; i++)
        status = publish(outputs[i], err);
    let_signals(&before);
    for (size_t i = 0; i < count; i++)
        amp_output_abandon(outputs[i]);
    return status;
}

enum amp_status amp_output_commit(struct amp_output *output, struct amp_error *err)
{
    return amp_outputs_commit(&output, 1, err);
}

void amp_output_abandon(struct amp_output *output)
{
    sigset_t before;
    if (output == NULL)
        return;
    if (output->path != NULL && output->fd >= 0)
        close(output->fd);
    if (output->slot >= 0) {
        hold_signals(&before);
        unlink(temporaries[output->slot]);
        temporaries[output->slot][0] = '\0';
        let_signals(&before);
    }
    free(output);
}
