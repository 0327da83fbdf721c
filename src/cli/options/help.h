#ifndef AMP_CLI_OPTIONS_HELP_H
#define AMP_CLI_OPTIONS_HELP_H

#include "cli/options/options.h"

#include <stdio.h>

/* Prints the help that ABOUT begins: usage, examples, options by group, exit codes. */
void amp_help_print(FILE *file, const struct amp_command_words *about);

#endif
