/*
 * How many threads the program computes with, and how they wait for work.
 */
#include "cli/options/threads.h"

#include "run/exec/session.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* Tens of microseconds: longer than from one primitive to the next, shorter than a time slice. */
static const char spin_count[] = "10000";

void amp_threads_prepare(char **argv)
{
    char path[PATH_MAX];
    if (getenv("GOMP_SPINCOUNT") != NULL || getenv("OMP_WAIT_POLICY") != NULL)
        return;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || setenv("GOMP_SPINCOUNT", spin_count, 1) != 0)
        return;
    path[length] = '\0';
    execv(path, argv);
}

void amp_threads_limit(int count)
{
    amp_session_set_threads(count);
}
