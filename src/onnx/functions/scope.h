#ifndef AMP_ONNX_FUNCTIONS_SCOPE_H
#define AMP_ONNX_FUNCTIONS_SCOPE_H

#include "core/arena.h"
#include "core/strmap.h"

#include <stdbool.h>

/* Private to onnx/functions: what the names of a body, or of a graph within it, have become. */
struct amp_scope {
    struct amp_strmap ids; /* name in the body -> index in names */
    char **names;          /* that they have become */
    size_t count, capacity;
    const struct amp_scope *outer; /* NULL: none */
};

/* Whether SCOPE, not one around it, has NAME. */
bool amp_scope_has(const struct amp_scope *scope, const char *name);

/* From here on NAME, which SCOPE does not have, is BECOMES. */
void amp_scope_define(struct amp_scope *scope, struct amp_arena *arena, const char *name,
                      char *becomes);

/* What NAME has become in SCOPE or one around it. NULL: not defined; "": a parameter that the call
   leaves out. */
char *amp_scope_find(const struct amp_scope *scope, const char *name);

#endif
