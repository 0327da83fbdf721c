#ifndef AMP_ONNX_SAMPLE_SAMPLE_H
#define AMP_ONNX_SAMPLE_SAMPLE_H

#include "core/graph/graph.h"
#include "onnx/sample/samples.h"

/* What one sample is for and where it goes. */
struct amp_sample {
    const struct amp_model *model;
    struct amp_tensor *inputs;  /* per graph input; NULL: only outputs are wanted */
    struct amp_tensor *outputs; /* per graph output; data NULL where the sample has none */
};

/*
 * Loads sample I of SAMPLES into TO, whose tensors hold nothing before; the caller releases them,
 * also on failure. A folder has ONNX's files input_K.pb and output_K.pb, or .npy, where K counts
 * the graph outputs, or the inputs that a caller must supply; where there are more files than
 * those, the inputs that a caller may supply. Or it has NAME.npy for inputs (amp_input_stems). A
 * .npy file is for the one input that must be supplied. A .npz file has an array per input and, for
 * expected values, per output, by name. AMP_MODEL when a file or an array belongs to no input or
 * output.
 */
enum amp_status amp_sample_load(const struct amp_samples *samples, size_t i,
                                const struct amp_sample *to, struct amp_error *err);

/*
 * Loads the outputs expected of sample I of SAMPLES into the outputs of TO as amp_sample_load does:
 * from output_K.pb or, by the output's name, what amp_output_stems gives with .npy or .pb; or from
 * an .npz file. AMP_MODEL when nothing is there for any output.
 */
enum amp_status amp_sample_load_expected(const struct amp_samples *samples, size_t i,
                                         const struct amp_sample *to, struct amp_error *err);

#endif
