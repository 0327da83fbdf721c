/*
 * Scopes: what the names of values in the body of a function have become in the graph that the call
 * stands in. A graph within the body has a scope of its own, inside the body's.
 */
#include "onnx/functions/scope.h"

bool amp_scope_has(const struct amp_scope *scope, const char *name)
{
    return amp_strmap_get(&scope->ids, name, NULL);
}

void amp_scope_define(struct amp_scope *scope, struct amp_arena *arena, const char *name,
                      char *becomes)
{
    amp_strmap_put(&scope->ids, arena, name, (uint32_t)scope->count);
    char **last =
        amp_arena_push(arena, &scope->names, &scope->count, &scope->capacity, sizeof *last);
    *last = becomes;
}

char *amp_scope_find(const struct amp_scope *scope, const char *name)
{
    uint32_t id;
    for (; scope != NULL; scope = scope->outer)
        if (scope->names != NULL && amp_strmap_get(&scope->ids, name, &id))
            return scope->names[id];
    return NULL;
}
