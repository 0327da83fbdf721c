#ifndef AMP_TRAIN_ROWS_H
#define AMP_TRAIN_ROWS_H

#include "core/graph/graph.h"
#include "core/status.h"
#include "core/tensor.h"

/* How a step's input comes about. */
enum amp_row_source {
    AMP_ROWS_OF_SAMPLES, /* rows of what the samples have for it */
    AMP_ROWS_OF_ALL,     /* rows of one tensor, which has as many as all samples together */
    AMP_ROWS_SAME        /* one tensor, whole, in every step */
};

struct amp_row_batch; /* train/rows.c */

/*
 * The rows of all samples, along axis 0, in batches for steps of training. Keeps the samples in
 * memory. Begins as {.model = M, .n_inputs = N}: for the first N inputs of M.
 */
struct amp_rows {
    const struct amp_model *model;
    size_t n_inputs;
    enum amp_row_source *sources;
    struct amp_tensor *whole;   /* per input: for AMP_ROWS_OF_ALL and AMP_ROWS_SAME */
    struct amp_tensor *samples; /* per sample and input */
    size_t n_samples;
    struct amp_row *rows; /* in the order of the epoch */
    size_t n_rows;
    struct amp_row_batch *batches;
    size_t n_batches, left_out; /* left_out: rows of an epoch that are in none */
};

void amp_rows_open(struct amp_rows *rows, const struct amp_model *model, size_t n_inputs);
void amp_rows_close(struct amp_rows *rows); /* a zeroed one is fine */

/* Gives input I tensor WHOLE, which is shared, from SOURCE. */
void amp_rows_give(struct amp_rows *rows, size_t i, enum amp_row_source source,
                   const struct amp_tensor *whole);

/* Adds a sample with a tensor per input, which are shared; PATH is where it is from. AMP_MODEL
   where its inputs have no rows, not the same number, or other ones than those before;
   AMP_UNSUPPORTED for strings and lists of tensors. */
enum amp_status amp_rows_add(struct amp_rows *rows, const struct amp_tensor *tensors,
                             const char *path, struct amp_error *err);

/* Makes batches of SIZE rows, 0: each sample one, once all samples are there. The last has the
   rows that are left; where an input has a fixed number of rows they are left out. AMP_USAGE where
   that is another than SIZE, or there is no batch; AMP_MODEL where an input of AMP_ROWS_OF_ALL has
   another number of rows than the samples. */
enum amp_status amp_rows_cut(struct amp_rows *rows, size_t size, struct amp_error *err);

/* Puts the rows into the order of epoch EPOCH, from 0 on, that SEED stands for. */
void amp_rows_shuffle(struct amp_rows *rows, uint64_t seed, size_t epoch);

/* Makes batch I in TENSORS, one per input, which the caller releases, also on failure. */
enum amp_status amp_rows_take(const struct amp_rows *rows, size_t i, struct amp_tensor *tensors,
                              struct amp_error *err);

#endif
