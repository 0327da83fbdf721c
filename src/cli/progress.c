/*
 * Progress on a terminal: a timer writes the stage's name once the stage has taken a second, and
 * who knows how far it is has the share and the time left written. The handler of the signal only
 * calls write, so that it may interrupt anything.
 */
#include "cli/progress.h"

#include "core/clock.h"
#include "core/print.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { DELAY_SECONDS = 1 };

static char line[128];
static const char *name;       /* of the stage; NULL: there is none to show */
static double began, shown_at; /* seconds */
static const void *counted;    /* whose parts are */
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
    name = stage;
    counted = NULL;
    began = shown_at = amp_clock_seconds();
    snprintf(line, sizeof line, "\r%s ...", stage);
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    set_timer(DELAY_SECONDS);
}

/* "1:02:03", "2:03" or "3 s" */
static void write_time(double seconds, char *text, size_t size)
{
    long long whole = (long long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, size, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
    else if (whole >= 60)
        snprintf(text, size, "%lld:%02lld", whole / 60, whole % 60);
    else
        snprintf(text, size, "%lld s", whole);
}

void amp_progress_step(const void *owner, size_t done, size_t total)
{
    static const double interval = 0.2;
    char left[64];
    double now = amp_clock_seconds();
    counted = counted == NULL ? owner : counted;
    bool is_due = now - began >= DELAY_SECONDS && now - shown_at >= interval;
    if (name == NULL || counted != owner || !is_due || done == 0 || done > total)
        return;
    set_timer(0);
    shown_at = now;
    is_shown = 1;
    write_time((now - began) * (double)(total - done) / (double)done, left, sizeof left);
    fputs("\r\033[K", stderr);
    amp_print(stderr, "%s: %zu %% (%zu of %zu), %s left", name, 100 * done / total, done, total,
              left);
}

void amp_progress_clear(void)
{
    if (is_shown)
        fputs("\r\033[K", stderr);
    is_shown = 0;
}

void amp_progress_end(void)
{
    set_timer(0);
    amp_progress_clear();
    name = NULL;
}
