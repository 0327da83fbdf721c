#ifndef AMP_CLI_BATCHES_H
#define AMP_CLI_BATCHES_H

#include "cli/options/options.h"
#include "core/graph/graph.h"
#include "core/tensor.h"
#include "onnx/sample/samples.h"

/*
 * The samples of --data, for one model. Where an array has more rows than the fixed first dim of
 * its input, it is cut into so many samples as it has batches; rows that fill no batch are left
 * out.
 */
struct amp_batches {
    const struct amp_model *model;
    struct amp_samples samples; /* of all --data, uncut */
    struct amp_batch *items;
    size_t count;
    size_t rows, size, left_out; /* of what was cut: rows, rows in a batch, rows in none */
    /* The sample that was loaded last, whole. */
    size_t loaded; /* its number and 1; 0: none */
    struct amp_tensor *inputs, *outputs;
};

/* Finds the first MOST samples at PATHS, in their order, for MODEL, which must stay. Files are
   looked into here only where an input has a fixed first dim. Fails as amp_samples_add and
   amp_sample_load do. */
enum amp_status amp_batches_open(const struct amp_texts *paths, size_t most,
                                 const struct amp_model *model, struct amp_batches *batches,
                                 struct amp_error *err);
void amp_batches_close(struct amp_batches *batches); /* a zeroed one is fine */

/* Loads batch I: TENSORS gets one per graph input, EXPECTED (may be NULL) one per graph output,
   data NULL where there is none. The caller releases both, also on failure. */
enum amp_status amp_batches_load(struct amp_batches *batches, size_t i, struct amp_tensor *tensors,
                                 struct amp_tensor *expected, struct amp_error *err);

/* Leaves out of ROWS, which has a row for each row of the samples (labels), those whose rows are in
   no batch; changes nothing that has another number of rows. Fails as amp_tensor_alloc does. */
enum amp_status amp_batches_keep_rows(const struct amp_batches *batches, struct amp_tensor *rows,
                                      struct amp_error *err);

/* The file or folder that batch I is of. */
const char *amp_batches_path(const struct amp_batches *batches, size_t i);

#endif
