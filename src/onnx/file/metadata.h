#ifndef AMP_ONNX_FILE_METADATA_H
#define AMP_ONNX_FILE_METADATA_H

#include "core/graph/graph.h"

/* An entry of a model's metadata_props (onnx.proto, ModelProto). */
struct amp_metadata_entry {
    const char *key, *value;
};

/* Puts COUNT ENTRIES at the end of the metadata of MODEL in the place of all whose keys begin with
   PREFIX. The message takes copies. */
void amp_metadata_replace(struct amp_model *model, const char *prefix,
                          const struct amp_metadata_entry *entries, size_t count);

#endif
