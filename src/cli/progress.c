/*
 * Progress on a terminal: a timer writes the stage's name once the stage has taken a second. The
 * handler of the signal only calls write, so that it may interrupt anything.
 */
#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { DELAY_SECONDS = 1 };

static char line[128];
static volatile sig_atomic_t is_shown;

static void show(int number)
{
    (void)number;
    is_shown = 1;
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
}

static void set_timer(int seconds)
{
    struct itimerval timer = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void amp_progress_begin(const char *stage)
{
    amp_progress_end();
    if (!isatty(STDERR_FILENO))
        return;
    snprintf(line, sizeof line, "\r%s ...", stage);
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    set_timer(DELAY_SECONDS);
}

void amp_progress_end(void)
{
    set_timer(0);
    if (is_shown)
        fputs("\r\033[K", stderr);
    is_shown = 0;
}
