/*
 * Where and Clip, and the operators of any number of inputs: Max, Mean, Min and Sum. All inputs
 * broadcast; a NaN wins over numbers, as in numpy.
 */
#include "ops/bound.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/elementwise.h"

#include <math.h>
#include <string.h>

/* Elements of SIZE bytes. Both are read, whatever the condition: vectors can choose, and a branch
   would have the processor guess. */
#define WHERE_LOOP(pragma, T, condition_element, x_element, y_element) \
    pragma for (int64_t i = 0; i < n; i++)                             \
    {                                                                  \
        const T x = x_element, y = y_element;                          \
        to[i] = condition_element ? x : y;                             \
    }
#define WHERE(SIZE, T)                                                                 \
    AMP_CLONES(void, where_##SIZE,                                                     \
               (int64_t n, void *const *at, const int64_t *step, const void *param),   \
               (n, at, step, param))                                                   \
    {                                                                                  \
        (void)param;                                                                   \
        T *to = at[0];                                                                 \
        const uint8_t *condition = at[1];                                              \
        const T *xs = at[2], *ys = at[3];                                              \
        if (step[1] == 1 && step[2] == 1 && step[3] == 1) {                            \
            WHERE_LOOP(AMP_SIMD, T, condition[i], xs[i], ys[i]);                       \
        } else if (step[1] == 1 && step[2] == 1) {                                     \
            WHERE_LOOP(AMP_SIMD, T, condition[i], xs[i], ys[0]);                       \
        } else if (step[1] == 1 && step[3] == 1) {                                     \
            WHERE_LOOP(AMP_SIMD, T, condition[i], xs[0], ys[i]);                       \
        } else {                                                                       \
            WHERE_LOOP(, T, condition[i * step[1]], xs[i * step[2]], ys[i * step[3]]); \
        }                                                                              \
    }
AMP_SIZED_TYPES(WHERE)

static enum amp_status run_where(struct amp_ctx *ctx)
{
#define ROW(SIZE, T) [SIZE] = where_##SIZE,
    static amp_loop_body *const by_size[] = {AMP_SIZED_TYPES(ROW)};
#undef ROW
    amp_loop_body *body;
    AMP_PICK(ctx, body, by_size, amp_dtype_bits(ctx->out[0]->dtype) / 8);
    amp_loop_inputs(ctx, 3, body, NULL);
    return ctx->out[0]->dtype == AMP_STRING ? amp_strings_own(ctx->out[0], ctx->err) : AMP_OK;
}

const struct amp_op amp_op_where = {.name = "Where",
                                    .newest = 16,
                                    .role = AMP_ROLE_WHERE,
                                    .effect = AMP_PRESERVES_VALUES,
                                    .is_elementwise = true,
                                    .guard_use = AMP_GUARD_BOUNDS,
                                    .gradient =
                                        AMP_GRADIENT({.input = 1, .term = "SumTo(Where(a, g, 0))"},
                                                     {.input = 2, .term = "SumTo(Where(a, 0, g))"}),
                                    .shape = amp_shape_broadcast,
                                    .run = run_where};

/* ---- Clip */

/* Where the bounds are, of the type that is computed in; NULL: there is none. Those that are not so
   in the model, attributes and inputs of less than float32, have copies here. */
struct bounds {
    const void *low, *high;
    float floats[2];
    double doubles[2];
};

#define BOUNDS(T)                                                        \
    const struct bounds *bounds = param;                                 \
    const T low = bounds->low ? *(const T *)bounds->low : AMP_LOWEST(T); \
    const T high = bounds->high ? *(const T *)bounds->high : AMP_HIGHEST(T)
/* Where the bounds are the wrong way round, the upper one counts. */
#define MAP_CLIP(DTYPE, T, name) \
    AMP_MAP_FULL(DTYPE, T, name, T, BOUNDS(T), x<low ? low : x, e> high ? high : e)
AMP_REAL_TYPES(MAP_CLIP, clip)

static const void *keep_bound(const struct amp_ctx *ctx, struct bounds *bounds, int i, double value)
{
    bounds->floats[i] = (float)value;
    bounds->doubles[i] = value;
    return ctx->in[0]->dtype == AMP_DOUBLE ? (const void *)&bounds->doubles[i]
                                           : (const void *)&bounds->floats[i];
}

static enum amp_status find_bound(const struct amp_ctx *ctx, const char *attribute, uint32_t input,
                                  struct bounds *bounds, const void **bound)
{
    int i = (int)input - 1;
    if (ctx->node->since_version < 11) {
        if (amp_node_attr(ctx->node, attribute) != NULL)
            *bound = keep_bound(ctx, bounds, i, (double)amp_node_float(ctx->node, attribute, 0));
        return AMP_OK;
    }
    if (!amp_has_in(ctx, input))
        return AMP_OK;
    const struct amp_tensor *tensor = ctx->in[input];
    if (amp_tensor_count(tensor) != 1)
        return AMP_CTX_FAIL(ctx, "input %u must be a scalar", input);
    *bound = tensor->data;
    if (amp_compute_dtype(tensor->dtype) != tensor->dtype)
        *bound = keep_bound(ctx, bounds, i, amp_tensor_double(tensor, 0));
    return AMP_OK;
}

static enum amp_status run_clip(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_REAL_TYPES(AMP_ROW, clip)};
    struct bounds bounds = {.low = NULL, .high = NULL};
    AMP_TRY(find_bound(ctx, "min", 1, &bounds, &bounds.low));
    AMP_TRY(find_bound(ctx, "max", 2, &bounds, &bounds.high));
    return amp_map_run(ctx, table, &bounds);
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

/* Bounds that are attributes or constants, the right way round. */
static bool read_post(const struct amp_model *model, const struct amp_node *node,
                      struct amp_post *post)
{
    return read_number(model, node, 1, &post->alpha) && read_number(model, node, 2, &post->beta) &&
           post->alpha <= post->beta;
}

/* Where the bounds are the wrong way round, the upper one counts. */
static bool bound_clip(const struct amp_bound_call *call, struct amp_interval *out)
{
    const struct amp_node *node = call->node;
    /* Attributes of versions that have no such inputs. */
    struct amp_interval low = amp_interval_of((double)amp_node_float(node, "min", -INFINITY));
    struct amp_interval high = amp_interval_of((double)amp_node_float(node, "max", INFINITY));
    if (node->n_inputs > 1 && node->inputs[1] != AMP_NONE)
        low = call->in[1];
    if (node->n_inputs > 2 && node->inputs[2] != AMP_NONE)
        high = call->in[2];
    *out = amp_interval_min(amp_interval_max(call->in[0], low), high);
    return true;
}

const struct amp_op amp_op_clip = {
    .name = "Clip",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .is_map = true,
    .picks = true,
    .bound = bound_clip,
    .native = AMP_NATIVE_ALL,
    .guard_use = AMP_GUARD_BOUNDS,
    .post_op = &(const struct amp_post_op){.alg = dnnl_eltwise_clip,
                                           .alpha_attr = "min",
                                           .alpha = -INFINITY,
                                           .beta_attr = "max",
                                           .beta = INFINITY,
                                           .read = read_post},
    /* Version 6: limits that were not given became the largest numbers. */
    .changes = AMP_CHANGES({6, NULL}),
    .gradient = AMP_GRADIENT({.term = "Where(Equal(x, y), g, 0)"}),
    .shape = amp_shape_same,
    .run = run_clip};

/* ---- any number of inputs */

/* JOIN of all inputs. */
static bool bound_all(const struct amp_bound_call *call, struct amp_interval *out,
                      struct amp_interval (*join)(struct amp_interval, struct amp_interval))
{
    *out = call->in[0];
    for (uint32_t i = 1; i < call->node->n_inputs; i++)
        *out = join(*out, call->in[i]);
    return true;
}

static bool bound_max(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_all(call, out, amp_interval_max);
}

static bool bound_min(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_all(call, out, amp_interval_min);
}

static bool bound_sum(const struct amp_bound_call *call, struct amp_interval *out)
{
    return bound_all(call, out, amp_interval_add);
}

/* Output 0 = BODY(...BODY(BODY(input 0, input 1), input 2)...). */
static void accumulate(struct amp_ctx *ctx, amp_loop_body *body)
{
    const struct amp_tensor *sum = ctx->in[0], *out = ctx->out[0];
    for (uint32_t i = 1; i < ctx->n_in; i++, sum = out) {
        struct amp_loop loop;
        amp_loop_init(&loop, out->shape.rank, out->shape.dims);
        amp_loop_tensor(&loop, out);
        amp_loop_tensor(&loop, sum);
        amp_loop_tensor(&loop, ctx->in[i]);
        amp_loop_compute(&loop, body, NULL);
    }
    if (ctx->n_in == 1)
        memcpy(out->data, ctx->in[0]->data, amp_tensor_size(out));
}

static enum amp_status run_variadic(struct amp_ctx *ctx, amp_loop_body *const *table)
{
    amp_loop_body *body;
    AMP_PICK(ctx, body, table, amp_compute_dtype(ctx->out[0]->dtype));
    accumulate(ctx, body);
    return AMP_OK;
}

#define DESCRIPTOR(NAME, lower, dtypes, ...)                            \
    const struct amp_op amp_op_##lower = {.name = NAME,                 \
                                          .newest = 13,                 \
                                          .effect = AMP_COMPUTES,       \
                                          .promotes = true,             \
                                          .native = dtypes,             \
                                          .shape = amp_shape_broadcast, \
                                          .run = run_##lower,           \
                                          __VA_ARGS__};
#define VARIADIC(NAME, lower, TYPES, dtypes, ...)                                     \
    static enum amp_status run_##lower(struct amp_ctx *ctx)                           \
    {                                                                                 \
        static amp_loop_body *const table[AMP_DTYPE_COUNT] = {TYPES(AMP_ROW, lower)}; \
        return run_variadic(ctx, table);                                              \
    }                                                                                 \
    DESCRIPTOR(NAME, lower, dtypes, __VA_ARGS__)

AMP_FLOAT_TYPES(AMP_ZIP, max, x > y || x != x ? x : y)
AMP_INTEGER_TYPES(AMP_ZIP, max, x > y ? x : y)
#define SHARED_BY_TIES            \
    .gradient = AMP_GRADIENT(     \
        {.input = AMP_EACH_INPUT, \
         .term = "SumTo(Div(Where(Equal(x, y), g, 0), All(Where(Equal(x, y), 1, 0))))"})
VARIADIC("Max", max, AMP_REAL_TYPES, AMP_NATIVE_ALL, SHARED_BY_TIES, .bound = bound_max,
         .picks = true, .guard_use = AMP_GUARD_BOUNDS, .is_commutative = true)

AMP_FLOAT_TYPES(AMP_ZIP, min, x < y || x != x ? x : y)
AMP_INTEGER_TYPES(AMP_ZIP, min, x < y ? x : y)
VARIADIC("Min", min, AMP_REAL_TYPES, AMP_NATIVE_ALL, SHARED_BY_TIES, .bound = bound_min,
         .picks = true, .guard_use = AMP_GUARD_BOUNDS, .is_commutative = true)

/* In float32 throughout for the halves, so that they round once. */
AMP_FLOAT_TYPES(AMP_ZIP, sum, x + y)
VARIADIC("Sum", sum, AMP_FLOAT_TYPES, AMP_NATIVE_C, .bound = bound_sum, .role = AMP_ROLE_SUM,
         .guard_use = AMP_GUARD_ADDS,
         .gradient = AMP_GRADIENT({.input = AMP_EACH_INPUT, .term = "SumTo(g)"}))

AMP_FLOAT_TYPES(AMP_MAP_AB, divide, 0, x / a)
static enum amp_status run_mean(struct amp_ctx *ctx)
{
    static amp_loop_body *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, divide)};
    AMP_TRY(run_sum(ctx));
    const double parameters[2] = {ctx->n_in, 0};
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_run(&loop, table[ctx->out[0]->dtype], parameters);
    return AMP_OK;
}
DESCRIPTOR("Mean", mean, AMP_NATIVE_C,
           .gradient = AMP_GRADIENT({.input = AMP_EACH_INPUT, .term = "SumTo(Div(g, All(1)))"}))
