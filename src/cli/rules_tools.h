#ifndef AMP_CLI_RULES_TOOLS_H
#define AMP_CLI_RULES_TOOLS_H

#include "cli/options.h"
#include "core/arena.h"

/* `ampconv rules --check NAME|FILE`: prints what is odd about its rules. AMP_RULES when some of
   them can have no effect. */
enum amp_status amp_rules_tool_check(struct amp_arena *arena, const char *name,
                                     struct amp_error *err);

/* `ampconv rules --diff A B MODEL`: prints the nodes of MODEL for which the rule sets A and B lead
   to different dtypes, with the dtype, the reason and the rule of each. */
enum amp_status amp_rules_tool_diff(const struct amp_options *options, struct amp_error *err);

#endif
