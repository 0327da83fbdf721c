#ifndef AMP_OPS_OWN_RNN_ACTIVATION_H
#define AMP_OPS_OWN_RNN_ACTIVATION_H

#include "core/dtype.h"

/* Private to the recurrent layers that compute in float32: sigmoid and tanh as vector code. */

/* e^x - 1 within about 2 units in the last place, x clamped to where e^x is a normal number: 2^n
   times the Taylor series of what is left, n being rounded by the addition of 1.5 * 2^23. */
static inline float expm1_of(float x)
{
    const float rounder = 12582912.0f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + rounder, n = shifted - rounder;
    float r = x - n * ln2_high - n * ln2_low;
    float series = 1.0f / 5040;
    series = series * r + 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r * r + r;
    float scale = amp_bits_to_f32((amp_f32_to_bits(shifted) << 23) + 0x3F800000u);
    return scale * series + (scale - 1);
}

static inline float sigmoid_of(float x)
{
    return 1 / (2 + expm1_of(-x));
}

/* Nothing cancels near 0. */
static inline float tanh_of(float x)
{
    float m = expm1_of(2 * x);
    return m / (m + 2);
}

#endif
