#ifndef AMP_AUTOCAST_RULE_EFFECTS_H
#define AMP_AUTOCAST_RULE_EFFECTS_H

#include "autocast/rules/rule.h"
#include "core/graph/graph.h"

/* Which rules of a list have an effect on a model, by index. Of what takes too long to find out,
   nothing is said. */
struct amp_rule_effects {
    bool *matches; /* a node, as the model came or at the opset that it is raised to */
    bool *decides; /* on one of them; NULL: not asked for */
    bool is_known;
};

/* Finds out what RULES match in MODEL. It is raised for LOWER where one of the user's own matches
   nothing before, and then good only to be looked at. Arrays are in its arena. Fails where its
   types cannot be inferred or it cannot be decided on. */
enum amp_status amp_rule_effects_find(struct amp_model *model, const struct amp_rules *rules,
                                      enum amp_dtype lower, struct amp_rule_effects *effects,
                                      struct amp_error *err);

/* The same, and on which of the nodes they decide. */
enum amp_status amp_rule_decisions_find(struct amp_model *model, const struct amp_rules *rules,
                                        enum amp_dtype lower, struct amp_rule_effects *effects,
                                        struct amp_error *err);

/* What there is in MODEL in place of what RULE, which matches nothing there, selects: "; the
   nearest name is 'x'", "" when nothing is near. In MODEL's arena. */
const char *amp_rule_nearest_text(const struct amp_model *model, const struct amp_rule *rule);

#endif
