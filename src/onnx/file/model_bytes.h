#ifndef AMP_ONNX_FILE_MODEL_BYTES_H
#define AMP_ONNX_FILE_MODEL_BYTES_H

#include "core/file/input.h"

/* Opens the bytes of the model at PATH: a regular file, or a stream ("-": stdin, a FIFO, a device)
   of at most the 2 GB that protobuf messages have. A stream is read to its end, or to where it is
   known to be no model: then AMP_MODEL. Other errors are those of amp_bytes_open_stream. */
enum amp_status amp_model_bytes_open(struct amp_bytes *bytes, const char *path,
                                     struct amp_error *err);

#endif
