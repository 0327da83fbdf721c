/*
 * Runs the body of a Loop, Scan or SequenceMap iteration by iteration. An output of the body is
 * state for the next iteration or is gathered: kept as the body gave it and put together at the
 * end, when number and shape are known.
 */
#include "ops/control/subgraph.h"

#include "core/memory.h"
#include "ops/kernel/data_movement.h"

#include <stdlib.h>
#include <string.h>

/* ---- one body, one tensor ---- */

uint32_t amp_subgraph_id(const struct amp_ctx *ctx, const char *name)
{
    return amp_node_attr(ctx->node, name)->graphs[0];
}

enum amp_status amp_subgraph_give(const struct amp_ctx *ctx, size_t i,
                                  const struct amp_tensor *tensor)
{
    if (!amp_has_out(ctx, (uint32_t)i))
        return AMP_OK;
    struct amp_tensor *out = ctx->out[i];
    if (tensor->dtype != out->dtype)
        return AMP_CTX_FAIL(ctx, "output %zu: the body gives %s; %s is declared", i,
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

/* ---- gathered values ---- */

/* Makes room for SLOT. */
static enum amp_status pile_grow(const struct amp_ctx *ctx, struct amp_pile *pile, size_t slot)
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
static enum amp_status pile_put(const struct amp_ctx *ctx, struct amp_pile *pile, size_t slot,
                                struct amp_tensor *item)
{
    if (slot >= pile->capacity)
        AMP_TRY(pile_grow(ctx, pile, slot));
    for (; pile->count <= slot; pile->count++)
        pile->items[pile->count] = (struct amp_tensor){.dtype = AMP_UNDEFINED};
    move(item, &pile->items[slot]);
    return AMP_OK;
}

static void pile_destroy(struct amp_pile *pile)
{
    amp_memory_return(pile->capacity * sizeof *pile->items);
    free_all(pile->items, pile->count);
}

/* The shape of the items; with none at all, what the graph says of VALUE, unknown dims being 0. */
static enum amp_status item_shape(const struct amp_ctx *ctx, const struct amp_pile *pile,
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
static enum amp_status stacked_shape(const struct amp_ctx *ctx, const struct amp_stacking *stacking,
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
static void copy_items(const struct amp_pile *pile, const struct amp_stacking *stacking, int axis,
                       struct amp_tensor *out)
{
    size_t slots = 1;
    for (int i = 0; i < stacking->n_dims; i++)
        slots *= (size_t)stacking->dims[i];
    size_t outer = (size_t)amp_shape_product(&out->shape, 0, axis);
    size_t inner = (size_t)amp_shape_product(&out->shape, axis + stacking->n_dims, out->shape.rank);
    for (size_t i = 0; i < pile->count; i++) {
        size_t slot = stacking->is_reverse ? slots - 1 - i : i;
        for (size_t o = 0; o < outer && pile->items[i].dtype != AMP_UNDEFINED; o++)
            amp_elements_copy(out->dtype, (struct amp_element){pile->items[i].data, o * inner},
                              (struct amp_element){out->data, (o * slots + slot) * inner}, inner);
    }
}

/* ---- bodies that are run again and again ---- */

enum amp_status amp_subgraph_create(struct amp_subgraph *body)
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

void amp_subgraph_destroy(struct amp_subgraph *body)
{
    free_all(body->in, body->n_in);
    free_all(body->out, body->n_out);
    free(body->in_pointers);
    for (size_t i = 0; i < body->n_state + body->n_gathered && body->piles != NULL; i++)
        pile_destroy(&body->piles[i]);
    free(body->piles);
}

enum amp_status amp_subgraph_put(struct amp_subgraph *body, size_t i, size_t slot,
                                 struct amp_tensor *item)
{
    return pile_put(body->ctx, &body->piles[i], slot, item);
}

static const struct amp_value *body_output(const struct amp_subgraph *body, size_t i)
{
    return amp_value_at(body->ctx->model, body->graph->outputs.items[i]);
}

struct amp_tensor *amp_subgraph_state(struct amp_subgraph *body, size_t i)
{
    return &body->in[body->extra_in + i];
}

enum amp_status amp_subgraph_set_state(struct amp_subgraph *body, size_t i,
                                       const struct amp_tensor *from)
{
    if (from == NULL)
        return AMP_CTX_FAIL(body->ctx, "the initial value of state variable %zu is missing", i);
    struct amp_tensor *state = amp_subgraph_state(body, i);
    state->dtype = from->dtype;
    state->shape = from->shape;
    amp_tensor_share(state, from);
    return AMP_OK;
}

enum amp_status amp_subgraph_run(struct amp_subgraph *body, size_t slot)
{
    AMP_TRY(
        amp_ctx_run_body(body->ctx, &(struct amp_body_call){body->id, body->in_pointers, body->n_in,
                                                            body->out, body->n_out}));
    for (size_t i = 0; i < body->n_state; i++) {
        struct amp_tensor *from = &body->out[body->extra_out + i];
        if (from->dtype != amp_subgraph_state(body, i)->dtype)
            return AMP_CTX_FAIL(body->ctx, "state variable %zu changes from %s to %s", i,
                                amp_dtype_name(amp_subgraph_state(body, i)->dtype),
                                amp_dtype_name(from->dtype));
        move(from, amp_subgraph_state(body, i));
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

enum amp_status amp_subgraph_stack(struct amp_subgraph *body, size_t i,
                                   const struct amp_stacking *stacking)
{
    struct amp_ctx *ctx = body->ctx;
    const struct amp_pile *pile = &body->piles[i];
    if (!amp_has_out(ctx, (uint32_t)i))
        return AMP_OK;
    struct amp_tensor *out = ctx->out[i];
    int axis = 0;
    for (size_t k = 0; k < pile->count; k++)
        if (pile->items[k].dtype != AMP_UNDEFINED && pile->items[k].dtype != out->dtype)
            return AMP_CTX_FAIL(ctx, "output %zu: the body gives %s; %s is declared", i,
                                amp_dtype_name(pile->items[k].dtype), amp_dtype_name(out->dtype));
    AMP_TRY(item_shape(ctx, pile, body_output(body, body->extra_out + i), &out->shape));
    AMP_TRY(stacked_shape(ctx, stacking, &out->shape, &axis));
    AMP_TRY(amp_ctx_alloc(ctx, (uint32_t)i));
    memset(out->data, 0, amp_tensor_size(out));
    copy_items(pile, stacking, axis, out);
    return out->dtype == AMP_STRING ? amp_strings_own(out, ctx->err) : AMP_OK;
}
