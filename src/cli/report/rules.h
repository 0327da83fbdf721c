#ifndef AMP_CLI_REPORT_RULES_H
#define AMP_CLI_REPORT_RULES_H

#include "autocast/rules/rules.h"
#include "autocast/rules/torch_map.h"

/* Prints RULES to stdout under the head of the set that was loaded last, as YAML that loads to
   equal rules. With IS_RESOLVED the operators that PyTorch's names stand for come in place of the
   names. Texts are made in ARENA. */
void amp_report_rules(struct amp_arena *arena, const struct amp_rules *rules, bool is_resolved);

/* Prints what the user should know of the loading of RULES to stderr. */
void amp_report_rule_notes(const struct amp_rules *rules);

/* Prints a warning about rules to stderr. */
void amp_report_rule_warning(const char *text);

/* Prints the line of one of PyTorch's names: "conv2d  conditional  Conv {input_rank=4}". Texts are
   made in ARENA. */
void amp_report_torch_name(struct amp_arena *arena, const struct amp_torch_name *name);

#endif
