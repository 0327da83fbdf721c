/*
 * Samples of --data in the batches that a model takes: takes paths, finds what is there
 * (onnx/sample), and cuts arrays of more rows than the model's fixed batch. Keeps the sample that
 * was loaded last, so that a file of many batches is read once. Does not look at element types.
 */
#include "cli/batches.h"

#include "core/buffer.h"
#include "onnx/sample/sample.h"

#include <stdlib.h>
#include <string.h>

/* Part PART of the PARTS that sample SAMPLE has, of SIZE of its ROWS; PARTS 0: all of a sample that
   is not cut, with as many rows as it has, or 0 where no input has a fixed first dim. */
struct amp_batch {
    size_t sample, part, parts, size, rows;
};

static const struct amp_value *input_at(const struct amp_model *model, size_t i)
{
    return amp_value_at(model, model->graphs[0].inputs.items[i]);
}

/* The rows of a batch of VALUE where it has a fixed first dim; 0 or less: it has none. */
static int64_t batch_of(const struct amp_value *value)
{
    return value->rank > 0 && value->constant == NULL ? value->dims[0] : 0;
}

/* Whether TENSOR is batches of VALUE, whole ones or not. */
static bool has_rows(const struct amp_value *value, const struct amp_tensor *tensor)
{
    return tensor->data != NULL && !amp_tensor_is_list(tensor) && batch_of(value) > 0 &&
           tensor->shape.rank == value->rank;
}

/* How many batches of VALUE TENSOR has room for; 0 where it is none to be cut. */
static size_t count_parts(const struct amp_value *value, const struct amp_tensor *tensor)
{
    int64_t batch = batch_of(value);
    bool is_cut = has_rows(value, tensor) && tensor->shape.dims[0] > batch;
    return is_cut ? (size_t)(tensor->shape.dims[0] / batch) : 0;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void release_loaded(struct amp_batches *batches)
{
    const struct amp_graph *graph = &batches->model->graphs[0];
    amp_tensors_release(batches->inputs, graph->inputs.count);
    amp_tensors_release(batches->outputs, graph->outputs.count);
    batches->loaded = 0;
}

static enum amp_status load_whole(struct amp_batches *batches, size_t sample, struct amp_error *err)
{
    const struct amp_sample to = {batches->model, batches->inputs, batches->outputs};
    if (batches->loaded == sample + 1)
        return AMP_OK;
    release_loaded(batches);
    AMP_TRY(amp_sample_load(&batches->samples, sample, &to, err));
    batches->loaded = sample + 1;
    return AMP_OK;
}

/* Sets TO to rows FIRST to FIRST + ROWS - 1 of FROM, in memory of its own; strings share theirs. */
static enum amp_status take_rows(const struct amp_tensor *from, size_t first, size_t rows,
                                 struct amp_tensor *to, struct amp_error *err)
{
    struct amp_tensor taken = {.dtype = from->dtype, .shape = from->shape};
    taken.shape.dims[0] = (int64_t)rows;
    size_t size = amp_tensor_size(&taken);
    unsigned char *data = (unsigned char *)from->data + (rows > 0 ? size / rows : 0) * first;
    if (from->dtype == AMP_STRING) {
        amp_tensor_share(to, from);
        to->shape = taken.shape;
        to->data = data;
        return AMP_OK;
    }
    AMP_TRY(amp_tensor_alloc(&taken, err));
    if (size > 0)
        memcpy(taken.data, data, size);
    *to = taken;
    return AMP_OK;
}

/* Sets TO to the part of FROM that BATCH is; to all of what is not cut. */
static enum amp_status take_part(const struct amp_batch *batch, const struct amp_value *value,
                                 const struct amp_tensor *from, struct amp_tensor *to,
                                 struct amp_error *err)
{
    if (from->data == NULL)
        return AMP_OK;
    if (batch->parts > 0 && count_parts(value, from) == batch->parts) {
        size_t rows = (size_t)batch_of(value);
        return take_rows(from, batch->part * rows, rows, to, err);
    }
    amp_tensor_refer(to, from);
    return AMP_OK;
}

enum amp_status amp_batches_load(struct amp_batches *batches, size_t i, struct amp_tensor *tensors,
                                 struct amp_tensor *expected, struct amp_error *err)
{
    const struct amp_batch *batch = &batches->items[i];
    const struct amp_graph *graph = &batches->model->graphs[0];
    AMP_TRY(load_whole(batches, batch->sample, err));
    for (size_t k = 0; k < graph->inputs.count; k++)
        AMP_TRY(
            take_part(batch, input_at(batches->model, k), &batches->inputs[k], &tensors[k], err));
    for (size_t k = 0; k < graph->outputs.count && expected != NULL; k++)
        AMP_TRY(take_part(batch, amp_value_at(batches->model, graph->outputs.items[k]),
                          &batches->outputs[k], &expected[k], err));
    if (i + 1 == batches->count || batches->items[i + 1].sample != batch->sample)
        release_loaded(batches);
    return AMP_OK;
}

const char *amp_batches_path(const struct amp_batches *batches, size_t i)
{
    return batches->samples.paths[batches->items[i].sample];
}

/* ---- rows ----------------------------------------------------------------------------------- */

static enum amp_status keep_rows(const struct amp_batches *batches, size_t kept,
                                 struct amp_tensor *rows, struct amp_error *err)
{
    size_t row_size = amp_tensor_size(rows) / (size_t)rows->shape.dims[0], first = 0, used = 0;
    struct amp_tensor to = {.dtype = rows->dtype, .shape = rows->shape};
    to.shape.dims[0] = (int64_t)kept;
    AMP_TRY(amp_tensor_alloc(&to, err));
    for (size_t i = 0; i < batches->count; i++) {
        const struct amp_batch *batch = &batches->items[i];
        if (i > 0 && batch->sample != batch[-1].sample)
            first += batch[-1].rows;
        memcpy((char *)to.data + used * row_size,
               (char *)rows->data + (first + batch->part * batch->size) * row_size,
               batch->size * row_size);
        used += batch->size;
    }
    amp_tensor_release(rows);
    *rows = to;
    return AMP_OK;
}

enum amp_status amp_batches_keep_rows(const struct amp_batches *batches, struct amp_tensor *rows,
                                      struct amp_error *err)
{
    size_t kept = 0, all = 0;
    for (size_t i = 0; i < batches->count; i++) {
        kept += batches->items[i].size;
        all += batches->items[i].part == 0 ? batches->items[i].rows : 0;
    }
    bool is_for_all = rows->shape.rank > 0 && kept < all && (size_t)rows->shape.dims[0] == all;
    return is_for_all ? keep_rows(batches, kept, rows, err) : AMP_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool has_fixed_batch(const struct amp_model *model)
{
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++)
        if (batch_of(input_at(model, i)) > 0)
            return true;
    return false;
}

static void take_size(const struct amp_value *input, const struct amp_tensor *tensor, size_t parts,
                      struct amp_batch *batch)
{
    batch->parts = parts;
    batch->rows = (size_t)tensor->shape.dims[0];
    batch->size = parts > 0 ? (size_t)batch_of(input) : batch->rows;
}

/* How many batches of how many rows the sample that is loaded has: as many as each array that is
   cut. Of arrays that disagree none is, and the model will refuse what does not fit. */
static void count_batches(const struct amp_batches *batches, struct amp_batch *batch)
{
    for (size_t i = 0; i < batches->model->graphs[0].inputs.count; i++) {
        const struct amp_value *input = input_at(batches->model, i);
        const struct amp_tensor *tensor = &batches->inputs[i];
        size_t parts = count_parts(input, tensor);
        if (parts > 0 && batch->parts > 0 && parts != batch->parts) {
            *batch = (struct amp_batch){.sample = batch->sample};
            return;
        }
        if (parts > 0 || (batch->rows == 0 && has_rows(input, tensor)))
            take_size(input, tensor, parts, batch);
    }
}

static enum amp_status add_sample(struct amp_batches *batches, size_t sample, bool may_cut,
                                  struct amp_error *err)
{
    struct amp_batch batch = {.sample = sample};
    if (may_cut) {
        AMP_TRY(load_whole(batches, sample, err));
        count_batches(batches, &batch);
    }
    if (batch.parts > 0) {
        batches->size = batch.size;
        batches->rows += batch.rows;
        batches->left_out += batch.rows - batch.parts * batch.size;
    }
    size_t count = batch.parts > 0 ? batch.parts : 1;
    batches->items = amp_xrealloc(batches->items, batches->count + count, sizeof *batches->items);
    for (; batch.part < count; batch.part++)
        batches->items[batches->count++] = batch;
    return AMP_OK;
}

enum amp_status amp_batches_open(const struct amp_texts *paths, size_t most,
                                 const struct amp_model *model, struct amp_batches *batches,
                                 struct amp_error *err)
{
    const struct amp_graph *graph = &model->graphs[0];
    enum amp_status status = AMP_OK;
    bool may_cut = has_fixed_batch(model);
    *batches = (struct amp_batches){.model = model};
    batches->inputs = amp_xcalloc(graph->inputs.count, sizeof *batches->inputs);
    batches->outputs = amp_xcalloc(graph->outputs.count, sizeof *batches->outputs);
    for (size_t i = 0; i < paths->count && status == AMP_OK; i++)
        status = amp_samples_add(paths->items[i], model, &batches->samples, err);
    for (size_t i = 0; i < batches->samples.count && batches->count < most && status == AMP_OK; i++)
        status = add_sample(batches, i, may_cut, err);
    batches->count = batches->count < most ? batches->count : most;
    if (status != AMP_OK)
        amp_batches_close(batches);
    return status;
}

void amp_batches_close(struct amp_batches *batches)
{
    if (batches->model != NULL)
        release_loaded(batches);
    amp_samples_close(&batches->samples);
    free(batches->items);
    free(batches->inputs);
    free(batches->outputs);
    *batches = (struct amp_batches){.count = 0};
}
