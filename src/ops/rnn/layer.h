#ifndef AMP_OPS_RNN_LAYER_H
#define AMP_OPS_RNN_LAYER_H

#include "ops/op.h"
#include "ops/own/rnn_kernel.h"

/*
 * Recurrent layers (ONNX RNN-22, GRU-22, LSTM-22) as nodes have them.
 */

/* Inputs and outputs by their place; LSTM alone has the last ones. */
enum {
    AMP_RNN_X,
    AMP_RNN_W,
    AMP_RNN_R,
    AMP_RNN_BIAS,
    AMP_RNN_LENGTHS,
    AMP_RNN_H,
    AMP_RNN_C,
    AMP_RNN_PEEPHOLES,
    AMP_RNN_INPUTS
};
enum { AMP_RNN_Y, AMP_RNN_Y_H, AMP_RNN_Y_C, AMP_RNN_OUTPUTS };

/* A node's directions. */
struct amp_rnn_layer {
    struct amp_rnn common; /* what they share; neither tensors nor activations */
    int directions;
    bool is_reverse[2];
    bool is_batch_first; /* layout 1: the batch is the first axis of X, Y and the states */
    struct amp_rnn_activation activations[2][3];
};

/* Reads and checks the node of CTX, whose inputs are known; AMP_MODEL when something does not fit.
 */
enum amp_status amp_rnn_read(const struct amp_ctx *ctx, struct amp_rnn_layer *layer);

/* For amp_op.shape. */
enum amp_status amp_rnn_shape(struct amp_ctx *ctx);

#endif
