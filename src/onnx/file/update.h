#ifndef AMP_ONNX_FILE_UPDATE_H
#define AMP_ONNX_FILE_UPDATE_H

#include "core/graph/graph.h"
#include "onnx/file/deferred.h"

/* Private to onnx/file. Brings the message that MODEL was read from up to date with its graphs,
   opsets and IR version. Initializers that are yet to be converted are added to DEFERRED, which has
   room for all. What the graph does not know (doc strings, metadata, unknown fields) stays as it
   came. */
void amp_message_update(struct amp_model *model, struct amp_deferred *deferred);

#endif
