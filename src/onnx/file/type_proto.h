#ifndef AMP_ONNX_FILE_TYPE_PROTO_H
#define AMP_ONNX_FILE_TYPE_PROTO_H

#include "onnx/file/reader.h"

#include "onnx.pb-c.h"

/* Private to onnx/file: types of values as messages (onnx.proto, TypeProto). */

/* Sets kind, dtype and shape of value ID as TYPE (NULL: nothing) declares them. What ONNX may add
   later leaves the value as it is. AMP_MODEL for an unknown dtype or a rank above AMP_RANK_MAX. */
enum amp_status amp_type_from_proto(struct amp_reader *reader, const Onnx__TypeProto *type,
                                    uint32_t id);

/* Sets the type of the output of node ID when that is an Optional without an input: then only the
   node's attribute says what the output might hold (ONNX Optional-15). */
enum amp_status amp_type_of_optional(struct amp_reader *reader, uint32_t id);

/* A message for the type of VALUE, a tensor: its dtype and, where the rank is known, its dims. */
Onnx__TypeProto *amp_type_to_proto(const struct amp_model *model, const struct amp_value *value);

#endif
