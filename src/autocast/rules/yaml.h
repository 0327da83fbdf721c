#ifndef AMP_AUTOCAST_RULES_YAML_H
#define AMP_AUTOCAST_RULES_YAML_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct amp_arena; /* core/arena.h */

/* Private to the rules: a YAML file as a tree that remembers where everything was written. */

enum amp_yaml_kind { AMP_YAML_SCALAR, AMP_YAML_LIST, AMP_YAML_MAPPING };

struct amp_yaml_node {
    enum amp_yaml_kind kind;
    int line, column;             /* from 1; the column counts characters */
    const char *text;             /* of a scalar; UTF-8 without NUL */
    bool is_plain;                /* a scalar without quotes */
    struct amp_yaml_node **items; /* of a list; of a mapping: key, value, key, value, ... */
    size_t count, capacity;       /* of items */
    size_t weight;                /* the number of nodes in it, itself included */
    size_t size;                  /* bytes of the scalars in it */
};

struct amp_yaml {
    struct amp_arena *arena;
    const char *path; /* as in messages */
    const char *text; /* the file's */
    size_t size;      /* in bytes */
    struct amp_yaml_node *root;
    size_t n_nodes; /* aliased ones counted each time */
};

/*
 * Reads the file at PATH: one document in UTF-8, bounded in size, depth and number of nodes; keys
 * are scalars and differ within a mapping; an alias stands for a copy of its anchor's node. AMP_IO
 * when the file cannot be read, AMP_RULES when it is not such a document. ARENA and PATH must
 * outlive *YAML.
 */
enum amp_status amp_yaml_read(struct amp_yaml *yaml, struct amp_arena *arena, const char *path,
                              struct amp_error *err);

/* Records an AMP_RULES failure at NODE: the place, the formatted text, the source line and a caret
   below the column. */
enum amp_status amp_yaml_fail(const struct amp_yaml *yaml, const struct amp_yaml_node *node,
                              struct amp_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "a list", "a mapping", "nothing", "'abc'", "the quoted text '5'": for messages. TEXT holds SIZE
   bytes and is returned. */
const char *amp_yaml_describe(const struct amp_yaml_node *node, char *text, size_t size);

/* Whether NODE is a plain scalar that YAML takes for null: "", "~", "null". */
bool amp_yaml_is_null(const struct amp_yaml_node *node);

#endif
