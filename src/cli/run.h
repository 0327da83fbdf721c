#ifndef AMP_CLI_RUN_H
#define AMP_CLI_RUN_H

#include "cli/options/options.h"

/* `ampconv run`: runs a model on the samples that OPTIONS ask for and reports on its outputs.
   AMP_MISMATCH when they are not as expected (--expect). Hands over to --list-ops and --test-suite.
 */
enum amp_status amp_command_run(const struct amp_options *options, struct amp_error *err);

#endif
