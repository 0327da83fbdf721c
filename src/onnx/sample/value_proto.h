#ifndef AMP_ONNX_SAMPLE_VALUE_PROTO_H
#define AMP_ONNX_SAMPLE_VALUE_PROTO_H

#include "core/graph/graph.h"
#include "core/status.h"

#include <protobuf-c/protobuf-c.h>

/* Private to onnx/: what goes into and comes out of a graph as messages, TensorProto (onnx.proto),
   SequenceProto, OptionalProto and MapProto (onnx-data.proto). */

/* Reads the SIZE bytes at DATA into *TENSOR, which gets memory of its own; a list without elements
   has no dtype. AMP_MODEL when they are no such message, AMP_UNSUPPORTED for elements that are
   neither tensors nor, where KIND has them, maps or sequences of tensors. */
enum amp_status amp_value_parse(enum amp_kind kind, uint8_t *data, size_t size,
                                struct amp_tensor *tensor, struct amp_error *err);

/* Packs TENSOR as the message of its form, called NAME, into BUFFER. */
void amp_value_pack(const struct amp_tensor *tensor, const char *name, ProtobufCBuffer *buffer);

#endif
