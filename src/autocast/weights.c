/*
 * Constants: their range and their offline conversion.
 */
#include "autocast/weights.h"

#include <math.h>
#include <string.h>

double amp_weight_max(const struct amp_tensor *tensor)
{
    double max = 0;
    size_t count = amp_tensor_count(tensor);
    for (size_t i = 0; i < count; i++) {
        double value = fabs(amp_tensor_double(tensor, i));
        if (isfinite(value) && value > max)
            max = value;
    }
    return max;
}

struct amp_tensor *amp_weight_convert(struct amp_model *model, const struct amp_tensor *tensor,
                                      enum amp_dtype dtype)
{
    struct amp_tensor *converted = amp_arena_alloc(model->arena, sizeof *converted);
    converted->dtype = dtype;
    converted->shape = tensor->shape;
    converted->data = amp_arena_alloc(model->arena, amp_tensor_size(converted));
    amp_dtype_convert(tensor->dtype, tensor->data, dtype, converted->data,
                      amp_tensor_count(tensor));
    return converted;
}

bool amp_weight_overflows(double value, enum amp_dtype dtype)
{
    if (dtype == AMP_FLOAT16)
        return !isinf(value) && isinf(amp_f16_to_f32(amp_f64_to_f16(value)));
    if (dtype == AMP_BFLOAT16)
        return !isinf(value) && isinf(amp_bf16_to_f32(amp_f64_to_bf16(value)));
    return false;
}
