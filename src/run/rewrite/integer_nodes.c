/*
 * Makes integer operators of what quantized models write in floats (QDQ): a node whose float inputs
 * come from DequantizeLinear and whose outputs go to QuantizeLinear takes the integers of the one
 * and gives those of the other. Takes a model whose types are inferred, and leaves the order of its
 * nodes to be sorted. A node stays in floats where scales are not constant, or where its operator
 * has no integer form that is exact on this CPU.
 */
#include "run/rewrite/integer_nodes.h"

#include "core/graph/uses.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/requantize.h"
#include "ops/op.h"

#include <math.h>
#include <stdlib.h>

/* Integers that stand for floats: VALUE times a scale, from a zero point on. */
struct integers {
    uint32_t value, scale, zero; /* ZERO: AMP_NONE: 0 */
    uint32_t node;               /* that makes floats of them, or them of floats */
};

enum { SCALED_MAX = 2, INPUTS_MAX = 9 };

/* A node that may become one of integers. */
struct candidate {
    struct amp_model *model;
    const struct amp_uses *uses;
    const struct amp_integer_form *form;
    uint32_t id;
};

static const struct amp_tensor *constant(const struct amp_model *model, uint32_t id)
{
    const struct amp_tensor *tensor = id == AMP_NONE ? NULL : amp_value_at(model, id)->constant;
    return tensor != NULL && tensor->data != NULL ? tensor : NULL;
}

static size_t count_scales(const struct amp_model *model, const struct integers *q)
{
    return amp_tensor_count(constant(model, q->scale));
}

static double scale_of(const struct amp_model *model, const struct integers *q, size_t i)
{
    return amp_tensor_double(constant(model, q->scale), count_scales(model, q) > 1 ? i : 0);
}

static int64_t zero_of(const struct amp_model *model, const struct integers *q)
{
    return q->zero == AMP_NONE ? 0 : amp_tensor_int(constant(model, q->zero), 0);
}

static bool has_zero_points(const struct amp_model *model, const struct integers *q)
{
    const struct amp_tensor *zeros = q->zero == AMP_NONE ? NULL : constant(model, q->zero);
    for (size_t i = 0; zeros != NULL && i < amp_tensor_count(zeros); i++)
        if (amp_tensor_int(zeros, i) != 0)
            return true;
    return false;
}

/* Whether Q, as NODE says it, has constant float32 scales, all of them above 0. */
static bool has_scales(const struct amp_model *model, const struct amp_node *node,
                       const struct integers *q)
{
    const struct amp_tensor *scales = constant(model, q->scale);
    if (scales == NULL || scales->dtype != AMP_FLOAT ||
        (q->zero != AMP_NONE && constant(model, q->zero) == NULL) ||
        amp_node_int(node, "block_size", 0) != 0 ||
        amp_node_int(node, "precision", AMP_UNDEFINED) != AMP_UNDEFINED)
        return false;
    for (size_t i = 0; i < amp_tensor_count(scales); i++) {
        double scale = amp_tensor_double(scales, i);
        if (!isnormal((float)scale) || scale < 0)
            return false;
    }
    return amp_tensor_count(scales) > 0;
}

/* What NODE, which has ROLE, says of integers that are in VALUE. */
static bool read_integers(const struct amp_model *model, uint32_t id, enum amp_role role,
                          uint32_t value, struct integers *q)
{
    const struct amp_node *node = id == AMP_NONE ? NULL : amp_node_at(model, id);
    if (node == NULL || !amp_node_has_role(node, role))
        return false;
    *q = (struct integers){.value = value == AMP_NONE ? node->inputs[0] : value,
                           .scale = node->inputs[1],
                           .zero = node->n_inputs > 2 ? node->inputs[2] : AMP_NONE,
                           .node = id};
    return has_scales(model, node, q);
}

static enum amp_dtype dtype_of(const struct amp_model *model, uint32_t value)
{
    return amp_value_at(model, value)->dtype;
}

static bool are_bytes(const struct amp_model *model, const struct integers *q)
{
    enum amp_dtype dtype = dtype_of(model, q->value);
    return dtype == AMP_INT8 || dtype == AMP_UINT8;
}

static bool read_input(const struct candidate *c, uint32_t i, struct integers *q)
{
    uint32_t value = amp_node_at(c->model, c->id)->inputs[i];
    return value != AMP_NONE && dtype_of(c->model, value) == AMP_FLOAT &&
           read_integers(c->model, amp_value_at(c->model, value)->producer,
                         AMP_ROLE_DEQUANTIZE_LINEAR, AMP_NONE, q);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Whether NODE does nothing to floats but keep them in the range of the integers Q, where they are
   to be rounded to: a Relu where the zero point is the lowest. */
static bool is_saturation(const struct amp_model *model, const struct amp_node *node,
                          const struct integers *q)
{
    struct amp_post post;
    if (!amp_post_of(model, node, 0, &post))
        return false;
    bool is_relu = post.alg == dnnl_eltwise_relu && post.alpha == 0;
    if (!is_relu && post.alg != dnnl_eltwise_clip)
        return false;
    const double scale = scale_of(model, q, 0), zero = (double)zero_of(model, q);
    const double low = dtype_of(model, q->value) == AMP_INT8 ? INT8_MIN : 0;
    double from = is_relu ? 0 : (double)post.alpha, to = is_relu ? INFINITY : (double)post.beta;
    return rint(from / scale) + zero <= low && rint(to / scale) + zero >= low + UINT8_MAX;
}

/* The integers that OUTPUT of the node is rounded to, by its only reader or by one behind an
   activation, which is *BETWEEN then. */
static bool read_output(const struct candidate *c, uint32_t output, struct integers *q,
                        uint32_t *between)
{
    const struct amp_model *model = c->model;
    struct amp_use use, next;
    *between = AMP_NONE;
    if (output == AMP_NONE || !amp_uses_only(model, c->uses, output, &use))
        return false;
    uint32_t first = use.node;
    const struct amp_node *node = amp_node_at(model, first);
    if (!amp_node_has_role(node, AMP_ROLE_QUANTIZE_LINEAR)) {
        if (node->n_outputs != 1 || !amp_uses_only(model, c->uses, node->outputs[0], &next))
            return false;
        *between = first;
        use = next;
    }
    uint32_t made = amp_node_at(model, use.node)->outputs[0];
    return use.slot == 0 && read_integers(model, use.node, AMP_ROLE_QUANTIZE_LINEAR, made, q) &&
           count_scales(model, q) == 1 && are_bytes(model, q) &&
           (*between == AMP_NONE || is_saturation(model, node, q));
}

/* Makes output SLOT of the node Q, and takes out what made that of it. */
static void give(const struct candidate *c, uint32_t slot, const struct integers *q,
                 uint32_t between)
{
    if (between != AMP_NONE)
        amp_node_remove(c->model, between);
    amp_node_remove(c->model, q->node);
    amp_node_set_output(c->model, c->id, slot, q->value);
}

/* ---- operators that move elements ------------------------------------------------------------ */

static bool are_alike(const struct amp_model *model, const struct integers *a,
                      const struct integers *b)
{
    return dtype_of(model, a->value) == dtype_of(model, b->value) && count_scales(model, b) == 1 &&
           scale_of(model, a, 0) == scale_of(model, b, 0) && zero_of(model, a) == zero_of(model, b);
}

/* Whether the operator of the node takes and gives elements of DTYPE. */
static bool takes(const struct candidate *c, enum amp_dtype dtype)
{
    const struct amp_schema *schema = amp_node_at(c->model, c->id)->schema;
    const struct amp_schema_param *output = amp_schema_output(schema, 0);
    return (amp_schema_type(schema, output)->tensors & AMP_DTYPE_BIT(dtype)) != 0;
}

static bool move(const struct candidate *c)
{
    struct amp_node *node = amp_node_at(c->model, c->id);
    struct integers first, q;
    uint32_t between;
    if (!read_input(c, 0, &first) || !takes(c, dtype_of(c->model, first.value)))
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && dtype_of(c->model, node->inputs[i]) == AMP_FLOAT &&
            (!read_input(c, i, &q) || !are_alike(c->model, &first, &q)))
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (!read_output(c, node->outputs[i], &q, &between) || !are_alike(c->model, &first, &q))
            return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (read_input(c, i, &q))
            node->inputs[i] = q.value;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        read_output(c, node->outputs[i], &q, &between);
        give(c, i, &q, between);
    }
    return true;
}

/* ---- operators that compute ------------------------------------------------------------------ */

/* The dim of constant weights that the node has a sum for each of. */
static int channel_of(const struct candidate *c, int rank)
{
    return c->form->channel < 0 ? rank + c->form->channel : c->form->channel;
}

/* Whether the scales of weights W are one, or one for each channel. */
static bool has_channel_scales(const struct candidate *c, const struct integers *w, int channel)
{
    const struct amp_shape *shape = &constant(c->model, w->value)->shape;
    if (count_scales(c->model, w) == 1)
        return true;
    int64_t axis = amp_node_int(amp_node_at(c->model, w->node), "axis", 1);
    return (axis < 0 ? axis + shape->rank : axis) == channel;
}

/* Whether the int32 BIAS has the scales of the products of X with weights W. */
static bool fits_bias(const struct candidate *c, const struct integers *x, const struct integers *w,
                      const struct integers *bias)
{
    const struct amp_tensor *values = constant(c->model, bias->value);
    if (values == NULL || values->dtype != AMP_INT32 || has_zero_points(c->model, bias))
        return false;
    for (size_t i = 0; i < amp_tensor_count(values); i++) {
        double scale = scale_of(c->model, x, 0) * scale_of(c->model, w, i);
        if (!(fabs(scale_of(c->model, bias, i) - scale) <= 1e-5 * scale))
            return false;
    }
    return true;
}

/* Whether weights W, and BIAS where it is not NULL, make sums that are exact. */
static bool has_exact_sums(const struct candidate *c, const struct integers *x,
                           const struct integers *w, const struct integers *bias)
{
    const struct amp_tensor *weights = constant(c->model, w->value);
    if (weights == NULL || weights->dtype != AMP_INT8 || weights->shape.rank < 2 ||
        has_zero_points(c->model, w))
        return false;
    int channel = channel_of(c, weights->shape.rank);
    if (!has_channel_scales(c, w, channel) || (bias != NULL && !fits_bias(c, x, w, bias)))
        return false;
    return amp_byte_sums_way(&(struct amp_byte_sums){
               .x = dtype_of(c->model, x->value),
               .x_zero = zero_of(c->model, x),
               .w = weights,
               .group = c->form->group == NULL
                            ? 0
                            : amp_node_int(amp_node_at(c->model, c->id), c->form->group, 1),
               .bias = bias == NULL ? NULL : constant(c->model, bias->value),
               .channel = channel}) != AMP_BYTES_APART;
}

/* The zero point of Q, as an operator must have it. */
static uint32_t zero_input(const struct candidate *c, const struct integers *q)
{
    struct amp_model *model = c->model;
    if (q->zero != AMP_NONE)
        return q->zero;
    const struct amp_tensor *scales = constant(model, q->scale);
    struct amp_tensor *zeros = amp_arena_alloc(model->arena, sizeof *zeros);
    *zeros = (struct amp_tensor){.dtype = dtype_of(model, q->value), .shape = scales->shape};
    zeros->data = amp_arena_array(model->arena, amp_tensor_count(zeros), 1);
    return amp_graph_add_initializer(model, amp_node_at(model, c->id)->graph,
                                     amp_model_unique_name(model, "zero"), zeros);
}

static void add_scaled(const struct candidate *c, const struct integers *q, uint32_t *inputs,
                       uint32_t *n)
{
    inputs[(*n)++] = q->scale;
    inputs[(*n)++] = zero_input(c, q);
}

/* Makes the node one of its form's operator. BIAS: AMP_NONE: it has none. */
static void become(const struct candidate *c, const struct integers *scaled,
                   const struct integers *y, uint32_t bias)
{
    uint32_t *inputs = amp_arena_array(c->model->arena, INPUTS_MAX, sizeof *inputs), n = 0;
    for (int i = 0; i < SCALED_MAX; i++) {
        inputs[n++] = scaled[i].value;
        add_scaled(c, &scaled[i], inputs, &n);
    }
    add_scaled(c, y, inputs, &n);
    if (bias != AMP_NONE) {
        inputs[c->form->bias] = bias;
        n++;
    }
    amp_node_change(c->model, c->id, c->form->op->domain, c->form->op->name, c->form->op->newest);
    struct amp_node *node = amp_node_at(c->model, c->id);
    node->inputs = inputs;
    node->n_inputs = n;
}

static bool compute(const struct candidate *c)
{
    const struct amp_node *node = amp_node_at(c->model, c->id);
    struct integers scaled[SCALED_MAX], bias, y;
    uint32_t between;
    bool has_bias = node->n_inputs > SCALED_MAX && node->inputs[SCALED_MAX] != AMP_NONE;
    for (uint32_t i = 0; i < SCALED_MAX; i++)
        if (!read_input(c, i, &scaled[i]) || !are_bytes(c->model, &scaled[i]))
            return false;
    if (count_scales(c->model, &scaled[0]) != 1 ||
        (has_bias && !read_input(c, SCALED_MAX, &bias)) ||
        !read_output(c, node->outputs[0], &y, &between))
        return false;
    enum amp_dtype dtype = dtype_of(c->model, y.value);
    bool is_alike = dtype_of(c->model, scaled[0].value) == dtype &&
                    dtype_of(c->model, scaled[1].value) == dtype &&
                    count_scales(c->model, &scaled[1]) == 1;
    if (c->form->has_weights ? !has_exact_sums(c, &scaled[0], &scaled[1], has_bias ? &bias : NULL)
                             : !is_alike)
        return false;
    become(c, scaled, &y, has_bias ? bias.value : AMP_NONE);
    give(c, 0, &y, between);
    return true;
}

/* ---- all nodes ------------------------------------------------------------------------------- */

static bool make(struct amp_model *model, const struct amp_uses *uses, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_op *op = node->is_removed ? NULL : amp_op_of(node);
    if (op == NULL || op->integer == NULL || node->schema == NULL ||
        (op->integer->suits != NULL && !op->integer->suits(node)))
        return false;
    const struct candidate c = {model, uses, op->integer, id};
    return op->integer->op == NULL ? move(&c) : compute(&c);
}

/* Takes out what makes floats of integers for nobody. */
static void remove_unused(struct amp_model *model)
{
    uint32_t *counts = amp_uses_count(model);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (amp_node_has_role(node, AMP_ROLE_DEQUANTIZE_LINEAR) && counts[node->outputs[0]] == 0)
            amp_node_remove(model, id);
    }
    free(counts);
}

size_t amp_integer_nodes_make(struct amp_model *model)
{
    struct amp_uses uses = amp_uses_create(model);
    size_t count = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++)
        count += make(model, &uses, id);
    amp_uses_destroy(&uses);
    if (count > 0)
        remove_unused(model);
    return count;
}
