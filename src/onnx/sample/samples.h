#ifndef AMP_ONNX_SAMPLE_SAMPLES_H
#define AMP_ONNX_SAMPLE_SAMPLES_H

#include "core/graph/graph.h"
#include "core/status.h"

#include <stddef.h>

/* A folder of samples, each the inputs of one run with the outputs expected of it. */
struct amp_samples {
    char **paths; /* of folders, .npz or .npy files, sorted, numbers by value */
    size_t count;
};

/* Finds the samples in FOLDER: ONNX's test_data_set_N folders, sample_N folders or .npz files, or
   the folder itself where it has input_0.pb or input_0.npy. AMP_IO when the folder cannot be read,
   AMP_MODEL when it holds no sample. */
enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err);

/* Adds the samples at PATH, a folder or a .npz or .npy file, to SAMPLES, which hold others or are
   zeroed. A folder that has none as above is a sample itself where a .npy file there is called like
   an input of MODEL; else each of its .npy files is one. Fails as amp_samples_open does. */
enum amp_status amp_samples_add(const char *path, const struct amp_model *model,
                                struct amp_samples *samples, struct amp_error *err);

/* Finds the outputs expected of samples whose inputs come from elsewhere: test_data_set_N folders,
   sample_N folders or .npz files in FOLDER, one per sample, or the folder itself as a single
   sample. AMP_IO when it cannot be read. */
enum amp_status amp_samples_open_expected(const char *folder, struct amp_samples *samples,
                                          struct amp_error *err);

void amp_samples_close(struct amp_samples *samples);

/* Private to onnx/sample. The path of NAME in FOLDER, which the caller frees; FOLDER where NAME is
   empty. */
char *amp_path_join(const char *folder, const char *name);

/* Whether FOLDER has a file NAME. */
bool amp_path_exists(const char *folder, const char *name);

#endif
