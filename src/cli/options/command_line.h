#ifndef AMP_CLI_OPTIONS_COMMAND_LINE_H
#define AMP_CLI_OPTIONS_COMMAND_LINE_H

#include "cli/options/option_table.h"

struct amp_arena; /* core/arena.h */

/* Parses ARGV into *OPTIONS, which is freed by amp_command_line_free, also after a failure.
   AMP_USAGE with the word that is wrong and the nearest right one. */
enum amp_status amp_command_line_parse(int argc, char **argv, struct amp_options *options,
                                       struct amp_error *err);
void amp_command_line_free(struct amp_options *options);

/* The text that OPTIONS have for OPTION; NULL when it was not given or takes no one text. */
const char *amp_option_text(const struct amp_options *options, const struct amp_option *option);

/* Those of OPTIONS that are wanted and have another value than their default, as words for the
   shell in ARENA, each behind a space. */
const char *amp_command_line_compose(const struct amp_options *options,
                                     bool (*is_wanted)(const struct amp_option *option),
                                     struct amp_arena *arena);

#endif
