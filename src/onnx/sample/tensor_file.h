#ifndef AMP_ONNX_SAMPLE_TENSOR_FILE_H
#define AMP_ONNX_SAMPLE_TENSOR_FILE_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/* Tensors, and lists and maps of them, in files. */

/* Reads a NumPy array (.npy) or, for a value of KIND, a TensorProto, SequenceProto, OptionalProto
   or MapProto (.pb), by the ending of PATH, into memory of its own. AMP_MODEL for another ending or
   bytes that are no such file, AMP_IO when they cannot be read. */
enum amp_status amp_tensor_load(const char *path, enum amp_kind kind, struct amp_tensor *tensor,
                                struct amp_error *err);

/* Writes TENSOR under NAME to PATH, a .npy file by its ending, else a .pb file. AMP_UNSUPPORTED for
   what a .npy file cannot hold (amp_npy_write). */
enum amp_status amp_tensor_save(const char *path, const char *name, const struct amp_tensor *tensor,
                                struct amp_error *err);

#endif
