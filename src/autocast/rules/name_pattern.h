#ifndef AMP_AUTOCAST_RULES_NAME_PATTERN_H
#define AMP_AUTOCAST_RULES_NAME_PATTERN_H

#include "autocast/rules/rule.h"
#include "core/match/automaton.h"

/* Private to the rules: patterns over names. */

enum {
    AMP_RULE_CODE_MAX = 1000000,   /* instructions of all patterns of a list */
    AMP_RULE_STEPS_MAX = 300000000 /* of all matches of a list, in the units of match.c */
};

/* A name with what comparing it takes. */
struct amp_rule_name {
    const char *text;
    size_t size;
    uint32_t hash; /* amp_hash_keyed */
};

struct amp_rule_name amp_rule_name(const char *text);

/* What a list of rules needs to match names, and how much of that it did. */
struct amp_rule_work {
    struct amp_matcher matcher;
    struct amp_automaton draft;  /* of the pattern that is being made */
    size_t n_code;               /* of all patterns */
    struct amp_rule_name *names; /* of the node that is being matched: its own, then its outputs' */
    size_t names_capacity;
    const struct amp_rule *rule; /* the one at which the steps were used up; NULL: they were not */
};

struct amp_rule_work *amp_rule_work_create(struct amp_arena *arena);
void amp_rule_work_free(struct amp_rule_work *work); /* what is not in the arena */
/* Whether AMP_RULE_STEPS_MAX is passed: what was found last is not to be trusted. */
bool amp_rule_work_is_over(const struct amp_rule_work *work);

/* Makes *PATTERN of TEXT, a glob or a regular expression, which is copied. Returns NULL, or what is
   wrong with it. */
typedef const char *amp_rule_pattern_maker(struct amp_rules *rules, const char *text,
                                           struct amp_rule_pattern *pattern);
amp_rule_pattern_maker amp_rule_pattern_glob, amp_rule_pattern_regex;

/* Prepares the COUNT patterns at ITEMS, all globs or all expressions, to be matched. */
struct amp_rule_patterns amp_rule_patterns_of(struct amp_arena *arena,
                                              struct amp_rule_pattern *items, size_t count);

/* Whether one of PATTERNS matches NAME. */
bool amp_rule_patterns_match(const struct amp_rule_patterns *patterns,
                             const struct amp_rule_name *name, struct amp_rule_work *work);

/* Whether one of PATTERNS is written as TEXT, the hash of which is HASH. */
bool amp_rule_patterns_have(const struct amp_rule_patterns *patterns, const char *text,
                            uint32_t hash, struct amp_rule_work *work);

#endif
