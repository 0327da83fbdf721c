/*
 * Computes at plan time what depends on constants alone: takes a model whose types are inferred and
 * whose nodes are sorted, sets the constants of values. Nodes stay where they are; the plan makes
 * no steps of those whose results are constants. What a kernel refuses is left to the run, which
 * says why.
 */
#include "run/rewrite/compute_constants.h"

#include "core/graph/uses.h"
#include "core/tensor.h"
#include "ops/op.h"
#include "run/rewrite/scale_chain.h"

#include <stdlib.h>

enum {
    SMALL = 8192, /* bytes of a vector that is computed whether or not that is of use */
    MAX_INPUTS = 16,
    ALIGNMENT = 64
};

/* What the one result of a node is computed with. */
struct call {
    struct amp_tensor in_tensors[MAX_INPUTS], out_tensor;
    const struct amp_tensor *in[MAX_INPUTS];
    struct amp_tensor *out;
    struct amp_ctx ctx;
    struct amp_error err;
    void *state;
};

/* ---- which nodes ----------------------------------------------------------------------------- */

/* Whether C computes OP, from the elements of its inputs one by one or by moving them. */
static bool is_plain(const struct amp_op *op)
{
    bool is_simple = op->effect == AMP_PRESERVES_VALUES || amp_op_keeps_places(op) ||
                     op->role == AMP_ROLE_CONSTANT_OF_SHAPE;
    return is_simple && op->run != NULL && op->shape != NULL && op->effect != AMP_OPAQUE &&
           !op->draws;
}

static bool takes_dtype(const struct amp_op *op, enum amp_dtype dtype)
{
    bool is_float = amp_dtype_is_autocast(dtype) || dtype == AMP_DOUBLE;
    return dtype != AMP_STRING && !(op->lacks & AMP_DTYPE_BIT(dtype)) &&
           (!is_float || op->effect == AMP_PRESERVES_VALUES || op->native & AMP_DTYPE_BIT(dtype));
}

/* Whether VALUE is a constant that OP can read. */
static bool is_known(const struct amp_model *model, const struct amp_op *op, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    return value == AMP_NONE ||
           (tensor != NULL && amp_shape_is_known(&tensor->shape) &&
            (tensor->data != NULL || tensor->source != NULL) && takes_dtype(op, tensor->dtype));
}

static bool is_candidate(const struct amp_model *model, const struct amp_node *node)
{
    const struct amp_op *op = node->is_removed ? NULL : amp_op_of(node);
    if (op == NULL || !is_plain(op) || node->schema == NULL || node->since_version > op->newest ||
        node->n_inputs > MAX_INPUTS || node->n_outputs != 1 || node->outputs[0] == AMP_NONE)
        return false;
    const struct amp_value *value = amp_value_at(model, node->outputs[0]);
    bool is_open = value->constant == NULL && !value->is_output &&
                   amp_kind_form(value->kind) == AMP_FORM_TENSOR && value->dtype != AMP_UNDEFINED &&
                   takes_dtype(op, value->dtype);
    for (uint32_t i = 0; i < node->n_inputs && is_open; i++)
        is_open = is_known(model, op, node->inputs[i]);
    return is_open;
}

/* ---- computing ------------------------------------------------------------------------------- */

/* Sets shapes and dtypes; false: what the node gives is not told without running it. */
static bool prepare(const struct amp_model *model, const struct amp_node *node, struct call *call)
{
    *call = (struct call){.err = {.status = AMP_OK}, .out = &call->out_tensor};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE)
            continue;
        call->in_tensors[i] = *amp_value_at(model, node->inputs[i])->constant;
        call->in_tensors[i].buffer = NULL; /* which is the model's */
        call->in[i] = &call->in_tensors[i];
    }
    call->out_tensor.dtype = amp_value_at(model, node->outputs[0])->dtype;
    call->out_tensor.shape.rank = -1;
    call->ctx = (struct amp_ctx){.model = model,
                                 .node = node,
                                 .in = call->in,
                                 .n_in = node->n_inputs,
                                 .out = &call->out,
                                 .n_out = 1,
                                 .err = &call->err};
    size_t size;
    return amp_op_of(node)->shape(&call->ctx) == AMP_OK &&
           amp_shape_size(&call->out_tensor.shape, call->out_tensor.dtype, &size, &call->err) ==
               AMP_OK;
}

/* Inputs whose data are to be converted, or lie where kernels do not want them, get copies. */
static enum amp_status load_inputs(struct call *call)
{
    for (uint32_t i = 0; i < call->ctx.n_in; i++) {
        struct amp_tensor *in = &call->in_tensors[i];
        const struct amp_tensor from = *in;
        if (call->in[i] == NULL || (in->data != NULL && (uintptr_t)in->data % ALIGNMENT == 0))
            continue;
        AMP_TRY(amp_tensor_alloc(in, &call->err));
        amp_tensor_copy(&from, in->data);
    }
    return AMP_OK;
}

static enum amp_status run(struct call *call)
{
    static const bool is_constant[MAX_INPUTS] = {false};
    const struct amp_op *op = amp_op_of(call->ctx.node);
    AMP_TRY(load_inputs(call));
    if (!op->shares_input)
        AMP_TRY(amp_tensor_alloc(&call->out_tensor, &call->err));
    call->ctx.is_constant = is_constant;
    call->ctx.state = &call->state;
    enum amp_status status = op->run(&call->ctx);
    if (call->state != NULL)
        op->destroy(call->state);
    return status;
}

static void set_constant(struct amp_model *model, uint32_t id, const struct amp_tensor *made)
{
    amp_value_at(model, id)->constant = amp_arena_memdup(model->arena, made, sizeof *made);
    amp_value_set_shape(model, id, &made->shape);
}

/* Makes the result of NODE, which CALL has been prepared for, a constant; false: it cannot be. */
static bool compute(struct amp_model *model, struct call *call, struct amp_computed_value *value)
{
    const struct amp_node *node = call->ctx.node;
    bool is_done = run(call) == AMP_OK && call->out_tensor.layout == NULL;
    if (is_done) {
        struct amp_tensor made = {.dtype = call->out_tensor.dtype, .shape = call->out_tensor.shape};
        value->id = node->outputs[0];
        value->size = amp_tensor_size(&made) + ALIGNMENT;
        value->memory = amp_arena_alloc(model->arena, value->size);
        made.data = (char *)value->memory + ALIGNMENT - (uintptr_t)value->memory % ALIGNMENT;
        amp_tensor_copy(&call->out_tensor, made.data);
        set_constant(model, value->id, &made);
    }
    amp_tensor_release(&call->out_tensor);
    amp_tensors_release(call->in_tensors, node->n_inputs);
    return is_done;
}

/* What the node of CALL, a reshaping operator, makes of a constant has the same data. */
static void share(struct amp_model *model, const struct call *call)
{
    struct amp_tensor made = *call->in[0];
    made.shape = call->out_tensor.shape;
    if (made.dtype == call->out_tensor.dtype &&
        amp_shape_count(&made.shape) == amp_shape_count(&call->in[0]->shape))
        set_constant(model, call->ctx.node->outputs[0], &made);
}

/* ---- weights ------------------------------------------------------------------------------ */

/* Whether a chain of scales can be folded into the weights that VALUE is, of SHAPE, once they are a
   constant. */
static bool pays(const struct amp_model *model, const struct amp_uses *uses, uint32_t id,
                 const struct amp_shape *shape)
{
    struct amp_use use;
    struct amp_scale_chain chain;
    struct amp_value *value = amp_value_at(model, id);
    struct amp_tensor stand_in = {.dtype = value->dtype, .shape = *shape};
    stand_in.data = &stand_in;
    if (!amp_uses_only(model, uses, id, &use) || use.slot != AMP_WEIGHTS)
        return false;
    value->constant = &stand_in;
    bool does = amp_scale_chain_find(model, uses, use.node, &chain);
    value->constant = NULL;
    if (does)
        amp_scale_chain_release(&chain);
    return does;
}

static void compute_weights(struct amp_model *model, const struct amp_uses *uses, uint32_t id,
                            struct amp_computed *computed)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct call call;
    struct amp_computed_value value, *slot;
    if (!is_candidate(model, node) || !prepare(model, node, &call) ||
        !pays(model, uses, node->outputs[0], &call.out_tensor.shape) ||
        !compute(model, &call, &value))
        return;
    slot = amp_arena_push(model->arena, &computed->values, &computed->count, &computed->capacity,
                          sizeof *slot);
    *slot = value;
}

/* Whether TENSOR is a scale, a shift or a list of numbers: elements along one dim, and not many. */
static bool is_vector(const struct amp_tensor *tensor)
{
    int n_long = 0;
    for (int d = 0; d < tensor->shape.rank; d++)
        n_long += tensor->shape.dims[d] > 1;
    return n_long <= 1 && amp_tensor_size(tensor) <= SMALL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void compute_vector(struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct call call;
    struct amp_computed_value value;
    if (!is_candidate(model, node) || !prepare(model, node, &call))
        return;
    if (amp_op_of(node)->is_reshape)
        share(model, &call);
    else if (is_vector(&call.out_tensor))
        compute(model, &call, &value);
}

void amp_constants_compute(struct amp_model *model, struct amp_computed *computed)
{
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].nodes.count; i++)
            compute_vector(model, model->graphs[g].nodes.items[i]);
    struct amp_uses uses = amp_uses_create(model);
    for (uint32_t id = 0; id < model->n_nodes; id++)
        compute_weights(model, &uses, id, computed);
    amp_uses_destroy(&uses);
}

void amp_constants_drop_unread(struct amp_model *model, const struct amp_computed *computed)
{
    uint32_t *n_uses = amp_uses_count(model);
    for (size_t i = 0; i < computed->count; i++) {
        const struct amp_computed_value *value = &computed->values[i];
        if (n_uses[value->id] != 0)
            continue;
        amp_value_at(model, value->id)->constant->data = NULL;
        amp_arena_release(model->arena, value->memory, value->size);
    }
    free(n_uses);
}
