#ifndef AMP_OPS_ATTENTION_SCALED_DOT_PRODUCT_H
#define AMP_OPS_ATTENTION_SCALED_DOT_PRODUCT_H

#include "ops/op.h"

/* Queries, keys and values of many heads, as operators store them. */

enum { AMP_HEADS_RANK = 4 }; /* [batch, heads, length, size] */

/* A tensor, or a part of one, seen as [batch, heads, length, size]. */
struct amp_heads {
    const struct amp_tensor *tensor;
    int64_t first, strides[AMP_HEADS_RANK]; /* elements */
};

/* TENSOR of SHAPE [batch, heads, length, size], stored so, or IS_FLAT: as [batch, length, heads,
   size]. */
struct amp_heads amp_heads_of(const struct amp_tensor *tensor, const struct amp_shape *shape,
                              bool is_flat);

/* Copies FROM, of SHAPE, into TO, of the same dtype. */
void amp_heads_copy(const struct amp_heads *to, const struct amp_heads *from,
                    const struct amp_shape *shape);

/*
 * Scaled dot product attention, the heart of Attention, MultiHeadAttention and others:
 * Y = softmax(bias(scale Q K')) V for each head of queries. The products and the softmax are those
 * of MatMul and Softmax. float32 and float64.
 */

/* What the scores are shown as, in the order in which they become it. */
enum { AMP_SCORES_MULTIPLIED, AMP_SCORES_CAPPED, AMP_SCORES_BIASED, AMP_SCORES_PROBABILITIES };

struct amp_attention {
    struct amp_ctx *ctx;            /* its state is amp_attention_destroy's */
    int64_t batch, heads, kv_heads; /* heads: a multiple of kv_heads */
    int64_t queries, keys;          /* sequence lengths */
    int64_t size, v_size;           /* of a head */
    double scale;
    double cap;                 /* scores s become cap tanh(s / cap); 0: they stay */
    bool is_smooth;             /* float32: the softmax has one more score, 0, that no value has */
    const struct amp_tensor *q; /* [batch, heads, queries, size] */
    const struct amp_tensor *k; /* [batch, kv_heads, keys, size] */
    const struct amp_tensor *v; /* [batch, kv_heads, keys, v_size] */
    /* Adds to the scores in ROW, those of query INDEX[2] of head INDEX[1] of batch INDEX[0]; NULL:
       nothing is added. Returns whether the query may see no key at all: it gets zeros then. */
    bool (*bias)(const struct amp_attention *attention, const int64_t *index, void *row);
    /* Changes the scores at AMP_SCORES_BIASED or AMP_SCORES_PROBABILITIES; NULL: they stay. */
    enum amp_status (*modify)(const struct amp_attention *attention, int stage,
                              struct amp_tensor *scores);
    const void *owner;        /* of the bias */
    struct amp_tensor *shown; /* gets the scores as they are at stage SHOWN_STAGE; NULL: none */
    int shown_stage;
};

/* Computes Y, [batch, heads, queries, v_size], or IS_FLAT [batch, queries, heads, v_size], whose
   memory is there. */
enum amp_status amp_attention_run(struct amp_attention *attention, struct amp_tensor *y,
                                  bool is_flat);

/* For amp_op.destroy. */
void amp_attention_destroy(void *state);

#endif
