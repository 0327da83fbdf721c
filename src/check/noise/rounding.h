#ifndef AMP_CHECK_NOISE_ROUNDING_H
#define AMP_CHECK_NOISE_ROUNDING_H

#include "core/tensor.h"

/* What rounding does to float32 tensors. The caller releases the tensors that these make. */

/*
 * A tensor, what it is rounded, and what that adds to each element: 0 where EXACT is not finite, an
 * infinity where only the result is not, in which case *ROUNDED keeps the element as it was.
 */
struct amp_noise_change {
    const struct amp_tensor *exact;
    struct amp_tensor *rounded, *added;
    bool is_any; /* of what is added is not 0 */
};

/* Rounds the exact tensor of CHANGE to DTYPE and back, and takes what that adds. */
enum amp_status amp_noise_round(struct amp_noise_change *change, enum amp_dtype dtype,
                                struct amp_error *err);

/* Takes what CHANGE adds where *ROUNDED holds what else has rounded; both of one shape. */
enum amp_status amp_noise_take_change(struct amp_noise_change *change, struct amp_error *err);

/* EXACT and CHANGE, which has as many elements, added up into *SUM. */
enum amp_status amp_noise_add(const struct amp_tensor *exact, const struct amp_tensor *change,
                              struct amp_tensor *sum, struct amp_error *err);

/* Rounds EXACT to DTYPE and back, overflows and all, into *ROUNDED. */
enum amp_status amp_noise_cast(const struct amp_tensor *exact, enum amp_dtype dtype,
                               struct amp_tensor *rounded, struct amp_error *err);

/* CONSTANT, of any float dtype, its data known or those of its source, in float32. */
enum amp_status amp_noise_widen(const struct amp_tensor *constant, struct amp_tensor *wide,
                                struct amp_error *err);

/* The error of an output: elements that are not finite in the reference are in neither. */
struct amp_noise_error {
    double squares; /* sum over elements finite in both */
    uint64_t lost;  /* elements finite in the reference alone */
};

/* Adds the error of OUTPUT, of the shape and dtype of REFERENCE, a float one; of another shape all
   its elements are lost. */
void amp_noise_error_add(struct amp_noise_error *error, const struct amp_tensor *reference,
                         const struct amp_tensor *output);

/* Errors of many elements in few numbers, of which squares and products are near those of the
   errors themselves (a count sketch: Charikar, Chen and Farach-Colton, 2002). */
enum { AMP_NOISE_SKETCH = 256 };

/* Adds to SKETCH, of AMP_NOISE_SKETCH numbers, SCALE times the error of OUTPUT as for
   amp_noise_error_add. Errors under other numbers SEED are apart. */
void amp_noise_sketch_add(double *sketch, const struct amp_tensor *reference,
                          const struct amp_tensor *output, double scale, uint64_t seed);

/* The product of two sketches. */
double amp_noise_sketch_product(const double *a, const double *b);

/* The sum of squares of the finite elements of TENSOR, of a float dtype; adds the others to
 *N_NONFINITE. */
double amp_noise_energy(const struct amp_tensor *tensor, uint64_t *n_nonfinite);

#endif
