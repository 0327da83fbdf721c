#ifndef AMP_CHECK_NOISE_APART_H
#define AMP_CHECK_NOISE_APART_H

#include "check/noise/steps.h"
#include "core/status.h"
#include "core/tensor.h"

/* Another session on a model with the same ids, in which single steps of a walk run on their own,
   as the model differs there. */
struct amp_noise_apart {
    struct amp_session *session; /* NULL: there is none */
    struct amp_noise_steps steps;
};

enum amp_status amp_noise_apart_open(const struct amp_model *model, struct amp_arena *arena,
                                     struct amp_noise_apart *apart, struct amp_error *err);
void amp_noise_apart_close(struct amp_noise_apart *apart); /* a zeroed one is fine */

/* What a step runs on. */
struct amp_noise_supply {
    struct amp_session *walk; /* that is about to run the step */
    const struct amp_noise_steps *steps;
    /* Sets *TENSOR, which the caller releases, to the constant that VALUE is to hold; without data
       where the model has it. */
    enum amp_status (*constant)(void *context, uint32_t value, struct amp_tensor *tensor,
                                struct amp_error *err);
    /* Sets *ROUNDED, which the caller releases, to what is to take the place of EXACT, which a
       constant step has given as VALUE; without data where it stays. */
    enum amp_status (*made)(void *context, uint32_t value, const struct amp_tensor *exact,
                            struct amp_tensor *rounded, struct amp_error *err);
    void *context;
};

/* Runs step STEP of the walk in APART. OUTPUTS: one for each of the node's, released by the caller,
   also on failure. */
enum amp_status amp_noise_apart_run(const struct amp_noise_apart *apart,
                                    const struct amp_noise_supply *supply, size_t step,
                                    struct amp_tensor *outputs, struct amp_error *err);

#endif
