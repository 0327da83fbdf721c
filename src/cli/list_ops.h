#ifndef AMP_CLI_LIST_OPS_H
#define AMP_CLI_LIST_OPS_H

#include "cli/options/options.h"

/* `ampconv run --list-ops`: prints what the executor runs, an operator per line, or writes it as
   JSON where OPTIONS ask for that. */
enum amp_status amp_command_list_ops(const struct amp_options *options, struct amp_error *err);

#endif
