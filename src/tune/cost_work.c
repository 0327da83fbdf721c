/*
 * Counts what the nodes of a model and of its conversion do in a run: takes both models and inputs,
 * gives bytes and arithmetic. The bytes are those of the dtypes that the models declare, whatever
 * a kernel of this machine computes in.
 */
#include "tune/cost_work.h"

#include "core/tensor.h"
#include "ops/dnnl/profile.h"
#include "ops/kernel/tensor_cast.h"
#include "run/exec/walk.h"
#include "tune/cost_owner.h"

#include <stdlib.h>

/* One of the models, and its run. */
struct side {
    const struct amp_model *reference, *model;
    enum amp_dtype dtype; /* the lower one */
    const struct amp_tensor *inputs;
    const uint32_t *owners;
    struct amp_session *session;
    struct amp_profile *profile;
    double *elements; /* per value of MODEL; below 0: not seen */
    bool *runs;       /* per node of MODEL's main graph: it computes anew in every run */
    struct amp_error *err;
};

/* ---- inputs ---------------------------------------------------------------------------------- */

enum amp_status amp_cost_inputs_cast(const struct amp_costs_request *request,
                                     struct amp_tensor **inputs, struct amp_error *err)
{
    const struct amp_ids *ids = &request->low->graphs[0].inputs;
    *inputs = amp_xcalloc(ids->count + 1, sizeof **inputs);
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *value = amp_value_at(request->low, ids->items[i]);
        const struct amp_tensor *from = &request->inputs[i];
        if (from->data == NULL || amp_tensor_is_list(from))
            amp_tensor_refer(&(*inputs)[i], from);
        else
            AMP_TRY(amp_tensor_cast_copy(from, value->dtype, &(*inputs)[i], err));
    }
    return AMP_OK;
}

void amp_cost_inputs_free(const struct amp_costs_request *request, struct amp_tensor *inputs)
{
    if (inputs != NULL)
        amp_tensors_release(inputs, request->low->graphs[0].inputs.count);
    free(inputs);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Notes how many elements value ID, which may be AMP_NONE, holds. */
static enum amp_status look_at(const struct side *side, uint32_t id)
{
    struct amp_tensor tensor = {.data = NULL};
    if (id >= side->model->n_values) /* the run's own */
        return AMP_OK;
    enum amp_status status = amp_walk_get(side->session, id, &tensor, side->err);
    if (tensor.data != NULL && !amp_tensor_is_list(&tensor))
        side->elements[id] = (double)amp_tensor_count(&tensor);
    amp_tensor_release(&tensor);
    return status;
}

/* Runs step STEP, under the eyes of the profile unless its results are constant. */
static enum amp_status run_step(const struct side *side, size_t step)
{
    uint32_t id = amp_walk_node(side->session, step);
    const struct amp_node *node = amp_node_at(amp_walk_model(side->session), id);
    bool is_constant = amp_walk_is_constant(side->session, step);
    if (id < side->model->n_nodes)
        side->runs[id] = !is_constant;
    amp_session_observe(side->session, is_constant ? NULL : side->profile);
    AMP_TRY(amp_walk_compute(side->session, step, side->err));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        AMP_TRY(look_at(side, node->outputs[i]));
    amp_walk_release(side->session, step);
    return AMP_OK;
}

static enum amp_status walk(const struct side *side)
{
    const struct amp_ids *inputs = &side->model->graphs[0].inputs;
    AMP_TRY(amp_walk_begin(side->session, side->inputs, side->err));
    for (size_t i = 0; i < inputs->count; i++)
        AMP_TRY(look_at(side, inputs->items[i]));
    for (size_t i = 0; i < amp_walk_count(side->session); i++)
        AMP_TRY(run_step(side, i));
    return AMP_OK;
}

/* ---- what it came to ------------------------------------------------------------------------- */

/* The elements of value ID as it was seen, or as its type says; 0: neither does. */
static double count_elements(const struct side *side, uint32_t id)
{
    struct amp_shape shape;
    const struct amp_value *value = amp_value_at(side->model, id);
    if (side->elements[id] >= 0)
        return side->elements[id];
    amp_value_shape(value, &shape);
    if (value->constant != NULL)
        shape = value->constant->shape;
    int64_t count = amp_shape_is_known(&shape) ? amp_shape_count(&shape) : 0;
    return count > 0 ? (double)count : 0;
}

static void add_values(const struct side *side, const uint32_t *values, uint32_t count,
                       struct amp_node_work *work)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] == AMP_NONE)
            continue;
        enum amp_dtype dtype = amp_value_at(side->model, values[i])->dtype;
        work->bytes += count_elements(side, values[i]) * amp_dtype_bits(dtype) / 8;
        work->is_low |= dtype == side->dtype;
    }
}

/* Adds what the nodes do to WORK, of those that own them. The profile alone knows of bodies. */
static void add_nodes(const struct side *side, struct amp_node_work *work)
{
    size_t count;
    const struct amp_profile_node *seen = amp_profile_nodes(side->profile, &count);
    for (uint32_t id = 0; id < side->model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(side->model, id);
        uint32_t owner = side->owners[id];
        if (owner == AMP_NONE)
            continue;
        if (id < count)
            work[owner].flops += seen[id].flops;
        if (node->graph != 0 && id < count)
            work[owner].bytes += seen[id].bytes;
        if (!side->runs[id])
            continue;
        add_values(side, node->inputs, node->n_inputs, &work[owner]);
        add_values(side, node->outputs, node->n_outputs, &work[owner]);
    }
}

static enum amp_status run_side(struct side *side, struct amp_node_work *work)
{
    AMP_TRY(amp_session_open(side->model, AMP_ROUNDED, &side->session, side->err));
    side->profile = amp_profile_create();
    enum amp_status status = walk(side);
    AMP_IGNORE(amp_walk_end(side->session, NULL, NULL));
    if (status == AMP_OK)
        add_nodes(side, work);
    amp_profile_destroy(side->profile);
    amp_session_destroy(side->session);
    return status;
}

/* Sets up SIDE, runs it, and makes *WORK what its nodes did. */
static enum amp_status find_work(struct side *side, struct amp_arena *arena,
                                 struct amp_node_work **work)
{
    const struct amp_model *model = side->model;
    *work = amp_arena_array(arena, side->reference->n_nodes, sizeof **work);
    side->owners = amp_cost_owners(side->reference, model, arena);
    side->runs = amp_arena_array(arena, model->n_nodes, sizeof *side->runs);
    side->elements = amp_arena_array(arena, model->n_values, sizeof *side->elements);
    for (size_t v = 0; v < model->n_values; v++)
        side->elements[v] = -1;
    return run_side(side, *work);
}

/* Whether casting VALUE takes time in a run. */
static bool can_be_cast(const struct amp_value *value)
{
    return amp_dtype_is_autocast(value->dtype) && value->kind == AMP_KIND_TENSOR &&
           value->constant == NULL && !value->is_removed;
}

enum amp_status amp_cost_work_find(const struct amp_costs_request *request, struct amp_arena *arena,
                                   struct amp_cost_work *work, struct amp_error *err)
{
    const struct amp_model *reference = request->reference;
    struct amp_tensor *cast = NULL;
    struct side wide = {reference, reference, request->dtype, request->inputs, .err = err};
    struct side low = {reference, request->low, request->dtype, .err = err};
    AMP_TRY(find_work(&wide, arena, &work->wide));
    work->elements = amp_arena_array(arena, reference->n_values, sizeof *work->elements);
    for (uint32_t v = 0; v < reference->n_values; v++)
        work->elements[v] = can_be_cast(amp_value_at(reference, v)) ? count_elements(&wide, v) : 0;
    enum amp_status status = amp_cost_inputs_cast(request, &cast, err);
    low.inputs = cast;
    if (status == AMP_OK)
        status = find_work(&low, arena, &work->low);
    amp_cost_inputs_free(request, cast);
    return status;
}
