#ifndef TOOL_TENSOR_H
#define TOOL_TENSOR_H

#include "buffer.h"
#include "lexer.h"
#include "onnx.pb-c.h"

/* The name of an element type, ONNX's; type_N where N is none, "untyped" where there is none. */
void put_element_type(struct buffer *buffer, bool has_type, int type);
/* Takes the name of an element type; false, with nothing taken, where none comes. */
bool accept_element_type(struct lexer *lexer, bool *has_type, int *type);
/* A word that begins a type, which a name must not look like without quotes. */
bool is_type_word(const char *word);
/* Appends a name, in quotes where it is no identifier. */
void put_name(struct buffer *buffer, const char *name);

/* TYPE[DIMS] NAME = DATA, as described in tests/README.md. */
void put_tensor(struct buffer *buffer, const Onnx__TensorProto *tensor);
/* Takes a tensor whose type comes next. */
Onnx__TensorProto *read_tensor(struct lexer *lexer);
/* Takes what follows the type: name and data. */
void read_tensor_data(struct lexer *lexer, Onnx__TensorProto *tensor);

#endif
