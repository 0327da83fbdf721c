#ifndef AMP_ONNX_FILE_DEFERRED_H
#define AMP_ONNX_FILE_DEFERRED_H

#include "core/tensor.h"

/*
 * Private to onnx/file: tensors whose data are converted while they are written, so that a
 * converted model is never in memory as a whole. The raw_data of their messages point into ITEMS,
 * at the tensor's entry, where no other data lie: so the writer tells them from bytes.
 */
struct amp_deferred {
    const struct amp_tensor **items; /* room for all initializers of the model */
    size_t count;
};

/* Adds TENSOR and returns what the raw_data of its message are to point at. */
uint8_t *amp_deferred_add(struct amp_deferred *deferred, const struct amp_tensor *tensor);

/* The tensor that DATA stand for; NULL when they are bytes. */
const struct amp_tensor *amp_deferred_find(const struct amp_deferred *deferred,
                                           const uint8_t *data);

#endif
