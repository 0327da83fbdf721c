/*
 * Parallel regions of one thread. libgomp makes a team for each and dissolves it with a call of the
 * system, which takes longer than a small kernel: such regions are calls here. The linker lets the
 * program's regions pass here (--wrap); those of libraries are theirs.
 */
#include <omp.h>
#include <stdbool.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): names of libgomp's ABI and of the linker */

void __real_GOMP_parallel(void (*region)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*region)(void *), void *data, unsigned threads, unsigned flags);

/* Runs REGION, which may have up to THREADS threads; 0: as many as there are. Outside of regions a
   thread is its own team of one. */
void __wrap_GOMP_parallel(void (*region)(void *), void *data, unsigned threads, unsigned flags)
{
    bool is_alone = threads == 1 || (threads == 0 && omp_get_max_threads() == 1);
    if (is_alone && !omp_in_parallel())
        region(data);
    else
        __real_GOMP_parallel(region, data, threads, flags);
}

/* NOLINTEND(bugprone-reserved-identifier) */
