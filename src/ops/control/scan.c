/*
 * Scan, all versions up to ONNX 25. Runs its body once for each step along an axis of its inputs;
 * version 8 does so for each sequence of a batch.
 */
#include "ops/kernel/data_movement.h"
#include "ops/control/subgraph.h"

#include <string.h>

/*
 * From version 9 on, the iterated inputs are scanned along any axis. Version 8 has a batch
 * dimension before all: states are [batch, ...], iterated inputs [batch, steps, ...], and the first
 * input is the length of each sequence of the batch.
 */
struct scan {
    struct amp_subgraph body;
    bool is_batched;  /* version 8 */
    uint32_t first;   /* the node's input that is the first state variable */
    size_t n_scanned; /* inputs iterated over */
    int64_t batch, steps;
};

/* Element I of list NAME, 0 when there is none. */
static int64_t list_at(const struct amp_node *node, const char *name, size_t i)
{
    size_t count;
    const int64_t *list = amp_node_ints(node, name, &count);
    return i < count ? list[i] : 0;
}

/* A position in N_DIMS dims, taken as one, from dim FIRST on. */
struct position {
    int first, n_dims;
    int64_t at;
};

/* Makes *OUT the part of FROM at POSITION. */
static enum amp_status slice(const struct amp_ctx *ctx, const struct amp_tensor *from,
                             struct position position, struct amp_tensor *out)
{
    int first = position.first, n_dims = position.n_dims;
    const struct amp_shape *shape = &from->shape;
    amp_tensor_release(out);
    out->dtype = from->dtype;
    out->shape = *shape;
    out->shape.rank -= n_dims;
    memmove(out->shape.dims + first, out->shape.dims + first + n_dims,
            (size_t)(shape->rank - first - n_dims) * sizeof *shape->dims);
    AMP_TRY(amp_tensor_alloc(out, ctx->err));
    size_t outer = (size_t)amp_shape_product(shape, 0, first);
    size_t slots = (size_t)amp_shape_product(shape, first, first + n_dims);
    size_t inner = (size_t)amp_shape_product(shape, first + n_dims, shape->rank);
    if (amp_is_packed(from->dtype))
        memset(out->data, 0, amp_tensor_size(out));
    for (size_t o = 0; o < outer; o++)
        amp_elements_copy(
            from->dtype,
            (struct amp_element){from->data, (o * slots + (size_t)position.at) * inner},
            (struct amp_element){out->data, o * inner}, inner);
    return out->dtype == AMP_STRING ? amp_strings_own(out, ctx->err) : AMP_OK;
}

/* The iterated input I: its tensor and the axis that it is scanned along. */
static enum amp_status scanned_at(const struct scan *scan, size_t i,
                                  const struct amp_tensor **tensor, int *axis)
{
    const struct amp_ctx *ctx = scan->body.ctx;
    *tensor = ctx->in[scan->first + scan->body.n_state + i];
    if (*tensor == NULL)
        return AMP_CTX_FAIL(ctx, "scan input %zu is missing", i);
    int64_t wanted = scan->is_batched ? 1 : list_at(ctx->node, "scan_input_axes", i);
    return amp_ctx_axis(ctx, wanted, (*tensor)->shape.rank, axis);
}

/* Finds the number of steps and of sequences, in which all iterated inputs must agree. */
static enum amp_status scan_sizes(struct scan *scan)
{
    const struct amp_ctx *ctx = scan->body.ctx;
    const struct amp_tensor *tensor = NULL;
    int axis = 0;
    for (size_t i = 0; i < scan->n_scanned; i++) {
        AMP_TRY(scanned_at(scan, i, &tensor, &axis));
        int64_t steps = tensor->shape.dims[axis], batch = tensor->shape.dims[0];
        if (i > 0 && (steps != scan->steps || (scan->is_batched && batch != scan->batch)))
            return AMP_CTX_FAIL(ctx, "scan input %zu has another length than the first", i);
        scan->steps = steps;
        scan->batch = batch;
    }
    return AMP_OK;
}

/* Sets the inputs of the body for step T of sequence B. */
static enum amp_status scan_feed(struct scan *scan, int64_t b, int64_t t, int64_t steps)
{
    const struct amp_ctx *ctx = scan->body.ctx;
    const char *directions = scan->is_batched ? "directions" : "scan_input_directions";
    const struct amp_tensor *tensor = NULL;
    int axis = 0;
    for (size_t i = 0; i < scan->n_scanned; i++) {
        struct amp_tensor *to = &scan->body.in[scan->body.n_state + i];
        int64_t at = list_at(ctx->node, directions, i) != 0 ? steps - 1 - t : t;
        AMP_TRY(scanned_at(scan, i, &tensor, &axis));
        if (scan->is_batched)
            AMP_TRY(slice(ctx, tensor, (struct position){0, 2, b * scan->steps + at}, to));
        else
            AMP_TRY(slice(ctx, tensor, (struct position){axis, 1, at}, to));
    }
    return AMP_OK;
}

/* The steps of sequence B, whose first state is set. */
static enum amp_status scan_sequence(struct scan *scan, int64_t b, int64_t steps)
{
    for (int64_t t = 0; t < steps; t++) {
        AMP_TRY(scan_feed(scan, b, t, steps));
        AMP_TRY(amp_subgraph_run(&scan->body, (size_t)(b * scan->steps + t)));
    }
    return AMP_OK;
}

/* Version 9 and later. */
static enum amp_status scan_plain(struct scan *scan)
{
    struct amp_subgraph *body = &scan->body;
    struct amp_ctx *ctx = body->ctx;
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(amp_subgraph_set_state(body, i, ctx->in[i]));
    AMP_TRY(scan_sequence(scan, 0, scan->steps));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(amp_subgraph_give(ctx, i, amp_subgraph_state(body, i)));
    for (size_t i = 0; i < body->n_gathered; i++) {
        size_t out = body->n_state + i;
        struct amp_stacking stacking = {.n_dims = 1,
                                        .dims = {scan->steps},
                                        .axis = list_at(ctx->node, "scan_output_axes", i),
                                        .is_reverse =
                                            list_at(ctx->node, "scan_output_directions", i) != 0};
        AMP_TRY(amp_subgraph_stack(body, out, &stacking));
    }
    return AMP_OK;
}

/* The steps of sequence B of version 8. */
static enum amp_status sequence_steps(const struct scan *scan, int64_t b, int64_t *steps)
{
    const struct amp_ctx *ctx = scan->body.ctx;
    *steps = scan->steps;
    if (!amp_has_in(ctx, 0))
        return AMP_OK;
    if (b >= amp_shape_count(&ctx->in[0]->shape))
        return AMP_CTX_FAIL(ctx, "there are fewer sequence lengths than sequences");
    *steps = amp_tensor_int(ctx->in[0], (size_t)b);
    if (*steps < 0 || *steps > scan->steps)
        return AMP_CTX_FAIL(ctx, "sequence %lld has length %lld; there are %lld steps",
                            (long long)b, (long long)*steps, (long long)scan->steps);
    return AMP_OK;
}

static enum amp_status scan_one_of_batch(struct scan *scan, int64_t b)
{
    struct amp_subgraph *body = &scan->body;
    const struct amp_ctx *ctx = body->ctx;
    int64_t steps = 0;
    AMP_TRY(sequence_steps(scan, b, &steps));
    for (size_t i = 0; i < body->n_state; i++) {
        const struct amp_tensor *state = ctx->in[scan->first + i];
        if (state == NULL || state->shape.rank < 1 || state->shape.dims[0] != scan->batch)
            return AMP_CTX_FAIL(ctx, "state variable %zu has no batch of %lld", i,
                                (long long)scan->batch);
        AMP_TRY(slice(ctx, state, (struct position){0, 1, b}, amp_subgraph_state(body, i)));
    }
    AMP_TRY(scan_sequence(scan, b, steps));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(amp_subgraph_put(body, i, (size_t)b, amp_subgraph_state(body, i)));
    return AMP_OK;
}

/* Version 8. */
static enum amp_status scan_batch(struct scan *scan)
{
    struct amp_subgraph *body = &scan->body;
    for (int64_t b = 0; b < scan->batch; b++)
        AMP_TRY(scan_one_of_batch(scan, b));
    for (size_t i = 0; i < body->n_out; i++) {
        struct amp_stacking stacking = {.n_dims = i < body->n_state ? 1 : 2,
                                        .dims = {scan->batch, scan->steps}};
        AMP_TRY(amp_subgraph_stack(body, i, &stacking));
    }
    return AMP_OK;
}

static enum amp_status scan_run(struct amp_ctx *ctx)
{
    int64_t n_scanned = amp_node_int(ctx->node, "num_scan_inputs", 0);
    bool is_batched = ctx->node->since_version < 9;
    struct scan scan = {.body = {.ctx = ctx, .id = amp_subgraph_id(ctx, "body")},
                        .is_batched = is_batched,
                        .first = is_batched};
    if (n_scanned < 1 || n_scanned > (int64_t)ctx->n_in - scan.first)
        return AMP_CTX_FAIL(ctx, "num_scan_inputs is %lld; the node has %u inputs",
                            (long long)n_scanned, ctx->n_in);
    scan.n_scanned = (size_t)n_scanned;
    scan.body.n_in = ctx->n_in - scan.first;
    scan.body.n_state = scan.body.n_in - scan.n_scanned;
    enum amp_status status = amp_subgraph_create(&scan.body);
    if (status == AMP_OK)
        status = scan_sizes(&scan);
    if (status == AMP_OK)
        status = is_batched ? scan_batch(&scan) : scan_plain(&scan);
    amp_subgraph_destroy(&scan.body);
    return status;
}

const struct amp_op amp_op_scan = {.name = "Scan",
                                   .newest = 25,
                                   .effect = AMP_OPAQUE,
                                   .native = AMP_NATIVE_ALL,
                                   .pairing = &(const struct amp_pairing){.later_in = 8},
                                   .run = scan_run};
