/*
 * Which operators oneDNN can do as post-ops.
 */
#include "ops/dnnl/post_op.h"

#include "core/array.h"

#include <math.h>
#include <string.h>

/* Attributes that alpha and beta come from; without one it is the number. */
struct eltwise {
    const char *op_type;
    dnnl_alg_kind_t alg;
    const char *alpha_attr, *beta_attr;
    float alpha, beta;
};

static const struct eltwise eltwises[] = {
    {"Abs", dnnl_eltwise_abs, NULL, NULL, 0, 0},
    {"Elu", dnnl_eltwise_elu, "alpha", NULL, 1, 0},
    {"HardSigmoid", dnnl_eltwise_hardsigmoid, "alpha", "beta", 0.2f, 0.5f},
    {"HardSwish", dnnl_eltwise_hardswish, NULL, NULL, 1 / 6.f, 0.5f},
    {"LeakyRelu", dnnl_eltwise_relu, "alpha", NULL, 0.01f, 0},
    {"Mish", dnnl_eltwise_mish, NULL, NULL, 0, 0},
    {"Relu", dnnl_eltwise_relu, NULL, NULL, 0, 0},
    {"Sigmoid", dnnl_eltwise_logistic, NULL, NULL, 0, 0},
    {"Sqrt", dnnl_eltwise_sqrt, NULL, NULL, 0, 0},
    {"Swish", dnnl_eltwise_swish, "alpha", NULL, 1, 0},
    {"Tanh", dnnl_eltwise_tanh, NULL, NULL, 0, 0},
};

static const struct binary {
    const char *op_type;
    dnnl_alg_kind_t alg;
    bool is_ordered; /* the result must be the first operand */
} binaries[] = {
    {"Add", dnnl_binary_add, false},
    {"Div", dnnl_binary_div, true},
    {"Mul", dnnl_binary_mul, false},
    {"Sub", dnnl_binary_sub, true},
};

static bool is_float(const struct amp_model *model, uint32_t value)
{
    enum amp_dtype dtype = amp_value_at(model, value)->dtype;
    return amp_dtype_is_autocast(dtype);
}

/* Sets *NUMBER to the one element of input I, or leaves it when there is none. */
static bool read_number(const struct amp_model *model, const struct amp_node *node, uint32_t i,
                        float *number)
{
    if (i >= node->n_inputs || node->inputs[i] == AMP_NONE)
        return true;
    const struct amp_tensor *tensor = amp_value_at(model, node->inputs[i])->constant;
    if (tensor == NULL || tensor->data == NULL || amp_tensor_count(tensor) != 1)
        return false;
    *number = (float)amp_tensor_double(tensor, 0);
    return true;
}

static bool clip_of(const struct amp_model *model, const struct amp_node *node,
                    struct amp_post *post)
{
    *post = (struct amp_post){.kind = AMP_POST_ELTWISE,
                              .alg = dnnl_eltwise_clip,
                              .alpha = amp_node_float(node, "min", -INFINITY),
                              .beta = amp_node_float(node, "max", INFINITY)};
    return read_number(model, node, 1, &post->alpha) && read_number(model, node, 2, &post->beta) &&
           post->alpha <= post->beta;
}

static bool gelu_of(const struct amp_node *node, struct amp_post *post)
{
    bool is_tanh = strcmp(amp_node_string(node, "approximate", "none"), "tanh") == 0;
    *post = (struct amp_post){.kind = AMP_POST_ELTWISE,
                              .alg = is_tanh ? dnnl_eltwise_gelu_tanh : dnnl_eltwise_gelu_erf};
    return true;
}

static bool eltwise_of(const struct amp_node *node, struct amp_post *post)
{
    for (size_t i = 0; i < AMP_COUNT(eltwises); i++) {
        const struct eltwise *e = &eltwises[i];
        if (strcmp(e->op_type, node->op_type) != 0)
            continue;
        *post = (struct amp_post){
            .kind = AMP_POST_ELTWISE,
            .alg = e->alg,
            .alpha = e->alpha_attr ? amp_node_float(node, e->alpha_attr, e->alpha) : e->alpha,
            .beta = e->beta_attr ? amp_node_float(node, e->beta_attr, e->beta) : e->beta};
        return true;
    }
    return false;
}

/* Before version 7 operands were lined up by an attribute. */
static bool binary_of(const struct amp_model *model, const struct amp_node *node, uint32_t slot,
                      struct amp_post *post)
{
    for (size_t i = 0; i < AMP_COUNT(binaries) && node->since_version >= 7; i++) {
        if (strcmp(binaries[i].op_type, node->op_type) != 0)
            continue;
        *post = (struct amp_post){.kind = AMP_POST_BINARY, .alg = binaries[i].alg, .in = 1 - slot};
        return node->inputs[0] != node->inputs[1] && is_float(model, node->inputs[1 - slot]) &&
               (slot == 0 || !binaries[i].is_ordered);
    }
    return false;
}

bool amp_post_of(const struct amp_model *model, const struct amp_node *node, uint32_t slot,
                 struct amp_post *post)
{
    if (node->domain[0] != '\0' || node->n_outputs != 1 || !is_float(model, node->outputs[0]) ||
        !is_float(model, node->inputs[slot]))
        return false;
    if (slot == 0 && amp_node_is(node, "", "Clip"))
        return clip_of(model, node, post);
    if (slot == 0 && amp_node_is(node, "", "Gelu"))
        return gelu_of(node, post);
    if (slot == 0 && amp_node_is(node, "", "Cast")) {
        *post = (struct amp_post){.kind = AMP_POST_CAST};
        return true;
    }
    return (slot == 0 && eltwise_of(node, post)) || binary_of(model, node, slot, post);
}

bool amp_post_hides_nan(const struct amp_post *post)
{
    return post->kind == AMP_POST_ELTWISE &&
           (post->alg == dnnl_eltwise_clip || post->alg == dnnl_eltwise_hardsigmoid ||
            (post->alg == dnnl_eltwise_relu && post->alpha == 0));
}
