/*
 * Files in and out: mapped inputs, streamed inputs, and outputs that appear whole or not at all.
 * Nothing here knows what the bytes mean.
 */
#include "core/file.h"

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

struct amp_output {
    const char *path; /* the target; NULL: stdout */
    int fd;
    size_t used;
    unsigned char buffer[1 << 16];
};

/* The temporary file that a signal has to remove; "" when there is none. Written only while the
   signals are blocked. */
static char temporary[4096];

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = AMP_COUNT(ending_signals) };

static void remove_temporary(int number)
{
    if (temporary[0] != '\0')
        unlink(temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* Sets the name that the signal handler sees. */
static void arm(const char *name)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaddset(&blocked, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    snprintf(temporary, sizeof temporary, "%s", name);
    for (int i = 0; i < N_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = remove_temporary}, old;
        sigaction(ending_signals[i], NULL, &old);
        /* A program started with a signal ignored (nohup) keeps ignoring it. */
        if (old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Creates the temporary file with the signals held back, so that none can leave it behind. */
static int create_temporary(const char *path, char *name, size_t size)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = -1;
    int length = snprintf(name, size, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
    } else {
        fd = mkstemp(name);
        if (fd >= 0)
            arm(name);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
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

enum amp_status amp_output_open(struct amp_output **output, const char *path, struct amp_error *err)
{
    char name[sizeof temporary];
    struct stat info;
    bool is_stdout = strcmp(path, "-") == 0;
    int fd = STDOUT_FILENO;
    if (!is_stdout) {
        /* What is no regular file (/dev/null, a FIFO) cannot be replaced: it is written to. */
        bool is_special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
        fd = is_special ? open(path, O_WRONLY | O_CLOEXEC)
                        : create_temporary(path, name, sizeof name);
        if (fd < 0)
            return amp_fail(err, AMP_IO, "%s: cannot create: %s", path, strerror(errno));
        if (!is_special)
            set_permissions(fd, path);
    }
    *output = amp_xmalloc(1, sizeof **output);
    (*output)->path = is_stdout ? NULL : path;
    (*output)->fd = fd;
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

enum amp_status amp_output_commit(struct amp_output *output, struct amp_error *err)
{
    enum amp_status status = flush(output, err);
    if (output->path == NULL || status != AMP_OK) {
        amp_output_abandon(output);
        return status;
    }
    const char *path = output->path;
    int fd = output->fd;
    free(output);
    if (close(fd) != 0)
        status = amp_fail(err, AMP_IO, "%s: cannot write: %s", path, strerror(errno));
    else if (temporary[0] != '\0' && rename(temporary, path) != 0)
        status = amp_fail(err, AMP_IO, "%s: cannot rename: %s", path, strerror(errno));
    if (status != AMP_OK && temporary[0] != '\0')
        unlink(temporary);
    arm("");
    return status;
}

void amp_output_abandon(struct amp_output *output)
{
    if (output == NULL)
        return;
    if (output->path != NULL) {
        close(output->fd);
        if (temporary[0] != '\0')
            unlink(temporary);
        arm("");
    }
    free(output);
}
