/*
 * Random numbers and Dropout. The generator is MT19937, seeded and read as numpy's RandomState does
 * it, so that a seed gives the numbers of ONNX's own reference. Where a model gives no seed, the
 * name of the node's output is one: a run can be repeated, and a converted model draws what the
 * model before it drew. The generator goes on from run to run of a session.
 */
#include "core/hash.h"
#include "ops/bound.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Matsumoto and Nishimura, "Mersenne Twister", 1998. */
enum { WORDS = 624, SHIFT = 397 };

struct generator {
    uint32_t words[WORDS];
    int next; /* the first word not drawn yet */
    bool has_spare;
    double spare; /* the second of a pair of normal numbers */
};

static void seed_generator(struct generator *generator, uint32_t seed)
{
    *generator = (struct generator){.next = WORDS};
    for (uint32_t i = 0; i < WORDS; i++) {
        generator->words[i] = seed;
        seed = UINT32_C(1812433253) * (seed ^ seed >> 30) + i + 1;
    }
}

static void renew_words(uint32_t *words)
{
    for (int i = 0; i < WORDS; i++) {
        uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % WORDS] & 0x7FFFFFFFu);
        words[i] = words[(i + SHIFT) % WORDS] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908B0DFu : 0);
    }
}

static uint32_t draw_word(struct generator *generator)
{
    if (generator->next == WORDS) {
        renew_words(generator->words);
        generator->next = 0;
    }
    uint32_t word = generator->words[generator->next++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C5680u;
    word ^= word << 15 & 0xEFC60000u;
    return word ^ word >> 18;
}

/* Uniform in [0, 1), 53 bits. */
static double draw_uniform(struct generator *generator)
{
    uint32_t high = draw_word(generator) >> 5, low = draw_word(generator) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* Mean 0, deviation 1, by Marsaglia's polar method. */
static double draw_normal(struct generator *generator)
{
    if (generator->has_spare) {
        generator->has_spare = false;
        return generator->spare;
    }
    double x, y, square;
    do {
        x = 2 * draw_uniform(generator) - 1;
        y = 2 * draw_uniform(generator) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * log(square) / square);
    generator->spare = factor * x;
    generator->has_spare = true;
    return factor * y;
}

static uint32_t seed_of(const struct amp_ctx *ctx)
{
    const struct amp_attr *seed = amp_node_attr(ctx->node, "seed");
    if (seed != NULL && seed->type == AMP_ATTR_INT)
        return (uint32_t)seed->ints[0];
    if (seed != NULL)
        return (uint32_t)amp_f64_to_i64((double)seed->floats[0]);
    const char *name = "";
    if (ctx->node->outputs[0] != AMP_NONE)
        name = amp_value_at(ctx->model, ctx->node->outputs[0])->name;
    return amp_hash_fnv(name, strlen(name), 0);
}

static struct generator *generator_of(struct amp_ctx *ctx)
{
    if (*ctx->state == NULL) {
        *ctx->state = amp_xmalloc(1, sizeof(struct generator));
        seed_generator(*ctx->state, seed_of(ctx));
    }
    return *ctx->state;
}

/* A float64 tensor of SHAPE, into which numbers are drawn, and the generator to draw from. */
static enum amp_status begin_draw(struct amp_ctx *ctx, const struct amp_shape *shape,
                                  struct amp_tensor *numbers, struct generator **generator)
{
    *numbers = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = *shape};
    *generator = generator_of(ctx);
    return amp_tensor_alloc(numbers, ctx->err);
}

/* Gives the numbers to output 0. */
static enum amp_status end_draw(struct amp_ctx *ctx, struct amp_tensor *numbers)
{
    enum amp_status status = amp_tensor_cast(numbers, ctx->out[0], NULL, ctx->err);
    amp_tensor_release(numbers);
    return status;
}

/* ---- RandomNormal, RandomUniform and their -Like */

/* Output 0 = OFFSET + FACTOR * what DRAW gives. */
static enum amp_status fill(struct amp_ctx *ctx, double (*draw)(struct generator *), double offset,
                            double factor)
{
    struct amp_tensor numbers;
    struct generator *generator;
    AMP_TRY(begin_draw(ctx, &ctx->out[0]->shape, &numbers, &generator));
    double *values = numbers.data;
    for (size_t i = 0; i < amp_tensor_count(&numbers); i++)
        values[i] = offset + factor * draw(generator);
    return end_draw(ctx, &numbers);
}

static enum amp_status run_normal(struct amp_ctx *ctx)
{
    return fill(ctx, draw_normal, (double)amp_node_float(ctx->node, "mean", 0),
                (double)amp_node_float(ctx->node, "scale", 1));
}

static enum amp_status run_uniform(struct amp_ctx *ctx)
{
    double low = (double)amp_node_float(ctx->node, "low", 0);
    double high = (double)amp_node_float(ctx->node, "high", 1);
    return fill(ctx, draw_uniform, low, high - low);
}

static enum amp_status shape_attribute(struct amp_ctx *ctx)
{
    size_t rank;
    const int64_t *dims = amp_node_ints(ctx->node, "shape", &rank);
    if (rank > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "attribute 'shape' has %zu dims; at most %d are possible", rank,
                            AMP_RANK_MAX);
    struct amp_shape *shape = &ctx->out[0]->shape;
    shape->rank = (int)rank;
    for (size_t d = 0; d < rank; d++) {
        if (dims[d] < 0)
            return AMP_CTX_FAIL(ctx, "attribute 'shape' holds %lld", (long long)dims[d]);
        shape->dims[d] = dims[d];
    }
    return AMP_OK;
}

/* UNSET: the dtype of what is drawn where attribute dtype does not say it; AMP_UNDEFINED: that of
   the input. */
#define RANDOM(NAME, lower, version, UNSET, shape_function, run_function)     \
    const struct amp_op amp_op_##lower = {                                    \
        .name = NAME,                                                         \
        .newest = version,                                                    \
        .effect = AMP_OPAQUE,                                                 \
        .draws = true,                                                        \
        .native = AMP_NATIVE_ALL,                                             \
        .dtype_attr = &(const struct amp_dtype_attr){.name = "dtype",         \
                                                     .outputs = AMP_INPUT(0), \
                                                     .fallback = UNSET},      \
        .shape = shape_function,                                              \
        .run = run_function,                                                  \
        .destroy = free};

RANDOM("RandomNormal", random_normal, 22, AMP_FLOAT, shape_attribute, run_normal)
RANDOM("RandomNormalLike", random_normal_like, 22, AMP_UNDEFINED, amp_shape_same, run_normal)
RANDOM("RandomUniform", random_uniform, 22, AMP_FLOAT, shape_attribute, run_uniform)
RANDOM("RandomUniformLike", random_uniform_like, 22, AMP_UNDEFINED, amp_shape_same, run_uniform)

/* ---- Bernoulli and Multinomial */

static enum amp_status run_bernoulli(struct amp_ctx *ctx)
{
    struct amp_tensor numbers;
    struct generator *generator;
    AMP_TRY(begin_draw(ctx, &ctx->in[0]->shape, &numbers, &generator));
    double *values = numbers.data;
    for (size_t i = 0; i < amp_tensor_count(&numbers); i++)
        values[i] = draw_uniform(generator) < amp_tensor_double(ctx->in[0], i);
    return end_draw(ctx, &numbers);
}

RANDOM("Bernoulli", bernoulli, 22, AMP_UNDEFINED, amp_shape_same, run_bernoulli)

static enum amp_status shape_multinomial(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t samples = amp_node_int(ctx->node, "sample_size", 1);
    if (samples < 0)
        return AMP_CTX_FAIL(ctx, "attribute 'sample_size' is %lld", (long long)samples);
    if (in->rank >= 0 && in->rank != 2)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; it must be [batch, classes]", in->rank);
    *out = (struct amp_shape){.rank = 2, .dims = {AMP_DIM_UNKNOWN, samples}};
    if (in->rank == 2)
        out->dims[0] = in->dims[0];
    return AMP_OK;
}

/* The class in row ROW of LOGITS, [batch, classes], at which the sum of probabilities passes the
   share DRAWN of the whole. */
static int64_t choose_class(const struct amp_tensor *logits, int64_t row, double drawn)
{
    int64_t classes = logits->shape.dims[1];
    const double *values = (const double *)logits->data + row * classes;
    double max = -INFINITY, sum = 0, passed = 0;
    for (int64_t i = 0; i < classes; i++)
        max = values[i] > max ? values[i] : max;
    for (int64_t i = 0; i < classes; i++)
        sum += exp(values[i] - max);
    for (int64_t i = 0; i < classes - 1; i++) {
        passed += exp(values[i] - max);
        if (passed > drawn * sum)
            return i;
    }
    return classes - 1;
}

static enum amp_status draw_classes(struct amp_ctx *ctx, const struct amp_tensor *logits)
{
    struct amp_tensor numbers;
    struct generator *generator;
    if (logits->shape.dims[1] == 0)
        return AMP_CTX_FAIL(ctx, "input 0 has no classes");
    AMP_TRY(begin_draw(ctx, &ctx->out[0]->shape, &numbers, &generator));
    double *values = numbers.data;
    int64_t samples = numbers.shape.dims[1];
    for (int64_t i = 0; i < numbers.shape.dims[0] * samples; i++)
        values[i] = (double)choose_class(logits, i / samples, draw_uniform(generator));
    return end_draw(ctx, &numbers);
}

static enum amp_status run_multinomial(struct amp_ctx *ctx)
{
    struct amp_tensor logits;
    AMP_TRY(amp_tensor_cast_copy(ctx->in[0], AMP_DOUBLE, &logits, ctx->err));
    enum amp_status status = draw_classes(ctx, &logits);
    amp_tensor_release(&logits);
    return status;
}

RANDOM("Multinomial", multinomial, 22, AMP_INT32, shape_multinomial, run_multinomial)

/* ---- Dropout */

/* Whether the node drops anything, and the share that it drops: an attribute before version 12,
   then inputs. Versions 1 and 6 train unless `is_test`; 7 and 10 never do. */
static bool is_training(const struct amp_ctx *ctx, double *ratio)
{
    int version = ctx->node->since_version;
    if (version < 12) {
        *ratio = (double)amp_node_float(ctx->node, "ratio", 0.5f);
        return version < 7 && amp_node_int(ctx->node, "is_test", 0) == 0;
    }
    *ratio = amp_has_in(ctx, 1) && amp_tensor_count(ctx->in[1]) > 0
                 ? amp_tensor_double(ctx->in[1], 0)
                 : 0.5;
    return amp_has_in(ctx, 2) && amp_tensor_count(ctx->in[2]) > 0 &&
           amp_tensor_int(ctx->in[2], 0) != 0;
}

/* Writes MASK, one byte per element, to output 1, a bool or (before version 10) as the data. */
static enum amp_status write_mask(struct amp_ctx *ctx, const struct amp_tensor *mask)
{
    return amp_has_out(ctx, 1) ? amp_tensor_cast(mask, ctx->out[1], NULL, ctx->err) : AMP_OK;
}

static enum amp_status drop(struct amp_ctx *ctx, double ratio, struct amp_tensor *mask)
{
    struct amp_tensor numbers;
    struct generator *generator;
    AMP_TRY(begin_draw(ctx, &ctx->in[0]->shape, &numbers, &generator));
    double *values = numbers.data;
    uint8_t *kept = mask->data;
    for (size_t i = 0; i < amp_tensor_count(mask); i++) {
        kept[i] = draw_uniform(generator) >= ratio;
        values[i] = kept[i] ? amp_tensor_double(ctx->in[0], i) / (1 - ratio) : 0;
    }
    return end_draw(ctx, &numbers);
}

static enum amp_status run_dropout(struct amp_ctx *ctx)
{
    double ratio;
    bool drops = is_training(ctx, &ratio) && ratio != 0;
    if (ratio < 0 || ratio > 1)
        return AMP_CTX_FAIL(ctx, "ratio %g; 0 to 1 is possible", ratio);
    if (!drops)
        amp_tensor_share(ctx->out[0], ctx->in[0]);
    if (!drops && !amp_has_out(ctx, 1))
        return AMP_OK;
    struct amp_tensor mask = {.dtype = AMP_BOOL, .shape = ctx->in[0]->shape};
    AMP_TRY(amp_tensor_alloc(&mask, ctx->err));
    memset(mask.data, 1, amp_tensor_count(&mask));
    enum amp_status status = drops ? amp_ctx_alloc(ctx, 0) : AMP_OK;
    if (drops && status == AMP_OK)
        status = drop(ctx, ratio, &mask);
    if (status == AMP_OK)
        status = write_mask(ctx, &mask);
    amp_tensor_release(&mask);
    return status;
}

/* In training, which input 2 may say, what stays is scaled. */
static bool bound_dropout(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = call->in[0];
    return call->node->n_inputs < 3 && call->node->since_version >= 7;
}

/* Outside training, which is what models are converted for, the data pass unchanged. */
const struct amp_op amp_op_dropout = {.name = "Dropout",
                                      .newest = 22,
                                      .effect = AMP_PRESERVES_VALUES,
                                      .shares_input = true,
                                      .role = AMP_ROLE_DROPOUT,
                                      .bound = bound_dropout,
                                      .gradient = AMP_GRADIENT({.when = "!c", .term = "g"}),
                                      .shape = amp_shape_same,
                                      .run = run_dropout,
                                      .destroy = free};
