#ifndef AMP_OPS_BOUND_H
#define AMP_OPS_BOUND_H

#include "core/number/interval.h"
#include "core/number/range.h"
#include "ops/op.h"

/*
 * What can be said of an operator's results without computing them. Bounds hold for all elements
 * that are no NaN, in exact arithmetic; who asks widens them by the rounding of the dtype.
 */

/* One question of amp_op.bound. */
struct amp_bound_call {
    const struct amp_model *model;
    const struct amp_node *node;
    const struct amp_interval *in; /* per input; everything where nothing is known, or it is omitted
                                    */
    bool reads_weights; /* constants of any size may be looked at; false: only small ones */
    double enough;      /* bounds of this magnitude need not be any closer */
};

/* Output 0 of the node, for amp_op.bound: whether anything can be said of it. */
typedef bool amp_bound_fn(const struct amp_bound_call *call, struct amp_interval *out);

/* One question of amp_op.inner: what was seen of inputs and output 0; count 0: nothing. */
struct amp_inner_call {
    const struct amp_node *node;
    const struct amp_range *const *in; /* per input; never NULL */
    const struct amp_range *out;
};

/* The magnitude that squares and sums reach within the node, for amp_op.inner, where a runtime
   computes them in the node's dtype; 0: not known. */
typedef double amp_inner_fn(const struct amp_inner_call *call);

/* ---- for bounds ---- */

/* By how much of its magnitude a sum of float32 may be off per element: twice its rounding. */
#define AMP_BOUND_ROUNDING 0x1p-23

/* The data of VALUE where it is a constant of float or integer type, and small or READS_WEIGHTS;
   NULL where not. */
const struct amp_tensor *amp_bound_data(const struct amp_value *value, bool reads_weights);

/* The same of input I, as CALL allows. */
const struct amp_tensor *amp_bound_constant(const struct amp_bound_call *call, uint32_t i);

/* Whether input I is one number, which goes to *NUMBER. */
bool amp_bound_number(const struct amp_bound_call *call, uint32_t i, double *number);

/* The range of the elements of CONSTANT, which has data or a source. */
struct amp_interval amp_bound_elements(const struct amp_tensor *constant);

/* The size of dim D of input I, negative D from the last; 0: not known. */
int64_t amp_bound_dim(const struct amp_bound_call *call, uint32_t i, int d);

/* How many elements of input 0 go into one of output 0; -1: not known. */
int64_t amp_bound_reduced(const struct amp_bound_call *call);

amp_bound_fn amp_bound_same;    /* within input 0 */
amp_bound_fn amp_bound_padded;  /* within input 0, or 0 */
amp_bound_fn amp_bound_unit;    /* 0 to 1 */
amp_bound_fn amp_bound_sign;    /* -1 to 1 */
amp_bound_fn amp_bound_product; /* products with the weights of amp_op.linear, or of two matrices */

/* Normalised to a variance of 1 over COUNT elements, then scaled by input SCALE and shifted by
   input BIAS, where there are such: the square root of COUNT is the most that one element of a
   variance of 1 can be. */
bool amp_bound_normalized(const struct amp_bound_call *call, int64_t count, uint32_t scale,
                          uint32_t bias, struct amp_interval *out);

/* ---- for inner values ---- */

amp_inner_fn amp_inner_sum;       /* of a mean: what was seen, times the elements of one */
amp_inner_fn amp_inner_square;    /* of a root: the square of what was seen */
amp_inner_fn amp_inner_magnitude; /* the square of input 0's largest magnitude */
amp_inner_fn amp_inner_deviation; /* the square of input 0's largest distance from its mean */

#endif
