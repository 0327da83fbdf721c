/*
 * A step of training before and after a conversion: takes both models and a sample, runs the step
 * of each from the same initializers, and measures how far what it adds to them is apart. Judges
 * only what is not finite: how exact gradients have to be, nobody knows before training has ended.
 */
#include "train/step_check.h"

#include "check/random_input.h"
#include "core/memory.h"
#include "ops/kernel/tensor_cast.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE, CONVERTED, SIDES };

struct step_pair {
    struct amp_trainer trainers[SIDES];
    struct amp_tensor *before; /* per variable of the reference */
    const struct amp_step_sample *sample;
    struct amp_step_check *check;
    struct amp_error *err;
};

static const struct amp_value *input_at(const struct amp_model *model, size_t i)
{
    return amp_value_at(model, model->graphs[0].inputs.items[i]);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The tensor of the sample that is called NAME; NULL: there is none. */
static const struct amp_tensor *find_given(const struct amp_step_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->model->graphs[0].inputs.count; i++)
        if (sample->tensors[i].data != NULL && strcmp(input_at(sample->model, i)->name, name) == 0)
            return &sample->tensors[i];
    return NULL;
}

/* Sets the sizes of the symbols of INPUT, which TENSOR is for. */
static void note_sizes(const struct amp_model *model, const struct amp_value *input,
                       const struct amp_tensor *tensor, int64_t *sizes)
{
    for (int d = 0; d < input->rank && input->rank == tensor->shape.rank; d++)
        if (amp_dim_symbol(model, input->dims[d]) != NULL)
            sizes[AMP_DIM_UNKNOWN - 1 - input->dims[d]] = tensor->shape.dims[d];
}

/* The inputs of the reference's step, of which the sample's come as they are. */
static enum amp_status make_inputs(struct step_pair *pair)
{
    struct amp_trainer *trainer = &pair->trainers[REFERENCE];
    const struct amp_model *model = trainer->step.model;
    int64_t *sizes = amp_arena_array(model->arena, model->n_symbols, sizeof *sizes);
    for (size_t s = 0; s < model->n_symbols; s++)
        sizes[s] = 1;
    for (size_t i = 0; i < trainer->step.n_inputs; i++) {
        const struct amp_tensor *given = find_given(pair->sample, input_at(model, i)->name);
        if (given == NULL)
            continue;
        amp_tensor_refer(&trainer->inputs[i], given);
        note_sizes(model, input_at(model, i), given, sizes);
    }
    for (size_t i = 0; i < trainer->step.n_inputs; i++) {
        struct amp_random_input plan;
        const struct amp_value *input = input_at(model, i);
        if (trainer->inputs[i].data != NULL || input->initial != NULL || input->constant != NULL)
            continue;
        AMP_TRY(amp_random_input_plan(model, model->graphs[0].inputs.items[i], sizes, &plan,
                                      pair->err));
        AMP_TRY(
            amp_random_input_make(&plan, pair->sample->seed, 0, &trainer->inputs[i], pair->err));
    }
    return AMP_OK;
}

/* Gives the converted model's step the inputs of the reference's, in its own dtypes. */
static enum amp_status hand_over_inputs(struct step_pair *pair)
{
    const struct amp_trainer *from = &pair->trainers[REFERENCE];
    struct amp_trainer *to = &pair->trainers[CONVERTED];
    for (size_t i = 0; i < to->step.n_inputs; i++)
        for (size_t k = 0; k < from->step.n_inputs; k++) {
            const struct amp_value *input = input_at(to->step.model, i);
            if (from->inputs[k].data == NULL ||
                strcmp(input->name, input_at(from->step.model, k)->name) != 0)
                continue;
            if (from->inputs[k].dtype == input->dtype)
                amp_tensor_refer(&to->inputs[i], &from->inputs[k]);
            else
                AMP_TRY(amp_tensor_cast_copy(&from->inputs[k], input->dtype, &to->inputs[i],
                                             pair->err));
        }
    return AMP_OK;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* The place in TRAINER of the variable that the reference has in place I; SIZE_MAX: none. */
static size_t find_variable(const struct step_pair *pair, size_t i)
{
    const struct amp_training_step *from = &pair->trainers[REFERENCE].step;
    const struct amp_training_step *to = &pair->trainers[CONVERTED].step;
    for (size_t k = 0; k < to->n_variables; k++)
        if (strcmp(to->variables[k].name, from->variables[i].name) == 0)
            return k;
    return SIZE_MAX;
}

/* Notes what the variables are before the step, and has the converted model begin with them. */
static void share_variables(struct step_pair *pair)
{
    const struct amp_trainer *from = &pair->trainers[REFERENCE];
    struct amp_trainer *to = &pair->trainers[CONVERTED];
    for (size_t i = 0; i < from->step.n_variables; i++) {
        size_t k = find_variable(pair, i);
        amp_tensor_refer(&pair->before[i], &from->values[i]);
        if (k != SIZE_MAX && to->values[k].dtype == from->values[i].dtype)
            amp_tensor_refer(&to->values[k], &from->values[i]);
    }
}

/* What one variable adds to the products of both changes. */
static void add_change(const struct amp_tensor *before, const struct amp_tensor *const after[SIDES],
                       double products[3])
{
    for (size_t i = 0; i < amp_tensor_count(before); i++) {
        double was = amp_tensor_double(before, i);
        double change[SIDES] = {amp_tensor_double(after[REFERENCE], i) - was,
                                amp_tensor_double(after[CONVERTED], i) - was};
        products[0] += change[REFERENCE] * change[REFERENCE];
        products[1] += change[REFERENCE] * change[CONVERTED];
        products[2] += change[CONVERTED] * change[CONVERTED];
    }
}

static bool has_number(const struct amp_train_history *history, double *number)
{
    *number = history->n_series > 0 ? amp_train_history_last(history, 0) : 0;
    return history->n_series > 0;
}

/* Whether the reference's loss and change are finite and the converted model's are not. */
static bool is_broken(const struct amp_step_check *check, const double products[3])
{
    double loss[SIDES];
    bool has_both = has_number(&check->history[REFERENCE], &loss[REFERENCE]) &&
                    has_number(&check->history[CONVERTED], &loss[CONVERTED]);
    return (has_both && isfinite(loss[REFERENCE]) && !isfinite(loss[CONVERTED])) ||
           (isfinite(products[0]) && !isfinite(products[2]));
}

static void measure(struct step_pair *pair)
{
    struct amp_step_check *check = pair->check;
    const struct amp_trainer *trainers = pair->trainers;
    const struct amp_train_series *skipped =
        amp_train_history_find(&check->history[CONVERTED], "skipped");
    double products[3] = {0, 0, 0};
    for (size_t i = 0; i < trainers[REFERENCE].step.n_variables; i++) {
        size_t k = find_variable(pair, i);
        bool is_float = amp_dtype_class(pair->before[i].dtype) == AMP_CLASS_FLOAT;
        if (k == SIZE_MAX || !is_float ||
            trainers[REFERENCE].step.variables[i].output == SIZE_MAX ||
            !amp_shape_equal(&trainers[REFERENCE].values[i].shape, &pair->before[i].shape) ||
            !amp_shape_equal(&trainers[CONVERTED].values[k].shape, &pair->before[i].shape))
            continue;
        const struct amp_tensor *after[SIDES] = {&trainers[REFERENCE].values[i],
                                                 &trainers[CONVERTED].values[k]};
        add_change(&pair->before[i], after, products);
        check->n_variables++;
    }
    check->cosine = products[1] / (sqrt(products[0]) * sqrt(products[2]));
    check->length = sqrt(products[2]) / sqrt(products[0]);
    check->is_skipped = skipped != NULL && skipped->values[0] != 0;
    check->is_outside = !check->is_skipped && is_broken(check, products);
}

/* ---- both steps ------------------------------------------------------------------------------ */

static enum amp_status run_steps(struct step_pair *pair)
{
    AMP_TRY(make_inputs(pair));
    AMP_TRY(hand_over_inputs(pair));
    AMP_TRY(amp_trainer_initialize(&pair->trainers[REFERENCE], AMP_ROUNDED, pair->err));
    share_variables(pair);
    for (int side = 0; side < SIDES; side++) {
        AMP_TRY(amp_trainer_run(&pair->trainers[side], pair->err));
        amp_train_history_add(&pair->check->history[side], &pair->trainers[side], 0);
    }
    measure(pair);
    return AMP_OK;
}

static void close_pair(struct step_pair *pair)
{
    if (pair->before != NULL)
        amp_tensors_release(pair->before, pair->trainers[REFERENCE].step.n_variables);
    free(pair->before);
    for (int side = 0; side < SIDES; side++) {
        struct amp_trainer *trainer = &pair->trainers[side];
        if (trainer->inputs != NULL)
            amp_tensors_release(trainer->inputs, trainer->step.n_inputs);
        amp_trainer_close(trainer);
    }
}

enum amp_status amp_step_check_run(const struct amp_model_file *const files[SIDES],
                                   const struct amp_step_sample *sample,
                                   struct amp_step_check *check, struct amp_error *err)
{
    struct step_pair pair = {.sample = sample, .check = check, .err = err};
    enum amp_status status = AMP_OK;
    *check = (struct amp_step_check){.n_variables = 0};
    for (int side = 0; side < SIDES && status == AMP_OK; side++)
        status = amp_trainer_open(&pair.trainers[side], files[side], AMP_ROUNDED, err);
    if (status == AMP_OK) {
        size_t n_variables = pair.trainers[REFERENCE].step.n_variables;
        pair.before = amp_xcalloc(n_variables, sizeof *pair.before);
        status = run_steps(&pair);
    }
    close_pair(&pair);
    return status;
}

void amp_step_check_free(struct amp_step_check *check)
{
    for (int side = 0; side < SIDES; side++)
        amp_train_history_free(&check->history[side]);
}
