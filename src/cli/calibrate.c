/*
 * `ampconv calibrate`: reads a model, runs it on given or random inputs, adds what can be proved,
 * and writes the ranges of its values. Converts nothing.
 */
#include "cli/calibrate.h"

#include "autocast/ranges/bounds.h"
#include "autocast/ranges/file.h"
#include "cli/progress.h"
#include "cli/ranges.h"
#include "cli/report/ranges.h"
#include "cli/report/text.h"
#include "core/file/output.h"
#include "onnx/schema/infer.h"

#include <string.h>

static enum amp_status calibrate(const struct amp_options *options, struct amp_model *model,
                                 struct amp_error *err)
{
    const char *path = options->output != NULL ? options->output : "-";
    struct amp_ranges *ranges = amp_ranges_create(model->arena);
    AMP_TRY(amp_infer(model, err));
    if (!options->is_quiet)
        amp_report_newer_types(stderr, model);
    ranges->inputs = amp_ranges_key(model, model->arena);
    amp_progress_begin("calibrating");
    enum amp_status status = amp_ranges_see(options, model, ranges, err);
    if (status == AMP_OK)
        amp_bounds_note(model, ranges);
    amp_progress_end();
    AMP_TRY(status);
    if (!options->is_quiet)
        amp_report_calibration(stderr, model->path, ranges);
    return amp_ranges_write(ranges, model->path, path, err);
}

enum amp_status amp_command_calibrate(const struct amp_options *options, struct amp_error *err)
{
    struct amp_model_file file;
    AMP_TRY(amp_model_read(options->operands.items[0], &file, err));
    enum amp_status status = calibrate(options, file.model, err);
    amp_model_close(&file);
    return status;
}
