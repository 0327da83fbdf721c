/*
 * Folds scale chains (run/rewrite/scale_chain.h) into constants: takes the factor and the sum that
 * a chain applies to each channel, multiplies the weights of the linear operator before it by the
 * factors, and puts the sums into its bias. It changes nothing where the dtype of the weights lacks
 * the range or the digits for the products.
 */
#include "run/rewrite/fold_scales.h"

#include "core/array.h"
#include "core/graph/uses.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"
#include "run/rewrite/scale_chain.h"

#include <math.h>
#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* As kernels want it, so that it is not copied. */
static struct amp_tensor *new_tensor(const struct amp_model *model, enum amp_dtype dtype,
                                     const struct amp_shape *shape)
{
    struct amp_tensor *tensor = amp_arena_alloc(model->arena, sizeof *tensor);
    *tensor = (struct amp_tensor){.dtype = dtype, .shape = *shape};
    char *data = amp_arena_alloc(model->arena, amp_tensor_size(tensor) + ALIGNMENT);
    tensor->data = data + ALIGNMENT - (uintptr_t)data % ALIGNMENT;
    return tensor;
}

static uint32_t add_constant(struct amp_model *model, const struct amp_scale_chain *chain,
                             struct amp_tensor *tensor)
{
    uint32_t graph = amp_node_at(model, chain->node)->graph;
    return amp_graph_add_initializer(model, graph, amp_model_unique_name(model, "folded"), tensor);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The largest relative error of rounding to DTYPE. */
static double rounding_of(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT ? 0x1p-24 : dtype == AMP_FLOAT16 ? 0x1p-11 : 0x1p-8;
}

/* Multiplies W by the chain's factors and ALPHA, each element rounded once. ERRORS and LARGEST, by
   channel, come to hold the largest error and the largest weight. */
static void scale(const struct amp_scale_chain *chain, const struct amp_tensor *w, double alpha,
                  double *errors, double *largest)
{
    int64_t n = w->shape.dims[chain->channel];
    int64_t outer = amp_shape_product(&w->shape, 0, chain->channel);
    int64_t inner = amp_shape_product(&w->shape, chain->channel + 1, w->shape.rank);
    for (int64_t row = 0; row < outer * n; row++) {
        int64_t c = row / n / (outer / chain->n_parts) * n + row % n;
        for (int64_t i = row * inner; i < (row + 1) * inner; i++) {
            double exact = amp_tensor_double(w, (size_t)i) * alpha * chain->factors[c];
            amp_tensor_set_double(w, (size_t)i, exact);
            errors[c] = fmax(errors[c], fabs(amp_tensor_double(w, (size_t)i) - exact));
            largest[c] = fmax(largest[c], fabs(exact));
        }
    }
}

/* W multiplied; NULL: its dtype has no room for the largest weights of a channel, or not as many
   digits as usual. */
static struct amp_tensor *new_weights(const struct amp_model *model,
                                      const struct amp_scale_chain *chain,
                                      const struct amp_tensor *w)
{
    const struct amp_node *node = amp_node_at(model, chain->node);
    double alpha = chain->linear->alpha ? (double)amp_node_float(node, chain->linear->alpha, 1) : 1;
    struct amp_tensor *result = new_tensor(model, w->dtype, &w->shape);
    double *errors = amp_xcalloc((size_t)chain->n_channels, sizeof *errors);
    double *largest = amp_xcalloc((size_t)chain->n_channels, sizeof *largest);
    bool is_exact = true;
    amp_tensor_copy(w, result->data);
    scale(chain, result, alpha, errors, largest);
    for (int64_t c = 0; c < chain->n_channels; c++)
        is_exact &= errors[c] <= largest[c] * rounding_of(w->dtype);
    free(errors);
    free(largest);
    return is_exact ? result : NULL;
}

/* The rows of what is added, from input AMP_ADDED if there; NULL: not all are finite in DTYPE. */
static struct amp_tensor *new_sum(const struct amp_model *model,
                                  const struct amp_scale_chain *chain, enum amp_dtype dtype)
{
    const struct amp_node *node = amp_node_at(model, chain->node);
    const struct amp_tensor *old =
        chain->adds ? amp_scale_chain_constant(model, node, AMP_ADDED) : NULL;
    double beta = chain->linear->beta ? (double)amp_node_float(node, chain->linear->beta, 1) : 1;
    int64_t n = chain->n_channels, n_rows = old && old->shape.rank == 2 ? old->shape.dims[0] : 1;
    bool is_one = old != NULL && amp_tensor_count(old) == (size_t)n_rows;
    struct amp_shape shape = {.rank = n_rows == 1 ? 1 : 2, .dims = {n_rows == 1 ? n : n_rows, n}};
    struct amp_tensor *sum = new_tensor(model, dtype, &shape);
    double *values = old != NULL ? amp_scale_chain_load(old) : NULL;
    bool is_finite = true;
    for (int64_t i = 0; i < n_rows * n; i++) {
        double value = values != NULL ? beta * values[is_one ? i / n : i] : 0;
        amp_tensor_set_double(sum, (size_t)i, value * chain->factors[i % n] + chain->shifts[i % n]);
        is_finite &= isfinite(amp_tensor_double(sum, (size_t)i)) != 0;
    }
    free(values);
    return is_finite ? sum : NULL;
}

/* ---- folding --------------------------------------------------------------------------------- */

static bool is_finite(const struct amp_scale_chain *chain)
{
    for (int64_t c = 0; c < chain->n_channels; c++)
        if (!isfinite(chain->factors[c]) || !isfinite(chain->shifts[c]))
            return false;
    return true;
}

static bool has_shift(const struct amp_scale_chain *chain)
{
    for (int64_t c = 0; c < chain->n_channels; c++)
        if (chain->shifts[c] != 0)
            return true;
    return false;
}

static void set_weights(struct amp_model *model, const struct amp_scale_chain *chain,
                        struct amp_tensor *w)
{
    uint32_t id = add_constant(model, chain, w);
    amp_node_at(model, chain->node)->inputs[AMP_WEIGHTS] = id;
    if (chain->linear->alpha != NULL)
        amp_node_remove_attr(model, chain->node, chain->linear->alpha);
}

/* The linear node adds SUM (NULL: nothing) and gives the result; the others go. */
static void end_with_sum(struct amp_model *model, const struct amp_scale_chain *chain,
                         struct amp_tensor *sum)
{
    uint32_t result = amp_scale_chain_result(model, chain);
    for (size_t i = 0; i < chain->n_nodes; i++)
        amp_node_remove(model, chain->nodes[i]);
    amp_node_set_output(model, chain->node, 0, result);
    if (sum == NULL)
        return;
    uint32_t id = add_constant(model, chain, sum);
    amp_node_grow_inputs(model, chain->node, AMP_ADDED + 1);
    amp_node_at(model, chain->node)->inputs[AMP_ADDED] = id;
    if (chain->linear->beta != NULL)
        amp_node_remove_attr(model, chain->node, chain->linear->beta);
}

/* Makes the last node of the chain, whose linear node has no input to add, an Add of SUM; the other
   nodes go. */
static void end_with_add(struct amp_model *model, const struct amp_scale_chain *chain,
                         struct amp_tensor *sum)
{
    uint32_t last = chain->nodes[chain->n_nodes - 1], id = add_constant(model, chain, sum);
    uint32_t ids[] = {amp_node_at(model, chain->node)->outputs[0], id};
    for (size_t i = 0; i + 1 < chain->n_nodes; i++)
        amp_node_remove(model, chain->nodes[i]);
    amp_node_become(model, last, "Add", amp_op_find("", "Add")->newest);
    amp_node_at(model, last)->inputs = amp_arena_memdup(model->arena, ids, sizeof ids);
    amp_node_at(model, last)->n_inputs = AMP_COUNT(ids);
}

/* Leaves the model as it is where the weights would lose digits. */
static void fold(struct amp_model *model, const struct amp_scale_chain *chain)
{
    const struct amp_node *node = amp_node_at(model, chain->node);
    const struct amp_tensor *w = amp_scale_chain_constant(model, node, AMP_WEIGHTS);
    bool has_added = chain->linear->has_added;
    bool adds = has_shift(chain) || chain->adds;
    struct amp_tensor *sum = NULL, *weights = NULL;
    if (!is_finite(chain) || (chain->is_sum && !has_added) ||
        (adds && (sum = new_sum(model, chain, w->dtype)) == NULL) ||
        (!chain->is_sum && (weights = new_weights(model, chain, w)) == NULL))
        return;
    if (weights != NULL)
        set_weights(model, chain, weights);
    if (sum != NULL && !has_added)
        end_with_add(model, chain, sum);
    else
        end_with_sum(model, chain, sum);
}

void amp_scales_fold(struct amp_model *model)
{
    struct amp_uses uses = amp_uses_create(model);
    size_t n_nodes = model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        struct amp_scale_chain chain;
        if (amp_node_at(model, id)->is_removed || !amp_scale_chain_find(model, &uses, id, &chain))
            continue;
        fold(model, &chain);
        amp_scale_chain_release(&chain);
    }
    amp_uses_destroy(&uses);
}
