/*
 * Constants: takes the data of a tensor, gives their largest magnitude, or the tensor in another
 * dtype. Which constants are converted is not decided here.
 */
#include "autocast/weights.h"

#include "core/convert.h"
#include "core/shared_forms.h"
#include "core/simd.h"
#include "core/tensor.h"

#include <float.h>
#include <math.h>

/* Elements anywhere in memory. */
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_u32 __attribute__((aligned(1), may_alias));

/* Without their signs, finite floats are ordered as their bits are, which makes the search one that
   the compiler turns into vector instructions. */
#define MAX_BITS(name, type, infinity)                                                   \
    AMP_CLONES(uint32_t, name, (const unsigned char *data, size_t count), (data, count)) \
    {                                                                                    \
        const type *elements = (const type *)(const void *)data;                         \
        type max = 0;                                                                    \
        _Pragma("omp simd reduction(max : max)") for (size_t i = 0; i < count; i++)      \
        {                                                                                \
            type bits = elements[i] & (type) ~(type)0 >> 1;                              \
            bits = bits < (infinity) ? bits : 0;                                         \
            max = bits > max ? bits : max;                                               \
        }                                                                                \
        return max;                                                                      \
    }

MAX_BITS(max_bits_f32, any_u32, 0x7F800000u)
MAX_BITS(max_bits_f16, any_u16, 0x7C00u)
MAX_BITS(max_bits_bf16, any_u16, 0x7F80u)

typedef uint32_t max_fn(const unsigned char *data, size_t count);

/* Elements that a thread searches at a time. */
enum { STRETCH = 1 << 18 };

static uint32_t search(max_fn *max_bits, const struct amp_tensor *tensor)
{
    const unsigned char *data = tensor->data;
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    uint32_t max = 0;
#pragma omp parallel for reduction(max : max) if (count > STRETCH)
    for (size_t i = 0; i < count; i += STRETCH) {
        uint32_t found = max_bits(data + i * width, count - i < STRETCH ? count - i : STRETCH);
        max = found > max ? found : max;
    }
    return max;
}

static double find_max(const struct amp_tensor *tensor)
{
    if (tensor->dtype == AMP_FLOAT16)
        return (double)amp_f16_to_f32((uint16_t)search(max_bits_f16, tensor));
    if (tensor->dtype == AMP_BFLOAT16)
        return (double)amp_bf16_to_f32((uint16_t)search(max_bits_bf16, tensor));
    return (double)amp_bits_to_f32(search(max_bits_f32, tensor));
}

/* The largest magnitude as a form that others may have made, or make use of. */
static double find_shared_max(const struct amp_tensor *tensor)
{
    const size_t elements[] = {tensor->dtype, amp_tensor_count(tensor)};
    const struct amp_form_kind kind = {AMP_FORM_LARGEST, elements, sizeof elements};
    struct amp_buffer *form = amp_shared_form_find(tensor->data, kind);
    double max = form != NULL ? *(const double *)form->data : find_max(tensor);
    if (form == NULL && (form = amp_buffer_create(sizeof max)) != NULL) {
        *(double *)form->data = max;
        amp_shared_form_add(tensor->data, kind, form);
    }
    amp_buffer_unref(form);
    return max;
}

double amp_weight_max(const struct amp_tensor *tensor)
{
    if (tensor->data == NULL)
        tensor = tensor->source;
    return amp_shared_forms_are_kept(tensor->data) ? find_shared_max(tensor) : find_max(tensor);
}

/* Elements whose squares are added up at a time. */
enum { BLOCK = 1024 };

/* The sum of the squares of those finite ELEMENTS that are at most MOST in magnitude. */
AMP_CLONES(double, energy_up_to, (const float *elements, size_t count, float most),
           (elements, count, most))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        float magnitude = fabsf(elements[i]);
        double element = magnitude <= most ? (double)magnitude : 0;
        sum += element * element;
    }
    return sum;
}

double amp_weight_flushed(const struct amp_tensor *tensor)
{
    float block[BLOCK];
    double all = 0, flushed = 0;
    if (tensor->data == NULL)
        tensor = tensor->source;
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        amp_dtype_convert(tensor->dtype, (const unsigned char *)tensor->data + i * width, AMP_FLOAT,
                          block, n);
        all += energy_up_to(block, n, FLT_MAX);
        flushed += energy_up_to(block, n, (float)AMP_WEIGHT_FLUSHES);
    }
    return all > 0 ? flushed / all : 0;
}

double amp_weight_flushed_most(size_t count, double max)
{
    double share = AMP_WEIGHT_FLUSHES / max;
    return fmin((double)count * share * share, 1);
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
    if (!amp_dtype_is_exact(tensor->dtype, dtype))
        converted->losses = amp_arena_alloc(model->arena, sizeof *converted->losses);
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
