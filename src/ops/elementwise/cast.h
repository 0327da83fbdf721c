#ifndef AMP_OPS_ELEMENTWISE_CAST_H
#define AMP_OPS_ELEMENTWISE_CAST_H

#include "core/minifloat.h"
#include "ops/op.h"

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

/* Sets the elements of TO, which has dtype, the shape of FROM and memory of its own; OPTIONS may be
   NULL: those of Cast's defaults. AMP_MODEL for a string that is not a number. */
enum amp_status amp_cast_tensor(const struct amp_tensor *from, struct amp_tensor *to,
                                const struct amp_cast_options *options, struct amp_error *err);

/* Makes *TO a tensor of DTYPE with the values of FROM; it may share FROM's data. The caller
   releases it, unless this fails. */
enum amp_status amp_cast_copy(const struct amp_tensor *from, enum amp_dtype dtype,
                              struct amp_tensor *to, struct amp_error *err);

#endif
