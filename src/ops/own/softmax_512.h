#ifndef AMP_OPS_OWN_SOFTMAX_512_H
#define AMP_OPS_OWN_SOFTMAX_512_H

#include <stdbool.h>
#include <stdint.h>

/* Y = the softmax of each of ROWS rows of COUNT bfloat16 elements of X; in place is fine. False,
   and nothing is done, where this CPU lacks AVX-512 with bfloat16 or the rows are too long. */
bool amp_softmax_512(const uint16_t *x, uint16_t *y, int64_t rows, int64_t count);

#endif
