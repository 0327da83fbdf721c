#ifndef AMP_CLI_REPORT_RULES_H
#define AMP_CLI_REPORT_RULES_H

#include "autocast/rules/rules.h"
#include "autocast/rules/torch_map.h"

/* Prints RULES under the head of the set that was loaded last, as YAML that loads to the same
   rules. With IS_RESOLVED PyTorch's names come as the operators they stand for. Texts are made in
   ARENA. */
void amp_print_rules(struct amp_arena *arena, const struct amp_rules *rules, bool is_resolved);

/* "conv2d  conditional  Conv {input_rank=4}": a line. */
void amp_print_torch_name(struct amp_arena *arena, const struct amp_torch_name *name);

#endif
