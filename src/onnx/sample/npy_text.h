#ifndef AMP_ONNX_SAMPLE_NPY_TEXT_H
#define AMP_ONNX_SAMPLE_NPY_TEXT_H

#include "core/file/output.h"
#include "core/tensor.h"

/* Private to onnx/sample/npy.c: arrays of text, whose elements all take the same room, zeros behind
   the text: '<U5' holds five code points of four bytes, '|S5' five bytes. */

/* What DESCR says of the room of an element: its code points or bytes and whether they are code
   points. False when it is no array of text. */
bool amp_npy_text_descr(const char *descr, size_t *width, bool *is_unicode);

/* The bytes that COUNT texts take go to *NEEDED. AMP_MODEL when they are more than SIZE. */
enum amp_status amp_npy_text_size(size_t count, size_t width, bool is_unicode, size_t size,
                                  size_t *needed, struct amp_error *err);

/* Gives TENSOR (dtype AMP_STRING, shape set) memory of its own with the texts at DATA, which take
   the bytes that amp_npy_text_size says, in their order there, as UTF-8; bytes stay as they are.
   AMP_MODEL for what is no code point. */
enum amp_status amp_npy_text_read(struct amp_tensor *tensor, const unsigned char *data,
                                  size_t width, bool is_unicode, struct amp_error *err);

/* The code points of TENSOR's longest text, at least 1, to *WIDTH. AMP_UNSUPPORTED for a text that
   would not come back: one that is no UTF-8 or ends with a zero. */
enum amp_status amp_npy_text_width(const struct amp_tensor *tensor, size_t *width,
                                   struct amp_error *err);

/* Writes TENSOR's texts as code points in the room of WIDTH. */
enum amp_status amp_npy_text_write(struct amp_output *output, const struct amp_tensor *tensor,
                                   size_t width, struct amp_error *err);

#endif
