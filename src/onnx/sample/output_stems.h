#ifndef AMP_ONNX_SAMPLE_OUTPUT_STEMS_H
#define AMP_ONNX_SAMPLE_OUTPUT_STEMS_H

#include "core/graph/graph.h"

/* The names of the files for the graph outputs of MODEL, without their endings, in ARENA: an
   output's name, with characters that files should not have in their names made '_', and the
   position added where that is the name of an earlier output. */
const char *const *amp_output_stems(const struct amp_model *model, struct amp_arena *arena);

/* The same for the graph inputs. */
const char *const *amp_input_stems(const struct amp_model *model, struct amp_arena *arena);

#endif
