#ifndef AMP_ONNX_FILE_WIRE_H
#define AMP_ONNX_FILE_WIRE_H

#include "core/arena.h"
#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* The deepest nesting of protobuf messages that is read: 64 levels of subgraphs and what a tensor
   or a type holds below. protobuf-c itself recurses without a bound. */
enum { AMP_WIRE_DEPTH_MAX = 208 };

/*
 * Parses the SIZE bytes at DATA as a message of TYPE into ARENA, after a check of its wire format
 * that bounds the nesting. The raw_data of tensors are not copied: they point into DATA, which must
 * outlive the message. Everything else is copied; unknown fields are kept. AMP_MODEL with the
 * offset of what is wrong. Source: protobuf encoding,
 * https://protobuf.dev/programming-guides/encoding/.
 */
enum amp_status amp_wire_parse(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t size,
                               struct amp_arena *arena, ProtobufCMessage **message,
                               struct amp_error *err);

/* How many messages FIELD of MESSAGE holds, none unless it is of messages; they go to *ITEMS. The
   members of a oneof lie in one place: only the one that is set holds what is there. */
size_t amp_message_items(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                         ProtobufCMessage *const **items);

#endif
