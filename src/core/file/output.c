/*
 * Output files: takes a path and bytes, makes a file that appears whole or not at all, whatever
 * ends the program. What the bytes mean is not known here.
 */
#include "core/file/output.h"

#include "core/arena.h"
#include "core/process/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOTS = 2,      /* outputs that can be written at the same time */
    LINKS_MAX = 40, /* as Linux has it */
    PATH_SIZE = 4096,
    NAME_SIZE = sizeof ".ampconv.XXXXXX"
};

/* The files of an output that replaces its target, all in one folder, which stays the one it was
   when others move it. Names are "" where there is no file. What a signal has to know of it is
   written only while the signals are held back. */
struct slot {
    int folder;
    char target[PATH_SIZE]; /* behind all links */
    const char *name;       /* of the target, in its folder */
    char temporary[NAME_SIZE];
    char aside[NAME_SIZE]; /* the old target, while the new one takes its place */
};

struct amp_output {
    const char *path;  /* as the user has it; NULL: stdout */
    int fd;            /* -1: closed */
    struct slot *slot; /* NULL: it is no file that can be replaced */
    size_t used;
    unsigned char buffer[1 << 16];
};

static struct slot slots[SLOTS];

static amp_outputs_check *check_inputs;

void amp_outputs_require(amp_outputs_check *check)
{
    check_inputs = check;
}

/* ---- the end of the program --------------------------------------------------------------------
 */

static void remove_temporaries(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].temporary[0] != '\0')
            unlinkat(slots[i].folder, slots[i].temporary, 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The file that PATH names, through symbolic links, which need not lead to one that is there: goes
   to TARGET. False, with errno, when that is too long or the links go in circles. */
static bool follow_links(const char *path, char target[PATH_SIZE])
{
    char link[PATH_SIZE];
    size_t length = strlen(path);
    for (int steps = 0; length < PATH_SIZE; steps++) {
        memmove(target, path, length + 1);
        ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0)
            return true;
        link[n] = '\0';
        const char *slash = strrchr(target, '/');
        size_t folder = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - target);
        if (steps == LINKS_MAX) {
            errno = ELOOP;
            return false;
        }
        length = folder + (size_t)n;
        if (length < PATH_SIZE)
            memcpy(target + folder, link, (size_t)n + 1);
        path = target;
    }
    errno = ENAMETOOLONG;
    return false;
}

/* Copies the path of the folder that PATH lies in, with its last '/', or ".". */
static void folder_of(const char *path, char folder[PATH_SIZE])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(folder, PATH_SIZE, ".");
    else
        snprintf(folder, PATH_SIZE, "%.*s", (int)(slash + 1 - path), path);
}

/* Opens the folder of the slot's target; false, with errno, when it cannot be. */
static bool open_folder(struct slot *slot)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(slot->target, '/');
    folder_of(slot->target, folder);
    slot->name = slash != NULL ? slash + 1 : slot->target;
    slot->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return slot->folder >= 0;
}

/* Whether the folder of the slot's target is the one that was opened. */
static bool is_folder_there(const struct slot *slot)
{
    char folder[PATH_SIZE];
    struct stat opened, there;
    folder_of(slot->target, folder);
    return fstat(slot->folder, &opened) == 0 && stat(folder, &there) == 0 &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino && opened.st_nlink > 0;
}

/* Creates a file in the slot's folder under a short NAME of its own, as the target's may be as long
   as names can be. Below 0, with errno and an empty NAME, when it cannot be. */
static int create_file(const struct slot *slot, char name[NAME_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    enum { N_LETTERS = 6, TRIES = 100 };
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; i < TRIES && fd < 0 && errno == EEXIST; i++) {
        unsigned char random[N_LETTERS];
        if (getentropy(random, sizeof random) != 0)
            break;
        size_t used = (size_t)snprintf(name, NAME_SIZE, ".ampconv.");
        for (int k = 0; k < N_LETTERS; k++)
            name[used++] = letters[random[k] % (sizeof letters - 1)];
        name[used] = '\0';
        fd = openat(slot->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (fd < 0)
        name[0] = '\0';
    return fd;
}

/* What is no regular file (/dev/null, a FIFO) cannot be replaced: it is written to. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* ---- whether it can be created --------------------------------------------------------------- */

/* Whether the rights to FOLDER, which takes files, let INFO, a file there, be replaced: a sticky
   folder's only by their owners. */
static bool is_replaceable(const char *folder, const struct stat *info)
{
    struct stat parent;
    uid_t user = geteuid();
    errno = EPERM;
    return stat(folder, &parent) != 0 || (parent.st_mode & S_ISVTX) == 0 || user == 0 ||
           user == parent.st_uid || user == info->st_uid;
}

/* Whether a file can be created or replaced at PATH, which leads to no link; errno says why not. */
static bool can_replace(const char *path)
{
    char folder[PATH_SIZE];
    struct stat info;
    bool is_there = stat(path, &info) == 0;
    folder_of(path, folder);
    if (is_there && S_ISDIR(info.st_mode))
        errno = EISDIR;
    else if (is_there && !S_ISREG(info.st_mode))
        return access(path, W_OK) == 0;
    else if (is_there || errno == ENOENT)
        return access(folder, W_OK | X_OK) == 0 && (!is_there || is_replaceable(folder, &info));
    return false;
}

/* Whether the file at PATH can be added to. */
static bool can_add(const char *path)
{
    struct stat info;
    bool is_file = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    errno = EISDIR;
    return is_file && access(path, R_OK | W_OK) == 0;
}

static enum amp_status fail_create(const char *path, struct amp_error *err)
{
    return amp_fail(err, AMP_IO, "%s: cannot create: %s", path, strerror(errno));
}

enum amp_status amp_output_check(const char *path, struct amp_error *err)
{
    char target[PATH_SIZE];
    if (strcmp(path, "-") == 0 || (follow_links(path, target) && can_replace(target)))
        return AMP_OK;
    return fail_create(path, err);
}

enum amp_status amp_output_check_log(const char *path, struct amp_error *err)
{
    if (access(path, F_OK) != 0)
        return amp_output_check(path, err);
    return can_add(path) ? AMP_OK
                         : amp_fail(err, AMP_IO, "%s: cannot open: %s", path, strerror(errno));
}

enum amp_status amp_output_check_folder(const char *path, struct amp_error *err)
{
    char name[PATH_SIZE], parent[PATH_SIZE];
    struct stat info;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    folder_of(name, parent);
    bool is_there = stat(path, &info) == 0;
    if (is_there && !S_ISDIR(info.st_mode))
        errno = ENOTDIR;
    else if ((is_there || errno == ENOENT) && access(is_there ? path : parent, W_OK | X_OK) == 0)
        return AMP_OK;
    return amp_fail(err, AMP_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

/* The folder that TARGET lies in goes to INFO; its name there. NULL: there is no such folder. */
static const char *place_of(const char *target, struct stat *info)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(target, '/');
    folder_of(target, folder);
    return stat(folder, info) == 0 ? (slash != NULL ? slash + 1 : target) : NULL;
}

bool amp_output_is_same(const char *a, const char *b)
{
    char target_a[PATH_SIZE], target_b[PATH_SIZE];
    struct stat folder_a, folder_b;
    if (strcmp(a, b) == 0)
        return true;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0 || is_special(a) || !follow_links(a, target_a) ||
        !follow_links(b, target_b))
        return false;
    const char *name_a = place_of(target_a, &folder_a), *name_b = place_of(target_b, &folder_b);
    return name_a != NULL && name_b != NULL && strcmp(name_a, name_b) == 0 &&
           folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
}

bool amp_output_is_input(const char *input, const char *output)
{
    struct stat in, out;
    bool is_stdin = strcmp(input, "-") == 0;
    if (strcmp(output, "-") == 0 || stat(output, &out) != 0 ||
        (is_stdin ? fstat(STDIN_FILENO, &in) : stat(input, &in)) != 0)
        return false;
    return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* ---- opening --------------------------------------------------------------------------------- */

static struct slot *free_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].temporary[0] == '\0')
            return &slots[i];
    errno = EMFILE;
    return NULL;
}

/* The owner and permissions that the target has or a new file would have: those of a temporary file
   are too narrow. Where they cannot be set (no permissions in the file system, no right to give
   files away) nothing is lost. */
static void set_permissions(int fd, const char *target)
{
    struct stat info;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = 0666 & ~mask;
    if (stat(target, &info) == 0) {
        mode = info.st_mode & 0777;
        if (fchown(fd, info.st_uid, info.st_gid) != 0)
            errno = 0;
    }
    if (fchmod(fd, mode) != 0)
        errno = 0;
}

/* A temporary file for PATH and the slot that has its names; below 0, with errno, when there is
   none. */
static int open_replacement(const char *path, struct slot **slot)
{
    sigset_t before;
    *slot = free_slot();
    if (*slot == NULL || !follow_links(path, (*slot)->target) || !open_folder(*slot))
        return -1;
    /* No signal may come between the file and the name that it is removed by. */
    amp_ending_hold(&before);
    amp_ending_add(AMP_ENDING_OUTPUTS, remove_temporaries);
    int fd = create_file(*slot, (*slot)->temporary);
    amp_ending_let(&before);
    if (fd >= 0) {
        set_permissions(fd, (*slot)->target);
    } else {
        int reason = errno;
        close((*slot)->folder);
        errno = reason;
    }
    return fd;
}

enum amp_status amp_output_open(struct amp_output **output, const char *path, struct amp_error *err)
{
    bool is_stdout = strcmp(path, "-") == 0;
    struct slot *slot = NULL;
    int fd = STDOUT_FILENO;
    /* A file beyond the limit (ulimit -f) is an error to report, not an end without a word. */
    signal(SIGXFSZ, SIG_IGN);
    errno = ENOENT;
    if (path[0] == '\0')
        fd = -1;
    else if (!is_stdout)
        fd = is_special(path) ? open(path, O_WRONLY | O_CLOEXEC) : open_replacement(path, &slot);
    if (fd < 0)
        return amp_fail(err, AMP_IO, "%s: cannot create: %s", path, strerror(errno));
    *output = amp_xmalloc(1, sizeof **output);
    (*output)->path = is_stdout ? NULL : path;
    (*output)->fd = fd;
    (*output)->slot = slot;
    (*output)->used = 0;
    return AMP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static enum amp_status write_all(struct amp_output *output, const unsigned char *data, size_t size,
                                 struct amp_error *err)
{
    while (size > 0) {
        ssize_t n = write(output->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        /* What is written may lie in an input that was cut. */
        if (n < 0 && errno == EFAULT && check_inputs != NULL)
            AMP_TRY(check_inputs(err));
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

/* ---- taking the target's place --------------------------------------------------------------- */

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

static enum amp_status fail_rename(const struct amp_output *output, struct amp_error *err)
{
    return amp_fail(err, AMP_IO, "%s: cannot rename: %s", output->path, strerror(errno));
}

/* Moves the old target out of the way. */
static enum amp_status step_aside(const struct amp_output *output, struct amp_error *err)
{
    struct slot *slot = output->slot;
    if (slot == NULL || faccessat(slot->folder, slot->name, F_OK, 0) != 0)
        return AMP_OK;
    int fd = create_file(slot, slot->aside);
    if (fd < 0)
        return fail_rename(output, err);
    close(fd);
    if (renameat(slot->folder, slot->name, slot->folder, slot->aside) == 0)
        return AMP_OK;
    AMP_IGNORE(fail_rename(output, err));
    unlinkat(slot->folder, slot->aside, 0);
    slot->aside[0] = '\0';
    return err->status;
}

/* Gives the complete file its name. */
static enum amp_status publish(const struct amp_output *output, struct amp_error *err)
{
    struct slot *slot = output->slot;
    if (slot == NULL)
        return AMP_OK;
    if (!is_folder_there(slot))
        return amp_fail(err, AMP_IO, "%s: its folder was removed or moved while it was written",
                        output->path);
    if (renameat(slot->folder, slot->temporary, slot->folder, slot->name) != 0)
        return fail_rename(output, err);
    slot->temporary[0] = '\0';
    return AMP_OK;
}

/* Removes the old target where the new one IS_THERE, else puts it back. */
static void settle(const struct amp_output *output, bool is_there)
{
    struct slot *slot = output->slot;
    if (slot == NULL)
        return;
    if (!is_there && slot->temporary[0] == '\0')
        unlinkat(slot->folder, slot->name, 0);
    if (slot->aside[0] != '\0' && is_there)
        unlinkat(slot->folder, slot->aside, 0);
    else if (slot->aside[0] != '\0' &&
             renameat(slot->folder, slot->aside, slot->folder, slot->name) != 0)
        errno = 0; /* it stays where it is rather than nowhere */
    slot->aside[0] = '\0';
}

static enum amp_status publish_all(struct amp_output *const *outputs, size_t count,
                                   struct amp_error *err)
{
    sigset_t before;
    enum amp_status status = AMP_OK;
    amp_ending_hold(&before);
    for (size_t i = count; i-- > 0 && count > 1 && status == AMP_OK;)
        status = step_aside(outputs[i], err);
    for (size_t i = 0; i < count && status == AMP_OK; i++)
        status = publish(outputs[i], err);
    for (size_t i = 0; i < count; i++)
        settle(outputs[i], status == AMP_OK);
    amp_ending_let(&before);
    return status;
}

enum amp_status amp_outputs_commit(struct amp_output *const *outputs, size_t count,
                                   struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < count && status == AMP_OK; i++)
        status = finish(outputs[i], err);
    if (status == AMP_OK && check_inputs != NULL)
        status = check_inputs(err);
    if (status == AMP_OK)
        status = publish_all(outputs, count, err);
    for (size_t i = 0; i < count; i++)
        amp_output_abandon(outputs[i]);
    return status;
}

enum amp_status amp_output_commit(struct amp_output *output, struct amp_error *err)
{
    return amp_outputs_commit(&output, 1, err);
}

/* Removes the temporary file. Where that is forbidden by now it takes no room, at least. */
static void remove_temporary(struct slot *slot)
{
    sigset_t before;
    amp_ending_hold(&before);
    if (unlinkat(slot->folder, slot->temporary, 0) != 0) {
        int fd = openat(slot->folder, slot->temporary, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd >= 0)
            close(fd);
    }
    slot->temporary[0] = '\0';
    amp_ending_let(&before);
}

void amp_output_abandon(struct amp_output *output)
{
    if (output == NULL)
        return;
    if (output->path != NULL && output->fd >= 0)
        close(output->fd);
    if (output->slot != NULL && output->slot->temporary[0] != '\0')
        remove_temporary(output->slot);
    if (output->slot != NULL)
        close(output->slot->folder);
    free(output);
}

enum amp_status amp_output_write_text(const char *path, const char *text, struct amp_error *err)
{
    struct amp_output *output;
    AMP_TRY(amp_output_open(&output, path, err));
    enum amp_status status = amp_output_write(output, text, strlen(text), err);
    if (status == AMP_OK)
        status = amp_output_write(output, "\n", 1, err);
    if (status == AMP_OK)
        return amp_output_commit(output, err);
    amp_output_abandon(output);
    return status;
}
