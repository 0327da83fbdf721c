#ifndef AMP_CLI_OPTIONS_RULE_OPTIONS_H
#define AMP_CLI_OPTIONS_RULE_OPTIONS_H

#include "autocast/rules/rules.h"
#include "cli/options/options.h"

struct amp_model_file; /* onnx/file/read.h */

/* The rules of a conversion, all that the user gave in one list. */
struct amp_rule_choice {
    struct amp_rules *rules;  /* to be destroyed */
    const char *const *names; /* the sets, in the order of loading */
    size_t n_names;
};

/*
 * Loads what options and environment say of rules, the ones of least precedence first: the sets
 * that come with the program (the one for LOWER when none is named), rule files, the lists of
 * operators that the environment names, those of options, --op, --node. CHOICE must be all zero and
 * gets its rules, made in ARENA, also on failure. AMP_RULES for a set that is wrong, AMP_USAGE for
 * a wrong option.
 */
enum amp_status amp_rule_options_load(const struct amp_options *options, enum amp_dtype lower,
                                      struct amp_arena *arena, struct amp_rule_choice *choice,
                                      struct amp_error *err);

/* Says, unless quiet, which of the user's own RULES, made by amp_rule_options_load, match no node
   of the model in FILE, and what was probably meant; with --strict-rules that is AMP_RULES. */
enum amp_status amp_rule_options_check(const struct amp_options *options,
                                       const struct amp_model_file *file,
                                       const struct amp_rules *rules, enum amp_dtype lower,
                                       struct amp_error *err);

/* The variable in place I of those that name lists of operators; NULL behind the last. */
const char *amp_rule_variable_at(size_t i);

#endif
