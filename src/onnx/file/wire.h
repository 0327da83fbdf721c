#ifndef AMP_ONNX_FILE_WIRE_H
#define AMP_ONNX_FILE_WIRE_H

/* Private to onnx/: the encoding of protobuf messages. */

#include "core/arena.h"
#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* The deepest nesting of protobuf messages that is read: 64 levels of subgraphs and what a tensor
   or a type holds below. protobuf-c itself recurses without a bound. */
enum { AMP_WIRE_DEPTH_MAX = 208 };

/* How the value behind a field's tag is encoded. */
enum amp_wire_type {
    AMP_WIRE_VARINT = 0,
    AMP_WIRE_FIXED64 = 1,
    AMP_WIRE_LENGTH = 2, /* a length in bytes and as many bytes */
    AMP_WIRE_FIXED32 = 5
};

/* The largest field number. */
enum { AMP_WIRE_FIELD_MAX = 0x1FFFFFFF };

/*
 * Parses the SIZE bytes at DATA as a message of TYPE into ARENA, after a check of its wire format
 * that bounds the nesting. The raw_data of tensors are not copied: they point into DATA, which must
 * outlive the message. Everything else is copied; unknown fields are kept. NULL, and AMP_MODEL with
 * the offset of what is wrong in ERR, when they are no such message. Source: protobuf encoding,
 * https://protobuf.dev/programming-guides/encoding/.
 */
ProtobufCMessage *amp_wire_parse(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t size,
                                 struct amp_arena *arena, struct amp_error *err);

/* How many messages FIELD of the parsed MESSAGE holds, none unless it is of messages; ITEMS gets
   them. The members of a oneof lie in one place: only the one that is set holds what is there. */
size_t amp_wire_items(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                      ProtobufCMessage *const **items);

#endif
