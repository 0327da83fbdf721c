#ifndef AMP_AUTOCAST_RULES_MATCH_H
#define AMP_AUTOCAST_RULES_MATCH_H

#include "autocast/rules/rule.h"
#include "core/graph/graph.h"

/* Which rule of a list decides about a node. */

/*
 * What a rule looks at: a node, or a composite. For a composite, NODE is the one whose first inputs
 * are the whole's, DOMAIN is AMP_RULES_COMPOSITE and OP_TYPE its name; a rule that names ai.onnx's
 * operator of that name (LayerNormalization) matches too. A composite has no attributes, so that a
 * rule with `when` on one does not match. Of nodes that the exporter noted as one operator of
 * PyTorch's, NODE is the one that a rule's `when` asks, and PyTorch's names are what counts.
 */
struct amp_rule_subject {
    const struct amp_model *model;
    uint32_t node;
    const char *domain, *op_type;
    bool is_noted; /* by the exporter: it is one of PyTorch's NAMES, and ONNX's COMPOSITES */
    const char *const *names, *const *composites;
    size_t n_names, n_composites;
};

struct amp_rule_subject amp_rule_subject(const struct amp_model *model, uint32_t node);

/* The last matching rule; NULL when none matches (then rules->unlisted decides), and when all of
   this took too long, which amp_rules_check_work then says. */
const struct amp_rule *amp_rules_match_subject(const struct amp_rules *rules,
                                               const struct amp_rule_subject *subject);
const struct amp_rule *amp_rules_match(const struct amp_rules *rules, const struct amp_model *model,
                                       uint32_t node);

/* AMP_RULES, with the place of a rule, when matches with RULES so far were cut off because they
   looked at too much: operators, patterns, values and names. */
enum amp_status amp_rules_check_work(const struct amp_rules *rules, struct amp_error *err);

/* Whether SUBJECT is OP, with the condition that PyTorch's name has there. */
bool amp_rule_op_fits(const struct amp_rules *rules, const struct amp_rule_op *op,
                      const struct amp_rule_subject *subject);

/* Which of the operators that RULE, one of RULES, names SUBJECT is, the first where several fit;
   NULL for a rule that names none. RULE must match SUBJECT. */
const struct amp_rule_op *amp_rule_named_op(const struct amp_rules *rules,
                                            const struct amp_rule *rule,
                                            const struct amp_rule_subject *subject);

/*
 * A node that is part of a composite. Rules look at the whole, or at its head where it has one (the
 * MatMul of linear), as if that were alone; rules that name nodes, tensors or operators of ONNX
 * look at the part as well. PyTorch's names do not: what PyTorch ran is the whole.
 */
struct amp_rule_part {
    struct amp_rule_subject self, whole, head;
    bool has_head;
};

/* Sets MATCHES[i] for each rule I of RULES that matches the part, IS_WHOLE: the node alone, which
   is part of nothing. What took too long is not found. */
void amp_rules_note_matches(const struct amp_rules *rules, const struct amp_rule_part *part,
                            bool is_whole, bool *matches);

/* The last rule that matches the part in one way or another, and *OP, by which of its operators as
   amp_rule_named_op has it; NULL, *OP NULL, when none does. */
const struct amp_rule *amp_rules_match_part(const struct amp_rules *rules,
                                            const struct amp_rule_part *part,
                                            const struct amp_rule_op **op);

#endif
