/*
 * What steps of training gave out: takes a trainer after each step, keeps the single numbers among
 * the outputs of the algorithm. Prints nothing.
 */
#include "train/history.h"

#include "core/memory.h"
#include "onnx/training/scaler.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether TENSOR is a number; TAKES_FLAGS: or a bool. */
static bool is_number(const struct amp_tensor *tensor, bool takes_flags)
{
    return tensor->data != NULL && tensor->form == AMP_FORM_TENSOR &&
           (tensor->dtype == AMP_DOUBLE || amp_dtype_is_autocast(tensor->dtype) ||
            (takes_flags && tensor->dtype == AMP_BOOL)) &&
           amp_tensor_count(tensor) == 1;
}

static void find_series(struct amp_train_history *history, const struct amp_trainer *trainer)
{
    const struct amp_training_step *step = &trainer->step;
    history->series = amp_xcalloc(step->n_own, sizeof *history->series);
    for (size_t i = 0; i < step->n_own; i++) {
        size_t output = step->first_own + i;
        uint32_t value = step->model->graphs[0].outputs.items[output];
        const char *name = amp_value_at(step->model, value)->name;
        const char *word = amp_grad_scaler_word(name);
        if (is_number(&trainer->outputs[output], word != name))
            history->series[history->n_series++] =
                (struct amp_train_series){.name = word, .output = output};
    }
}

static void grow(struct amp_train_history *history)
{
    if (history->n_steps < history->capacity)
        return;
    history->capacity = 2 * history->capacity + 64;
    for (size_t i = 0; i < history->n_series; i++)
        history->series[i].values =
            amp_xrealloc(history->series[i].values, history->capacity, sizeof(double));
}

void amp_train_history_add(struct amp_train_history *history, const struct amp_trainer *trainer,
                           double seconds)
{
    if (history->series == NULL)
        find_series(history, trainer);
    grow(history);
    for (size_t i = 0; i < history->n_series; i++) {
        const struct amp_tensor *tensor = &trainer->outputs[history->series[i].output];
        history->series[i].values[history->n_steps] =
            is_number(tensor, true) ? amp_tensor_double(tensor, 0) : (double)NAN;
    }
    history->n_steps++;
    history->seconds += seconds;
}

void amp_train_history_free(struct amp_train_history *history)
{
    for (size_t i = 0; i < history->n_series; i++)
        free(history->series[i].values);
    free(history->series);
    *history = (struct amp_train_history){.n_series = 0};
}

double amp_train_history_last(const struct amp_train_history *history, size_t series)
{
    return history->series[series].values[history->n_steps - 1];
}

const struct amp_train_series *amp_train_history_find(const struct amp_train_history *history,
                                                      const char *name)
{
    for (size_t i = 0; i < history->n_series; i++)
        if (strcmp(history->series[i].name, name) == 0)
            return &history->series[i];
    return NULL;
}
