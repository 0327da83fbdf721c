#ifndef AMP_AUTOCAST_RULES_WHEN_H
#define AMP_AUTOCAST_RULES_WHEN_H

#include "autocast/rules.h"
#include "autocast/rules_yaml.h"

/* Private to the rules: the conditions on attributes. */

/* What the functions that check a tree share. */
struct amp_rules_binder {
    struct amp_rules *rules;
    const struct amp_yaml *yaml;
    const char *label; /* the file as rules name it */
    struct amp_error *err;
};

/* The value of a scalar node; numbers are plain ones as YAML 1.2 writes them. Its text is the
   node's. No number when NODE is not a scalar. */
struct amp_rule_scalar amp_rule_scalar_of(const struct amp_yaml_node *node);

/* Sets what RULE, whose operators are set, asks of attributes and of the first input's rank from
   the mapping WHEN. AMP_RULES when none of its operators has such an attribute, or the values are
   not of its type. */
enum amp_status amp_rules_bind_when(const struct amp_rules_binder *b,
                                    const struct amp_yaml_node *when, struct amp_rule *rule);

#endif
