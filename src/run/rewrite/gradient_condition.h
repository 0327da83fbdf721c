#ifndef AMP_RUN_REWRITE_GRADIENT_CONDITION_H
#define AMP_RUN_REWRITE_GRADIENT_CONDITION_H

#include "core/graph/graph.h"

/*
 * Private to run/rewrite: whether all conditions of TEXT, with spaces between, hold for NODE. NULL
 * is none. TEXT ends with the string or before a comma. A condition is
 *
 *     c                input 2 is there (a to f)
 *     a=vector         the rank of input 0 is known and 1; a=matrix: 2 or more; a=4: that number
 *     since=13         the operator's definition is of that version or newer
 *     outputs=1        the node has so many
 *     has:axes         the node has that attribute
 *     mode=linear      the string or number of an attribute, or its default, else 0
 *
 * and !condition where it does not hold.
 */
bool amp_gradient_condition(const struct amp_model *model, const struct amp_node *node,
                            const char *text);

/* The int attribute NAME of NODE, else its default in the schema, else FALLBACK. */
int64_t amp_gradient_int(const struct amp_node *node, const char *name, int64_t fallback);

/* The same of a float attribute, else 1, and of a string, else "". */
float amp_gradient_float(const struct amp_node *node, const char *name);
const char *amp_gradient_word(const struct amp_node *node, const char *name);

#endif
