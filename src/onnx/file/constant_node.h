#ifndef AMP_ONNX_FILE_CONSTANT_NODE_H
#define AMP_ONNX_FILE_CONSTANT_NODE_H

#include "core/graph/graph.h"

/* Private to onnx/file. When node ID is a Constant, its output gets the tensor that the attribute
   holds, with dtype and shape. Every form of the attribute is read (ONNX Constant-1, -9, -11, -12,
   -13). */
void amp_constant_node_read(struct amp_model *model, uint32_t id);

#endif
