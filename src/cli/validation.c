/*
 * The validation of a conversion: takes the command line and both models, opens the samples and
 * labels, and has check/validate.c run and measure them. Prints nothing.
 */
#include "cli/validation.h"

#include "cli/inputs.h"
#include "cli/tolerance.h"

#include <stdio.h>
#include <string.h>

enum amp_status amp_validation_check_options(const struct amp_options *options,
                                             enum amp_dtype coarsest, struct amp_error *err)
{
    struct amp_metric_bounds unused;
    AMP_TRY(amp_inputs_check(options, err));
    return amp_tolerance_parse(options, coarsest, &unused, err);
}

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

/* Says what can be done where the executor lacks something. */
static void add_way_out(struct amp_error *err)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; --no-validate converts all the same");
}

static enum amp_status validate(const struct amp_validation_request *request,
                                struct amp_inputs *inputs, struct amp_validation *result,
                                struct amp_error *err)
{
    struct amp_tensor labels;
    struct amp_validate_options setup = {
        .source = {.count = inputs->count, .load = load_sample, .context = inputs}};
    AMP_TRY(amp_tolerance_parse(request->options, request->coarsest, &setup.bounds, err));
    AMP_TRY(amp_inputs_load_labels(request->options, &labels, err));
    setup.labels = labels.data != NULL ? &labels : NULL;
    enum amp_status status =
        amp_validate(request->reference, request->converted, &setup, result, err);
    if (status == AMP_UNSUPPORTED)
        add_way_out(err);
    amp_tensor_release(&labels);
    return status;
}

enum amp_status amp_validation_run(const struct amp_validation_request *request,
                                   struct amp_input_notes *notes, struct amp_validation *result,
                                   struct amp_error *err)
{
    struct amp_inputs inputs;
    *notes = (struct amp_input_notes){.model = NULL};
    *result = (struct amp_validation){.samples = 0};
    AMP_TRY(amp_inputs_open(request->options, request->reference, &inputs, err));
    enum amp_status status = validate(request, &inputs, result, err);
    if (status == AMP_OK || status == AMP_MISMATCH) {
        *notes = inputs.notes;
        inputs.notes = (struct amp_input_notes){.model = NULL};
    }
    amp_inputs_close(&inputs);
    return status;
}
