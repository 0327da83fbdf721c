#ifndef AMP_ONNX_SAMPLE_NPZ_H
#define AMP_ONNX_SAMPLE_NPZ_H

#include "core/tensor.h"

/* Says in *TENSOR where the array NAME (without ".npy") goes; NULL leaves it out. */
typedef enum amp_status amp_npz_find(void *context, const char *name, struct amp_tensor **tensor,
                                     struct amp_error *err);

/* Reads the arrays of the .npz file at PATH into the tensors that FIND, called for each, gives.
   These hold nothing before; after, they hold what could be read, also when others could not.
   AMP_MODEL with the array that is wrong; AMP_IO when it does not fit in the account of memory. */
enum amp_status amp_npz_read(const char *path, amp_npz_find *find, void *context,
                             struct amp_error *err);

#endif
