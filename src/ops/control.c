/*
 * If, Loop and Scan: they choose, feed and collect; the host runs the bodies and finds what these
 * capture. Values that a loop gathers are kept as the body gave them and put together at the end,
 * when their number and shape are known.
 */
#include "core/memory.h"
#include "ops/kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the three share ---- */

static enum amp_status find_body(const struct amp_ctx *ctx, const char *name, uint32_t *graph)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, name);
    if (attr == NULL || attr->type != AMP_ATTR_GRAPH || attr->count != 1)
        return AMP_CTX_FAIL(ctx, "attribute '%s' is missing", name);
    *graph = attr->graphs[0];
    return AMP_OK;
}

/* Makes output I of the node refer to TENSOR. */
static enum amp_status give(const struct amp_ctx *ctx, uint32_t i, const struct amp_tensor *tensor)
{
    if (!amp_has_out(ctx, i))
        return AMP_OK;
    struct amp_tensor *out = ctx->out[i];
    if (tensor->dtype != out->dtype)
        return AMP_CTX_FAIL(ctx, "output %u: the body gives %s; %s is declared", i,
                            amp_dtype_name(tensor->dtype), amp_dtype_name(out->dtype));
    out->shape = tensor->shape;
    amp_tensor_share(out, tensor);
    return AMP_OK;
}

/* Moves *FROM to *TO, releasing what was there. */
static void move(struct amp_tensor *from, struct amp_tensor *to)
{
    amp_tensor_release(to);
    *to = *from;
    *from = (struct amp_tensor){.dtype = AMP_UNDEFINED};
}

/* TENSORS may be NULL, whatever COUNT says. */
static void free_all(struct amp_tensor *tensors, size_t count)
{
    if (tensors != NULL)
        amp_tensors_release(tensors, count);
    free(tensors);
}

static enum amp_status read_bool(const struct amp_ctx *ctx, const struct amp_tensor *tensor,
                                 bool *value)
{
    if (tensor->dtype != AMP_BOOL || amp_shape_count(&tensor->shape) != 1)
        return AMP_CTX_FAIL(ctx, "a condition must be one bool");
    *value = amp_tensor_int(tensor, 0) != 0;
    return AMP_OK;
}

/* ---- gathered values ---- */

/* What the body gave for one output, by slot; dtype AMP_UNDEFINED where it gave nothing. */
struct pile {
    struct amp_tensor *items;
    size_t count, capacity;
};

/* Makes room for SLOT. */
static enum amp_status pile_grow(const struct amp_ctx *ctx, struct pile *pile, size_t slot)
{
    size_t capacity = slot < 8 ? 16 : 2 * slot;
    size_t size = (capacity - pile->capacity) * sizeof *pile->items;
    if (!amp_memory_claim(size))
        return amp_memory_fail(ctx->err, "the list of what the iterations gave", size);
    pile->items = amp_xrealloc(pile->items, capacity, sizeof *pile->items);
    pile->capacity = capacity;
    return AMP_OK;
}

/* Moves *ITEM to SLOT. */
static enum amp_status pile_put(const struct amp_ctx *ctx, struct pile *pile, size_t slot,
                                struct amp_tensor *item)
{
    if (slot >= pile->capacity)
        AMP_TRY(pile_grow(ctx, pile, slot));
    for (; pile->count <= slot; pile->count++)
        pile->items[pile->count] = (struct amp_tensor){.dtype = AMP_UNDEFINED};
    move(item, &pile->items[slot]);
    return AMP_OK;
}

static void pile_destroy(struct pile *pile)
{
    amp_memory_return(pile->capacity * sizeof *pile->items);
    free_all(pile->items, pile->count);
}

/* Where the slots of a pile go: dims put into the items' shape before dimension AXIS. */
struct stacking {
    int n_dims;
    int64_t dims[2];
    int64_t axis; /* of the result, may be negative */
    bool is_reverse;
};

/* The shape of the items; with none at all, what the graph says of VALUE, unknown dims being 0. */
static enum amp_status item_shape(const struct amp_ctx *ctx, const struct pile *pile,
                                  const struct amp_value *value, struct amp_shape *shape)
{
    const struct amp_tensor *first = NULL;
    for (size_t i = 0; i < pile->count; i++) {
        const struct amp_tensor *item = &pile->items[i];
        if (item->dtype == AMP_UNDEFINED)
            continue;
        first = first ? first : item;
        if (!amp_shape_equal(&item->shape, &first->shape))
            return AMP_CTX_FAIL(ctx, "'%s' changes its shape from one iteration to another",
                                value->name);
    }
    if (first != NULL) {
        *shape = first->shape;
        return AMP_OK;
    }
    amp_value_shape(value, shape);
    shape->rank = shape->rank < 0 ? 0 : shape->rank;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = shape->dims[i] < 0 ? 0 : shape->dims[i];
    return AMP_OK;
}

/* Inserts the dims of STACKING into SHAPE and finds the axis. */
static enum amp_status stacked_shape(const struct amp_ctx *ctx, const struct stacking *stacking,
                                     struct amp_shape *shape, int *axis)
{
    if (shape->rank + stacking->n_dims > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "a gathered output would have rank %d; at most %d is supported",
                            shape->rank + stacking->n_dims, AMP_RANK_MAX);
    AMP_TRY(amp_ctx_axis(ctx, stacking->axis, shape->rank + 1, axis));
    memmove(shape->dims + *axis + stacking->n_dims, shape->dims + *axis,
            (size_t)(shape->rank - *axis) * sizeof *shape->dims);
    memcpy(shape->dims + *axis, stacking->dims, (size_t)stacking->n_dims * sizeof *shape->dims);
    shape->rank += stacking->n_dims;
    return AMP_OK;
}

/* Copies the items of PILE to their slots in OUT, along AXIS. */
static void copy_items(const struct pile *pile, const struct stacking *stacking, int axis,
                       struct amp_tensor *out)
{
    size_t slots = 1, size = amp_dtype_bits(out->dtype) / 8;
    for (int i = 0; i < stacking->n_dims; i++)
        slots *= (size_t)stacking->dims[i];
    size_t outer = (size_t)amp_shape_product(&out->shape, 0, axis);
    size_t inner =
        size * (size_t)amp_shape_product(&out->shape, axis + stacking->n_dims, out->shape.rank);
    for (size_t i = 0; i < pile->count && i < slots; i++) {
        size_t slot = stacking->is_reverse ? slots - 1 - i : i;
        for (size_t o = 0; o < outer && pile->items[i].dtype != AMP_UNDEFINED && inner > 0; o++)
            memcpy((char *)out->data + (o * slots + slot) * inner,
                   (const char *)pile->items[i].data + o * inner, inner);
    }
}

/* Output I of the node from PILE; VALUE is the body's output. */
static enum amp_status stack(struct amp_ctx *ctx, uint32_t i, const struct pile *pile,
                             const struct stacking *stacking, const struct amp_value *value)
{
    if (!amp_has_out(ctx, i))
        return AMP_OK;
    struct amp_tensor *out = ctx->out[i];
    int axis = 0;
    if (amp_dtype_bits(out->dtype) < 8)
        return amp_no_kernel(ctx, out->dtype);
    for (size_t k = 0; k < pile->count; k++)
        if (pile->items[k].dtype != AMP_UNDEFINED && pile->items[k].dtype != out->dtype)
            return AMP_CTX_FAIL(ctx, "output %u: the body gives %s; %s is declared", i,
                                amp_dtype_name(pile->items[k].dtype), amp_dtype_name(out->dtype));
    AMP_TRY(item_shape(ctx, pile, value, &out->shape));
    AMP_TRY(stacked_shape(ctx, stacking, &out->shape, &axis));
    AMP_TRY(amp_ctx_alloc(ctx, i));
    memset(out->data, 0, amp_tensor_size(out));
    copy_items(pile, stacking, axis, out);
    return out->dtype == AMP_STRING ? amp_strings_own(out, ctx->err) : AMP_OK;
}

/* ---- bodies that are run again and again ---- */

/* Inputs are: `extra_in` others, the state, what Scan iterates over; outputs: `extra_out` others,
   the state, what is gathered. Each iteration's state is the next one's input. */
struct body {
    struct amp_ctx *ctx;
    const struct amp_graph *graph;
    uint32_t id;
    size_t n_in, n_out, extra_in, extra_out, n_state, n_gathered;
    struct amp_tensor *in, *out;
    struct amp_tensor **in_pointers; /* to each of in */
    struct pile *piles;              /* n_state, then n_gathered */
};

/* All but the arrays is set. */
static enum amp_status body_create(struct body *body)
{
    const struct amp_ctx *ctx = body->ctx;
    body->graph = &ctx->model->graphs[body->id];
    body->in = amp_xcalloc(body->n_in, sizeof *body->in);
    body->in_pointers = amp_xcalloc(body->n_in, sizeof(struct amp_tensor *));
    for (size_t i = 0; i < body->n_in; i++)
        body->in_pointers[i] = &body->in[i];
    if (body->graph->inputs.count != body->n_in)
        return AMP_CTX_FAIL(ctx, "the body has %zu inputs; %zu are needed",
                            body->graph->inputs.count, body->n_in);
    body->n_out = body->graph->outputs.count;
    if (body->n_out < body->extra_out + body->n_state || body->n_out - body->extra_out < ctx->n_out)
        return AMP_CTX_FAIL(ctx,
                            "the body has %zu outputs, too few for %zu state variables and "
                            "the %u outputs of the node",
                            body->n_out, body->n_state, ctx->n_out);
    body->n_gathered = body->n_out - body->extra_out - body->n_state;
    body->out = amp_xcalloc(body->n_out, sizeof *body->out);
    body->piles = amp_xcalloc(body->n_state + body->n_gathered, sizeof *body->piles);
    return AMP_OK;
}

static void body_destroy(struct body *body)
{
    free_all(body->in, body->n_in);
    free_all(body->out, body->n_out);
    free(body->in_pointers);
    for (size_t i = 0; i < body->n_state + body->n_gathered && body->piles != NULL; i++)
        pile_destroy(&body->piles[i]);
    free(body->piles);
}

static const struct amp_value *body_output(const struct body *body, size_t i)
{
    return amp_value_at(body->ctx->model, body->graph->outputs.items[i]);
}

/* State variable I. */
static struct amp_tensor *state_at(struct body *body, size_t i)
{
    return &body->in[body->extra_in + i];
}

/* Makes the tensor FROM state variable I. */
static enum amp_status set_state(struct body *body, size_t i, const struct amp_tensor *from)
{
    if (from == NULL)
        return AMP_CTX_FAIL(body->ctx, "the initial value of state variable %zu is missing", i);
    struct amp_tensor *state = state_at(body, i);
    state->dtype = from->dtype;
    state->shape = from->shape;
    amp_tensor_share(state, from);
    return AMP_OK;
}

/* One iteration: state to state, the rest, where wanted, to SLOT of the piles. */
static enum amp_status body_run(struct body *body, size_t slot)
{
    struct amp_host *host = body->ctx->host;
    AMP_TRY(host->run_graph(host, body->id, body->in_pointers, body->n_in, body->out, body->n_out,
                            body->ctx->err));
    for (size_t i = 0; i < body->n_state; i++) {
        struct amp_tensor *from = &body->out[body->extra_out + i];
        if (from->dtype != state_at(body, i)->dtype)
            return AMP_CTX_FAIL(body->ctx, "state variable %zu changes from %s to %s", i,
                                amp_dtype_name(state_at(body, i)->dtype),
                                amp_dtype_name(from->dtype));
        move(from, state_at(body, i));
    }
    for (size_t i = 0; i < body->n_gathered; i++) {
        struct amp_tensor *from = &body->out[body->extra_out + body->n_state + i];
        if (amp_has_out(body->ctx, (uint32_t)(body->n_state + i)))
            AMP_TRY(pile_put(body->ctx, &body->piles[body->n_state + i], slot, from));
        else
            amp_tensor_release(from);
    }
    return AMP_OK;
}

/* ---- If ---- */

static enum amp_status if_run(struct amp_ctx *ctx)
{
    bool condition = false;
    uint32_t graph = AMP_NONE;
    AMP_TRY(read_bool(ctx, ctx->in[0], &condition));
    AMP_TRY(find_body(ctx, condition ? "then_branch" : "else_branch", &graph));
    size_t count = ctx->model->graphs[graph].outputs.count;
    if (count < ctx->n_out)
        return AMP_CTX_FAIL(ctx, "the branch has %zu outputs; %u are needed", count, ctx->n_out);
    struct amp_tensor *outputs = amp_xcalloc(count, sizeof *outputs);
    enum amp_status status =
        ctx->host->run_graph(ctx->host, graph, NULL, 0, outputs, count, ctx->err);
    for (uint32_t i = 0; i < ctx->n_out && status == AMP_OK; i++)
        status = give(ctx, i, &outputs[i]);
    free_all(outputs, count);
    return status;
}

/* ---- Loop ---- */

enum { LOOP_ITERATION, LOOP_CONDITION, LOOP_EXTRA_IN };

/* Makes input I of the body a new tensor of one element of DTYPE, of rank 1 where the body says so.
   Each iteration has its own, for the body may pass it on. */
static enum amp_status new_scalar(struct body *body, size_t i, enum amp_dtype dtype)
{
    const struct amp_value *value = amp_value_at(body->ctx->model, body->graph->inputs.items[i]);
    struct amp_tensor *tensor = &body->in[i];
    amp_tensor_release(tensor);
    tensor->dtype = dtype;
    tensor->shape = (struct amp_shape){.rank = value->rank == 1 ? 1 : 0, .dims = {1}};
    return amp_tensor_alloc(tensor, body->ctx->err);
}

static enum amp_status loop_iterate(struct body *body, int64_t iteration, bool *condition)
{
    AMP_TRY(new_scalar(body, LOOP_ITERATION, AMP_INT64));
    AMP_TRY(new_scalar(body, LOOP_CONDITION, AMP_BOOL));
    *(int64_t *)body->in[LOOP_ITERATION].data = iteration;
    *(uint8_t *)body->in[LOOP_CONDITION].data = *condition;
    AMP_TRY(body_run(body, (size_t)iteration));
    AMP_TRY(read_bool(body->ctx, &body->out[0], condition));
    amp_tensor_release(&body->out[0]);
    return AMP_OK;
}

/* The trip count and the first condition; a condition that is not there always holds. */
static enum amp_status loop_limits(const struct amp_ctx *ctx, int64_t *trips, bool *condition)
{
    int count;
    AMP_TRY(amp_ctx_ints(ctx, 0, trips, 1, &count));
    if (count == 0)
        *trips = INT64_MAX;
    *condition = true;
    return amp_has_in(ctx, 1) ? read_bool(ctx, ctx->in[1], condition) : AMP_OK;
}

static enum amp_status loop_body(struct body *body)
{
    struct amp_ctx *ctx = body->ctx;
    int64_t trips = 0, done = 0;
    bool condition = true;
    AMP_TRY(body_create(body));
    AMP_TRY(loop_limits(ctx, &trips, &condition));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(set_state(body, i, ctx->in[LOOP_EXTRA_IN + i]));
    while (done < trips && (condition || !amp_has_in(ctx, 1)))
        AMP_TRY(loop_iterate(body, done++, &condition));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(give(ctx, (uint32_t)i, state_at(body, i)));
    struct stacking stacking = {.n_dims = 1, .dims = {done}};
    for (size_t i = body->n_state; i < body->n_state + body->n_gathered; i++)
        AMP_TRY(stack(ctx, (uint32_t)i, &body->piles[i], &stacking,
                      body_output(body, body->extra_out + i)));
    return AMP_OK;
}

static enum amp_status loop_run(struct amp_ctx *ctx)
{
    struct body body = {.ctx = ctx, .extra_in = LOOP_EXTRA_IN, .extra_out = 1};
    AMP_TRY(find_body(ctx, "body", &body.id));
    body.n_state = ctx->n_in > LOOP_EXTRA_IN ? ctx->n_in - LOOP_EXTRA_IN : 0;
    body.n_in = body.extra_in + body.n_state;
    enum amp_status status = loop_body(&body);
    body_destroy(&body);
    return status;
}

/* ---- Scan ---- */

/*
 * From version 9 on, the iterated inputs are scanned along any axis. Version 8 has a batch
 * dimension before all: states are [batch, ...], iterated inputs [batch, steps, ...], and the first
 * input is the length of each sequence of the batch.
 */
struct scan {
    struct body body;
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

/* Makes *OUT the part of FROM at position AT of N_DIMS dims, taken as one, from dim FIRST on. */
static enum amp_status slice(const struct amp_ctx *ctx, const struct amp_tensor *from, int first,
                             int n_dims, int64_t at, struct amp_tensor *out)
{
    const struct amp_shape *shape = &from->shape;
    amp_tensor_release(out);
    out->dtype = from->dtype;
    out->shape = *shape;
    out->shape.rank -= n_dims;
    memmove(out->shape.dims + first, out->shape.dims + first + n_dims,
            (size_t)(shape->rank - first - n_dims) * sizeof *shape->dims);
    AMP_TRY(amp_tensor_alloc(out, ctx->err));
    size_t size = amp_dtype_bits(from->dtype) / 8;
    size_t outer = (size_t)amp_shape_product(shape, 0, first);
    size_t slots = (size_t)amp_shape_product(shape, first, first + n_dims);
    size_t inner = size * (size_t)amp_shape_product(shape, first + n_dims, shape->rank);
    for (size_t o = 0; o < outer && inner > 0; o++)
        memcpy((char *)out->data + o * inner,
               (const char *)from->data + (o * slots + (size_t)at) * inner, inner);
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
    if (amp_dtype_bits((*tensor)->dtype) < 8)
        return amp_no_kernel(scan->body.ctx, (*tensor)->dtype);
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
            AMP_TRY(slice(ctx, tensor, 0, 2, b * scan->steps + at, to));
        else
            AMP_TRY(slice(ctx, tensor, axis, 1, at, to));
    }
    return AMP_OK;
}

/* The steps of sequence B, whose first state is set. */
static enum amp_status scan_sequence(struct scan *scan, int64_t b, int64_t steps)
{
    for (int64_t t = 0; t < steps; t++) {
        AMP_TRY(scan_feed(scan, b, t, steps));
        AMP_TRY(body_run(&scan->body, (size_t)(b * scan->steps + t)));
    }
    return AMP_OK;
}

/* Version 9 and later. */
static enum amp_status scan_plain(struct scan *scan)
{
    struct body *body = &scan->body;
    struct amp_ctx *ctx = body->ctx;
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(set_state(body, i, ctx->in[i]));
    AMP_TRY(scan_sequence(scan, 0, scan->steps));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(give(ctx, (uint32_t)i, state_at(body, i)));
    for (size_t i = 0; i < body->n_gathered; i++) {
        size_t out = body->n_state + i;
        struct stacking stacking = {.n_dims = 1,
                                    .dims = {scan->steps},
                                    .axis = list_at(ctx->node, "scan_output_axes", i),
                                    .is_reverse =
                                        list_at(ctx->node, "scan_output_directions", i) != 0};
        AMP_TRY(stack(ctx, (uint32_t)out, &body->piles[out], &stacking, body_output(body, out)));
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
    struct body *body = &scan->body;
    const struct amp_ctx *ctx = body->ctx;
    int64_t steps = 0;
    AMP_TRY(sequence_steps(scan, b, &steps));
    for (size_t i = 0; i < body->n_state; i++) {
        const struct amp_tensor *state = ctx->in[scan->first + i];
        if (state == NULL || state->shape.rank < 1 || state->shape.dims[0] != scan->batch)
            return AMP_CTX_FAIL(ctx, "state variable %zu has no batch of %lld", i,
                                (long long)scan->batch);
        AMP_TRY(slice(ctx, state, 0, 1, b, state_at(body, i)));
    }
    AMP_TRY(scan_sequence(scan, b, steps));
    for (size_t i = 0; i < body->n_state; i++)
        AMP_TRY(pile_put(ctx, &body->piles[i], (size_t)b, state_at(body, i)));
    return AMP_OK;
}

/* Version 8. */
static enum amp_status scan_batch(struct scan *scan)
{
    struct body *body = &scan->body;
    for (int64_t b = 0; b < scan->batch; b++)
        AMP_TRY(scan_one_of_batch(scan, b));
    for (size_t i = 0; i < body->n_out; i++) {
        struct stacking stacking = {.n_dims = i < body->n_state ? 1 : 2,
                                    .dims = {scan->batch, scan->steps}};
        AMP_TRY(stack(body->ctx, (uint32_t)i, &body->piles[i], &stacking, body_output(body, i)));
    }
    return AMP_OK;
}

static enum amp_status scan_run(struct amp_ctx *ctx)
{
    int64_t n_scanned = amp_node_int(ctx->node, "num_scan_inputs", 0);
    bool is_batched = ctx->node->since_version < 9;
    struct scan scan = {.body = {.ctx = ctx}, .is_batched = is_batched, .first = is_batched};
    AMP_TRY(find_body(ctx, "body", &scan.body.id));
    if (n_scanned < 1 || n_scanned > (int64_t)ctx->n_in - scan.first)
        return AMP_CTX_FAIL(ctx, "num_scan_inputs is %lld; the node has %u inputs",
                            (long long)n_scanned, ctx->n_in);
    scan.n_scanned = (size_t)n_scanned;
    scan.body.n_in = ctx->n_in - scan.first;
    scan.body.n_state = scan.body.n_in - scan.n_scanned;
    enum amp_status status = body_create(&scan.body);
    if (status == AMP_OK)
        status = scan_sizes(&scan);
    if (status == AMP_OK)
        status = is_batched ? scan_batch(&scan) : scan_plain(&scan);
    body_destroy(&scan.body);
    return status;
}

/* Bodies compute, not the operators: values of any dtype pass through. */
#define AMP_NATIVE_ALL (AMP_NATIVE_DNNL | AMP_DTYPE_BIT(AMP_DOUBLE))

const struct amp_op amp_op_if = {
    .name = "If", .newest = 25, .effect = AMP_OPAQUE, .native = AMP_NATIVE_ALL, .run = if_run};

const struct amp_op amp_op_loop = {
    .name = "Loop", .newest = 25, .effect = AMP_OPAQUE, .native = AMP_NATIVE_ALL, .run = loop_run};

const struct amp_op amp_op_scan = {
    .name = "Scan", .newest = 25, .effect = AMP_OPAQUE, .native = AMP_NATIVE_ALL, .run = scan_run};
