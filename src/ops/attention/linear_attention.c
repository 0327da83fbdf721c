/*
 * LinearAttention-27: instead of scores of all keys a state S, [k_size, v_size] for each head of
 * keys, that every position of the sequence decays, writes to and reads from:
 *
 *     S = exp(decay) S;  S += k (v - S' k)' beta;  y = scale S' q
 *
 * where decay, and the part of v that the state knows already together with beta, are there only if
 * attribute update_rule says so. Query, key and value are [batch, length, heads * size]; the state
 * is taken from an earlier call and given to the next. The arithmetic is float32.
 */
#include "ops/kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA }; /* inputs */

static const char *const input_names[] = {"query", "key", "value", "past_state", "decay", "beta"};

/* A dim below 0 is not known. */
struct sizes {
    int64_t batch, length;
    int64_t heads, kv_heads; /* heads: a multiple of kv_heads */
    int64_t k_size, v_size;  /* of a head */
    bool is_gated, is_delta;
};

/* ---- shapes -------------------------------------------------------------------------------- */

static enum amp_status agree(struct amp_ctx *ctx, const char *what, uint32_t i, int64_t dim,
                             int64_t *size)
{
    if (*size >= 0 && dim >= 0 && *size != dim)
        return AMP_CTX_FAIL(ctx, "%s has a %s of %lld; %lld is needed", input_names[i], what,
                            (long long)dim, (long long)*size);
    if (*size < 0)
        *size = dim;
    return AMP_OK;
}

/* Checks the rank of input I, *IS_KNOWN whether there is one to check. */
static enum amp_status check_rank(struct amp_ctx *ctx, uint32_t i, int rank, bool *is_known)
{
    *is_known = amp_has_in(ctx, i) && ctx->in[i]->shape.rank >= 0;
    if (*is_known && ctx->in[i]->shape.rank != rank)
        return AMP_CTX_FAIL(ctx, "%s has rank %d; %d is needed", input_names[i],
                            ctx->in[i]->shape.rank, rank);
    return AMP_OK;
}

/* Input I is [batch, length, HEADS * SIZE]. */
static enum amp_status read_heads(struct amp_ctx *ctx, uint32_t i, struct sizes *sizes,
                                  int64_t heads, int64_t *size)
{
    bool is_known;
    AMP_TRY(check_rank(ctx, i, 3, &is_known));
    if (!is_known)
        return AMP_OK;
    const int64_t *dims = ctx->in[i]->shape.dims;
    AMP_TRY(agree(ctx, "batch", i, dims[0], &sizes->batch));
    AMP_TRY(agree(ctx, "length", i, dims[1], &sizes->length));
    if (dims[2] >= 0 && dims[2] % heads != 0)
        return AMP_CTX_FAIL(ctx, "%s has a last dimension of %lld for %lld heads", input_names[i],
                            (long long)dims[2], (long long)heads);
    return agree(ctx, "head size", i, dims[2] < 0 ? AMP_DIM_UNKNOWN : dims[2] / heads, size);
}

static enum amp_status read_past(struct amp_ctx *ctx, struct sizes *sizes)
{
    bool is_known;
    AMP_TRY(check_rank(ctx, PAST, 4, &is_known));
    if (!is_known)
        return AMP_OK;
    const int64_t *dims = ctx->in[PAST]->shape.dims;
    AMP_TRY(agree(ctx, "batch", PAST, dims[0], &sizes->batch));
    AMP_TRY(agree(ctx, "number of heads", PAST, dims[1], &sizes->kv_heads));
    AMP_TRY(agree(ctx, "key size", PAST, dims[2], &sizes->k_size));
    return agree(ctx, "value size", PAST, dims[3], &sizes->v_size);
}

/* Decay and beta, [batch, length, width]: the width is one of WIDTHS, the second the larger. */
static enum amp_status read_gate(struct amp_ctx *ctx, uint32_t i, bool is_needed,
                                 struct sizes *sizes, const int64_t widths[2])
{
    const int64_t small = widths[0], large = widths[1];
    bool is_known;
    if (amp_has_in(ctx, i) != is_needed)
        return AMP_CTX_FAIL(ctx, "update_rule '%s' %s input %s",
                            amp_node_string(ctx->node, "update_rule", "gated_delta"),
                            is_needed ? "needs" : "has no", input_names[i]);
    AMP_TRY(check_rank(ctx, i, 3, &is_known));
    if (!is_known)
        return AMP_OK;
    const int64_t *dims = ctx->in[i]->shape.dims;
    AMP_TRY(agree(ctx, "batch", i, dims[0], &sizes->batch));
    AMP_TRY(agree(ctx, "length", i, dims[1], &sizes->length));
    if (dims[2] < 0 || large < 0 || dims[2] == small || dims[2] == large)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "%s has a last dimension of %lld; %lld or %lld is needed",
                        input_names[i], (long long)dims[2], (long long)small, (long long)large);
}

static enum amp_status read_sizes(struct amp_ctx *ctx, struct sizes *sizes)
{
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta", NULL};
    int64_t heads = amp_node_int(ctx->node, "q_num_heads", 0);
    int64_t kv_heads = amp_node_int(ctx->node, "kv_num_heads", 0);
    int rule = 3;
    AMP_TRY(amp_ctx_choice(ctx, "update_rule", rules, &rule));
    if (heads <= 0 || kv_heads <= 0 || heads % kv_heads != 0)
        return AMP_CTX_FAIL(ctx, "q_num_heads is %lld, kv_num_heads %lld, which must divide it",
                            (long long)heads, (long long)kv_heads);
    *sizes = (struct sizes){-1, -1, heads, kv_heads, -1, -1, rule % 2 != 0, rule >= 2};
    AMP_TRY(read_heads(ctx, QUERY, sizes, heads, &sizes->k_size));
    AMP_TRY(read_heads(ctx, KEY, sizes, kv_heads, &sizes->k_size));
    AMP_TRY(read_heads(ctx, VALUE, sizes, kv_heads, &sizes->v_size));
    AMP_TRY(read_past(ctx, sizes));
    /* Below 0 where the key size is not known, and a number of heads that no dim can equal where
       the product overflows. */
    int64_t wide = AMP_DIM_UNKNOWN;
    if (sizes->k_size >= 0 && __builtin_mul_overflow(kv_heads, sizes->k_size, &wide))
        wide = kv_heads;
    AMP_TRY(read_gate(ctx, DECAY, sizes->is_gated, sizes, (const int64_t[]){kv_heads, wide}));
    return read_gate(ctx, BETA, sizes->is_delta, sizes, (const int64_t[]){1, kv_heads});
}

static enum amp_status shape(struct amp_ctx *ctx)
{
    struct sizes s;
    int64_t width = AMP_DIM_UNKNOWN;
    AMP_TRY(read_sizes(ctx, &s));
    if (s.v_size >= 0 && __builtin_mul_overflow(s.heads, s.v_size, &width))
        return AMP_CTX_FAIL(ctx, "%lld heads of size %lld overflow", (long long)s.heads,
                            (long long)s.v_size);
    ctx->out[0]->shape = (struct amp_shape){3, {s.batch, s.length, width}};
    if (ctx->n_out > 1)
        ctx->out[1]->shape = (struct amp_shape){4, {s.batch, s.kv_heads, s.k_size, s.v_size}};
    return AMP_OK;
}

/* ---- the recurrence ------------------------------------------------------------------------ */

/* What one head of keys and the queries that share it see of the inputs. */
struct head {
    const struct sizes *sizes;
    const float *query, *key, *value, *decay, *beta; /* of the first position */
    float *y;
    float *state;               /* [k_size, v_size] */
    float *written;             /* [v_size]: what this position writes */
    int64_t decays, betas;      /* dims of decay and beta of one position; 0: there are none */
    bool is_decayed_by_element; /* one decay per element of a key, not one for all */
    float scale;
};

/* Decays the state for position T. */
static void forget(const struct head *head, int64_t t)
{
    int64_t k_size = head->sizes->k_size, v_size = head->sizes->v_size;
    const float *decay = head->decay + t * head->decays;
    for (int64_t i = 0; i < k_size; i++) {
        float factor = expf(decay[head->is_decayed_by_element ? i : 0]);
        for (int64_t k = 0; k < v_size; k++)
            head->state[i * v_size + k] *= factor;
    }
}

/* FACTOR times the values that the state holds for key AT, to TO. */
static void recall(const struct head *head, const float *at, float factor, float *to)
{
    int64_t k_size = head->sizes->k_size, v_size = head->sizes->v_size;
    memset(to, 0, (size_t)v_size * sizeof *to);
    for (int64_t i = 0; i < k_size; i++)
        for (int64_t k = 0; k < v_size; k++)
            to[k] += head->state[i * v_size + k] * at[i];
    for (int64_t k = 0; k < v_size; k++)
        to[k] *= factor;
}

/* Adds key and value of position T to the state. */
static void learn(const struct head *head, int64_t t)
{
    const struct sizes *s = head->sizes;
    const float *key = head->key + t * s->kv_heads * s->k_size;
    const float *value = head->value + t * s->kv_heads * s->v_size;
    if (s->is_delta) {
        float rate = head->beta[t * head->betas];
        recall(head, key, 1, head->written);
        for (int64_t k = 0; k < s->v_size; k++)
            head->written[k] = rate * (value[k] - head->written[k]);
        value = head->written;
    }
    for (int64_t i = 0; i < s->k_size; i++)
        for (int64_t k = 0; k < s->v_size; k++)
            head->state[i * s->v_size + k] += key[i] * value[k];
}

static void run_head(const struct head *head)
{
    const struct sizes *s = head->sizes;
    int64_t shared = s->heads / s->kv_heads;
    for (int64_t t = 0; t < s->length; t++) {
        if (s->is_gated)
            forget(head, t);
        learn(head, t);
        for (int64_t i = 0; i < shared; i++)
            recall(head, head->query + (t * s->heads + i) * s->k_size, head->scale,
                   head->y + (t * s->heads + i) * s->v_size);
    }
}

/* The last dim of input I; 0 when omitted. */
static int64_t width_of(const struct amp_ctx *ctx, uint32_t i)
{
    return amp_has_in(ctx, i) ? ctx->in[i]->shape.dims[2] : 0;
}

/* Head INDEX of all batches' heads of keys. */
static struct head head_at(const struct amp_ctx *ctx, const struct sizes *s, int64_t index,
                           float *states, float *scratch)
{
    int64_t first = index / s->kv_heads * s->length, n = index % s->kv_heads;
    int64_t shared = s->heads / s->kv_heads;
    struct head head = {.sizes = s,
                        .decays = width_of(ctx, DECAY),
                        .betas = width_of(ctx, BETA),
                        .state = states + index * s->k_size * s->v_size,
                        .written = scratch + index * s->v_size,
                        .scale = amp_node_float(ctx->node, "scale", 0)};
    head.query = (float *)ctx->in[QUERY]->data + (first * s->heads + n * shared) * s->k_size;
    head.key = (float *)ctx->in[KEY]->data + (first * s->kv_heads + n) * s->k_size;
    head.value = (float *)ctx->in[VALUE]->data + (first * s->kv_heads + n) * s->v_size;
    head.y = (float *)ctx->out[0]->data + (first * s->heads + n * shared) * s->v_size;
    head.is_decayed_by_element = head.decays != s->kv_heads;
    if (s->is_gated)
        head.decay = (float *)ctx->in[DECAY]->data + first * head.decays +
                     n * (head.is_decayed_by_element ? s->k_size : 1);
    if (s->is_delta)
        head.beta = (float *)ctx->in[BETA]->data + first * head.betas + (head.betas == 1 ? 0 : n);
    if (head.scale == 0)
        head.scale = 1 / sqrtf((float)s->k_size);
    return head;
}

/* Runs all heads on STATES, which hold those of the past, and SCRATCH, [batch, kv_heads, v_size].
 */
static void run_heads(const struct amp_ctx *ctx, const struct sizes *s, float *states,
                      float *scratch)
{
    int64_t heads = s->batch * s->kv_heads;
#pragma omp parallel for if (heads > 1 && s->length * s->k_size >= AMP_PARALLEL_MIN / heads)
    for (int64_t i = 0; i < heads; i++) {
        struct head head = head_at(ctx, s, i, states, scratch);
        run_head(&head);
    }
}

static enum amp_status run(struct amp_ctx *ctx)
{
    struct sizes s;
    if (ctx->in[QUERY]->dtype != AMP_FLOAT)
        return amp_no_kernel(ctx, ctx->in[QUERY]->dtype);
    AMP_TRY(read_sizes(ctx, &s));
    struct amp_tensor states = {.dtype = AMP_FLOAT,
                                .shape = {4, {s.batch, s.kv_heads, s.k_size, s.v_size}}};
    struct amp_tensor scratch = {.dtype = AMP_FLOAT, .shape = {3, {s.batch, s.kv_heads, s.v_size}}};
    enum amp_status status = amp_tensor_alloc(&states, ctx->err);
    if (status == AMP_OK)
        status = amp_tensor_alloc(&scratch, ctx->err);
    if (status == AMP_OK) {
        if (amp_has_in(ctx, PAST))
            memcpy(states.data, ctx->in[PAST]->data, amp_tensor_size(&states));
        else
            memset(states.data, 0, amp_tensor_size(&states));
        run_heads(ctx, &s, states.data, scratch.data);
        if (amp_has_out(ctx, 1))
            memcpy(ctx->out[1]->data, states.data, amp_tensor_size(&states));
    }
    amp_tensor_release(&states);
    amp_tensor_release(&scratch);
    return status;
}

const struct amp_op amp_op_linear_attention = {.name = "LinearAttention",
                                               .newest = 27,
                                               .effect = AMP_COMPUTES,
                                               .native = AMP_NATIVE_F32,
                                               .shape = shape,
                                               .run = run};
