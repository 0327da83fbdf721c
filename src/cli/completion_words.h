#ifndef AMP_CLI_COMPLETION_WORDS_H
#define AMP_CLI_COMPLETION_WORDS_H

#include "cli/options/option_table.h"

struct amp_arena; /* core/arena.h */

/* What may stand in the value of an option, for those who complete it. */

/* The kind of path that a value, or what follows its '=', is. */
enum amp_option_path { AMP_PATH_NONE, AMP_PATH_FILE, AMP_PATH_FOLDER };

struct amp_option_values {
    const char *words;  /* in place of the value or, in a pair, before its '='; spaces between */
    const char *behind; /* the words behind the '=' of a pair */
    bool is_pair;       /* NAME=VALUE */
    bool is_bare;       /* a pair whose value may stand alone: the words are in both lists then */
    enum amp_option_path path;
};

/* What OPTION, which takes an argument, takes; texts in ARENA. */
struct amp_option_values amp_option_values(const struct amp_option *option,
                                           struct amp_arena *arena);

/* The names of the rule sets that come with the program, spaces between. */
const char *amp_rule_set_words(struct amp_arena *arena);

#endif
