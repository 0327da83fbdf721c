#ifndef AMP_ONNX_SCHEMA_INFER_ML_H
#define AMP_ONNX_SCHEMA_INFER_ML_H

#include "core/graph/graph.h"

/* The dtype of NODE's output I where its operator, of ai.onnx.ml or ai.onnx.preview.training, says
   it in words alone: it is that of the labels in an attribute, or of the input that the output is
   the new state of. AMP_UNDEFINED: the signature tells, or nothing does. */
enum amp_dtype amp_infer_ml(const struct amp_model *model, const struct amp_node *node, uint32_t i);

#endif
