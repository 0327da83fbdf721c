#ifndef AMP_CORE_NUMBER_MINIFLOAT_H
#define AMP_CORE_NUMBER_MINIFLOAT_H

#include "core/dtype.h"

/*
 * Floats of a byte or less: FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ (Micikevicius
 * et al., "FP8 formats for deep learning", 2022; Noune et al., "8-bit numerical formats for deep
 * neural networks", 2022), FLOAT4E2M1 and FLOAT8E8M0 (OCP Microscaling formats, 1.0). One code per
 * byte, in the low bits.
 */

/* Whether DTYPE is one of these types. */
bool amp_dtype_is_minifloat(enum amp_dtype dtype);

/* The value of CODE in float32, which holds every one exactly. */
float amp_minifloat_to_f32(enum amp_dtype dtype, uint8_t code);

/* Writes the values of the COUNT codes at CODES to VALUES. */
void amp_minifloat_decode(enum amp_dtype dtype, const uint8_t *codes, float *values, size_t count);

/* How FLOAT8E8M0, whose values are the powers of two, rounds others. */
enum amp_rounding {
    AMP_ROUND_UP,     /* away from zero */
    AMP_ROUND_DOWN,   /* towards zero */
    AMP_ROUND_NEAREST /* ties up */
};

/* The attributes of ONNX Cast-25 that say how values become codes. */
struct amp_minifloat_rounding {
    /* What is beyond the greatest value becomes that; else an infinity where the type has one, else
       NaN where it has that. */
    bool saturate;
    enum amp_rounding mode; /* of FLOAT8E8M0 */
};

/*
 * Writes the codes of the COUNT values at VALUES to CODES. Rounds once, to nearest, ties to even,
 * except for FLOAT8E8M0, which rounds by its mode and drops signs. A caller with float64 values
 * gives them as amp_f64_to_f32_odd makes them.
 */
void amp_minifloat_encode(enum amp_dtype dtype, const float *values, uint8_t *codes, size_t count,
                          struct amp_minifloat_rounding rounding);

/* The code of VALUE, rounded once as amp_minifloat_encode rounds. */
uint8_t amp_f64_to_minifloat(enum amp_dtype dtype, double value, bool saturate,
                             enum amp_rounding mode);

#endif
