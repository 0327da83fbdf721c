#ifndef AMP_ONNX_FILE_PLACEMENT_H
#define AMP_ONNX_FILE_PLACEMENT_H

#include "core/graph/graph.h"
#include "onnx/file/write.h"

#include "onnx.pb-c.h"

/* Private to onnx/: where the data of each tensor go when a model is written. */

/* The data of one tensor in the data file. Its raw_data still say what they are, though the field
   is not set and so not packed. */
struct amp_placed {
    Onnx__TensorProto *proto;
    uint64_t offset; /* in the data file */
};

struct amp_placement {
    const char *path; /* of the model; "-": stdout */
    /* Tensors that are converted while they are written. The raw_data of their messages point here,
       at the tensor's entry, where no other data lie: so the writer tells them from bytes. */
    const struct amp_tensor **deferred;
    size_t n_deferred;
    struct amp_placed *placed; /* by offset; of tensors that share their data, the first */
    size_t n_placed;
    const char *data_path; /* of the data file; NULL: all data are in the message */
    uint64_t data_size;    /* bytes of the data file */
    size_t message_size;
};

/* Decides where the data of every tensor in MESSAGE go and says so in it; fills PLACEMENT but for
   its deferred tensors. Errors as amp_model_prepare has them. */
enum amp_status amp_placement_decide(struct amp_placement *placement, Onnx__ModelProto *message,
                                     struct amp_arena *arena,
                                     const struct amp_write_options *options,
                                     struct amp_error *err);

/* The tensor whose data are to be made, when DATA stand for one; NULL: they are bytes. */
const struct amp_tensor *amp_placement_deferred(const struct amp_placement *placement,
                                                const uint8_t *data);

#endif
