#ifndef AMP_AUTOCAST_RULES_BIND_H
#define AMP_AUTOCAST_RULES_BIND_H

#include "autocast/rules/rules.h"
#include "autocast/rules/yaml.h"

/* Private to the rules: from a YAML tree to structs, by tables of keys. */

/* What the functions that check a tree share. */
struct amp_rules_binder {
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

/* NULL when MAPPING, which may be no mapping, has no such key. */
const struct amp_yaml_node *amp_find_value(const struct amp_yaml_node *mapping, const char *name);

/* Copies a text to the const char * at FIELD. */
enum amp_status amp_bind_text(const struct amp_rules_binder *b, const char *name,
                              const struct amp_yaml_node *value, void *field);

/* Adds the lower dtypes of a list to the mask at FIELD, a uint32_t. */
enum amp_status amp_bind_dtypes(const struct amp_rules_binder *b, const char *name,
                                const struct amp_yaml_node *value, void *field);

/* Writes the index of VALUE among COUNT words to *INDEX; messages call it WHAT. */
enum amp_status amp_bind_word(const struct amp_rules_binder *b, const char *name, const char *what,
                              const struct amp_yaml_node *value, const char *const *words,
                              size_t count, size_t *index);

/* AMP_RULES unless VALUE is a list of at least MIN texts. */
enum amp_status amp_check_texts(const struct amp_rules_binder *b, const char *name,
                                const struct amp_yaml_node *value, size_t min);

/* Records that NAME has a VALUE of the wrong type: AMP_RULES. */
enum amp_status amp_wrong_type(const struct amp_rules_binder *b, const char *name,
                               const struct amp_yaml_node *value, const char *accepted);

/* A scalar that is not null. */
bool amp_is_text(const struct amp_yaml_node *node);

/* "unknown WHAT 'WORD'WHERE (did you mean 'x'?); accepted: a, b, c" out of COUNT words, in ARENA.
 */
const char *amp_unknown_word(struct amp_arena *arena, const char *what, const char *word,
                             const char *where, const char *const *words, size_t count);

#endif
