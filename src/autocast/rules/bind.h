#ifndef AMP_AUTOCAST_RULES_BIND_H
#define AMP_AUTOCAST_RULES_BIND_H

#include "autocast/rules/word.h"
#include "autocast/rules/yaml.h"

struct amp_rules; /* autocast/rules/rule.h */

/* Private to the rules: from a YAML tree to structs, by tables of keys. */

/* What the functions that check a tree share. */
struct amp_rules_binder {
    struct amp_arena *arena; /* the rules': of what is to stay when the tree is gone */
    struct amp_rules *rules;
    const struct amp_yaml *yaml;
    const char *label; /* the file as rules name it */
    struct amp_error *err;
};

/* One key of a mapping: BIND checks the value and writes it OFFSET bytes into the mapping's
   target. */
struct amp_key {
    const char *name;
    enum amp_status (*bind)(const struct amp_rules_binder *b, const char *name,
                            const struct amp_yaml_node *value, void *field);
    size_t offset;
    bool is_required;
};

struct amp_mapping {
    const char *what; /* for messages: "a rule" */
    const struct amp_key *keys;
    size_t n_keys;
};

/* Fills TARGET from NODE, which messages call NAME. AMP_RULES when it is no such mapping. */
enum amp_status amp_bind_mapping(const struct amp_rules_binder *b, const char *name,
                                 const struct amp_yaml_node *node,
                                 const struct amp_mapping *mapping, void *target);

/* The value of key NAME in MAPPING; NULL when it has no such key, or is no mapping. */
const struct amp_yaml_node *amp_find_value(const struct amp_yaml_node *mapping, const char *name);

/* Copies the text VALUE to the const char * at FIELD; AMP_RULES when it is none. */
enum amp_status amp_bind_text(const struct amp_rules_binder *b, const char *name,
                              const struct amp_yaml_node *value, void *field);

/* Adds the dtypes that the list VALUE names, "bf16" and "fp16", to the mask at FIELD, a uint32_t.
   AMP_RULES when it is no such list. */
enum amp_status amp_bind_dtypes(const struct amp_rules_binder *b, const char *name,
                                const struct amp_yaml_node *value, void *field);

/* Writes the index of the text VALUE in LIST to *INDEX. AMP_RULES when it is none of its words. */
enum amp_status amp_bind_word(const struct amp_rules_binder *b, const char *name,
                              const struct amp_yaml_node *value, const struct amp_word_list *list,
                              size_t *index);

/* AMP_RULES unless VALUE is a list of at least MIN texts. */
enum amp_status amp_check_texts(const struct amp_rules_binder *b, const char *name,
                                const struct amp_yaml_node *value, size_t min);

/* Records that NAME has a VALUE of the wrong type: AMP_RULES. */
enum amp_status amp_wrong_type(const struct amp_rules_binder *b, const char *name,
                               const struct amp_yaml_node *value, const char *accepted);

/* Whether NODE is a scalar that is not null. */
bool amp_is_text(const struct amp_yaml_node *node);

#endif
