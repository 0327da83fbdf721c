#ifndef AMP_OPS_OWN_SOFTMAX_512_H
#define AMP_OPS_OWN_SOFTMAX_512_H

#include <stdbool.h>
#include <stdint.h>

/* Softmax of rows of bfloat16 that lie one behind the other. */
struct amp_softmax_kernel {
    /* Whether this CPU has the kernel, and it takes rows of COUNT elements. */
    bool (*fits)(int64_t count);
    /* Y = the softmax of each of ROWS rows of COUNT elements of X; in place is fine. */
    void (*run)(const uint16_t *x, uint16_t *y, int64_t rows, int64_t count);
};

/* On x86-64 with AVX-512 and its bfloat16; up to 4096 elements. */
extern const struct amp_softmax_kernel amp_softmax_512;

#endif
