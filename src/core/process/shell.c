/*
 * Runs a command of the user's: takes words for the shell, gives how it ended and the last line
 * that it printed. Trusts it with nothing: it may print without end, never end, kill itself or
 * leave processes behind. What the line means is not known here.
 */
#include "core/process/shell.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/process/ending.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP_MS = 5,         /* between looks at what the command does */
    GRACE_MS = 1000,     /* from SIGTERM to SIGKILL, unless the call says otherwise */
    PIPE_MAX = 1 << 20,  /* bytes that a pipe may hold (/proc/sys/fs/pipe-max-size) */
    BLOCK_SIZE = 1 << 14 /* bytes read at a time */
};

/* The command's process group, whose leader is not waited for yet, so that its number is no one
   else's; 0: none. Written only while signals are held back. */
static volatile pid_t group;

/* The end of the group's stdout that is read, -1 where it is closed, and how long the group has
   from SIGTERM to SIGKILL. */
static volatile int outlet = -1;
static volatile int grace_ms;

/* ---- ending ---------------------------------------------------------------------------------- */

static bool has_ended(pid_t leader)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)leader, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static void pause_a_step(void)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000L * 1000L};
    nanosleep(&step, NULL);
}

/* Whether the leader has ended, and none is left that could write to the stdout which it gave to
   others. */
static bool is_over(void)
{
    struct pollfd end = {.fd = outlet}; /* without events only the last writer's end is told */
    return has_ended(group) && (end.fd < 0 || poll(&end, 1, 0) == 1);
}

/* Asks all of the group to end, and makes those that do not. */
static void end_politely(void)
{
    kill(-group, SIGTERM);
    for (int ms = 0; ms < grace_ms && !is_over(); ms += STEP_MS)
        pause_a_step();
    kill(-group, SIGKILL);
}

static void end_group(void)
{
    if (group == 0)
        return;
    end_politely();
    waitpid(group, NULL, 0);
    group = 0;
}

/* ---- the last line --------------------------------------------------------------------------- */

/* A line as it comes. */
struct line {
    char text[sizeof((struct amp_shell_result *)NULL)->line];
    size_t used;
    bool is_blank, is_cut;
};

/* A command that runs. */
struct run {
    int fd; /* of its stdout; -1: closed */
    struct line line;
    struct amp_shell_result *result;
};

/* Makes the line that ended the last one, unless it is blank. */
static void end_line(struct run *run)
{
    struct line *line = &run->line;
    if (!line->is_blank) {
        memcpy(run->result->line, line->text, line->used);
        run->result->line[line->used] = '\0';
        run->result->is_cut = line->is_cut;
    }
    *line = (struct line){.is_blank = true};
}

static void take_byte(struct run *run, char byte)
{
    struct line *line = &run->line;
    if (byte == '\n') {
        end_line(run);
        return;
    }
    line->is_blank = line->is_blank && isspace((unsigned char)byte);
    if (line->used + 1 < sizeof line->text)
        line->text[line->used++] = byte != '\0' ? byte : '?';
    else
        line->is_cut = true;
}

static void close_outlet(struct run *run)
{
    outlet = -1;
    if (run->fd >= 0)
        close(run->fd);
    run->fd = -1;
}

/* Reads what is there, up to a block. False when nothing is. */
static bool read_block(struct run *run)
{
    char bytes[BLOCK_SIZE];
    ssize_t size = run->fd >= 0 ? read(run->fd, bytes, sizeof bytes) : -1;
    for (ssize_t i = 0; i < size; i++)
        take_byte(run, bytes[i]);
    if (size == 0)
        close_outlet(run);
    return size > 0;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The environment with a variable of the call's: a list to be freed, of which the first string is
   to be freed too. */
static char **make_environment(const struct amp_shell_call *call)
{
    size_t count = 0, used = 1, length = strlen(call->variable);
    size_t size = length + strlen(call->text) + sizeof "=";
    while (environ[count] != NULL)
        count++;
    char **list = amp_xmalloc(count + 2, sizeof *list);
    list[0] = amp_xmalloc(size, 1);
    snprintf(list[0], size, "%s=%s", call->variable, call->text);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], list[0], length + 1) != 0)
            list[used++] = environ[i];
    list[used] = NULL;
    return list;
}

/* Starts the command with stdout to FD, as the leader of the group. An errno, 0 for none. */
static int spawn(const struct amp_shell_call *call, int fd)
{
    char shell[] = "sh", option[] = "-c", end[] = "--";
    char *command = amp_xstrdup(call->command), **environment = make_environment(call);
    char *words[] = {shell, option, end, command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t before, as_usual;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
                                     call->input != NULL ? call->input : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    /* Outputs ignore this one (core/file/output.c). */
    sigemptyset(&as_usual);
    sigaddset(&as_usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    amp_ending_hold(&before);
    grace_ms = call->grace_ms > 0 ? call->grace_ms : GRACE_MS;
    amp_ending_add(AMP_ENDING_PROCESSES, end_group);
    posix_spawnattr_setsigmask(&attributes, &before);
    int reason = posix_spawn(&pid, "/bin/sh", &actions, &attributes, words, environment);
    group = reason == 0 ? pid : 0;
    amp_ending_let(&before);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment[0]);
    free(environment);
    free(command);
    return reason;
}

/* Starts the command, with the other end of its stdout in *FD. An errno, 0 for none. */
static int start(const struct amp_shell_call *call, int *fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int reason = spawn(call, ends[1]);
    close(ends[1]);
    *fd = outlet = ends[0];
    if (reason != 0) {
        outlet = -1;
        close(ends[0]);
    }
    return reason;
}

/* Reads until the command has ended, or until the time END (0: never). */
static void wait_for_end(struct run *run, double end)
{
    while (!has_ended(group)) {
        struct pollfd ready = {.fd = run->fd, .events = POLLIN};
        if (end > 0 && amp_clock_seconds() >= end) {
            run->result->end = AMP_SHELL_TIMED_OUT;
            return;
        }
        poll(&ready, 1, STEP_MS);
        read_block(run);
    }
}

/* Ends what is left of the group and says how the leader ended. */
static void finish(struct run *run)
{
    sigset_t before;
    int state = 0;
    bool is_late = run->result->end == AMP_SHELL_TIMED_OUT;
    if (is_late)
        end_politely();
    kill(-group, SIGKILL);
    amp_ending_hold(&before);
    waitpid(group, &state, 0);
    group = 0;
    amp_ending_let(&before);
    for (int i = 0; i < PIPE_MAX / BLOCK_SIZE && read_block(run); i++)
        continue;
    end_line(run);
    close_outlet(run);
    if (is_late)
        return;
    run->result->end = WIFSIGNALED(state) ? AMP_SHELL_SIGNALLED : AMP_SHELL_EXITED;
    run->result->number = WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state);
}

enum amp_status amp_shell_run(const struct amp_shell_call *call, struct amp_shell_result *result,
                              struct amp_error *err)
{
    struct run run = {.line.is_blank = true, .result = result};
    double begin = amp_clock_seconds();
    *result = (struct amp_shell_result){.end = AMP_SHELL_EXITED};
    int reason = start(call, &run.fd);
    if (reason != 0)
        return amp_fail(err, AMP_IO, "/bin/sh: cannot start: %s", strerror(reason));
    wait_for_end(&run, call->timeout > 0 ? begin + call->timeout : 0);
    finish(&run);
    result->seconds = amp_clock_seconds() - begin;
    return AMP_OK;
}
