/*
 * The values on the border of a graph: gives a session the inputs of a run, checked against the
 * types and shapes that the model declares, and takes the outputs. It runs no steps.
 */
#include "run/exec/graph_values.h"

#include "run/exec/constants.h"
#include "run/exec/step.h"
#include "run/exec/values.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

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

enum amp_status amp_graph_feed(struct amp_session *session, const struct amp_tensor *inputs,
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

/* ---- outputs --------------------------------------------------------------------------------- */

enum amp_status amp_graph_collect(struct amp_session *session, uint32_t graph,
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

void amp_graph_drop(struct amp_session *session, uint32_t graph)
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
