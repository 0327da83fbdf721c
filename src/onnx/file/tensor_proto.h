#ifndef AMP_ONNX_FILE_TENSOR_PROTO_H
#define AMP_ONNX_FILE_TENSOR_PROTO_H

#include "core/arena.h"
#include "core/tensor.h"
#include "onnx/file/external.h"

#include "onnx.pb-c.h"

/* Private to onnx/: tensors as messages (onnx.proto, TensorProto and SparseTensorProto). */

/*
 * Reads PROTO into *TENSOR. Raw and external data are referred to, not copied; typed fields are
 * packed into ARENA. Where the data are external, raw_data of PROTO come to refer to them too,
 * though the field stays unset. EXTERNAL NULL: external data are refused. AMP_MODEL for an unknown
 * dtype, dims that are negative or too many or overflow, and data that do not match the dims.
 */
enum amp_status amp_tensor_from_proto(Onnx__TensorProto *proto, struct amp_arena *arena,
                                      struct amp_external *external, struct amp_tensor *tensor,
                                      struct amp_error *err);

/* Reads the sparse tensor PROTO (values, indices of rank 1 or 2, dims) into *TENSOR in dense form,
   in ARENA. AMP_MODEL for indices outside the dims or of another form, and above 1 GB of dense
   data. */
enum amp_status amp_tensor_from_sparse(const Onnx__SparseTensorProto *proto,
                                       struct amp_arena *arena, struct amp_external *external,
                                       struct amp_tensor *tensor, struct amp_error *err);

/* A message for TENSOR with its data as raw_data (string_data for strings), which are referred to:
   NULL, with their size, when the tensor is yet to be converted. */
Onnx__TensorProto *amp_tensor_to_proto(const struct amp_tensor *tensor, const char *name,
                                       struct amp_arena *arena);

#endif
