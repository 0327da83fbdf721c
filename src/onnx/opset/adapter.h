#ifndef AMP_ONNX_OPSET_ADAPTER_H
#define AMP_ONNX_OPSET_ADAPTER_H

#include "onnx/opset/upgrade.h"

#include <stddef.h>

/*
 * Adapters: what to do to a node when a newer definition of its operator says the same in another
 * way. Each takes one step, from the definition before to the one of the version named. An adapter
 * checks first and rewrites then; it returns why a node cannot be rewritten. Private to the opset
 * stage: one table for each family of operators, in opset_adapt_*.c.
 */
struct amp_adapter_entry {
    const char *op;
    int version;
    amp_adapter *adapt;
};

struct amp_adapters {
    const struct amp_adapter_entry *entries;
    size_t count;
};

extern const struct amp_adapters amp_adapters_legacy, amp_adapters_inputs, amp_adapters_norm,
    amp_adapters_resize, amp_adapters_scan;

#endif
