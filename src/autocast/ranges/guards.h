#ifndef AMP_AUTOCAST_RANGES_GUARDS_H
#define AMP_AUTOCAST_RANGES_GUARDS_H

#include "autocast/decision.h"
#include "autocast/static_values.h"
#include "autocast/types.h"

struct amp_rule_limits; /* autocast/rules/rule.h */

/*
 * What forbids the lower dtype because of the values that a model has: those that are beyond the
 * limits, seen with their margin or proved; squares and sums within operators; values that become
 * 0 and matter; masks that add up to infinities.
 */
struct amp_range_guards;

struct amp_range_guard_options {
    const struct amp_model *model;
    enum amp_dtype lower;
    const struct amp_rule_limits *limits;
    const struct amp_ranges *ranges;               /* NULL: nothing was seen */
    const struct amp_static_values *static_values; /* has each node before the guards do */
};

/* NULL where there is nothing to guard against: not in bfloat16, unless ranges were seen, as it has
   the exponents of float32. All that OPTIONS point to must outlive the guards; the model must not
   change. */
struct amp_range_guards *amp_range_guards_create(const struct amp_range_guard_options *options);
void amp_range_guards_destroy(struct amp_range_guards *guards); /* NULL is fine */

/* Looks at NODE, after the nodes whose outputs it takes. GUARDS may be NULL, here and below. */
void amp_range_guards_add(struct amp_range_guards *guards, const struct amp_node *node);

/* Whether NODE, which has been looked at, must not run in the lower dtype with its inputs and
   outputs of type variable DECISION->type: reason, value, number and seen of *DECISION then say
   why. */
bool amp_range_guards_find(struct amp_range_guards *guards, const struct amp_types *types,
                           const struct amp_node *node, struct amp_decision *decision);

#endif
