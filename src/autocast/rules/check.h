#ifndef AMP_AUTOCAST_RULES_CHECK_H
#define AMP_AUTOCAST_RULES_CHECK_H

#include "autocast/rules/rule.h"

/* What is odd about a rule, or about one of the operators that it names. */
struct amp_rule_finding {
    const struct amp_rule *rule;
    const char *text;
    int line;     /* of the rule, or of the operator */
    bool is_note; /* a fact, no mistake */
};

/*
 * Looks for rules of the set loaded last, without those of the sets it extends, that can have no
 * effect: those that no node can match, and those of which every node is matched by a later rule
 * too. Operators without a form in ONNX are noted. *FINDINGS, in the rules' arena, gets them in the
 * order of the rules. AMP_RULES when there is too much to compare.
 */
enum amp_status amp_rules_check(const struct amp_rules *rules, struct amp_rule_finding **findings,
                                size_t *n_findings, struct amp_error *err);

#endif
