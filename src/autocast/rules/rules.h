#ifndef AMP_AUTOCAST_RULES_RULES_H
#define AMP_AUTOCAST_RULES_RULES_H

#include "autocast/rules/rule.h"

/* The list of rules: what is in it, and the sets that come with the program. */

/* An empty list in ARENA, which must outlive it; everything is AMP_FOLLOW. */
struct amp_rules *amp_rules_create(struct amp_arena *arena);
void amp_rules_destroy(struct amp_rules *rules); /* NULL is fine */

/* Whether TEXT is the path of a rule file, not the name of a set: it holds a '/' or ends in .yaml
   or .yml. */
bool amp_rules_is_path(const char *text);

/*
 * Appends the rules of a set, after those it extends: a file when NAME_OR_FILE is a path, else the
 * set of that name among those that come with the program. What it says
 * of `unlisted` and `limits` replaces what was said before. AMP_USAGE for a name that there is not,
 * AMP_IO for a file that cannot be read, AMP_RULES with place, line and caret for one that is
 * wrong; RULES is then only good to be destroyed.
 */
enum amp_status amp_rules_load(struct amp_rules *rules, const char *name_or_file,
                               struct amp_error *err);

/* Appends a rule for all nodes of operator OP ("Conv", "com.microsoft::FusedConv", PyTorch's
   "conv2d"). AMP_USAGE when neither ONNX nor PyTorch has such an operator. */
enum amp_status amp_rules_add_op(struct amp_rules *rules, const char *op,
                                 enum amp_precision precision, struct amp_rule_source source,
                                 struct amp_error *err);

/* Appends a rule for the nodes whose name matches the glob PATTERN. AMP_USAGE when it is too long.
 */
enum amp_status amp_rules_add_node(struct amp_rules *rules, const char *pattern,
                                   enum amp_precision precision, struct amp_rule_source source,
                                   struct amp_error *err);

/* Appends a rule for the nodes that give one of the N values called NAMES, to the letter. AMP_USAGE
   when they are too long. */
enum amp_status amp_rules_add_tensors(struct amp_rules *rules, const char *const *names, size_t n,
                                      enum amp_precision precision, struct amp_error *err);

/* A list of the same rules in ARENA, to which others can be appended. Both are destroyed, RULES
   last. */
struct amp_rules *amp_rules_copy(const struct amp_rules *rules, struct amp_arena *arena);

/* Makes RULES, whatever they were loaded from, the one set NAME. */
void amp_rules_name(struct amp_rules *rules, const char *name);

/*
 * Appends a rule of PRECISION for the operators in the file at PATH: a name per line, of ONNX, of
 * PyTorch or DOMAIN::NAME, spaces around it and what follows a '#' apart. AMP_IO when the file
 * cannot be read, AMP_RULES with file and line for a line that names no operator; RULES is then
 * only good to be destroyed.
 */
enum amp_status amp_rules_load_op_list(struct amp_rules *rules, const char *path,
                                       enum amp_precision precision, struct amp_error *err);

/* "bf16", "fp16" or "bf16, fp16" for a mask of lower dtypes that is not empty. */
const char *amp_rules_dtypes_text(uint32_t dtypes);

/* Settles that the rules are for DTYPE, a lower dtype: those for others go. AMP_RULES with the
   set's name when one of the loaded sets is not for it. */
enum amp_status amp_rules_set_dtype(struct amp_rules *rules, enum amp_dtype dtype,
                                    struct amp_error *err);

/* The dtypes of 16 bits that rules name, of AMP_RULES_DTYPES. */
uint32_t amp_rules_named_dtypes(const struct amp_rules *rules);

/* The limits for float16 or bfloat16; NULL for other dtypes. */
const struct amp_rule_limits *amp_rules_limits(const struct amp_rules *rules, enum amp_dtype dtype);

/* The names of the sets that come with the program, sorted; COUNT of them. AMP_IO when their folder
   cannot be read. */
enum amp_status amp_rules_names(struct amp_arena *arena, const char *const **names, size_t *count,
                                struct amp_error *err);

#endif
