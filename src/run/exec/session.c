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
    for (size_t i = 0; i < steps->n_steps; i++)
        AMP_TRY(amp_step_run(session, &steps->steps[i], err));
    return AMP_OK;
}

/* Gives the graph's outputs to OUTPUTS. */
static enum amp_status collect(struct amp_session *session, uint32_t graph,
                               struct amp_tensor *outputs, struct amp_error *err)
{
    const struct amp_ids *ids = &session->model->graphs[graph].outputs;
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_tensor *tensor = &session->values[ids->items[i]];
        if (amp_constant_is(session, ids->items[i]))
            AMP_TRY(amp_step_load(session, ids->items[i], err));
        AMP_TRY(amp_values_reorder(session, ids->items[i], err));
        if (tensor->data == NULL)
            return amp_fail(err, AMP_MODEL, "%s: graph output '%s' has no value",
                            session->model->path,
                            amp_value_at(session->model, ids->items[i])->name);
        amp_tensor_refer(&outputs[i], tensor);
    }
    return AMP_OK;
}

/* Drops what is left of a graph's values: inputs and outputs. */
static void drop_rest(struct amp_session *session, uint32_t graph)
{
    const struct amp_graph *g = &session->model->graphs[graph];
    const struct amp_ids *lists[] = {&g->inputs, &g->outputs};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->count; i++) {
            const struct amp_value *value = amp_value_at(session->model, lists[k]->items[i]);
            if (!amp_constant_is(session, lists[k]->items[i]) && value->graph == graph)
                amp_tensor_release(&session->values[lists[k]->items[i]]);
        }
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
        status = collect(session, call->graph, call->outputs, err);
    drop_rest(session, call->graph);
    return status;
}

static enum amp_status check_input(const struct amp_model *model, const struct amp_value *value,
                                   const struct amp_tensor *tensor, int64_t *symbols,
                                   struct amp_error *err)
{
    char found[200], declared[200];
    struct amp_shape shape;
    amp_value_shape(value, &shape);
    if (amp_kind_form(value->kind) != AMP_FORM_TENSOR)
        return AMP_OK;
    if (tensor->dtype != value->dtype)
        return amp_fail(err, AMP_MODEL, "input '%s': dtype %s; the model wants %s", value->name,
                        amp_dtype_name(tensor->dtype), amp_dtype_name(value->dtype));
    bool fits = value->rank < 0 || value->rank == tensor->shape.rank;
    for (int i = 0; i < value->rank && fits; i++) {
        int64_t dim = value->dims[i], given = tensor->shape.dims[i];
        int64_t *symbol = amp_dim_symbol(model, dim) ? &symbols[AMP_DIM_UNKNOWN - 1 - dim] : NULL;
        fits = dim < 0 || dim == given;
        if (symbol != NULL && *symbol >= 0 && *symbol != given)
            return amp_fail(err, AMP_MODEL,
                            "input '%s': dim %d is %lld, but '%s' is %lld elsewhere", value->name,
                            i, (long long)given, amp_dim_symbol(model, dim), (long long)*symbol);
        if (symbol != NULL)
            *symbol = given;
    }
    if (!fits)
        return amp_fail(err, AMP_MODEL, "input '%s': shape %s; the model wants %s", value->name,
                        amp_shape_text(&tensor->shape, found, sizeof found),
                        amp_shape_text(&shape, declared, sizeof declared));
    return AMP_OK;
}

/* The model's own value of an input that is not given. */
static enum amp_status place_default(struct amp_session *session, uint32_t value,
                                     struct amp_error *err)
{
    const struct amp_tensor *initial = amp_value_at(session->model, value)->initial;
    enum amp_status status = amp_constant_place(session, value, initial, err);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", session->model->path);
    return status;
}

static enum amp_status take_inputs(struct amp_session *session, const struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    const struct amp_model *model = session->model;
    const struct amp_ids *ids = &model->graphs[0].inputs;
    int64_t *symbols = session->symbols;
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < model->n_symbols; i++)
        symbols[i] = AMP_DIM_UNKNOWN;
    for (size_t i = 0; i < ids->count && status == AMP_OK; i++) {
        const struct amp_value *value = amp_value_at(model, ids->items[i]);
        if (value->constant != NULL)
            continue;
        bool is_given = inputs[i].data != NULL;
        const struct amp_tensor *tensor = is_given ? &inputs[i] : value->initial;
        if (tensor == NULL)
            status = amp_fail(err, AMP_MODEL, "input '%s' is not given", value->name);
        else
            status = check_input(model, value, tensor, symbols, err);
        if (status == AMP_OK && is_given)
            status = amp_values_set(session, ids->items[i], tensor, err);
        else if (status == AMP_OK)
            status = place_default(session, ids->items[i], err);
    }
    return status;
}

enum amp_status amp_session_run(struct amp_session *session, const struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err)
{
    int count = atomic_load(&n_threads);
    if (count > 0 && count != omp_get_max_threads()) /* OpenMP keeps that for each thread */
        omp_set_num_threads(count);
    enum amp_status status = take_inputs(session, inputs, err);
    if (status == AMP_OK)
        status = run_steps(session, 0, err);
    if (status == AMP_OK)
        status = collect(session, 0, outputs, err);
    drop_rest(session, 0);
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
