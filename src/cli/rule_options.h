#ifndef AMP_CLI_RULE_OPTIONS_H
#define AMP_CLI_RULE_OPTIONS_H

#include "autocast/rules/rules.h"
#include "cli/options.h"

/* The rules of a conversion, all that the user gave in one list. */
struct amp_rule_choice {
    struct amp_rules *rules;  /* to be destroyed */
    const char *const *names; /* the sets, in the order of loading */
    size_t n_names;
};

/*
 * What options and environment say of rules, in the order of precedence: the sets that come with
 * the program (the one for LOWER when none is named), rule files, the lists of operators that the
 * environment names, those of options, --op, --node. CHOICE must be all zero and gets its rules in
 * any case, made in ARENA.
 */
enum amp_status amp_rule_options_load(const struct amp_options *options, enum amp_dtype lower,
                                      struct amp_arena *arena, struct amp_rule_choice *choice,
                                      struct amp_error *err);

#endif
