#ifndef AMP_OPS_MATMUL_ROW_PRODUCT_H
#define AMP_OPS_MATMUL_ROW_PRODUCT_H

#include "core/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Y [m, n] = A [m, k] B [k, n] of float32 with a B in float32, bfloat16 or float16, of few rows:
 * each element of B is read, and widened then, once for all rows. Sums are float32; they do not
 * depend on how many threads there are. At most AMP_ROWS_MAX rows, all dims positive.
 */
enum { AMP_ROWS_MAX = 2 };

struct amp_row_product {
    int64_t m, n, k;
    int64_t a_row;        /* elements from row to row of A */
    bool is_b_transposed; /* B is stored as [n, k] */
    enum amp_dtype b_dtype;
    const float *a;
    const void *b;
    float *y; /* row-major */
};

/* Whether this CPU has the instructions for it. */
bool amp_row_product_is_there(void);

void amp_row_product_run(const struct amp_row_product *product);

#endif
