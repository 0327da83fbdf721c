#ifndef AMP_ONNX_OPSET_ADAPTERS_H
#define AMP_ONNX_OPSET_ADAPTERS_H

#include "onnx/opset/adapter.h"

/* The adapter of OP_TYPE of ai.onnx to the definition of VERSION; NULL when there is none. */
amp_adapter *amp_adapters_find(const char *op_type, int version);

#endif
