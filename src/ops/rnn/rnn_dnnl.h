#ifndef AMP_OPS_RNN_RNN_DNNL_H
#define AMP_OPS_RNN_RNN_DNNL_H

#include "ops/rnn/layer.h"

/* Runs the whole layer by oneDNN's primitive in the dtype of X, which keeps what it prepared in
 *STATE (NULL at first); AMP_UNSUPPORTED when oneDNN has none for the node's options, sizes or
   dtype but its reference. */
struct amp_rnn_dnnl;
enum amp_status amp_rnn_dnnl_run(struct amp_ctx *ctx, const struct amp_rnn_layer *layer,
                                 struct amp_rnn_dnnl **state);
/* amp_op.reads, after such a run. */
bool amp_rnn_dnnl_reads(const struct amp_rnn_dnnl *state, size_t index);
void amp_rnn_dnnl_destroy(struct amp_rnn_dnnl *state); /* NULL is fine */

#endif
