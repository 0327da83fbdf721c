#ifndef AMP_ONNX_SAMPLE_NPY_H
#define AMP_ONNX_SAMPLE_NPY_H

#include "core/file/output.h"
#include "core/tensor.h"

/* NumPy's array files (numpy.lib.format, versions 1 to 3; .npz is a zip of them). */

/* Reads the .npy image of SIZE bytes at DATA into a tensor of its own memory; Fortran order is
   turned into row-major, big endian refused. NumPy has no bfloat16: '|V2' and '<V2' are read as
   bfloat16. Text, '<U' and '|S', becomes strings. AMP_MODEL when it is no such file. */
enum amp_status amp_npy_parse(const unsigned char *data, size_t size, struct amp_tensor *tensor,
                              struct amp_error *err);

/* Writes TENSOR in version 1 of the format; bfloat16 as '<V2', strings as '<U'. AMP_UNSUPPORTED for
   lists, types of a byte or less that NumPy does not have, and text that would not come back: no
   UTF-8, or a zero at its end. */
enum amp_status amp_npy_write(struct amp_output *output, const struct amp_tensor *tensor,
                              struct amp_error *err);

/* Reads the arrays of the .npz file at PATH. FIND is called for each, with its name without ".npy",
   and says in *TENSOR where it goes: NULL leaves it out. The tensors hold nothing before and what
   could be read after, also when others could not. AMP_MODEL with the array that is wrong; AMP_IO
   when it does not fit in the account of memory. */
typedef enum amp_status amp_npz_find(void *context, const char *name, struct amp_tensor **tensor,
                                     struct amp_error *err);
enum amp_status amp_npz_read(const char *path, amp_npz_find *find, void *context,
                             struct amp_error *err);

#endif
