#ifndef AMP_ONNX_FILE_READER_H
#define AMP_ONNX_FILE_READER_H

#include "core/graph/graph.h"
#include "onnx/file/external.h"

#include "onnx.pb-c.h"

/* Private to onnx/: what all parts of the reader share while one model is read. */
struct amp_reader {
    struct amp_model *model; /* that is being built */
    struct amp_external *external;
    bool keeps_functions; /* those that hold nothing to convert */
    struct amp_error *err;
};

/* Reads PROTO as the main graph of the reader's model, which has none yet and whose imports and IR
   version are set. */
enum amp_status amp_reader_read_graph(struct amp_reader *reader, Onnx__GraphProto *proto);

#endif
