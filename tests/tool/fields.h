#ifndef TOOL_FIELDS_H
#define TOOL_FIELDS_H

#include <protobuf-c/protobuf-c.h>

#include "buffer.h"
#include "lexer.h"

/* Whether the message has any field, known or not. */
bool has_fields(const ProtobufCMessage *message);
/* Appends OPEN, all fields of MESSAGE and CLOSE; nothing where there are none. */
void put_fields(struct buffer *buffer, const ProtobufCMessage *message, const char *open,
                const char *close);
/* Takes fields up to CLOSE, which it takes too, into MESSAGE. */
void read_fields(struct lexer *lexer, ProtobufCMessage *message, const char *close);
/* What follows an entity whose own notation does not show it all: @{fields}. */
void put_rest(struct buffer *buffer, const ProtobufCMessage *message);
void read_rest(struct lexer *lexer, ProtobufCMessage *message);

/* The messages of the same fields are equal, whatever the order they came in. */
bool are_equal(const ProtobufCMessage *a, const ProtobufCMessage *b);

/* A new message, all of whose fields are absent. */
void *new_message(const ProtobufCMessageDescriptor *type);

#endif
