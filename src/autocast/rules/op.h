#ifndef AMP_AUTOCAST_RULES_OP_H
#define AMP_AUTOCAST_RULES_OP_H

#include "autocast/rules/bind.h"

/* Private to the rules: the names of operators. */

struct amp_rule_ops {
    struct amp_rule_op *items;
    size_t count, capacity;
};

/* Whether operators of DOMAIN go by any name: all but ai.onnx and ai.onnx.ml. */
bool amp_rule_is_custom_domain(const char *domain);

/*
 * Appends what WORD stands for: an operator of ONNX by its name, one of another domain as
 * DOMAIN::NAME, or PyTorch's, which may be several. Names are told apart by case: ONNX's "Softmax",
 * PyTorch's "softmax". *PROBLEM: NULL, or what is wrong with WORD, as text in the rules' arena. The
 * status is that of reading the table of PyTorch's names.
 */
enum amp_status amp_rule_ops_add(struct amp_rules *rules, const char *word, int line,
                                 struct amp_rule_ops *ops, const char **problem,
                                 struct amp_error *err);

/* The same for the text NODE of a rule file; AMP_RULES when it names no operator. */
enum amp_status amp_rule_ops_bind(const struct amp_rules_binder *b,
                                  const struct amp_yaml_node *node, struct amp_rule_ops *ops);

/* The same for ONNX's and other domains' operators alone: the table of PyTorch's names is made of
   them. */
enum amp_status amp_rule_ops_bind_onnx(const struct amp_rules_binder *b,
                                       const struct amp_yaml_node *node, struct amp_rule_ops *ops);

#endif
