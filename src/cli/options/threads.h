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

#endif
