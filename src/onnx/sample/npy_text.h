#ifndef AMP_ONNX_SAMPLE_NPY_TEXT_H
#define AMP_ONNX_SAMPLE_NPY_TEXT_H

#include "core/file/output.h"
#include "core/tensor.h"

/* Private to npy.c: arrays of text, whose elements all take the same room, with zeros behind the
   text: '<U5' holds five code points of four bytes, '|S5' five bytes. */

/* The room of one element. */
struct amp_npy_text {
    size_t width;    /* code points or bytes */
    bool is_unicode; /* code points */
};

/* Fills TEXT as DESCR, the type in the header, says. False when it is no array of text. */
bool amp_npy_text_descr(const char *descr, struct amp_npy_text *text);

/* The bytes that COUNT texts take go to *NEEDED. AMP_MODEL when they are more than SIZE. */
enum amp_status amp_npy_text_size(const struct amp_npy_text *text, size_t count, size_t size,
                                  size_t *needed, struct amp_error *err);

/* Gives TENSOR (dtype AMP_STRING, shape set) memory of its own with the texts at DATA, which take
   the bytes that amp_npy_text_size says, in their order there: code points as UTF-8, bytes as they
   are. AMP_MODEL for what is no code point. */
enum amp_status amp_npy_text_read(struct amp_tensor *tensor, const unsigned char *data,
                                  const struct amp_npy_text *text, struct amp_error *err);

/* The code points of TENSOR's longest text, at least 1, to *WIDTH. AMP_UNSUPPORTED for a text that
   would not come back: one that is no UTF-8 or ends with a zero. */
enum amp_status amp_npy_text_width(const struct amp_tensor *tensor, size_t *width,
                                   struct amp_error *err);

/* Writes TENSOR's texts as code points in the room of WIDTH. */
enum amp_status amp_npy_text_write(struct amp_output *output, const struct amp_tensor *tensor,
                                   size_t width, struct amp_error *err);

#endif
