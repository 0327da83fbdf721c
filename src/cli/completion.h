#ifndef AMP_CLI_COMPLETION_H
#define AMP_CLI_COMPLETION_H

#include "cli/options/options.h"

/* The command `ampconv completion SHELL`: prints a script that completes the program's words in
   bash, zsh or fish. AMP_USAGE for another shell. */
enum amp_status amp_command_completion(const struct amp_options *options, struct amp_error *err);

#endif
