#ifndef AMP_AUTOCAST_POLICY_H
#define AMP_AUTOCAST_POLICY_H

#include "autocast/rules/precision.h"

#include <stdbool.h>

struct amp_model;   /* core/graph/graph.h */
struct amp_rule;    /* autocast/rules/rule.h */
struct amp_rule_op; /* autocast/rules/rule.h */
struct amp_rules;   /* autocast/rules/rule.h */
struct amp_wholes;  /* autocast/wholes.h */

/* What the rules say of a node, as PyTorch's CastPolicy does. */
struct amp_policy {
    const struct amp_rule *rule;  /* NULL: unlisted */
    const struct amp_rule_op *op; /* by which of the rule's operators it matched; NULL: it names
                                     none */
    enum amp_precision precision; /* the rule's, or that of unlisted nodes; for AMP_INFER and
                                     AMP_CLEAR what comes of it: AMP_LOWER or AMP_FP32 */
};

/*
 * Sets *POLICIES to what the rules want of each node of MODEL, by id, in its arena; AMP_RULES when
 * that takes too long to find out (amp_rules_check_work). The parts of a whole get its rule. Then
 * nodes of AMP_INFER and AMP_CLEAR take sides, by the float values that pass between nodes, as
 * TensorFlow's auto_mixed_precision does:
 *   1. what a rule has in AMP_FP32 spreads forward through both, up to the last AMP_INFER;
 *   2. of the rest, both become AMP_LOWER between nodes of AMP_LOWER;
 *   3. AMP_CLEAR becomes AMP_LOWER next to nodes of AMP_LOWER;
 *   4. what is left becomes AMP_FP32.
 */
enum amp_status amp_policies_find(const struct amp_model *model, const struct amp_rules *rules,
                                  const struct amp_wholes *wholes,
                                  const struct amp_policy **policies, struct amp_error *err);

/* Sets MATCHES[i] for each rule I of RULES that matches a node of MODEL, and DECIDES[i] for each
   that is the last to match one (NULL: nobody asks). What took too long, which amp_rules_check_work
   then says, is not found. */
void amp_policies_trace(const struct amp_model *model, const struct amp_rules *rules,
                        const struct amp_wholes *wholes, bool *matches, bool *decides);

#endif
