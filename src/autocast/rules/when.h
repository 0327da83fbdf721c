#ifndef AMP_AUTOCAST_RULES_WHEN_H
#define AMP_AUTOCAST_RULES_WHEN_H

#include "autocast/rules/bind.h"
#include "autocast/rules/rule.h"

/* Private to the rules: the conditions on attributes. */

/* The keys of `when` for the ranks: "input_rank", "second_rank". */
extern const char *const amp_rule_rank_keys[AMP_RULE_RANKS];

/* The key for struct amp_rule_condition.contracts. */
extern const char amp_rule_contracts_key[];

/* The value of a scalar node; numbers are plain ones as YAML 1.2 writes them. Its text is the
   node's. No number when NODE is not a scalar. */
struct amp_rule_scalar amp_rule_scalar_of(const struct amp_yaml_node *node);

/* Sets *CONDITION, which is all zero, to what the mapping WHEN asks of nodes of the operators OPS.
   AMP_RULES when none of them has such an attribute, or the values are not of its type. */
enum amp_status amp_rules_bind_when(const struct amp_rules_binder *b,
                                    const struct amp_yaml_node *when,
                                    const struct amp_rule_ops *ops,
                                    struct amp_rule_condition *condition);

#endif
