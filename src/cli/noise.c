/*
 * The search for noise by source that the command line asks for: opens the samples and has
 * check/noise.c do the rest. Prints nothing.
 */
#include "cli/noise.h"

#include "cli/inputs.h"

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

enum amp_status amp_noise_search(const struct amp_options *options,
                                 const struct amp_model *reference,
                                 const struct amp_model *converted, struct amp_noise *noise,
                                 struct amp_error *err)
{
    struct amp_inputs inputs;
    AMP_TRY(amp_inputs_open(options, reference, &inputs, err));
    struct amp_noise_options how = {
        .source = {.count = inputs.count, .load = load_sample, .context = &inputs}};
    enum amp_status status = amp_noise_find(reference, converted, &how, noise, err);
    amp_inputs_close(&inputs);
    return status;
}
