#ifndef AMP_ONNX_WRITE_H
#define AMP_ONNX_WRITE_H

#include "core/file.h"
#include "core/graph.h"

/*
 * Brings the message that MODEL was read from up to date with the graph: nodes, initializers,
 * value_info, opset imports and IR version. What no pass touched stays as it came; external tensor
 * data come inline. Call once, after the last pass.
 */
void amp_model_update_message(struct amp_model *model);

/* The size in bytes that the updated message takes. */
size_t amp_model_message_size(const struct amp_model *model);

/* Writes the updated message. AMP_UNSUPPORTED above 2 GB, which protobuf readers refuse. */
enum amp_status amp_model_write(const struct amp_model *model, struct amp_output *output,
                                struct amp_error *err);

#endif
