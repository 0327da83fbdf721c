/*
 * The executor: runs the steps of a plan in order, and the bodies of control flow, for which their
 * operators call back. Takes the inputs of a graph, gives its outputs; what a step reads, and how
 * it runs, is step.c's matter. It checks inputs against the types and shapes that the model
 * declares.
 */
#include "run/exec/session.h"

#include "core/buffer.h"
#include "ops/dnnl/engine.h"
#include "ops/own/kernels.h"
#include "run/exec/constants.h"
#include "run/exec/graph_values.h"
#include "run/exec/step.h"
#include "run/exec/values.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Of all sessions; 0: OpenMP's default. */
static atomic_int n_threads;

/* ---- set-up ---------------------------------------------------------------------------------- */

static enum amp_status run_body(struct amp_session *session, const struct amp_body_call *call,
                                struct amp_error *err);

enum amp_status amp_session_create(const struct amp_plan *plan, struct amp_session **session,
                                   struct amp_error *err)
{
    struct amp_session *made = amp_xmalloc(1, sizeof *made);
    const struct amp_model *model = plan->model;
    *made = (struct amp_session){.plan = plan, .model = model, .arena = amp_arena_create()};
    made->host = (struct amp_host){
        .run_body = run_body, .session = made, .blocks_channels = plan->blocks_channels};
    amp_buffers_keep();
    made->symbols = amp_arena_array(made->arena, model->n_symbols, sizeof *made->symbols);
    made->values = amp_arena_array(made->arena, model->n_values, sizeof *made->values);
    amp_states_create(made);
    amp_constants_create(made);
    enum amp_status status = amp_dnnl_create(amp_own_kernels, &made->host.dnnl, err);
    if (status == AMP_OK)
        *session = made;
    else
        amp_session_destroy(made);
    return status;
}

enum amp_status amp_session_open(const struct amp_model *model, enum amp_strictness strictness,
                                 struct amp_session **session, struct amp_error *err)
{
    const struct amp_plan *plan;
    AMP_TRY(amp_plan_create(model, strictness, &plan, err));
    enum amp_status status = amp_session_create(plan, session, err);
    if (status == AMP_OK)
        (*session)->own_plan = plan;
    else
        amp_plan_destroy(plan);
    return status;
}

void amp_session_destroy(struct amp_session *session)
{
    if (session == NULL)
        return;
    amp_states_destroy(session);
    amp_tensors_release(session->values, session->model->n_values);
    amp_dnnl_destroy(session->host.dnnl);
    amp_arena_destroy(session->arena);
    amp_plan_destroy(session->own_plan);
    free(session);
    amp_buffers_let_go();
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static enum amp_status run_steps(struct amp_session *session, uint32_t graph, struct amp_error *err)
{
    const struct amp_plan_graph *steps = &session->plan->graphs[graph];
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < steps->n_steps && status == AMP_OK; i++) {
        status = amp_step_compute(session, &steps->steps[i], err);
        amp_step_release(session, &steps->steps[i]);
    }
    return status;
}

static enum amp_status set_body_inputs(struct amp_session *session, const struct amp_graph *body,
                                       struct amp_tensor *const *inputs, struct amp_error *err)
{
    for (size_t i = 0; i < body->inputs.count; i++) {
        const struct amp_value *value = amp_value_at(session->model, body->inputs.items[i]);
        if (inputs[i]->form == AMP_FORM_TENSOR && inputs[i]->dtype != value->dtype)
            return amp_fail(err, AMP_MODEL, "input '%s' of the body is %s; it gets %s", value->name,
                            amp_dtype_name(value->dtype), amp_dtype_name(inputs[i]->dtype));
    }
    for (size_t i = 0; i < body->inputs.count; i++)
        AMP_TRY(amp_values_set(session, body->inputs.items[i], inputs[i], err));
    return AMP_OK;
}

static enum amp_status run_body(struct amp_session *session, const struct amp_body_call *call,
                                struct amp_error *err)
{
    const struct amp_graph *body = &session->model->graphs[call->graph];
    if (body->inputs.count != call->n_inputs || body->outputs.count != call->n_outputs)
        return amp_fail(err, AMP_MODEL,
                        "the body has %zu inputs and %zu outputs; %zu and %zu are needed",
                        body->inputs.count, body->outputs.count, call->n_inputs, call->n_outputs);
    AMP_TRY(set_body_inputs(session, body, call->inputs, err));
    enum amp_status status = run_steps(session, call->graph, err);
    if (status == AMP_OK)
        status = amp_graph_collect(session, call->graph, call->outputs, err);
    amp_graph_drop(session, call->graph);
    return status;
}

void amp_session_use_threads(void)
{
    int count = atomic_load(&n_threads);
    if (count > 0 && count != omp_get_max_threads()) /* OpenMP keeps that for each thread */
        omp_set_num_threads(count);
}

enum amp_status amp_session_run(struct amp_session *session, const struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err)
{
    amp_session_use_threads();
    amp_session_begin(session);
    enum amp_status status = amp_graph_feed(session, inputs, err);
    if (status == AMP_OK)
        status = run_steps(session, 0, err);
    if (status == AMP_OK)
        status = amp_graph_collect(session, 0, outputs, err);
    amp_graph_drop(session, 0);
    amp_session_end(session);
    return status;
}

void amp_session_observe(struct amp_session *session, struct amp_profile *profile)
{
    session->host.profile = profile;
}

size_t amp_session_widened(const struct amp_session *session)
{
    size_t count = 0;
    for (size_t g = 0; g < session->model->n_graphs; g++)
        for (size_t i = 0; i < session->plan->graphs[g].n_steps; i++) {
            const struct amp_step *step = &session->plan->graphs[g].steps[i];
            count += amp_state_of(session, step)->was_widened;
            for (size_t k = 0; k < step->n_scores; k++)
                count += amp_state_of(session, &step->scores[k])->was_widened;
        }
    return count;
}

size_t amp_session_squeezed(const struct amp_session *session)
{
    return session->plan->n_squeezed;
}

size_t amp_session_integers(const struct amp_session *session)
{
    return session->plan->n_integer;
}

void amp_session_set_threads(int count)
{
    atomic_store(&n_threads, count);
    omp_set_num_threads(count);
}

int amp_session_threads(void)
{
    return omp_get_max_threads();
}

const char *amp_session_library(char *text, size_t size)
{
    return amp_dnnl_version(text, size);
}
