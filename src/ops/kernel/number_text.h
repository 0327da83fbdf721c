#ifndef AMP_OPS_KERNEL_NUMBER_TEXT_H
#define AMP_OPS_KERNEL_NUMBER_TEXT_H

#include "core/dtype.h"

/* Numbers as text, as ONNX's Cast writes and reads them (versions 9 to 25). */

enum { AMP_NUMBER_TEXT = 32 /* bytes that hold any number */ };

/* Writes VALUE, of float type DTYPE, to TEXT: "NaN", "INF", "-INF", or in as few digits as tell it
   from its neighbours in DTYPE, laid out as NumPy does it: 0.1, 100.0, 1e-05, 1.5e+20. Returns the
   length. */
int amp_float_write(double value, enum amp_dtype dtype, char *text);

/*
 * Reads TEXT, a decimal number, plain ("3.14") or scientific ("1e-5"), or INF, +INF, -INF or NaN in
 * any case; spaces around are skipped. False when it is anything else. The float reader rounds once
 * for DTYPE float32 and else to float64, and gives infinities beyond. The integer reader takes
 * whole numbers of 64 bits, signed or not, as their bits; of others it drops what is behind the
 * point, gives the nearest value where the type ends, signed or not as IS_SIGNED says, and 0 for
 * NaN.
 */
bool amp_float_read(struct amp_str text, enum amp_dtype dtype, double *value);
bool amp_int_read(struct amp_str text, bool is_signed, int64_t *value);

#endif
