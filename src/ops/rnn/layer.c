/*
 * Reads RNN, GRU and LSTM nodes: attributes, shapes of outputs, and the checks of all inputs. It
 * gives a description of the layer that does not point into inputs but for the sequences' lengths;
 * it computes nothing.
 */
#include "ops/rnn/layer.h"

#include "core/array.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const struct cell {
    int64_t gates;
    int n_activations;
    struct amp_rnn_activation defaults[3];
} cells[] = {
    [AMP_RNN_PLAIN] = {1, 1, {{AMP_RNN_TANH, 0, 0}}},
    [AMP_RNN_GRU] = {3, 2, {{AMP_RNN_SIGMOID, 0, 0}, {AMP_RNN_TANH, 0, 0}}},
    [AMP_RNN_LSTM] = {4, 3, {{AMP_RNN_SIGMOID, 0, 0}, {AMP_RNN_TANH, 0, 0}, {AMP_RNN_TANH, 0, 0}}},
};

static enum amp_rnn_cell cell_of(const struct amp_node *node)
{
    const enum amp_rnn_cell *cell = amp_op_of(node)->own;
    return *cell;
}

/* ---- attributes ---- */

static const struct function {
    const char *name;
    int n_parameters; /* 0: none, 1: alpha, 2: alpha and beta */
    double alpha, beta;
} functions[] = {
#define X(id, name, parameters, alpha, beta) [AMP_RNN_##id] = {name, parameters, alpha, beta},
    AMP_RNN_ACTIVATION_LIST(X)
#undef X
};

static enum amp_status read_direction(const struct amp_ctx *ctx, struct amp_rnn_layer *layer)
{
    enum { FORWARD, REVERSE, BOTH };
    static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL};
    int direction = FORWARD;
    AMP_TRY(amp_ctx_choice(ctx, "direction", directions, &direction));
    layer->directions = direction == BOTH ? 2 : 1;
    layer->is_reverse[0] = direction == REVERSE;
    layer->is_reverse[1] = true;
    layer->is_batch_first = amp_node_int(ctx->node, "layout", 0) != 0;
    return AMP_OK;
}

static int find_function(const struct amp_str *name)
{
    for (int i = 0; i < (int)AMP_COUNT(functions); i++)
        if (strlen(functions[i].name) == name->size &&
            strncasecmp(functions[i].name, name->data, name->size) == 0)
            return i;
    return -1;
}

/* The next value of list NAME, where *NEXT counts; FALLBACK past its end. */
static double next_value(const struct amp_node *node, const char *name, size_t *next,
                         double fallback)
{
    const struct amp_attr *attr = amp_node_attr(node, name);
    if (attr == NULL || *next >= attr->count)
        return fallback;
    return (double)attr->floats[(*next)++];
}

static enum amp_status read_activations(const struct amp_ctx *ctx, const struct cell *cell,
                                        struct amp_rnn_layer *layer)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, "activations");
    size_t next_alpha = 0, next_beta = 0;
    int count = layer->directions * cell->n_activations;
    for (int d = 0; d < layer->directions; d++)
        memcpy(layer->activations[d], cell->defaults, sizeof cell->defaults);
    if (attr == NULL || attr->count == 0)
        return AMP_OK;
    if (attr->count != (size_t)count)
        return AMP_CTX_FAIL(ctx, "%zu activations; %d are needed", attr->count, count);
    for (int i = 0; i < count; i++) {
        const struct amp_str *name = &attr->strings[i];
        int found = find_function(name);
        if (found < 0)
            return AMP_CTX_FAIL(ctx, "unknown activation '%.*s'", (int)name->size, name->data);
        const struct function *function = &functions[found];
        struct amp_rnn_activation *activation =
            &layer->activations[i / cell->n_activations][i % cell->n_activations];
        *activation = (struct amp_rnn_activation){.function = (enum amp_rnn_function)found,
                                                  .alpha = function->alpha,
                                                  .beta = function->beta};
        if (function->n_parameters > 0)
            activation->alpha =
                next_value(ctx->node, "activation_alpha", &next_alpha, function->alpha);
        if (function->n_parameters > 1)
            activation->beta = next_value(ctx->node, "activation_beta", &next_beta, function->beta);
    }
    return AMP_OK;
}

/* ---- shapes ---- */

static int64_t dim_of(const struct amp_ctx *ctx, uint32_t i, int axis)
{
    const struct amp_shape *shape = &ctx->in[i]->shape;
    return shape->rank == 3 ? shape->dims[axis] : AMP_DIM_UNKNOWN;
}

/* Steps, batch, input and hidden size, as far as they are known. */
static enum amp_status read_sizes(const struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                  struct amp_rnn *rnn)
{
    for (uint32_t i = AMP_RNN_X; i <= AMP_RNN_R; i++)
        if (ctx->in[i]->shape.rank != 3 && ctx->in[i]->shape.rank >= 0)
            return AMP_CTX_FAIL(ctx, "input %u has rank %d; 3 is needed", i,
                                ctx->in[i]->shape.rank);
    rnn->steps = dim_of(ctx, AMP_RNN_X, layer->is_batch_first ? 1 : 0);
    rnn->batch = dim_of(ctx, AMP_RNN_X, layer->is_batch_first ? 0 : 1);
    rnn->input = dim_of(ctx, AMP_RNN_X, 2);
    rnn->hidden = amp_node_int(ctx->node, "hidden_size", dim_of(ctx, AMP_RNN_R, 2));
    if (amp_node_attr(ctx->node, "hidden_size") != NULL && rnn->hidden < 0)
        return AMP_CTX_FAIL(ctx, "hidden_size is %lld", (long long)rnn->hidden);
    return AMP_OK;
}

enum amp_status amp_rnn_shape(struct amp_ctx *ctx)
{
    struct amp_rnn_layer layer;
    struct amp_rnn rnn = {.cell = cell_of(ctx->node)};
    AMP_TRY(read_direction(ctx, &layer));
    AMP_TRY(read_sizes(ctx, &layer, &rnn));
    int64_t d = layer.directions, t = rnn.steps, b = rnn.batch, h = rnn.hidden;
    for (uint32_t i = 0; i < ctx->n_out; i++) {
        struct amp_shape *out = &ctx->out[i]->shape;
        if (i == AMP_RNN_Y)
            *out = layer.is_batch_first ? (struct amp_shape){4, {b, t, d, h}}
                                        : (struct amp_shape){4, {t, d, b, h}};
        else
            *out = layer.is_batch_first ? (struct amp_shape){3, {b, d, h}}
                                        : (struct amp_shape){3, {d, b, h}};
    }
    return AMP_OK;
}

/* ---- checks ---- */

/* Input I, when it is there, must have these dims. */
static enum amp_status check_dims(const struct amp_ctx *ctx, uint32_t i, struct amp_shape want)
{
    char have_text[200], want_text[200];
    if (!amp_has_in(ctx, i) || amp_shape_equal(&ctx->in[i]->shape, &want))
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "input %u has shape %s; %s is needed", i,
                        amp_shape_text(&ctx->in[i]->shape, have_text, sizeof have_text),
                        amp_shape_text(&want, want_text, sizeof want_text));
}

static enum amp_status check_inputs(const struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                    const struct amp_rnn *rnn)
{
    int64_t d = layer->directions, b = rnn->batch, h = rnn->hidden, width;
    size_t size;
    if (__builtin_mul_overflow(h, 2 * rnn->gates, &width))
        return AMP_CTX_FAIL(ctx, "hidden_size is %lld", (long long)h);
    AMP_TRY(amp_shape_size(&(struct amp_shape){2, {b, width}}, AMP_DOUBLE, &size, ctx->err));
    struct amp_shape state =
        layer->is_batch_first ? (struct amp_shape){3, {b, d, h}} : (struct amp_shape){3, {d, b, h}};
    AMP_TRY(check_dims(ctx, AMP_RNN_W, (struct amp_shape){3, {d, width / 2, rnn->input}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_R, (struct amp_shape){3, {d, width / 2, h}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_BIAS, (struct amp_shape){2, {d, width}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_LENGTHS, (struct amp_shape){1, {b}}));
    AMP_TRY(check_dims(ctx, AMP_RNN_H, state));
    AMP_TRY(check_dims(ctx, AMP_RNN_C, state));
    AMP_TRY(check_dims(ctx, AMP_RNN_PEEPHOLES, (struct amp_shape){2, {d, 3 * h}}));
    for (int64_t i = 0; i < b && rnn->lengths != NULL; i++)
        if (rnn->lengths[i] < 0 || rnn->lengths[i] > rnn->steps)
            return AMP_CTX_FAIL(ctx, "sequence %lld has length %d; there are %lld steps",
                                (long long)i, (int)rnn->lengths[i], (long long)rnn->steps);
    return AMP_OK;
}

static void set_strides(const struct amp_rnn_layer *layer, struct amp_rnn *rnn)
{
    int64_t d = layer->directions, i = rnn->input, h = rnn->hidden;
    bool is_batch_first = layer->is_batch_first;
    rnn->x_step = is_batch_first ? i : rnn->batch * i;
    rnn->x_batch = is_batch_first ? rnn->steps * i : i;
    rnn->y_step = is_batch_first ? d * h : d * rnn->batch * h;
    rnn->y_batch = is_batch_first ? rnn->steps * d * h : h;
    rnn->state_batch = is_batch_first ? d * h : h;
    if (rnn->batch == 1)
        rnn->x_batch = i;
}

enum amp_status amp_rnn_read(const struct amp_ctx *ctx, struct amp_rnn_layer *layer)
{
    struct amp_rnn *rnn = &layer->common;
    enum amp_rnn_cell cell = cell_of(ctx->node);
    *layer = (struct amp_rnn_layer){.common = {.cell = cell, .gates = cells[cell].gates}};
    AMP_TRY(read_direction(ctx, layer));
    AMP_TRY(read_activations(ctx, &cells[cell], layer));
    AMP_TRY(read_sizes(ctx, layer, rnn));
    rnn->linear_before_reset = amp_node_int(ctx->node, "linear_before_reset", 0) != 0;
    rnn->input_forget = amp_node_int(ctx->node, "input_forget", 0) != 0;
    float clip = amp_node_float(ctx->node, "clip", 0);
    rnn->clip = clip > 0 ? (double)clip : (double)INFINITY;
    if (amp_has_in(ctx, AMP_RNN_LENGTHS))
        rnn->lengths = ctx->in[AMP_RNN_LENGTHS]->data;
    AMP_TRY(check_inputs(ctx, layer, rnn));
    set_strides(layer, rnn);
    return AMP_OK;
}
