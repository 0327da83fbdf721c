/*
 * Ranges for the commands: takes the command line and a model, reads the file of ranges or opens
 * the samples and has check/calibrate.c run the model on them. Prints nothing.
 */
#include "cli/ranges.h"

#include "autocast/ranges/file.h"
#include "check/calibrate.h"
#include "cli/inputs.h"
#include "onnx/schema/infer.h"

#include <string.h>

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

enum amp_status amp_ranges_see(const struct amp_options *options, const struct amp_model *model,
                               struct amp_ranges *ranges, struct amp_error *err)
{
    struct amp_inputs inputs;
    AMP_TRY(amp_inputs_open(options, model, &inputs, err));
    struct amp_source source = {.count = inputs.count, .load = load_sample, .context = &inputs};
    enum amp_status status = amp_calibrate(model, &source, ranges, err);
    ranges->source = inputs.random != NULL ? AMP_RANGES_RANDOM : AMP_RANGES_DATA;
    amp_inputs_close(&inputs);
    return status;
}

enum amp_status amp_ranges_load(const struct amp_options *options, const struct amp_model *model,
                                struct amp_ranges **ranges, struct amp_error *err)
{
    const char *key = amp_ranges_key(model, model->arena);
    AMP_TRY(amp_ranges_read(options->ranges, model->arena, ranges, err));
    if (strcmp((*ranges)->inputs, key) == 0)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: ranges of a model with other inputs: their hash is '%s'; accepted: those "
                    "of ampconv calibrate %s, '%s'",
                    options->ranges, (*ranges)->inputs, model->path, key);
}

enum amp_status amp_ranges_see_file(const struct amp_options *options,
                                    const struct amp_model_file *file, struct amp_ranges *ranges,
                                    struct amp_error *err)
{
    struct amp_model_file copy;
    if (!file->has_functions && !file->is_trained)
        return amp_ranges_see(options, file->model, ranges, err);
    AMP_TRY(amp_model_read_again(file, &copy, err));
    enum amp_status status = amp_infer(copy.model, err);
    if (status == AMP_OK)
        status = amp_ranges_see(options, copy.model, ranges, err);
    amp_model_close(&copy);
    return status;
}
