#ifndef AMP_OPS_OWN_RNN_KERNEL_H
#define AMP_OPS_OWN_RNN_KERNEL_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kernels of recurrent layers, and one direction of a layer (ONNX RNN-22, GRU-22, LSTM-22) as they
 * take it.
 */

#define AMP_RNN_ACTIVATION_LIST(X)              \
    X(AFFINE, "Affine", 2, 1, 0)                \
    X(ELU, "Elu", 1, 1, 0)                      \
    X(HARD_SIGMOID, "HardSigmoid", 2, 0.2, 0.5) \
    X(LEAKY_RELU, "LeakyRelu", 1, 0.01, 0)      \
    X(RELU, "Relu", 0, 0, 0)                    \
    X(SCALED_TANH, "ScaledTanh", 2, 1, 1)       \
    X(SIGMOID, "Sigmoid", 0, 0, 0)              \
    X(SOFTPLUS, "Softplus", 0, 0, 0)            \
    X(SOFTSIGN, "Softsign", 0, 0, 0)            \
    X(TANH, "Tanh", 0, 0, 0)                    \
    X(THRESHOLDED_RELU, "ThresholdedRelu", 1, 1, 0)

enum amp_rnn_function {
#define X(id, name, parameters, alpha, beta) AMP_RNN_##id,
    AMP_RNN_ACTIVATION_LIST(X)
#undef X
};

struct amp_rnn_activation {
    enum amp_rnn_function function;
    double alpha, beta;
};

enum amp_rnn_cell { AMP_RNN_PLAIN, AMP_RNN_GRU, AMP_RNN_LSTM };

/* One direction. Tensors are of the kernel's type, row-major but for the strides given here, all in
 * elements. */
struct amp_rnn {
    enum amp_rnn_cell cell;
    int64_t gates; /* of the cell: 1, 3 (z r h), 4 (i o f c) */
    int64_t steps, batch, input, hidden;
    bool is_reverse;
    bool linear_before_reset, input_forget;
    double clip; /* bound of what enters the activation of a gate; INFINITY: none */
    struct amp_rnn_activation activations[3]; /* f, g, h of the operator's equations */
    const int32_t *lengths; /* steps of each sequence of the batch; NULL: all of them */
    const void *w;          /* [gates * hidden, input]; for run what pack_input made of it */
    const void *r;          /* [gates * hidden, hidden] */
    const void *packed;     /* R by the kernel's pack */
    const void *bias;       /* [2, gates * hidden], of W and of R; NULL: 0 */
    const void *peepholes;  /* [3, hidden], i o f; NULL: 0 */
    const void *x;
    const void *h, *c;   /* initial states; NULL: 0 */
    void *y, *y_h, *y_c; /* NULL: not wanted */
    int64_t x_step, x_batch, y_step, y_batch, state_batch;
    int threads; /* to share the units among, at most as many as there are blocks of them */
    void *work;  /* memory for the kernel, of work_size bytes, aligned to 64 */
};

/* The kernel of an element type. */
struct amp_rnn_kernel {
    /* Whether this CPU has the kernel, it takes RNN, and it is faster than oneDNN; NULL: always. */
    bool (*fits)(const struct amp_rnn *rnn);
    int64_t block; /* units whose weights lie side by side */
    /* Bytes that packed R takes, and those that a run works in. */
    size_t (*packed_size)(const struct amp_rnn *rnn);
    size_t (*work_size)(const struct amp_rnn *rnn);
    void (*pack)(const struct amp_rnn *rnn, void *packed);
    /* Bytes of packed W, and its packing. */
    size_t (*input_size)(const struct amp_rnn *rnn);
    void (*pack_input)(const struct amp_rnn *rnn, void *packed);
    /* Runs the direction; AMP_KERNEL when oneDNN fails. Allocates nothing. */
    enum amp_status (*run)(const struct amp_rnn *rnn, struct amp_error *err);
};

extern const struct amp_rnn_kernel amp_rnn_f32, amp_rnn_f64, amp_rnn_bf16;

#endif
