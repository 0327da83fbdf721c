#ifndef AMP_ONNX_SCHEMA_DIFFERENCE_H
#define AMP_ONNX_SCHEMA_DIFFERENCE_H

#include "onnx/schema/schema.h"

/*
 * NULL when every node that is right under FROM means the same, unchanged, under TO, a newer
 * definition of the same operator; else the first difference on the way, for messages ("an
 * attribute was removed"). Derived from the signatures: attributes, inputs and outputs stay and
 * keep their order, types and defaults, allowed types only grow, what is new may be left out. Where
 * ONNX changed the meaning and not the signature (or the other way round) a table of exceptions
 * decides; its source is the text of the definitions. The attribute consumed_inputs, a hint of the
 * first opsets without meaning, does not count: whoever raises a node drops it.
 */
const char *amp_schema_difference(const struct amp_schema *from, const struct amp_schema *to);

#endif
