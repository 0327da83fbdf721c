#ifndef AMP_ONNX_FILE_READER_H
#define AMP_ONNX_FILE_READER_H

#include "core/graph/graph.h"
#include "onnx/file/tensor_proto.h"

/* Private to onnx/: what reader and writer share of the messages' parts. */

struct amp_reader {
    struct amp_model *model;
    struct amp_external *external;
    bool keeps_functions; /* those that hold nothing to convert */
    struct amp_error *err;
};

/* Sets kind, dtype and shape of value ID as INFO declares them. */
enum amp_status amp_read_value_info(struct amp_reader *reader, const Onnx__ValueInfoProto *info,
                                    uint32_t id);

/* Sets the type of the output of node ID when that is an Optional without an input, of which only
   an attribute says what it might hold (ONNX Optional-15). */
enum amp_status amp_read_optional(struct amp_reader *reader, uint32_t id);

/* Reads an attribute; of graphs only the count: read.c makes the ids. */
enum amp_status amp_read_attr(struct amp_reader *reader, Onnx__AttributeProto *proto,
                              struct amp_attr *attr);

/* When node ID is a Constant, its output gets the tensor. Every form of the attribute is read (ONNX
   Constant-1, -9, -11, -12, -13). */
void amp_mark_constant(struct amp_model *model, uint32_t id);

/* Messages for what the passes made. */
Onnx__AttributeProto *amp_attr_to_proto(const struct amp_attr *attr, struct amp_arena *arena);
Onnx__TypeProto *amp_type_to_proto(const struct amp_model *model, const struct amp_value *value);

#endif
