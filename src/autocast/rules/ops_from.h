#ifndef AMP_AUTOCAST_RULES_OPS_FROM_H
#define AMP_AUTOCAST_RULES_OPS_FROM_H

#include "autocast/rules/bind.h"
#include "autocast/rules/op_list.h"

/* Private to the rules: lists of operators that stand in place of those of a rule. */

/*
 * Reads the list in the file that the environment names by one of VARIABLES, a list of texts: the
 * first that is set and not empty. Those behind the first are its old names, and a note of the
 * rules says so where one is used; words that name no operator are noted, too. *LIST, with
 * *IS_GIVEN; no variable is set: not given. AMP_IO or AMP_RULES with the variable's name when the
 * file is none or no list.
 */
enum amp_status amp_rules_read_ops_from(const struct amp_rules_binder *b,
                                        const struct amp_yaml_node *variables, bool *is_given,
                                        struct amp_op_list *list);

#endif
