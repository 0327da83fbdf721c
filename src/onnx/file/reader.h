#ifndef AMP_ONNX_FILE_READER_H
#define AMP_ONNX_FILE_READER_H

#include "core/graph/graph.h"
#include "onnx/file/external.h"

/* Private to onnx/file: what all parts of the reader share while one model is read. */
struct amp_reader {
    struct amp_model *model; /* that is being built */
    struct amp_external *external;
    bool keeps_functions; /* those that hold nothing to convert */
    struct amp_error *err;
};

#endif
