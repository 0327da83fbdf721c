#ifndef AMP_CLI_COMPARE_H
#define AMP_CLI_COMPARE_H

#include "cli/options/options.h"

/* `ampconv compare`: runs two models, or one and what OPTIONS convert it to, on the same inputs and
   reports how far apart they are. AMP_MISMATCH when an output is outside its tolerance. */
enum amp_status amp_command_compare(const struct amp_options *options, struct amp_error *err);

#endif
