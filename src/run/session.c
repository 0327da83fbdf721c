/*
 * The executor: runs the steps of a plan in order, each set up on first sight of its shapes, and
 * drops a value's memory after its last use. Bodies of control flow run through the same code,
 * called back by their operators.
 */
#include "run/session.h"

#include "ops/dnnl.h"
#include "ops/profile.h"
#include "run/fit.h"
#include "run/plan.h"

#include <omp.h>
#include <stdlib.h>

struct amp_session {
    const struct amp_model *model;
    struct amp_arena *arena;
    struct amp_host host;
    struct amp_plan *plans;   /* per graph */
    struct amp_tensor *slots; /* per value: what it holds now */
};

static struct amp_session *session_of(struct amp_host *host)
{
    return (struct amp_session *)(void *)((unsigned char *)host -
                                          offsetof(struct amp_session, host));
}

static bool is_lower(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Puts data of the model into VALUE's slot: a copy unless they are there and aligned as kernels
   want them. */
static enum amp_status place(struct amp_session *session, uint32_t value,
                             const struct amp_tensor *data, struct amp_error *err)
{
    struct amp_tensor *slot = &session->slots[value];
    slot->dtype = data->dtype;
    slot->shape = data->shape;
    if (data->data != NULL && (uintptr_t)data->data % 64 == 0) {
        amp_tensor_share(slot, data);
        return AMP_OK;
    }
    enum amp_status status = amp_tensor_alloc(slot, err);
    if (status != AMP_OK) {
        amp_error_prefix(err, "%s: '%s'", session->model->path,
                         amp_value_at(session->model, value)->name);
        return status;
    }
    amp_tensor_copy(data, slot->data);
    return AMP_OK;
}

static enum amp_status load_constants(struct amp_session *session, struct amp_error *err)
{
    for (uint32_t v = 0; v < session->model->n_values; v++)
        if (amp_value_at(session->model, v)->constant != NULL)
            AMP_TRY(place(session, v, amp_value_at(session->model, v)->constant, err));
    return AMP_OK;
}

static enum amp_status run_graph(struct amp_host *host, uint32_t graph,
                                 struct amp_tensor *const *inputs, size_t n_inputs,
                                 struct amp_tensor *outputs, size_t n_outputs,
                                 struct amp_error *err);

enum amp_status amp_session_create(const struct amp_model *model, struct amp_session **session,
                                   struct amp_error *err)
{
    struct amp_session *made = amp_xmalloc(1, sizeof *made);
    *made = (struct amp_session){
        .model = model, .arena = amp_arena_create(), .host.run_graph = run_graph};
    made->slots = amp_arena_array(made->arena, model->n_values, sizeof *made->slots);
    enum amp_status status = amp_plans_create(model, made->arena, &made->plans, err);
    if (status == AMP_OK)
        status = amp_dnnl_create(&made->host.dnnl, err);
    if (status == AMP_OK)
        status = load_constants(made, err);
    if (status != AMP_OK) {
        amp_session_destroy(made);
        return status;
    }
    *session = made;
    return AMP_OK;
}

uint32_t amp_session_lacking(const struct amp_model *model)
{
    return amp_plan_lacking(model);
}

static void destroy_step(const struct amp_model *model, struct amp_step *step)
{
    if (step->state != NULL && step->op->destroy != NULL)
        step->op->destroy(step->state);
    if (step->wide != NULL)
        amp_tensors_release(step->wide, amp_node_at(model, step->node)->n_inputs);
    free(step->wide);
}

void amp_session_destroy(struct amp_session *session)
{
    if (session == NULL)
        return;
    for (size_t g = 0; g < session->model->n_graphs; g++)
        for (size_t i = 0; i < session->plans[g].n_steps; i++)
            destroy_step(session->model, &session->plans[g].steps[i]);
    amp_tensors_release(session->slots, session->model->n_values);
    amp_dnnl_destroy(session->host.dnnl);
    amp_arena_destroy(session->arena);
    free(session);
}

/* ---- one node -------------------------------------------------------------------------------- */

/* What a node is called with; the arrays have one entry per input and output. */
struct call {
    const struct amp_tensor **in;
    struct amp_tensor *temporary; /* widened inputs */
    bool *is_constant;
    struct amp_tensor *outs, **out;
};

static struct call create_call(struct amp_session *session, const struct amp_node *node)
{
    struct call call = {.in = amp_xcalloc(node->n_inputs, sizeof *call.in),
                        .temporary = amp_xcalloc(node->n_inputs, sizeof *call.temporary),
                        .is_constant = amp_xcalloc(node->n_inputs, sizeof *call.is_constant),
                        .outs = amp_xcalloc(node->n_outputs, sizeof *call.outs),
                        .out = amp_xcalloc(node->n_outputs, sizeof *call.out)};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE)
            continue;
        call.in[i] = &session->slots[node->inputs[i]];
        call.is_constant[i] = amp_value_at(session->model, node->inputs[i])->constant != NULL;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++)
        call.out[i] = &call.outs[i];
    return call;
}

static void destroy_call(struct call *call, const struct amp_node *node)
{
    amp_tensors_release(call->temporary, node->n_inputs);
    amp_tensors_release(call->outs, node->n_outputs);
    free(call->in);
    free(call->temporary);
    free(call->is_constant);
    free(call->outs);
    free(call->out);
}

/* Whether the kernel has to be given float32 in place of a lower dtype. */
static bool must_widen(const struct amp_session *session, const struct amp_step *step,
                       const struct amp_node *node, const struct call *call)
{
    if (step->op->effect == AMP_PRESERVES_VALUES)
        return false;
    uint32_t dtypes = 0;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (call->in[i] != NULL && is_lower(call->in[i]->dtype))
            dtypes |= AMP_DTYPE_BIT(call->in[i]->dtype);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            is_lower(amp_value_at(session->model, node->outputs[i])->dtype))
            dtypes |= AMP_DTYPE_BIT(amp_value_at(session->model, node->outputs[i])->dtype);
    return dtypes != 0 && (step->is_widened || (dtypes & ~step->op->native) != 0);
}

static enum amp_status convert(const struct amp_tensor *from, struct amp_tensor *to,
                               enum amp_dtype dtype, struct amp_error *err)
{
    *to = (struct amp_tensor){.dtype = dtype, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(to, err));
    amp_dtype_convert(from->dtype, from->data, dtype, to->data, amp_tensor_count(from));
    return AMP_OK;
}

static enum amp_status widen_inputs(struct amp_step *step, const struct amp_node *node,
                                    struct call *call, struct amp_error *err)
{
    step->was_widened = true;
    if (step->wide == NULL)
        step->wide = amp_xcalloc(node->n_inputs, sizeof *step->wide);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (call->in[i] == NULL || !is_lower(call->in[i]->dtype))
            continue;
        struct amp_tensor *wide = call->is_constant[i] ? &step->wide[i] : &call->temporary[i];
        if (wide->data == NULL)
            AMP_TRY(convert(call->in[i], wide, AMP_FLOAT, err));
        call->in[i] = wide;
    }
    return AMP_OK;
}

static void set_outputs(const struct amp_session *session, const struct amp_node *node,
                        struct call *call, bool is_wide)
{
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        enum amp_dtype dtype = AMP_UNDEFINED;
        if (node->outputs[i] != AMP_NONE)
            dtype = amp_value_at(session->model, node->outputs[i])->dtype;
        amp_tensor_release(&call->outs[i]);
        call->outs[i].dtype = is_wide && is_lower(dtype) ? AMP_FLOAT : dtype;
        call->outs[i].shape.rank = -1;
    }
}

static enum amp_status call_kernel(struct amp_session *session, struct amp_step *step,
                                   struct call *call, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    struct amp_ctx ctx = {.model = session->model,
                          .node = node,
                          .in = call->in,
                          .n_in = node->n_inputs,
                          .out = call->out,
                          .n_out = node->n_outputs,
                          .is_constant = call->is_constant,
                          .state = &step->state,
                          .host = &session->host,
                          .err = err};
    if (step->op->shape != NULL)
        AMP_TRY(step->op->shape(&ctx));
    for (uint32_t i = step->op->shares_input; i < node->n_outputs; i++)
        if (amp_has_out(&ctx, i) && amp_shape_is_known(&call->outs[i].shape))
            AMP_TRY(amp_ctx_alloc(&ctx, i));
    return step->op->run(&ctx);
}

static enum amp_status set_slot(struct amp_session *session, uint32_t value,
                                const struct amp_tensor *tensor, struct amp_error *err)
{
    amp_tensor_refer(&session->slots[value], tensor);
    return amp_fit(amp_value_at(session->model, value), &session->slots[value], err);
}

/* Moves the outputs to their slots, rounded where the kernel computed wide. */
static enum amp_status store_outputs(struct amp_session *session, const struct amp_node *node,
                                     struct call *call, struct amp_error *err)
{
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == AMP_NONE)
            continue;
        struct amp_tensor *slot = &session->slots[node->outputs[i]];
        enum amp_dtype dtype = amp_value_at(session->model, node->outputs[i])->dtype;
        amp_tensor_release(slot);
        if (call->outs[i].dtype != dtype && !amp_is_list(&call->outs[i])) {
            AMP_TRY(convert(&call->outs[i], slot, dtype, err));
            continue;
        }
        AMP_TRY(set_slot(session, node->outputs[i], &call->outs[i], err));
    }
    return AMP_OK;
}

static enum amp_status run_call(struct amp_session *session, struct amp_step *step,
                                struct call *call, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    bool is_wide = must_widen(session, step, node, call);
    if (is_wide)
        AMP_TRY(widen_inputs(step, node, call, err));
    set_outputs(session, node, call, is_wide);
    return call_kernel(session, step, call, err);
}

static void note_step(struct amp_session *session, const struct amp_node *node,
                      const struct call *call, struct amp_profile_mark mark)
{
    const struct amp_ctx ctx = {.model = session->model,
                                .node = node,
                                .in = call->in,
                                .n_in = node->n_inputs,
                                .out = call->out,
                                .n_out = node->n_outputs};
    amp_profile_end(session->host.profile, mark, &ctx);
}

static enum amp_status run_step(struct amp_session *session, struct amp_step *step,
                                struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    struct amp_profile_mark mark = amp_profile_begin(session->host.profile);
    struct call call = create_call(session, node);
    enum amp_status status = run_call(session, step, &call, err);
    if (status == AMP_UNSUPPORTED && !step->is_widened) {
        step->is_widened = true;
        if (must_widen(session, step, node, &call)) {
            *err = (struct amp_error){.status = AMP_OK};
            status = run_call(session, step, &call, err);
        }
    }
    if (status == AMP_OK)
        status = store_outputs(session, node, &call, err);
    if (status == AMP_OK)
        note_step(session, node, &call, mark);
    if (status != AMP_OK) {
        char text[512];
        /* The nodes of a body stand behind their owner, which stands behind the path. */
        bool is_inner = node->graph != 0;
        amp_error_prefix(err, "%s%s%s", is_inner ? "" : session->model->path, is_inner ? "" : ": ",
                         amp_node_text(session->model, step->node, text, sizeof text));
    }
    destroy_call(&call, node);
    for (size_t i = 0; i < step->drops.count; i++)
        amp_tensor_release(&session->slots[step->drops.items[i]]);
    return status;
}

static enum amp_status run_steps(struct amp_session *session, uint32_t graph, struct amp_error *err)
{
    struct amp_plan *plan = &session->plans[graph];
    for (size_t i = 0; i < plan->n_steps; i++)
        AMP_TRY(run_step(session, &plan->steps[i], err));
    return AMP_OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Gives the graph's outputs to OUTPUTS. */
static enum amp_status collect(struct amp_session *session, uint32_t graph,
                               struct amp_tensor *outputs, struct amp_error *err)
{
    const struct amp_ids *ids = &session->model->graphs[graph].outputs;
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_tensor *slot = &session->slots[ids->items[i]];
        if (slot->data == NULL)
            return amp_fail(err, AMP_MODEL, "%s: graph output '%s' has no value",
                            session->model->path,
                            amp_value_at(session->model, ids->items[i])->name);
        amp_tensor_refer(&outputs[i], slot);
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
            if (value->constant == NULL && value->graph == graph)
                amp_tensor_release(&session->slots[lists[k]->items[i]]);
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
        AMP_TRY(set_slot(session, body->inputs.items[i], inputs[i], err));
    return AMP_OK;
}

static enum amp_status run_graph(struct amp_host *host, uint32_t graph,
                                 struct amp_tensor *const *inputs, size_t n_inputs,
                                 struct amp_tensor *outputs, size_t n_outputs,
                                 struct amp_error *err)
{
    struct amp_session *session = session_of(host);
    const struct amp_graph *body = &session->model->graphs[graph];
    if (body->inputs.count != n_inputs || body->outputs.count != n_outputs)
        return amp_fail(err, AMP_MODEL,
                        "the body has %zu inputs and %zu outputs; %zu and %zu are needed",
                        body->inputs.count, body->outputs.count, n_inputs, n_outputs);
    AMP_TRY(set_body_inputs(session, body, inputs, err));
    enum amp_status status = run_steps(session, graph, err);
    if (status == AMP_OK)
        status = collect(session, graph, outputs, err);
    drop_rest(session, graph);
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

static enum amp_status take_inputs(struct amp_session *session, const struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    const struct amp_model *model = session->model;
    const struct amp_ids *ids = &model->graphs[0].inputs;
    int64_t *symbols = amp_xmalloc(model->n_symbols, sizeof *symbols);
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
            status = set_slot(session, ids->items[i], tensor, err);
        else if (status == AMP_OK)
            status = place(session, ids->items[i], tensor, err);
    }
    free(symbols);
    return status;
}

enum amp_status amp_session_run(struct amp_session *session, const struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err)
{
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
        for (size_t i = 0; i < session->plans[g].n_steps; i++)
            count += session->plans[g].steps[i].was_widened;
    return count;
}

void amp_session_set_threads(int count)
{
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

const char *amp_session_isa(void)
{
    return amp_dnnl_isa();
}

bool amp_session_is_native(enum amp_dtype dtype)
{
    return amp_dnnl_is_native(dtype);
}
