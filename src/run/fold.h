#ifndef AMP_RUN_FOLD_H
#define AMP_RUN_FOLD_H

#include "core/graph.h"

/* Private to run/: makes each BatchNormalization of MODEL that is the only use of a Conv part of
   that: y = (W x + b - mean) s + bias with s = scale / sqrt(variance + epsilon) is a Conv with W s
   and (b - mean) s + bias. All parameters must be constants of the Conv's dtype or float32; results
   are rounded once. */
void amp_fold_batch_norms(struct amp_model *model);

#endif
