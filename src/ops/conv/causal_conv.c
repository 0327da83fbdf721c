/*
 * CausalConvWithState-27: convolves each channel of X, [batch, channels, length], with a kernel of
 * its own that sees the present and what came before, at first the state that an earlier call left.
 * It gives Y of X's shape, through SiLU if asked for, and the state for the next call. The
 * arithmetic is float32.
 */
#include "ops/kernel/kernel.h"

#include <math.h>

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
    const float *x, *past, *weights; /* past: NULL where it is 0 */
    float *y, *present;              /* present: NULL where nobody wants it */
    int64_t length, kernel;
    float bias;
    bool is_activated;
};

/* Position I of the padded line: the past up to kernel - 1, and X from there on. */
static float value_at(const struct line *line, int64_t i)
{
    int64_t state = line->kernel - 1;
    if (i >= state)
        return line->x[i - state];
    return line->past == NULL ? 0 : line->past[i];
}

static void run_line(const struct line *line)
{
    for (int64_t i = 0; i < line->length; i++) {
        float sum = line->bias;
        for (int64_t k = 0; k < line->kernel; k++)
            sum += line->weights[k] * value_at(line, i + k);
        line->y[i] = line->is_activated ? sum / (1 + expf(-sum)) : sum;
    }
    for (int64_t i = 0; line->present != NULL && i < line->kernel - 1; i++)
        line->present[i] = value_at(line, line->length + i);
}

/* Channel INDEX of all batches' channels. */
static struct line line_at(const struct amp_ctx *ctx, const struct sizes *s, int64_t index)
{
    int64_t channel = index % s->channels, state = s->kernel - 1;
    struct line line = {.x = (float *)ctx->in[X]->data + index * s->length,
                        .weights = (float *)ctx->in[WEIGHT]->data + channel * s->kernel,
                        .y = (float *)ctx->out[0]->data + index * s->length,
                        .length = s->length,
                        .kernel = s->kernel};
    if (amp_has_in(ctx, BIAS))
        line.bias = ((float *)ctx->in[BIAS]->data)[channel];
    if (amp_has_in(ctx, PAST))
        line.past = (float *)ctx->in[PAST]->data + index * state;
    if (amp_has_out(ctx, 1))
        line.present = (float *)ctx->out[1]->data + index * state;
    return line;
}

static enum amp_status run(struct amp_ctx *ctx)
{
    static const char *const activations[] = {"none", "silu", "swish", NULL};
    struct sizes s;
    int activation = 0;
    AMP_TRY(amp_ctx_choice(ctx, "activation", activations, &activation));
    AMP_TRY(read_sizes(ctx, &s));
    int64_t lines = s.batch * s.channels;
    bool is_large = lines > 0 && s.length >= AMP_PARALLEL_MIN / lines / s.kernel;
#pragma omp parallel for if (is_large)
    for (int64_t i = 0; i < lines; i++) {
        struct line line = line_at(ctx, &s, i);
        line.is_activated = activation != 0;
        run_line(&line);
    }
    return AMP_OK;
}

const struct amp_op amp_op_causal_conv_with_state = {.name = "CausalConvWithState",
                                                     .newest = 27,
                                                     .effect = AMP_COMPUTES,
                                                     .native = AMP_NATIVE_F32,
                                                     .shape = shape,
                                                     .run = run};
