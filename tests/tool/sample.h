#ifndef TOOL_SAMPLE_H
#define TOOL_SAMPLE_H

#include "buffer.h"
#include "lexer.h"
#include "onnx.pb-c.h"

/* Appends the text of a .pb file's BYTES: a tensor, seq(KIND) NAME = [...], optional(KIND) NAME =
   ..., map(TYPE) NAME = ...; TYPE is the type of the value that it is for, NULL where nobody knows.
   False where the text would not give the bytes again. */
bool put_sample(struct buffer *buffer, const struct buffer *bytes, const Onnx__TypeProto *type);
/* Takes the text of a .pb file; appends its bytes. */
void read_sample(struct lexer *lexer, struct buffer *bytes);

/* Appends the text of a .npy file's BYTES: a tensor without a name. False where the text would not
 * give the bytes again. */
bool put_npy(struct buffer *buffer, const struct buffer *bytes);
/* Takes a tensor; appends the bytes of a .npy file, version 1.0, as NumPy writes it. */
void read_npy(struct lexer *lexer, struct buffer *bytes);

/* Appends the packed message. */
void put_packed(struct buffer *bytes, const ProtobufCMessage *message);
/* What the parsed message has that repeats or is not known: whether packing it again gives the
 * bytes. */
bool packs_to(const ProtobufCMessage *message, const struct buffer *bytes);

#endif
