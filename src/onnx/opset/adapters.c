/*
 * Finds the adapter that rewrites a node for a definition of its operator in the tables of the
 * families. Where none is there, either nothing is to be rewritten or the node cannot follow:
 * schema/difference.c knows which.
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"

#include <string.h>

static const struct amp_adapter_family *const families[] = {
    &amp_adapters_legacy, &amp_adapters_inputs, &amp_adapters_norm, &amp_adapters_resize,
    &amp_adapters_scan};

amp_adapter *amp_adapters_find(const char *op_type, int version)
{
    for (size_t f = 0; f < AMP_COUNT(families); f++)
        for (size_t i = 0; i < families[f]->count; i++) {
            const struct amp_adapter_entry *entry = &families[f]->entries[i];
            if (entry->version == version && strcmp(entry->op, op_type) == 0)
                return entry->adapt;
        }
    return NULL;
}
