/*
 * The end of the program: takes functions that tidy up, has them called by exit and by the signals
 * that end a program. What they tidy up is not known here.
 */
#include "core/process/ending.h"

#include "core/array.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static void (*actions[AMP_ENDING_COUNT])(void);

/* Those that end a program unless it says otherwise, but for the ones that tell of its own errors.
 */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
enum { N_SIGNALS = AMP_COUNT(ending_signals) };

/* The thread that has something to tidy up: only it holds signals back, so only it may act on them.
 */
static pthread_t owner;

void amp_ending_run(void)
{
    for (int i = 0; i < AMP_ENDING_COUNT; i++)
        if (actions[i] != NULL)
            actions[i]();
}

static void end_by_signal(int number)
{
    if (!pthread_equal(pthread_self(), owner)) {
        pthread_kill(owner, number);
        return;
    }
    amp_ending_run();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = end_by_signal}, old;
        sigaction(ending_signals[i], NULL, &old);
        /* A program started with a signal ignored (nohup) keeps ignoring it. */
        if (old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
}

void amp_ending_add(enum amp_ending_kind kind, void (*action)(void))
{
    static bool is_caught;
    owner = pthread_self();
    actions[kind] = action;
    if (is_caught)
        return;
    is_caught = true;
    catch_signals();
    atexit(amp_ending_run);
}

void amp_ending_hold(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

void amp_ending_let(const sigset_t *before)
{
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = reason;
}
