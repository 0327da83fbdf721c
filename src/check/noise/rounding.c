/*
 * Arithmetic on whole tensors for the search for noise: rounds, takes differences, adds squares.
 * Takes float32 tensors that lie row-major; outputs may be of any float dtype.
 */
#include "check/noise/rounding.h"

#include "core/convert.h"
#include "core/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static enum amp_status make_like(const struct amp_tensor *like, struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    *tensor = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = like->shape};
    return amp_tensor_alloc(tensor, err);
}

enum amp_status amp_noise_cast(const struct amp_tensor *exact, enum amp_dtype dtype,
                               struct amp_tensor *rounded, struct amp_error *err)
{
    size_t count = amp_tensor_count(exact);
    struct amp_tensor low = {.dtype = dtype, .shape = exact->shape};
    AMP_TRY(amp_tensor_alloc(&low, err));
    enum amp_status status = make_like(exact, rounded, err);
    if (status == AMP_OK) {
        amp_dtype_convert(AMP_FLOAT, exact->data, dtype, low.data, count);
        amp_dtype_convert(dtype, low.data, AMP_FLOAT, rounded->data, count);
    }
    amp_tensor_release(&low);
    return status;
}

/* Elements that a thread goes through at a time. */
enum { STRETCH = 1 << 16 };

static size_t stretch_from(size_t begin, size_t count)
{
    return count - begin < STRETCH ? count - begin : STRETCH;
}

/* Sets C to what R differs from X by, where X is finite; where R is not R becomes X. Returns
   whether there is a difference. */
AMP_CLONES(int, take_change, (const float *x, float *r, float *c, size_t count), (x, r, c, count))
{
    int is_any = 0;
#pragma omp simd reduction(| : is_any)
    for (size_t i = 0; i < count; i++) {
        float exact = x[i], rounded = r[i], change = rounded - exact;
        bool is_finite = fabsf(exact) <= FLT_MAX;
        change = is_finite ? change : 0;
        c[i] = change;
        r[i] = is_finite && fabsf(change) <= FLT_MAX ? rounded : exact;
        is_any |= change != 0;
    }
    return is_any;
}

enum amp_status amp_noise_take_change(struct amp_noise_change *change, struct amp_error *err)
{
    const float *x = change->exact->data;
    float *r = change->rounded->data;
    size_t count = amp_tensor_count(change->exact);
    int is_any = 0;
    AMP_TRY(make_like(change->exact, change->added, err));
    float *c = change->added->data;
#pragma omp parallel for reduction(| : is_any) if (count > STRETCH)
    for (size_t i = 0; i < count; i += STRETCH)
        is_any |= take_change(x + i, r + i, c + i, stretch_from(i, count));
    change->is_any = is_any != 0;
    return AMP_OK;
}

enum amp_status amp_noise_round(struct amp_noise_change *change, enum amp_dtype dtype,
                                struct amp_error *err)
{
    AMP_TRY(amp_noise_cast(change->exact, dtype, change->rounded, err));
    enum amp_status status = amp_noise_take_change(change, err);
    if (status != AMP_OK)
        amp_tensor_release(change->rounded);
    return status;
}

enum amp_status amp_noise_add(const struct amp_tensor *exact, const struct amp_tensor *change,
                              struct amp_tensor *sum, struct amp_error *err)
{
    const float *x = exact->data, *c = change->data;
    size_t count = amp_tensor_count(exact);
    AMP_TRY(make_like(exact, sum, err));
    float *s = sum->data;
#pragma omp parallel for simd if (parallel : count > STRETCH)
    for (size_t i = 0; i < count; i++)
        s[i] = x[i] + c[i];
    return AMP_OK;
}

enum amp_status amp_noise_widen(const struct amp_tensor *constant, struct amp_tensor *wide,
                                struct amp_error *err)
{
    struct amp_tensor stored = {.dtype = constant->dtype, .shape = constant->shape};
    AMP_TRY(amp_tensor_alloc(&stored, err));
    amp_tensor_copy(constant, stored.data);
    if (stored.dtype == AMP_FLOAT) {
        *wide = stored;
        return AMP_OK;
    }
    enum amp_status status = make_like(constant, wide, err);
    if (status == AMP_OK)
        amp_dtype_convert(stored.dtype, stored.data, AMP_FLOAT, wide->data,
                          amp_tensor_count(constant));
    amp_tensor_release(&stored);
    return status;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static double element(const struct amp_tensor *tensor, size_t i)
{
    return tensor->dtype == AMP_FLOAT ? (double)((const float *)tensor->data)[i]
                                      : amp_tensor_double(tensor, i);
}

void amp_noise_error_add(struct amp_noise_error *error, const struct amp_tensor *reference,
                         const struct amp_tensor *output)
{
    size_t count = amp_tensor_count(reference);
    bool is_alike = output->data != NULL && amp_shape_equal(&reference->shape, &output->shape);
    for (size_t i = 0; i < count; i++) {
        double wanted = element(reference, i), got = is_alike ? element(output, i) : NAN;
        if (!isfinite(wanted))
            continue;
        if (isfinite(got))
            error->squares += (got - wanted) * (got - wanted);
        else
            error->lost++;
    }
}

/* Bits of VALUE in disorder (splitmix64's). */
static uint64_t scrambled(uint64_t value)
{
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

void amp_noise_sketch_add(double *sketch, const struct amp_tensor *reference,
                          const struct amp_tensor *output, double scale, uint64_t seed)
{
    size_t count = amp_tensor_count(reference);
    if (output->data == NULL || !amp_shape_equal(&reference->shape, &output->shape))
        return;
    for (size_t i = 0; i < count; i++) {
        double error = element(output, i) - element(reference, i);
        uint64_t place = scrambled(seed << 40 ^ i);
        if (isfinite(error))
            sketch[place % AMP_NOISE_SKETCH] += place >> 63 != 0 ? scale * error : -scale * error;
    }
}

double amp_noise_sketch_product(const double *a, const double *b)
{
    double product = 0;
    for (size_t i = 0; i < AMP_NOISE_SKETCH; i++)
        product += a[i] * b[i];
    return product;
}

double amp_noise_energy(const struct amp_tensor *tensor, uint64_t *n_nonfinite)
{
    double energy = 0;
    size_t count = amp_tensor_count(tensor);
    for (size_t i = 0; i < count; i++) {
        double x = element(tensor, i);
        *n_nonfinite += !isfinite(x);
        energy += isfinite(x) ? x * x : 0;
    }
    return energy;
}
