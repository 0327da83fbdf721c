/*
 * How many threads the program computes with, and how they wait for work. Reads what Linux tells
 * of the process's control group and of who else runs; that it is limited to some processors,
 * OpenMP finds out itself.
 */
#include "cli/options/threads.h"

#include "core/paths.h"
#include "run/exec/session.h"

#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
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

/* ---- the quota of the control group ---------------------------------------------------------- */

/* Reads the numbers that file FOLDER/NAME begins with, up to COUNT. False: it has fewer. */
static bool read_numbers(const char *folder, const char *name, double *numbers, int count)
{
    char path[PATH_MAX];
    int n = 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    while (file != NULL && n < count && fscanf(file, "%lf", &numbers[n]) == 1)
        n++;
    if (file != NULL)
        fclose(file);
    return n == count;
}

/* The processors that the group of FOLDER may use; that of version 1 has a quota of -1 where it has
   none, that of version 2 a word. HUGE: no limit. */
static double quota_of(const char *folder)
{
    double both[2];
    bool has_quota = read_numbers(folder, "cpu.max", both, 2) ||
                     (read_numbers(folder, "cpu.cfs_quota_us", &both[0], 1) &&
                      read_numbers(folder, "cpu.cfs_period_us", &both[1], 1));
    return has_quota && both[0] > 0 && both[1] > 0 ? both[0] / both[1] : (double)INT_MAX;
}

/* The least quota of the group at PATH below MOUNT and of those that it is in. A container may see
   none but the outermost, whatever path it is told. */
static double least_quota(const char *mount, const char *path)
{
    char folder[PATH_MAX];
    size_t first = strlen(mount);
    double least = (double)INT_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", mount, path) >= (int)sizeof folder)
        return least;
    for (;;) {
        double quota = quota_of(folder);
        least = quota < least ? quota : least;
        char *slash = strrchr(folder + first, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

/* Whether NAME is in LIST, whose elements have commas between them. */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The quota of the group that LINE of /proc/self/cgroup names, "ID:CONTROLLERS:PATH"; of version 2
   there are no controllers. */
static double quota_in_line(const char *root, char *line)
{
    char mount[PATH_MAX];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *path = NULL;
    if (controllers != NULL)
        path = strchr(++controllers, ':');
    if (path == NULL)
        return (double)INT_MAX;
    *path++ = '\0';
    if (*controllers != '\0' && !is_listed(controllers, "cpu"))
        return (double)INT_MAX;
    int length = snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root,
                          *controllers != '\0' ? "/" : "", controllers);
    return length < (int)sizeof mount ? least_quota(mount, path) : (double)INT_MAX;
}

int amp_threads_affordable(const char *root, int processors)
{
    char line[PATH_MAX];
    double least = (double)processors;
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        double quota = quota_in_line(root, line);
        least = quota < least ? quota : least;
    }
    if (file != NULL)
        fclose(file);
    return least < 1 ? 1 : (int)least;
}

/* ---- processors that others use -------------------------------------------------------------- */

/* A process that computes for longer than these together is there in each of them. */
enum { N_LOOKS = 5, LOOK_MICROSECONDS = 1000 };

/* The threads of all processes that run or wait to run, the caller among them: "0.52 0.40 0.31
   RUNNING/ALL LAST" of /proc/loadavg. 1: there is no such file. */
static int count_running(const char *root)
{
    char path[PATH_MAX];
    int running = 1;
    if (snprintf(path, sizeof path, "%s/proc/loadavg", root) >= (int)sizeof path)
        return running;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return running;
    if (fscanf(file, "%*f %*f %*f %d", &running) != 1)
        running = 1;
    fclose(file);
    return running;
}

int amp_threads_unclaimed(const char *root, int online, int processors)
{
    int others = count_running(root) - 1;
    for (int i = 1; i < N_LOOKS && others > 0; i++) {
        usleep(LOOK_MICROSECONDS);
        int seen = count_running(root) - 1;
        others = seen < others ? seen : others;
    }
    int idle = others < online ? online - others : 1;
    return idle < processors ? idle : processors;
}

void amp_threads_default(void)
{
    if (getenv("OMP_NUM_THREADS") != NULL)
        return;
    int processors = omp_get_num_procs(), count = amp_threads_affordable("", processors);
    if (count > 1)
        count = amp_threads_unclaimed("", (int)sysconf(_SC_NPROCESSORS_ONLN), count);
    if (count < processors)
        amp_threads_limit(count);
}
