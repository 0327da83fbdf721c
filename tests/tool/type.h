#ifndef TOOL_TYPE_H
#define TOOL_TYPE_H

#include "buffer.h"
#include "lexer.h"
#include "onnx.pb-c.h"

/* float[2,N,?], float[] (any rank), float (rank 0), seq(T), optional(T), map(K, T),
 * sparse_tensor(float[2]), any (no type). */
void put_type(struct buffer *buffer, const Onnx__TypeProto *type);
/* Takes a type; NULL, with nothing taken, where none comes. */
Onnx__TypeProto *accept_type(struct lexer *lexer);

/* TYPE NAME, or NAME alone. */
void put_value_info(struct buffer *buffer, const Onnx__ValueInfoProto *value);
Onnx__ValueInfoProto *read_value_info(struct lexer *lexer);

#endif
