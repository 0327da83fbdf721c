/*
 * Rows of samples in batches: takes the samples of training whole, gives batches of rows of all of
 * them, in an order that a seed decides. Reads no files.
 */
#include "train/rows.h"

#include "core/memory.h"
#include "core/number/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row: of a sample, and of all. */
struct amp_row {
    size_t sample, at, number;
};

struct amp_row_batch {
    size_t first, count; /* rows */
};

static const struct amp_value *input_at(const struct amp_rows *rows, size_t i)
{
    return amp_value_at(rows->model, rows->model->graphs[0].inputs.items[i]);
}

void amp_rows_open(struct amp_rows *rows, const struct amp_model *model, size_t n_inputs)
{
    *rows = (struct amp_rows){.model = model, .n_inputs = n_inputs};
    rows->sources = amp_xcalloc(n_inputs, sizeof *rows->sources);
    rows->whole = amp_xcalloc(n_inputs, sizeof *rows->whole);
}

void amp_rows_close(struct amp_rows *rows)
{
    amp_tensors_release(rows->whole, rows->n_inputs);
    amp_tensors_release(rows->samples, rows->n_samples * rows->n_inputs);
    free(rows->sources);
    free(rows->whole);
    free(rows->samples);
    free(rows->rows);
    free(rows->batches);
    *rows = (struct amp_rows){.n_inputs = 0};
}

void amp_rows_give(struct amp_rows *rows, size_t i, enum amp_row_source source,
                   const struct amp_tensor *whole)
{
    rows->sources[i] = source;
    amp_tensor_release(&rows->whole[i]);
    amp_tensor_refer(&rows->whole[i], whole);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* That TENSOR has rows, of the type and shape that LIKE has (NULL: any). */
static enum amp_status check_rows(const struct amp_value *input, const struct amp_tensor *tensor,
                                  const struct amp_tensor *like, struct amp_error *err)
{
    char text[200], other[200];
    if (amp_tensor_is_list(tensor) || tensor->dtype == AMP_STRING)
        return amp_fail(err, AMP_UNSUPPORTED, "input '%s': only tensors of numbers have batches",
                        input->name);
    if (tensor->shape.rank < 1)
        return amp_fail(err, AMP_MODEL, "input '%s': a number alone has no rows for batches",
                        input->name);
    if (like == NULL)
        return AMP_OK;
    struct amp_shape row = tensor->shape;
    if (like->shape.rank == row.rank)
        row.dims[0] = like->shape.dims[0];
    if (like->dtype == tensor->dtype && amp_shape_equal(&row, &like->shape))
        return AMP_OK;
    return amp_fail(err, AMP_MODEL, "input '%s': %s%s does not go with %s%s of the first sample",
                    input->name, amp_dtype_name(tensor->dtype),
                    amp_shape_text(&tensor->shape, text, sizeof text), amp_dtype_name(like->dtype),
                    amp_shape_text(&like->shape, other, sizeof other));
}

/* Sets *COUNT to how many rows the inputs of a sample have, all the same. */
static enum amp_status count_rows(const struct amp_rows *rows, const struct amp_tensor *tensors,
                                  int64_t *count, struct amp_error *err)
{
    size_t first = SIZE_MAX;
    *count = 0;
    for (size_t i = 0; i < rows->n_inputs; i++) {
        const struct amp_tensor *like = rows->n_samples > 0 ? &rows->samples[i] : NULL;
        if (rows->sources[i] != AMP_ROWS_OF_SAMPLES)
            continue;
        if (like != NULL && (like->data == NULL) != (tensors[i].data == NULL))
            return amp_fail(err, AMP_MODEL, "input '%s': some samples have it and some do not",
                            input_at(rows, i)->name);
        if (tensors[i].data == NULL)
            continue;
        AMP_TRY(check_rows(input_at(rows, i), &tensors[i], like, err));
        if (first != SIZE_MAX && tensors[i].shape.dims[0] != *count)
            return amp_fail(err, AMP_MODEL, "input '%s' has %" PRId64 " rows, and '%s' %" PRId64,
                            input_at(rows, i)->name, tensors[i].shape.dims[0],
                            input_at(rows, first)->name, *count);
        first = first == SIZE_MAX ? i : first;
        *count = tensors[i].shape.dims[0];
    }
    return AMP_OK;
}

enum amp_status amp_rows_add(struct amp_rows *rows, const struct amp_tensor *tensors,
                             const char *path, struct amp_error *err)
{
    int64_t count;
    if (count_rows(rows, tensors, &count, err) != AMP_OK) {
        amp_error_prefix(err, "%s", path);
        return err->status;
    }
    size_t n = rows->n_inputs, sample = rows->n_samples++;
    rows->samples = amp_xrealloc(rows->samples, rows->n_samples * n, sizeof *rows->samples);
    memset(&rows->samples[sample * n], 0, n * sizeof *rows->samples);
    for (size_t i = 0; i < n; i++)
        if (rows->sources[i] == AMP_ROWS_OF_SAMPLES)
            amp_tensor_refer(&rows->samples[sample * n + i], &tensors[i]);
    rows->rows = amp_xrealloc(rows->rows, rows->n_rows + (size_t)count, sizeof *rows->rows);
    for (size_t at = 0; at < (size_t)count; at++, rows->n_rows++)
        rows->rows[rows->n_rows] = (struct amp_row){sample, at, rows->n_rows};
    return AMP_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The number of rows that some input fixes; 0: none does. */
static enum amp_status find_fixed(const struct amp_rows *rows, size_t size, size_t *fixed,
                                  struct amp_error *err)
{
    *fixed = 0;
    for (size_t i = 0; i < rows->n_inputs; i++) {
        const struct amp_value *input = input_at(rows, i);
        if (rows->sources[i] == AMP_ROWS_SAME || input->rank < 1 || input->dims[0] < 0 ||
            input->initial != NULL)
            continue;
        *fixed = (size_t)input->dims[0];
        if (size > 0 && *fixed != size)
            return amp_fail(err, AMP_USAGE, "--batch %zu: input '%s' has %zu rows in the model",
                            size, input->name, *fixed);
    }
    return AMP_OK;
}

static enum amp_status check_whole(const struct amp_rows *rows, struct amp_error *err)
{
    for (size_t i = 0; i < rows->n_inputs; i++) {
        const struct amp_tensor *whole = &rows->whole[i];
        if (rows->sources[i] != AMP_ROWS_OF_ALL)
            continue;
        AMP_TRY(check_rows(input_at(rows, i), whole, NULL, err));
        if (whole->shape.dims[0] != (int64_t)rows->n_rows)
            return amp_fail(err, AMP_MODEL, "input '%s': %" PRId64 " rows for %zu rows of samples",
                            input_at(rows, i)->name, whole->shape.dims[0], rows->n_rows);
    }
    return AMP_OK;
}

/* How many rows the batch that begins with row FIRST has. */
static size_t batch_at(const struct amp_rows *rows, size_t first, size_t size)
{
    size_t count = 0;
    if (size > 0)
        return rows->n_rows - first < size ? rows->n_rows - first : size;
    while (first + count < rows->n_rows &&
           rows->rows[first + count].sample == rows->rows[first].sample)
        count++;
    return count;
}

enum amp_status amp_rows_cut(struct amp_rows *rows, size_t size, struct amp_error *err)
{
    size_t fixed;
    AMP_TRY(find_fixed(rows, size, &fixed, err));
    AMP_TRY(check_whole(rows, err));
    rows->batches = amp_xcalloc(rows->n_rows, sizeof *rows->batches);
    for (size_t first = 0, count; first < rows->n_rows; first += count) {
        count = batch_at(rows, first, size);
        if (size > 0 && count < fixed)
            rows->left_out = count;
        else
            rows->batches[rows->n_batches++] = (struct amp_row_batch){first, count};
    }
    if (rows->n_batches > 0)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "--batch %zu: there are %zu rows", size, rows->n_rows);
}

/* The order of the file, then a shuffle of Fisher and Yates: the order does not depend on the
   epochs before. */
void amp_rows_shuffle(struct amp_rows *rows, uint64_t seed, size_t epoch)
{
    struct amp_random random = amp_random_start(seed, epoch);
    struct amp_row *sorted = amp_xcalloc(rows->n_rows, sizeof *sorted);
    for (size_t i = 0; i < rows->n_rows; i++)
        sorted[rows->rows[i].number] = rows->rows[i];
    for (size_t i = rows->n_rows; i > 1; i--) {
        size_t k = (size_t)amp_random_between(&random, 0, (int64_t)i - 1);
        struct amp_row last = sorted[i - 1];
        sorted[i - 1] = sorted[k];
        sorted[k] = last;
    }
    free(rows->rows);
    rows->rows = sorted;
}

/* The rows of BATCH for input I. */
static enum amp_status gather(const struct amp_rows *rows, const struct amp_row_batch *batch,
                              size_t i, struct amp_tensor *tensor, struct amp_error *err)
{
    bool is_whole = rows->sources[i] == AMP_ROWS_OF_ALL;
    const struct amp_tensor *like = is_whole ? &rows->whole[i] : &rows->samples[i];
    if (like->data == NULL)
        return AMP_OK;
    *tensor = (struct amp_tensor){.dtype = like->dtype, .shape = like->shape};
    tensor->shape.dims[0] = (int64_t)batch->count;
    AMP_TRY(amp_tensor_alloc(tensor, err));
    size_t size = amp_tensor_size(tensor) / batch->count;
    for (size_t k = 0; k < batch->count; k++) {
        const struct amp_row *row = &rows->rows[batch->first + k];
        const struct amp_tensor *from =
            is_whole ? like : &rows->samples[row->sample * rows->n_inputs + i];
        memcpy((char *)tensor->data + k * size,
               (const char *)from->data + (is_whole ? row->number : row->at) * size, size);
    }
    return AMP_OK;
}

enum amp_status amp_rows_take(const struct amp_rows *rows, size_t i, struct amp_tensor *tensors,
                              struct amp_error *err)
{
    for (size_t k = 0; k < rows->n_inputs; k++)
        if (rows->sources[k] != AMP_ROWS_SAME)
            AMP_TRY(gather(rows, &rows->batches[i], k, &tensors[k], err));
        else if (rows->whole[k].data != NULL)
            amp_tensor_refer(&tensors[k], &rows->whole[k]);
    return AMP_OK;
}
