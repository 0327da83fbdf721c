/*
 * If and Loop. They choose a body, feed it and collect its outputs; the host (struct amp_host) runs
 * it and finds what it captures.
 */
#include "ops/control/subgraph.h"

#include <stdlib.h>

static enum amp_status read_bool(const struct amp_ctx *ctx, const struct amp_tensor *tensor,
                                 bool *value)
{
    if (tensor->dtype != AMP_BOOL || amp_shape_count(&tensor->shape) != 1)
        return AMP_CTX_FAIL(ctx, "a condition must be one bool");
    *value = amp_tensor_int(tensor, 0) != 0;
    return AMP_OK;
}

/* ---- If ---- */

static enum amp_status if_run(struct amp_ctx *ctx)
{
    bool condition = false;
    AMP_TRY(read_bool(ctx, ctx->in[0], &condition));
    uint32_t graph = amp_subgraph_id(ctx, condition ? "then_branch" : "else_branch");
    size_t count = ctx->model->graphs[graph].outputs.count;
    if (count < ctx->n_out)
        return AMP_CTX_FAIL(ctx, "the branch has %zu outputs; %u are needed", count, ctx->n_out);
    struct amp_tensor *outputs = amp_xcalloc(count, sizeof *outputs);
    enum amp_status status =
        amp_ctx_run_body(ctx, &(struct amp_body_call){graph, NULL, 0, outputs, count});
    for (uint32_t i = 0; i < ctx->n_out && status == AMP_OK; i++)
        status = amp_subgraph_give(ctx, i, &outputs[i]);
    amp_tensors_release(outputs, count);
    free(outputs);
    return status;
}

/* ---- Loop ---- */

enum { LOOP_ITERATION, LOOP_CONDITION, LOOP_EXTRA_IN };

/* Makes input I of the body a new tensor of one element of DTYPE, of rank 1 where the body says so.
   Each iteration has its own, for the body may pass it on. */
static enum amp_status new_scalar(struct amp_subgraph *body, size_t i, enum amp_dtype dtype)
{
    const struct amp_value *value = amp_value_at(body->ctx->model, body->graph->inputs.items[i]);
    struct amp_tensor *tensor = &body->in[i];
    amp_tensor_release(tensor);
    tensor->dtype = dtype;
    tensor->shape = (struct amp_shape){.rank = value->rank == 1 ? 1 : 0, .dims = {1}};
    return amp_tensor_alloc(tensor, body->ctx->err);
}

static enum amp_status loop_iterate(struct amp_subgraph *body, int64_t iteration, bool *condition)
{
    AMP_TRY(new_scalar(body, LOOP_ITERATION, AMP_INT64));
    AMP_TRY(new_scalar(body, LOOP_CONDITION, AMP_BOOL));
    *(int64_t *)body->in[LOOP_ITERATION].data = iteration;
    *(uint8_t *)body->in[LOOP_CONDITION].data = *condition;
    AMP_TRY(amp_subgraph_run(body, (size_t)iteration));
    AMP_TRY(read_bool(body->ctx, &body->out[0], condition));
    amp_tensor_release(&body->out[0]);
    return AMP_OK;
}

/* The trip count and the first condition, which stays as it is where none is given. */
static enum amp_status loop_limits(const struct amp_ctx *ctx, int64_t *trips, bool *condition)
{
    int count;
    AMP_TRY(amp_ctx_ints(ctx, 0, trips, 1, &count));
    if (amp_has_in(ctx, 0) && count != 1)
        return AMP_CTX_FAIL(ctx, "input 0 (M) is empty; one trip count is needed");
    if (count == 0)
        *trips = INT64_MAX;
    return amp_has_in(ctx, 1) ? read_bool(ctx, ctx->in[1], condition) : AMP_OK;
}

static enum amp_status loop_body(struct amp_subgraph *body)
{
    struct amp_ctx *ctx = body->ctx;
    int64_t trips = 0, done = 0;
    bool condition = true;
    AMP_TRY(amp_subgraph_create(body));
    AMP_TRY(loop_limits(ctx, &trips, &condition));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(amp_subgraph_set_state(body, i, ctx->in[LOOP_EXTRA_IN + i]));
    while (done < trips && (condition || !amp_has_in(ctx, 1)))
        AMP_TRY(loop_iterate(body, done++, &condition));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(amp_subgraph_give(ctx, i, amp_subgraph_state(body, i)));
    struct amp_stacking stacking = {.n_dims = 1, .dims = {done}};
    for (size_t i = body->n_state; i < body->n_state + body->n_gathered; i++)
        AMP_TRY(amp_subgraph_stack(body, i, &stacking));
    return AMP_OK;
}

static enum amp_status loop_run(struct amp_ctx *ctx)
{
    struct amp_subgraph body = {
        .ctx = ctx, .id = amp_subgraph_id(ctx, "body"), .extra_in = LOOP_EXTRA_IN, .extra_out = 1};
    body.n_state = ctx->n_in > LOOP_EXTRA_IN ? ctx->n_in - LOOP_EXTRA_IN : 0;
    body.n_in = body.extra_in + body.n_state;
    enum amp_status status = loop_body(&body);
    amp_subgraph_destroy(&body);
    return status;
}

const struct amp_op amp_op_if = {.name = "If",
                                 .newest = 25,
                                 .effect = AMP_OPAQUE,
                                 .native = AMP_NATIVE_ALL,
                                 .pairing = &(const struct amp_pairing){.first_input = 1},
                                 .run = if_run};

const struct amp_op amp_op_loop = {
    .name = "Loop",
    .meanings = AMP_MEANINGS({AMP_MEANS_COUNT, 0, NULL}, {AMP_MEANS_CONDITION, 1, NULL}),
    .newest = 25,
    .effect = AMP_OPAQUE,
    .native = AMP_NATIVE_ALL,
    .pairing = &(const struct amp_pairing){.first_input = 2, .body_input = 2, .body_output = 1},
    .run = loop_run};
