/*
 * Files in: mapped inputs and streamed inputs. Nothing here knows what the bytes mean.
 */
#include "core/file.h"

#include "core/arena.h"
#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* A mapped file was cut short, or its disk fails: what is read from it now is not there. */
static void report_lost_file(int number, siginfo_t *info, void *context)
{
    static const char text[] = "ampconv: a file that is being read was cut or cannot be read\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        signal(number, SIG_DFL);
        return;
    }
    amp_outputs_remove();
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(AMP_EXIT_SYSTEM);
}

static void catch_lost_files(void)
{
    struct sigaction action = {.sa_sigaction = report_lost_file, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
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
    catch_lost_files();
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

void amp_streams_open(void)
{
    /* Opened the wrong way round, so that using them still fails. */
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd]) != fd)
            return;
}

void amp_bytes_close(struct amp_bytes *bytes)
{
    if (bytes->is_mapped)
        munmap(bytes->data, bytes->size);
    else
        free(bytes->data);
    *bytes = (struct amp_bytes){.data = NULL};
}
