/*
 * Constants as patterns see them. Takes a value of a graph whose constants are known, gives the
 * tensor behind it and compares single elements with the numbers that patterns are written with.
 * Reads the graph and changes nothing; does not compute what nodes other than casts make.
 */
#include "pattern/constant.h"

#include "core/tensor.h"
#include "ops/op.h"

#include <math.h>

static bool passes_constants(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && (op->role == AMP_ROLE_CAST || op->role == AMP_ROLE_CAST_LIKE ||
                          op->role == AMP_ROLE_IDENTITY);
}

const struct amp_tensor *amp_pattern_constant(const struct amp_model *model, uint32_t id)
{
    enum { STEPS = 4 };
    for (int step = 0; step < STEPS && id != AMP_NONE; step++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (value->constant != NULL)
            return value->constant->data != NULL ? value->constant : NULL;
        if (value->producer == AMP_NONE)
            return NULL;
        const struct amp_node *node = amp_node_at(model, value->producer);
        if (!passes_constants(node) || node->n_inputs == 0)
            return NULL;
        id = node->inputs[0];
    }
    return NULL;
}

bool amp_pattern_constant_is_numeric(const struct amp_tensor *constant)
{
    enum amp_dtype_class class = amp_dtype_class(constant->dtype);
    return class == AMP_CLASS_FLOAT || class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
}

bool amp_pattern_constant_number(const struct amp_tensor *constant, double *number)
{
    if (constant == NULL || !amp_pattern_constant_is_numeric(constant) ||
        amp_tensor_count(constant) != 1)
        return false;
    *number = amp_tensor_double(constant, 0);
    return true;
}

bool amp_pattern_constant_equals(const struct amp_tensor *constant, double expected)
{
    double number;
    return amp_pattern_constant_number(constant, &number) &&
           amp_pattern_is_near(number, expected, constant->dtype);
}

/* The relative error that still counts as equal: four digits, or what a dtype of fewer has. */
static double tolerance_of(enum amp_dtype dtype)
{
    if (dtype == AMP_BFLOAT16)
        return 1.0 / 256;
    return dtype == AMP_FLOAT16 ? 1.0 / 2048 : 1e-4;
}

bool amp_pattern_is_near(double number, double expected, enum amp_dtype dtype)
{
    return fabs(number - expected) <= tolerance_of(dtype) * fabs(expected);
}

bool amp_pattern_is_eps(double number, enum amp_dtype dtype)
{
    static const double largest = 0.1;
    return (number > 0 || (number == 0 && dtype == AMP_FLOAT16)) && number <= largest;
}
