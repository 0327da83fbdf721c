#ifndef AMP_ONNX_FILE_WRITE_H
#define AMP_ONNX_FILE_WRITE_H

#include "core/graph/graph.h"
#include "core/file/output.h"

struct amp_write_options {
    const char *path;      /* the model's file; "-": stdout. Must outlive what is made of it. */
    const char *data_name; /* the file for tensor data, relative to the model's folder. NULL: none,
                              but PATH.data when the model takes more than 2 GB or its data came in
                              files of their own */
    uint64_t threshold;    /* bytes from which on an initializer's data go to that file; lists of up
                              to 512, which shape inference reads, never do */
    bool is_inline;        /* all data stay in the message */
};

/* A model ready to be written: its message, and where the data of each tensor go. Lives in the
   model's arena. */
struct amp_placement;

/*
 * Brings the message that MODEL was read from up to date with the graph: nodes, initializers,
 * value_info, opset imports and IR version; and decides where tensor data go. What no pass touched
 * stays as it came. Call once, after the last pass. AMP_UNSUPPORTED when the message would take
 * more than 2 GB, which protobuf readers refuse, and its data have no other place to go.
 */
enum amp_status amp_model_prepare(struct amp_model *model, const struct amp_write_options *options,
                                  struct amp_placement **placement, struct amp_error *err);

/* Bytes of all files together. */
uint64_t amp_placement_size(const struct amp_placement *placement);

/* The path of the data file; NULL when there is none. */
const char *amp_placement_data_path(const struct amp_placement *placement);

/* Writes the files: both appear when both are complete, or none. Constants that are yet to be
   converted are converted on the way, block by block. */
enum amp_status amp_model_write(const struct amp_model *model,
                                const struct amp_placement *placement, struct amp_error *err);

#endif
