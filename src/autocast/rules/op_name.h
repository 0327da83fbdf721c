#ifndef AMP_AUTOCAST_RULES_OP_NAME_H
#define AMP_AUTOCAST_RULES_OP_NAME_H

#include "autocast/rules/bind.h"
#include "autocast/rules/rule.h"

/* Private to the rules: the names of operators, ONNX's and PyTorch's alike. */

/* A word that names operators, and where it was written. */
struct amp_op_name {
    const char *word;
    int line; /* from 1; 0 on the command line */
};

/*
 * Appends to OPS what NAME stands for: an operator of ONNX by its name, one of another domain as
 * DOMAIN::NAME, or PyTorch's, which may be several. Names are told apart by case: ONNX's "Softmax",
 * PyTorch's "softmax". *PROBLEM: NULL, or what is wrong with the word, as text in the rules' arena.
 * The status is that of reading the table of PyTorch's names.
 */
enum amp_status amp_op_name_resolve(struct amp_rules *rules, struct amp_op_name name,
                                    struct amp_rule_ops *ops, const char **problem,
                                    struct amp_error *err);

/* Appends to OPS what the text NODE of a rule file stands for. AMP_RULES when it names no operator.
 */
enum amp_status amp_op_name_bind(const struct amp_rules_binder *b, const struct amp_yaml_node *node,
                                 struct amp_rule_ops *ops);

#endif
