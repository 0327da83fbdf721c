#ifndef AMP_OPS_KERNEL_BLOCK_H
#define AMP_OPS_KERNEL_BLOCK_H

#include "ops/op.h"

/*
 * Elements of any numeric dtype in the widest type of their class: float types as double, signed
 * integers as int64_t, unsigned ones and bool as uint64_t. Kernels that accumulate or compare load
 * a block of elements into this form, work on it, and store the block: one kernel for all dtypes,
 * and sums that stay right over long axes.
 */
union amp_wide {
    double f;
    int64_t i;
    uint64_t u;
};

enum amp_wide_kind {
    AMP_WIDE_NONE, /* the dtype has no wide form: strings, complex, types below a byte, float8 */
    AMP_WIDE_FLOAT,
    AMP_WIDE_INT,
    AMP_WIDE_UINT
};

/* Elements per block: a few pages of stack, enough for loops over a block to be worth their start.
 */
enum { AMP_WIDE_BLOCK = 256 };

enum amp_wide_kind amp_wide_kind_of(enum amp_dtype dtype);

/* AMP_UNSUPPORTED with the dtype's name unless it has a wide form. */
enum amp_status amp_wide_check(struct amp_ctx *ctx, enum amp_dtype dtype);

/* N elements of DTYPE, STRIDE elements apart, the first at index FIRST of DATA. */
struct amp_stretch {
    enum amp_dtype dtype;
    void *data;
    int64_t first, stride, n;
};

/* Loads the elements of FROM, and only reads them; stores those of TO: float values are rounded
   once to its dtype, integers wrap. */
void amp_wide_load(struct amp_stretch from, union amp_wide *to);
void amp_wide_store(const union amp_wide *from, struct amp_stretch to);

/* Ways in which two elements become one. With floats a NaN is the largest and the smallest, as in
   numpy; sums and products of integers wrap. */
enum amp_combination { AMP_SUM, AMP_PRODUCT, AMP_LARGEST, AMP_SMALLEST, AMP_COMBINATIONS };

/* Combines N elements X of KIND with those of ACC. */
void amp_wide_combine(enum amp_combination how, enum amp_wide_kind kind, union amp_wide *acc,
                      const union amp_wide *x, int64_t n);

/* Combines COUNT rows of elements, one after the other, with those of ACC: ROW and those that begin
   STEP elements further on each. Elements are only read, and better adjacent. */
void amp_wide_combine_rows(enum amp_combination how, struct amp_stretch row, int64_t step,
                           int64_t count, union amp_wide *acc);

/* Combines the elements of each of COUNT rows with one of ACC: those of ROW with the first, those
   that begin STEP elements further on with the next, ... Rows are of float32 or a lower dtype and
   their elements beside each other; products are none of this. */
bool amp_wide_can_combine_each(enum amp_combination how, struct amp_stretch row);
void amp_wide_combine_each(enum amp_combination how, struct amp_stretch row, int64_t step,
                           int64_t count, union amp_wide *acc);

/* Turns integers of KIND into doubles, in place. */
void amp_wide_to_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n);

/* Turns doubles into integers of KIND, towards zero, saturating, NaN to 0; in place. */
void amp_wide_from_float(enum amp_wide_kind kind, union amp_wide *wide, int64_t n);

#endif
