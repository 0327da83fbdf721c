/*
 * The account of memory whose size files decide: takes claims, holds them against what the system
 * says is there. Nothing is allocated here.
 */
#include "core/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_size_t used, peak, basis;
static atomic_size_t limit;
static atomic_bool has_limit;

/* The number after KEY in a file of lines such as "MemAvailable:  1234 kB"; 0 when there is none.
 */
static uint64_t number_in(const char *path, const char *key)
{
    char line[256];
    uint64_t number = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (number == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtoull(line + strlen(key), NULL, 10);
    fclose(file);
    return number;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The bytes that this process can have: the machine's memory, of that what other processes leave,
   of that what the control group (a container's limit) allows. Each but the first only where the
   system tells. */
static size_t find_limit(void)
{
    uint64_t size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t free = number_in("/proc/meminfo", "MemAvailable:");
    uint64_t swap = number_in("/proc/meminfo", "SwapFree:");
    uint64_t most = number_in("/sys/fs/cgroup/memory.max", "");
    uint64_t taken = number_in("/sys/fs/cgroup/memory.current", "");
    if (free > 0)
        size = least(size, (free + swap) * 1024);
    if (most > 0)
        size = least(size, most > taken ? most - taken : 0);
    return (size_t)size;
}

size_t amp_memory_limit(void)
{
    if (!has_limit)
        amp_memory_set_limit(find_limit());
    return limit;
}

void amp_memory_set_limit(size_t size)
{
    limit = size;
    has_limit = true;
}

size_t amp_memory_used(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed);
}

size_t amp_memory_peak(void)
{
    return atomic_load_explicit(&peak, memory_order_relaxed);
}

void amp_memory_restart_peak(void)
{
    atomic_store_explicit(&peak, amp_memory_used(), memory_order_relaxed);
}

bool amp_memory_has(size_t size)
{
    size_t most = amp_memory_limit(), now = amp_memory_used();
    return now <= most && size <= most - now;
}

static void note_peak(size_t now)
{
    size_t seen = amp_memory_peak();
    while (seen < now && !atomic_compare_exchange_weak_explicit(
                             &peak, &seen, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

bool amp_memory_claim(size_t size)
{
    size_t now = amp_memory_used();
    do
        if (!amp_memory_has(size))
            return false;
    while (!atomic_compare_exchange_weak_explicit(&used, &now, now + size, memory_order_relaxed,
                                                  memory_order_relaxed));
    note_peak(now + size);
    return true;
}

void amp_memory_return(size_t size)
{
    atomic_fetch_sub_explicit(&used, size, memory_order_relaxed);
}

/* How many of SIZE bytes in arenas are taken from the account. */
static size_t counted(size_t size)
{
    return size > AMP_MEMORY_BASIS ? size - AMP_MEMORY_BASIS : 0;
}

bool amp_memory_claim_basis(size_t size)
{
    size_t before = atomic_fetch_add_explicit(&basis, size, memory_order_relaxed);
    if (amp_memory_claim(counted(before + size) - counted(before)))
        return true;
    atomic_fetch_sub_explicit(&basis, size, memory_order_relaxed);
    return false;
}

void amp_memory_return_basis(size_t size)
{
    size_t before = atomic_fetch_sub_explicit(&basis, size, memory_order_relaxed);
    amp_memory_return(counted(before) - counted(before - size));
}

enum amp_status amp_memory_fail(struct amp_error *err, const char *what, size_t size)
{
    char wanted[32], in_use[32], most[32];
    return amp_fail(err, AMP_IO, "out of memory: %s takes %s; %s of %s are in use", what,
                    amp_memory_text(size, wanted), amp_memory_text(amp_memory_used(), in_use),
                    amp_memory_text(amp_memory_limit(), most));
}

char *amp_memory_text(size_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1000 && unit < 6; unit++)
        size /= 1000;
    snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
    return text;
}
