#ifndef AMP_ONNX_FILE_READ_H
#define AMP_ONNX_FILE_READ_H

#include "core/file/input.h"
#include "core/graph/graph.h"

/* Subgraphs within subgraphs that are read. */
enum { AMP_SUBGRAPH_DEPTH_MAX = 64 };

/* A model and all that it refers to: the arena, the bytes of its file, the mapped external files.
 */
struct amp_model_file {
    struct amp_arena *arena;
    const char *path;
    struct amp_bytes bytes;
    bool shares_bytes; /* they belong to the file that this is a copy of */
    struct amp_external *external;
    struct amp_model *model;
    bool was_unsorted;  /* nodes came before others that they need */
    bool has_functions; /* some model-local functions are left in the message */
    bool is_trained;    /* it has training_info, for which a conversion unfixes its variables */
};

/*
 * Reads the ONNX model at PATH ("-": stdin): IR versions 3 to the newest. Operators are looked up
 * in the schema table, attributes checked against it, nodes sorted topologically; types beyond
 * those that the file declares are not inferred here. Calls of model-local functions are inlined
 * (onnx/functions/functions.h). AMP_MODEL with the place of what is wrong; AMP_UNSUPPORTED for an
 * opset or IR version newer than known. On failure FILE holds nothing.
 */
enum amp_status amp_model_read(const char *path, struct amp_model_file *file,
                               struct amp_error *err);

/* Reads the ONNX model at PATH as amp_model_read does, but leaves functions alone that hold nothing
   to convert: their calls are unknown operators. */
enum amp_status amp_model_read_to_convert(const char *path, struct amp_model_file *file,
                                          struct amp_error *err);

/* Reads the model of FROM, which must outlive the copy, once more from the same bytes, with all
   calls inlined: a second model to keep while the first is changed. */
enum amp_status amp_model_read_again(const struct amp_model_file *from, struct amp_model_file *file,
                                     struct amp_error *err);

/* Frees all of it; a zeroed FILE is fine. */
void amp_model_close(struct amp_model_file *file);

#endif
