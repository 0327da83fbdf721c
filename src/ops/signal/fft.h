#ifndef AMP_OPS_SIGNAL_FFT_H
#define AMP_OPS_SIGNAL_FFT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Discrete Fourier transforms of any length in double.
 */
struct amp_complex {
    double re, im;
};

struct amp_fft;

/* For transforms of N >= 1 elements; NULL when there is not enough memory. */
struct amp_fft *amp_fft_create(int64_t n);
void amp_fft_destroy(struct amp_fft *fft); /* NULL is fine */

/* How many numbers of work space a run needs. */
int64_t amp_fft_work(const struct amp_fft *fft);

/* X[k] = sum of X[j] e^(-2 pi i j k / n), in place; inverse: with +, divided by n. Threads may run
   one FFT at the same time, each with work space of its own. */
void amp_fft_run(const struct amp_fft *fft, struct amp_complex *x, struct amp_complex *work,
                 bool is_inverse);

#endif
