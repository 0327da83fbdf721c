#ifndef AMP_CLI_RANGES_H
#define AMP_CLI_RANGES_H

#include "autocast/ranges/ranges.h"
#include "cli/options/options.h"
#include "core/status.h"
#include "onnx/file/read.h"

/*
 * The ranges of a model's values that the command line asks for.
 */

/* Runs MODEL, whose types are inferred, on the samples that OPTIONS ask for, and adds to RANGES
   what its values are like. Fails as the inputs and the runs do. */
enum amp_status amp_ranges_see(const struct amp_options *options, const struct amp_model *model,
                               struct amp_ranges *ranges, struct amp_error *err);

/* Reads the file of --ranges. AMP_MODEL when it is of a model with other inputs than MODEL. */
enum amp_status amp_ranges_load(const struct amp_options *options, const struct amp_model *model,
                                struct amp_ranges **ranges, struct amp_error *err);

/* As amp_ranges_see, for the model of FILE as it was read, whose types are inferred there and which
   stays as it is. */
enum amp_status amp_ranges_see_file(const struct amp_options *options,
                                    const struct amp_model_file *file, struct amp_ranges *ranges,
                                    struct amp_error *err);

#endif
