#ifndef AMP_AUTOCAST_RULES_OP_LIST_H
#define AMP_AUTOCAST_RULES_OP_LIST_H

#include "autocast/rules/rule.h"

/* Private to the rules: lists of operators in text files. */

enum { AMP_OP_LIST_NAMED = 3 }; /* unknown words that it names */

struct amp_op_list {
    bool keeps_unknown;            /* words that name no operator are counted, not refused */
    struct amp_rule_ops ops;       /* with the line of each */
    struct amp_rule_source source; /* of a rule for them */
    const char *unknown;           /* the first such words, as text; NULL: there are none */
    size_t n_unknown;
};

/*
 * Appends to the operators of LIST, all zero but for keeps_unknown, what the file at PATH names: a
 * name per line, of ONNX, of PyTorch or DOMAIN::NAME, spaces around it and what follows a '#'
 * apart. Texts lie in the arena of RULES. AMP_IO when the file cannot be read, AMP_RULES with file
 * and line for a line that names no operator; LIST is then good for nothing.
 */
enum amp_status amp_op_list_read(struct amp_rules *rules, const char *path,
                                 struct amp_op_list *list, struct amp_error *err);

#endif
