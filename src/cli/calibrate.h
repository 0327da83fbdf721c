#ifndef AMP_CLI_CALIBRATE_H
#define AMP_CLI_CALIBRATE_H

#include "cli/options/options.h"

/* `ampconv calibrate MODEL`: runs the model on the samples that OPTIONS ask for, proves bounds, and
   writes the ranges of its values. */
enum amp_status amp_command_calibrate(const struct amp_options *options, struct amp_error *err);

#endif
