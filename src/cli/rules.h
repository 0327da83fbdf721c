#ifndef AMP_CLI_RULES_H
#define AMP_CLI_RULES_H

#include "cli/options/options.h"

/*
 * `ampconv rules`: lists the rule sets that come with the program, or prints one. --names: lists
 * PyTorch's names for operators. --check: prints what is odd about the rules of a set; AMP_RULES
 * when some of them can have no effect. --diff A B MODEL: prints the nodes of MODEL for which the
 * sets A and B lead to different dtypes, with the dtype, the reason and the rule of each.
 */
enum amp_status amp_command_rules(const struct amp_options *options, struct amp_error *err);

#endif
