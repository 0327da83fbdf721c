#ifndef AMP_CORE_PROCESS_SHELL_H
#define AMP_CORE_PROCESS_SHELL_H

#include "core/status.h"

#include <stdbool.h>

/* A command for the shell. */
struct amp_shell_call {
    const char *command;         /* for sh -c */
    const char *variable, *text; /* an environment variable that it gets, and its value */
    const char *input;           /* the file that it has as stdin; NULL: that is empty */
    double timeout;              /* seconds; 0: none */
    int grace_ms;                /* from SIGTERM to SIGKILL; 0: 1000 */
};

enum amp_shell_end { AMP_SHELL_EXITED, AMP_SHELL_SIGNALLED, AMP_SHELL_TIMED_OUT };

struct amp_shell_result {
    enum amp_shell_end end;
    int number;     /* exit code or signal */
    char line[256]; /* the last line of stdout that is not blank; "" without one */
    bool is_cut;    /* that line was longer */
    double seconds;
};

/*
 * Runs a command to its end. It and all that it starts are a process group of their own, of which
 * nothing is left afterwards, nor when the program ends before it: what outlives the command is
 * killed; on a timeout, or when the program is to end, the group has some time from SIGTERM to
 * SIGKILL. Its stderr is the program's; of its stdout only the last line is kept. One at a time.
 * AMP_IO when it cannot be started.
 */
enum amp_status amp_shell_run(const struct amp_shell_call *call, struct amp_shell_result *result,
                              struct amp_error *err);

#endif
