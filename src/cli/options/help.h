#ifndef AMP_CLI_OPTIONS_HELP_H
#define AMP_CLI_OPTIONS_HELP_H

#include "cli/options/options.h"

#include <stdio.h>

/* Prints the help: usage, examples, options by group, exit codes. Of a command that has a word,
   only what goes with it. */
void amp_help_print(FILE *file, enum amp_command command);

#endif
