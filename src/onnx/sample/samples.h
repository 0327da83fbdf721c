#ifndef AMP_ONNX_SAMPLE_SAMPLES_H
#define AMP_ONNX_SAMPLE_SAMPLES_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/* Tensors and whole samples (the inputs of one run, with the outputs expected of it) in files. */

/* Reads a NumPy array (.npy) or, for a value of KIND, a TensorProto, SequenceProto, OptionalProto
   or MapProto (.pb), by the ending of PATH, into memory of its own. */
enum amp_status amp_tensor_load(const char *path, enum amp_kind kind, struct amp_tensor *tensor,
                                struct amp_error *err);

/* Writes TENSOR under NAME to PATH, a .pb or .npy file by its ending; lists only to .pb. */
enum amp_status amp_tensor_save(const char *path, const char *name, const struct amp_tensor *tensor,
                                struct amp_error *err);

/* A folder of samples: ONNX's test_data_set_N folders of input_K.pb and output_K.pb, such files in
   the folder itself, or .npz files with an array per input and, for expected values, per output, by
   name. K counts the graph outputs, or the inputs that a caller must supply; where there are more
   files than those, the inputs that a caller may supply. */
struct amp_samples {
    char **paths; /* of folders or .npz files, sorted, numbers by value */
    size_t count;
};

/* AMP_IO when the folder cannot be read, AMP_MODEL when it holds no sample. */
enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err);
void amp_samples_close(struct amp_samples *samples);

/*
 * Loads sample I: INPUTS has an entry per graph input of MODEL, OUTPUTS per graph output (data NULL
 * where the sample has none); the caller releases them, also on failure. AMP_MODEL when an array
 * belongs to no input or output.
 */
enum amp_status amp_sample_load(const struct amp_samples *samples, size_t i,
                                const struct amp_model *model, struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err);

/*
 * The outputs expected of samples, for inputs that come from elsewhere: test_data_set_N folders,
 * sample_N folders or .npz files, one per sample, or the files of a single sample in FOLDER itself.
 * Files are output_K.pb or, by the output's name, what amp_output_stems gives with npy or pb.
 * OUTPUTS is filled as amp_sample_load does it; AMP_MODEL when nothing is there for any output.
 */
enum amp_status amp_expected_open(const char *folder, struct amp_samples *samples,
                                  struct amp_error *err);
enum amp_status amp_expected_load(const struct amp_samples *samples, size_t i,
                                  const struct amp_model *model, struct amp_tensor *outputs,
                                  struct amp_error *err);

/* The names of the files for the graph outputs of MODEL, without their endings: an output's name,
   with characters that files should not have in their names made '_', and the position added where
   that is the name of an earlier output. */
const char *const *amp_output_stems(const struct amp_model *model, struct amp_arena *arena);

#endif
