#ifndef TOOL_MODEL_H
#define TOOL_MODEL_H

#include "buffer.h"
#include "lexer.h"
#include "onnx.pb-c.h"

/* A model in ONNX's text: <ir_version: 8, opset_import: ["" : 17]> name (inputs) => (outputs)
 * <weights> {nodes}, then training <bindings> initialization GRAPH algorithm GRAPH, then functions.
 */
void put_model(struct buffer *buffer, const Onnx__ModelProto *model);
/* FIELDS: at those, in <>, of a model whose text does not begin with any; NULL: none. */
Onnx__ModelProto *read_model(struct lexer *lexer, const struct lexer *fields);

/* A function by itself. */
void put_function(struct buffer *buffer, const Onnx__FunctionProto *function);
Onnx__FunctionProto *read_function(struct lexer *lexer);

#endif
