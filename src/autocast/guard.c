/*
 * Tells guards from data among constants that a dtype cannot hold. Takes an operator and the data
 * of a tensor; decides nothing about nodes.
 */
#include "autocast/guard.h"

#include "core/convert.h"
#include "core/tensor.h"
#include "ops/op.h"

#include <math.h>

enum amp_guard_use amp_guard_use(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL ? op->guard_use : AMP_GUARD_NONE;
}

/* What has been seen of a constant. */
struct census {
    double limit;
    double beyond;     /* the first value beyond the limit; 0: none yet */
    bool is_uniform;   /* all beyond the limit are equal to it */
    bool has_trivial;  /* 0 or 1 */
    bool has_other;    /* within the limit, or NaN */
    bool has_moderate; /* beyond the limit, but not huge */
};

static void count_value(struct census *census, double value)
{
    double magnitude = fabs(value);
    if (isinf(value))
        return;
    if (magnitude > census->limit) {
        if (census->beyond == 0)
            census->beyond = value;
        census->is_uniform &= value == census->beyond;
        census->has_moderate |= magnitude < AMP_GUARD_HUGE;
    } else if (value == 0 || value == 1) {
        census->has_trivial = true;
    } else {
        census->has_other = true;
    }
}

enum { BLOCK = 1024 }; /* elements */

struct amp_guard_values amp_guard_values(const struct amp_tensor *constant, double limit)
{
    float block[BLOCK];
    struct census census = {.limit = limit, .is_uniform = true};
    const struct amp_tensor *tensor = constant->data != NULL ? constant : constant->source;
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        amp_dtype_convert(tensor->dtype, (const unsigned char *)tensor->data + i * width, AMP_FLOAT,
                          block, n);
        for (size_t k = 0; k < n; k++)
            count_value(&census, (double)block[k]);
        if (census.has_moderate && (census.has_other || !census.is_uniform))
            break; /* nothing to come makes guards of them */
    }
    return (struct amp_guard_values){.is_huge = !census.has_moderate,
                                     .is_mask = census.is_uniform && census.has_trivial &&
                                                !census.has_other};
}

bool amp_guard_is(enum amp_guard_use use, struct amp_guard_values values)
{
    return use == AMP_GUARD_BOUNDS || values.is_huge || (use == AMP_GUARD_ADDS && values.is_mask);
}
