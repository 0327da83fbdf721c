/*
 * BatchNormalization goes into the weights of the convolution before it.
 */
#include "run/fold.h"

#include <math.h>
#include <stdlib.h>

enum { W = 1, B = 2 };
enum { SCALE = 1, BIAS, MEAN, VARIANCE };

static const struct amp_tensor *constant_of(const struct amp_model *model, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    bool is_float = tensor != NULL && amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT;
    return is_float && (tensor->data != NULL || tensor->source != NULL) ? tensor : NULL;
}

/* The elements of TENSOR in memory of their own, as floats that are yet to be rounded. */
static double *load(const struct amp_tensor *tensor)
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

/* A new constant of GRAPH, shaped as SHAPE, with VALUES rounded to DTYPE. */
static uint32_t store(struct amp_model *model, uint32_t graph, const char *base,
                      enum amp_dtype dtype, const struct amp_shape *shape, const double *values)
{
    struct amp_tensor *tensor = amp_arena_alloc(model->arena, sizeof *tensor);
    *tensor = (struct amp_tensor){.dtype = dtype, .shape = *shape};
    tensor->data = amp_arena_alloc(model->arena, amp_tensor_size(tensor));
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        amp_tensor_set_double(tensor, i, values[i]);
    return amp_graph_add_initializer(model, graph, amp_model_unique_name(model, base), tensor);
}

/* Whether the four parameters of NORM are constants, one value for each of COUNT channels. */
static bool has_parameters(const struct amp_model *model, const struct amp_node *norm,
                           int64_t count)
{
    for (uint32_t i = SCALE; i <= VARIANCE; i++) {
        const struct amp_tensor *tensor = constant_of(model, norm->inputs[i]);
        if (tensor == NULL || amp_shape_count(&tensor->shape) != count)
            return false;
    }
    return true;
}

static bool can_fold(const struct amp_model *model, const struct amp_node *conv,
                     const struct amp_node *norm)
{
    const struct amp_tensor *w = constant_of(model, conv->inputs[W]);
    bool has_bias = conv->n_inputs > B && conv->inputs[B] != AMP_NONE;
    if (w == NULL || w->shape.rank < 3 || !amp_dtype_is_autocast(w->dtype))
        return false;
    const struct amp_tensor *b = has_bias ? constant_of(model, conv->inputs[B]) : NULL;
    if (has_bias && (b == NULL || amp_shape_count(&b->shape) != w->shape.dims[0]))
        return false;
    bool is_inference = norm->since_version >= 9 && norm->n_outputs == 1 &&
                        amp_node_int(norm, "training_mode", 0) == 0;
    return is_inference &&
           amp_value_at(model, conv->outputs[0])->dtype ==
               amp_value_at(model, norm->outputs[0])->dtype &&
           has_parameters(model, norm, w->shape.dims[0]);
}

/* W s and (B - mean) s + bias; PARAMETERS by input of the norm, and the bias of the convolution as
   the first, or NULL. */
static void scale(const struct amp_shape *shape, double *w, double *b, double *const *parameters,
                  double epsilon)
{
    size_t channels = (size_t)shape->dims[0];
    size_t each = (size_t)amp_shape_product(shape, 1, shape->rank);
    for (size_t c = 0; c < channels; c++) {
        double factor = parameters[SCALE][c] / sqrt(parameters[VARIANCE][c] + epsilon);
        double before = parameters[0] != NULL ? parameters[0][c] : 0;
        for (size_t i = c * each; i < (c + 1) * each; i++)
            w[i] *= factor;
        b[c] = (before - parameters[MEAN][c]) * factor + parameters[BIAS][c];
    }
}

static void fold(struct amp_model *model, uint32_t conv_id, uint32_t norm_id)
{
    const struct amp_node *norm = amp_node_at(model, norm_id);
    struct amp_node *conv = amp_node_at(model, conv_id);
    const struct amp_tensor *w = constant_of(model, conv->inputs[W]);
    uint32_t old_bias = conv->n_inputs > B ? conv->inputs[B] : AMP_NONE;
    double *parameters[VARIANCE + 1] = {NULL};
    if (old_bias != AMP_NONE)
        parameters[0] = load(constant_of(model, old_bias));
    for (uint32_t i = SCALE; i <= VARIANCE; i++)
        parameters[i] = load(constant_of(model, norm->inputs[i]));
    double *weights = load(w);
    double *bias = amp_xmalloc((size_t)w->shape.dims[0], sizeof *bias);
    scale(&w->shape, weights, bias, parameters, (double)amp_node_float(norm, "epsilon", 1e-5f));
    const struct amp_shape vector = {.rank = 1, .dims = {w->shape.dims[0]}};
    uint32_t output = norm->outputs[0];
    uint32_t ids[] = {conv->inputs[0], store(model, conv->graph, "W", w->dtype, &w->shape, weights),
                      store(model, conv->graph, "B", w->dtype, &vector, bias)};
    conv->inputs = amp_arena_memdup(model->arena, ids, sizeof ids);
    conv->n_inputs = 3;
    amp_node_remove(model, norm_id);
    amp_node_set_output(model, conv_id, 0, output);
    for (size_t i = 0; i <= VARIANCE; i++)
        free(parameters[i]);
    free(weights);
    free(bias);
}

void amp_fold_batch_norms(struct amp_model *model)
{
    struct amp_uses uses = amp_uses_create(model);
    size_t n_nodes = model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct amp_node *norm = amp_node_at(model, id);
        if (norm->is_removed || !amp_node_is(norm, "", "BatchNormalization"))
            continue;
        uint32_t x = norm->inputs[0], producer = amp_value_at(model, x)->producer;
        if (producer == AMP_NONE || amp_value_at(model, x)->is_output ||
            uses.first[x + 1] - uses.first[x] != 1)
            continue;
        const struct amp_node *conv = amp_node_at(model, producer);
        if (amp_node_is(conv, "", "Conv") && conv->graph == norm->graph &&
            can_fold(model, conv, norm))
            fold(model, producer, id);
    }
    amp_uses_destroy(&uses);
}
