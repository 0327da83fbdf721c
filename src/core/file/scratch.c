/*
 * A folder for a while: made in the place for temporary files, removed with all that is in it,
 * however the program ends. Others may put files and folders into it; links are removed, never
 * followed.
 */
#include "core/file/scratch.h"

#include "core/process/ending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, DEPTH_MAX = 64 };

static char scratch[PATH_SIZE]; /* "" when none is open */

/* ---- removing, which a signal handler does too ----------------------------------------------- */

static bool remove_entry(int folder, const char *name, int depth);

/* Removes what getdents64 gave in BYTES; returns whether any of it went. */
static bool remove_entries(int folder, const char *bytes, ssize_t size, int depth)
{
    bool is_any = false;
    for (ssize_t at = 0; at < size;) {
        struct dirent64 entry;
        const char *name = bytes + at + offsetof(struct dirent64, d_name);
        memcpy(&entry, bytes + at, offsetof(struct dirent64, d_name));
        at += entry.d_reclen;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            is_any = remove_entry(folder, name, depth) || is_any;
    }
    return is_any;
}

/* Removes what is in the open FOLDER, and what comes while it is at it. */
static void empty_folder(int folder, int depth)
{
    enum { PASSES_MAX = 1 << 20 };
    char bytes[1024];
    for (int pass = 0; pass < PASSES_MAX; pass++) {
        ssize_t size = getdents64(folder, bytes, sizeof bytes);
        if (size <= 0 || !remove_entries(folder, bytes, size, depth))
            return;
        lseek(folder, 0, SEEK_SET);
    }
}

static bool remove_entry(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0)
        return true;
    int inner = depth < DEPTH_MAX
                    ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    : -1;
    if (inner < 0)
        return false;
    empty_folder(inner, depth + 1);
    close(inner);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Tries again where a process that was just ended still makes files. */
static void remove_scratch(void)
{
    enum { TRIES = 20 };
    const struct timespec pause = {.tv_nsec = 10L * 1000 * 1000};
    for (int i = 0; i < TRIES && scratch[0] != '\0'; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        if (remove_entry(AT_FDCWD, scratch, 0) || access(scratch, F_OK) != 0)
            return;
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Writes the folder's path, with X in place of its letters; false, with errno, when there is no
   such place or it is too long. */
static bool make_template(char path[PATH_SIZE])
{
    const char *parent = getenv("TMPDIR");
    char *real = realpath(parent != NULL && parent[0] != '\0' ? parent : "/tmp", NULL);
    if (real == NULL)
        return false;
    int length = snprintf(path, PATH_SIZE, "%s/ampconv-XXXXXX", real);
    free(real);
    errno = ENAMETOOLONG;
    return length < PATH_SIZE;
}

enum amp_status amp_scratch_open(const char **folder, struct amp_error *err)
{
    char path[PATH_SIZE];
    sigset_t before;
    bool is_made = make_template(path);
    /* No signal may come between the folder and the name that it is removed by. */
    amp_ending_hold(&before);
    amp_ending_add(AMP_ENDING_SCRATCH, remove_scratch);
    is_made = is_made && mkdtemp(path) != NULL;
    if (is_made)
        memcpy(scratch, path, sizeof scratch);
    amp_ending_let(&before);
    if (!is_made)
        return amp_fail(err, AMP_IO, "a folder for temporary files in %s cannot be created: %s",
                        getenv("TMPDIR") ? "$TMPDIR" : "/tmp", strerror(errno));
    *folder = scratch;
    return AMP_OK;
}

void amp_scratch_close(void)
{
    sigset_t before;
    remove_scratch();
    amp_ending_hold(&before);
    scratch[0] = '\0';
    amp_ending_let(&before);
}
