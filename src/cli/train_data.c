/*
 * The data of `ampconv train`: takes --data, --labels, --batch and --seed, gives the inputs of one
 * step after the other. Prints nothing.
 */
#include "cli/train_data.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct amp_value *input_at(const struct amp_train_data *data, size_t i)
{
    return amp_value_at(data->step->model, data->step->model->graphs[0].inputs.items[i]);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Whether MAIN has an input called NAME. */
static bool has_input(const struct amp_model *main, const char *name)
{
    const struct amp_ids *inputs = &main->graphs[0].inputs;
    for (size_t i = 0; i < inputs->count; i++)
        if (strcmp(amp_value_at(main, inputs->items[i])->name, name) == 0)
            return true;
    return false;
}

/* The only input that the algorithm adds to those of MAIN; SIZE_MAX: there is none, or more. */
static size_t find_target(const struct amp_train_data *data, const struct amp_model *main)
{
    size_t found = SIZE_MAX, count = 0;
    for (size_t i = 0; i < data->step->n_inputs; i++)
        if (!has_input(main, input_at(data, i)->name)) {
            found = i;
            count++;
        }
    return count == 1 ? found : SIZE_MAX;
}

/* Sets *INPUT and *PATH to what TEXT, [NAME=]FILE, says: the longest name of an input that it
   begins with counts. */
static enum amp_status split_labels(const struct amp_train_data *data, const struct amp_model *main,
                                    const char *text, size_t *input, const char **path,
                                    struct amp_error *err)
{
    size_t longest = 0;
    *input = SIZE_MAX;
    *path = text;
    for (size_t i = 0; i < data->step->n_inputs; i++) {
        const char *name = input_at(data, i)->name;
        size_t length = strlen(name);
        if (length <= longest || strncmp(text, name, length) != 0 || text[length] != '=')
            continue;
        longest = length;
        *input = i;
        *path = text + length + 1;
    }
    if (*input == SIZE_MAX)
        *input = find_target(data, main);
    if (*input != SIZE_MAX)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE,
                    "--labels %s: the algorithm has none or several inputs of its own; say which "
                    "input they are, as NAME=FILE",
                    text);
}

/* Puts the files of --labels among the inputs that files are given for, and marks these inputs. */
static enum amp_status add_labels(struct amp_train_data *data, const struct amp_model *main,
                                  struct amp_error *err)
{
    const struct amp_texts *labels = &data->options.labels;
    struct amp_texts *inputs = &data->options.inputs;
    const char **items = amp_arena_array(main->arena, inputs->count + labels->count, sizeof *items);
    for (size_t i = 0; i < inputs->count; i++)
        items[i] = inputs->items[i];
    for (size_t i = 0; i < labels->count; i++) {
        const char *path;
        size_t input;
        AMP_TRY(split_labels(data, main, labels->items[i], &input, &path, err));
        items[inputs->count++] =
            amp_arena_printf(main->arena, "%s=%s", input_at(data, input)->name, path);
        data->rows.sources[input] = AMP_ROWS_OF_ALL;
    }
    inputs->items = items;
    return AMP_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum amp_status read_sample(struct amp_train_data *data, size_t sample,
                                   struct amp_tensor *tensors, struct amp_error *err)
{
    AMP_TRY(amp_inputs_load(&data->inputs, sample, tensors, NULL, err));
    return amp_rows_add(&data->rows, tensors, amp_batches_path(&data->inputs.batches, sample), err);
}

static enum amp_status read_rows(struct amp_train_data *data, struct amp_error *err)
{
    const struct amp_options *options = &data->options;
    size_t n_inputs = data->step->model->graphs[0].inputs.count;
    struct amp_tensor *tensors = amp_xcalloc(n_inputs, sizeof *tensors);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < data->step->n_inputs; i++) {
        bool is_labels = data->rows.sources[i] == AMP_ROWS_OF_ALL;
        if (data->inputs.given[i].data != NULL)
            amp_rows_give(&data->rows, i, is_labels ? AMP_ROWS_OF_ALL : AMP_ROWS_SAME,
                          &data->inputs.given[i]);
    }
    for (size_t i = 0; i < data->inputs.count && status == AMP_OK; i++) {
        status = read_sample(data, i, tensors, err);
        amp_tensors_release(tensors, n_inputs);
    }
    free(tensors);
    return status == AMP_OK
               ? amp_rows_cut(&data->rows, options->batch > 0 ? (size_t)options->batch : 0, err)
               : status;
}

/* Says how rows became batches, those that reading left out included. */
static void note_batches(struct amp_train_data *data)
{
    struct amp_input_notes *notes = &data->inputs.notes;
    size_t left_out = data->rows.left_out + data->inputs.batches.left_out;
    char text[128];
    int used =
        snprintf(text, sizeof text, "%zu rows in batches of %lld",
                 data->rows.n_rows + data->inputs.batches.left_out, (long long)data->options.batch);
    if (left_out > 0)
        snprintf(text + used, sizeof text - (size_t)used, "; %zu that fill none %s left out",
                 left_out, left_out == 1 ? "is" : "are");
    free(notes->batches);
    notes->batches = amp_xstrdup(text);
    notes->left_out = left_out;
}

/* ---- all ------------------------------------------------------------------------------------- */

static enum amp_status check_options(const struct amp_options *options, struct amp_error *err)
{
    if (options->batch == 0)
        return amp_fail(err, AMP_USAGE, "--batch 0: at least 1 row is needed");
    if (options->data.count == 0 && (options->batch > 0 || options->labels.count > 0))
        return amp_fail(err, AMP_USAGE, "--%s goes with --data",
                        options->batch > 0 ? "batch" : "labels");
    return AMP_OK;
}

enum amp_status amp_train_data_open(struct amp_train_data *data, const struct amp_options *options,
                                    const struct amp_training_step *step,
                                    const struct amp_model *main, struct amp_error *err)
{
    *data = (struct amp_train_data){.options = *options, .step = step};
    AMP_TRY(check_options(options, err));
    data->has_rows = options->batch > 0 || options->labels.count > 0;
    amp_rows_open(&data->rows, step->model, step->n_inputs);
    AMP_TRY(add_labels(data, main, err));
    AMP_TRY(amp_inputs_open(&data->options, step->model, &data->inputs, err));
    if (data->has_rows)
        AMP_TRY(read_rows(data, err));
    if (options->batch > 0)
        note_batches(data);
    data->count = data->has_rows ? data->rows.n_batches : data->inputs.count;
    return AMP_OK;
}

void amp_train_data_close(struct amp_train_data *data)
{
    amp_rows_close(&data->rows);
    amp_inputs_close(&data->inputs);
}

enum amp_status amp_train_data_load(struct amp_train_data *data, size_t number,
                                    struct amp_tensor *tensors, struct amp_error *err)
{
    size_t epoch = number / data->count, i = number % data->count;
    if (!data->has_rows)
        return amp_inputs_load(&data->inputs, i, tensors, NULL, err);
    if (data->options.batch > 0 && data->order != epoch + 1) {
        amp_rows_shuffle(&data->rows, (uint64_t)data->options.seed, epoch);
        data->order = epoch + 1;
    }
    return amp_rows_take(&data->rows, i, tensors, err);
}
