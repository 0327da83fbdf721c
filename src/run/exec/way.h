#ifndef AMP_RUN_EXEC_WAY_H
#define AMP_RUN_EXEC_WAY_H

#include "run/exec/state.h"

struct amp_kernel_call; /* run/exec/kernel_call.h */

/* Private to run/exec: the ways to run a step, in the order in which they are tried. */
enum { AMP_N_WAYS = 7 };

struct amp_way {
    const char *name;
    bool reads_casts, has_posts; /* the kernel does the step's casts and post-ops */
    /* Whether the way is another one than those before it. */
    bool (*fits)(const struct amp_step *step, enum amp_mode mode);
    /* Gathers what CALL reads and sets in which dtype it computes. AMP_UNSUPPORTED: the way cannot
       be taken, or comes to the same as the one before it, which has failed. */
    enum amp_status (*prepare)(struct amp_kernel_call *call);
};

extern const struct amp_way amp_ways[AMP_N_WAYS];

/* The first way from FIRST on that fits STEP; AMP_N_WAYS: there is none. */
size_t amp_way_find(const struct amp_step *step, enum amp_mode mode, size_t first);

/* Writes the way that CALL has taken and the reasons for it into TEXT of SIZE bytes, as `bench
   --profile` has them: "alone; split: kernel has no post-op". */
void amp_way_describe(const struct amp_kernel_call *call, const struct amp_way *way,
                      enum amp_mode mode, char *text, size_t size);

#endif
