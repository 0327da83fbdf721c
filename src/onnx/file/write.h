#ifndef AMP_ONNX_FILE_WRITE_H
#define AMP_ONNX_FILE_WRITE_H

#include "onnx/file/placement.h"

/*
 * Brings the message that MODEL was read from up to date with the graph: nodes, initializers,
 * value_info, opset imports and IR version; and decides where tensor data go. What no pass touched
 * stays as it came. Call once, after the last pass. AMP_UNSUPPORTED when the message would take
 * more than 2 GB, which protobuf readers refuse, and its data have no other place to go.
 */
enum amp_status amp_model_prepare(struct amp_model *model,
                                  const struct amp_placement_options *options,
                                  struct amp_placement **placement, struct amp_error *err);

/* Writes the files: both appear when both are complete, or none. Deferred tensors are converted on
   the way, block by block. AMP_IO when a file cannot be written. */
enum amp_status amp_model_write(const struct amp_model *model,
                                const struct amp_placement *placement, struct amp_error *err);

#endif
