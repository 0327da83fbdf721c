#ifndef AMP_ONNX_FILE_ATTRIBUTE_PROTO_H
#define AMP_ONNX_FILE_ATTRIBUTE_PROTO_H

#include "onnx/file/reader.h"

#include "onnx.pb-c.h"

/* Private to onnx/file: attributes as messages (onnx.proto, AttributeProto). */

/* Reads PROTO into *ATTR: values are referred to, strings copied, tensors read. Of graphs only the
   count is set: read.c makes the ids. AMP_MODEL with the attribute's name for an unknown type or a
   value that is missing. */
enum amp_status amp_attr_from_proto(struct amp_reader *reader, Onnx__AttributeProto *proto,
                                    struct amp_attr *attr);

/* A message for ATTR, of one of the types that passes make: numbers, strings, lists of them, a
   tensor; of a graph without it. */
Onnx__AttributeProto *amp_attr_to_proto(const struct amp_attr *attr, struct amp_arena *arena);

#endif
