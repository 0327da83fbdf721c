#ifndef AMP_TESTS_PRECISION_H
#define AMP_TESTS_PRECISION_H

#include "core/array.h"
#include "ops/op.h"

#include <string.h>

/*
 * What test_precision.c holds operators in lower dtypes to: the largest error, in units in the last
 * place (ulps) of the result's dtype, against the same operator in float32.
 *
 * The unit is that of the result or, where that is larger, of FLOOR times the largest result of the
 * tensor. A floor is for sums that oneDNN adds up in float32 in another order for each dtype and
 * instruction set: where terms cancel, errors of 2^-24 of the largest stay, which are little in
 * units of 2^-8 of it (2^-16 of it in bfloat16, 2^-19 in float16) and may be any number of units of
 * a result near 0.
 */
struct bound {
    const char *op_type;
    double ulps;
    double floor;
    bool is_random; /* only dtype and shape are held */
};

#define MOVES 0, 0, false
#define BY_VALUE 1, 0, false
#define SUMS 1, 0x1p-8, false
#define RANDOM 0, 0, true
/* What goes on from its own rounded results: the operators of a body round each time it runs, and
   recurrent layers keep their state in the lower dtype. Units of the largest result; how many
   depends on the number of steps, and here is for those of the test models (40 turns, 4 steps). */
#define STEPS(ulps) ulps, 1, false

static const struct bound bounds[] = {
    {"Attention", SUMS},
    {"AveragePool", SUMS},
    {"BatchNormalization", SUMS},
    {"Bernoulli", RANDOM},
    {"Conv", SUMS},
    {"ConvTranspose", SUMS},
    {"DeformConv", SUMS},
    {"Einsum", SUMS},
    {"FusedConv", SUMS},
    {"FusedGemm", SUMS},
    {"FusedMatMul", SUMS},
    {"Gemm", SUMS},
    {"GlobalAveragePool", SUMS},
    {"GroupNormalization", SUMS},
    {"GroupQueryAttention", SUMS},
    {"GRU", STEPS(2)},
    {"InstanceNormalization", SUMS},
    {"LayerNormalization", SUMS},
    {"Loop", STEPS(16)},
    {"LRN", SUMS},
    {"LSTM", STEPS(2)},
    {"MatMul", SUMS},
    {"MultiHeadAttention", SUMS},
    {"Multinomial", RANDOM},
    {"RandomNormal", RANDOM},
    {"RandomNormalLike", RANDOM},
    {"RandomUniform", RANDOM},
    {"RandomUniformLike", RANDOM},
    {"RNN", STEPS(2)},
    {"Scan", STEPS(2)},
    {"TransposeMatMul", SUMS},
};

/* The bound of OP: operators that are not listed compute each result from few elements, or add up
   in the same way for all dtypes. */
static const struct bound *bound_of(const struct amp_op *op)
{
    static const struct bound moves = {NULL, MOVES}, by_value = {NULL, BY_VALUE};
    for (size_t i = 0; i < AMP_COUNT(bounds); i++)
        if (strcmp(bounds[i].op_type, op->name) == 0)
            return &bounds[i];
    return op->effect == AMP_PRESERVES_VALUES ? &moves : &by_value;
}

/* Operators that take a lower dtype and are no cases, and why. */
static const struct {
    const char *op_type, *reason;
} without_case[] = {
    {"BitCast", "the bits of a float32 are not those of a lower dtype"},
};

static bool needs_case(const struct amp_op *op)
{
    for (size_t i = 0; i < AMP_COUNT(without_case); i++)
        if (strcmp(without_case[i].op_type, op->name) == 0)
            return false;
    return true;
}

#endif
