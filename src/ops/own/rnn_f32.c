/*
 * Runs recurrent layers in float32, in vector code of rnn_products.inc.
 */
#include "ops/kernel/kernel.h"
#include "ops/own/rnn_kernel.h"
#include "ops/own/rnn_activation.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define FITS NULL
#define REAL float
#define STORED float
#define KERNEL amp_rnn_f32
#define PRODUCTS "ops/own/rnn_products.inc"
#include "ops/own/rnn_kernel.inc"
