/*
 * Adagrad, Adam and Momentum (ai.onnx.preview.training 1): one step of each for any number of
 * tensors. Inputs: the learning rate R, the update count T, then for N tensors all values X, all
 * gradients G and all states; outputs: the new values, then the new states. Computes in double.
 */
#include "core/simd.h"
#include "ops/kernel/kernel.h"

#include <string.h>

#define DOMAIN "ai.onnx.preview.training"

enum { IN_RATE, IN_COUNT, IN_TENSORS };
enum { X, G, STATE }; /* groups of inputs */
enum { MAX_STATES = 2 };

/* An optimizer's parameters; R is adjusted to the update count. */
struct step {
    double rate, alpha, beta, epsilon, norm, norm_post;
    bool is_nesterov;
};

/* One element: X and the states become the new ones. */
struct element {
    double x, g, state[MAX_STATES];
};

/* Output I, a value or a state, has the dtype of its input. GROUPS: of inputs, as many in each as
   there are tensors. */
static enum amp_dtype state_dtype(const struct amp_model *model, const struct amp_node *node,
                                  uint32_t i, uint32_t groups)
{
    uint32_t n = node->n_inputs < IN_TENSORS ? 0 : (node->n_inputs - IN_TENSORS) / groups;
    uint32_t input = IN_TENSORS + (i < n ? i : i + n);
    if (n == 0 || input >= node->n_inputs || node->inputs[input] == AMP_NONE)
        return AMP_UNDEFINED;
    return amp_value_at(model, node->inputs[input])->dtype;
}

static enum amp_dtype one_state_dtype(const struct amp_model *model, const struct amp_node *node,
                                      uint32_t i)
{
    return state_dtype(model, node, i, STATE + 1);
}

static enum amp_dtype two_states_dtype(const struct amp_model *model, const struct amp_node *node,
                                       uint32_t i)
{
    return state_dtype(model, node, i, STATE + 2);
}

static inline void update_adagrad(const struct step *step, struct element *e)
{
    double g = step->norm * e->x + e->g;
    e->state[0] += g * g;
    e->x -= step->rate * g / (sqrt(e->state[0]) + step->epsilon);
}

static inline void update_adam(const struct step *step, struct element *e)
{
    double g = step->norm * e->x + e->g;
    e->state[0] = step->alpha * e->state[0] + (1 - step->alpha) * g;
    e->state[1] = step->beta * e->state[1] + (1 - step->beta) * g * g;
    e->x -= step->rate * e->state[0] / (sqrt(e->state[1]) + step->epsilon);
    e->x *= 1 - step->norm_post;
}

static inline void update_momentum(const struct step *step, struct element *e)
{
    double g = step->norm * e->x + e->g;
    e->state[0] = step->alpha * e->state[0] + step->beta * g;
    e->x -= step->rate * (step->is_nesterov ? g + step->alpha * e->state[0] : e->state[0]);
}

/* ---- Groups of tensors ---- */

/* How many tensors each group has. AMP_MODEL unless inputs and outputs are so many groups. */
static enum amp_status count_tensors(struct amp_ctx *ctx, uint32_t states, uint32_t *n)
{
    uint32_t groups = STATE + states;
    *n = ctx->n_in < IN_TENSORS ? 0 : (ctx->n_in - IN_TENSORS) / groups;
    if (*n > 0 && ctx->n_in == IN_TENSORS + *n * groups && ctx->n_out == *n * (1 + states))
        return AMP_OK;
    return AMP_CTX_FAIL(ctx,
                        "%u inputs and %u outputs; 2 and %u for each tensor, and %u for each, are "
                        "needed",
                        ctx->n_in, ctx->n_out, groups, 1 + states);
}

/* The input that output I is the new one of. */
static uint32_t source_of(uint32_t i, uint32_t n)
{
    uint32_t group = i < n ? X : STATE + i / n - 1;
    return IN_TENSORS + group * n + i % n;
}

static enum amp_status optimizer_shape(struct amp_ctx *ctx, uint32_t states)
{
    uint32_t n;
    AMP_TRY(count_tensors(ctx, states, &n));
    for (uint32_t i = 0; i < ctx->n_out; i++)
        if (amp_has_in(ctx, source_of(i, n)))
            ctx->out[i]->shape = ctx->in[source_of(i, n)]->shape;
    return AMP_OK;
}

/* That everything about tensor I has one dtype and shape. */
static enum amp_status check_tensor(struct amp_ctx *ctx, uint32_t states, uint32_t n, uint32_t i)
{
    const struct amp_tensor *x = ctx->in[IN_TENSORS + i];
    char text[200], text_x[200];
    for (uint32_t group = X; group < STATE + states; group++) {
        uint32_t input = IN_TENSORS + group * n + i;
        const struct amp_tensor *other = ctx->in[input];
        if (other == NULL) /* X itself comes first */
            return AMP_CTX_FAIL(ctx, "input %u is omitted", input);
        if (other->dtype != x->dtype || !amp_shape_equal(&other->shape, &x->shape))
            return AMP_CTX_FAIL(ctx, "input %u is %s %s; input %u, the same tensor's, is %s %s",
                                input, amp_dtype_name(other->dtype),
                                amp_shape_text(&other->shape, text, sizeof text), IN_TENSORS + i,
                                amp_dtype_name(x->dtype),
                                amp_shape_text(&x->shape, text_x, sizeof text_x));
    }
    for (uint32_t o = i; o < ctx->n_out; o += n)
        if (amp_has_out(ctx, o) && ctx->out[o]->dtype != x->dtype)
            return AMP_CTX_FAIL(ctx, "output %u is %s; its input is %s", o,
                                amp_dtype_name(ctx->out[o]->dtype), amp_dtype_name(x->dtype));
    return AMP_OK;
}

/* Data of tensor I, [groups]; outputs that nobody wants are NULL. */
struct operands {
    const void *in[STATE + MAX_STATES];
    void *out[1 + MAX_STATES];
    uint32_t states;
    int64_t count;
};

#define APPLY(DTYPE, T, update)                                                          \
    static void update##_##DTYPE(const struct step *step, const struct operands *o)      \
    {                                                                                    \
        const T *x = o->in[X], *g = o->in[G];                                            \
        bool is_large = o->count >= AMP_PARALLEL_MIN;                                    \
        _Pragma("omp parallel for if (is_large)") for (int64_t i = 0; i < o->count; i++) \
        {                                                                                \
            struct element e = {.x = (double)x[i], .g = (double)g[i]};                   \
            for (uint32_t s = 0; s < o->states; s++)                                     \
                e.state[s] = (double)((const T *)o->in[STATE + s])[i];                   \
            update(step, &e);                                                            \
            if (o->out[0] != NULL)                                                       \
                ((T *)o->out[0])[i] = (T)e.x;                                            \
            for (uint32_t s = 0; s < o->states; s++)                                     \
                if (o->out[1 + s] != NULL)                                               \
                    ((T *)o->out[1 + s])[i] = (T)e.state[s];                             \
        }                                                                                \
    }
AMP_FLOAT_TYPES(APPLY, update_adagrad)
AMP_FLOAT_TYPES(APPLY, update_adam)
AMP_FLOAT_TYPES(APPLY, update_momentum)

typedef void apply_fn(const struct step *step, const struct operands *operands);

static enum amp_status run_step(struct amp_ctx *ctx, const struct step *step, uint32_t states,
                                apply_fn *const *table)
{
    uint32_t n;
    AMP_TRY(count_tensors(ctx, states, &n));
    for (uint32_t i = 0; i < n; i++) {
        struct operands operands = {.states = states};
        apply_fn *apply;
        AMP_TRY(check_tensor(ctx, states, n, i));
        AMP_PICK(ctx, apply, table, ctx->in[IN_TENSORS + i]->dtype);
        operands.count = amp_shape_count(&ctx->in[IN_TENSORS + i]->shape);
        for (uint32_t k = 0; k < STATE + states; k++)
            operands.in[k] = ctx->in[IN_TENSORS + k * n + i]->data;
        for (uint32_t k = 0; k < 1 + states; k++)
            operands.out[k] = amp_has_out(ctx, k * n + i) ? ctx->out[k * n + i]->data : NULL;
        apply(step, &operands);
    }
    return AMP_OK;
}

/* R and T, one number each. */
static enum amp_status read_rate(struct amp_ctx *ctx, double *rate, double *count)
{
    for (uint32_t i = IN_RATE; i <= IN_COUNT; i++)
        if (amp_shape_count(&ctx->in[i]->shape) != 1)
            return AMP_CTX_FAIL(ctx, "input %u: one number is needed", i);
    *rate = amp_tensor_double(ctx->in[IN_RATE], 0);
    *count = (double)amp_tensor_int(ctx->in[IN_COUNT], 0);
    return AMP_OK;
}

static double parameter(const struct amp_ctx *ctx, const char *name, float fallback)
{
    return (double)amp_node_float(ctx->node, name, fallback);
}

/* ---- The same as terms ---- */

#define RATE                                                                           \
    "rate = CastLike(Choose(a=0, a, Squeeze(a)), 1); steps = CastLike(Choose(b=0, b, " \
    "Squeeze(b)), 1);"
#define SLOPE "Choose(norm_coefficient=0, g, Add(Mul($norm_coefficient, x), g))"

static const struct amp_update adagrad_update = {
    .rate = RATE "Choose(decay_factor=0, rate, Div(rate, Add(1, Mul(steps, $decay_factor))))",
    .slope = SLOPE,
    .states = {"Add(s, Mul(slope, slope))"},
    .value = "Sub(x, Div(Mul(CastLike(rate, x), slope), Add(Sqrt(s), $epsilon)))"};

static const struct amp_update adam_update = {
    .rate = RATE "corrected = Div(Sqrt(Sub(1, Pow($beta, steps))), Sub(1, Pow($alpha, steps)));"
                 "Mul(rate, Where(Greater(steps, 0), corrected, 1))",
    .slope = SLOPE,
    .states = {"Add(Mul($alpha, s), Mul(Sub(1, $alpha), slope))",
               "Add(Mul($beta, t), Mul(Sub(1, $beta), Mul(slope, slope)))"},
    .value = "next = Sub(x, Div(Mul(CastLike(rate, x), s), Add(Sqrt(t), $epsilon)));"
             "Choose(norm_coefficient_post=0, next, Mul(next, Sub(1, $norm_coefficient_post)))"};

static const struct amp_update momentum_update = {
    .rate = RATE "rate",
    .slope = SLOPE,
    .states =
        {"share = Choose(beta=1, slope, Mul(CastLike(Where(Greater(b, 0L), $beta, 1), x), slope));"
         "Add(Mul($alpha, s), share)"},
    .value =
        "Sub(x, Mul(CastLike(rate, x), Choose(mode=nesterov, Add(slope, Mul($alpha, s)), s)))"};

/* ---- The operators ---- */

static enum amp_status one_state_shape(struct amp_ctx *ctx)
{
    return optimizer_shape(ctx, 1);
}

static enum amp_status two_states_shape(struct amp_ctx *ctx)
{
    return optimizer_shape(ctx, 2);
}

static enum amp_status adagrad_run(struct amp_ctx *ctx)
{
    static apply_fn *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, update_adagrad)};
    struct step step = {.epsilon = parameter(ctx, "epsilon", 1e-6F),
                        .norm = parameter(ctx, "norm_coefficient", 0)};
    double count;
    AMP_TRY(read_rate(ctx, &step.rate, &count));
    step.rate /= 1 + count * parameter(ctx, "decay_factor", 0);
    return run_step(ctx, &step, 1, table);
}

const struct amp_op amp_op_adagrad = {.name = "Adagrad",
                                      .domain = DOMAIN,
                                      .newest = 1,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_C,
                                      .dtype = one_state_dtype,
                                      .shape = one_state_shape,
                                      .update = &adagrad_update,
                                      .run = adagrad_run};

static enum amp_status adam_run(struct amp_ctx *ctx)
{
    static apply_fn *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, update_adam)};
    struct step step = {.alpha = parameter(ctx, "alpha", 0.9F),
                        .beta = parameter(ctx, "beta", 0.999F),
                        .epsilon = parameter(ctx, "epsilon", 1e-6F),
                        .norm = parameter(ctx, "norm_coefficient", 0),
                        .norm_post = parameter(ctx, "norm_coefficient_post", 0)};
    double count;
    AMP_TRY(read_rate(ctx, &step.rate, &count));
    if (count > 0)
        step.rate *= sqrt(1 - pow(step.beta, count)) / (1 - pow(step.alpha, count));
    return run_step(ctx, &step, 2, table);
}

const struct amp_op amp_op_adam = {.name = "Adam",
                                   .domain = DOMAIN,
                                   .newest = 1,
                                   .effect = AMP_COMPUTES,
                                   .native = AMP_NATIVE_C,
                                   .dtype = two_states_dtype,
                                   .shape = two_states_shape,
                                   .update = &adam_update,
                                   .run = adam_run};

static enum amp_status momentum_run(struct amp_ctx *ctx)
{
    static apply_fn *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, update_momentum)};
    static const char *const modes[] = {"standard", "nesterov", NULL};
    struct step step = {.alpha = parameter(ctx, "alpha", 0),
                        .beta = parameter(ctx, "beta", 0),
                        .norm = parameter(ctx, "norm_coefficient", 0)};
    double count;
    int mode = 0;
    AMP_TRY(amp_ctx_choice(ctx, "mode", modes, &mode));
    AMP_TRY(read_rate(ctx, &step.rate, &count));
    step.is_nesterov = mode == 1;
    if (count <= 0)
        step.beta = 1;
    return run_step(ctx, &step, 1, table);
}

const struct amp_op amp_op_momentum = {.name = "Momentum",
                                       .domain = DOMAIN,
                                       .newest = 1,
                                       .effect = AMP_COMPUTES,
                                       .native = AMP_NATIVE_C,
                                       .dtype = one_state_dtype,
                                       .shape = one_state_shape,
                                       .update = &momentum_update,
                                       .run = momentum_run};
