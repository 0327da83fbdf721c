#ifndef AMP_OPS_DNNL_POST_OP_H
#define AMP_OPS_DNNL_POST_OP_H

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stdint.h>

struct amp_model;
struct amp_node;
struct amp_tensor;

/*
 * What may be done to each element of an operator's result before it is stored: oneDNN's post-ops.
 * A node that does it to the only use of the result is no step of its own then.
 */
enum amp_post_kind {
    AMP_POST_ELTWISE, /* alg with alpha and beta */
    AMP_POST_BINARY,  /* alg with input IN of the call */
    AMP_POST_CAST     /* nothing: the result is stored in another dtype */
};

struct amp_post {
    enum amp_post_kind kind;
    dnnl_alg_kind_t alg;
    float alpha, beta;
    uint32_t in; /* of a binary one: the input of its node that is the other operand */
    const struct amp_tensor *operand; /* that, during a call */
    bool is_constant;
};

/* How an operator can be done as a post-op: amp_op.post_op, a constant of its family file. */
struct amp_post_op {
    enum amp_post_kind kind;
    dnnl_alg_kind_t alg;
    /* Of AMP_POST_ELTWISE: the float attributes that alpha and beta come from, and what they are
       without; NULL: always that. */
    const char *alpha_attr, *beta_attr;
    float alpha, beta;
    /* Of AMP_POST_ELTWISE: sets in POST what of NODE these do not tell; false: not as a post-op.
       NULL: they tell all. */
    bool (*read)(const struct amp_model *model, const struct amp_node *node, struct amp_post *post);
    bool is_ordered; /* of AMP_POST_BINARY: the result must be the first operand */
};

/* What NODE does to each element of its input SLOT, as a post-op; false: it does something else. */
bool amp_post_of(const struct amp_model *model, const struct amp_node *node, uint32_t slot,
                 struct amp_post *post);

/* Whether oneDNN makes a number of a NaN where POST's operator keeps it. */
bool amp_post_hides_nan(const struct amp_post *post);

#endif
