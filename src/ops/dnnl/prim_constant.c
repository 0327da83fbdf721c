/*
 * What primitives have made of constants: it spares the constants' own data, and goes on to the
 * primitive that takes the place of another when shapes change.
 */
#include "ops/dnnl/prim.h"

bool amp_prim_reads(const void *state, size_t index)
{
    const struct amp_prim *prim = state;
    bool reads = true;
    for (int i = 0; prim != NULL && i < prim->n_bindings; i++) {
        const struct binding *binding = &prim->bindings[i];
        size_t place = binding->index + (binding->is_operand ? prim->signature.n_in : 0);
        if (binding->is_output || binding->is_data || place != index)
            continue;
        if (!binding->is_ready)
            return true;
        reads = false;
    }
    return reads;
}

void amp_prim_keep_former(struct amp_prim *from, struct amp_prim *to)
{
    for (int i = 0; from != NULL && i < from->n_bindings; i++)
        if (from->bindings[i].is_ready) {
            to->former[to->n_former++] = from->bindings[i];
            from->bindings[i] = (struct binding){.is_ready = false};
        }
}

void amp_prim_drop_former(struct amp_prim *prim)
{
    while (prim->n_former > 0)
        amp_binding_destroy(&prim->former[--prim->n_former]);
}

/* Whether layouts USER and WANTED are those of what BINDING has ready. */
static bool has_layouts(const struct binding *binding, const_dnnl_memory_desc_t user,
                        const_dnnl_memory_desc_t wanted)
{
    const_dnnl_memory_desc_t from, to;
    return dnnl_memory_get_memory_desc(binding->user, &from) == dnnl_success &&
           dnnl_memory_get_memory_desc(binding->own, &to) == dnnl_success &&
           dnnl_memory_desc_equal(from, user) && dnnl_memory_desc_equal(to, wanted);
}

bool amp_prim_take_former(struct amp_prim *prim, struct binding *binding,
                          const_dnnl_memory_desc_t user, const_dnnl_memory_desc_t wanted)
{
    for (int i = 0; i < prim->n_former && binding->is_constant; i++) {
        struct binding former = prim->former[i];
        if (former.index != binding->index || former.is_operand != binding->is_operand ||
            !has_layouts(&former, user, wanted))
            continue;
        former.arg = binding->arg;
        prim->former[i] = prim->former[--prim->n_former];
        *binding = former;
        return true;
    }
    return false;
}
