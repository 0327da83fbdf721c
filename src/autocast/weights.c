/*
 * Constants: their range and their offline conversion.
 */
#include "autocast/weights.h"

#include <math.h>
#include <string.h>

/* Without their signs, finite floats are ordered as their bits are, which makes the search one that
   the compiler turns into vector instructions. */
#define MAX_BITS(name, type, infinity)                          \
    static type name(const unsigned char *data, size_t count)   \
    {                                                           \
        type max = 0;                                           \
        for (size_t i = 0; i < count; i++) {                    \
            type bits;                                          \
            memcpy(&bits, data + i * sizeof bits, sizeof bits); \
            bits &= (type) ~(type)0 >> 1;                       \
            bits = bits < (infinity) ? bits : 0;                \
            max = bits > max ? bits : max;                      \
        }                                                       \
        return max;                                             \
    }

MAX_BITS(max_bits_f32, uint32_t, 0x7F800000u)
MAX_BITS(max_bits_f16, uint16_t, 0x7C00u)
MAX_BITS(max_bits_bf16, uint16_t, 0x7F80u)

double amp_weight_max(const struct amp_tensor *tensor)
{
    size_t count = amp_tensor_count(tensor);
    if (tensor->dtype == AMP_FLOAT16)
        return (double)amp_f16_to_f32(max_bits_f16(tensor->data, count));
    if (tensor->dtype == AMP_BFLOAT16)
        return (double)amp_bf16_to_f32(max_bits_bf16(tensor->data, count));
    return (double)amp_bits_to_f32(max_bits_f32(tensor->data, count));
}

/* Elements from which on a constant is converted only when it is used: smaller ones take less room
   than the work costs, and what stages read of constants (fills, scales) is small. */
enum { DEFERRED_MIN = 1024 };

struct amp_tensor *amp_weight_convert(struct amp_model *model, const struct amp_tensor *tensor,
                                      enum amp_dtype dtype)
{
    struct amp_tensor *converted = amp_arena_alloc(model->arena, sizeof *converted);
    converted->dtype = dtype;
    converted->shape = tensor->shape;
    converted->source = tensor;
    if (amp_tensor_count(tensor) < DEFERRED_MIN) {
        void *data = amp_arena_alloc(model->arena, amp_tensor_size(converted));
        amp_tensor_copy(converted, data);
        converted->data = data;
    }
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
