/*
 * Runs steps of training: takes a model with training_info, keeps the values of its variables
 * between steps, feeds them to each and takes what it makes of them. Does not read samples and does
 * not write the model.
 */
#include "train/trainer.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Gives VALUE the data of INITIALIZER, which may lie unaligned in the model file, where no kernel
   can read them. */
static enum amp_status take(struct amp_tensor *value, const struct amp_tensor *initializer,
                            struct amp_error *err)
{
    if (initializer->dtype == AMP_STRING) {
        amp_tensor_refer(value, initializer);
        return AMP_OK;
    }
    *value = (struct amp_tensor){.dtype = initializer->dtype, .shape = initializer->shape};
    AMP_TRY(amp_tensor_alloc(value, err));
    amp_tensor_copy(initializer, value->data);
    return AMP_OK;
}

enum amp_status amp_trainer_open(struct amp_trainer *trainer, const struct amp_model_file *file,
                                 enum amp_strictness strictness, struct amp_error *err)
{
    struct amp_training_step *step = &trainer->step;
    *trainer = (struct amp_trainer){.n_outputs = 0};
    AMP_TRY(amp_training_step_read(file, step, err));
    const struct amp_graph *graph = &step->model->graphs[0];
    trainer->n_outputs = graph->outputs.count;
    trainer->inputs = amp_xcalloc(graph->inputs.count, sizeof *trainer->inputs);
    trainer->outputs = amp_xcalloc(graph->outputs.count, sizeof *trainer->outputs);
    trainer->values = amp_xcalloc(step->n_variables, sizeof *trainer->values);
    for (size_t i = 0; i < step->n_variables; i++)
        AMP_TRY(take(&trainer->values[i], step->variables[i].before, err));
    return amp_session_open(step->model, strictness, &trainer->session, err);
}

void amp_trainer_close(struct amp_trainer *trainer)
{
    amp_session_destroy(trainer->session);
    amp_tensors_release(trainer->outputs, trainer->n_outputs);
    if (trainer->values != NULL)
        amp_tensors_release(trainer->values, trainer->step.n_variables);
    free(trainer->inputs);
    free(trainer->outputs);
    free(trainer->values);
    *trainer = (struct amp_trainer){.n_outputs = 0};
}

enum amp_status amp_trainer_initialize(struct amp_trainer *trainer, enum amp_strictness strictness,
                                       struct amp_error *err)
{
    const struct amp_training_step *step = &trainer->step;
    struct amp_session *session = NULL;
    if (step->initialization == NULL)
        return AMP_OK;
    size_t count = step->initialization->graphs[0].outputs.count;
    struct amp_tensor *outputs = amp_xcalloc(count, sizeof *outputs);
    enum amp_status status = amp_session_open(step->initialization, strictness, &session, err);
    if (status == AMP_OK)
        status = amp_session_run(session, NULL, outputs, err);
    for (size_t i = 0; status == AMP_OK && i < step->n_variables; i++)
        if (step->variables[i].initial != SIZE_MAX)
            amp_tensor_refer(&trainer->values[i], &outputs[step->variables[i].initial]);
    amp_tensors_release(outputs, count);
    free(outputs);
    amp_session_destroy(session);
    return status;
}

enum amp_status amp_trainer_run(struct amp_trainer *trainer, struct amp_error *err)
{
    const struct amp_training_step *step = &trainer->step;
    amp_tensors_release(trainer->outputs, trainer->n_outputs);
    memset(trainer->outputs, 0, trainer->n_outputs * sizeof *trainer->outputs);
    for (size_t i = 0; i < step->n_variables; i++)
        trainer->inputs[step->variables[i].input] = trainer->values[i];
    AMP_TRY(amp_session_run(trainer->session, trainer->inputs, trainer->outputs, err));
    for (size_t i = 0; i < step->n_variables; i++)
        if (step->variables[i].output != SIZE_MAX)
            amp_tensor_refer(&trainer->values[i], &trainer->outputs[step->variables[i].output]);
    return AMP_OK;
}
