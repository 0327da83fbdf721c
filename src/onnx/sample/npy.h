#ifndef AMP_ONNX_SAMPLE_NPY_H
#define AMP_ONNX_SAMPLE_NPY_H

#include "core/file/output.h"
#include "core/tensor.h"

/* NumPy's array files (numpy.lib.format, versions 1 to 3). */

/* Where the bytes of a .npy image come from. */
struct amp_npy_source {
    const unsigned char *data; /* those that are next; NULL: READ gives them */
    enum amp_status (*read)(struct amp_npy_source *source, void *to, size_t size,
                            struct amp_error *err); /* reads the next SIZE bytes */
    size_t left;                                    /* bytes that follow */
    bool is_exact;                                  /* nothing may follow the array */
};

/* Reads the .npy image of SOURCE as amp_npy_parse does. */
enum amp_status amp_npy_read(struct amp_npy_source *source, struct amp_tensor *tensor,
                             struct amp_error *err);

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

#endif
