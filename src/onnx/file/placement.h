#ifndef AMP_ONNX_FILE_PLACEMENT_H
#define AMP_ONNX_FILE_PLACEMENT_H

#include "core/graph/graph.h"
#include "onnx/file/deferred.h"

/* Where the data of each tensor go when a model is written: into the message, or into one data file
   beside it (ONNX, docs/ExternalData.md). */

struct amp_placement_options {
    const char *path;      /* the model's file; "-": stdout. Must outlive what is made of it. */
    const char *data_name; /* the file for tensor data, relative to the model's folder. NULL: none,
                              but PATH.data when the model takes more than 2 GB or its data came in
                              files of their own */
    uint64_t threshold;    /* bytes from which on an initializer's data go to that file; lists of up
                              to 512, which shape inference reads, never do */
    bool is_inline;        /* all data stay in the message */
};

/* The data of one tensor in the data file. */
struct amp_placed {
    const uint8_t *data; /* bytes, or a deferred tensor */
    size_t size;         /* bytes in the file */
    uint64_t offset;     /* in the data file */
};

/* Lives in the model's arena. */
struct amp_placement {
    const char *path; /* of the model; "-": stdout */
    struct amp_deferred deferred;
    struct amp_placed *placed; /* by offset; of tensors that share their data, the first */
    size_t n_placed;
    const char *data_path; /* of the data file; NULL: all data are in the message */
    uint64_t data_size;    /* bytes of the data file */
    size_t message_size;   /* bytes of the model's file */
};

/* Decides where the data of every tensor in the message of MODEL go and says so in the message;
   fills PLACEMENT but for its deferred tensors, which are known before. AMP_UNSUPPORTED when the
   message would take more than 2 GB and its data have no other place to go. */
enum amp_status amp_placement_decide(struct amp_placement *placement, struct amp_model *model,
                                     const struct amp_placement_options *options,
                                     struct amp_error *err);

/* Bytes of all files together. */
uint64_t amp_placement_size(const struct amp_placement *placement);

#endif
