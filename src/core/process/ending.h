#ifndef AMP_CORE_PROCESS_ENDING_H
#define AMP_CORE_PROCESS_ENDING_H

#include <signal.h>

/*
 * What must not outlive the program: it goes when the program exits, when a signal ends it, and
 * when memory or a mapped file does. The kinds go in the order that they have here: a process that
 * still runs could make files.
 */
enum amp_ending_kind {
    AMP_ENDING_PROCESSES, /* core/process/shell.c */
    AMP_ENDING_OUTPUTS,   /* core/file/output.c */
    AMP_ENDING_SCRATCH,   /* core/file/scratch.c */
    AMP_ENDING_COUNT
};

/* Has ACTION called for KIND whatever ends the program from then on; it is called in a signal
   handler and once or more. The thread that calls this is the one in which signals are handled. */
void amp_ending_add(enum amp_ending_kind kind, void (*action)(void));

/* Calls all actions. Safe in a signal handler that ends the program. */
void amp_ending_run(void);

/* Holds all signals back in this thread until they are let through again, with BEFORE. */
void amp_ending_hold(sigset_t *before);
void amp_ending_let(const sigset_t *before); /* errno stays */

#endif
