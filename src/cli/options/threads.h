#ifndef AMP_CLI_OPTIONS_THREADS_H
#define AMP_CLI_OPTIONS_THREADS_H

/*
 * Makes waiting threads give the processor back soon: OpenMP's spin for milliseconds by default,
 * which makes a run ten times slower where another program wants the same cores. libgomp reads its
 * environment when it is loaded, so that the program starts itself again with GOMP_SPINCOUNT set.
 * Does nothing when the user set that or OMP_WAIT_POLICY, or where /proc is missing.
 */
void amp_threads_prepare(char **argv);

/* Limits what is computed from here on to COUNT threads. */
void amp_threads_limit(int count);

/* Where OMP_NUM_THREADS is not set, limits it to what the process may use: its affinity's
   processors, no more than the CPU quota of its control group pays for, and none that others keep
   busy. */
void amp_threads_default(void);

/* PROCESSORS, or as many whole ones, at least 1, as the CPU quotas of the process's control group
   and of those around it come to (Linux, cgroups version 1: cpu.cfs_quota_us, and 2: cpu.max): a
   thread beyond these would have all of them stopped until the next period. ROOT is put before the
   paths of the system's files. */
int amp_threads_affordable(const char *root, int processors);

/* PROCESSORS, or as many, at least 1, as those ONLINE that no other process has kept busy for some
   milliseconds (/proc/loadavg): steps in parts wait for the part whose thread gets no processor.
   ROOT as above. */
int amp_threads_unclaimed(const char *root, int online, int processors);

#endif
