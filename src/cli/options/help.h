#ifndef AMP_CLI_OPTIONS_HELP_H
#define AMP_CLI_OPTIONS_HELP_H

#include "cli/options/option_table.h"

#include <stdio.h>

/* Prints the help that ABOUT begins: usage, examples, options by group, exit codes. */
void amp_help_print(FILE *file, const struct amp_command_words *about);

/* Prints what the help says of OPTION, with names in place of marks. */
void amp_help_print_text(FILE *file, const struct amp_option *option);

#endif
