/*
 * Runs the main graph of a session step by step: takes and gives values between the steps. It
 * assumes a plan in which every node has a step of its own. What a step does is step.c's matter.
 */
#include "run/exec/walk.h"

#include "ops/kernel/tensor_cast.h"
#include "run/exec/constants.h"
#include "run/exec/graph_values.h"
#include "run/exec/step.h"
#include "run/exec/values.h"

static const struct amp_step *step_at(const struct amp_session *session, size_t step)
{
    return &session->plan->graphs[0].steps[step];
}

const struct amp_model *amp_walk_model(const struct amp_session *session)
{
    return session->model;
}

size_t amp_walk_count(const struct amp_session *session)
{
    return session->plan->graphs[0].n_steps;
}

uint32_t amp_walk_node(const struct amp_session *session, size_t step)
{
    return step_at(session, step)->node;
}

bool amp_walk_is_constant(const struct amp_session *session, size_t step)
{
    return step_at(session, step)->is_constant;
}

enum amp_status amp_walk_begin(struct amp_session *session, const struct amp_tensor *inputs,
                               struct amp_error *err)
{
    amp_session_use_threads();
    return amp_graph_feed(session, inputs, err);
}

enum amp_status amp_walk_compute(struct amp_session *session, size_t step, struct amp_error *err)
{
    amp_session_use_threads();
    amp_session_begin(session);
    enum amp_status status = amp_step_compute(session, step_at(session, step), err);
    amp_session_end(session);
    return status;
}

void amp_walk_release(struct amp_session *session, size_t step)
{
    amp_step_release(session, step_at(session, step));
}

enum amp_status amp_walk_get(struct amp_session *session, uint32_t value, struct amp_tensor *tensor,
                             struct amp_error *err)
{
    enum amp_dtype declared = amp_value_at(session->model, value)->dtype;
    const struct amp_tensor *held = &session->values[value];
    AMP_TRY(amp_constant_align(session, value, err));
    AMP_TRY(amp_values_reorder(session, value, err));
    if (held->dtype == AMP_FLOAT && amp_dtype_is_lower(declared) && held->data != NULL)
        return amp_tensor_cast_copy(held, declared, tensor, err);
    amp_tensor_refer(tensor, held);
    return AMP_OK;
}

enum amp_status amp_walk_set(struct amp_session *session, uint32_t value,
                             const struct amp_tensor *tensor, struct amp_error *err)
{
    const struct amp_value *declared = amp_value_at(session->model, value);
    if (tensor->form == AMP_FORM_TENSOR && tensor->dtype != declared->dtype)
        return amp_fail(err, AMP_MODEL, "'%s' is %s; it gets %s", declared->name,
                        amp_dtype_name(declared->dtype), amp_dtype_name(tensor->dtype));
    amp_tensor_release(&session->values[value]);
    return amp_values_set(session, value, tensor, err);
}

enum amp_status amp_walk_end(struct amp_session *session, struct amp_tensor *outputs,
                             struct amp_error *err)
{
    enum amp_status status = outputs == NULL ? AMP_OK : amp_graph_collect(session, 0, outputs, err);
    for (uint32_t v = 0; v < session->model->n_values; v++)
        if (!amp_constant_is(session, v))
            amp_tensor_release(&session->values[v]);
    return status;
}
