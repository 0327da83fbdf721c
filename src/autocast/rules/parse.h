#ifndef AMP_AUTOCAST_RULES_PARSE_H
#define AMP_AUTOCAST_RULES_PARSE_H

#include "autocast/rules/rule.h"
#include "autocast/rules/yaml.h"

/* Private to the rules: from a tree to what one rule file says. */

/* Limits of 0 were not given. */
struct amp_rules_document {
    const char *name, *description; /* description NULL: not given */
    uint32_t dtypes;                /* 0: not given */
    bool has_unlisted;
    enum amp_precision unlisted;
    bool has_constants;
    enum amp_constants constants;
    const struct amp_yaml_node *extends; /* a list of texts; NULL: not given */
    struct amp_rule *rules;
    size_t n_rules, rules_capacity;
    struct amp_rule_limits bf16, fp16;
};

/* "follow", "promote". */
extern const char *const amp_rule_constants_names[AMP_CONSTANTS_COUNT];

/* Checks all of YAML and fills *DOCUMENT, whose rules lie in the arena of RULES and name LABEL as
   their file. AMP_RULES when it is wrong. */
enum amp_status amp_rules_parse(struct amp_rules *rules, const struct amp_yaml *yaml,
                                const char *label, struct amp_rules_document *document,
                                struct amp_error *err);

#endif
