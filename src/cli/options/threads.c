/*
 * How many threads the program computes with, and how they wait for work.
 */
#include "cli/options/threads.h"

#include "core/paths.h"
#include "run/exec/session.h"

#include <stdlib.h>
#include <unistd.h>

/* Tens of microseconds: longer than from one primitive to the next, shorter than a time slice. */
static const char spin_count[] = "10000";

void amp_threads_prepare(char **argv)
{
    const char *path = amp_program_path();
    if (getenv("GOMP_SPINCOUNT") != NULL || getenv("OMP_WAIT_POLICY") != NULL)
        return;
    if (path != NULL && setenv("GOMP_SPINCOUNT", spin_count, 1) == 0)
        execv(path, argv);
}

void amp_threads_limit(int count)
{
    amp_session_set_threads(count);
}
