/*
 * CausalConvWithState-27: each channel of X, [batch, channels, length], convolved with a kernel of
 * its own that sees the present and what came before, at first the state that an earlier call left.
 * Gives Y of X's shape, through SiLU if asked for, and the state for the next call.
 */
#include "ops/kernel.h"

#include <string.h>

enum { X, WEIGHT, BIAS, PAST }; /* inputs */

/* A dim below 0 is not known. */
struct sizes {
    int64_t batch, channels, length;
    int64_t kernel; /* at least 1; the state holds one less */
};

/* Input I, if there, has the RANK dims NEEDED; what is not known of those is taken from it. */
static enum amp_status agree(struct amp_ctx *ctx, uint32_t i, int rank, int64_t *const *needed)
{
    static const char *const names[] = {"input", "weight", "bias", "past_state"};
    char text[200], text_needed[200];
    if (!amp_has_in(ctx, i) || ctx->in[i]->shape.rank < 0)
        return AMP_OK;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    bool fits = shape->rank == rank;
    for (int d = 0; fits && d < rank; d++) {
        fits = shape->dims[d] < 0 || *needed[d] < 0 || shape->dims[d] == *needed[d];
        if (*needed[d] < 0)
            *needed[d] = shape->dims[d];
    }
    if (fits)
        return AMP_OK;
    struct amp_shape wanted = {.rank = rank};
    for (int d = 0; d < rank; d++)
        wanted.dims[d] = *needed[d];
    return AMP_CTX_FAIL(ctx, "%s has shape %s; %s is needed", names[i],
                        amp_shape_text(shape, text, sizeof text),
                        amp_shape_text(&wanted, text_needed, sizeof text_needed));
}

static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *sizes)
{
    int64_t one = 1, state = AMP_DIM_UNKNOWN;
    *sizes = (struct sizes){-1, -1, -1, -1};
    AMP_TRY(agree(ctx, X, 3, (int64_t *[]){&sizes->batch, &sizes->channels, &sizes->length}));
    AMP_TRY(agree(ctx, WEIGHT, 3, (int64_t *[]){&sizes->channels, &one, &sizes->kernel}));
    AMP_TRY(agree(ctx, BIAS, 1, (int64_t *[]){&sizes->channels}));
    if (sizes->kernel == 0)
        return AMP_CTX_FAIL(ctx, "weight has a kernel of 0 elements; at least 1 is needed");
    if (sizes->kernel > 0)
        state = sizes->kernel - 1;
    AMP_TRY(agree(ctx, PAST, 3, (int64_t *[]){&sizes->batch, &sizes->channels, &state}));
    if (sizes->kernel < 0 && state >= 0 && state < INT64_MAX)
        sizes->kernel = state + 1;
    return AMP_OK;
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes sizes;
    AMP_TRY(read_sizes(ctx, &sizes));
    int64_t state = sizes.kernel > 0 ? sizes.kernel - 1 : AMP_DIM_UNKNOWN;
    ctx->out[0]->shape = (struct amp_shape){3, {sizes.batch, sizes.channels, sizes.length}};
    if (ctx->n_out > 1)
        ctx->out[1]->shape = (struct amp_shape){3, {sizes.batch, sizes.channels, state}};
    return AMP_OK;
}

/* One channel of one batch. */
struct line {
    const void *x, *past, *weights, *bias; /* past, bias: NULL where they are 0 */
    void *y, *present;                     /* present: NULL where nobody wants it */
    int64_t length, kernel;
    bool is_activated;
};

typedef void line_fn(const struct line *line);

/* Position I of the padded line is the past up to kernel - 1, and X from there on. */
#define LINE(DTYPE, T, ...)                                                          \
    static T value_##DTYPE(const struct line *line, int64_t i)                       \
    {                                                                                \
        int64_t state = line->kernel - 1;                                            \
        if (i >= state)                                                              \
            return ((const T *)line->x)[i - state];                                  \
        return line->past == NULL ? 0 : ((const T *)line->past)[i];                  \
    }                                                                                \
    static void line_##DTYPE(const struct line *line)                                \
    {                                                                                \
        const T *weights = line->weights;                                            \
        T *y = line->y, *present = line->present;                                    \
        for (int64_t i = 0; i < line->length; i++) {                                 \
            T sum = line->bias == NULL ? 0 : *(const T *)line->bias;                 \
            for (int64_t k = 0; k < line->kernel; k++)                               \
                sum += weights[k] * value_##DTYPE(line, i + k);                      \
            y[i] = line->is_activated ? (T)(sum / (1 + (T)exp(-(double)sum))) : sum; \
        }                                                                            \
        for (int64_t i = 0; present != NULL && i < line->kernel - 1; i++)            \
            present[i] = value_##DTYPE(line, line->length + i);                      \
    }
AMP_FLOAT_TYPES(LINE)

static const void *part(const struct amp_ctx *ctx, uint32_t i, int64_t first)
{
    if (!amp_has_in(ctx, i))
        return NULL;
    const struct amp_tensor *tensor = ctx->in[i];
    return (const char *)tensor->data + (size_t)first * (amp_dtype_bits(tensor->dtype) / 8);
}

static enum amp_status run(struct amp_ctx *ctx)
{
    static line_fn *const table[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, line)};
    static const char *const activations[] = {"none", "silu", "swish", NULL};
    struct sizes s;
    line_fn *kernel;
    int activation = 0;
    AMP_PICK(ctx, kernel, table, ctx->in[X]->dtype);
    AMP_TRY(amp_ctx_choice(ctx, "activation", activations, &activation));
    AMP_TRY(read_sizes(ctx, &s));
    int64_t lines = s.batch * s.channels, state = s.kernel - 1;
    size_t size = amp_dtype_bits(ctx->in[X]->dtype) / 8;
    bool is_large = lines > 0 && s.length >= AMP_PARALLEL_MIN / lines / s.kernel;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < lines; i++) {
        int64_t channel = i % s.channels;
        struct line line = {.x = part(ctx, X, i * s.length),
                            .past = part(ctx, PAST, i * state),
                            .weights = part(ctx, WEIGHT, channel * s.kernel),
                            .bias = part(ctx, BIAS, channel),
                            .y = (char *)ctx->out[0]->data + (size_t)(i * s.length) * size,
                            .length = s.length,
                            .kernel = s.kernel,
                            .is_activated = activation != 0};
        if (amp_has_out(ctx, 1))
            line.present = (char *)ctx->out[1]->data + (size_t)(i * state) * size;
        kernel(&line);
    }
    return AMP_OK;
}

const struct amp_op amp_op_causal_conv_with_state = {.name = "CausalConvWithState",
                                                     .newest = 27,
                                                     .effect = AMP_COMPUTES,
                                                     .native = AMP_NATIVE_C,
                                                     .shape = shape,
                                                     .run = run};
