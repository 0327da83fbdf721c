#ifndef AMP_OPS_ATTENTION_MULTI_HEAD_H
#define AMP_OPS_ATTENTION_MULTI_HEAD_H

#include "ops/attention/scaled_dot_product.h"

/*
 * What com.microsoft's Attention and MultiHeadAttention share (ONNX Runtime, ContribOperators.md):
 * queries, keys and values from parts of tensors with a bias each, caches of keys and values, and
 * masks. float32; every dim is known.
 */
struct amp_multi_head {
    struct amp_ctx *ctx; /* whose state is amp_attention_destroy's */
    int64_t batch, heads, queries;
    int64_t keys, past;   /* sequence lengths; keys without those of the past */
    int64_t size, v_size; /* of a head */
    struct amp_heads q, k, v;
    struct amp_heads past_k, past_v;         /* tensor NULL: none */
    struct amp_tensor present_k, present_v;  /* data NULL: not wanted */
    const struct amp_tensor *bias;           /* [heads * (size + size + v_size)]; NULL: none */
    const struct amp_tensor *mask;           /* NULL: none; see amp_multi_head_check */
    const struct amp_tensor *attention_bias; /* broadcasts to the scores; NULL: none */
};

/* Holds the shapes of bias, mask and attention bias against the sizes. The mask is, with T = past +
   keys: [batch, T] or [batch, queries, T], 0 where a key is masked; [batch], the number of keys;
   or [2 * batch], first the ends, then the starts of those that are not masked. AMP_UNSUPPORTED for
   other masks that ONNX Runtime has. */
enum amp_status amp_multi_head_check(const struct amp_multi_head *multi);

/* Computes output 0, [batch, queries, heads * v_size], and fills the present tensors. Attributes:
   scale, mask_filter_value, unidirectional. */
enum amp_status amp_multi_head_run(const struct amp_multi_head *multi);

#endif
