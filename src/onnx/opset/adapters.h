#ifndef AMP_ONNX_OPSET_ADAPTERS_H
#define AMP_ONNX_OPSET_ADAPTERS_H

#include "onnx/opset/upgrade.h"

#include <stddef.h>

/*
 * Private to onnx/opset. Adapters, as ONNX's version converter calls them: what to do to a node
 * when the next newer definition of its operator says the same in another way. An adapter checks
 * first and rewrites then; it returns NULL, or why this node cannot be rewritten.
 */
typedef const char *amp_adapter(struct amp_upgrade *upgrade);

struct amp_adapter_entry {
    const char *op; /* of ai.onnx */
    int version;    /* of the definition that the node is rewritten for */
    amp_adapter *adapt;
};

/* The adapters of one family of operators. */
struct amp_adapter_family {
    const struct amp_adapter_entry *entries;
    size_t count;
};

/* Each is defined in the file adapters_FAMILY.c. */
extern const struct amp_adapter_family amp_adapters_legacy, amp_adapters_inputs, amp_adapters_norm,
    amp_adapters_resize, amp_adapters_scan;

/* The adapter of OP_TYPE of ai.onnx to the definition of VERSION; NULL when there is none. */
amp_adapter *amp_adapters_find(const char *op_type, int version);

#endif
