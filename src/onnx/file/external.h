#ifndef AMP_ONNX_FILE_EXTERNAL_H
#define AMP_ONNX_FILE_EXTERNAL_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The files that hold tensor data outside the model file (TensorProto.external_data). Each is
   mapped once and stays mapped until the set is destroyed. */
struct amp_external;

/* MODEL_PATH: the model file, whose folder locations are relative to and may not leave; of a stream
   (amp_file_is_stream) the current folder. */
struct amp_external *amp_external_create(const char *model_path);
void amp_external_destroy(struct amp_external *external);

/* Bytes of all files that were mapped so far. */
uint64_t amp_external_size(const struct amp_external *external);

/* Whether PATH names a file that was mapped so far. */
bool amp_external_has(const struct amp_external *external, const char *path);

/* Where a tensor's data lie. */
struct amp_external_range {
    const char *location; /* of the file, relative to the model's folder */
    uint64_t offset;      /* bytes */
    uint64_t size;        /* bytes */
};

/* The bytes of RANGE go to *DATA (unaligned). AMP_MODEL when the location is absolute or leaves the
   model's folder, when the file is missing or too short. */
enum amp_status amp_external_map(struct amp_external *external,
                                 const struct amp_external_range *range, void **data,
                                 struct amp_error *err);

#endif
