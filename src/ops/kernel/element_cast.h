#ifndef AMP_OPS_KERNEL_ELEMENT_CAST_H
#define AMP_OPS_KERNEL_ELEMENT_CAST_H

#include "core/dtype.h"
#include "core/number/minifloat.h"

/*
 * Conversion between any two element types but the complex ones, as ONNX Cast-25 has it. To a float
 * type: one rounding, to nearest, ties to even. Float to integer: truncated (to one below a byte:
 * rounded to nearest, ties to even), the nearest value where the type ends, 0 for a NaN. Integer to
 * a narrower one: the low bits.
 */
struct amp_cast_options {
    bool saturate; /* to floats of 8 bits: the greatest value instead of infinity, NaN */
    bool wraps;    /* floats to integers below a byte: low bits where the type ends */
    enum amp_rounding rounding; /* to FLOAT8E8M0 */
};

/* Whether DTYPE is one of numbers, bool with them, that are converted into each other: all but
   strings and complex ones. */
bool amp_dtype_is_castable(enum amp_dtype dtype);

/* Where numbers of a dtype lie, one behind the other: aligned for it; those of less than a byte
   begin with one. */
struct amp_number_source {
    enum amp_dtype dtype;
    const void *data;
};
struct amp_number_target {
    enum amp_dtype dtype;
    void *data;
};

/* Converts COUNT numbers in the thread that calls, by the rules above. OPTIONS are not read, and
   may be NULL, to float32, float64 and integers of a byte or more. */
void amp_elements_cast(struct amp_number_source from, struct amp_number_target to, size_t count,
                       const struct amp_cast_options *options);

#endif
