/*
 * The search for noise by source that the command line asks for: opens the samples and has
 * check/noise.c do the rest. Prints nothing.
 */
#include "cli/noise.h"

#include "cli/inputs.h"

#include <string.h>

/* A page with pictures, which shows the largest sources among other things, is to be there sooner
   than what was asked for. */
enum { PAGE_SHARE = 4 };

static double budget_of(const struct amp_options *options, const struct amp_model *converted)
{
    bool is_asked_for = options->explain != NULL && strcmp(options->explain, "noise") == 0;
    return amp_noise_budget(converted->graphs[0].nodes.count) / (is_asked_for ? 1 : PAGE_SHARE);
}

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

enum amp_status amp_noise_search(const struct amp_options *options, double budget,
                                 const struct amp_model *reference,
                                 const struct amp_model *converted, struct amp_noise *noise,
                                 struct amp_error *err)
{
    struct amp_inputs inputs;
    AMP_TRY(amp_inputs_open(options, reference, &inputs, err));
    struct amp_noise_options how = {
        .source = {.count = inputs.count, .load = load_sample, .context = &inputs},
        .budget = budget > 0 ? budget : budget_of(options, converted)};
    enum amp_status status = amp_noise_find(reference, converted, &how, noise, err);
    amp_inputs_close(&inputs);
    return status;
}
