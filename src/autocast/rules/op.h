#ifndef AMP_AUTOCAST_RULES_OP_H
#define AMP_AUTOCAST_RULES_OP_H

#include "autocast/rules/rule.h"

/* The operators that rules name in ONNX's words; PyTorch's names are op_name.h's matter. */

/* Whether operators of DOMAIN go by any name: all but ai.onnx and ai.onnx.ml. */
bool amp_rule_is_custom_domain(const char *domain);

/* OP, which has a name, in ARENA as a rule file writes it: "Conv", "com.microsoft::FusedConv",
   "composite::Swish". */
const char *amp_rule_op_text(struct amp_arena *arena, const struct amp_rule_op *op);

/* Sets *OP, in ARENA, to the operator or composite that WORD is by its name in ONNX, or by
   DOMAIN::NAME in another domain. False when there is none; *OP.word is WORD in ARENA then. */
bool amp_rule_op_parse(struct amp_arena *arena, const char *word, struct amp_rule_op *op);

/* The operator of ONNX that WORD was probably meant to be, in ARENA as a rule file writes it; NULL
   when none is near. */
const char *amp_rule_op_nearest(struct amp_arena *arena, const char *word);

/* What is wrong with WORD, which names no operator, as text in ARENA. NEAREST (may be NULL) is what
   was probably meant, ALSO what is accepted beside ONNX's names: "", " or PyTorch". */
const char *amp_rule_op_unknown(struct amp_arena *arena, const char *word, const char *nearest,
                                const char *also);

/* Appends OP to OPS, whose items lie in ARENA; gives its place there. */
struct amp_rule_op *amp_rule_ops_push(struct amp_arena *arena, struct amp_rule_ops *ops,
                                      struct amp_rule_op op);

#endif
