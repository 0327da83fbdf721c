#ifndef AMP_CLI_OPTIONS_COMMAND_LINE_H
#define AMP_CLI_OPTIONS_COMMAND_LINE_H

#include "cli/options/options.h"

/* Parses ARGV into *OPTIONS, which is freed by amp_command_line_free, also after a failure.
   AMP_USAGE with the word that is wrong and the nearest right one. */
enum amp_status amp_command_line_parse(int argc, char **argv, struct amp_options *options,
                                       struct amp_error *err);
void amp_command_line_free(struct amp_options *options);

#endif
