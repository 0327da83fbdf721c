/*
 * Finds scale chains: a linear node and the BatchNormalization, Mul, Div, Add and Sub nodes after
 * it that scale and shift each channel by constants. Takes a node to begin with, gives one factor
 * and one sum for each channel, in double. It changes nothing in the model.
 */
#include "run/rewrite/scale_chain.h"

#include "core/array.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "ops/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE = 1, BIAS, MEAN, VARIANCE };

/* Y = factor Y + shift by channel, followed by one more operation with a constant. */
typedef void follow(double constant, double *factor, double *shift);

static void add(double constant, double *factor, double *shift)
{
    (void)factor;
    *shift += constant;
}

static void subtract(double constant, double *factor, double *shift)
{
    (void)factor;
    *shift -= constant;
}

static void subtract_from(double constant, double *factor, double *shift)
{
    *factor = -*factor;
    *shift = constant - *shift;
}

static void multiply(double constant, double *factor, double *shift)
{
    *factor *= constant;
    *shift *= constant;
}

static void divide(double constant, double *factor, double *shift)
{
    *factor /= constant;
    *shift /= constant;
}

static const struct binary {
    enum amp_role role;
    uint32_t slot; /* which operand is the result; the other is the constant */
    follow *follow;
} binaries[] = {
    {AMP_ROLE_ADD, 0, add},           {AMP_ROLE_ADD, 1, add},      {AMP_ROLE_DIV, 0, divide},
    {AMP_ROLE_MUL, 0, multiply},      {AMP_ROLE_MUL, 1, multiply}, {AMP_ROLE_SUB, 0, subtract},
    {AMP_ROLE_SUB, 1, subtract_from},
};

/* ---- constants ------------------------------------------------------------------------------- */

/* The float constant that VALUE is, in float32, float16 or bfloat16; NULL: it is none. */
static const struct amp_tensor *constant_of(const struct amp_model *model, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    bool is_float = tensor != NULL && amp_dtype_is_autocast(tensor->dtype);
    return is_float && (tensor->data != NULL || tensor->source != NULL) ? tensor : NULL;
}

const struct amp_tensor *amp_scale_chain_constant(const struct amp_model *model,
                                                  const struct amp_node *node, uint32_t i)
{
    return i < node->n_inputs ? constant_of(model, node->inputs[i]) : NULL;
}

static bool has_input(const struct amp_node *node, uint32_t i)
{
    return i < node->n_inputs && node->inputs[i] != AMP_NONE;
}

double *amp_scale_chain_load(const struct amp_tensor *tensor)
{
    size_t count = amp_tensor_count(tensor);
    double *values = amp_xmalloc(count, sizeof *values);
    struct amp_tensor copy = *tensor;
    copy.data = amp_xmalloc(amp_tensor_size(tensor), 1);
    amp_tensor_copy(tensor, copy.data);
    for (size_t i = 0; i < count; i++)
        values[i] = amp_tensor_double(&copy, i);
    free(copy.data);
    return values;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Starts CHAIN with node ID; false: it has no weights that can be changed. What it adds fits the
   channels, as inference has seen to. */
static bool start(const struct amp_model *model, uint32_t id, struct amp_scale_chain *chain)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_op *op = amp_op_of(node);
    const struct amp_linear *linear = op != NULL ? op->linear : NULL;
    const struct amp_tensor *w =
        linear == NULL ? NULL : amp_scale_chain_constant(model, node, AMP_WEIGHTS);
    if (w == NULL || (linear->suits != NULL && !linear->suits(node)))
        return false;
    bool is_flipped = linear->flip != NULL && amp_node_int(node, linear->flip, 0) != 0;
    *chain = (struct amp_scale_chain){.linear = linear,
                                      .node = id,
                                      .is_sum = true,
                                      .adds = linear->has_added && has_input(node, AMP_ADDED),
                                      .rank = amp_value_at(model, node->outputs[0])->rank,
                                      .channel = is_flipped ? 1 - linear->channel : linear->channel,
                                      .n_parts =
                                          linear->parts ? amp_node_int(node, linear->parts, 1) : 1};
    chain->axis = linear->is_last ? chain->rank - 1 : 1;
    if (amp_shape_count(&w->shape) == 0 || w->shape.rank <= chain->channel ||
        (linear->is_last && w->shape.rank != 2) || chain->n_parts < 1 ||
        w->shape.dims[0] % chain->n_parts != 0)
        return false;
    chain->n_channels = chain->n_parts * w->shape.dims[chain->channel];
    return !chain->adds || amp_scale_chain_constant(model, node, AMP_ADDED) != NULL;
}

static void start_values(struct amp_scale_chain *chain)
{
    chain->factors = amp_xmalloc((size_t)chain->n_channels, sizeof *chain->factors);
    chain->shifts = amp_xcalloc((size_t)chain->n_channels, sizeof *chain->shifts);
    for (int64_t c = 0; c < chain->n_channels; c++)
        chain->factors[c] = 1;
}

/* Whether CONSTANT has one value, or one for each channel, and broadcasts to the result. */
static bool fits_channels(const struct amp_scale_chain *chain, const struct amp_tensor *constant)
{
    const struct amp_shape *shape = &constant->shape;
    if (shape->rank > chain->rank)
        return false;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] != 1 &&
            (chain->rank - shape->rank + i != chain->axis || shape->dims[i] != chain->n_channels))
            return false;
    return true;
}

/* Before version 7 operands were lined up by an attribute. */
static bool follow_binary(const struct amp_model *model, const struct amp_use *use,
                          struct amp_scale_chain *chain)
{
    const struct amp_node *node = amp_node_at(model, use->node);
    const struct amp_tensor *constant = amp_scale_chain_constant(model, node, 1 - use->slot);
    const struct amp_op *op = amp_op_of(node);
    if (constant == NULL || op == NULL || amp_broadcasts_by_attributes(node) ||
        !fits_channels(chain, constant))
        return false;
    for (size_t i = 0; i < AMP_COUNT(binaries); i++) {
        const struct binary *binary = &binaries[i];
        if (binary->slot != use->slot || op->role != binary->role)
            continue;
        double *values = amp_scale_chain_load(constant);
        bool is_one = amp_tensor_count(constant) == 1;
        for (int64_t c = 0; c < chain->n_channels; c++)
            binary->follow(values[is_one ? 0 : c], &chain->factors[c], &chain->shifts[c]);
        free(values);
        chain->is_sum &= binary->follow == add || binary->follow == subtract;
        return true;
    }
    return false;
}

static bool follow_norm(const struct amp_model *model, const struct amp_use *use,
                        struct amp_scale_chain *chain)
{
    const struct amp_node *norm = amp_node_at(model, use->node);
    double *values[VARIANCE + 1] = {NULL};
    bool fits = amp_node_has_role(norm, AMP_ROLE_BATCH_NORMALIZATION) &&
                amp_op_of(norm)->linear->suits(norm) && chain->axis == 1;
    for (uint32_t i = SCALE; i <= VARIANCE && fits; i++) {
        const struct amp_tensor *tensor = amp_scale_chain_constant(model, norm, i);
        fits = tensor != NULL && amp_shape_count(&tensor->shape) == chain->n_channels;
        values[i] = fits ? amp_scale_chain_load(tensor) : NULL;
    }
    double epsilon = (double)amp_node_float(norm, "epsilon", 1e-5f);
    for (int64_t c = 0; c < chain->n_channels && fits; c++) {
        subtract(values[MEAN][c], &chain->factors[c], &chain->shifts[c]);
        multiply(values[SCALE][c] / sqrt(values[VARIANCE][c] + epsilon), &chain->factors[c],
                 &chain->shifts[c]);
        add(values[BIAS][c], &chain->factors[c], &chain->shifts[c]);
    }
    for (uint32_t i = SCALE; i <= VARIANCE; i++)
        free(values[i]);
    chain->is_sum &= !fits;
    return fits;
}

uint32_t amp_scale_chain_result(const struct amp_model *model, const struct amp_scale_chain *chain)
{
    uint32_t last = chain->n_nodes > 0 ? chain->nodes[chain->n_nodes - 1] : chain->node;
    return amp_node_at(model, last)->outputs[0];
}

/* Takes the node that is the only use of the chain's result along; false: it cannot. */
static bool extend(const struct amp_model *model, const struct amp_uses *uses,
                   struct amp_scale_chain *chain)
{
    uint32_t result = amp_scale_chain_result(model, chain);
    struct amp_use use;
    if (chain->n_nodes == AMP_SCALE_CHAIN_MAX || !amp_uses_only(model, uses, result, &use))
        return false;
    if (!follow_norm(model, &use, chain) && !follow_binary(model, &use, chain))
        return false;
    chain->nodes[chain->n_nodes++] = use.node;
    return true;
}

bool amp_scale_chain_find(const struct amp_model *model, const struct amp_uses *uses, uint32_t node,
                          struct amp_scale_chain *chain)
{
    if (!start(model, node, chain))
        return false;
    start_values(chain);
    while (extend(model, uses, chain))
        ;
    if (chain->n_nodes == 0)
        amp_scale_chain_release(chain);
    return chain->n_nodes > 0;
}

void amp_scale_chain_release(struct amp_scale_chain *chain)
{
    free(chain->factors);
    free(chain->shifts);
}
