#ifndef AMP_AUTOCAST_RULES_OP_LIST_H
#define AMP_AUTOCAST_RULES_OP_LIST_H

#include "autocast/rules/precision.h"

struct amp_rules; /* autocast/rules/rule.h */

/*
 * Appends a rule of PRECISION for each operator in the file at PATH: a name per line, of ONNX, of
 * PyTorch or DOMAIN::NAME, spaces around it and what follows a '#' apart. AMP_IO when the file
 * cannot be read, AMP_RULES with file and line for a line that names no operator; RULES is then
 * only good to be destroyed.
 */
enum amp_status amp_rules_load_op_list(struct amp_rules *rules, const char *path,
                                       enum amp_precision precision, struct amp_error *err);

#endif
